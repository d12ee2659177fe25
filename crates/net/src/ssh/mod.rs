//! SSH on a connection: one session, many channels (RFC 4254). The crate `ssh` knows the protocol; here it
//! meets a filter.
//!
//! Whoever connects drives the transport by hand until somebody is logged in ([`step`]), and parks the
//! session on the connection ([`park`]). From then on it is hosted like HTTP/2's ([`host`]): one driver task
//! for each session reads and writes, a transfer has a [`Seat`] in it and looks at its channel when there is
//! news of it. Without seats the driver ends, and leaves session and connection behind, with the channels on
//! which SFTP is spoken already.

mod agent;
mod driver;
mod parked;
mod seat;

use std::future::poll_fn;
use std::io;
use std::task::{Poll, Waker};

use runtime::cell::RefCell;
use ssh::sftp::Client;
use ssh::{ChannelId, Session, Step, Transport};
use std::rc::Rc;
use std::time::Instant;

pub use agent::ask as ask_agent;
pub use driver::host;
pub use parked::{is_parked, park};
pub use seat::Seat;

use crate::Filter;

/// Channels at once, as long as the server has not said that it takes fewer: OpenSSH's MaxSessions.
pub const CHANNELS: usize = 10;

/// Who reads less than this at once is in a conversation: what the server says next may wait for our
/// acknowledgement.
const SMALL: usize = 1024;

/// How a connection was lost, or why it cannot go on.
#[derive(Clone, Debug)]
pub enum Lost {
    /// The server has closed it.
    Closed,
    /// The transport has failed.
    Os(i32, io::ErrorKind),
    /// One of the two has broken the protocol, or the server has said goodbye.
    Ssh(ssh::Error),
    /// The driver was dropped with its task.
    Abandoned,
}

impl From<io::Error> for Lost {
    fn from(e: io::Error) -> Lost {
        Lost::Os(e.raw_os_error().unwrap_or_default(), e.kind())
    }
}

impl From<ssh::Error> for Lost {
    fn from(e: ssh::Error) -> Lost {
        Lost::Ssh(e)
    }
}

impl Lost {
    /// The failure of a transport, as an error of the system's.
    pub fn io(&self) -> Option<io::Error> {
        match self {
            Lost::Os(0, kind) => Some((*kind).into()),
            Lost::Os(errno, _) => Some(io::Error::from_raw_os_error(*errno)),
            _ => None,
        }
    }
}

/// A channel on which SFTP is spoken and that nobody uses.
pub struct Spare {
    pub client: Client,
    channel: ChannelId,
}

/// What driver and seats share.
struct State {
    session: Session,
    driver: Option<Waker>,
    /// Who waits for news of a channel.
    waiting: Vec<(ChannelId, Waker)>,
    spare: Vec<Spare>,
    seats: usize,
    /// Channels that the server bears.
    most: usize,
    lost: Option<Lost>,
    /// Nobody new gets a seat.
    retiring: bool,
    /// Somebody has been here and gone.
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

    fn lose(&mut self, lost: Lost) {
        self.lost.get_or_insert(lost);
        self.wake(|_| true);
        self.wake_driver();
    }
}

/// Writes what is to be written, reads, and takes steps until one is of interest: before anybody is logged
/// in.
pub async fn step(filter: &mut dyn Filter, transport: &mut Transport) -> Result<Step, Lost> {
    poll_fn(|cx| {
        loop {
            while !transport.output().is_empty() {
                match filter.poll_write(cx, transport.output()) {
                    Poll::Ready(Ok(0)) => return Poll::Ready(Err(Lost::Closed)),
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
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(Lost::Closed)),
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

/// Writes what is still to be written, in one try: a goodbye.
pub fn last_words(filter: &mut dyn Filter, transport: &mut Transport) {
    let mut cx = std::task::Context::from_waker(Waker::noop());
    let _ = filter.poll_write(&mut cx, transport.output());
    let _ = filter.poll_flush(&mut cx);
}
