//! Command and reply on one connection, line by line: the common part of FTP and the mail protocols. Every
//! received line goes to the application's header callback.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use net::exchange::BodyStep;
use net::tls::TlsConfig;
use net::{About, Memory, Whole};
use tables::{Code, EasyOption as O};
use wire::http1::LineBuffer;

use super::Transfer;
use super::body::{Idling, receive_failed, send_failed};
use super::explained;
use super::route::plan::Plan;
use super::tls_options::origin_tls;
use crate::callbacks::DebugKind;
use crate::error::{Error, Result, Retry};
use crate::scratch::{SMALL, with_scratch};
use crate::why::event::CloseReason;

/// Longest line of a reply.
const MAX_LINE: usize = 64 * 1024;

/// How long a server may take for a reply (curl's RESP_TIMEOUT).
const RESPONSE_TIMEOUT_MS: i64 = 120_000;

/// A connection whose commands are answered by lines.
pub struct Dialogue {
    /// The connection.
    pub whole: Whole,
    /// The protocol's name in traces and time-outs.
    layer: &'static str,
    received: LineBuffer,
    /// Replies that have not arrived: at zero the connection is in step and can be reused, at `usize::MAX` it
    /// never can.
    pub outstanding: usize,
    /// Whether the rest of the reply is known but unwanted: then a farewell makes sense.
    pub has_enough: bool,
    /// Lines received by this transfer.
    pub lines: usize,
    /// Those of them that only announce the end of the connection, or answer the transfer before.
    pub last_words: usize,
    /// A Kerberos ticket logged in, whose principal is not compared with the user's name: the connection
    /// serves no other transfer ([`net::ConnectionKey::by_ticket`]).
    pub by_ticket: bool,
    /// Notes about the dialogue, if it is recorded.
    pub observer: Option<Box<dyn Observer>>,
    /// Limits unrequested data from a server.
    idling: Idling,
}

/// Learns what crosses a connection, line by line.
pub trait Observer {
    /// These commands were sent.
    fn sent(&self, commands: &[u8]);

    /// This line was received.
    fn received(&self, line: &[u8]);
}

impl Dialogue {
    /// Begins a dialogue of this protocol, or continues one on a kept connection.
    pub fn new(whole: Whole, layer: &'static str) -> Dialogue {
        Dialogue {
            whole,
            layer,
            received: LineBuffer::default(),
            outstanding: 0,
            has_enough: false,
            lines: 0,
            last_words: 0,
            by_ticket: false,
            observer: None,
            idling: Idling::default(),
        }
    }

    /// The properties of the connection.
    pub fn about(&self) -> &About {
        self.whole.about()
    }

    /// Sends a command; the line ending is added.
    pub async fn send(&mut self, t: &Transfer, command: &[u8]) -> Result<()> {
        self.send_together(t, &[command]).await
    }

    /// Sends a command whose reply the next transfer reads.
    pub async fn send_ahead(&mut self, t: &Transfer, command: &[u8]) -> Result<()> {
        self.write(t, &[command], false).await
    }

    /// Sends several commands in one write.
    pub async fn send_together(&mut self, t: &Transfer, commands: &[&[u8]]) -> Result<()> {
        self.write(t, commands, self.outstanding == 0).await
    }

    /// Writes commands. `waits` says that this transfer waits a round trip for them.
    async fn write(&mut self, t: &Transfer, commands: &[&[u8]], waits: bool) -> Result<()> {
        let mut lines = Vec::new();
        for command in commands {
            let line = add_line(&mut lines, command)?;
            t.easy.callbacks.debug_if_wanted(DebugKind::HeaderOut, line);
        }
        t.easy.explain(|| explained::commands(self.layer, commands, waits));
        if let Some(observer) = &self.observer {
            observer.sent(&lines);
        }
        let sent = self.whole.connection().write_all(&lines).await;
        sent.map_err(|e| self.stale_or(send_failed(&e)))?;
        self.outstanding = self.outstanding.saturating_add(commands.len());
        t.easy.trace(self.layer, || format!("{} replies are waited for", self.outstanding));
        Ok(())
    }

    /// Makes this system acknowledge replies at once: a server with Nagle's algorithm (RFC 896) holds back
    /// the second of several small replies until the first is acknowledged.
    pub fn acknowledge(&mut self) {
        self.whole.connection().filter().socket().acknowledge();
    }

