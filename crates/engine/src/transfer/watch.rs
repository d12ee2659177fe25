//! Monitors a transfer: the overall time-out, the limits on low speed and inactivity, the progress function.
//! One timer serves all; it exists only if one of them is set.

use std::collections::VecDeque;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use runtime::Sleep;
use tables::{Code, EasyOption as O};

use crate::callbacks::ProgressCounts;
use crate::easy::EasyState;
use crate::error::{Error, Result};
use crate::info::TransferInfo;
use crate::multi::MultiState;
use crate::transfer::stall::Stall;

const TICK: Duration = Duration::from_secs(1);

/// The watch over one transfer.
pub struct Watch {
    multi: Rc<MultiState>,
    easy: Rc<EasyState>,
    /// Absent without a limit and without a progress function, as for most transfers.
    limits: Option<Box<Limits>>,
}

/// The limits of a transfer, and the moments at which they are checked.
struct Limits {
    started: Instant,
    deadline: Option<Instant>,
    next_tick: Option<Instant>,
    /// There is such a limit.
    slow: Option<Box<Slow>>,
    /// There is a limit on inactivity.
    stall: Option<Box<Stall>>,
    /// Made at the first wait.
    timer: Option<Sleep>,
}

/// How many moments back the speed is a mean over: five seconds.
const MOMENTS: usize = 6;

/// The low-speed limit (CURLOPT_LOW_SPEED_LIMIT.md), and since when the transfer has been slower.
#[derive(Default)]
struct Slow {
    limit: i64,
    seconds: i64,
    since: Option<Instant>,
    /// The application has paused a direction.
    paused: bool,
    /// When both directions were last resumed: the clock starts again then.
    resumed: Option<Instant>,
    /// The starts of the last seconds, with the bytes moved by then; the oldest first.
    moments: VecDeque<(Instant, i64)>,
    /// The bytes moved at the last tick.
    seen: i64,
}

impl Watch {
    /// Starts to monitor.
    pub fn new(multi: &Rc<MultiState>, easy: &Rc<EasyState>, started: Instant) -> Watch {
        let settings = easy.settings.borrow();
        let timeout_ms = settings.long(O::TimeoutMs);
        let slow = Slow {
            limit: settings.long(O::LowSpeedLimit),
            seconds: settings.long(O::LowSpeedTime),
            ..Slow::default()
        };
        drop(settings);
        let slow = slow.on().then(|| Box::new(slow));
        if timeout_ms > 0 {
            easy.trace("timer", || format!("[TIMEOUT] set for {timeout_ms}000us"));
        }
        let ticking = slow.is_some() || easy.callbacks.wants_progress();
        let stall_limit = easy.stall_limit.get();
        let limits = (timeout_ms > 0 || ticking || stall_limit.is_some()).then(|| {
            Box::new(Limits {
                started,
                deadline: (timeout_ms > 0).then(|| started + Duration::from_millis(timeout_ms as u64)),
                next_tick: ticking.then(|| started + TICK),
                slow,
                stall: stall_limit.map(|limit| Box::new(Stall::new(limit, started))),
                timer: None,
            })
        });
        Watch { multi: multi.clone(), easy: easy.clone(), limits }
    }

