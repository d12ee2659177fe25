//! Record and replay of FTP. A record has the dialogue of the control connection as lines, `> command` and
//! `< reply`, and a file for each direction of each data connection. Commands are sent one at a time while
//! exchanges are recorded or replayed: then each reply follows its command.
//!
//! In a replay the server is a [`Script`]. It answers a command with the reply that follows it in the
//! record. A command that comes at another place, because the recorded program had logged in before or after,
//! is looked for in all recorded dialogues with that server.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use net::filter::scripted::{Script, Scripted};
use net::tls::TlsInfo;
use net::{About, Carrier, Filter};
use runtime::{Idle, Reactor, Socket};
use tables::EasyOption as O;

use super::ftp_target::uploads;
use crate::error::{Error, Result};
use crate::recording::draft::Draft;
use crate::recording::facts::End;
use crate::recording::player::{Asked, Entry, Player};
use crate::recording::secrets;
use crate::transfer::Transfer;
use crate::transfer::dialogue::{Dialogue, Observer};
use crate::transfer::recording::{no_descriptor, unanswered};
use crate::transfer::replayed_peer::ReplayedPeer;

/// The file with the dialogue.
const DIALOGUE: &str = "dialogue.txt";
/// Longest command that a script takes.
const MAX_COMMAND: usize = 64 * 1024;

/// Returns the verb that names the exchange in a record.
fn verb(t: &Transfer) -> &'static [u8] {
    match t.on(O::NoBody) {
        true => b"SIZE",
        false if uploads(t) => b"STOR",
        false if t.url.path().ends_with(b"/") || t.on(O::DirListOnly) => b"LIST",
        false => b"RETR",
    }
}

/// Fails on what is not recorded: data connections that the server opens.
fn check_passive(t: &Transfer) -> Result<()> {
    match t.text(O::FtpPort) {
        Some(_) => Err(unanswered("active FTP is not recorded: unset CURLOPT_FTPPORT".to_owned())),
        None => Ok(()),
    }
}

/// Notes about the exchange of one transfer.
#[derive(Clone)]
pub struct Notes(Arc<Mutex<State>>);

struct State {
    draft: Draft,
    reused: bool,
    heard: bool,
    /// Data connections so far.
    channels: usize,
}

impl Notes {
    /// Begins the record of a transfer on its control connection, if exchanges are recorded.
    fn begin(t: &Transfer, about: &About, reused: bool) -> Option<Notes> {
        if t.text(O::FtpPort).is_some() {
            t.recorder()?.report_protocol("active FTP");
            return None;
        }
        let draft = t.draft("ftp", verb(t), about)?;
        Some(Notes(Arc::new(Mutex::new(State { draft, reused, heard: false, channels: 0 }))))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what crosses a data connection.
    #[cold]
    #[inline(never)]
    pub fn around(&self, inner: Box<dyn Filter>) -> Box<dyn Filter> {
        let mut state = self.state();
        state.channels += 1;
        let number = state.channels;
        drop(state);
        Box::new(Channel { inner, notes: self.clone(), number })
    }

    /// Completes the record.
    #[cold]
    #[inline(never)]
    pub fn end(&self, failure: Option<&Error>) {
        let mut state = self.state();
        if state.reused && !state.heard {
            state.draft.discard();
            return;
        }
        state.draft.finish(match failure {
            None => End::Complete,
            Some(e) => End::Failed(e.code().id(), e.to_string()),
        });
    }
}

/// Begins the record of a transfer on its control connection, or makes the recorded server continue: `kept`
/// is the one that the connection has, and `server` that of the transfer.
#[cold]
#[inline(never)]
pub fn attach(
    t: &Transfer,
    dialogue: &mut Dialogue,
    kept: &mut Option<Server>,
    server: Option<Server>,
) -> Option<Notes> {
    let notes = Notes::begin(t, dialogue.about(), dialogue.whole.is_reused());
    dialogue.observer = notes.clone().map(|notes| Box::new(notes) as Box<dyn Observer>);
    match (&*kept, server) {
        (Some(kept), Some(server)) => kept.continue_with(&server),
        (None, server) => *kept = server,
        (Some(_), None) => {}
    }
    notes
}

impl Observer for Notes {
    fn sent(&self, commands: &[u8]) {
        let mut state = self.state();
        for line in commands.split_inclusive(|b| *b == b'\n') {
            state.draft.append(DIALOGUE, &[b"> ", &secrets::command(line)[..]].concat());
        }
    }

