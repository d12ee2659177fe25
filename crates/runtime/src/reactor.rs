//! The table of waits: who waits for which descriptor until when. It is behind poll, epoll, fdset, waitfds
//! and socket_action.
//!
//! The table keeps readiness edge-style, whatever reports it: a reader checks the flag before it receives,
//! and a short read clears it. Wakers and the application's hook are called only after the table's lock is
//! released. `wait.rs` collects events; `sys/socket.rs` uses ready descriptors.

mod by_number;
mod renewal;
mod signal;
mod writes;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use rustix::fd::{AsRawFd, OwnedFd, RawFd};
use slab::Slab;

use crate::cell::none_is_borrowed;
use crate::clock::Clock;
use crate::interest::{Direction, Interest};
use crate::read_state::ReadState;
use crate::ready::{Ready, lock};
use crate::sys::epoll::Epoll;
use crate::sys::fork;
use crate::timers::{NextRun, Sleep, TimerKey, Timers};
use crate::wait::Wakers;
use by_number::ByNumber;

/// Notifications for an application with its own event loop (event mode).
pub trait SocketHook: Send + Sync {
    /// The interest in `fd` is now this; an empty one means that `fd` is of no interest any more.
    fn changed(&self, fd: RawFd, interest: Interest, owner: u64);
}

/// The table of one runtime. Shared by everything that is attached to it.
pub struct Reactor {
    clock: Clock,
    pub(crate) ready: Arc<Ready>,
    table: Mutex<Table>,
}

#[derive(Default)]
pub(crate) struct Table {
    pub(crate) entries: Slab<Entry>,
    /// Entries by descriptor number, for numbers that the application names.
    by_fd: ByNumber,
    /// Slots + 1 by descriptor number, as last found for an event of the application's loop. An entry that
    /// has left its slot is noticed when it is used.
    found: Vec<u32>,
    timers: Timers,
    /// Entries whose end may have been left unread, and some that were; how many there are, and when they are
    /// checked.
    doubtful: Vec<(usize, u32)>,
    doubts: usize,
    check_at: Option<Instant>,
    generation: u32,
    pub(crate) epoll: Option<Arc<Epoll>>,
    pub(crate) wake_in_epoll: bool,
    /// Whether epoll may have unreported events: it reports each once, at once.
    pub(crate) unasked: bool,
    /// Whether the loop that watches the descriptor is edge-triggered.
    is_watched_by_edges: bool,
    /// Entries that epoll refused (duplicates, its limits); they are polled beside it.
    pub(crate) stragglers: BTreeSet<usize>,
    hook: Option<Arc<dyn SocketHook>>,
    dirty: Vec<(usize, u32)>,
    wake_announced: bool,
    fork_generation: u64,
}

pub(crate) struct Entry {
    pub(crate) fd: Arc<OwnedFd>,
    pub(crate) raw: RawFd,
    /// Distinguishes this entry's events from those of an earlier one in the same slot.
    pub(crate) generation: u32,
    owner: u64,
    read: ReadState,
    writable: bool,
    read_waker: Option<Waker>,
    write_waker: Option<Waker>,
    announced: Interest, // to foreign loops
    dirty: bool,
    /// Whether it is in the table's list of doubts.
    listed: bool,
    in_epoll: bool,
    /// Whether epoll reports that it is writable.
    tells_writable: bool,
    /// Whether it receives datagrams, whose end nothing reports.
    is_datagram: bool,
    /// Whether another entry has, or had, the same descriptor number.
    shared: bool,
}

/// A descriptor's entry in the table. Dropping it removes the descriptor, after a call of the hook.
pub struct Registration {
    reactor: Arc<Reactor>,
    slot: usize,
}

/// An event of a descriptor.
#[derive(Clone, Copy)]
pub(crate) struct Report {
    pub(crate) read: bool,
    pub(crate) write: bool,
    /// It carried the end, or an error.
    pub(crate) ended: bool,
    /// It came from an application's loop, which may be edge-triggered.
    pub(crate) edge: bool,
}

/// When an application's loop has to call again, whatever its descriptors report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextCall {
    /// Tasks are ready.
    Now,
    /// A timer expires then.
    At(Instant),
    /// There is no timer.
    Never,
}

