//! WebSocket (RFC 6455): messages as a stream and a sink.
//!
//! The engine carries the bytes (CURLWS_RAW_MODE); frames are written and read here, with the codec of
//! `wire`. What is sent waits in a queue that is the request's body.

use std::mem::take;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker, ready};

use bytes::{Bytes, BytesMut};
use futures_core::Stream;
use futures_sink::Sink;
use http::Version;
use tables::constant::CURLWS_RAW_MODE;
use tables::{Code, EasyOption};
use wire::ws::{Kind, Piece as FramePiece, Reader, Writer};

use super::body::Body;
use super::error::{Error, RequestPhase};
use super::host::Host;
use super::running::{Piece, Running};
use crate::{PlainValue, RequestBuilder};

/// Amount of queued output above which a sender waits.
const QUEUE_LIMIT: usize = 64 * 1024;
/// Longest message that is received.
const MESSAGE_LIMIT: usize = 64 << 20;
/// Code of a close frame that has none (RFC 6455 §7.4.1).
const NO_STATUS: u16 = 1005;

/// A message of a [`WebSocket`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// Text.
    Text(String),
    /// Bytes.
    Binary(Bytes),
    /// A ping, of at most 125 bytes. A received one has been answered.
    Ping(Bytes),
    /// The answer to a ping.
    Pong(Bytes),
    /// The end. A received one has been answered.
    Close(Option<CloseFrame>),
}

/// The reason for the end of a [`WebSocket`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloseFrame {
    /// The code (RFC 6455 §7.4), like 1000 for a normal end.
    pub code: u16,
    /// The reason in words, of at most 123 bytes.
    pub reason: String,
}

/// A WebSocket. [`RequestBuilder::websocket`] opens it.
///
/// It is a `Stream` and a `Sink` of messages; [`recv`](Self::recv) and [`send`](Self::send) need no other
/// crate. Pings are answered. Dropping it closes the connection without a close frame.
///
/// ```no_run
/// # async fn run(client: warmwire::Client) -> Result<(), warmwire::Error> {
/// use warmwire::websocket::Message;
/// let mut chat = client.get("wss://chat.example/room").websocket().await?;
/// chat.send(Message::Text("Hello!".to_owned())).await?;
/// while let Some(message) = chat.recv().await? {
///     println!("{message:?}");
/// }
/// # Ok(())
/// # }
/// ```
pub struct WebSocket {
    running: Running,
    queue: Arc<Queue>,
    wakers: Arc<Wakers>,
    reader: Reader,
    writer: Writer,
    /// Received bytes, of which the first `used` are parsed.
    input: Vec<u8>,
    used: usize,
    /// The message, and the control frame, that are incomplete.
    message: Vec<u8>,
    control: Vec<u8>,
    close_is_queued: bool,
    close_is_received: bool,
    over: bool,
}

/// Frames that wait to be sent.
#[derive(Default)]
struct Queue(Mutex<Vec<u8>>);

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The queue as a body. It has no end, and needs no waker: each method of the WebSocket polls it.
struct Output(Arc<Queue>);

impl Stream for Output {
    type Item = Result<Bytes, Error>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let bytes = take(&mut *self.0.lock());
        if bytes.is_empty() { Poll::Pending } else { Poll::Ready(Some(Ok(bytes.into()))) }
    }
}

/// The tasks of the receiver and of the sender, which may be two.
#[derive(Default)]
struct Wakers(Mutex<[Option<Waker>; 2]>);

#[derive(Clone, Copy)]
enum Half {
    Receiver,
    Sender,
}

impl Wakers {
    /// Returns a waker of both, of which this half has changed.
    fn with(self: &Arc<Self>, half: Half, cx: &Context<'_>) -> Waker {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[half as usize] = Some(cx.waker().clone());
        Waker::from(self.clone())
    }
}

impl Wake for Wakers {
    fn wake(self: Arc<Self>) {
        let wakers = take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        wakers.into_iter().flatten().for_each(Waker::wake);
    }
}