    /// Returns the deadline of a reply that is expected from now on (CURLOPT_SERVER_RESPONSE_TIMEOUT_MS(3)).
    pub fn deadline(&self, t: &Transfer) -> Instant {
        t.now() + reply_limit(t.long(O::ServerResponseTimeoutMs), RESPONSE_TIMEOUT_MS)
    }

    /// Returns the next line, with its line ending, before its reply's deadline.
    pub async fn line(&mut self, t: &mut Transfer, deadline: Instant) -> Result<Vec<u8>> {
        let layer = self.layer;
        let late = || {
            let text = format!("{} response timeout", layer.to_ascii_uppercase());
            Error::new(Code::OperationTimedout, text)
        };
        let line = t.within(Some(deadline), late, self.receive_line(t)).await?;
        self.lines += 1;
        if let Some(observer) = &self.observer {
            observer.received(&line);
        }
        t.easy.info.borrow_mut().header_size += line.len() as i64;
        t.easy.callbacks.debug_if_wanted(DebugKind::HeaderIn, &line);
        t.flow.writer.header(&line, false)?;
        poll_fn(|cx| t.flow.writer.poll_ready(cx)).await?;
        Ok(line)
    }

    /// Returns the next line, without a time limit and unseen by the header callback: for a transfer that
    /// asks again and again.
    pub async fn unseen_line(&mut self, t: &Transfer) -> Result<Vec<u8>> {
        let line = self.receive_line(t).await?;
        t.easy.callbacks.debug_if_wanted(DebugKind::HeaderIn, &line);
        Ok(line)
    }

    /// Ready when a server that was asked nothing says something, or closes the connection.
    pub fn poll_unrequested(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.received.rest().is_empty() {
            return Poll::Ready(());
        }
        with_scratch(SMALL, |buf| self.whole.connection().filter().poll_read(cx, &mut buf[..32 * 1024]))
            .map(drop)
    }

    async fn receive_line(&mut self, t: &Transfer) -> Result<Vec<u8>> {
        poll_fn(|cx| self.idling.poll_step(&t.easy, cx)).await;
        loop {
            match self.received.line(MAX_LINE) {
                Ok(Some(line)) => return Ok(line),
                Ok(None) => {}
                Err(_) => {
                    return Err(Error::new(Code::WeirdServerReply, "response reading failed: line too long"));
                }
            }
            let got = poll_fn(|cx| {
                with_scratch(SMALL, |buf| {
                    // Room for a whole TLS record.
                    let read = self.whole.connection().filter().poll_read(cx, &mut buf[..32 * 1024]);
                    read.map_ok(|n| {
                        self.received.extend(&buf[..n]);
                        n
                    })
                })
            })
            .await;
            match got {
                Ok(0) => {
                    let gone = Error::new(Code::RecvError, "response reading failed (errno: 0)");
                    return Err(self.stale_or(gone));
                }
                Ok(_) => {}
                Err(e) => return Err(self.stale_or(receive_failed(&e))),
            }
        }
    }

    /// Marks an error as a retry if the kept connection was closed while idle: it failed before its first
    /// reply, whatever farewell the server sent.
    pub fn stale_or(&mut self, e: Error) -> Error {
        self.outstanding = usize::MAX;
        match is_stale(self.whole.is_reused(), self.lines, self.last_words) {
            true => e.with_retry(Retry::NewConnection),
            false => e,
        }
    }

    /// Continues a transfer's state: the bytes received already, and the number of outstanding replies.
    pub fn go_on(&mut self, received: LineBuffer, outstanding: usize) {
        (self.received, self.outstanding) = (received, outstanding);
    }

    /// Takes the received bytes that were not read as lines, for the next transfer.
    pub fn take_received(&mut self) -> LineBuffer {
        std::mem::take(&mut self.received)
    }

    /// Returns whether nothing unexpected was received.
    pub fn in_step(&self) -> bool {
        self.outstanding == 0 && self.received.rest().is_empty()
    }

    /// Records that a reply was read to its end.
    pub fn answered(&mut self) {
        self.outstanding = self.outstanding.saturating_sub(1);
    }

    /// Fails if anything arrived after the reply that allows TLS: plain text would otherwise be read as part
    /// of the TLS session (CVE-2021-22947).
    pub fn before_upgrade(&self) -> Result<()> {
        match self.in_step() {
            true => Ok(()),
            false => Err(Error::new(Code::WeirdServerReply, "")),
        }
    }

