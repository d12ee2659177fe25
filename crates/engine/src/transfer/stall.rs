//! The limit on inactivity, in milliseconds: how long a connected transfer may move no byte. It is not an
//! option of libcurl, whose low-speed limit counts whole seconds of a mean speed (watch.rs).

use std::time::{Duration, Instant};

use tables::Code;

use crate::error::Error;
use crate::info::TransferInfo;

/// A timer that fires this much after its moment shows that the caller did not run the engine.
const LATE: Duration = Duration::from_millis(10);

/// The inactivity limit of one transfer, and its last progress.
pub struct Stall {
    limit: Duration,
    last: Instant,
    /// When to check next. Progress does not move it, because setting a timer costs more than an early check.
    next: Instant,
    /// An expired limit is being checked again.
    again: bool,
    /// Bytes of heads, bodies and requests at the last look.
    moved: i64,
}

impl Stall {
    /// Starts to count at `now`.
    pub fn new(limit: Duration, now: Instant) -> Stall {
        Stall { limit, last: now, next: now + limit, again: false, moved: 0 }
    }

    /// Returns when to call [`check`](Self::check).
    pub fn due(&self) -> Instant {
        self.next
    }

    /// Notes progress. A transfer that is `held` (paused by the application, or not connected yet) does not
    /// count as inactive.
    pub fn note_progress(&mut self, info: &TransferInfo, held: bool, now: Instant) {
        let moved = info.header_size + info.downloaded + info.request_size + info.uploaded;
        if held || info.moving_since.is_none() || moved != self.moved {
            (self.moved, self.last, self.again) = (moved, now, false);
        }
    }

    /// Returns the error if the limit is reached, and otherwise computes when to check again.
    pub fn check(&mut self, received: i64, now: Instant) -> Result<(), Error> {
        let is_late = now.saturating_duration_since(self.next) > LATE;
        self.next = self.last + self.limit;
        if now < self.next {
            return Ok(());
        }
        // A caller that did not run the engine in time has not yet polled the sockets: bytes may lie there.
        if is_late && !self.again {
            (self.again, self.next) = (true, now + LATE);
            return Ok(());
        }
        let ms = self.limit.as_millis();
        let text = format!("No data was transferred for {ms} milliseconds, {received} bytes received before");
        Err(Error::new(Code::OperationTimedout, text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_extends_the_limit_and_a_pause_suspends_it() {
        let begun = Instant::now();
        let at = |ms: u64| begun + Duration::from_millis(ms);
        let mut stall = Stall::new(Duration::from_millis(500), begun);
        let mut info = TransferInfo::default();
        stall.note_progress(&info, false, at(400)); // not connected yet
        assert_eq!(stall.due(), at(500));
        assert!(stall.check(0, at(500)).is_ok());
        assert_eq!(stall.due(), at(900));
        info.moving_since = Some(at(400));
        stall.note_progress(&info, false, at(450));
        info.downloaded = 7;
        stall.note_progress(&info, false, at(600));
        assert!(stall.check(7, at(1099)).is_ok());
        assert_eq!(stall.due(), at(1100));
        stall.note_progress(&info, true, at(1099));
        assert!(stall.check(7, at(1598)).is_ok(), "paused");
        stall.note_progress(&info, false, at(1598));
        assert!(stall.check(7, at(1650)).is_ok(), "the caller was away");
        assert_eq!(stall.due(), at(1660));
        let error = stall.check(7, at(1660)).unwrap_err();
        assert_eq!(error.code(), Code::OperationTimedout);
        assert!(error.message().contains("500 milliseconds"), "{error}");
    }
}
