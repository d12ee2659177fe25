//! Sends a request's body while the reply is read: waits for 100 Continue if the head asked for it (RFC 9110
//! §10.1.1), and stops when a final reply arrives first.

use std::future::Future;
use std::hint::cold_path;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use net::exchange::{BadHead, Exchange, RequestBody, is_sendable};
use runtime::{NextRun, Reactor, SendLimits, Sleep};
use std::sync::Arc;
use tables::{Code, EasyOption as O};

use super::decide::body::{self as decide, Effect, First, Overtaken};
use crate::callbacks::DebugKind;
use crate::easy::EasyState;
use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::body::send_failed;
use crate::transfer::client_reader::ClientReader;
use crate::transfer::explained::explain_limits;
use crate::transfer::rate_limit::RateLimit;
use crate::why::event::{Event, GoAhead};

/// Pieces of body that are sent before the poll ends.
const PIECES_PER_TURN: usize = 4;

/// The sending of one request.
pub struct Upload {
    easy: Rc<EasyState>,
    reactor: Arc<Reactor>,
    step: Step,
    failure: Option<Error>,
    /// `None` for most requests, which then wait longer for the reply.
    body: Option<Box<Body>>,
}

/// The body after a head.
struct Body {
    reader: ClientReader,
    what: RequestBody,
    expected: bool,
    wants_trailers: bool,
    rate: RateLimit,
    pace: Option<Sleep>,
    turn: Option<NextRun>,
    counted: i64,
    begun: bool,
    /// The limits of its connection before, if reasons are kept.
    limits: Option<SendLimits>,
}

enum Step {
    /// Only the head is sent until the server replies 100 or the timer ends.
    AwaitGoAhead(Box<Sleep>),
    /// The body is being sent.
    Sending,
    /// Everything is queued.
    Flushing,
    /// Everything is sent.
    Done,
    /// Sending was given up because the reply arrived first.
    Stopped,
}

impl Upload {
    /// Creates the upload of a request; `expects` says whether the head asked for 100 Continue.
    #[inline]
    pub fn new(
        t: &Transfer,
        reader: ClientReader,
        what: RequestBody,
        expects: bool,
        wants_trailers: bool,
    ) -> Upload {
        let reactor = t.multi.runtime.reactor().clone();
        let step = match decide::first_step(what, expects) {
            First::Head => Step::Flushing,
            First::Wait => {
                cold_path();
                let wait = Duration::from_millis(t.long(O::Expect100TimeoutMs).max(0) as u64);
                t.easy.explain(|| Event::Waits { limit: wait });
                t.easy.trace("timer", || format!("[100_TIMEOUT] set for {}us", wait.as_micros()));
                Step::AwaitGoAhead(Box::new(reactor.sleep(wait)))
            }
            First::Body => Step::Sending,
        };
        let body = (what != RequestBody::None).then(|| {
            Box::new(Body {
                reader,
                what,
                expected: expects,
                wants_trailers,
                rate: t.flow.send_rate.clone(),
                pace: None,
                turn: None,
                counted: 0,
                begun: false,
                limits: None,
            })
        });
        Upload { easy: t.easy.clone(), reactor, step, failure: None, body }
    }

    /// Returns whether the head asked for 100 Continue.
    pub fn expected_go_ahead(&self) -> bool {
        self.body.as_ref().is_some_and(|body| body.expected)
    }

    /// Sends the body: the server replied 100, or will not reply any more.
    pub fn go_ahead(&mut self) {
        if matches!(self.step, Step::AwaitGoAhead(_)) {
            self.easy.explain(|| Event::GoesOn(GoAhead::Continue));
            self.easy.trace("timer", || "[100_TIMEOUT] cleared".to_owned());
            self.step = Step::Sending;
        }
    }

    /// Processes a final reply. `queued` is the number of bytes that wait to be written.
    pub fn final_reply(&mut self, status: u16, keep_sending: bool, queued: usize) {
        let overtaken = Overtaken {
            status,
            ended: self.has_ended(),
            waiting: matches!(self.step, Step::AwaitGoAhead(_)),
            keep_sending,
        };
        match decide::overtaken(&overtaken) {
            Effect::None => {}
            Effect::Withdraw => {
                self.easy.explain(|| Event::GoesOn(GoAhead::Answered));
                self.step = Step::Stopped;
            }
            Effect::KeepSending => {
                self.easy.note(|| "HTTP error before end of send, keep sending".to_owned());
                self.go_ahead();
            }
            Effect::Stop => {
                self.easy.note(|| "HTTP error before end of send, stop sending".to_owned());
                self.stop(queued);
            }
        }
    }

