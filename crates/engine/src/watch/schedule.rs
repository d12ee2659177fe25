//! The times of polls: a pure state machine; the caller passes the time.
//!
//! Time is divided into windows of one interval, for each URL with an offset of its own, so that the polls of
//! many URLs are spread. A window is met if a poll that was started for it is answered before it ends.

use std::collections::{BTreeSet, VecDeque};
use std::time::{Duration, Instant};

/// The pace of polls.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Length of a window.
    pub interval: Duration,
    /// How long a poll may take.
    pub deadline: Duration,
    /// Most simultaneous polls of one server.
    pub per_server: usize,
}

impl Pace {
    /// Returns the pace with the default deadline: a hanging server must not keep a poll forever, and one at
    /// a distance of 300 ms, where a login by FTP takes eight round trips, must be able to answer.
    pub fn new(interval: Duration) -> Pace {
        let deadline = (interval * 10).clamp(Duration::from_secs(5), Duration::from_secs(60));
        Pace { interval, deadline, per_server: 4 }
    }

    /// Returns the pause after the failure with this number, counted from 1.
    fn pause(&self, failures: u32) -> Duration {
        let first = (self.interval / 8).clamp(Duration::from_millis(10), Duration::from_secs(1));
        let most = self.interval.max((self.interval * 16).min(Duration::from_secs(60)));
        first.saturating_mul(1 << failures.saturating_sub(1).min(20)).min(most)
    }

    /// Returns the longest delay of a poll in its window.
    fn jitter(&self) -> Duration {
        self.interval / 10
    }

    /// Returns how long a step that is due, or an answer, may wait for others. To wake up for each of them
    /// costs more than the step: with 60 URLs in a window of 200 ms, six are due in 10 ms.
    pub fn slack(&self) -> Duration {
        (self.interval / 20).min(Duration::from_millis(10))
    }
}

/// The next thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Poll this URL.
    Start(usize),
    /// Look whether the connection of this URL is still open; the answer is
    /// [`reopen`](Schedule::reopen) if it is not.
    Check(usize),
    /// Abort the poll of this URL: its time is up. [`failed`](Schedule::failed) follows.
    Abort(usize),
}

/// The windows of a URL that have ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    /// Windows with an answer.
    pub met: u64,
    /// Windows without one.
    pub missed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The next poll is due then.
    Resting(Instant),
    /// A poll started then.
    Running(Instant),
    /// A poll is due, and its server has as many as it may.
    Queued,
    /// The server reports news by itself.
    Streaming,
}

#[derive(Debug)]
struct Entry {
    server: usize,
    state: State,
    /// When its window with the number 0 begins.
    origin: Instant,
    /// The window of the next poll, or of the one that runs. -1 is the time before the first one.
    window: i64,
    windows: Windows,
    /// How long the last poll took that opened a connection.
    opening: Duration,
    /// Whether the connection was looked at since the last poll.
    checked: bool,
    timer: Option<Instant>,
}

#[derive(Debug, Default)]
struct Server {
    running: usize,
    queue: VecDeque<usize>,
    failures: u32,
    failed_at: Option<Instant>,
    /// No poll before.
    not_before: Option<Instant>,
}

/// The polls of many URLs.
#[derive(Debug)]
pub struct Schedule {
    pace: Pace,
    entries: Vec<Entry>,
    servers: Vec<Server>,
    timers: BTreeSet<(Instant, usize)>,
    random: u64,
}

impl Schedule {
    /// Creates a schedule. `seed` makes its delays differ from those of other programs.
    pub fn new(pace: Pace, seed: u64) -> Schedule {
        let (entries, servers) = (Vec::new(), Vec::new());
        Schedule { pace, entries, servers, timers: BTreeSet::new(), random: seed }
    }

    /// Returns the pace.
    pub fn pace(&self) -> Pace {
        self.pace
    }

