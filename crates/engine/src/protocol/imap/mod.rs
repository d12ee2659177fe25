//! IMAP (RFC 9051 and RFC 3501, URLs by RFC 5092): the commands of one URL, in their order. `session` reads
//! the greeting, upgrades to TLS and logs in, and reads replies; `message` fetches and appends.

mod decide;
mod idle;
mod message;
mod session;

use std::future::poll_fn;

use tables::{Code, EasyOption as O};
use wire::imap::{Status, Untagged, UrlPath, argument};

use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::mail_commands;
use crate::transfer::replay::with_retries;
use crate::transfer::sasl::check_login;
use decide::{Request, answers, fetches_many};
pub use session::decode_memory;
use session::{Event, OWN_LOGIN, Session};

/// Runs one request.
pub async fn run(t: &mut Transfer) -> Result<()> {
    check_login(t, Some(OWN_LOGIN))?;
    with_retries(t, 1, async |t, fresh| {
        let mut session = Session::open(t, fresh).await?;
        let outcome = exchange(t, &mut session).await;
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

/// A connection, logged in, for the application itself, which also says goodbye.
pub async fn connect_only(t: &mut Transfer) -> Result<net::Connection> {
    check_login(t, Some(OWN_LOGIN))?;
    let mut whole = Session::open(t, false).await?.into_whole();
    whole.connection().farewell.clear();
    Ok(whole.into_connection())
}

/// Runs the commands of the URL. Selects its mailbox first if they are about the content of one.
async fn exchange(t: &mut Transfer, session: &mut Session) -> Result<()> {
    t.flow.writer.begin();
    let place = UrlPath::parse(t.url.path()).map_err(|_| Error::from(Code::UrlMalformat))?;
    if let Some(pause) = t.easy.idles.get() {
        return idle::watch(t, session, &place, pause).await;
    }
    if mail_commands::sends_message(t.on(O::Upload), t.method) {
        return message::append(t, session, &place).await;
    }
    let request = decide::request(t.text(O::CustomRequest).as_deref(), &place, t.url.query())?;
    t.flow.writer.refuse_body(t.on(O::NoBody));
    session.dialogue.has_enough = t.on(O::NoBody);
    if let Some(mailbox) = decide::mailbox_of(&request, &place)
        && !session.has_selected(mailbox, place.uid_validity)
    {
        select(t, session, mailbox, place.uid_validity).await?;
    }
    match request {
        Request::Fetch(command) => message::fetch(t, session, &command).await,
        Request::Search(query) => {
            lines(t, session, &[b"SEARCH ", &query[..]].concat(), |line| line.is(b"SEARCH")).await
        }
        Request::List(command) => lines(t, session, &command, |line| line.is(b"LIST")).await,
        Request::Own(word, command) => own(t, session, &word, &command).await,
    }
}

/// Sends SELECT (RFC 9051 section 6.3.2). UIDVALIDITY must match the URL's, if the server reports it.
async fn select(t: &mut Transfer, session: &mut Session, mailbox: &[u8], wanted: Option<u32>) -> Result<()> {
    session.memory.mailbox = None;
    session.command(t, &[b"SELECT ", &argument(mailbox)[..]].concat()).await?;
    loop {
        match session.next(t, |_| true).await? {
            Event::Data(line) => {
                let reported = Untagged(&line[2..]).uid_validity();
                session.memory.uid_validity = reported.or(session.memory.uid_validity);
                if t.easy.idles.get().is_some() {
                    deliver(t, &line).await?;
                }
            }
            Event::Rest(_) => {}
            // A custom command has no more to send.
            Event::Continue(_) if t.text(O::CustomRequest).is_some() => {}
            Event::Continue(_) => return Err(session::unexpected()),
            Event::End(Status::Ok) => break,
            Event::End(_) => return Err(Error::new(Code::LoginDenied, "Select failed")),
        }
    }
    if decide::has_changed(wanted, session.memory.uid_validity) {
        return Err(Error::new(Code::RemoteFileNotFound, "Mailbox UIDVALIDITY has changed"));
    }
    session.memory.mailbox = Some(mailbox.to_vec());
    Ok(())
}

/// Sends a command whose untagged lines of one kind are the body.
async fn lines(
    t: &mut Transfer,
    session: &mut Session,
    command: &[u8],
    wanted: impl Fn(Untagged<'_>) -> bool,
) -> Result<()> {
    session.command(t, command).await?;
    loop {
        match session.next(t, &wanted).await? {
            // A mailbox may be named by a literal.
            Event::Data(line) | Event::Rest(line) => deliver(t, &line).await?,
            Event::Continue(_) => return Err(session::unexpected()),
            Event::End(Status::Ok) => return Ok(()),
            Event::End(_) => return Err(Error::from(Code::QuoteError)),
        }
    }
}

/// Sends the application's custom command. As in curl, its lines are the body up to and including the first
/// literal; later lines are only headers, and so is everything in the reply to a FETCH of many messages
/// (curl's test 1848).
async fn own(t: &mut Transfer, session: &mut Session, word: &[u8], command: &[u8]) -> Result<()> {
    session.command(t, command).await?;
    let listed = fetches_many(command);
    loop {
        match session.next(t, |line| !listed && answers(word, line)).await? {
            Event::Data(line) => {
                deliver(t, &line).await?;
                if let Some(size) = Untagged(&line[2..]).literal() {
                    message::receive(t, session, size, line.len()).await?;
                    return session.finish(t, Code::WeirdServerReply).await;
                }
            }
            Event::Rest(_) | Event::Continue(_) => {}
            Event::End(Status::Ok) => return Ok(()),
            Event::End(_) => return Err(Error::from(Code::QuoteError)),
        }
    }
}

/// A line that is body as it is.
async fn deliver(t: &mut Transfer, line: &[u8]) -> Result<()> {
    t.received(line.len());
    t.flow.writer.body(line)?;
    poll_fn(|cx| t.flow.writer.poll_ready(cx)).await
}