/// While held, the wake-up descriptor is among the interests: a thread will wake a task.
pub struct WakeGuard(pub(crate) Arc<Reactor>);

/// A guard whose owner is about to run the tasks: tasks that become ready do not end any wait.
pub struct Turn(Arc<Reactor>);

/// So many changes of interest are noted in room that stays.
const FEW: usize = 64;
/// How long an end that came together with bytes may stay unread, where no reader needs it.
const CHECK: Duration = Duration::from_secs(1);
/// Descriptor numbers below are found by index. Windows has larger ones, and a process may have.
const FOUND: usize = 1 << 16;

impl Reactor {
    pub(crate) fn new(clock: Clock) -> Arc<Reactor> {
        let table = Table { fork_generation: fork::generation(), ..Table::default() };
        Arc::new(Reactor { clock, ready: Arc::default(), table: Mutex::new(table) })
    }

    pub(crate) fn clock(&self) -> &Clock {
        &self.clock
    }

    #[inline]
    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        let mut table = lock(&self.table);
        if table.fork_generation != fork::generation() {
            self.leave_parent(&mut table);
        }
        table
    }

    #[cold]
    fn leave_parent(&self, table: &mut Table) {
        table.leave_parent();
        self.ready.forget_descriptor();
    }

    /// Puts a descriptor into the table.
    pub fn attach(self: &Arc<Self>, fd: Arc<OwnedFd>, owner: u64) -> Registration {
        let slot = self.table().insert(fd, owner);
        Registration { reactor: self.clone(), slot }
    }

    /// Completes at that moment.
    pub fn sleep_until(self: &Arc<Self>, at: Instant) -> Sleep {
        Sleep::new(self.clone(), at)
    }

    /// Completes in the next run.
    pub fn next_run(self: &Arc<Self>) -> NextRun {
        NextRun::new(self.clone())
    }

    /// Completes after that time. A time beyond the clock's range is a year.
    pub fn sleep(self: &Arc<Self>, length: Duration) -> Sleep {
        let now = self.now();
        let year = Duration::from_secs(365 * 24 * 3600);
        self.sleep_until(now.checked_add(length.min(year)).unwrap_or(now))
    }

    /// The clock, read now.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Returns the awaited events, one row per descriptor number.
    pub fn interests(&self) -> Vec<(RawFd, Interest)> {
        let table = self.table();
        let mut rows: Vec<(RawFd, Interest)> = Vec::new();
        for (raw, slot) in table.by_fd.iter() {
            let want = table.entries[slot].want();
            match rows.last_mut() {
                _ if want.is_empty() => {}
                Some(last) if last.0 == raw => last.1 |= want,
                _ => rows.push((raw, want)),
            }
        }
        drop(table);
        if self.ready.watchers() > 0 {
            rows.extend(self.ready.raw_descriptor().map(|fd| (fd, Interest::READ)));
        }
        rows
    }

    /// Keeps the wake-up descriptor among the interests while the guard exists.
    pub fn wake_interest(self: &Arc<Self>) -> WakeGuard {
        drop(self.table()); // notices a fork before the descriptor is used
        self.ready.watch();
        WakeGuard(self.clone())
    }

    /// Returns a guard for a caller that makes tasks ready and runs them before it drops the guard; otherwise
    /// the wake-up descriptor reports them. So a loop's own actions cause no event.
    pub fn turn(self: &Arc<Self>) -> Turn {
        self.ready.begin_turn();
        Turn(self.clone())
    }

    /// How long until something must be done; zero when tasks are ready.
    pub fn timeout(&self) -> Option<Duration> {
        if !self.ready.is_empty() {
            return Some(Duration::ZERO);
        }
        let next = self.table().next_timer()?;
        Some(next.saturating_duration_since(self.now()))
    }

    /// The earliest timer.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.table().next_timer()
    }

    /// The application says that a descriptor is ready. Its loop may be edge-triggered: reads go on until
    /// EAGAIN.
    pub fn ready(&self, fd: RawFd, events: Interest, error: bool) {
        let mut wakers = Wakers::new();
        let mut table = self.table();
        let mut next = table.slot_of_number(fd);
        if next.is_none() {
            drop(table);
            if self.ready.raw_descriptor() == Some(fd) {
                self.ready.drain();
            }
            return;
        }
        while let Some(slot) = next {
            let (read, write) = (error || events.reads(), error || events.writes());
            table.report(slot, Report { read, write, ended: error, edge: true }, &mut wakers);
            let shared = table.entries[slot].shared;
            next = if shared { table.slot_of(fd, slot + 1) } else { None };
        }
        drop(table);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Ends the present or next interruptible wait; from any thread.
    pub fn wakeup(&self) {
        self.ready.wakeup();
    }

    /// Enters or leaves event mode.
    pub fn set_hook(&self, hook: Option<Arc<dyn SocketHook>>) {
        let mut table = self.table();
        let fresh = table.hook.is_none();
        let old = std::mem::replace(&mut table.hook, hook);
        if fresh && table.hook.is_some() {
            table.start_telling();
        }
        drop(table);
        drop(old);
    }

    /// Whether a hook is set.
    pub fn event_mode(&self) -> bool {
        self.table().hook.is_some()
    }

    /// Calls the hook for every descriptor whose interest differs from the last report. The cost depends on
    /// the entries touched. Returns when the loop has to call again.
    pub fn report_changes(&self) -> NextCall {
        let mut table = self.table();
        let queued = !self.ready.is_empty();
        if table.hook.is_some() {
            let mut rows = table.changes(queued);
            let watched = self.ready.watchers() > 0;
            if watched != table.wake_announced {
                table.wake_announced = watched;
                let wake = self.ready.raw_descriptor();
                rows.extend(wake.map(|fd| (fd, Interest::of(watched, false), 0)));
            }
            if !rows.is_empty() {
                let hook = table.hook.clone();
                drop(table);
                hook.iter().for_each(|hook| report(hook.as_ref(), rows.iter().copied()));
                return self.next_call();
            }
        }
        next_call(queued, &table)
    }

    fn next_call(&self) -> NextCall {
        let table = self.table();
        next_call(!self.ready.is_empty(), &table)
    }

    /// Removes the descriptors of that owner from the table, except those that the caller says are still in
    /// use. Their owner was jumped over and will never remove them itself.
    pub fn disown(&self, owner: u64, stays: impl Fn(RawFd) -> bool) -> Vec<RawFd> {
        let table = self.table();
        let of_owner = |entry: &Entry| entry.owner == owner && !stays(entry.raw);
        let lost: Vec<_> =
            table.entries.iter().filter(|(_, e)| of_owner(e)).map(|(s, e)| (s, e.raw)).collect();
        drop(table);
        lost.iter().for_each(|(slot, _)| self.deregister(*slot));
        lost.into_iter().map(|(_, raw)| raw).collect()
    }

    /// How many descriptors are attached, waited for or not.
    pub fn registrations(&self) -> usize {
        self.table().entries.len()
    }

    pub(crate) fn add_timer(&self, at: Instant, waker: Waker) -> TimerKey {
        self.table().timers.add(at, waker)
    }

    pub(crate) fn update_timer(&self, key: &TimerKey, waker: &Waker) -> bool {
        self.table().timers.update(key, waker)
    }

    pub(crate) fn remove_timer(&self, key: &TimerKey) {
        let waker = self.table().timers.remove(key);
        drop(waker); // after the lock
    }

    /// Wakes expired timers. Most transfers have none: then the clock is not read.
    pub(crate) fn fire_timers(&self) {
        if self.next_deadline().is_none() {
            return;
        }
        let now = self.now();
        let mut table = self.table();
        let checks = table.doubts > 0 && table.check_at.is_some_and(|at| at <= now);
        let wakers = if checks { table.check_doubts() } else { Vec::new() };
        drop(table);
        wakers.into_iter().for_each(Waker::wake);
        loop {
            let due = self.table().timers.pop_due(now);
            match due {
                Some(waker) => waker.wake(),
                None => return,
            }
        }
    }

    fn deregister(&self, slot: usize) {
        let mut table = self.table();
        let entry = table.remove(slot);
        let hook = table.hook.clone().filter(|_| !entry.announced.is_empty());
        let others = if entry.shared { table.by_fd.slots(entry.raw, 0).collect() } else { Vec::new() };
        let report = others.is_empty();
        others.into_iter().for_each(|slot| table.mark(slot));
        drop(table);
        if let Some(hook) = hook.filter(|_| report) {
            none_is_borrowed();
            hook.changed(entry.raw, Interest::NONE, entry.owner);
        }
    }
}