    /// Adds a URL of a server and returns its number. Servers are numbered by the caller, from 0.
    pub fn add(&mut self, server: usize, now: Instant) -> usize {
        let number = self.entries.len();
        self.servers.resize_with(self.servers.len().max(server + 1), Server::default);
        // The golden ratio spreads any number of URLs evenly.
        let share = (number as f64 * 0.618_033_988_75).fract();
        let first = now + self.pace.interval.min(Duration::from_secs(1)).mul_f64(share);
        let origin = now + self.pace.interval.mul_f64(share);
        self.entries.push(Entry {
            server,
            state: State::Resting(first),
            origin,
            window: -1,
            windows: Windows::default(),
            opening: Duration::ZERO,
            checked: true,
            timer: None,
        });
        self.set_timer(number, Some(first));
        number
    }

    /// Returns when [`next`](Self::next) should be called: there are several things to do by then.
    pub fn wakes_at(&self) -> Option<Instant> {
        self.timers.first().map(|(at, _)| *at + self.pace.slack())
    }

    /// Returns whether a poll waits for its answer.
    pub fn is_running(&self) -> bool {
        self.servers.iter().any(|server| server.running > 0)
    }

    /// Returns the next step that is due.
    pub fn next(&mut self, now: Instant) -> Option<Step> {
        while let Some((at, number)) = self.timers.first().copied().filter(|(at, _)| *at <= now) {
            self.set_timer(number, None);
            let state = self.entries[number].state;
            match state {
                State::Running(_) => return Some(Step::Abort(number)),
                State::Resting(due) if due > at && !self.entries[number].checked => {
                    self.entries[number].checked = true;
                    self.set_timer(number, Some(due));
                    return Some(Step::Check(number));
                }
                State::Resting(_) if self.begin(number, now) => return Some(Step::Start(number)),
                _ => {}
            }
        }
        None
    }

    /// Starts the poll, unless its server has to be spared.
    fn begin(&mut self, number: usize, now: Instant) -> bool {
        let server = &mut self.servers[self.entries[number].server];
        if let Some(at) = server.not_before.filter(|at| *at > now) {
            self.rest_until(number, at);
            return false;
        }
        // A server that has failed gets one poll at a time until one succeeds.
        let most = if server.failures > 0 { 1 } else { self.pace.per_server };
        if server.running >= most {
            server.queue.push_back(number);
            self.entries[number].state = State::Queued;
            return false;
        }
        server.running += 1;
        self.pass_windows(number, now);
        self.entries[number].state = State::Running(now);
        self.set_timer(number, Some(now + self.pace.deadline));
        true
    }

    /// Polls a URL at once, because its connection is gone: the next one is open when it is needed.
    pub fn reopen(&mut self, number: usize, now: Instant) {
        if matches!(self.entries[number].state, State::Resting(_)) {
            self.rest_until(number, now);
        }
    }

    /// Records an answer, and whether the poll had to open a connection. Returns how long it took.
    /// `watched` says that the caller notices a closed connection by itself ([`lost`](Self::lost)).
    pub fn answered(&mut self, number: usize, now: Instant, opened: bool, watched: bool) -> Duration {
        let State::Running(started) = self.entries[number].state else { return Duration::ZERO };
        let took = now.saturating_duration_since(started);
        let current = self.window_at(number, now);
        let entry = &mut self.entries[number];
        if opened {
            entry.opening = took;
        }
        if current <= entry.window {
            entry.windows.met += u64::from(entry.window >= 0);
            entry.window += 1;
        }
        self.pass_windows(number, now);
        self.forgive(self.entries[number].server);
        self.finish(number, now);
        self.rest(number, now, watched);
        took
    }

    /// Records that a poll failed. `pause` is what the server has asked for.
    pub fn failed(&mut self, number: usize, now: Instant, pause: Option<Duration>) {
        let spread = 1.0 + self.random() / 4.0;
        let started = match self.entries[number].state {
            State::Running(started) => {
                self.finish(number, now);
                started
            }
            _ => now,
        };
        let server = &mut self.servers[self.entries[number].server];
        // Polls that ran at the same time fail for the same reason.
        if server.failed_at.is_none_or(|before| started >= before) {
            server.failures = server.failures.saturating_add(1);
            server.failed_at = Some(now);
            let pause = pause.unwrap_or_else(|| self.pace.pause(server.failures).mul_f64(spread));
            server.not_before = Some(now + pause);
        }
        let at = server.not_before.unwrap_or(now).max(now);
        self.rest_until(number, at);
    }

