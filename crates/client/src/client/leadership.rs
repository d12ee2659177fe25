//! Leader and followers: which thread or task has a client's engine, and who is next.
//!
//! Only these decisions are here; `host` has the lock around them and acts on them. The thread or task that
//! has taken the engine leads, and runs the transfers of all until it puts the engine back. A follower waits
//! for its own transfer and for the engine.

use std::collections::VecDeque;
use std::task::Waker;
use std::time::Instant;

/// The part that runs the engine while no thread waits in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runner {
    /// The background thread, and only if transfers are left alone for a while.
    Callers,
    /// The background thread: futures are polled, whose executors we do not know.
    Thread,
    /// A task in the event loop with this number.
    #[cfg_attr(not(all(unix, feature = "tokio")), expect(dead_code))]
    Task(u64),
}

/// The state of the background thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BackgroundThread {
    /// Not started yet.
    Absent,
    Asleep,
    Awake,
}

/// The next step of the background thread.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step<E> {
    Lead(E),
    /// Look again after a short while.
    Look,
    /// Sleep until woken.
    Sleep,
    End,
}

/// The consequences of putting the engine back.
#[derive(Default)]
pub(super) struct Next {
    /// The follower or task to wake.
    pub wakes: Option<Waker>,
    /// Whether the background thread is needed.
    pub calls_thread: bool,
}

/// Facts about an engine that is put back.
#[derive(Clone, Copy, Default)]
pub(super) struct Facts {
    pub transfers_run: bool,
    /// When the next timer expires.
    pub deadline: Option<Instant>,
}

/// The engine of a client while nobody leads, and who waits for it.
pub(super) struct Leadership<E> {
    engine: Option<E>,
    /// Whether the engine has ended.
    ended: bool,
    followers: VecDeque<Waker>,
    /// Whether a follower was woken that has not taken the engine yet.
    chosen: bool,
    pub runner: Runner,
    /// The task of the event loop, and when its timer wakes it.
    task: Option<(Waker, Option<Instant>)>,
    /// Interrupts the background thread, while it leads.
    thread_leads: Option<Waker>,
    pub thread: BackgroundThread,
    facts: Facts,
    /// How often the engine was taken.
    taken: u64,
}

impl<E> Leadership<E> {
    pub fn new(engine: E) -> Leadership<E> {
        Leadership {
            engine: Some(engine),
            ended: false,
            followers: VecDeque::new(),
            chosen: false,
            runner: Runner::Callers,
            task: None,
            thread_leads: None,
            thread: BackgroundThread::Absent,
            facts: Facts::default(),
            taken: 0,
        }
    }

    /// Takes the engine, unless somebody leads.
    pub fn take(&mut self) -> Option<E> {
        let engine = self.engine.take()?;
        self.taken += 1;
        self.chosen = false;
        Some(engine)
    }

    /// Takes the engine to execute commands, unless somebody leads or a task will: it is woken by the first
    /// of many commands, and sends their requests together.
    pub fn take_for_commands(&mut self) -> Option<E> {
        if matches!(self.runner, Runner::Task(_)) { None } else { self.take() }
    }

    /// Returns the task that commands wake while nobody leads.
    pub fn executor_of_commands(&self) -> Option<Waker> {
        let task = self.task.as_ref().filter(|_| matches!(self.runner, Runner::Task(_)));
        task.map(|(waker, _)| waker.clone())
    }

    /// Takes the engine, or makes the caller a follower: it is woken when the engine is free. The second
    /// value is to be woken then: the background thread gives way.
    pub fn take_or_follow(&mut self, waker: &Waker) -> (Option<E>, Option<Waker>) {
        let engine = self.take();
        if engine.is_some() || self.ended {
            return (engine, None);
        }
        if !self.followers.iter().any(|follower| follower.will_wake(waker)) {
            self.followers.push_back(waker.clone());
        }
        (None, self.thread_leads.take())
    }

    /// Puts the engine back.
    pub fn put(&mut self, engine: E, facts: Facts) -> Next {
        self.engine = Some(engine);
        self.facts = facts;
        self.thread_leads = None;
        self.next()
    }

    /// Removes a follower that no longer waits. If it was already chosen, another one is.
    pub fn withdraw(&mut self, waker: &Waker) -> Next {
        self.followers.retain(|follower| !follower.will_wake(waker));
        if self.engine.is_none() {
            return Next::default();
        }
        self.chosen = false;
        self.next()
    }

