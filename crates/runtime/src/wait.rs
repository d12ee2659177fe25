//! Waiting for events: poll(2) up to a dozen descriptors, epoll above.
//!
//! Measured: below a dozen, building a poll set is cheaper than maintaining epoll's. Above, epoll registered
//! once per descriptor and never modified costs nothing for idle ones.

use std::io;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use smallvec::SmallVec;

use crate::interest::Interest;
use crate::reactor::{Entry, Reactor, Report, Table, WakeGuard, key};
use crate::sys::epoll::{self, Epoll, poll_fds};
use crate::sys::eventfd::EventFd;
use crate::sys::lend;

/// Up to so many registrations are polled.
const POLL_LIMIT: usize = 12;
/// The wake-up descriptor's key in epoll; no slot reaches it.
const WAKE_KEY: u64 = u64::MAX;
/// With a manual clock a wait never lasts longer, so that a test's loop turns.
const MANUAL_WAIT: Duration = Duration::from_millis(1);

/// Wakers to call once the table's lock is released.
pub(crate) type Wakers = SmallVec<[Waker; 4]>;

/// An application's own descriptor, waited for together with ours; bits as in Linux's poll(2) and curl's
/// CURL_WAIT_POLLIN. `None` is skipped.
pub struct ExtraFd<'a> {
    pub fd: Option<BorrowedFd<'a>>,
    pub events: i16,
    pub revents: i16,
}

/// A descriptor to poll: its slot and generation in the table, and the awaited events.
type Polled = (usize, u32, Arc<OwnedFd>, Interest);
type PolledList = SmallVec<[Polled; 2]>;
type PollSet<'a> = SmallVec<[PollFd<'a>; 8]>;

/// An event: the key of the entry and what happened.
#[derive(Clone, Copy)]
pub(crate) struct Event {
    pub(crate) key: u64,
    pub(crate) read: bool,
    pub(crate) write: bool,
    /// Data and the end may have been reported together, once: read on until 0 or EAGAIN.
    pub(crate) hangup: bool,
}

impl Event {
    fn report(self) -> Report {
        Report { read: self.read, write: self.write, ended: self.hangup, edge: false }
    }
}

/// The plan of one wait. Every request waits once or twice, so the short lists of the usual case stay on the
/// stack.
struct Plan {
    epoll: Option<Arc<Epoll>>,
    polled: PolledList,
    wake: Option<Arc<EventFd>>,
}

