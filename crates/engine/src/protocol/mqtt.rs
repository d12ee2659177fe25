//! mqtt:// and mqtts:// (MQTT 3.1.1). A POST publishes one message to the topic in the path. Anything else
//! subscribes to it and delivers published messages, each as in its packet after the head (the topic with its
//! length in two bytes, then the payload; curl's docs/MQTT.md), until the server or the application ends it.

mod decide;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use net::Whole;
use net::exchange::BodyStep;
use runtime::Sleep;
use tables::{Code, EasyOption as O};
use wire::mqtt::{self, Head};

use crate::callbacks::DebugKind;
use crate::easy::EasyState;
use crate::error::{Error, Result};
use crate::mime::random_text;
use crate::settings::Method;
use crate::transfer::Transfer;
use crate::transfer::body::{BodySource, Idling, receive_failed, send_failed};
use crate::transfer::client_reader::ClientReader;
use crate::transfer::credentials::own;
use decide::{Awaited, long_topic, weird};

/// Packets that are read as a whole are no longer than this.
const SHORT: usize = 4;

/// Runs one request.
pub async fn run(t: &mut Transfer) -> Result<()> {
    let mut session = log_in(t).await?;
    let topic = decide::topic(t.url.path())?;
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    if t.method == Method::Post {
        publish(t, &mut session, &topic).await?;
        session.send(&mqtt::DISCONNECT).await?;
    } else {
        session.send(&mqtt::subscribe(&topic).map_err(|_| long_topic())?).await?;
        let mut messages = Messages::new(t, &mut session);
        t.flow.pump_body(&mut messages).await?;
    }
    t.retire(session.whole);
    Ok(())
}

/// CONNECT, and a server that accepts it. A login is sent as it is, so that an empty one is none.
async fn log_in(t: &mut Transfer) -> Result<Session> {
    let whole = t.connect(false).await?.into_whole()?;
    let mut session =
        Session { whole, easy: t.easy.clone(), received: Vec::new(), idling: Idling::default() };
    let (user, password) = own(t)?;
    let [user, password] = [&user, &password].map(|part| decide::credential(part));
    let client = format!("curl{}", random_text(8));
    let packet = mqtt::connect(client.as_bytes(), user, password)
        .map_err(|_| weird("the user name or the password is too long"))?;
    session.send(&packet).await?;
    let head = poll_fn(|cx| session.poll_head(cx)).await?;
    decide::check_first(head)?;
    decide::check_connack(poll_fn(|cx| session.poll_short::<2>(cx)).await?)?;
    Ok(session)
}

/// Publishes the message in CURLOPT_POSTFIELDS. As in curl, the read callback is not used.
async fn publish(t: &mut Transfer, session: &mut Session, topic: &[u8]) -> Result<()> {
    let given = t.easy.settings.borrow().uncommon.copied_post_fields.is_some();
    if !given && t.easy.callbacks.post_fields_len().is_none() {
        return Err(Error::new(Code::BadFunctionArgument, "MQTT has no payload to publish"));
    }
    let mut reader = ClientReader::open(&t.easy, Method::Post)?;
    let size = reader.size.ok_or_else(|| Error::new(Code::SendError, "a message of unknown size"))?;
    let head = mqtt::publish(topic, size).map_err(|_| Error::new(Code::TooLarge, "a message that long"))?;
    t.easy.info.borrow_mut().upload_total = size as i64;
    let mut piece = head;
    let mut sent = 0;
    loop {
        let from = piece.len();
        let room = usize::try_from(size - sent).unwrap_or(usize::MAX).min(PIECE);
        piece.resize(from + room, 0);
        let n = match room {
            0 => 0,
            _ => poll_fn(|cx| reader.poll_read(cx, &mut piece[from..])).await?,
        };
        piece.truncate(from + n);
        if n == 0 && sent < size {
            return Err(Error::new(Code::PartialFile, "the message ended before its size"));
        }
        session.send(&piece).await?;
        sent += n as u64;
        t.easy.info.borrow_mut().uploaded = sent as i64;
        if sent == size {
            return Ok(());
        }
        piece.clear();
    }
}

/// So much of a message is sent at once.
const PIECE: usize = 64 * 1024;

/// A connection on which the server has accepted us.
struct Session {
    whole: Whole,
    easy: Rc<EasyState>,
    /// Received, and not yet looked at.
    received: Vec<u8>,
    idling: Idling,
}

impl Session {
    async fn send(&mut self, packet: &[u8]) -> Result<()> {
        self.easy.callbacks.debug_if_wanted(DebugKind::HeaderOut, packet);
        self.whole.connection().write_all(packet).await.map_err(|e| send_failed(&e))
    }