impl RequestBuilder {
    /// Opens a WebSocket at the URL, which begins with `ws:` or `wss:`. Header fields of the request are sent
    /// with the handshake. A time limit for the request is one for the whole life of the WebSocket.
    pub async fn websocket(self) -> Result<WebSocket, Error> {
        let queue = Arc::<Queue>::default();
        let request = self.body(Body::wrap_stream(Output(queue.clone())));
        let request = request.option(EasyOption::WsOptions, i64::from(CURLWS_RAW_MODE));
        let request = request.option(EasyOption::AcceptEncoding, PlainValue::Default);
        let (client, request) = request.into_parts()?;
        if !["ws", "wss"].iter().any(|scheme| request.url().scheme().eq_ignore_ascii_case(scheme)) {
            return Err(Error::option(format!("{} is no URL of ws or wss", request.url())));
        }
        let (head, running) = client.begin(request).await?;
        if head.status.as_u16() != 101 && head.version != Version::HTTP_2 {
            let message = format!("Refused WebSocket upgrade: {}", head.status.as_u16());
            let error = Error::of(Code::HttpReturnedError, message).with_status(head.status);
            return Err(error.at(head.url, RequestPhase::Answered));
        }
        Ok(WebSocket {
            running,
            queue,
            wakers: Arc::default(),
            reader: Reader::default(),
            writer: Writer::default(),
            input: Vec::new(),
            used: 0,
            message: Vec::new(),
            control: Vec::new(),
            close_is_queued: false,
            close_is_received: false,
            over: false,
        })
    }
}

impl WebSocket {
    /// Returns the engine that a waiting thread runs.
    pub(crate) fn host(&self) -> Option<Arc<Host>> {
        self.running.host()
    }

    /// Returns the next message; `None` is the end, after a message [`Message::Close`].
    pub async fn recv(&mut self) -> Result<Option<Message>, Error> {
        std::future::poll_fn(|cx| self.poll_message(cx)).await.transpose()
    }

    /// Sends a message. It returns when the message has left for the system, or waits in a short queue.
    pub async fn send(&mut self, message: Message) -> Result<(), Error> {
        std::future::poll_fn(|cx| self.poll_sent(cx, QUEUE_LIMIT)).await?;
        self.queue(message)?;
        std::future::poll_fn(|cx| self.poll_sent(cx, 0)).await
    }

    /// Sends a close frame. Messages may still arrive, until [`recv`](Self::recv) returns `None`.
    pub async fn close(&mut self, frame: Option<CloseFrame>) -> Result<(), Error> {
        self.send(Message::Close(frame)).await
    }

    /// Writes the frame of a message to the queue.
    fn queue(&mut self, message: Message) -> Result<(), Error> {
        if self.close_is_queued {
            return match message {
                Message::Close(_) => Ok(()),
                _ => Err(Error::of(Code::SendError, "the WebSocket is closed")),
            };
        }
        let (kind, payload) = match message {
            Message::Text(text) => (Kind::Text, text.into()),
            Message::Binary(bytes) => (Kind::Binary, bytes),
            Message::Ping(bytes) => (Kind::Ping, bytes),
            Message::Pong(bytes) => (Kind::Pong, bytes),
            Message::Close(None) => (Kind::Close, Bytes::new()),
            Message::Close(Some(CloseFrame { code, reason })) => {
                let mut payload = BytesMut::from(&code.to_be_bytes()[..]);
                payload.extend_from_slice(reason.as_bytes());
                (Kind::Close, payload.freeze())
            }
        };
        if kind.is_control() && payload.len() as u64 > wire::ws::MAX_CONTROL {
            return Err(Error::option(format!("a frame {} has at most 125 bytes", kind.name())));
        }
        let mut mask = [0; 4];
        engine::random(&mut mask).map_err(|e| Error::of(Code::FailedInit, "no random numbers").because(e))?;
        self.close_is_queued |= kind == Kind::Close;
        let mut out = self.queue.lock();
        self.writer.begin(kind, true, payload.len() as u64, mask, &mut out);
        self.writer.payload(&payload, &mut out);
        Ok(())
    }

    /// Waits until at most this much is in the queue.
    fn poll_sent(&mut self, cx: &mut Context<'_>, most: usize) -> Poll<Result<(), Error>> {
        let waker = self.wakers.with(Half::Sender, cx);
        self.running.send(&mut Context::from_waker(&waker))?;
        let waiting = self.queue.lock().len();
        match () {
            () if waiting > 0 && self.running.has_ended() => {
                Poll::Ready(Err(Error::of(Code::SendError, "the server has closed the WebSocket")))
            }
            () if waiting > most => Poll::Pending,
            () => Poll::Ready(Ok(())),
        }
    }