    /// Records that the server reports news of this URL by itself, until [`failed`](Self::failed).
    pub fn streams(&mut self, number: usize, now: Instant) {
        if !matches!(self.entries[number].state, State::Running(_)) {
            return;
        }
        self.forgive(self.entries[number].server);
        self.finish(number, now);
        self.entries[number].state = State::Streaming;
        self.set_timer(number, None);
    }

    /// Returns whether a URL reports its news by itself.
    pub fn is_streaming(&self, number: usize) -> bool {
        self.entries[number].state == State::Streaming
    }

    /// Returns the windows that have ended until now.
    pub fn windows(&self, number: usize, now: Instant) -> Windows {
        let entry = &self.entries[number];
        let mut windows = entry.windows;
        if entry.state != State::Streaming {
            windows.missed += self.ended_since(number, now);
        }
        windows
    }

    /// Returns how many windows have ended without an answer since the one of the next poll began.
    fn ended_since(&self, number: usize, now: Instant) -> u64 {
        let current = self.window_at(number, now);
        u64::try_from(current - self.entries[number].window.max(0)).unwrap_or(0)
    }

    /// Gives up windows that have ended.
    fn pass_windows(&mut self, number: usize, now: Instant) {
        let (current, missed) = (self.window_at(number, now), self.ended_since(number, now));
        let entry = &mut self.entries[number];
        entry.windows.missed += missed;
        entry.window = entry.window.max(current);
    }

    fn window_at(&self, number: usize, now: Instant) -> i64 {
        let origin = self.entries[number].origin;
        match now.checked_duration_since(origin) {
            None => -1,
            Some(since) => (since.as_nanos() / self.pace.interval.as_nanos().max(1)) as i64,
        }
    }

    fn forgive(&mut self, server: usize) {
        let server = &mut self.servers[server];
        (server.failures, server.failed_at, server.not_before) = (0, None, None);
    }

    /// Frees the place of a poll at its server.
    fn finish(&mut self, number: usize, now: Instant) {
        let server = &mut self.servers[self.entries[number].server];
        server.running = server.running.saturating_sub(1);
        if let Some(next) = server.queue.pop_front() {
            self.rest_until(next, now);
        }
    }

    /// Waits for the next window, or polls at once if that has begun.
    fn rest(&mut self, number: usize, now: Instant, watched: bool) {
        let jitter = self.pace.jitter().mul_f64(self.random());
        let entry = &mut self.entries[number];
        let begin = entry.origin + nth(self.pace.interval, entry.window);
        let due = if begin <= now { now } else { begin + jitter };
        entry.state = State::Resting(due);
        let early = self.early(number, due, now);
        let entry = &mut self.entries[number];
        entry.checked = watched || early == due || due <= now;
        let timer = if entry.checked { due } else { early };
        self.set_timer(number, Some(timer));
    }

    /// Returns when a connection has to be opened for a poll that is due then, to be answered in time.
    fn early(&self, number: usize, due: Instant, now: Instant) -> Instant {
        let lead = (self.entries[number].opening * 5 / 4).min(self.pace.interval * 3 / 4);
        due.checked_sub(lead).unwrap_or(due).max(now)
    }

    /// Records that the connection of a URL was closed between two polls: the next one is open in time.
    pub fn lost(&mut self, number: usize, now: Instant) {
        if let State::Resting(due) = self.entries[number].state {
            self.rest_until(number, self.early(number, due, now));
        }
    }

    fn rest_until(&mut self, number: usize, due: Instant) {
        self.entries[number].state = State::Resting(due);
        self.entries[number].checked = true;
        self.set_timer(number, Some(due));
    }

