//! The engine in a simulated world with a random clock, network and application. Each seed is one world with
//! peers (HTTP/1, HTTP/2, FTP) that reply correctly, oddly or not at all, sockets that accept little, and an
//! application that makes any allowed call at any moment. Invariants: every transfer ends once, with the
//! right bytes or a correct error; no credentials are sent to the wrong server; limits are held; no
//! connection outlives its handle; there is no busy loop.
//!
//! `SEEDS=n` sets the number of worlds (2,000), `FROM=n` the first one; `PLAN=seed:steps:calm` runs a single
//! one, as named by a failure.

mod application;
#[allow(dead_code)]
#[path = "../../../wire/src/h2/fields.rs"]
mod fields;
mod ftp;
#[allow(dead_code, unused_imports)]
#[path = "../../../wire/src/h2/hpack/mod.rs"]
mod hpack;
mod http;
mod http2;
mod network;
#[path = "../../../wire/src/static_fields.rs"]
mod static_fields;

use std::cell::{Cell, RefCell};
use std::os::fd::RawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use runtime::ManualClock;
use tables::Code;
use warmwire_engine::multi::Limits;
use warmwire_engine::{Clock, Easy, Interest, Multi, SocketHook};

use application::{App, Callee, Want, log, may_be};
use network::Network;

/// Runs of tasks in a row that find something to do without anything having come: more is a busy loop.
const TURNS: usize = 200;
/// Steps that a world may take to end without further actions.
const PATIENCE: usize = 400_000;

/// One world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plan {
    seed: u64,
    /// Number of the application's actions.
    steps: usize,
    /// Whether peers reply correctly, and callbacks never fail.
    calm: bool,
}

/// A handle and its expected results.
struct TransferCase {
    easy: Easy,
    app: Rc<App>,
    inside: bool,
}

/// The reports to the application's event loop, in order of the first one: descriptor numbers also depend on
/// concurrent worlds.
#[derive(Default)]
struct ReportedInterests(Mutex<Vec<(RawFd, Interest)>>);

impl SocketHook for ReportedInterests {
    fn changed(&self, fd: RawFd, interest: Interest, _: u64) {
        let mut interests = self.0.lock().unwrap();
        let known = interests.iter().position(|(known, _)| *known == fd);
        match (known, interest.is_empty()) {
            (Some(at), true) => drop(interests.remove(at)),
            (Some(at), false) => interests[at].1 = interest,
            (None, true) => {}
            (None, false) => interests.push((fd, interest)),
        }
    }
}

struct World {
    network: Rc<RefCell<Network>>,
    multi: Multi,
    hand: ManualClock,
    handles: Vec<TransferCase>,
    /// In event mode, the interests that the socket callback was given.
    interests: Option<Arc<ReportedInterests>>,
    timer: Rc<Cell<Option<u64>>>,
    limits: Limits,
    calm: bool,
}

impl World {
    fn new(plan: Plan) -> World {
        let network = Rc::new(RefCell::new(Network::new(plan.seed, plan.calm)));
        let (clock, hand) = Clock::manual();
        let multi = Multi::new(clock, false);
        let roll = |sides| network.borrow_mut().shared.dice.roll(sides);
        let limits = Limits { max_connects: roll(4), max_host: roll(3), max_total: [0, 0, 1, 3][roll(4)] };
        multi.set_limits(limits);
        log(|| format!("{limits:?}"));
        let timer = Rc::new(Cell::new(None));
        let interests = (roll(2) == 0).then(|| {
            let interests = Arc::new(ReportedInterests::default());
            multi.set_socket_hook(Some(interests.clone()));
            let to = timer.clone();
            multi.set_timer(Some(Rc::new(move |ms| {
                to.set(ms);
                true
            })));
            interests
        });
        World { network, multi, hand, handles: Vec::new(), interests, timer, limits, calm: plan.calm }
    }

    fn roll(&self, sides: usize) -> usize {
        self.network.borrow_mut().shared.dice.roll(sides)
    }