    fn received(&self, line: &[u8]) {
        let mut state = self.state();
        state.heard = true;
        state.draft.note_first_byte();
        state.draft.append(DIALOGUE, &[b"< ", line].concat());
        if !line.ends_with(b"\n") {
            state.draft.append(DIALOGUE, b"\n");
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if self.reused && !self.heard {
            self.draft.discard();
        }
    }
}

/// A data connection with notes about what crosses it.
struct Channel {
    inner: Box<dyn Filter>,
    notes: Notes,
    number: usize,
}

/// The file of one direction of a data connection.
fn channel_name(number: usize, direction: &str) -> String {
    format!("data-{number}.{direction}")
}

impl Carrier for Channel {
    fn retire(&mut self) {
        self.inner.retire();
    }

    fn idle_state(&mut self) -> Idle {
        self.inner.idle_state()
    }

    fn attach(&mut self, reactor: &Arc<Reactor>, owner: u64) {
        self.inner.attach(reactor, owner);
    }

    fn detach(&mut self) {
        self.inner.detach();
    }

    fn socket(&self) -> &Socket {
        self.inner.socket()
    }

    fn tls(&self) -> Option<&Arc<TlsInfo>> {
        self.inner.tls()
    }
}

impl Filter for Channel {
    fn poll_read(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        let read = self.inner.poll_read(cx, buf);
        if let Poll::Ready(Ok(count)) = &read {
            let mut state = self.notes.state();
            state.draft.append(&channel_name(self.number, "received"), &buf[..*count]);
            state.draft.facts.response_body += *count as u64;
        }
        read
    }

    fn direct_read(&self) -> usize {
        self.inner.direct_read()
    }

    fn try_read(&mut self, buf: &mut [u8]) -> Poll<io::Result<usize>> {
        self.inner.try_read(buf)
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = self.inner.poll_write(cx, buf);
        if let Poll::Ready(Ok(count)) = &written {
            let mut state = self.notes.state();
            state.draft.append(&channel_name(self.number, "sent"), &buf[..*count]);
            state.draft.facts.request_body += *count as u64;
        }
        written
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner.poll_flush(cx)
    }

    fn forget_read(&mut self, cx: &mut Context<'_>) {
        self.inner.forget_read(cx);
    }

    fn say_goodbye(&mut self) {
        self.inner.say_goodbye();
    }

    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner.poll_end(cx)
    }
}

/// The recorded server of one control connection. A transfer that reuses the connection continues with the
/// dialogue of its own record.
#[derive(Clone)]
pub struct Server(Arc<Mutex<ServerState>>);

/// The state of a recorded server.
struct ServerState {
    player: Arc<Player>,
    dialogue: Recorded,
    /// The server has sent its greeting.
    has_greeted: bool,
    input: Vec<u8>,
    output: Vec<u8>,
    sent: usize,
    failure: Option<String>,
    /// Data connections so far.
    channels: usize,
}

/// A recorded dialogue.
#[derive(Default)]
struct Recorded {
    url: String,
    steps: Vec<Step>,
    at: usize,
    channels: Vec<Option<std::fs::File>>,
}

/// A command and its replies; the greeting has no command.
#[derive(Debug, Default, PartialEq, Eq)]
struct Step {
    command: Vec<u8>,
    replies: Vec<u8>,
}

/// Splits a recorded dialogue.
fn steps(text: &[u8]) -> Vec<Step> {
    let mut steps = vec![Step::default()];
    for line in text.split_inclusive(|b| *b == b'\n') {
        match line {
            [b'>', b' ', command @ ..] => {
                steps.push(Step { command: command.trim_ascii_end().to_vec(), replies: Vec::new() });
            }
            [b'<', b' ', reply @ ..] => {
                steps.last_mut().expect("the greeting's step is there").replies.extend_from_slice(reply);
            }
            _ => {}
        }
    }
    steps
}

impl Recorded {
    fn of(entry: &Entry) -> std::result::Result<Recorded, String> {
        let steps = steps(&entry.text(DIALOGUE)?);
        let names = (1..).map(|number| entry.open(&channel_name(number, "received")));
        // A data connection that was only written to has no file of received bytes.
        let count = (1..).take_while(|number| {
            ["received", "sent"]
                .iter()
                .any(|direction| entry.open(&channel_name(*number, direction)).is_some())
        });
        let channels = names.take(count.count()).collect();
        Ok(Recorded { url: entry.facts.url.clone(), steps, at: 0, channels })
    }
}

impl ServerState {
    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.input.extend_from_slice(bytes);
        while let Some(end) = self.input.iter().position(|b| *b == b'\n') {
            let line: Vec<u8> = self.input.drain(..=end).collect();
            let command = secrets::command(&line).trim_ascii_end().to_vec();
            self.answer(&command);
        }
        match self.input.len() > MAX_COMMAND {
            true => Err(io::ErrorKind::InvalidInput.into()),
            false => Ok(()),
        }
    }

