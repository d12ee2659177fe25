//! IDLE (RFC 2177, RFC 9051 section 6.3.13): the server reports what happens in a mailbox when it happens.
//!
//! The body consists of the untagged lines of SELECT, a line with a plus sign when the server has begun to
//! watch, and each untagged line after that. It ends only with the transfer.

use std::time::Duration;

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

/// Selects the mailbox and delivers the server's reports.
pub async fn watch(t: &mut Transfer, session: &mut Session, place: &UrlPath) -> Result<()> {
    let no_mailbox = || Error::new(Code::UrlMalformat, "Cannot IDLE without a mailbox.");
    let mailbox = place.mailbox.as_ref().ok_or_else(no_mailbox)?;
    // CURLOPT_NOBODY(3) means other transfers of the handle.
    t.flow.writer.refuse_body(false);
    select(t, session, mailbox, place.uid_validity).await?;
    loop {
        session.command(t, b"IDLE").await?;
        begin(t, session).await?;
        if report(t, session).await? == Ending::Late {
            end(t, session).await?;
        }
    }
}

/// Waits until the server watches.
async fn begin(t: &mut Transfer, session: &mut Session) -> Result<()> {
    loop {
        match session.next(t, |_| true).await? {
            Event::Data(line) | Event::Rest(line) => deliver(t, &line).await?,
            Event::Continue(_) => return deliver(t, b"+\r\n").await,
            Event::End(_) => return Err(Error::new(Code::QuoteError, "the server does not support IDLE")),
        }
    }
}

/// Delivers reports until the command ends.
async fn report(t: &mut Transfer, session: &mut Session) -> Result<Ending> {
    let until = t.now() + reply_limit(t.long(O::ServerResponseTimeoutMs), RENEWAL_MS).min(RENEWAL);
    loop {
        session.wait_until(until);
        match session.next(t, |_| true).await {
            Ok(Event::Data(line) | Event::Rest(line)) => deliver(t, &line).await?,
            Ok(Event::Continue(_)) => return Err(unexpected()),
            Ok(Event::End(Status::Ok)) => return Ok(Ending::Server),
            Ok(Event::End(_)) => return Err(Error::new(Code::QuoteError, "the server has ended IDLE")),
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