impl Registration {
    /// Sets the owner of the descriptor, which is passed to the hook.
    pub fn set_owner(&self, owner: u64) {
        self.reactor.table().entries[self.slot].owner = owner;
    }

    /// Ready when the descriptor was reported ready and not yet found dry; otherwise the task will be woken.
    pub fn poll_ready(&self, cx: &mut Context<'_>, direction: Direction) -> Poll<()> {
        let table = self.reactor.table();
        let entry = &table.entries[self.slot];
        let flag = match direction {
            Direction::Read => entry.read.is_readable(),
            Direction::Write => entry.writable,
        };
        if flag {
            return Poll::Ready(());
        }
        self.wait(table, cx, direction);
        Poll::Pending
    }

    #[inline]
    fn wait(&self, mut table: MutexGuard<'_, Table>, cx: &Context<'_>, direction: Direction) {
        let entry = &mut table.entries[self.slot];
        let waker = match direction {
            Direction::Read => &mut entry.read_waker,
            Direction::Write => &mut entry.write_waker,
        };
        let old = match waker {
            Some(waker) if waker.will_wake(cx.waker()) => None,
            waker => waker.replace(cx.waker().clone()),
        };
        if direction == Direction::Write && !entry.tells_writable {
            table.tell_writable(self.slot, true);
        }
        table.mark(self.slot);
        drop(table);
        drop(old);
    }

