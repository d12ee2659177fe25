//! HTTP/3 on a connection: one session, many streams (RFC 9114). `wire::h3` has the contents of the streams,
//! `quic` the streams; this module connects both to a socket.
//!
//! One driver task for each session moves datagrams and owns the timer. What arrives on a stream waits in
//! QUIC's own buffer, bounded by the stream's window, until it is read. Without streams the driver ends and
//! returns connection and session, which are idle until another stream is needed.

mod alpn;
mod driver;
mod fault;
mod hosted;
mod outgoing;
mod session;
mod stream;
pub mod tunnel;

use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use runtime::cell::RefCell;
use wire::h3::Field;

pub use alpn::ALPN;
pub use driver::Driver;
pub use fault::{NumberedError, StreamError};
pub use hosted::host;
pub use session::Parked;
use session::{Session, SessionError};
pub use stream::{Opening, Stream};

/// A session with its driver, while it runs. Clones are the same.
#[derive(Clone)]
pub struct Http3(Rc<RefCell<Session>>);

impl Http3 {
    /// Returns how many more streams may be opened now, in addition to the reserved ones.
    pub fn vacancies(&self) -> usize {
        self.0.borrow_mut().vacancies()
    }

    /// How many streams are open or promised.
    pub fn streams(&self) -> usize {
        self.0.borrow().streams()
    }

    /// Changes the number of reserved streams: they count as used, and keep the session driven.
    pub(crate) fn promised(&self, more: isize) {
        let mut session = self.0.borrow_mut();
        session.promised = session.promised.saturating_add_signed(more);
        session.wake_driver();
    }

    /// Whether no stream can be opened any more, now or later.
    pub fn is_closing(&self) -> bool {
        self.0.borrow_mut().is_closing()
    }

    /// Closes the session for new streams. Open ones continue.
    pub fn leave(&self) {
        self.0.borrow_mut().leave();
    }

    /// The connection is of no more use, and every stream on it has failed.
    pub fn break_off(&self) {
        self.0.borrow_mut().lose(SessionError::Abandoned);
    }

    /// Returns ready when a stream may be opened, or when none can be any more: [`Http3::vacancies`] decides
    /// which.
    pub fn poll_vacancy(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.borrow_mut().poll_vacancy(cx)
    }

    /// Asks whether the peer is there, when that was not done for `interval` (curl_easy_upkeep).
    fn keep_up(&self, interval: Duration, now: Instant) {
        self.0.borrow_mut().keep_up(interval, now);
    }

    /// Opens a stream with a request's head, pseudo-fields first; `None` when there is no vacancy.
    pub fn open<'a>(&self, fields: impl IntoIterator<Item = Field<'a>>, opening: Opening) -> Option<Stream> {
        let id = self.0.borrow_mut().open()?;
        let mut stream = Stream::new(self.clone(), id, opening.head_only);
        stream.begin(fields, opening.end);
        Some(stream)
    }
}

#[cfg(test)]
mod tests;
