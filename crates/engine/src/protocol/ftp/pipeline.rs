//! Commands that do not wait for each other. On a control connection whose server is known to read a stream
//! of commands, TYPE, SIZE and RETR are sent together, after the SYN of the data connection: the same
//! commands in the same order as curl's. A user may allow more (`FtpPipelining`), which changes what a server
//! sees; `ahead` is the other half of that.
//!
//! Some servers process only one of several commands that they read at once. A server counts as reading a
//! stream if its greeting names a program that does, if PWD and TYPE were both answered (at login, if the
//! user allowed more), or after so many files that an attempt pays. A command that such a server loses is
//! sent again on the same connection, and this is recorded. Any other failure before the first byte of a file
//! reached the application is retried on a fresh connection, where every command waits; if that succeeds,
//! this is recorded (`Servers`), too.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use net::Filter;
use tables::{Code, EasyOption as O};
use wire::ftp::reply::Reply;

use super::ahead::EarlyConnection;
use super::body::{self, ExpectedData};
use super::control::Control;
use super::data;
use super::decide::body::{self as body_decide, expected, may_begin};
use super::decide::directory::needs_type;
use super::decide::flight::can_answer;
use super::decide::pipeline::{self as decide, Candidate};
use super::ftp_target::FtpTarget;
use super::servers::{Servers, Stream, level};
use super::timed::before;
use crate::error::{Error, Result, Retry};
use crate::settings::FtpPipelining;
use crate::transfer::Transfer;
use crate::transfer::dialogue::succeeded;
use crate::why::event::{Event, OneByOne};

/// How many replies may stand between a command and its own if it is unknown what the server lost.
const MOST_STRAY: usize = 8;

impl Control {
    /// Returns whether this server is known to object to pipelining.
    pub fn is_objected(&self, t: &Transfer) -> bool {
        self.session.stream == Stream::Objected
            || t.multi.memories.of::<Servers>().borrow().objects(&self.plan.key.origin)
    }

    /// Returns whether the login tests how the server handles commands that arrive together. curl's first
    /// commands are different.
    pub fn proves_at_login(&self, t: &Transfer) -> bool {
        level(t) >= FtpPipelining::Ahead && !self.is_objected(t)
    }

    /// Returns the reply to PWD, after TYPE was sent with it: a harmless pair. If a server closes the
    /// connection for it, the next login does not test.
    pub async fn prove_stream(&mut self, t: &mut Transfer) -> Result<Reply> {
        self.send_pair(t).await.map_err(|e| match e.code() {
            Code::RecvError | Code::SendError => {
                self.object(t);
                e.with_retry(Retry::NewConnection)
            }
            _ => e,
        })
    }

    async fn send_pair(&mut self, t: &mut Transfer) -> Result<Reply> {
        let asked = t.now();
        self.dialogue.send_together(t, &[b"PWD", b"TYPE I"]).await?;
        let reply = self.reply(t).await?;
        self.session.pace = t.now().saturating_duration_since(asked);
        let code = t.easy.info.borrow().response_code;
        let set = self.in_time(t).await?;
        t.easy.info.borrow_mut().response_code = code;
        match set {
            Some(set) if succeeded(set.code) => {
                self.session.data_type = Some(b'I');
                self.session.stream = Stream::Proven;
                return Ok(reply);
            }
            Some(_) if reply.code == 257 => {
                self.object(t);
                return Ok(reply);
            }
            Some(_) => {}
            None => self.dialogue.outstanding -= 1,
        }
        self.object(t);
        Ok(self.catch_up(t).await?.unwrap_or(reply))
    }

    /// Returns the next reply, unless the server lost the command.
    pub async fn in_time(&mut self, t: &mut Transfer) -> Result<Option<Reply>> {
        if self.session.stream == Stream::Proven {
            return self.reply(t).await.map(Some);
        }
        let timer = t.multi.runtime.reactor().sleep(decide::patience(self.session.pace));
        before(timer, || Ok(None), async { self.reply(t).await.map(Some) }).await
    }