impl Reactor {
    /// Waits until an event, a timer, `max`, or (if allowed) a call of `wakeup`. Events that nobody awaits,
    /// on idle or paused connections, do not end the wait. Returns how many descriptors are ready. A signal
    /// ends it with [`io::ErrorKind::Interrupted`].
    pub(crate) fn wait(&self, extra: &mut [ExtraFd<'_>], max: Duration, may_wake: bool) -> io::Result<usize> {
        let start = Instant::now();
        let mut now = start;
        loop {
            let left = max.saturating_sub(now - start);
            let budget = self.budget(left);
            let until = now + budget;
            let ready = self.wait_once(extra, budget, may_wake)?;
            let woken = may_wake && self.ready.take_woken();
            if ready > 0 || woken || !self.ready.is_empty() {
                return Ok(ready);
            }
            now = Instant::now();
            if now >= until {
                return Ok(0);
            }
        }
    }

    /// Collects events without waiting.
    pub(crate) fn harvest(&self) -> io::Result<()> {
        if !self.ready.drain() && self.report_only_reader() {
            return Ok(());
        }
        self.wait_once(&mut [], Duration::ZERO, false).map(drop)
    }

    fn budget(&self, max: Duration) -> Duration {
        // A day: beyond it no timeout argument is meant literally, and Instant arithmetic stays safe.
        let mut budget = max.min(Duration::from_secs(24 * 3600));
        if let Some(timeout) = self.timeout() {
            budget = budget.min(timeout);
        }
        if self.clock().is_manual() { budget.min(MANUAL_WAIT) } else { budget }
    }

    fn wait_once(&self, extra: &mut [ExtraFd<'_>], max: Duration, may_wake: bool) -> io::Result<usize> {
        let plan = self.plan(max, may_wake);
        self.ready.asleep(max, may_wake, |max| match &plan.epoll {
            Some(epoll) if extra.is_empty() && plan.polled.is_empty() => self.wait_epoll(epoll, max),
            _ => self.wait_poll(&plan, extra, max),
        })
    }

    fn plan(&self, max: Duration, may_wake: bool) -> Plan {
        let wake = if max.is_zero() {
            None
        } else if may_wake {
            self.ready.descriptor().ok()
        } else {
            self.ready.descriptor_if_made()
        };
        let mut table = self.table();
        if table.epoll.is_none() && table.entries.len() > POLL_LIMIT {
            let _ = table.start_epoll(); // no descriptor left, or no epoll on this system: poll continues
        }
        let epoll = table.epoll.clone();
        if let (Some(epoll), Some(wake)) = (&epoll, &wake)
            && !table.wake_in_epoll
        {
            table.wake_in_epoll = epoll.add_level(wake, WAKE_KEY).is_ok();
        }
        let polled = table.polled();
        Plan { wake: wake.filter(|_| epoll.is_none()), epoll, polled }
    }

    fn wait_epoll(&self, epoll: &Epoll, max: Duration) -> io::Result<usize> {
        let mut events = SmallVec::<[Event; 16]>::new();
        self.table().unasked = false;
        epoll.wait(max, &mut events)?;
        Ok(self.report(events.into_iter()))
    }

    fn wait_poll(&self, plan: &Plan, extra: &mut [ExtraFd<'_>], max: Duration) -> io::Result<usize> {
        let mut set = PollSet::new();
        for e in extra.iter() {
            if let Some(fd) = e.fd {
                push(&mut set, fd, epoll::wanted_events(e.events));
            }
        }
        for (_, _, fd, want) in &plan.polled {
            push(&mut set, fd.as_fd(), poll_flags(*want));
        }
        if let Some(epoll) = &plan.epoll {
            push(&mut set, epoll.as_fd(), PollFlags::IN);
        }
        let nothing = set.is_empty();
        if let Some(wake) = &plan.wake {
            push(&mut set, wake.as_fd(), PollFlags::IN);
        }
        let found = if nothing && max.is_zero() { Ok(0) } else { poll_fds(&mut set, max) };
        if !matches!(found, Ok(1..)) {
            extra.iter_mut().for_each(|e| e.revents = 0);
            return found;
        }
        self.collect(plan, extra, &set)
    }

    /// Processes the results of poll(2), in the order in which the set was built.
    fn collect(&self, plan: &Plan, extra: &mut [ExtraFd<'_>], set: &[PollFd<'_>]) -> io::Result<usize> {
        let mut found = set.iter().map(PollFd::revents);
        let mut ready = 0;
        for e in extra.iter_mut() {
            e.revents = e.fd.and_then(|_| found.next()).map_or(0, epoll::returned_events);
            ready += usize::from(e.revents != 0);
        }
        let happened = plan.polled.iter().zip(&mut found).filter(|(_, flags)| !flags.is_empty());
        let events = happened.map(|((slot, generation, ..), flags)| event(key(*slot, *generation), flags));
        ready += self.report(events);
        if let Some(epoll) = &plan.epoll
            && found.next().is_some_and(|flags| !flags.is_empty())
        {
            ready += self.wait_epoll(epoll, Duration::ZERO)?;
        }
        Ok(ready)
    }

    /// Records events and wakes the waiters; returns how many descriptors were awaited.
    fn report(&self, events: impl Iterator<Item = Event>) -> usize {
        self.ready.awake();
        let mut wakers = Wakers::new();
        let mut awaited = 0;
        let mut table = self.table();
        for event in events.filter(|event| event.key != WAKE_KEY) {
            let slot = (event.key & 0xffff_ffff) as usize;
            if table.entries.get(slot).is_none_or(|entry| key(slot, entry.generation) != event.key) {
                continue;
            }
            awaited += usize::from(table.report(slot, event.report(), &mut wakers));
        }
        drop(table);
        wakers.into_iter().for_each(Waker::wake);
        awaited
    }
}

/// A descriptor that is readable whenever [`Runtime::perform`](crate::Runtime::perform) would find an event
/// or a woken task, for a loop that watches a single descriptor. Timers are reported by [`Reactor::timeout`].
/// Descriptors that epoll refuses are not covered; it never refuses sockets while there is memory.
pub struct Descriptor {
    epoll: Arc<Epoll>,
    wakes: WakeGuard,
}

impl Descriptor {
    pub(crate) fn reactor(&self) -> &Reactor {
        &self.wakes.0
    }
}

lend!(Descriptor, it => &*it.epoll);

impl Reactor {
    /// Returns one descriptor that covers all waits from here on. It reports nothing in a forked child.
    pub fn descriptor(self: &Arc<Self>) -> io::Result<Descriptor> {
        let wakes = self.wake_interest();
        let wake = self.ready.descriptor()?;
        let mut table = self.table();
        let epoll = match table.epoll.clone() {
            Some(epoll) => epoll,
            None => table.start_epoll()?,
        };
        if !table.wake_in_epoll {
            epoll.add_level(&wake, WAKE_KEY)?;
            table.wake_in_epoll = true;
        }
        Ok(Descriptor { epoll, wakes })
    }
}

impl Table {
    fn start_epoll(&mut self) -> io::Result<Arc<Epoll>> {
        let epoll = Arc::new(Epoll::new()?);
        self.epoll = Some(epoll.clone());
        self.wake_in_epoll = false;
        let slots: Vec<usize> = self.entries.iter().map(|(slot, _)| slot).collect();
        slots.into_iter().for_each(|slot| self.enter_epoll(slot));
        Ok(epoll)
    }

    /// Returns the descriptors to poll: all awaited ones, or beside epoll those that it refused.
    fn polled(&self) -> PolledList {
        let mut list = PolledList::new();
        let mut add = |slot: usize, entry: &Entry| {
            let want = entry.want();
            if !want.is_empty() {
                list.push((slot, entry.generation, entry.fd.clone(), want));
            }
        };
        match &self.epoll {
            Some(_) => self.stragglers.iter().for_each(|&slot| add(slot, &self.entries[slot])),
            None => self.entries.iter().for_each(|(slot, entry)| add(slot, entry)),
        }
        list
    }
}

/// Shared by all callers, not inlined: between two requests the code leaves the cache, and each line of it
/// costs a miss.
#[inline(never)]
fn push<'a>(set: &mut PollSet<'a>, fd: BorrowedFd<'a>, flags: PollFlags) {
    set.push(PollFd::from_borrowed_fd(fd, flags));
}

/// Rounded up to whole milliseconds, so that a wait never ends just before the deadline it was bounded by.
pub(crate) fn timespec(max: Duration) -> Timespec {
    let ms = i64::try_from(max.as_nanos().div_ceil(1_000_000)).unwrap_or(i64::MAX).min(i64::from(i32::MAX));
    Timespec { tv_sec: ms / 1000, tv_nsec: ((ms % 1000) * 1_000_000) as _ }
}

fn poll_flags(want: Interest) -> PollFlags {
    let read = if want.reads() { PollFlags::IN } else { PollFlags::empty() };
    let write = if want.writes() { PollFlags::OUT } else { PollFlags::empty() };
    read | write
}

fn event(key: u64, flags: PollFlags) -> Event {
    let hangup = flags.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL);
    // Any bit of theirs: Winsock's POLLIN is two, of which ordinary bytes are one.
    let write = hangup || flags.intersects(PollFlags::OUT);
    Event { key, read: hangup || flags.intersects(PollFlags::IN), write, hangup }
}