    /// The descriptor answered EAGAIN: the task is woken by the next event.
    pub fn poll_dry<T>(&self, cx: &mut Context<'_>, direction: Direction) -> Poll<T> {
        let mut table = self.reactor.table();
        table.entries[self.slot].dry(direction);
        self.wait(table, cx, direction);
        Poll::Pending
    }

    /// The descriptor answered EAGAIN: wait for the next event.
    pub fn dry(&self, direction: Direction) {
        self.reactor.table().entries[self.slot].dry(direction);
    }

    /// A read has not filled its buffer. Returns whether the descriptor counts as readable still
    /// ([`ReadState::short_read`]).
    pub fn short_read(&self) -> bool {
        self.reactor.table().entries[self.slot].read.short_read()
    }

    /// States after a short read that the reader needs no end of the stream now ([`ReadState::settle`]).
    pub fn settle(&self) {
        let mut table = self.reactor.table();
        let entry = &mut table.entries[self.slot];
        if !entry.read.settle() {
            return;
        }
        let doubt = (self.slot, entry.generation);
        let listed = std::mem::replace(&mut entry.listed, true);
        table.doubts += 1;
        if !listed {
            table.doubtful.push(doubt);
            if table.check_at.is_none() {
                table.check_at = Some(self.reactor.now() + CHECK);
            }
        }
    }

    /// Withdraws the interest in that direction: a paused transfer, an idle connection.
    pub fn forget(&self, direction: Direction) {
        let mut table = self.reactor.table();
        let entry = &mut table.entries[self.slot];
        let old = match direction {
            Direction::Read => entry.read_waker.take(),
            Direction::Write => entry.write_waker.take(),
        };
        table.mark(self.slot);
        drop(table);
        drop(old);
    }

    /// The reactor it is attached to.
    pub fn reactor(&self) -> &Arc<Reactor> {
        &self.reactor
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.reactor.deregister(self.slot);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.ready.end_turn();
    }
}

impl Drop for WakeGuard {
    fn drop(&mut self) {
        self.0.ready.unwatch();
    }
}

