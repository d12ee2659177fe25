//! A stream that was promised: it counts from now on, so that no two transfers are promised the last one, and keeps the
//! session driven until it is opened or given up.

use std::task::{Context, Poll};

use wire::h2::{Field, Opening};

use super::{Http2, Stream};

/// A place in a session.
pub struct Place {
    http2: Http2,
    /// It counts still: no stream has been opened.
    counts: bool,
}

impl Http2 {
    /// A place for a stream.
    pub fn place(&self) -> Place {
        let mut state = self.0.borrow_mut();
        state.promised += 1;
        state.wake_driver();
        drop(state);
        Place { http2: self.clone(), counts: true }
    }

    /// A place that counts for nothing, for whoever has his stream already.
    pub(super) fn no_place(&self) -> Place {
        Place { http2: self.clone(), counts: false }
    }
}

impl Place {
    /// The session that it is in.
    pub fn session(&self) -> &Http2 {
        &self.http2
    }

    /// Opens the stream, once; `None` when there is no vacancy: the peer has changed its mind, or leaves.
    pub fn open<'a>(
        &mut self,
        fields: impl IntoIterator<Item = Field<'a>>,
        opening: Opening,
    ) -> Option<Stream> {
        let stream = self.http2.open(fields, opening)?;
        self.give_up();
        Some(stream)
    }

    /// Ready when it may be opened, or can't be any more.
    pub fn poll_vacancy(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.http2.poll_vacancy(cx)
    }

    fn give_up(&mut self) {
        if std::mem::take(&mut self.counts) {
            let mut state = self.http2.0.borrow_mut();
            state.promised -= 1;
            state.wake_driver();
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.give_up();
    }
}
