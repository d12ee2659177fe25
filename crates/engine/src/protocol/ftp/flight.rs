//! Flights: commands that leave together as soon as it is known that the transfer will send them. The
//! exchange stays as it reads: [`Control::command`] recognizes a command that has left, and reads its reply.
//!
//! Only a server that reads a stream of commands, by its greeting or by experience, gets a flight. A command
//! that it loses is sent again. If it closes the connection, answers out of turn, or in a way that changes
//! the next command, the transfer begins again on a new connection, where every command waits.

use runtime::boxed;
use tables::{Code, EasyOption as O};
use wire::ftp::reply::Reply;

use super::control::Control;
use super::data;
use super::decide::body::sizes_mean_nothing;
use super::decide::directory::{self, needs_type};
use super::decide::flight::{self as decide, Flight, Passive, Prospect};
use super::decide::pipeline::is_misunderstood;
use super::ftp_target::{FtpTarget, uploads};
use super::pipeline::leave_together;
use super::servers::{Stream, level};
use crate::error::{Error, Result, Retry};
use crate::settings::FtpPipelining;
use crate::transfer::Transfer;

impl Control {
    /// Sends the next commands of the transfer together, if the server reads a stream of them. `new` says
    /// that the login has just ended.
    pub async fn send_flight(&mut self, t: &mut Transfer, target: &FtpTarget, new: bool) -> Result<()> {
        let reads = matches!(self.session.stream, Stream::Believed | Stream::Proven);
        if level(t) != FtpPipelining::Together || !reads || self.is_objected(t) {
            return Ok(());
        }
        let commands = decide::commands(&self.prospect(t, target, new));
        if commands.is_empty() {
            return Ok(());
        }
        let lines: Vec<&[u8]> = commands.iter().map(Vec::as_slice).collect();
        self.dialogue.send_together(t, &lines).await?;
        self.dialogue.acknowledge();
        self.flight = Flight { sent: commands.into(), ..Flight::default() };
        Ok(())
    }

    fn prospect<'a>(&'a self, t: &Transfer, target: &'a FtpTarget, new: bool) -> Prospect<'a> {
        let settings = t.easy.settings.borrow();
        let has_body = target.pattern.is_none() && !t.on(O::NoBody);
        // On a kept connection these follow the SYN of the data connection.
        let together = !target.list && !uploads(t) && leave_together(t, self, target).is_ok();
        let passive = has_body && t.text(O::FtpPort).is_none() && !t.on(O::FtpUsePret);
        let epsv = data::uses_epsv(t, self);
        let condition = t.long(O::TimeCondition);
        let compares_time = directory::asks_for_time(false, condition, target.location.file.is_some());
        Prospect {
            asks_entry: new,
            quotes: !settings.list(O::Quote).is_empty(),
            folders: self.folders_to_enter(target, new),
            creates: t.long(O::FtpCreateMissingDirs) > 0,
            asks_time: directory::asks_for_time(t.on(O::FileTime), condition, target.location.file.is_some()),
            compares_time,
            passive: passive.then_some(match self.session.ahead.has_port() {
                true => Passive::Asked,
                false if epsv => Passive::Epsv,
                false => Passive::Pasv,
            }),
            data_type: Some(target.data_type)
                .filter(|kind| !together && needs_type(self.session.data_type, *kind)),
            prequotes: !settings.list(O::PreQuote).is_empty(),
            asks_size: !together
                && !target.list
                && !uploads(t)
                && target.known_size.is_none()
                && !sizes_mean_nothing(target.data_type, t.on(O::IgnoreContentLength)),
            describes: t.on(O::NoBody) && target.pattern.is_none() && target.location.file.is_some(),
            file: target.file(),
        }
    }

    /// Returns the directories that `change_directory` will enter.
    fn folders_to_enter<'a>(&'a self, target: &'a FtpTarget, new: bool) -> Vec<&'a [u8]> {
        let Some(folder) = &target.folder else { return Vec::new() };
        let reused = !new && self.dialogue.whole.is_reused();
        if directory::is_in_folder(reused, self.session.directory.as_deref(), folder) {
            return Vec::new();
        }
        let folders = &target.location.directories;
        let entry = self.session.entry_path.as_deref();
        let entry = entry.filter(|_| directory::starts_at_entry(reused, folders));
        entry.into_iter().chain(folders.iter().map(Vec::as_slice)).collect()
    }