    /// Stops the body.
    pub fn stop(&mut self, queued: usize) {
        let sent = self.counted().saturating_sub_unsigned(queued as u64);
        self.easy.note(|| match sent {
            ..=0 => "abort upload".to_owned(),
            _ => format!("abort upload after having sent {sent} bytes"),
        });
        self.step = Step::Stopped;
    }

    /// Returns whether everything was sent, so that the connection can carry another request.
    pub fn complete(&self) -> bool {
        matches!(self.step, Step::Done) && self.failure.is_none()
    }

    /// Returns whether nothing more will be sent, as after the head of a GET.
    pub fn has_ended(&self) -> bool {
        matches!(self.step, Step::Done | Step::Stopped)
    }

    /// Takes the error of sending, if it failed.
    pub fn take_failure(&mut self) -> Option<Error> {
        self.failure.take()
    }

    /// Records the limit of the upload after its reply has arrived.
    pub fn explain_limits(&self, exchange: &dyn Exchange) {
        if let Some(body) = &self.body
            && let Some(before) = body.limits
        {
            cold_path();
            explain_limits(&self.easy, before, exchange.send_limits());
        }
    }

    /// Starts the body over for another request.
    pub fn rewind(&mut self) -> Result<()> {
        let Some(body) = &mut self.body else { return Ok(()) };
        self.easy.info.borrow_mut().uploaded -= std::mem::take(&mut body.counted);
        body.reader.rewind()
    }

    /// Bytes of body that were queued.
    fn counted(&self) -> i64 {
        self.body.as_ref().map_or(0, |body| body.counted)
    }

    /// Sends what can be sent now, but only some pieces per poll: the reply, the timer and the progress
    /// function must also run while a peer accepts everything at once.
    pub fn poll(&mut self, cx: &mut Context<'_>, exchange: &mut dyn Exchange) -> Result<()> {
        let mut pieces = 0;
        loop {
            match &mut self.step {
                Step::Done | Step::Stopped => return Ok(()),
                Step::AwaitGoAhead(timer) => {
                    let late = Pin::new(timer).poll(cx).is_ready();
                    if late {
                        self.easy.explain(|| Event::GoesOn(GoAhead::Late));
                        self.step = Step::Sending;
                        continue;
                    }
                    self.flush(cx, exchange)?;
                    return Ok(());
                }
                Step::Sending => {
                    // The head is sent together with the first piece of body; later pieces are sent one by
                    // one, because the application may be slow with the next.
                    let begun = self.body.as_ref().is_some_and(|body| body.begun);
                    if begun && exchange.queued() > 0 && !self.flush(cx, exchange)? {
                        return Ok(());
                    }
                    let Upload { easy, reactor, body: Some(body), .. } = self else {
                        self.step = Step::Flushing;
                        continue;
                    };
                    if pieces == PIECES_PER_TURN {
                        body.turn = Some(reactor.next_run());
                    }
                    if body.others_have_their_turn(cx) {
                        return Ok(());
                    }
                    pieces += 1;
                    if !body.fill(cx, exchange, easy, reactor)? {
                        self.flush(cx, exchange)?;
                        return Ok(());
                    }
                    if body.reader.ended() {
                        self.step = Step::Flushing;
                    }
                }
                Step::Flushing => {
                    if !self.flush(cx, exchange)? {
                        return Ok(());
                    }
                    self.step = Step::Done;
                    self.easy.note(|| match self.counted() {
                        0 => "Request completely sent off".to_owned(),
                        bytes => format!("upload completely sent off: {bytes} bytes"),
                    });
                    let now = self.reactor.now();
                    let mut info = self.easy.info.borrow_mut();
                    info.post_transfer = info.since_start(now);
                }
            }
        }
    }