    /// Records that the server wants one command at a time.
    pub fn object(&mut self, t: &Transfer) {
        t.easy.note(|| "the server wants one command at a time".to_owned());
        self.session.stream = Stream::Objected;
        t.multi.memories.of::<Servers>().borrow_mut().note_objection(&self.plan.key.origin, true);
    }

    /// Sends PWD and reads its reply, which follows that of a command that counted as lost. PWD's reply is
    /// unmistakable; a connection on which it does not arrive is given up.
    pub async fn catch_up(&mut self, t: &mut Transfer) -> Result<Option<Reply>> {
        let code = t.easy.info.borrow().response_code;
        self.dialogue.send(t, b"PWD").await?;
        let mut caught_up = None;
        for _ in 0..MOST_STRAY {
            let Some(reply) = self.in_time(t).await? else { break };
            if reply.code == 257 {
                caught_up = Some(reply);
                break;
            }
        }
        self.dialogue.outstanding = if caught_up.is_some() { 0 } else { usize::MAX };
        t.easy.info.borrow_mut().response_code = code;
        Ok(caught_up)
    }

    /// Learns from a successful transfer. `suspicion`: an earlier attempt failed on a kept connection, after
    /// some reply or before any.
    pub fn judge(&mut self, t: &Transfer, suspicion: Option<bool>) {
        let servers = t.multi.memories.of::<Servers>();
        let mut servers = servers.borrow_mut();
        let origin = &self.plan.key.origin;
        match suspicion {
            Some(certain) => servers.note_objection(origin, certain),
            None if self.dialogue.whole.is_reused() => servers.note_success(origin),
            None => {}
        }
        if servers.objects(origin) {
            self.session.stream = Stream::Objected;
        }
    }
}

/// Returns whether a file may be fetched by pipelined commands: none of them depends on a reply, and a fresh
/// connection can repair any failure.
pub fn suits(t: &Transfer, control: &Control, target: &FtpTarget) -> bool {
    let together = leave_together(t, control, target);
    if let Err(reason) = together {
        t.easy.explain(|| Event::OneByOne(reason));
    }
    together.is_ok()
}

/// Fails with the reason why the commands for a file do not leave together.
pub fn leave_together(
    t: &Transfer,
    control: &Control,
    target: &FtpTarget,
) -> std::result::Result<(), OneByOne> {
    let level = level(t);
    if level < FtpPipelining::Together {
        return Err(OneByOne::Setting);
    }
    let session = &control.session;
    let candidate = Candidate {
        level,
        reused: control.dialogue.whole.is_reused(),
        stream: session.stream,
        moved: session.moved,
        type_is_set: !needs_type(session.data_type, target.data_type),
        objected: control.is_objected(t),
        listed: target.listed,
        partial: t.text(O::Range).is_some() || t.long(O::ResumeFromLarge) != 0,
        active: t.text(O::FtpPort).is_some(),
        limited: t.long(O::MaxFileSizeLarge) != 0,
        pret: t.on(O::FtpUsePret),
        prequote: !t.easy.settings.borrow().list(O::PreQuote).is_empty(),
    };
    match decide::leaves_together(&candidate) {
        true => Ok(()),
        false => Err(decide::why_one_by_one(&candidate)),
    }
}

/// Fetches a file.
pub async fn retrieve(t: &mut Transfer, control: &mut Control, target: &FtpTarget) -> Result<()> {
    let before = t.easy.info.borrow().downloaded;
    let fetched = fetch(t, control, target).await;
    let untouched = t.easy.info.borrow().downloaded == before;
    fetched.map_err(|e| {
        if untouched && decide::may_be_objection(e.code()) { e.with_retry(Retry::NewConnection) } else { e }
    })
}

