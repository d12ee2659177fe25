//! A reserved stream. It counts as used from now on, so that the last one is not given to two transfers, and
//! keeps the session driven until it is opened or dropped.

use std::io;
use std::task::{Context, Poll};

use wire::h2::Fields;

use super::streams::{Opens, Stream, Streams};

/// A place in a session.
pub struct Reservation<S: Streams> {
    session: S,
    /// It counts still: no stream has been opened.
    counts: bool,
}

impl<S: Streams> Reservation<S> {
    /// Creates the reservation of a stream.
    pub fn promised(session: S) -> Reservation<S> {
        session.promise(1);
        Reservation { session, counts: true }
    }

    /// A place that counts for nothing, for a transfer that has its stream already.
    pub fn taken(session: S) -> Reservation<S> {
        Reservation { session, counts: false }
    }

    /// The session that it is in.
    pub fn session(&self) -> &S {
        &self.session
    }

    /// Opens the stream, once; `None` if no stream is available: the peer has lowered its limit, or is
    /// leaving.
    pub fn open(&mut self, request: &Fields, opens: Opens) -> Option<S::Stream> {
        let stream = self.session.open(request, opens)?;
        self.give_up();
        Some(stream)
    }

    /// Ready when it may be opened; it can't be any more where the session is closing.
    pub fn poll_vacancy(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.session.poll_vacancy(cx).map(|()| match self.session.is_closing() {
            true => Err(self.failed(0, S::refusal())),
            false => Ok(()),
        })
    }

    /// Ready when it may be opened by CONNECT with `:protocol`, which is a fault where the peer takes none.
    pub fn poll_extended(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.session.poll_extended(cx).map_err(|fault| self.failed(0, fault))
    }

    /// Converts a fault of a stream to an error of the operation.
    pub fn failed(&self, number: u32, fault: <S::Stream as Stream>::Error) -> io::Error {
        self.session.failed(number, fault)
    }

    fn give_up(&mut self) {
        if std::mem::take(&mut self.counts) {
            self.session.promise(-1);
        }
    }
}

impl<S: Streams> Drop for Reservation<S> {
    fn drop(&mut self) {
        self.give_up();
    }
}