    /// Sends what is queued; returns whether everything was sent. If the peer is gone the upload ends and the
    /// failure is kept: the peer may have sent the reason before. A peer that is still there could also wait
    /// for the rest of the request.
    fn flush(&mut self, cx: &mut Context<'_>, exchange: &mut dyn Exchange) -> Result<bool> {
        match exchange.poll_flush(cx) {
            Poll::Ready(Ok(())) => Ok(true),
            Poll::Pending => Ok(false),
            Poll::Ready(Err(e)) => {
                cold_path();
                self.step = Step::Stopped;
                if is_of_this_side(&e) {
                    return Err(send_failed(&e));
                }
                self.failure = Some(send_failed(&e));
                Ok(false)
            }
        }
    }
}

impl Body {
    fn others_have_their_turn(&mut self, cx: &mut Context<'_>) -> bool {
        let waits = self.turn.as_mut().is_some_and(|turn| Pin::new(turn).poll(cx).is_pending());
        if !waits {
            self.turn = None;
        }
        waits
    }

    /// Queues the next piece of body. Returns `false` if there is none now.
    fn fill(
        &mut self,
        cx: &mut Context<'_>,
        exchange: &mut dyn Exchange,
        easy: &EasyState,
        reactor: &Arc<Reactor>,
    ) -> Result<bool> {
        if self.rate.adopt(easy.settings.borrow().long(O::MaxSendSpeedLarge)) {
            self.pace = None;
        }
        if let Some(pace) = &mut self.pace {
            if Pin::new(pace).poll(cx).is_pending() {
                return Ok(false);
            }
            self.pace = None;
        }
        if self.reader.waits(cx) {
            return Ok(false);
        }
        let size = easy.settings.borrow().long(O::UploadBufferSize) as usize;
        let want = match self.reader.size {
            Some(all) => size.min(usize::try_from(all).unwrap_or(size)).max(1),
            None => size,
        };
        if !self.begun && easy.why.is_on() {
            cold_path();
            self.limits = exchange.send_limits();
        }
        let before = exchange.queued();
        let room = exchange.body_room(self.rate.piece(want));
        let Poll::Ready(read) = self.reader.poll_read(cx, room) else { return Ok(false) };
        let n = read?;
        show(easy, &room[..n]);
        exchange.body_filled(n);
        self.begun = true;
        if self.reader.ended() {
            let trailers = self.trailers(easy)?;
            exchange.end_body(&trailers.iter().map(|line| &**line).collect::<Vec<&[u8]>>());
        }
        // Like curl, counts the bytes on the wire: chunked coding and trailers are part of them.
        let queued = exchange.queued() - before;
        self.counted += queued as i64;
        let mut info = easy.info.borrow_mut();
        info.request_size += queued as i64;
        info.uploaded += queued as i64;
        drop(info);
        if let Some(at) = self.rate.moved(queued, reactor.now()) {
            self.pace = Some(reactor.sleep_until(at));
        }
        Ok(true)
    }

    /// Returns the lines of CURLOPT_TRAILERFUNCTION.
    fn trailers(&self, easy: &EasyState) -> Result<Vec<Rc<[u8]>>> {
        if !self.wants_trailers {
            return Ok(Vec::new());
        }
        let mut lines = easy.callbacks.trailers().ok_or_else(|| {
            Error::new(Code::AbortedByCallback, "operation aborted by trailing headers callback")
        })?;
        lines.retain(|line| {
            let well = line.windows(2).any(|w| w == b": ");
            if !well {
                easy.note(|| "Malformatted trailing header, skipping trailer".to_owned());
            }
            well
        });
        // Only chunked trailers are text; otherwise each trailer is a field.
        if self.what != RequestBody::Chunked && !lines.iter().all(|line| is_sendable_line(line)) {
            return Err(BadHead::Field.into());
        }
        Ok(lines)
    }
}

fn is_sendable_line(line: &[u8]) -> bool {
    let (name, value) = line.split_at(line.iter().position(|b| *b == b':').unwrap_or(line.len()));
    is_sendable(name, value.trim_ascii_end())
}

fn show(easy: &EasyState, piece: &[u8]) {
    if !piece.is_empty() {
        easy.trace("read", || format!("{} bytes to send", piece.len()));
        easy.callbacks.debug_if_wanted(DebugKind::DataOut, piece);
    }
}

/// Returns whether the local system could not send (no memory, no route), which is no evidence about the
/// connection.
fn is_of_this_side(e: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected};
    let ended = matches!(e.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected);
    e.raw_os_error().is_some() && !ended
}
