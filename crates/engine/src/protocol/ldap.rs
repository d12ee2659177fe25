//! ldap:// and ldaps:// (RFC 4511, RFC 4516): a bind, the URL's search, and its entries as they arrive. A
//! connection serves the next search of the same user without another bind; `login` does the bind.

mod login;

use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use net::exchange::BodyStep;
use net::{Memory, Whole};
use tables::{Code, EasyOption as O};
use wire::ldap::ber::Malformed;
use wire::ldap::{self, Answer, BadUrl, Outcome, Search};

use crate::easy::EasyState;
use crate::error::{Error, Result, Retry};
use crate::transfer::Transfer;
use crate::transfer::body::{BodySource, Idling, receive_failed, send_failed};
use crate::transfer::replay::with_retries;
use crate::transfer::tls_options::origin_tls;

/// CURLUSESSL_TRY.
const TRY_TLS: i64 = 1;
/// Size of a read.
const PIECE: usize = 32 * 1024;
const SIZE_LIMIT_EXCEEDED: u32 = 4;

/// The state of a kept connection: it is bound, and message numbers up to this one are used.
struct BoundConnection {
    last_id: u32,
}

impl Memory for BoundConnection {}

/// Runs one search. If a kept connection turns out to be closed, it uses a fresh one.
pub async fn run(t: &mut Transfer) -> Result<()> {
    let search = Search::from_url(&t.url.path_and_query()).map_err(bad_url)?;
    with_retries(t, 1, async |t, fresh| ask(t, &search, fresh).await).await
}

async fn ask(t: &mut Transfer, search: &Search, fresh: bool) -> Result<()> {
    let mut session = Session::open(t, fresh).await?;
    let id = session.next_id();
    let request = search
        .request(id)
        .map_err(|_| Error::new(Code::LdapSearchFailed, "LDAP local: ldap_search_ext Bad search filter"))?;
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    let sent = session.send(&request).await;
    sent.map_err(|e| session.stale_or(e))?;
    let mut entries = Entries { session: &mut session, id, text: Vec::new() };
    let outcome = t.flow.pump_body(&mut entries).await;
    outcome.map_err(|e| session.stale_or(e))?;
    session.leave(t);
    Ok(())
}

struct Session {
    whole: Whole,
    received: Vec<u8>,
    /// Number of processed bytes, which are removed when more arrive.
    taken: usize,
    last_id: u32,
    easy: Rc<EasyState>,
    idling: Idling,
    /// Whether nothing has arrived yet on a connection that had served before.
    unsure: bool,
}

impl Session {
    /// Returns a kept connection, or a new one after its bind.
    async fn open(t: &mut Transfer, fresh: bool) -> Result<Session> {
        let mut whole = t.connect(fresh).await?.into_whole()?;
        let known = whole.connection().state.take().and_then(|state| state.take::<BoundConnection>());
        let last_id = known.as_ref().map_or(0, |known| known.last_id);
        let unsure = known.is_some();
        let (easy, idling) = (t.easy.clone(), Idling::default());
        let mut session = Session { whole, received: Vec::new(), taken: 0, last_id, easy, idling, unsure };
        if !unsure {
            session.protect(t).await?;
            session.bind(t).await?;
        }
        Ok(session)
    }

    /// Returns the connection to the pool, or closes it if the server sent unexpected data.
    fn leave(mut self, t: &mut Transfer) {
        let id = self.next_id();
        let connection = self.whole.connection();
        connection.farewell = ldap::unbind(id);
        connection.state = Some(Box::new(BoundConnection { last_id: id }));
        if self.taken == self.received.len() { t.release(self.whole) } else { t.retire(self.whole) }
    }

    /// Any failure before the first byte on a kept connection means that it was closed.
    fn stale_or(&self, e: Error) -> Error {
        if self.unsure && matches!(e.code(), Code::RecvError | Code::SendError) {
            e.with_retry(Retry::NewConnection)
        } else {
            e
        }
    }

    fn next_id(&mut self) -> u32 {
        self.last_id += 1;
        self.last_id
    }

    async fn send(&mut self, message: &[u8]) -> Result<()> {
        self.whole.connection().write_all(message).await.map_err(|e| send_failed(&e))
    }

    /// Starts TLS by CURLOPT_USE_SSL(3), before anything confidential. Nothing may follow the reply that
    /// allows it: it would not be protected.
    async fn protect(&mut self, t: &Transfer) -> Result<()> {
        let wanted = t.long(O::UseSsl);
        if wanted == 0 || t.scheme().tls() {
            return Ok(());
        }
        let id = self.next_id();
        self.send(&ldap::start_tls(id)).await?;
        let outcome = self.outcome(id).await?;
        if outcome.code != 0 {
            let failed = || refused(&outcome, Code::UseSslFailed, "STARTTLS");
            return if wanted == TRY_TLS { Ok(()) } else { Err(failed()) };
        }
        if self.taken < self.received.len() {
            return Err(nonsense(Malformed));
        }
        let plan = t.plan()?;
        let config = match &plan.key.tls {
            Some(config) => config.clone(),
            None => Arc::new(origin_tls(&t.url.peer.origin().host, &t.easy.settings.borrow(), Vec::new())?),
        };
        let origin = &plan.key.origin;
        let mut connection = self.whole.take();
        let below = connection.carrier;
        connection.carrier = t.tls(below, &config, &origin.host, origin.port).await?;
        connection.note_layers();
        self.whole.restore(connection);
        Ok(())
    }

