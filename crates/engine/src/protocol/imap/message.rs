//! Messages: FETCH and APPEND (RFC 9051 sections 6.4.5 and 6.3.12). Literals are streamed without buffering.

use std::task::{Context, Poll, ready};

use net::exchange::BodyStep;
use tables::{Code, EasyOption as O};
use wire::imap::{Untagged, UrlPath, flags};

use super::decide;
use super::session::{Event, Session, unexpected};
use crate::error::{Error, Result};
use crate::settings::Method;
use crate::transfer::Transfer;
use crate::transfer::body::{BodySource, truncated};
use crate::transfer::client_reader::ClientReader;
use crate::transfer::dialogue::Dialogue;
use crate::transfer::explained::{explain_limits, limits_before};
use crate::transfer::sending::send_body;

/// Fetches a message or a part of one.
pub async fn fetch(t: &mut Transfer, session: &mut Session, command: &[u8]) -> Result<()> {
    session.command(t, command).await?;
    let line = loop {
        match session.next(t, |line| line.is(b"FETCH")).await? {
            Event::Data(line) => break line,
            Event::Rest(_) => {}
            Event::Continue(_) => return Err(unexpected()),
            Event::End(_) => return Err(Error::from(Code::RemoteFileNotFound)),
        }
    };
    let Some(size) = Untagged(&line[2..]).literal() else {
        session.dialogue.has_enough = true;
        return Err(Error::new(Code::WeirdServerReply, "Failed to parse FETCH response."));
    };
    receive(t, session, size, 0).await?;
    session.finish(t, Code::WeirdServerReply).await
}

/// Delivers the literal after the last line read. `before` octets of the body have been delivered already.
pub async fn receive(t: &mut Transfer, session: &mut Session, size: u64, before: usize) -> Result<()> {
    t.easy.note(|| format!("Found {size} bytes to download"));
    let all = size.saturating_add(before as u64);
    t.easy.info.borrow_mut().download_total = i64::try_from(all).unwrap_or(i64::MAX);
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    let received = t.flow.pump_body(&mut Literal { dialogue: &mut session.dialogue, left: size }).await;
    if received.is_err() {
        // The rest of it would be parsed as lines.
        session.dialogue.outstanding = usize::MAX;
    }
    received?;
    session.literal_taken(t);
    Ok(())
}

/// Adds a message to a mailbox. A short one is sent together with its announcement if the server supports
/// that (RFC 7888), which saves a round trip.
pub async fn append(t: &mut Transfer, session: &mut Session, place: &UrlPath) -> Result<()> {
    let no_mailbox = || Error::new(Code::UrlMalformat, "Cannot APPEND without a mailbox.");
    let mailbox = place.mailbox.as_ref().ok_or_else(no_mailbox)?;
    let mut reader = match t.method {
        Method::PostMime => ClientReader::mail(&t.easy)?,
        _ => ClientReader::open(&t.easy, Method::Put)?,
    };
    let unknown = || {
        let text = match t.on(O::Crlf) {
            true => "Cannot APPEND with CRLF conversion making size unknown",
            false => "Cannot APPEND with unknown input file size",
        };
        Error::new(Code::UploadFailed, text)
    };
    let size = reader.size.ok_or_else(unknown)?;
    let flags = flags(t.long(O::UploadFlags));
    let unasked = session.takes_unasked(size);
    session.command(t, &decide::append_command(mailbox, &flags, size, unasked)).await?;
    if unasked {
        session.dialogue.answered(); // there is no continuation request
    } else if !matches!(session.next(t, |_| false).await?, Event::Continue(_)) {
        return Err(Error::from(Code::UploadFailed));
    }
    t.easy.info.borrow_mut().upload_total = size as i64;
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    // Until the command is complete, the server understands nothing else.
    let before = std::mem::replace(&mut session.dialogue.outstanding, usize::MAX);
    let filter = session.dialogue.whole.connection().filter();
    let limits = limits_before(&t.easy, filter.socket());
    send_body(t, filter, &mut reader, None, None).await?;
    session.dialogue.outstanding = before;
    session.end_command(t).await?;
    let stored = session.finish(t, Code::UploadFailed).await;
    if let Some(before) = limits {
        let socket = session.dialogue.whole.connection().filter().socket();
        explain_limits(&t.easy, before, socket.send_limits());
    }
    t.note_first_byte();
    stored
}

/// A literal: so many octets between two lines.
struct Literal<'a> {
    dialogue: &'a mut Dialogue,
    left: u64,
}

impl BodySource for Literal<'_> {
    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep>> {
        if self.left == 0 {
            return Poll::Ready(Ok(BodyStep::End));
        }
        // Bytes after the literal stay where they are; only the socket may return more than the literal has.
        let held = self.dialogue.held();
        let room = decide::literal_room(held, self.left, buf.len());
        match ready!(self.dialogue.poll_receive(cx, &mut buf[..room]))? {
            BodyStep::End => Poll::Ready(Err(truncated(Some(self.left)))),
            BodyStep::Bytes(n) => {
                let own = n.min(usize::try_from(self.left).unwrap_or(usize::MAX));
                self.left -= own as u64;
                if own < n {
                    self.dialogue.put_back(&buf[own..n]);
                }
                Poll::Ready(Ok(BodyStep::Bytes(own)))
            }
        }
    }

    /// Returns the remaining length. A short literal is read into the buffer of its line.
    fn left(&self) -> Option<u64> {
        Some(self.left)
    }

    fn forget_read(&mut self, cx: &mut Context<'_>) {
        self.dialogue.forget_read(cx);
    }
}