    /// Receives a little more: only heads and short packets are read here, because messages are read by the
    /// body pump.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool>> {
        ready!(self.idling.poll_step(&self.easy, cx));
        let mut few = [0; SHORT];
        let n = ready!(self.whole.connection().filter().poll_read(cx, &mut few))
            .map_err(|e| receive_failed(&e))?;
        self.received.extend_from_slice(&few[..n]);
        Poll::Ready(Ok(n > 0))
    }

    /// The head of the next packet.
    fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<Head>> {
        loop {
            match Head::parse(&self.received) {
                Ok(Some((head, length))) => {
                    self.easy.callbacks.debug_if_wanted(DebugKind::HeaderIn, &self.received[..length]);
                    self.received.drain(..length);
                    return Poll::Ready(Ok(head));
                }
                Ok(None) if ready!(self.poll_fill(cx))? => {}
                Ok(None) => return Poll::Ready(Err(Error::new(Code::RecvError, "Connection disconnected"))),
                Err(mqtt::Malformed) => return Poll::Ready(Err(Error::from(Code::WeirdServerReply))),
            }
        }
    }

    /// So many bytes behind a head.
    fn poll_short<const N: usize>(&mut self, cx: &mut Context<'_>) -> Poll<Result<[u8; N]>> {
        loop {
            if let Some(bytes) = self.received.first_chunk::<N>().copied() {
                self.easy.callbacks.debug_if_wanted(DebugKind::HeaderIn, &bytes);
                self.received.drain(..N);
                return Poll::Ready(Ok(bytes));
            }
            if !ready!(self.poll_fill(cx))? {
                return Poll::Ready(Err(Error::new(Code::PartialFile, "Connection disconnected")));
            }
        }
    }

    /// Some bytes of a message.
    fn poll_some(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<usize>> {
        if self.received.is_empty() {
            let read = self.whole.connection().filter().poll_read(cx, buf);
            return read.map_err(|e| receive_failed(&e));
        }
        let n = buf.len().min(self.received.len());
        buf[..n].copy_from_slice(&self.received[..n]);
        self.received.drain(..n);
        Poll::Ready(Ok(n))
    }
}

/// The published messages, as a body that ends when the server disconnects.
struct Messages<'a> {
    session: &'a mut Session,
    awaited: Awaited,
    /// When to send the next ping, and the interval; never, if the application disables it
    /// (CURLOPT_UPKEEP_INTERVAL_MS).
    ping: Option<(Sleep, Duration)>,
    /// The unsent part of a PINGREQ.
    unsent: &'static [u8],
}

impl<'a> Messages<'a> {
    fn new(t: &Transfer, session: &'a mut Session) -> Messages<'a> {
        let ping = decide::ping_interval(t.long(O::UpkeepIntervalMs))
            .map(|interval| (t.multi.runtime.reactor().sleep_until(t.now() + interval), interval));
        Messages { session, awaited: Awaited::Head, ping, unsent: &[] }
    }

    /// Bytes of a message at the front of the buffer; none at the end.
    fn poll_message(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<usize>> {
        self.poll_ping(cx)?;
        loop {
            match self.awaited {
                Awaited::Head => {
                    let head = ready!(self.session.poll_head(cx))?;
                    match self.next(head)? {
                        Some(awaited) => self.awaited = awaited,
                        None => return Poll::Ready(Ok(0)),
                    }
                }
                Awaited::Suback => {
                    if !mqtt::is_granted(ready!(self.session.poll_short(cx))?) {
                        return Poll::Ready(Err(weird("the subscription was refused")));
                    }
                    self.awaited = Awaited::Head;
                }
                Awaited::Message(0) => self.awaited = Awaited::Head,
                Awaited::Message(left) => {
                    let room = buf.len().min(left);
                    let n = ready!(self.session.poll_some(cx, &mut buf[..room]))?;
                    if n == 0 {
                        return Poll::Ready(Err(Error::from(Code::PartialFile)));
                    }
                    self.awaited = Awaited::Message(left - n);
                    return Poll::Ready(Ok(n));
                }
            }
        }
    }

    /// Returns what follows a head; `None` after the last packet.
    fn next(&self, head: Head) -> Result<Option<Awaited>> {
        let easy = &self.session.easy;
        let limit = easy.settings.borrow().long(O::MaxFileSizeLarge);
        let awaited = decide::after_head(head, limit)?;
        match awaited {
            Some(Awaited::Message(length)) => easy.info.borrow_mut().download_total = length as i64,
            Some(_) => {}
            None => easy.note(|| "Got DISCONNECT".to_owned()),
        }
        Ok(awaited)
    }

    /// Asks a server that may take silence for an end.
    fn poll_ping(&mut self, cx: &mut Context<'_>) -> Result<()> {
        if let Some((timer, interval)) = &mut self.ping
            && Pin::new(&mut *timer).poll(cx).is_ready()
        {
            timer.reset_after(*interval);
            let _ = Pin::new(timer).poll(cx); // it wakes this task again
            self.unsent = &mqtt::PING;
        }
        while !self.unsent.is_empty() {
            match self.session.whole.connection().filter().poll_write(cx, self.unsent) {
                Poll::Ready(Ok(n)) => self.unsent = &self.unsent[n..],
                Poll::Ready(Err(e)) => return Err(send_failed(&e)),
                Poll::Pending => return Ok(()),
            }
            let _ = self.session.whole.connection().filter().poll_flush(cx);
        }
        Ok(())
    }
}

impl BodySource for Messages<'_> {
    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep>> {
        let n = ready!(self.poll_message(cx, buf))?;
        Poll::Ready(Ok(if n == 0 { BodyStep::End } else { BodyStep::Bytes(n) }))
    }

    fn forget_read(&mut self, cx: &mut Context<'_>) {
        self.session.whole.connection().filter().forget_read(cx);
    }
}
