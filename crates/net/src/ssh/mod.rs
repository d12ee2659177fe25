//! SSH on a connection: one session, many channels (RFC 4254). The crate `ssh` has the protocol; this module
//! connects it to a filter.
//!
//! The transfer that connects drives the transport itself until the login is complete ([`step`]), and parks
//! the session on the connection ([`park`]). From then on it is hosted like HTTP/2's ([`resume`]): one driver
//! task for each session reads and writes; a transfer has a [`ChannelSlot`] in it and checks its channel when
//! there is news for it. Without slots the driver ends, and returns session and connection, including the
//! channels with SFTP.

mod agent;
mod channel_slot;
mod driver;
mod parked;

use std::future::poll_fn;
use std::io;
use std::task::{Poll, Waker};

use runtime::cell::RefCell;
use ssh::sftp::Client;
use ssh::{ChannelId, Session, Step, Transport};
use std::rc::Rc;
use std::time::Instant;

pub use agent::ask as ask_agent;
pub use channel_slot::ChannelSlot;
pub use driver::resume;
pub use parked::{is_parked, park};

use crate::Filter;

/// Channels at once, as long as the server has not said that it takes fewer: OpenSSH's MaxSessions.
pub const CHANNELS: usize = 10;

/// A read below this size is part of a dialogue: the server's next message may wait for our acknowledgement.
const SMALL: usize = 1024;

/// How a connection was lost, or why it cannot go on.
#[derive(Clone, Debug)]
pub enum SessionError {
    /// The server has closed it.
    Closed,
    /// The transport has failed.
    Os(i32, io::ErrorKind),
    /// One of the two has broken the protocol, or the server has said goodbye.
    Ssh(ssh::Error),
    /// The driver was dropped with its task.
    Abandoned,
}

impl From<io::Error> for SessionError {
    fn from(e: io::Error) -> SessionError {
        SessionError::Os(e.raw_os_error().unwrap_or_default(), e.kind())
    }
}

impl From<ssh::Error> for SessionError {
    fn from(e: ssh::Error) -> SessionError {
        SessionError::Ssh(e)
    }
}

impl SessionError {
    /// The failure of a transport, as an error of the system's.
    pub fn io(&self) -> Option<io::Error> {
        match self {
            SessionError::Os(0, kind) => Some((*kind).into()),
            SessionError::Os(errno, _) => Some(io::Error::from_raw_os_error(*errno)),
            _ => None,
        }
    }
}

/// An unused channel with SFTP.
pub struct IdleChannel {
    pub client: Client,
    channel: ChannelId,
}

/// State shared by driver and slots.
struct State {
    session: Session,
    driver: Option<Waker>,
    /// The waiters for news of a channel.
    waiting: Vec<(ChannelId, Waker)>,
    spare: Vec<IdleChannel>,
    slots: usize,
    /// Number of channels that the server accepts.
    most: usize,
    lost: Option<SessionError>,
    /// Whether no new slots are given.
    retiring: bool,
    /// Whether a slot was taken and left before.
    served: bool,
    /// Since when the keys are in use.
    keyed: Instant,
}

type Shared = Rc<RefCell<State>>;

impl State {
    fn wake_driver(&mut self) {
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }

    fn wake(&mut self, which: impl Fn(ChannelId) -> bool) {
        let (woken, waiting) = self.waiting.drain(..).partition(|(id, _)| which(*id));
        self.waiting = waiting;
        let woken: Vec<(ChannelId, Waker)> = woken;
        woken.into_iter().for_each(|(_, waker)| waker.wake());
    }

    fn lose(&mut self, lost: SessionError) {
        self.lost.get_or_insert(lost);
        self.wake(|_| true);
        self.wake_driver();
    }
}

/// Writes output, reads, and processes steps until one is relevant: before the login is complete.
pub async fn step(filter: &mut dyn Filter, transport: &mut Transport) -> Result<Step, SessionError> {
    poll_fn(|cx| {
        loop {
            while !transport.output().is_empty() {
                match filter.poll_write(cx, transport.output()) {
                    Poll::Ready(Ok(0)) => return Poll::Ready(Err(SessionError::Closed)),
                    Poll::Ready(Ok(n)) => transport.sent(n),
                    Poll::Ready(Err(e)) => return Poll::Ready(Err(e.into())),
                    Poll::Pending => break,
                }
            }
            if let Poll::Ready(Err(e)) = filter.poll_flush(cx) {
                return Poll::Ready(Err(e.into()));
            }
            match transport.step() {
                Ok(Some(step)) => return Poll::Ready(Ok(step)),
                Ok(None) if !transport.output().is_empty() => continue,
                Ok(None) => {}
                Err(e) => return Poll::Ready(Err(e.into())),
            }
            match filter.poll_read(cx, transport.space()) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(SessionError::Closed)),
                Poll::Ready(Ok(n)) => transport.received(n),
                Poll::Ready(Err(e)) => return Poll::Ready(Err(e.into())),
                Poll::Pending => {
                    filter.socket().acknowledge();
                    return Poll::Pending;
                }
            }
        }
    })
    .await
}

/// Writes remaining output in one try: a goodbye.
pub fn last_words(filter: &mut dyn Filter, transport: &mut Transport) {
    let mut cx = std::task::Context::from_waker(Waker::noop());
    let _ = filter.poll_write(&mut cx, transport.output());
    let _ = filter.poll_flush(&mut cx);
}
