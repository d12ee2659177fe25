//! A stream that was promised: it counts from now on, so that no two transfers are promised the last one, and keeps the
//! session driven until it is opened or given up.

use std::task::{Context, Poll};

use wire::h3::Field;

use super::{Http3, Opening, Stream};

/// A place in a session.
pub struct Place {
    http3: Http3,
    /// It counts still: no stream has been opened.
    counts: bool,
}

impl Http3 {
    /// A place for a stream.
    pub fn place(&self) -> Place {
        let mut session = self.0.borrow_mut();
        session.promised += 1;
        session.wake_driver();
        drop(session);
        Place { http3: self.clone(), counts: true }
    }
}

impl Place {
    /// The session that it is in.
    pub fn session(&self) -> &Http3 {
        &self.http3
    }

    /// Opens the stream, once; `None` when there is no vacancy: the peer has changed its mind, or leaves.
    pub fn open<'a>(
        &mut self,
        fields: impl IntoIterator<Item = Field<'a>>,
        opening: Opening,
    ) -> Option<Stream> {
        let stream = self.http3.open(fields, opening)?;
        self.give_up();
        Some(stream)
    }

    /// Ready when it may be opened, or can't be any more.
    pub fn poll_vacancy(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.http3.poll_vacancy(cx)
    }

    fn give_up(&mut self) {
        if std::mem::take(&mut self.counts) {
            let mut session = self.http3.0.borrow_mut();
            session.promised -= 1;
            session.wake_driver();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.give_up();
    }
}