impl Table {
    fn insert(&mut self, fd: Arc<OwnedFd>, owner: u64) -> usize {
        let raw = fd.as_raw_fd();
        self.generation = self.generation.wrapping_add(1);
        let mut entry = Entry::new(fd, self.generation, owner);
        if let Some(other) = self.slot_of(raw, 0) {
            (entry.shared, self.entries[other].shared) = (true, true);
        }
        let slot = self.entries.insert(entry);
        self.by_fd.insert(raw, slot);
        self.enter_epoll(slot);
        slot
    }

    /// Registers one entry with epoll, when epoll is in use.
    pub(crate) fn enter_epoll(&mut self, slot: usize) {
        let Some(epoll) = &self.epoll else { return };
        let entry = &mut self.entries[slot];
        entry.in_epoll = epoll.add(&entry.fd, key(slot, entry.generation), entry.tells_writable).is_ok();
        self.unasked = true;
        if !entry.in_epoll {
            self.stragglers.insert(slot);
        }
    }

    /// The explicit removal from epoll matters when the descriptor lives on elsewhere: duplicated, or in a
    /// child.
    fn remove(&mut self, slot: usize) -> Entry {
        let entry = self.entries.remove(slot);
        self.by_fd.remove(entry.raw, slot);
        self.doubts -= usize::from(entry.read.is_doubtful());
        self.stragglers.remove(&slot);
        if let Some(epoll) = self.epoll.as_ref().filter(|_| entry.in_epoll) {
            epoll.delete(&entry.fd);
        }
        entry
    }

    /// Returns the first entry of a descriptor number in that slot or a later one.
    fn slot_of(&self, fd: RawFd, from: usize) -> Option<usize> {
        self.by_fd.slots(fd, from).next()
    }

    /// Like `slot_of`, for the descriptor of an event: from the table of those that were found before.
    #[inline]
    fn slot_of_number(&mut self, fd: RawFd) -> Option<usize> {
        let number = usize::try_from(fd).unwrap_or(usize::MAX);
        let slot = self.found.get(number).map_or(usize::MAX, |found| (*found as usize).wrapping_sub(1));
        match self.entries.get(slot) {
            Some(entry) if entry.raw == fd && !entry.shared => Some(slot),
            _ => self.find_slot(fd, number),
        }
    }

    #[cold]
    fn find_slot(&mut self, fd: RawFd, number: usize) -> Option<usize> {
        let slot = self.slot_of(fd, 0)?;
        if let (true, Ok(found)) = (number < FOUND, u32::try_from(slot + 1)) {
            if self.found.len() <= number {
                self.found.resize(number + 1, 0);
            }
            self.found[number] = found;
        }
        Some(slot)
    }

    /// Records an event of an entry; returns true if it was awaited.
    #[inline]
    pub(crate) fn report(&mut self, slot: usize, event: Report, wakers: &mut Wakers) -> bool {
        let entry = &mut self.entries[slot];
        self.doubts -= usize::from(event.read && entry.read.is_doubtful());
        let awaited = entry.report(event, wakers);
        self.mark(slot);
        awaited
    }

    /// Returns when the next timer expires, or the reads in doubt are checked.
    #[inline]
    fn next_timer(&self) -> Option<Instant> {
        let check = self.check_at.filter(|_| self.doubts > 0);
        match (self.timers.next(), check) {
            (Some(timer), Some(check)) => Some(timer.min(check)),
            (timer, check) => timer.or(check),
        }
    }

    /// Lets the reads in doubt be tried again, and returns their tasks.
    #[cold]
    fn check_doubts(&mut self) -> Vec<Waker> {
        (self.check_at, self.doubts) = (None, 0);
        let mut wakers = Vec::new();
        for (slot, generation) in std::mem::take(&mut self.doubtful) {
            let Some(entry) = self.entries.get_mut(slot).filter(|e| e.generation == generation) else {
                continue;
            };
            entry.listed = false;
            if entry.read.is_doubtful() {
                entry.read.check();
                wakers.extend(entry.read_waker.take());
                self.mark(slot);
            }
        }
        wakers
    }

    /// Marks an entry that may differ from the hook's last report, in event mode.
    pub(crate) fn mark(&mut self, slot: usize) {
        let entry = &mut self.entries[slot];
        if self.hook.is_some() && !entry.dirty {
            entry.dirty = true;
            self.dirty.push((slot, entry.generation));
        }
    }