    /// Reads the response to a request that has one response.
    async fn outcome(&mut self, wanted: u32) -> Result<Outcome> {
        loop {
            match ldap::answer(&self.received[self.taken..]).map_err(nonsense)? {
                Some((id, answer, length)) => {
                    let outcome = match answer {
                        Answer::Bound(outcome) | Answer::Extended(outcome) if id == wanted => Some(outcome),
                        _ => None,
                    };
                    self.taken += length;
                    if let Some(outcome) = outcome {
                        self.note(&outcome);
                        return Ok(outcome);
                    }
                }
                None => poll_fn(|cx| self.poll_fill(cx)).await?,
            }
        }
    }

    /// CURLINFO_RESPONSE_CODE(3) is LDAP's result code.
    fn note(&self, outcome: &Outcome) {
        self.easy.info.borrow_mut().response_code = i64::from(outcome.code);
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        ready!(self.idling.poll_step(&self.easy, cx));
        self.received.drain(..std::mem::take(&mut self.taken));
        let before = self.received.len();
        self.received.resize(before + PIECE, 0);
        let read = self.whole.connection().filter().poll_read(cx, &mut self.received[before..]);
        let n = match &read {
            Poll::Ready(Ok(n)) => *n,
            _ => 0,
        };
        self.received.truncate(before + n);
        self.unsure &= n == 0;
        match ready!(read).map_err(|e| receive_failed(&e))? {
            0 => Poll::Ready(Err(Error::new(Code::RecvError, "the server closed the connection"))),
            _ => Poll::Ready(Ok(())),
        }
    }
}

/// The entries of a search, as a body.
struct Entries<'a> {
    session: &'a mut Session,
    id: u32,
    /// Printed text that was not delivered yet.
    text: Vec<u8>,
}

impl Entries<'_> {
    /// Returns bytes at the front of the buffer; none at the end.
    fn poll_text(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<usize>> {
        loop {
            if !self.text.is_empty() {
                let n = buf.len().min(self.text.len());
                buf[..n].copy_from_slice(&self.text[..n]);
                self.text.drain(..n);
                return Poll::Ready(Ok(n));
            }
            if self.print()? {
                return Poll::Ready(Ok(0));
            }
            if self.text.is_empty() {
                ready!(self.session.poll_fill(cx))?;
            }
        }
    }

    /// Prints the received messages; returns whether the last has arrived. Referrals are not followed.
    fn print(&mut self) -> Result<bool> {
        loop {
            let received = &self.session.received[self.session.taken..];
            let Some((id, answer, length)) = ldap::answer(received).map_err(nonsense)? else {
                return Ok(false);
            };
            match answer {
                Answer::Entry(entry) if id == self.id => entry.print(&mut self.text).map_err(nonsense)?,
                Answer::Done(outcome) if id == self.id => {
                    self.session.taken += length;
                    self.session.note(&outcome);
                    return end(&outcome);
                }
                _ => {}
            }
            self.session.taken += length;
            // Delivered one at a time: the next one may be the end, or invalid.
            if !self.text.is_empty() {
                return Ok(false);
            }
        }
    }
}

/// A server's limit on the number of entries is not an error.
fn end(outcome: &Outcome) -> Result<bool> {
    match outcome.code {
        0 | SIZE_LIMIT_EXCEEDED => Ok(true),
        _ => Err(refused(outcome, Code::LdapSearchFailed, "search")),
    }
}

impl BodySource for Entries<'_> {
    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep>> {
        let n = ready!(self.poll_text(cx, buf))?;
        Poll::Ready(Ok(if n == 0 { BodyStep::End } else { BodyStep::Bytes(n) }))
    }

    fn forget_read(&mut self, cx: &mut Context<'_>) {
        self.session.whole.connection().filter().forget_read(cx);
    }
}

/// Converts a server's refusal to curl's codes.
fn refused(outcome: &Outcome, otherwise: Code, what: &str) -> Error {
    let code = match outcome.code {
        2 => Code::UnsupportedProtocol,
        49 => Code::LoginDenied,
        50 => Code::RemoteAccessDenied,
        _ => otherwise,
    };
    let text = String::from_utf8_lossy(&outcome.text);
    Error::new(code, format!("LDAP remote: {what} failed {} {text}", outcome.reason()))
}

fn bad_url(bad: BadUrl) -> Error {
    let what = match bad {
        BadUrl::Url => "bad URL",
        BadUrl::Attributes => "bad or missing attributes",
        BadUrl::Scope => "bad or missing scope",
        BadUrl::Filter => "bad or missing filter",
        BadUrl::Extensions => "bad or missing extensions",
    };
    Error::new(Code::UrlMalformat, format!("LDAP local: {what}"))
}

fn nonsense(_: Malformed) -> Error {
    Error::new(Code::WeirdServerReply, "a message that is none of LDAP's")
}
