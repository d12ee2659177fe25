//! Handles of a transfer, easy and multi, and what both provide everywhere: options, the clock, times for
//! infos, the locks of a share.

use std::future::{Future, poll_fn};
use std::hint::cold_path;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use std::time::Instant;

use tables::{EasyOption as O, LockData};

use crate::easy::EasyState;
use crate::error::{Error, Result};
use crate::info::{Nanos, TransferInfo};
use crate::multi::MultiState;
use crate::settings::Text;

/// The handles that a transfer belongs to. Everything that reads an option or notes a time needs no more than
/// this.
#[derive(Clone)]
pub struct Handles {
    /// The handle's state beside the future.
    pub easy: Rc<EasyState>,
    /// The multi handle that runs the transfer.
    pub multi: Rc<MultiState>,
}

impl Handles {
    /// Returns the current time by the clock of the multi handle.
    pub fn now(&self) -> Instant {
        self.multi.runtime.reactor().now()
    }

    /// Returns a number option, read at the point of use.
    #[inline]
    pub fn long(&self, option: O) -> i64 {
        self.easy.settings.borrow().long(option)
    }

    /// Returns a boolean option.
    #[inline]
    pub fn on(&self, option: O) -> bool {
        self.easy.settings.borrow().on(option)
    }

    /// Returns a string option.
    #[inline]
    pub fn text(&self, option: O) -> Option<Text> {
        self.easy.settings.borrow().text(option)
    }

    /// Starts the low-speed limit: from here on data is meant to move.
    pub fn begins_to_move(&self) {
        let now = self.now();
        self.easy.info.borrow_mut().moving_since = Some(now);
    }

    /// Notes a moment of the transfer.
    pub fn mark(&self, set: impl FnOnce(&mut TransferInfo, Nanos)) {
        self.mark_at(self.now(), set);
    }

    /// Notes a moment of the transfer that was at `now`.
    pub fn mark_at(&self, now: Instant, set: impl FnOnce(&mut TransferInfo, Nanos)) {
        let mut info = self.easy.info.borrow_mut();
        let elapsed = info.since_start(now);
        set(&mut info, elapsed);
    }

    /// Counts another request of this transfer, for CURLINFO_REDIRECT_COUNT and CURLINFO_REDIRECT_TIME.
    pub fn count_redirect(&self) {
        self.mark(|info, elapsed| {
            info.redirect_count += 1;
            info.rare.redirect = elapsed;
        });
    }

    /// Notes the first byte of a reply.
    pub fn mark_first_byte(&self) {
        self.mark(TransferInfo::first_byte);
    }

    /// Records the first byte of a reply, or its end if it is empty. Later ones change nothing.
    pub fn note_first_byte(&self) {
        let mut info = self.easy.info.borrow_mut();
        if info.start_transfer.is_zero() {
            cold_path();
            let elapsed = info.since_start(self.now());
            info.first_byte(elapsed);
        }
    }

    /// Counts received bytes of a body.
    pub fn received(&self, bytes: usize) {
        self.note_first_byte();
        self.easy.info.borrow_mut().downloaded += bytes as i64;
    }

    /// Runs `f` between the lock functions of the share that has this kind of data, if there is one.
    /// Connections are locked as often as in curl, because applications count: for the limits, the search, a
    /// new connection, and its use.
    pub(super) fn locked<R>(&self, data: LockData, f: impl FnOnce() -> R) -> R {
        self.easy.locked(data, f)
    }

    /// Runs a future with a deadline. A result that comes after the deadline is not looked at.
    pub async fn within<T>(
        &self,
        deadline: Option<Instant>,
        late: impl FnOnce() -> Error,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let Some(deadline) = deadline else { return work.await };
        let mut timer = self.multi.runtime.reactor().sleep_until(deadline);
        let mut work = pin!(work);
        let done = poll_fn(|cx| {
            if self.now() >= deadline {
                return Poll::Ready(None);
            }
            if let Poll::Ready(result) = work.as_mut().poll(cx) {
                return Poll::Ready(Some(result));
            }
            Pin::new(&mut timer).poll(cx).map(|()| None)
        });
        match done.await {
            Some(result) => result,
            None => Err(late()),
        }
    }
}