    /// Queues the recorded reply to a command.
    fn answer(&mut self, command: &[u8]) {
        let Recorded { steps, at, .. } = &mut self.dialogue;
        let found = steps.iter().skip(*at).position(|step| step.command == command);
        if let Some(found) = found {
            *at += found + 1;
            self.output.extend_from_slice(&steps[*at - 1].replies);
            return;
        }
        let elsewhere = self.elsewhere(command);
        match elsewhere {
            Some(replies) => self.output.extend_from_slice(&replies),
            None if command == b"QUIT" => {}
            None => {
                let command = String::from_utf8_lossy(command);
                self.failure = Some(format!("the record has no reply to {command}"));
            }
        }
    }

    /// Looks for a command in all dialogues with this server.
    fn elsewhere(&self, command: &[u8]) -> Option<Vec<u8>> {
        let entries = self.player.with_peer("ftp", &self.dialogue.url);
        let dialogues = entries.into_iter().filter_map(|entry| entry.text(DIALOGUE).ok());
        let found = dialogues
            .flat_map(|text| steps(&text))
            .find(|step| step.command == command && !step.replies.is_empty());
        found.map(|step| step.replies)
    }

    fn greet(&mut self) {
        self.has_greeted = true;
        let recorded = self.dialogue.steps.first().filter(|step| step.command.is_empty());
        let own = recorded.map(|step| step.replies.clone()).filter(|replies| !replies.is_empty());
        match own.or_else(|| self.elsewhere(b"")) {
            Some(greeting) => self.output.extend_from_slice(&greeting),
            None => self.failure = Some("the record has no greeting of this server".to_owned()),
        }
    }

    fn give(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if !self.has_greeted {
            self.greet();
        }
        let rest = &self.output[self.sent..];
        if rest.is_empty() {
            (self.output, self.sent) = (Vec::new(), 0);
            let why = self.failure.take();
            return Err(io::Error::other(why.unwrap_or_else(|| "the record ends here".to_owned())));
        }
        let count = rest.len().min(buf.len());
        buf[..count].copy_from_slice(&rest[..count]);
        self.sent += count;
        Ok(count)
    }
}

impl Server {
    /// Chooses the recorded exchange that answers this transfer, if exchanges are replayed.
    #[cold]
    #[inline(never)]
    pub fn choose(t: &mut Transfer) -> Result<Option<Server>> {
        let Some(player) = t.player().cloned() else { return Ok(None) };
        check_passive(t)?;
        let asked = Asked::new(verb(t), &t.recorded_url());
        let entry = player.take(&asked, b"").map_err(unanswered)?;
        let dialogue = Recorded::of(entry).map_err(unanswered)?;
        let script = ServerState {
            player: player.clone(),
            dialogue,
            has_greeted: false,
            input: Vec::new(),
            output: Vec::new(),
            sent: 0,
            failure: None,
            channels: 0,
        };
        let server = Server(Arc::new(Mutex::new(script)));
        let end = server.clone();
        let peer = ReplayedPeer::with(&entry.facts, move || Ok(Box::new(Scripted::new(end.clone())?)));
        t.replayed = Some(Box::new(peer));
        Ok(Some(server))
    }

    fn script(&self) -> MutexGuard<'_, ServerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Continues with the dialogue of another transfer, on the connection of this one.
    pub fn continue_with(&self, next: &Server) {
        let dialogue = std::mem::take(&mut next.script().dialogue);
        let mut script = self.script();
        (script.dialogue, script.channels, script.failure) = (dialogue, 0, None);
    }

    /// Opens the next data connection.
    #[cold]
    #[inline(never)]
    pub fn channel(&self) -> Result<Box<dyn Filter>> {
        let mut script = self.script();
        let number = script.channels;
        script.channels += 1;
        let received = script.dialogue.channels.get_mut(number).and_then(Option::take);
        drop(script);
        let channel = Scripted::new(ReplayedChannel(received));
        let channel = channel.map_err(|e| no_descriptor(&e))?;
        Ok(Box::new(channel))
    }
}

impl Script for Server {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.script().take(bytes)
    }

    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.script().give(buf)
    }
}

/// A data connection that sends what was recorded, and takes all that it is sent.
struct ReplayedChannel(Option<std::fs::File>);

impl Script for ReplayedChannel {
    fn write(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.as_mut().map_or(Ok(0), |file| io::Read::read(file, buf))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialogues_are_split_at_commands() {
        let text =
            b"< 220 hello\r\n> USER x\r\n< 331 password\r\n> PASS (redacted)\r\n< 230-a\r\n< 230 b\r\n";
        let step = |command: &[u8], replies: &[u8]| Step { command: command.into(), replies: replies.into() };
        let wanted = [
            step(b"", b"220 hello\r\n"),
            step(b"USER x", b"331 password\r\n"),
            step(b"PASS (redacted)", b"230-a\r\n230 b\r\n"),
        ];
        assert_eq!(steps(text), wanted);
        assert_eq!(steps(b""), [step(b"", b"")]);
    }
}