    /// Sends a command, unless it has left already, and reads its reply.
    pub async fn command(&mut self, t: &mut Transfer, command: &[u8]) -> Result<Reply> {
        match self.flight.sent.front() {
            None => {}
            Some(next) if next == command => return boxed(|| self.flight_reply(t)).await,
            Some(_) => boxed(|| self.leave_flight(t)).await?,
        }
        self.dialogue.send(t, command).await?;
        self.reply(t).await
    }

    /// Reads the reply to the first command of the flight.
    async fn flight_reply(&mut self, t: &mut Transfer) -> Result<Reply> {
        let command = self.flight.sent.pop_front().unwrap_or_default();
        let Some(reply) = self.next_of_flight(t).await? else { return self.repeat(t, &command).await };
        if !decide::can_answer(&command, reply.code) {
            return Err(self.begin_again(t));
        }
        self.flight.misunderstood |= is_misunderstood([reply.code]);
        if self.flight.sent.is_empty() && !self.flight.misunderstood {
            self.session.stream = Stream::Proven;
        }
        Ok(reply)
    }

    /// Sends a lost command again. The rest of the flight counts as lost, too, and its commands wait for
    /// their turn. A change of directory may have been lost or not, so the transfer begins again.
    async fn repeat(&mut self, t: &mut Transfer, command: &[u8]) -> Result<Reply> {
        let lost = std::mem::take(&mut self.flight).sent;
        if command.starts_with(b"CWD ") || lost.iter().any(|command| command.starts_with(b"CWD ")) {
            return Err(self.begin_again(t));
        }
        self.object(t);
        self.dialogue.outstanding -= 1 + lost.len();
        if self.catch_up(t).await?.is_none() {
            return Err(self.begin_again(t));
        }
        self.dialogue.send(t, command).await?;
        self.reply(t).await
    }

    /// Reads the next reply; `None` if the server has lost the command.
    async fn next_of_flight(&mut self, t: &mut Transfer) -> Result<Option<Reply>> {
        let first = !std::mem::replace(&mut self.flight.answered, true);
        let reply = match first {
            true => self.reply(t).await.map(Some),
            false => self.in_time(t).await,
        };
        reply.map_err(|e| match e.code() {
            // A kept connection may have been closed while it was idle; that is no objection.
            Code::RecvError | Code::SendError if !e.retry().is_allowed() => self.begin_again(t),
            _ => e,
        })
    }

    /// Gives the connection up: the server does not read a stream of commands.
    pub fn begin_again(&mut self, t: &Transfer) -> Error {
        self.object(t);
        self.flight = Flight::default();
        self.dialogue.outstanding = usize::MAX;
        Error::new(Code::RecvError, "the server wants one command at a time").with_retry(Retry::NewConnection)
    }

    /// Reads the replies to the rest of the flight because another command comes next. If a change of
    /// directory has left, the transfer begins again.
    async fn leave_flight(&mut self, t: &mut Transfer) -> Result<()> {
        let moves = self.flight.sent.iter().any(|command| command.starts_with(b"CWD "));
        self.end_flight(t).await?;
        if moves {
            self.dialogue.outstanding = usize::MAX;
            let text = "a reply changed the commands that had left";
            return Err(Error::new(Code::RecvError, text).with_retry(Retry::NewConnection));
        }
        Ok(())
    }

    /// Reads the replies to the rest of the flight, for a transfer that has no use for them.
    pub async fn end_flight(&mut self, t: &mut Transfer) -> Result<()> {
        let code = t.easy.info.borrow().response_code;
        while let Some(command) = self.flight.sent.pop_front() {
            if self.next_of_flight(t).await?.is_none() {
                return Err(self.begin_again(t));
            }
            if command.starts_with(b"TYPE ") {
                self.session.data_type = None;
            }
        }
        t.easy.info.borrow_mut().response_code = code;
        Ok(())
    }
}