    /// Starts TLS on the connection. Bytes read before are dropped: they were not protected.
    pub async fn upgrade(&mut self, t: &Transfer, plan: &Plan) -> Result<Arc<TlsConfig>> {
        self.received = LineBuffer::default();
        let config = match (&plan.key.tls, t.scheme().tls()) {
            (Some(config), false) => config.clone(),
            _ => Arc::new(origin_tls(&t.url.peer.origin().host, &t.easy.settings.borrow(), Vec::new())?),
        };
        let origin = &plan.key.origin;
        let mut connection = self.whole.take();
        let below = connection.carrier;
        connection.carrier = t.tls(below, &config, &origin.host, origin.port).await?;
        connection.note_layers();
        self.whole.restore(connection);
        Ok(config)
    }

    /// Records the outcome: a transfer that stopped at the size limit can still send a farewell.
    pub fn note(&mut self, outcome: &Result<()>) {
        self.has_enough |= outcome.as_ref().is_err_and(|e| e.code() == Code::FilesizeExceeded);
    }

    /// Ends the transfer: returns the connection with its state (`state`) to the pool, or sends a farewell
    /// and closes. Sends none if the two sides are out of step.
    pub fn end(mut self, t: &Transfer, state: Option<Box<dyn Memory>>) {
        match state {
            Some(state) if self.in_step() && !self.by_ticket && !t.on(O::ForbidReuse) => {
                self.whole.connection().state = Some(state);
                t.release(self.whole);
            }
            state => {
                t.explain_closing(self.about(), || {
                    if state.is_none() {
                        CloseReason::Failed
                    } else if !self.in_step() {
                        CloseReason::OutOfStep
                    } else if self.by_ticket {
                        CloseReason::ByTicket
                    } else {
                        CloseReason::Forbidden
                    }
                });
                if !says_goodbye(self.outstanding, self.has_enough) {
                    self.whole.connection().farewell.clear();
                }
                t.retire(self.whole);
            }
        }
    }

    /// Returns the number of bytes received and not read yet.
    pub fn held(&self) -> usize {
        self.received.rest().len()
    }

    /// Reads bytes of a body between lines: first those received with the last line.
    pub fn poll_receive(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep>> {
        if !self.received.rest().is_empty() {
            return Poll::Ready(Ok(BodyStep::Bytes(self.received.take_into(buf))));
        }
        let n =
            ready!(self.whole.connection().filter().poll_read(cx, buf)).map_err(|e| receive_failed(&e))?;
        Poll::Ready(Ok(if n == 0 { BodyStep::End } else { BodyStep::Bytes(n) }))
    }

    /// Puts back bytes received after the end of a body, to be read as lines.
    pub fn put_back(&mut self, bytes: &[u8]) {
        let behind = self.received.rest().to_vec();
        self.received = LineBuffer::default();
        self.received.extend(bytes);
        self.received.extend(&behind);
    }

    /// Removes the interest in reading while the transfer is paused.
    pub fn forget_read(&mut self, cx: &mut Context<'_>) {
        self.whole.connection().filter().forget_read(cx);
    }
}

/// Returns whether a reply reports success (RFC 959 §4.2 and RFC 5321 §4.2.1, 2yz).
pub fn succeeded(code: u16) -> bool {
    code / 100 == 2
}

/// Returns whether a text contains a line break: the rest of it would be a command of its own.
pub fn breaks_line(text: &[u8]) -> bool {
    text.iter().any(|octet| matches!(octet, b'\r' | b'\n'))
}

/// Adds a command with its line ending and returns the line; fails on a text of several lines.
fn add_line<'a>(lines: &'a mut Vec<u8>, command: &[u8]) -> Result<&'a [u8]> {
    if breaks_line(command) {
        return Err(Error::new(Code::UrlMalformat, "a line break in a command"));
    }
    let start = lines.len();
    lines.extend_from_slice(command);
    lines.extend_from_slice(b"\r\n");
    Ok(&lines[start..])
}

/// Returns the time limit for a reply. `option` is CURLOPT_SERVER_RESPONSE_TIMEOUT_MS; the default, in
/// milliseconds, applies if it is not set.
pub fn reply_limit(option: i64, default: i64) -> Duration {
    let ms = if option == 0 { default } else { option };
    Duration::from_millis(ms as u64)
}