    /// Ready with the reason when the transfer must end.
    pub fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        if let Err(e) = self.progress(false) {
            return Poll::Ready(e);
        }
        self.note_pause();
        self.note_progress();
        loop {
            let Some(limits) = &mut self.limits else { return Poll::Pending };
            let Some(at) = limits.next() else { return Poll::Pending };
            let reactor = self.multi.runtime.reactor();
            let timer = limits.timer.get_or_insert_with(|| reactor.sleep_until(at));
            if timer.deadline() != at {
                timer.reset(at);
            }
            ready!(Pin::new(timer).poll(cx));
            if let Err(e) = self.due() {
                return Poll::Ready(e);
            }
        }
    }

    /// The reason when the time of the whole transfer is over.
    pub fn too_late(&self) -> Option<Error> {
        let limits = self.limits.as_deref()?;
        let deadline = limits.deadline?;
        let now = self.multi.runtime.reactor().now();
        (deadline <= now).then(|| self.timed_out(limits.started, now))
    }

    /// Calls the progress function after the end; it may still abort a successful transfer.
    pub fn conclude(&mut self, result: Result<()>) -> Result<()> {
        match result {
            Ok(()) => self.progress(true),
            Err(e) => {
                let connected = has_server(&self.easy.info.borrow());
                if connected && e.code() != Code::AbortedByCallback {
                    let _ = self.progress(true);
                }
                Err(e)
            }
        }
    }

    fn due(&mut self) -> Result<()> {
        let now = self.multi.runtime.reactor().now();
        if let Some(late) = self.too_late() {
            return Err(late);
        }
        let Some(limits) = &mut self.limits else { return Ok(()) };
        if let Some(stall) = limits.stall.as_mut().filter(|stall| stall.due() <= now) {
            stall.check(self.easy.info.borrow().downloaded, now)?;
        }
        if limits.next_tick.is_some_and(|t| t <= now) {
            limits.next_tick = Some(now + TICK);
            report_progress(&self.multi, &self.easy, false)?;
            if let Some(slow) = &mut limits.slow {
                check_speed(&self.easy, slow, now)?;
            }
            let due = limits.slow.as_deref().and_then(Slow::due);
            limits.next_tick = limits.next_tick.into_iter().chain(due).min();
        }
        Ok(())
    }

    /// Notices a resumed transfer: as in curl, slow seconds are counted from there on.
    fn note_pause(&mut self) {
        let Some(limits) = &mut self.limits else { return };
        let Some(slow) = &mut limits.slow else { return };
        let paused = self.easy.flow.receive_paused() || self.easy.flow.send_paused();
        if std::mem::replace(&mut slow.paused, paused) && !paused {
            let now = self.multi.runtime.reactor().now();
            slow.resumed = Some(now);
            limits.next_tick = Some(now + TICK);
        }
    }

    fn note_progress(&mut self) {
        let Some(stall) = self.limits.as_mut().and_then(|limits| limits.stall.as_mut()) else { return };
        let held = self.easy.flow.receive_paused() || self.easy.flow.send_paused();
        stall.note_progress(&self.easy.info.borrow(), held, self.multi.runtime.reactor().now());
    }

    fn timed_out(&self, started: Instant, now: Instant) -> Error {
        let ms = now.saturating_duration_since(started).as_millis();
        let info = self.easy.info.borrow();
        let late = Late {
            ms,
            last_reply_owed: info.last_reply_owed,
            looked_up: !info.name_lookup.is_zero(),
            has_server: has_server(&info),
            total: info.download_total.max(info.announced),
            received: info.downloaded,
        };
        Error::new(Code::OperationTimedout, late.text())
    }

    fn progress(&self, finished: bool) -> Result<()> {
        report_progress(&self.multi, &self.easy, finished)
    }
}

impl Limits {
    /// Returns the next moment at which something is due.
    fn next(&self) -> Option<Instant> {
        let stalled = self.stall.as_deref().map(Stall::due);
        [self.deadline, self.next_tick, stalled].into_iter().flatten().min()
    }
}

/// Calls the progress function, which may end the transfer.
fn report_progress(multi: &MultiState, easy: &EasyState, finished: bool) -> Result<()> {
    if !easy.callbacks.wants_progress() {
        return Ok(());
    }
    let counts = {
        let now = multi.runtime.reactor().now();
        let mut info = easy.info.borrow_mut();
        info.total = info.since_start(now);
        ProgressCounts {
            download_total: info.download_total.max(0),
            download_now: info.downloaded,
            upload_total: info.upload_total.max(0),
            upload_now: info.uploaded,
            spent: info.total.into(),
            finished,
        }
    };
    match easy.callbacks.progress(counts) {
        true => Ok(()),
        false => Err(Error::new(Code::AbortedByCallback, "Callback aborted")),
    }
}