    fn set_timer(&mut self, number: usize, at: Option<Instant>) {
        if let Some(before) = std::mem::replace(&mut self.entries[number].timer, at) {
            self.timers.remove(&(before, number));
        }
        self.timers.extend(at.map(|at| (at, number)));
    }

    /// Returns a number from 0 up to 1 (splitmix64).
    fn random(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) as f64 / u64::MAX as f64
    }
}

/// Returns `interval` times `count`, without an overflow.
fn nth(interval: Duration, count: i64) -> Duration {
    let nanos = interval.as_nanos().saturating_mul(count.max(0) as u128);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Duration = ms(200);

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// A server in a simulation.
    #[derive(Clone, Copy)]
    struct Peer {
        /// How long an answer takes on an open connection, and to open one.
        answer: Duration,
        opening: Duration,
        /// When it is down, from the start of the simulation.
        down: Option<(Duration, Duration)>,
        /// Whether it hangs while it is down, in place of refusing connections.
        hangs: bool,
    }

    const NEAR: Peer = Peer { answer: ms(20), opening: ms(120), down: None, hangs: false };

    struct Simulation {
        schedule: Schedule,
        peers: Vec<Peer>,
        begun: Instant,
        now: Instant,
        /// When the poll of each URL ends, how, and whether it opened a connection.
        polls: Vec<Option<(Instant, bool, bool)>>,
        open: Vec<bool>,
        starts: Vec<Vec<Duration>>,
        turns: usize,
        /// Whether a closed connection is noticed at once.
        watched: bool,
    }

    impl Simulation {
        fn new(pace: Pace, peers: &[Peer]) -> Simulation {
            let now = Instant::now();
            let mut schedule = Schedule::new(pace, 7);
            peers.iter().enumerate().for_each(|(server, _)| {
                schedule.add(server, now);
            });
            let none = vec![None; peers.len()];
            let (open, starts) = (vec![false; peers.len()], vec![Vec::new(); peers.len()]);
            Simulation {
                schedule,
                peers: peers.to_vec(),
                begun: now,
                now,
                polls: none,
                open,
                starts,
                turns: 0,
                watched: false,
            }
        }

        fn run(&mut self, time: Duration) {
            let until = self.now + time;
            while self.now < until {
                self.turn();
                let ends = self.polls.iter().flatten().map(|(at, ..)| *at);
                let downs = self.peers.iter().filter_map(|peer| Some(self.begun + peer.down?.0));
                let downs = downs.filter(|at| *at > self.now);
                let next = ends.chain(self.schedule.wakes_at()).chain(downs).chain([until]).min();
                self.now = next.unwrap_or(until).max(self.now + Duration::from_micros(10));
            }
        }

        fn turn(&mut self) {
            self.turns += 1;
            for at in 0..self.peers.len() {
                if self.is_down(at) && std::mem::replace(&mut self.open[at], false) && self.watched {
                    self.schedule.lost(at, self.now);
                }
                if let Some((_, good, opened)) = self.polls[at].filter(|(end, ..)| *end <= self.now) {
                    self.polls[at] = None;
                    self.open[at] = good;
                    match good {
                        true => drop(self.schedule.answered(at, self.now, opened, self.watched)),
                        false => self.schedule.failed(at, self.now, None),
                    }
                }
            }
            while let Some(step) = self.schedule.next(self.now) {
                match step {
                    Step::Start(at) => self.start(at),
                    Step::Check(at) if !self.open[at] => self.schedule.reopen(at, self.now),
                    Step::Check(_) => {}
                    Step::Abort(at) => {
                        self.polls[at] = None;
                        self.schedule.failed(at, self.now, None);
                    }
                }
            }
        }

        fn start(&mut self, at: usize) {
            let peer = self.peers[at];
            self.starts[at].push(self.now - self.begun);
            let opens = !self.open[at];
            self.polls[at] = match self.is_down(at) {
                true if peer.hangs => None,
                true => Some((self.now + peer.answer, false, true)),
                false => {
                    let opening = if opens { peer.opening } else { Duration::ZERO };
                    Some((self.now + opening + peer.answer, true, opens))
                }
            };
        }

        fn is_down(&self, at: usize) -> bool {
            let since = self.now - self.begun;
            self.peers[at].down.is_some_and(|(from, to)| from <= since && since < to)
        }

        fn windows(&self, at: usize) -> Windows {
            self.schedule.windows(at, self.now)
        }
    }

    #[test]
    fn each_window_has_one_poll_and_urls_are_spread() {
        let mut world = Simulation::new(Pace::new(WINDOW), &[NEAR; 20]);
        world.run(ms(20_000));
        let mut first: Vec<u128> = world.starts.iter().map(|starts| starts[1].as_millis() % 200).collect();
        for at in 0..20 {
            let Windows { met, missed } = world.windows(at);
            assert_eq!(missed, 0, "{at}");
            assert!((98..=100).contains(&met), "{at}: {met}");
            assert!(world.starts[at].windows(2).all(|two| two[1] - two[0] >= ms(169)), "{at}: too often");
            assert!(world.starts[at][1..].windows(2).all(|two| two[1] - two[0] <= ms(231)), "{at}: too late");
            assert!(world.starts[at].windows(2).any(|two| two[1] - two[0] < ms(195)), "{at}: no jitter");
        }
        first.sort_unstable();
        let gap = first.windows(2).map(|two| two[1] - two[0]).max().unwrap();
        assert!(gap <= 40, "a gap of {gap} ms in {first:?}");
    }

    #[test]
    fn a_hanging_and_a_far_server_hold_up_no_other() {
        let hanging = Peer { down: Some((ms(1000), ms(9000))), hangs: true, ..NEAR };
        let far = Peer { answer: ms(300), opening: ms(900), ..NEAR };
        let mut world = Simulation::new(Pace::new(WINDOW), &[NEAR, hanging, far, NEAR]);
        world.run(ms(20_000));
        for at in [0, 3] {
            assert_eq!(world.windows(at).missed, 0, "{at}");
        }
        assert!((40..=65).contains(&world.windows(1).missed), "{:?}", world.windows(1));
        assert!(world.windows(1).met > 40, "it is polled again: {:?}", world.windows(1));
        assert_eq!(world.windows(2).met, 0, "an answer after 300 ms is never inside a window of 200 ms");
        assert!(world.starts[2].len() > 50, "and yet it is polled: {}", world.starts[2].len());
    }

    #[test]
    fn a_restart_costs_no_more_windows_than_it_lasts() {
        let restarted = Peer { down: Some((ms(5000), ms(5150))), ..NEAR };
        let mut world = Simulation::new(Pace::new(WINDOW), &[restarted; 10]);
        world.run(ms(20_000));
        for at in 0..10 {
            assert!(world.windows(at).missed <= 2, "{at}: {:?}", world.windows(at));
        }
    }

    #[test]
    fn steps_that_are_due_together_need_one_wake_up() {
        let mut world = Simulation::new(Pace::new(WINDOW), &[NEAR; 60]);
        world.run(ms(2000));
        let before = world.turns;
        world.run(ms(2000));
        let (turns, polls) = (world.turns - before, 60 * 10);
        assert!(turns < polls, "{turns} for {polls} polls, each with a start, a check and an answer");
    }

    /// Without the check before the poll, opening a connection (170 ms) and the answer (25 ms) would mostly
    /// miss the window.
    #[test]
    fn a_connection_that_is_gone_is_opened_ahead() {
        let slow = Peer { opening: ms(170), answer: ms(25), down: Some((ms(5047), ms(5048))), ..NEAR };
        for (seed, watched) in (0..10).flat_map(|seed| [(seed, false), (seed, true)]) {
            let mut world = Simulation::new(Pace::new(WINDOW), &[slow]);
            (world.schedule.random, world.watched) = (seed, watched);
            world.run(ms(10_000));
            assert_eq!(world.windows(0).missed, 0, "{seed}, {watched}");
        }
    }

    #[test]
    fn a_server_that_is_down_is_asked_less_and_less() {
        let down = Peer { down: Some((ms(0), ms(600_000))), ..NEAR };
        let mut world = Simulation::new(Pace::new(WINDOW), &[down]);
        world.run(ms(60_000));
        let starts = &world.starts[0];
        assert!((20..=40).contains(&starts.len()), "{}", starts.len());
        let pauses: Vec<Duration> = starts.windows(2).map(|two| two[1] - two[0]).collect();
        assert!(pauses[0] <= ms(60) && *pauses.last().unwrap() >= ms(3200), "{pauses:?}");
        assert!((295..=300).contains(&world.windows(0).missed), "{:?}", world.windows(0));
    }

    #[test]
    fn urls_of_one_server_share_its_limits_and_failures() {
        let now = Instant::now();
        let mut schedule = Schedule::new(Pace { per_server: 2, ..Pace::new(WINDOW) }, 1);
        let added: Vec<usize> = (0..5).map(|_| schedule.add(0, now)).collect();
        assert_eq!(added, [0, 1, 2, 3, 4]);
        let later = now + ms(200);
        let steps: Vec<Step> = std::iter::from_fn(|| schedule.next(later)).collect();
        assert_eq!(steps.len(), 2, "{steps:?}");
        let Step::Start(first) = steps[0] else { panic!("{steps:?}") };
        let Step::Start(second) = steps[1] else { panic!("{steps:?}") };
        schedule.answered(first, later + ms(1), true, false);
        let Some(Step::Start(third)) = schedule.next(later + ms(1)) else { panic!("a place is free") };
        assert_eq!(schedule.next(later + ms(1)), None);
        schedule.failed(second, later + ms(2), None);
        assert_eq!(schedule.next(later + ms(2)), None, "it has failed");
        schedule.failed(third, later + ms(3), None);
        assert_eq!(schedule.servers[0].failures, 1, "both have failed for one reason");
        let again = later + ms(500);
        let steps = std::iter::from_fn(|| schedule.next(again));
        let started = steps.filter(|step| matches!(step, Step::Start(_))).count();
        assert_eq!(started, 1, "one poll finds out");
    }

    #[test]
    fn a_pause_that_the_server_asks_for_is_kept() {
        let now = Instant::now();
        let mut schedule = Schedule::new(Pace::new(WINDOW), 1);
        schedule.add(0, now);
        assert_eq!(schedule.next(now), Some(Step::Start(0)));
        schedule.failed(0, now + ms(10), Some(Duration::from_secs(7)));
        assert_eq!(schedule.next(now + ms(7009)), None);
        assert_eq!(schedule.next(now + ms(7010)), Some(Step::Start(0)), "RFC 9110 §10.2.3: Retry-After");
    }

    #[test]
    fn streams_have_no_windows_and_free_their_place() {
        let now = Instant::now();
        let mut schedule = Schedule::new(Pace { per_server: 1, ..Pace::new(WINDOW) }, 1);
        schedule.add(0, now);
        schedule.add(0, now);
        assert_eq!(schedule.next(now), Some(Step::Start(0)));
        schedule.streams(0, now + ms(5));
        assert!(schedule.is_streaming(0));
        let hour = now + Duration::from_secs(3600);
        assert_eq!(schedule.next(hour), Some(Step::Start(1)));
        assert_eq!(schedule.windows(0, hour), Windows::default());
        schedule.failed(0, hour, None);
        assert_eq!(schedule.next(hour), None);
        assert!(schedule.wakes_at().unwrap() <= hour + ms(60), "a stream that ends is opened again");
    }

    #[test]
    fn a_long_interval_polls_all_in_the_first_second() {
        let now = Instant::now();
        let mut schedule = Schedule::new(Pace::new(Duration::from_secs(600)), 1);
        let added = (0..100).map(|at| schedule.add(at, now)).max();
        assert_eq!(added, Some(99));
        let steps: Vec<Step> = std::iter::from_fn(|| schedule.next(now + ms(1000))).collect();
        assert_eq!(steps.len(), 100);
        assert_eq!(schedule.pace().deadline, Duration::from_secs(60));
        assert_eq!(schedule.windows(0, now + ms(1000)), Windows::default());
    }
}