/// Returns whether a failed connection was closed while idle: it is a kept one, and all `lines` that this
/// transfer received announce its end.
fn is_stale(reused: bool, lines: usize, last_words: usize) -> bool {
    reused && lines == last_words
}

/// Returns whether QUIT or LOGOUT is sent on a connection that is not kept: the server must be ready to read
/// it.
fn says_goodbye(outstanding: usize, has_enough: bool) -> bool {
    outstanding == 0 || has_enough
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_one_line_each() {
        let mut lines = Vec::new();
        assert_eq!(add_line(&mut lines, b"USER a").unwrap(), b"USER a\r\n", "RFC 959 §5.3");
        assert_eq!(add_line(&mut lines, b"").unwrap(), b"\r\n", "RFC 9051 §2.2.1: the end of a literal");
        assert_eq!(lines, b"USER a\r\n\r\n", "RFC 2920 §3.1: in one write");
        for bad in [&b"NOOP\r\nDELE 1"[..], b"NOOP\nDELE 1", b"NOOP\r"] {
            let failed = add_line(&mut lines, bad).err().map(|e| e.code());
            assert_eq!(failed, Some(Code::UrlMalformat), "RFC 5321 §2.3.8: a line break");
        }
        assert_eq!(lines, b"USER a\r\n\r\n", "nothing of them is sent");
    }

    #[test]
    fn replies_have_a_default_time_limit() {
        let rows = [
            ("CURLOPT_SERVER_RESPONSE_TIMEOUT(3): not set", 0, 120_000),
            ("CURLOPT_SERVER_RESPONSE_TIMEOUT_MS(3)", 700, 700),
        ];
        for (name, option, wanted_ms) in rows {
            let wanted = Duration::from_millis(wanted_ms);
            assert_eq!(reply_limit(option, RESPONSE_TIMEOUT_MS), wanted, "{name}");
        }
    }

    #[test]
    fn only_positive_completion_is_a_success() {
        let rows = [
            ("RFC 959 §4.2: 1yz is preliminary", 150, false),
            ("RFC 5321 §4.2.1: 2yz", 250, true),
            ("RFC 959 §4.2: the last of them", 299, true),
            ("RFC 5321 §4.2.1: 3yz is intermediate", 354, false),
            ("RFC 959 §4.2: 3yz wants another command", 350, false),
            ("RFC 5321 §4.2.1: 4yz fails for now", 450, false),
            ("RFC 5321 §4.2.1: 5yz fails for good", 550, false),
        ];
        for (name, code, wanted) in rows {
            assert_eq!(succeeded(code), wanted, "{name}");
        }
    }

    #[test]
    fn line_breaks_are_found() {
        let rows: [(_, &[u8], _); 4] = [
            ("RFC 5321 §4.1.2: an address", b"a@b", false),
            ("RFC 959 §5.3.1: a tab is one line", b"a\tb", false),
            ("RFC 5321 §2.3.8: a line feed", b"a@b>\nRCPT TO:<c", true),
            ("RFC 5321 §2.3.8: a carriage return", b"a@b\r", true),
        ];
        for (name, text, wanted) in rows {
            assert_eq!(breaks_line(text), wanted, "{name}");
        }
    }

    #[test]
    fn kept_connections_die_before_their_first_reply() {
        let rows = [
            ("RFC 5321 §4.5.3.2: closed while idle", true, 0, 0, true),
            ("RFC 5321 §3.8: with a 421", true, 1, 1, true),
            ("RFC 9051 §7.1.5: with a BYE after something else", true, 2, 1, false),
            ("RFC 5321 §4.2: after a reply", true, 1, 0, false),
            ("RFC 5321 §4.2: a new connection", false, 0, 0, false),
        ];
        for (name, reused, lines, last_words, wanted) in rows {
            assert_eq!(is_stale(reused, lines, last_words), wanted, "{name}");
        }
    }

    #[test]
    fn goodbye_is_said_in_step() {
        let rows = [
            ("RFC 5321 §4.1.1.10: in step", 0, false, true),
            ("RFC 5321 §4.1.1.10: a reply is still to come", 1, false, false),
            ("RFC 9051 §6.1.3: a literal that was not wanted", 1, true, true),
            ("RFC 959 §4.1.1: out of step for good", usize::MAX, false, false),
        ];
        for (name, outstanding, has_enough, wanted) in rows {
            assert_eq!(says_goodbye(outstanding, has_enough), wanted, "{name}");
        }
    }
}