/// Fails if the transfer has been slower than its limit for too long.
fn check_speed(easy: &EasyState, slow: &mut Slow, now: Instant) -> Result<()> {
    let flow = &easy.flow;
    let info = easy.info.borrow();
    let moved = info.downloaded + info.uploaded;
    // A paused transfer is slow by the application's own wish, and one without a connection does not move
    // yet.
    let result = match info.moving_since.filter(|_| !flow.receive_paused() && !flow.send_paused()) {
        Some(begun) => slow.measure(slow.resumed.map_or(begun, |resumed| begun.max(resumed)), moved, now),
        None => {
            slow.forget();
            Ok(())
        }
    };
    slow.seen = moved;
    result
}

/// A transfer whose time is over.
#[derive(Clone, Copy, Debug)]
struct Late {
    ms: u128,
    /// Only the server's reply after a file of FTP is missing.
    last_reply_owed: bool,
    /// The name of the server, or of its proxy, has been looked up.
    looked_up: bool,
    /// There is a connection.
    has_server: bool,
    /// Size of the body; negative if it is not known.
    total: i64,
    received: i64,
}

impl Late {
    /// Returns curl's text, which names the progress of the transfer.
    fn text(&self) -> String {
        let Late { ms, total, received, .. } = *self;
        match *self {
            Late { last_reply_owed: true, .. } => "FTP response timeout".to_owned(),
            Late { looked_up: false, has_server: false, .. } => {
                format!("Resolving timed out after {ms} milliseconds")
            }
            Late { has_server: false, .. } => format!("Connection timed out after {ms} milliseconds"),
            Late { total: 0.., .. } => {
                let bytes = format!("{received} out of {total} bytes");
                format!("Operation timed out after {ms} milliseconds with {bytes} received")
            }
            _ => format!("Operation timed out after {ms} milliseconds with {received} bytes received"),
        }
    }
}

/// Returns whether there is a peer to receive from: a connection, or a datagram socket, which has no number.
fn has_server(info: &TransferInfo) -> bool {
    info.connection_id >= 0 || info.moving_since.is_some()
}

impl Slow {
    fn on(&self) -> bool {
        self.limit > 0 && self.seconds > 0
    }

    /// Returns when it will have been too slow for too long if nothing moves until then.
    fn due(&self) -> Option<Instant> {
        let seconds = u64::try_from(self.seconds).ok()?;
        self.since?.checked_add(Duration::from_secs(seconds))
    }

    fn forget(&mut self) {
        self.moments.clear();
        self.since = None;
    }