    /// One thing that an application does.
    fn act(&mut self) {
        let (at, what) = (self.roll(self.handles.len().max(1)), self.roll(14));
        log(|| format!("act {what} on {at} of {}", self.handles.len()));
        match what {
            0..=3 if self.handles.len() < 8 => {
                let want = Want::any(&mut self.network.borrow_mut());
                let app = App::new(&self.network, want);
                let easy = Easy::new(Rc::new(Callee(app.clone())));
                app.dress(&easy);
                app.know(Some(&easy));
                self.handles.push(TransferCase { easy, app, inside: false });
                self.add(self.handles.len() - 1);
            }
            _ if self.handles.is_empty() => {}
            4 | 5 => self.add(at),
            6 => self.remove(at),
            7 => drop(self.handles[at].easy.pause(4 | 1)),
            8 | 9 => drop(self.handles[at].easy.pause(0)),
            10 if !self.handles[at].inside => {
                let want = Want::any(&mut self.network.borrow_mut());
                let held = &self.handles[at];
                held.easy.reset();
                *held.app.want.borrow_mut() = want;
                held.app.dress(&held.easy);
            }
            11 if self.handles.len() < 8 => {
                let want = self.handles[at].app.want.borrow().clone();
                let app = App::new(&self.network, want);
                let easy = self.handles[at].easy.duplicate(Rc::new(Callee(app.clone())));
                app.know(Some(&easy));
                self.handles.push(TransferCase { easy, app, inside: false });
                self.add(self.handles.len() - 1);
            }
            12 => self.clean_up(at),
            13 => self.multi.close_idle(),
            _ => {}
        }
    }

    fn add(&mut self, at: usize) {
        let held = &mut self.handles[at];
        if !held.inside {
            held.app.fresh();
            held.inside = true;
            assert_eq!(self.multi.add(&held.easy).id(), 0);
        }
    }

    fn remove(&mut self, at: usize) {
        let held = &mut self.handles[at];
        held.inside = false;
        self.multi.remove(&held.easy);
    }

    fn clean_up(&mut self, at: usize) {
        let held = self.handles.swap_remove(at);
        held.easy.close();
        held.app.know(None);
    }

    /// The engine has its turn, in one of the ways to drive it.
    fn turn(&mut self) {
        match self.interests.clone() {
            None => drop(self.multi.perform()),
            Some(interests) => {
                let mut rows = interests.0.lock().unwrap().clone();
                while !rows.is_empty() {
                    let (fd, want) = rows.swap_remove(self.roll(rows.len()));
                    // Readiness is sometimes reported falsely, and sometimes late.
                    if self.roll(4) > 0 {
                        self.multi.socket_action(Some(fd), want, self.roll(20) == 0);
                    }
                }
                if self.timer.get() == Some(0) {
                    self.timer.set(None);
                    self.multi.socket_action(None, Interest::NONE, false);
                }
            }
        }
        let mut turns = 0;
        while self.multi.timeout() == Some(Duration::ZERO) {
            turns += 1;
            assert!(turns < TURNS, "turns for nothing");
            match self.interests {
                None => drop(self.multi.perform()),
                Some(_) => drop(self.multi.socket_action(None, Interest::NONE, false)),
            }
        }
        self.check();
    }

    /// Checks what must hold between any two turns.
    fn check(&mut self) {
        while let Some((message, _)) = self.multi.next_message() {
            let same = |held: &&mut TransferCase| std::ptr::eq(held.easy.state(), message.easy.state());
            let held = self.handles.iter_mut().find(same).expect("a message of a handle that is there");
            assert!(held.inside, "a message of a handle that is not inside");
            held.inside = false;
            log(|| format!("{:?} of {}", message.code, held.app.want.borrow().url));
            judge(&held.app, message.code, self.calm, &message.easy.state().message());
            self.multi.remove(&message.easy);
        }
        let network = self.network.borrow();
        assert!(network.shared.faults.is_empty(), "{:?}", network.shared.faults);
        let held: i64 = network.held().map(|(_, held)| held).sum();
        assert!(
            self.limits.max_total == 0 || held <= self.limits.max_total as i64,
            "{held} connections in all"
        );
        for (host, held) in network.held() {
            assert!(self.limits.max_host == 0 || held <= self.limits.max_host as i64, "{held} to {host:?}");
        }
    }

    /// Time passes: as much as the engine waits for, or less, and in a world that is not calm now and then an
    /// hour.
    fn pass(&mut self) {
        let next = self.multi.timeout().unwrap_or(Duration::from_millis(200));
        let jump = self.network.borrow_mut().shared.odd(500);
        let by = match self.roll(3) {
            _ if jump => Duration::from_secs(3600),
            // Peers are slow here, but not so slow.
            _ if self.calm => next.min(Duration::from_millis(20)),
            0 => next / 2,
            _ => next.min(Duration::from_secs(5)) + Duration::from_millis(1),
        };
        self.hand.advance(by);
        // Expired timers fire at once.
        if self.timer.get().is_some_and(|ms| Duration::from_millis(ms) <= by) {
            self.timer.set(Some(0));
        } else if let Some(ms) = self.timer.get() {
            self.timer.set(Some(ms - by.as_millis() as u64));
        }
    }