async fn fetch(t: &mut Transfer, control: &mut Control, target: &FtpTarget) -> Result<()> {
    let text = target.data_type == b'A';
    let set_type = needs_type(control.session.data_type, target.data_type);
    let ask_size = decide::asks_for_size(level(t), text, t.on(O::IgnoreContentLength));
    let early = control.take_early(t).await?;
    let commands = decide::commands(set_type.then_some(target.data_type), ask_size, target.file());
    let commands: Vec<&[u8]> = commands.iter().map(Vec::as_slice).collect();
    let filter = match early {
        Some(EarlyConnection::Opening(socket)) => {
            control.dialogue.send_together(t, &commands).await?;
            data::opened(t, socket).await?
        }
        Some(EarlyConnection::Port(port)) => {
            let host = data::control_host(control);
            connect_and_send(t, control, &host, port, &commands).await?
        }
        None => {
            let (host, port) = data::announced(t, control).await?;
            connect_and_send(t, control, &host, port, &commands).await?
        }
    };
    let (mut replies, lost) = answers(t, control, &commands).await?;
    if set_type {
        if replies.pop_front().is_none_or(|reply| !succeeded(reply.code)) {
            return Err(Error::new(Code::FtpCouldntSetType, "Could not set desired mode"));
        }
        control.session.data_type = Some(target.data_type);
    }
    let size = if ask_size { replies.pop_front() } else { None };
    let reply = replies.pop_front().expect("one for each command");
    let known = size_of(control, size.as_ref(), &reply)?;
    may_begin(&reply)?;
    let size = expected(known, body::announced(t, target, &reply));
    control.dialogue.outstanding += 1;
    let late = level(t) >= FtpPipelining::Ahead && size.is_some() && !lost;
    let wanted = ExpectedData { size, most: None, text, late };
    body::receive(t, control, data::Data::Connected(filter), wanted).await?;
    if lost {
        control.catch_up(t).await?;
    }
    Ok(())
}

/// Returns one reply for each command, and whether the server had lost some commands: these are sent again,
/// one by one.
async fn answers(
    t: &mut Transfer,
    control: &mut Control,
    commands: &[&[u8]],
) -> Result<(VecDeque<Reply>, bool)> {
    let mut replies = VecDeque::from([control.reply(t).await?]);
    while replies.len() < commands.len() {
        let Some(reply) = control.in_time(t).await? else { break };
        replies.push_back(reply);
    }
    let in_turn = |(reply, command): (&Reply, &&[u8])| can_answer(command, reply.code);
    if !replies.iter().zip(&commands[..commands.len() - 1]).all(in_turn) {
        return Err(control.begin_again(t));
    }
    let missing = &commands[replies.len()..];
    if missing.is_empty() {
        if !decide::is_misunderstood(replies.iter().map(|reply| reply.code)) {
            control.session.stream = Stream::Proven;
        }
        return Ok((replies, false));
    }
    control.object(t);
    control.dialogue.outstanding -= missing.len();
    for command in missing {
        replies.push_back(control.command(t, command).await?);
    }
    Ok((replies, true))
}

/// Connects and sends the commands after the SYN.
async fn connect_and_send(
    t: &mut Transfer,
    control: &mut Control,
    host: &str,
    port: u16,
    commands: &[&[u8]],
) -> Result<Box<dyn Filter>> {
    let mut connecting = pin!(t.connect_beside(&control.plan, host, port));
    let at_once = poll_fn(|cx| Poll::Ready(connecting.as_mut().poll(cx))).await;
    control.dialogue.send_together(t, commands).await?;
    match at_once {
        Poll::Ready(connected) => connected,
        Poll::Pending => connecting.await,
    }
}

/// Returns the size in the reply. As in curl, a missing file has none, whatever the reply to RETR is.
fn size_of(control: &mut Control, size: Option<&Reply>, retrieved: &Reply) -> Result<Option<u64>> {
    let size = size.map_or(Ok(None), body_decide::size);
    if size.is_err() && retrieved.code < 400 {
        control.dialogue.outstanding = usize::MAX;
    }
    size
}
