//! POP3 (RFC 1939, with RFC 2449, 2595 and 5034): the command of a URL, and its reply. `session` reads the
//! greeting, upgrades to TLS and logs in.

mod decide;
mod session;

use std::task::{Context, Poll, ready};

use net::exchange::BodyStep;
use tables::{Code, EasyOption as O};
use wire::pop3::{Unstuffer, has_body};

use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::body::{BodySource, truncated};
use crate::transfer::dialogue::Dialogue;
use crate::transfer::mail_commands;
use crate::transfer::replay::with_retries;
use crate::transfer::sasl::check_login;
pub use session::decode_memory;
use session::{OWN_LOGIN, Session};

/// Runs one request.
pub async fn run(t: &mut Transfer) -> Result<()> {
    check_login(t, Some(OWN_LOGIN))?;
    let command = command(t)?;
    with_retries(t, 1, async |t, fresh| {
        let mut session = Session::open(t, fresh).await?;
        let outcome = exchange(t, &mut session.dialogue, &command).await;
        session.dialogue.note(&outcome);
        session.end(t, outcome.is_ok());
        outcome
    })
    .await
}

/// Opens a new connection, logs in and leaves it in the pool.
pub async fn log_in(t: &mut Transfer) -> Result<()> {
    check_login(t, Some(OWN_LOGIN))?;
    let whole = Session::open(t, true).await?.into_whole();
    t.release(whole);
    Ok(())
}

/// Returns a connection, logged in, for the application itself, which also says goodbye.
pub async fn connect_only(t: &mut Transfer) -> Result<net::Connection> {
    check_login(t, Some(OWN_LOGIN))?;
    let mut whole = Session::open(t, false).await?.into_whole();
    whole.connection().farewell.clear();
    Ok(whole.into_connection())
}

/// Returns the command: the application's own, a list, or the message of the URL.
fn command(t: &Transfer) -> Result<Vec<u8>> {
    let message = decide::message(t.url.path())?;
    let own = mail_commands::own_command(t.text(O::CustomRequest).as_deref())?;
    Ok(decide::command(own, &message, t.on(O::DirListOnly)))
}

async fn exchange(t: &mut Transfer, dialogue: &mut Dialogue, command: &[u8]) -> Result<()> {
    t.flow.writer.begin();
    dialogue.send(t, command).await?;
    if !session::reply(t, dialogue).await? {
        return Err(Error::new(Code::WeirdServerReply, ""));
    }
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    if t.on(O::NoBody) || !has_body(command) {
        return Ok(());
    }
    // Until its end is found, no other command can be sent.
    dialogue.outstanding += 1;
    let mut message = Message { dialogue, unstuffer: Unstuffer::default(), ended: false, held: Vec::new() };
    t.flow.pump_body(&mut message).await?;
    dialogue.answered();
    Ok(())
}

/// The lines of a reply up to its dot, as a body.
struct Message<'a> {
    dialogue: &'a mut Dialogue,
    unstuffer: Unstuffer,
    ended: bool,
    /// Data that did not fit into a small buffer, for a rate-limited transfer.
    held: Vec<u8>,
}

/// A buffer smaller than this is filled by way of one of this length.
const SMALL: usize = 64;

impl Message<'_> {
    /// Fills the front of the buffer; zero bytes are the end.
    fn poll_fill(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<usize>> {
        while !self.ended {
            let n = match ready!(self.dialogue.poll_receive(cx, &mut buf[Unstuffer::ROOM..]))? {
                BodyStep::End => return Poll::Ready(Err(truncated(None))),
                BodyStep::Bytes(n) => n,
            };
            let received = &mut buf[..Unstuffer::ROOM + n];
            let got = self.unstuffer.take(received);
            if let Some(end) = got.end {
                self.ended = true;
                self.dialogue.put_back(&received[end..]);
            }
            if got.written > 0 {
                return Poll::Ready(Ok(got.written));
            }
        }
        Poll::Ready(Ok(0))
    }
}

impl BodySource for Message<'_> {
    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep>> {
        if buf.len() >= SMALL && self.held.is_empty() {
            let n = ready!(self.poll_fill(cx, buf))?;
            return Poll::Ready(Ok(if n == 0 { BodyStep::End } else { BodyStep::Bytes(n) }));
        }
        if self.held.is_empty() {
            let mut larger = [0; SMALL];
            let n = ready!(self.poll_fill(cx, &mut larger))?;
            self.held.extend_from_slice(&larger[..n]);
        }
        let n = buf.len().min(self.held.len());
        buf[..n].copy_from_slice(&self.held[..n]);
        self.held.drain(..n);
        Poll::Ready(Ok(if n == 0 { BodyStep::End } else { BodyStep::Bytes(n) }))
    }

    fn forget_read(&mut self, cx: &mut Context<'_>) {
        self.dialogue.forget_read(cx);
    }
}
