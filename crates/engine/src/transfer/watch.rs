//! What watches a transfer from beside it: the overall time-out, the low-speed limit and the progress
//! function. One timer serves all three, and there is none when nobody asked.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use runtime::Sleep;
use tables::{Code, EasyOption as O};

use crate::callbacks::ProgressCounts;
use crate::easy::EasyState;
use crate::error::{Error, Result};
use crate::multi::MultiState;

const TICK: Duration = Duration::from_secs(1);

/// The watch over one transfer.
pub struct Watch {
    multi: Rc<MultiState>,
    easy: Rc<EasyState>,
    started: Instant,
    deadline: Option<Instant>,
    next_tick: Option<Instant>,
    slow: Slow,
    timer: Option<(Instant, Sleep)>,
}

/// Since when the transfer has been too slow.
#[derive(Default)]
struct Slow {
    limit: i64,
    seconds: i64,
    since: Option<Instant>,
    moved: i64,
}

impl Watch {
    /// Begins to watch.
    pub fn new(multi: &Rc<MultiState>, easy: &Rc<EasyState>, started: Instant) -> Watch {
        let settings = easy.settings.borrow();
        let timeout_ms = settings.long(O::TimeoutMs);
        let slow = Slow {
            limit: settings.long(O::LowSpeedLimit),
            seconds: settings.long(O::LowSpeedTime),
            ..Slow::default()
        };
        drop(settings);
        let ticking = slow.on() || easy.callbacks.wants_progress();
        Watch {
            multi: multi.clone(),
            easy: easy.clone(),
            started,
            deadline: (timeout_ms > 0).then(|| started + Duration::from_millis(timeout_ms as u64)),
            next_tick: ticking.then(|| started + TICK),
            slow,
            timer: None,
        }
    }

    /// Ready with the reason when the transfer must end.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        if let Err(e) = self.progress(false) {
            return Poll::Ready(e);
        }
        loop {
            let Some(at) = self.next() else { return Poll::Pending };
            if self.timer.as_ref().is_none_or(|(armed, _)| *armed != at) {
                self.timer = Some((at, self.multi.runtime.reactor().sleep_until(at)));
            }
            let (_, timer) = self.timer.as_mut().expect("armed just above");
            ready!(Pin::new(timer).poll(cx));
            self.timer = None;
            if let Err(e) = self.due() {
                return Poll::Ready(e);
            }
        }
    }

    /// The progress call after the end, which may still abort what has otherwise gone well.
    pub fn conclude(&mut self, result: Result<()>) -> Result<()> {
        match result {
            Ok(()) => self.progress(true),
            Err(e) => {
                let connected = self.easy.info.borrow().connection_id >= 0;
                if connected && e.code() != Code::AbortedByCallback {
                    let _ = self.progress(true);
                }
                Err(e)
            }
        }
    }

    fn next(&self) -> Option<Instant> {
        [self.deadline, self.next_tick].into_iter().flatten().min()
    }

    fn due(&mut self) -> Result<()> {
        let now = self.multi.runtime.reactor().now();
        if self.deadline.is_some_and(|d| d <= now) {
            return Err(self.timed_out(now));
        }
        if self.next_tick.is_some_and(|t| t <= now) {
            self.next_tick = Some(now + TICK);
            self.progress(false)?;
            self.check_speed(now)?;
        }
        Ok(())
    }

    fn timed_out(&self, now: Instant) -> Error {
        let ms = now.saturating_duration_since(self.started).as_millis();
        let info = self.easy.info.borrow();
        let text = if info.name_lookup.is_zero() && info.connection_id < 0 {
            format!("Resolving timed out after {ms} milliseconds")
        } else if info.connection_id < 0 {
            format!("Connection timed out after {ms} milliseconds")
        } else if info.download_total.max(info.announced) >= 0 {
            let (got, total) = (info.downloaded, info.download_total.max(info.announced));
            format!("Operation timed out after {ms} milliseconds with {got} out of {total} bytes received")
        } else {
            format!("Operation timed out after {ms} milliseconds with {} bytes received", info.downloaded)
        };
        Error::new(Code::OperationTimedout, text)
    }

    fn progress(&self, finished: bool) -> Result<()> {
        if !self.easy.callbacks.wants_progress() {
            return Ok(());
        }
        let counts = {
            let now = self.multi.runtime.reactor().now();
            let mut info = self.easy.info.borrow_mut();
            info.total = info.since_start(now);
            ProgressCounts {
                download_total: info.download_total.max(0),
                download_now: info.downloaded,
                upload_total: info.upload_total.max(0),
                upload_now: info.uploaded,
                spent: info.total,
                finished,
            }
        };
        if self.easy.callbacks.progress(counts) {
            Ok(())
        } else {
            Err(Error::new(Code::AbortedByCallback, "Callback aborted"))
        }
    }

    fn check_speed(&mut self, now: Instant) -> Result<()> {
        if !self.slow.on() {
            return Ok(());
        }
        let flow = &self.easy.flow;
        let moved = {
            let info = self.easy.info.borrow();
            info.downloaded + info.uploaded
        };
        // A paused transfer is slow by the application's own wish.
        if flow.receive_paused() || flow.send_paused() || moved - self.slow.moved >= self.slow.limit {
            self.slow.since = None;
        } else {
            let since = *self.slow.since.get_or_insert(now - TICK);
            if now.saturating_duration_since(since).as_secs() as i64 >= self.slow.seconds {
                return Err(Error::new(
                    Code::OperationTimedout,
                    format!(
                        "Operation too slow. Less than {} bytes/sec transferred the last {} seconds",
                        self.slow.limit, self.slow.seconds
                    ),
                ));
            }
        }
        self.slow.moved = moved;
        Ok(())
    }
}

impl Slow {
    fn on(&self) -> bool {
        self.limit > 0 && self.seconds > 0
    }
}
