//! A stream that was promised: it counts from now on, so that no two transfers are promised the last one, and
//! keeps the session driven until it is opened or given up.

use std::io;
use std::task::{Context, Poll};

use wire::h2::Fields;

use super::streams::{Opens, Stream, Streams};

/// A place in a session.
pub struct Place<S: Streams> {
    session: S,
    /// It counts still: no stream has been opened.
    counts: bool,
}

impl<S: Streams> Place<S> {
    /// One for a stream.
    pub fn promised(session: S) -> Place<S> {
        session.promise(1);
        Place { session, counts: true }
    }

    /// One that counts for nothing, for whoever has his stream already.
    pub fn taken(session: S) -> Place<S> {
        Place { session, counts: false }
    }

    /// The session that it is in.
    pub fn session(&self) -> &S {
        &self.session
    }

    /// Opens the stream, once; `None` when there is no vacancy: the peer has changed its mind, or leaves.
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

    /// A stream's fault, as an error of what was tried.
    pub fn failed(&self, number: u32, fault: <S::Stream as Stream>::Fault) -> io::Error {
        self.session.failed(number, fault)
    }

    fn give_up(&mut self) {
        if std::mem::take(&mut self.counts) {
            self.session.promise(-1);
        }
    }
}

impl<S: Streams> Drop for Place<S> {
    fn drop(&mut self) {
        self.give_up();
    }
}