    fn next(&mut self) -> Next {
        if let Some(follower) = self.followers.pop_front() {
            self.chosen = true;
            return Next { wakes: Some(follower), calls_thread: false };
        }
        match (self.runner, &self.task) {
            (Runner::Task(_), Some((waker, armed))) => {
                let is_earlier = |deadline| armed.is_none_or(|armed| deadline < armed);
                let late = self.facts.deadline.is_some_and(is_earlier);
                Next { wakes: late.then(|| waker.clone()), calls_thread: false }
            }
            (Runner::Task(_), None) => Next::default(), // it is about to be polled for the first time
            (Runner::Thread, _) => Next { wakes: None, calls_thread: self.thread != BackgroundThread::Awake },
            (Runner::Callers, _) => Next {
                wakes: None,
                calls_thread: self.thread != BackgroundThread::Awake && self.facts.transfers_run,
            },
        }
    }

    /// Records that the engine has ended. Returns all who wait for it.
    pub fn end(&mut self) -> Vec<Waker> {
        self.ended = true;
        let task = self.task.take().map(|(waker, _)| waker);
        self.followers.drain(..).chain(task).collect()
    }

    #[cfg(any(test, all(unix, feature = "tokio")))]
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Notes the task of the event loop, which waits until then.
    #[cfg(all(unix, feature = "tokio"))]
    pub fn set_task(&mut self, waker: &Waker, armed: Option<Instant>) {
        match &mut self.task {
            Some((known, until)) => {
                known.clone_from(waker);
                *until = armed;
            }
            none => *none = Some((waker.clone(), armed)),
        }
    }

    /// Records that the task is gone. Transfers that it ran need the background thread.
    #[cfg(all(unix, feature = "tokio"))]
    pub fn lose_task(&mut self) {
        let task = self.task.take();
        self.chosen = false; // it may have been the task
        if matches!(self.runner, Runner::Task(_)) {
            let needed = self.facts.transfers_run || self.engine.is_none();
            self.runner = if needed { Runner::Thread } else { Runner::Callers };
        }
        drop(task);
    }

    /// Returns the next step of the background thread; `seen` is its memory from one call to the next. It
    /// leads at once for futures. For threads that wait in calls it leads only if nobody has led for the time
    /// between two looks: a caller that reads a body piece by piece is usually back sooner.
    pub fn step(&mut self, seen: &mut u64) -> Step<E> {
        self.thread = BackgroundThread::Awake;
        let changed = std::mem::replace(seen, self.taken) != self.taken;
        let wanted = self.is_for_thread(self.facts.transfers_run);
        let look = self.runner == Runner::Callers && changed;
        match &self.engine {
            _ if self.ended => Step::End,
            _ if look => Step::Look,
            Some(_) if wanted && self.followers.is_empty() && !self.chosen => {
                let engine = self.take().expect("it is there");
                *seen = self.taken;
                Step::Lead(engine)
            }
            _ => {
                self.thread = BackgroundThread::Asleep;
                Step::Sleep
            }
        }
    }

    /// Returns whether the background thread, which leads, continues: nobody else wants to lead, and there is
    /// something to do. `interrupt` wakes it from its wait.
    pub fn thread_goes_on(&mut self, interrupt: &Waker, transfers_run: bool) -> bool {
        let goes_on = self.is_for_thread(transfers_run) && self.followers.is_empty();
        if goes_on && self.thread_leads.is_none() {
            self.thread_leads = Some(interrupt.clone());
        }
        goes_on
    }

    /// Returns whether the background thread runs the engine while no thread waits in a call.
    fn is_for_thread(&self, transfers_run: bool) -> bool {
        match self.runner {
            Runner::Thread => true,
            Runner::Task(_) => false,
            Runner::Callers => transfers_run,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::task::Wake;
    use std::time::Duration;

    use super::*;

    /// Counts how often it is woken.
    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
        }
    }

    fn waker() -> Waker {
        Waker::from(Arc::<Count>::default())
    }

    const IDLE: Facts = Facts { transfers_run: false, deadline: None };
    const BUSY: Facts = Facts { transfers_run: true, deadline: None };

    #[test]
    fn one_leads_and_the_others_follow_in_their_order() {
        let (first, second) = (waker(), waker());
        let mut leadership = Leadership::new("engine");
        let engine = leadership.take().expect("nobody leads");
        assert!(leadership.take().is_none());
        for follower in [&first, &second, &first] {
            let (engine, gives_way) = leadership.take_or_follow(follower);
            assert!(engine.is_none() && gives_way.is_none());
        }
        let next = leadership.put(engine, BUSY);
        assert!(next.wakes.is_some_and(|waker| waker.will_wake(&first)) && !next.calls_thread);
        let (engine, _) = leadership.take_or_follow(&first);
        let next = leadership.put(engine.expect("it was put back"), BUSY);
        assert!(next.wakes.is_some_and(|waker| waker.will_wake(&second)), "once each");
    }