    /// Measures the speed from the bytes moved by now. Data has been meant to move since `begun`.
    fn measure(&mut self, begun: Instant, moved: i64, now: Instant) -> Result<()> {
        // The first moment after a beginning or a pause, or another request.
        if self.moments.front().is_none_or(|(first, _)| *first < begun) {
            self.forget();
            self.moments.push_back((begun.max(now - TICK), self.seen.min(moved)));
        }
        let (from, before) = self.moments[0];
        let ms = now.saturating_duration_since(from).as_millis().max(1);
        let speed = i128::from((moved - before).max(0)) * 1000 / ms as i128;
        self.moments.push_back((now, moved));
        if self.moments.len() > MOMENTS {
            self.moments.pop_front();
        }
        if speed >= i128::from(self.limit) {
            self.since = None;
            return Ok(());
        }
        let since = *self.since.get_or_insert(if self.moments.len() == 2 { from } else { now });
        if now.saturating_duration_since(since).as_secs() as i64 >= self.seconds {
            return Err(Error::new(
                Code::OperationTimedout,
                format!(
                    "Operation too slow. Less than {} bytes/sec transferred the last {} seconds",
                    self.limit, self.seconds
                ),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns when it was too slow, for the bytes moved by the end of each second, at a limit of a thousand
    /// bytes in two seconds.
    fn too_slow(seconds: &[i64]) -> Option<usize> {
        let begun = Instant::now();
        let mut slow = Slow { limit: 1000, seconds: 2, ..Slow::default() };
        let mut tick = |at: usize, moved: i64| {
            let result = slow.measure(begun, moved, begun + TICK * (at as u32 + 1));
            slow.seen = moved;
            result.is_err()
        };
        seconds.iter().enumerate().position(|(at, moved)| tick(at, *moved))
    }

    #[test]
    fn a_time_out_says_how_far_the_transfer_came() {
        let moving =
            Late { ms: 7, last_reply_owed: false, looked_up: true, has_server: true, total: -1, received: 5 };
        let alone = Late { has_server: false, ..moving };
        let rows = [
            (Late { looked_up: false, ..alone }, "Resolving timed out after 7 milliseconds"),
            (alone, "Connection timed out after 7 milliseconds"),
            (moving, "Operation timed out after 7 milliseconds with 5 bytes received"),
            (
                Late { total: 9, ..moving },
                "Operation timed out after 7 milliseconds with 5 out of 9 bytes received",
            ),
            (
                Late { looked_up: false, ..moving },
                "Operation timed out after 7 milliseconds with 5 bytes received",
            ),
            (Late { last_reply_owed: true, ..moving }, "FTP response timeout"),
        ];
        for (late, wanted) in rows {
            assert_eq!(late.text(), wanted, "CURLOPT_TIMEOUT(3)");
        }
    }

    #[test]
    fn a_speed_limit_needs_both_numbers() {
        let on = |limit, seconds| Slow { limit, seconds, ..Slow::default() }.on();
        let rows = [
            ("CURLOPT_LOW_SPEED_LIMIT(3)", on(1, 1), true),
            ("CURLOPT_LOW_SPEED_TIME(3): not set", on(1, 0), false),
            ("CURLOPT_LOW_SPEED_LIMIT(3): not set", on(0, 1), false),
        ];
        for (name, found, wanted) in rows {
            assert_eq!(found, wanted, "{name}");
        }
    }

    #[test]
    fn the_speed_is_a_mean_over_seconds() {
        assert_eq!(too_slow(&[0, 0, 0]), Some(1), "nothing at all");
        assert_eq!(too_slow(&[999, 1998]), Some(1), "a little too slow");
        assert_eq!(too_slow(&[1000, 2000, 3000, 4000]), None);
        assert_eq!(too_slow(&[5000, 5000, 5000, 5000, 5000]), None, "in bursts");
        assert_eq!(too_slow(&[5000; 9]), Some(7), "it stands still, and five seconds know only that");
    }

    /// curl 8.22 ends such a transfer one limit's time after it was resumed, whenever that was (two tests of
    /// pycurl).
    #[test]
    fn a_pause_begins_anew() {
        let begun = Instant::now();
        let at = |ms: u64| begun + Duration::from_millis(ms);
        let mut slow = Slow { limit: 10, seconds: 1, seen: 3, ..Slow::default() };
        slow.forget(); // a tick while it is paused
        assert!(slow.measure(at(1700), 3, at(1701)).is_ok());
        assert_eq!(slow.due(), Some(at(2700)));
        assert!(slow.measure(at(1700), 3, at(2699)).is_ok());
        assert!(slow.measure(at(1700), 3, at(2700)).is_err());
        let mut slow = Slow { limit: 10, seconds: 2, seen: 3, ..Slow::default() };
        assert!(slow.measure(at(1), 3, at(1000)).is_ok());
        assert!(slow.measure(at(1500), 3, at(2500)).is_ok(), "paused and on again between two ticks");
        assert_eq!(slow.due(), Some(at(3500)));
    }

    #[test]
    fn a_second_request_begins_anew() {
        let begun = Instant::now();
        let mut slow = Slow { limit: 1000, seconds: 2, ..Slow::default() };
        assert!(slow.measure(begun, 0, begun + TICK).is_ok());
        let again = begun + TICK * 3 / 2;
        assert!(slow.measure(again, 0, begun + TICK * 2).is_ok(), "half a second");
        assert!(slow.measure(again, 0, begun + TICK * 3).is_ok());
        assert!(slow.measure(again, 0, begun + TICK * 4).is_err());
    }
}