    fn poll_message(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Message, Error>>> {
        let waker = self.wakers.with(Half::Receiver, cx);
        let mut cx = Context::from_waker(&waker);
        loop {
            if self.over {
                return Poll::Ready(None);
            }
            if self.close_is_received {
                // The answer has to leave before the connection is dropped.
                ready!(self.running.poll_all_sent(&mut cx));
                self.over = true;
                continue;
            }
            match self.parse() {
                Ok(None) => {}
                Ok(Some(message)) => return Poll::Ready(Some(Ok(message))),
                Err(error) => {
                    self.over = true;
                    return Poll::Ready(Some(Err(error)));
                }
            }
            match ready!(self.running.poll_body(&mut cx)) {
                Ok(Piece::Body(bytes)) => (self.input, self.used) = (bytes, 0),
                Ok(Piece::End(..)) => {
                    self.over = true;
                    let message = "the server has closed the WebSocket without a close frame";
                    return Poll::Ready(Some(Err(Error::of(Code::GotNothing, message))));
                }
                Err(error) => {
                    self.over = true;
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
    }

    /// Parses input up to the end of a message. `None` if more input is needed.
    fn parse(&mut self) -> Result<Option<Message>, Error> {
        loop {
            let step = self.reader.next(&self.input[self.used..], usize::MAX);
            let step = step.map_err(|fault| Error::of(Code::RecvError, format!("WebSocket: {fault}")))?;
            let start = self.used;
            self.used += step.used;
            let Some(piece) = step.piece else { return Ok(None) };
            if let Some(message) = self.add(&piece, start)? {
                return Ok(Some(message));
            }
        }
    }

    /// Adds a piece of payload, and returns the message that it ends.
    fn add(&mut self, piece: &FramePiece, start: usize) -> Result<Option<Message>, Error> {
        let whole = if piece.kind.is_control() { &mut self.control } else { &mut self.message };
        let payload = &self.input[start + piece.payload.start..start + piece.payload.end];
        if whole.len() + payload.len() > MESSAGE_LIMIT {
            return Err(Error::of(Code::TooLarge, "a message is longer than 64 MiB"));
        }
        whole.extend_from_slice(payload);
        if piece.left > 0 || !piece.last {
            return Ok(None);
        }
        let whole = take(whole);
        Ok(Some(match piece.kind {
            Kind::Text => Message::Text(text(whole)?),
            Kind::Binary => Message::Binary(whole.into()),
            Kind::Pong => Message::Pong(whole.into()),
            Kind::Ping => {
                let payload = Bytes::from(whole);
                if !self.close_is_queued {
                    self.queue(Message::Pong(payload.clone()))?;
                }
                Message::Ping(payload)
            }
            Kind::Close => {
                self.close_is_received = true;
                let frame = parse_close(whole)?;
                self.queue(Message::Close(frame.clone()))?;
                Message::Close(frame)
            }
        }))
    }
}

fn text(bytes: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(|e| Error::of(Code::BadContentEncoding, "a text is no UTF-8").because(e))
}

/// Reads the payload of a close frame.
fn parse_close(payload: Vec<u8>) -> Result<Option<CloseFrame>, Error> {
    match payload.split_first_chunk::<2>() {
        None if payload.is_empty() => Ok(None),
        None => Err(Error::of(Code::RecvError, "a close frame has one byte")),
        Some((code, reason)) => match u16::from_be_bytes(*code) {
            NO_STATUS | 0..1000 => Err(Error::of(Code::RecvError, "a close frame has an invalid code")),
            code => Ok(Some(CloseFrame { code, reason: text(reason.to_vec())? })),
        },
    }
}

impl Stream for WebSocket {
    type Item = Result<Message, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_message(cx)
    }
}

impl Sink<Message> for WebSocket {
    type Error = Error;

    fn poll_ready(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.poll_sent(cx, QUEUE_LIMIT)
    }

    fn start_send(mut self: Pin<&mut Self>, message: Message) -> Result<(), Error> {
        self.queue(message)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.poll_sent(cx, 0)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.queue(Message::Close(None))?;
        self.poll_sent(cx, 0)
    }
}

impl std::fmt::Debug for WebSocket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WebSocket").finish_non_exhaustive()
    }
}