    #[test]
    fn a_follower_that_was_chosen_and_is_done_passes_it_on() {
        let (first, second) = (waker(), waker());
        let mut leadership = Leadership::new(());
        leadership.take();
        leadership.take_or_follow(&first);
        leadership.take_or_follow(&second);
        leadership.put((), BUSY);
        let next = leadership.withdraw(&first);
        assert!(next.wakes.is_some_and(|waker| waker.will_wake(&second)));
        assert!(leadership.withdraw(&second).calls_thread, "nobody waits, and a transfer runs");
    }

    #[test]
    fn a_follower_that_gives_up_while_another_leads_wakes_nobody() {
        let (first, second) = (waker(), waker());
        let mut leadership = Leadership::new(());
        leadership.take();
        leadership.take_or_follow(&first);
        leadership.take_or_follow(&second);
        let next = leadership.withdraw(&first);
        assert!(next.wakes.is_none() && !next.calls_thread);
        assert!(leadership.put((), BUSY).wakes.is_some_and(|waker| waker.will_wake(&second)));
    }

    #[test]
    fn the_thread_is_called_only_for_transfers_that_nobody_waits_for() {
        let mut leadership = Leadership::new(());
        leadership.take();
        assert!(!leadership.put((), IDLE).calls_thread);
        leadership.take();
        assert!(leadership.put((), BUSY).calls_thread);
        leadership.thread = BackgroundThread::Awake;
        leadership.take();
        assert!(!leadership.put((), BUSY).calls_thread, "it looks by itself");
    }

    #[test]
    fn the_thread_leads_when_the_callers_have_left_transfers_alone() {
        let (mut leadership, mut seen) = (Leadership::new(()), 0);
        leadership.take();
        leadership.put((), BUSY);
        assert_eq!(leadership.step(&mut seen), Step::Look, "somebody has just led");
        assert_eq!(leadership.step(&mut seen), Step::Lead(()));
        let interrupt = waker();
        assert!(leadership.thread_goes_on(&interrupt, true));
        let (engine, gives_way) = leadership.take_or_follow(&waker());
        assert!(engine.is_none() && gives_way.is_some_and(|waker| waker.will_wake(&interrupt)));
        assert!(!leadership.thread_goes_on(&interrupt, true), "a caller wants to lead");
        assert!(leadership.put((), BUSY).wakes.is_some());
        assert_eq!(leadership.step(&mut seen), Step::Sleep, "the caller is about to take it");
        assert_eq!(leadership.thread, BackgroundThread::Asleep);
    }

    #[test]
    fn the_thread_sleeps_while_nothing_runs_and_ends_with_the_engine() {
        let (mut leadership, mut seen) = (Leadership::new(()), 0);
        assert_eq!(leadership.step(&mut seen), Step::Sleep);
        leadership.runner = Runner::Thread;
        assert_eq!(leadership.step(&mut seen), Step::Lead(()), "futures are never looked at twice");
        assert!(leadership.thread_goes_on(&waker(), false));
        let (_, gives_way) = leadership.take_or_follow(&waker());
        assert!(gives_way.is_some());
        assert_eq!(leadership.end().len(), 1);
        assert_eq!(leadership.step(&mut seen), Step::End);
        assert!(leadership.take_or_follow(&waker()).0.is_none() && leadership.has_ended());
    }

    #[cfg(all(unix, feature = "tokio"))]
    #[test]
    fn a_task_executes_commands_and_is_woken_for_an_earlier_timer() {
        let (mut leadership, task, now) = (Leadership::new(()), waker(), Instant::now());
        leadership.runner = Runner::Task(7);
        leadership.set_task(&task, Some(now + Duration::from_secs(9)));
        assert!(leadership.take_for_commands().is_none());
        assert!(leadership.executor_of_commands().is_some_and(|waker| waker.will_wake(&task)));
        for (seconds, wakes) in [(10, false), (8, true)] {
            leadership.take();
            let deadline = Some(now + Duration::from_secs(seconds));
            let next = leadership.put((), Facts { transfers_run: true, deadline });
            assert_eq!((next.wakes.is_some(), next.calls_thread), (wakes, false));
        }
        leadership.lose_task();
        assert_eq!(leadership.runner, Runner::Thread, "transfers go on without their runtime");
        assert!(leadership.take_for_commands().is_some());
    }

    #[cfg(all(unix, feature = "tokio"))]
    #[test]
    fn the_next_runtime_may_have_the_task_when_nothing_ran() {
        let mut leadership = Leadership::new(());
        leadership.runner = Runner::Task(7);
        leadership.set_task(&waker(), None);
        leadership.lose_task();
        assert_eq!(leadership.runner, Runner::Callers);
    }
}