    fn run(&mut self, plan: Plan) {
        for _ in 0..plan.steps {
            self.act();
            for _ in 0..self.roll(6) {
                self.go_on();
            }
        }
        self.handles.iter().for_each(|held| held.app.ending.set(true));
        for turn in 0.. {
            if self.multi.running() == 0 {
                break;
            }
            assert!(turn < PATIENCE, "does not end");
            for held in &self.handles {
                let _ = held.easy.pause(0);
            }
            self.go_on();
            // A transfer that may wait forever is aborted.
            if !self.calm && turn > 20_000 {
                (0..self.handles.len()).for_each(|at| self.remove(at));
            }
        }
        assert!(self.handles.iter().all(|held| !held.inside), "a transfer ended without a word");
        self.multi.close();
        for held in self.handles.drain(..) {
            held.easy.close();
            held.app.know(None);
        }
        self.network.borrow_mut().settle();
        let network = self.network.borrow();
        for (host, count) in &network.open {
            let left = count.load(Ordering::SeqCst);
            assert_eq!(left, 0, "connections to {host:?} are left");
        }
    }

    fn go_on(&mut self) {
        let mut moved = false;
        for _ in 0..=self.roll(8) {
            moved |= self.network.borrow_mut().step();
        }
        self.turn();
        if !moved || self.roll(30) == 0 {
            self.pass();
        }
    }
}

/// Whether that end is a true one.
fn judge(app: &App, code: Code, calm: bool, message: &str) {
    let want = app.want.borrow();
    let context = || format!("{} of {}: {code:?} {message}", want.url, want.body.len());
    let gave_up = app.gave_up.get();
    if code == Code::Ok {
        let body = app.body.borrow();
        // As with curl, a head that ends with the connection, between two of its lines, is one of a reply
        // without a body.
        let headless = !calm && body.is_empty() && want.url.starts_with("http") && !want.by_http2();
        assert!(
            headless || *body == want.body,
            "wrong bytes, {} of {}: {}",
            body.len(),
            want.body.len(),
            context()
        );
    } else if gave_up {
        let own = matches!(code, Code::WriteError | Code::AbortedByCallback);
        assert!(own || may_be(code, &want), "{}", context());
    } else {
        assert!(!calm, "calm, but {}", context());
        assert!(may_be(code, &want), "{}", context());
    }
}

/// Returns the fault of this world, if there is one.
fn fault(plan: Plan) -> Option<String> {
    let world = catch_unwind(AssertUnwindSafe(|| World::new(plan).run(plan)));
    let payload = world.err()?;
    let text = payload.downcast_ref::<String>().cloned();
    Some(text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default())
}

/// Returns the smallest plan of this seed that also fails.
fn shrunk(plan: Plan) -> Plan {
    let mut best = plan;
    for calm in [true, false] {
        for steps in 1..=best.steps {
            let smaller = Plan { steps, calm, ..plan };
            if fault(smaller).is_some() {
                best = smaller;
                break;
            }
        }
        if best != plan {
            break;
        }
    }
    best
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().map_or(otherwise, |text| text.parse().expect("a number"))
}

#[test]
fn every_world_ends_well() {
    if let Ok(one) = std::env::var("PLAN") {
        let words: Vec<&str> = one.split(':').collect();
        let plan = Plan {
            seed: words[0].parse().unwrap(),
            steps: words[1].parse().unwrap(),
            calm: words[2] == "true",
        };
        World::new(plan).run(plan);
        return;
    }
    std::panic::set_hook(Box::new(|_| {}));
    let (from, count) = (number("FROM", 1), number("SEEDS", 2000));
    let plan = |seed| Plan { seed, steps: 40, calm: seed % 3 == 0 };
    let next = AtomicU64::new(from);
    let worker = || {
        let seeds = std::iter::repeat_with(|| next.fetch_add(1, Ordering::SeqCst));
        let seeds = seeds.take_while(|seed| *seed < from + count);
        let found = seeds.map(plan).find_map(|plan| fault(plan).map(|text| (plan, text)));
        found.inspect(|_| next.store(from + count, Ordering::SeqCst)) // the others may stop
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let found = std::thread::scope(|scope| {
        let running: Vec<_> = (0..workers).map(|_| scope.spawn(worker)).collect();
        running
            .into_iter()
            .filter_map(|one| one.join().expect("faults are caught"))
            .min_by_key(|(plan, _)| plan.seed)
    });
    let Some((plan, text)) = found else { return };
    let small = shrunk(plan);
    let again = fault(small).unwrap_or(text);
    let _ = std::panic::take_hook();
    panic!("PLAN={}:{}:{}: {again}", small.seed, small.steps, small.calm);
}
