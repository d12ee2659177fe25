//! IDLE (RFC 2177, RFC 9051 section 6.3.13): the server reports what happens in a mailbox when it happens. A
//! server that does not announce IDLE, or refuses it, is asked by NOOP (section 6.1.2) again and again.
//!
//! The body consists of the untagged lines of SELECT, a line with a plus sign when the watch has begun, and
//! each untagged line after that. It ends only with the transfer.

use std::time::{Duration, Instant};

use tables::{Code, EasyOption as O};
use wire::imap::{Status, UrlPath};

use super::session::{Event, Session, unexpected};
use super::{deliver, select};
use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::dialogue::reply_limit;

/// How long the command lasts, unless CURLOPT_SERVER_RESPONSE_TIMEOUT_MS(3) asks for a sign of life earlier.
/// Servers may log out a client after 30 minutes, and routers forget a silent connection even earlier:
/// RFC 2177 asks for less than 29 minutes.
const RENEWAL: Duration = Duration::from_millis(RENEWAL_MS as u64);
const RENEWAL_MS: i64 = 10 * 60 * 1000;

/// Why reports end.
#[derive(PartialEq)]
enum Ending {
    /// It is time to renew the command.
    Late,
    /// The server has ended it.
    Server,
}

/// Selects the mailbox and delivers the server's reports. `pause` is the time between two queries by NOOP.
pub async fn watch(t: &mut Transfer, session: &mut Session, place: &UrlPath, pause: Duration) -> Result<()> {
    let no_mailbox = || Error::new(Code::UrlMalformat, "Cannot IDLE without a mailbox.");
    let mailbox = place.mailbox.as_ref().ok_or_else(no_mailbox)?;
    // CURLOPT_NOBODY(3) means other transfers of the handle.
    t.flow.writer.refuse_body(false);
    if !session.memory.announces_idle {
        // Some servers announce it only to clients that are logged in.
        session.capabilities(t).await?;
    }
    select(t, session, mailbox, place.uid_validity).await?;
    while session.memory.announces_idle {
        session.command(t, b"IDLE").await?;
        if !begin(t, session).await? {
            break;
        }
        let limit = reply_limit(t.long(O::ServerResponseTimeoutMs), RENEWAL_MS).min(RENEWAL);
        if report(t, session, t.now() + limit).await? == Ending::Late {
            end(t, session).await?;
        }
    }
    query(t, session, pause).await
}

/// Waits until the server watches. Returns false if it refuses.
async fn begin(t: &mut Transfer, session: &mut Session) -> Result<bool> {
    loop {
        match session.next(t, |_| true).await? {
            Event::Data(line) | Event::Rest(line) => deliver(t, &line).await?,
            Event::Continue(_) => return deliver(t, b"+\r\n").await.map(|()| true),
            Event::End(_) => return Ok(false),
        }
    }
}

/// Asks by NOOP, whose reply has the changes since the last command.
async fn query(t: &mut Transfer, session: &mut Session, pause: Duration) -> Result<()> {
    deliver(t, b"+\r\n").await?;
    loop {
        let due = t.now() + pause;
        while report(t, session, due).await? != Ending::Late {}
        session.command(t, b"NOOP").await?;
        if report(t, session, session.dialogue.deadline(t)).await? == Ending::Late {
            return Err(Error::new(Code::OperationTimedout, "IMAP response timeout"));
        }
    }
}

/// Delivers reports until the command ends.
async fn report(t: &mut Transfer, session: &mut Session, until: Instant) -> Result<Ending> {
    loop {
        session.wait_until(until);
        match session.next(t, |_| true).await {
            Ok(Event::Data(line) | Event::Rest(line)) => deliver(t, &line).await?,
            Ok(Event::Continue(_)) => return Err(unexpected()),
            Ok(Event::End(Status::Ok)) => return Ok(Ending::Server),
            Ok(Event::End(_)) => return Err(Error::new(Code::QuoteError, "the server no longer reports")),
            Err(e) if e.code() == Code::OperationTimedout && t.now() >= until => return Ok(Ending::Late),
            Err(e) => return Err(e),
        }
    }
}

/// Ends the command.
async fn end(t: &mut Transfer, session: &mut Session) -> Result<()> {
    session.dialogue.send(t, b"DONE").await?;
    session.wait_until(session.dialogue.deadline(t));
    loop {
        match session.next(t, |_| true).await? {
            Event::Data(line) | Event::Rest(line) => deliver(t, &line).await?,
            Event::Continue(_) => return Err(unexpected()),
            Event::End(Status::Ok) => return Ok(()),
            Event::End(_) => return Err(Error::new(Code::QuoteError, "the server has ended IDLE")),
        }
    }
}