    fn start_telling(&mut self) {
        self.dirty.clear();
        self.wake_announced = false;
        for (slot, entry) in &mut self.entries {
            (entry.announced, entry.dirty) = (Interest::NONE, true);
            self.dirty.push((slot, entry.generation));
        }
    }

    /// Returns the changes to report to the hook. While tasks are queued nothing is withdrawn: otherwise a
    /// task that merely yields between two reads would cost the application two changes per read.
    fn changes(&mut self, tasks_queued: bool) -> Vec<(RawFd, Interest, u64)> {
        let mut rows = Vec::new();
        let mut kept = 0;
        for at in 0..self.dirty.len() {
            let (slot, generation) = self.dirty[at];
            let Some(entry) = self.entries.get_mut(slot).filter(|e| e.generation == generation) else {
                continue;
            };
            let (want, announced) = (entry.want(), entry.announced);
            if want == announced && !entry.shared {
                entry.dirty = false;
                continue;
            }
            if self.change(slot, want, tasks_queued, &mut rows) {
                self.dirty[kept] = (slot, generation);
                kept += 1;
            }
        }
        self.dirty.truncate(kept);
        self.dirty.shrink_to(FEW); // free the room of a large burst
        rows
    }

    /// Reports one entry with those of the same number. Returns true if it must be compared again later.
    fn change(
        &mut self,
        slot: usize,
        own: Interest,
        tasks_queued: bool,
        rows: &mut Vec<(RawFd, Interest, u64)>,
    ) -> bool {
        let entry = &self.entries[slot];
        let (raw, owner, announced) = (entry.raw, entry.owner, entry.announced);
        let all = if entry.shared { self.by_fd.slots(raw, 0).collect() } else { Vec::new() };
        let mut want = all.iter().fold(own, |all, &slot| all | self.entries[slot].want());
        let later = tasks_queued && !want.contains(announced);
        if later {
            want |= announced;
        }
        self.entries[slot].dirty = later;
        if want != announced {
            all.iter().for_each(|&slot| self.entries[slot].announced = want);
            self.entries[slot].announced = want;
            rows.push((raw, want, owner));
        }
        later
    }
}

impl Entry {
    fn new(fd: Arc<OwnedFd>, generation: u32, owner: u64) -> Entry {
        Entry {
            raw: fd.as_raw_fd(),
            fd,
            generation,
            owner,
            read: ReadState::default(),
            writable: false,
            read_waker: None,
            write_waker: None,
            announced: Interest::NONE,
            dirty: false,
            listed: false,
            in_epoll: false,
            tells_writable: true,
            is_datagram: false,
            shared: false,
        }
    }

    pub(crate) fn want(&self) -> Interest {
        Interest::of(self.read_waker.is_some(), self.write_waker.is_some())
    }

    fn dry(&mut self, direction: Direction) {
        match direction {
            Direction::Read => self.read.dry(),
            Direction::Write => self.writable = false,
        }
    }

    /// Records an event; returns true if it was awaited.
    #[inline]
    fn report(&mut self, event: Report, wakers: &mut Wakers) -> bool {
        let Report { read, write, .. } = event;
        if read {
            self.read.report(event.ended, event.edge);
        }
        self.writable |= write;
        let before = wakers.len();
        for (happened, waker) in [(read, &mut self.read_waker), (write, &mut self.write_waker)] {
            if let Some(waker) = waker.take_if(|_| happened) {
                wakers.push(waker);
            }
        }
        wakers.len() > before
    }
}

fn next_call(queued: bool, table: &Table) -> NextCall {
    match table.next_timer() {
        _ if queued => NextCall::Now,
        Some(at) => NextCall::At(at),
        None => NextCall::Never,
    }
}

#[cold]
fn report(hook: &dyn SocketHook, rows: impl Iterator<Item = (RawFd, Interest, u64)>) {
    for (fd, interest, owner) in rows {
        none_is_borrowed();
        hook.changed(fd, interest, owner);
    }
}

/// The value that epoll returns with an event of this entry.
pub(crate) fn key(slot: usize, generation: u32) -> u64 {
    u64::from(generation) << 32 | slot as u64 & 0xffff_ffff
}
