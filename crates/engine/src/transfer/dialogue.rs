//! Command and reply on one connection, line by line: what FTP and the mail protocols have in common.
//! Every line received goes to the application's header callback.

use std::future::poll_fn;
use std::time::{Duration, Instant};

use net::{About, Whole};
use tables::{Code, EasyOption as O};
use wire::http1::LineBuffer;

use super::Transfer;
use super::body::{receive_failed, send_failed};
use crate::callbacks::DebugKind;
use crate::error::{Error, Result};
use crate::multi::SMALL_SCRATCH;

/// Longest line of a reply.
const MAX_LINE: usize = 64 * 1024;

/// How long a server may take for a reply (curl's RESP_TIMEOUT).
const RESPONSE_TIMEOUT_MS: i64 = 120_000;

/// A connection on which commands are answered by lines.
pub struct Dialogue {
    /// The connection.
    pub whole: Whole,
    received: LineBuffer,
    /// Replies that are still to come: at zero the connection is in step and can serve again, at `usize::MAX` never more.
    pub outstanding: usize,
    /// Lines received by this transfer.
    pub lines: usize,
}

impl Dialogue {
    /// Begins a dialogue, or goes on with one on a kept connection.
    pub fn new(whole: Whole) -> Dialogue {
        Dialogue { whole, received: LineBuffer::default(), outstanding: 0, lines: 0 }
    }

    /// What may be known of the connection.
    pub fn about(&self) -> &About {
        self.whole.about()
    }

    /// Sends a command; the line ending is added.
    pub async fn send(&mut self, t: &Transfer, command: &[u8]) -> Result<()> {
        self.send_together(t, &[command]).await
    }

    /// Sends several commands in one write.
    pub async fn send_together(&mut self, t: &Transfer, commands: &[&[u8]]) -> Result<()> {
        let mut lines = Vec::new();
        for command in commands {
            if command.iter().any(|b| matches!(b, b'\r' | b'\n')) {
                return Err(Error::new(Code::UrlMalformat, "a line break in a command"));
            }
            let start = lines.len();
            lines.extend_from_slice(command);
            lines.extend_from_slice(b"\r\n");
            t.easy.callbacks.debug_if_wanted(DebugKind::HeaderOut, &lines[start..]);
        }
        t.easy.info.borrow_mut().request_size += lines.len() as i64;
        let sent = self.whole.connection().write_all(&lines).await;
        sent.map_err(|e| self.stale_or(send_failed(&e)))?;
        self.outstanding = self.outstanding.saturating_add(commands.len());
        t.easy.trace("ftp", || format!("{} replies are waited for", self.outstanding));
        Ok(())
    }

    /// When a reply is late that is waited for from now on (CURLOPT_SERVER_RESPONSE_TIMEOUT_MS(3)).
    pub fn deadline(&self, t: &Transfer) -> Instant {
        let ms = match t.long(O::ServerResponseTimeoutMs) {
            0 => RESPONSE_TIMEOUT_MS,
            n => n,
        };
        t.now() + Duration::from_millis(ms as u64)
    }

    /// The next line, with its line ending, before the deadline of the reply that it belongs to. `late` says in the words
    /// of the protocol that it did not come.
    pub async fn line(
        &mut self,
        t: &mut Transfer,
        deadline: Instant,
        late: impl FnOnce() -> Error,
    ) -> Result<Vec<u8>> {
        let line = t.within(Some(deadline), late, self.receive_line(t)).await?;
        self.lines += 1;
        t.easy.info.borrow_mut().header_size += line.len() as i64;
        t.easy.callbacks.debug_if_wanted(DebugKind::HeaderIn, &line);
        t.writer.header(&line, false)?;
        poll_fn(|cx| t.writer.poll_ready(cx)).await?;
        Ok(line)
    }

    async fn receive_line(&mut self, t: &Transfer) -> Result<Vec<u8>> {
        loop {
            match self.received.line(MAX_LINE) {
                Ok(Some(line)) => return Ok(line),
                Ok(None) => {}
                Err(_) => {
                    return Err(Error::new(Code::WeirdServerReply, "response reading failed: line too long"));
                }
            }
            let multi = t.multi.clone();
            let got = poll_fn(|cx| {
                multi.with_scratch(SMALL_SCRATCH, |buf| {
                    // A whole TLS record must fit.
                    let read = self.whole.connection().filter.poll_read(cx, &mut buf[..32 * 1024]);
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

    /// A kept connection that fails before its first reply was closed while idle.
    fn stale_or(&mut self, e: Error) -> Error {
        self.outstanding = usize::MAX;
        if self.whole.is_reused() && self.lines == 0 { e.stale() } else { e }
    }

    /// Goes on where another transfer left: with what was received already, and so many replies still to come.
    pub fn go_on(&mut self, received: LineBuffer, outstanding: usize) {
        (self.received, self.outstanding) = (received, outstanding);
    }

    /// What was received and not yet read as lines, for whoever goes on.
    pub fn take_received(&mut self) -> LineBuffer {
        std::mem::take(&mut self.received)
    }

    /// Whether nothing unexpected was received.
    pub fn in_step(&self) -> bool {
        self.outstanding == 0 && self.received.rest().is_empty()
    }

    /// Drops what was read before a TLS upgrade: it was not protected.
    pub fn forget_received(&mut self) {
        self.received = LineBuffer::default();
    }
}
