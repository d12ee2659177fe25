//! The driver task of a session: writes output of the channels, reads, and notifies each slot of its news.

use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use runtime::cell::RefCell;
use runtime::{Reactor, Runtime, boxed};

use super::parked::{Parked, is_parked};
use super::{CHANNELS, ChannelSlot, SessionError, Shared, State};
use crate::connection::{About, AnyConnection, Connection};
use crate::pool;
use crate::session::{Rested, ReturnWrapper, Session, SessionPlace, Whole, drive, give_back};

/// Amount read in one poll before the slots run.
const FAIR_SHARE: usize = 256 << 10;
/// New keys after so long (RFC 4253 §9).
const REKEY_AFTER: Duration = Duration::from_secs(3600);

/// A session as a pool knows it.
pub struct Hosted {
    pub(super) state: Shared,
    about: Rc<About>,
    /// Without its connection, which the driver has.
    whole: RefCell<Option<Whole>>,
    around: Option<ReturnWrapper>,
}

/// Runs the session that is parked on the connection (for [`Whole::host`]); returns the connection if none
/// is.
pub fn resume(
    mut whole: Whole,
    runtime: &Runtime,
    around: impl FnOnce() -> Option<ReturnWrapper>,
) -> Result<Rc<dyn Session>, Whole> {
    match is_parked(whole.connection()) {
        true => Ok(host(whole, runtime, around())),
        false => Err(whole),
    }
}

fn host(mut whole: Whole, runtime: &Runtime, around: Option<ReturnWrapper>) -> Rc<dyn Session> {
    let about = Rc::new(whole.about().clone());
    let mut connection = whole.take();
    let parked = connection.state.take().and_then(|memory| memory.take::<Parked>());
    let reactor = runtime.reactor().clone();
    let state = match parked {
        Some(parked) => parked.into_state(reactor.now()),
        None => State::lost(reactor.now()),
    };
    let state = Rc::new(RefCell::new(state));
    let hosted = Rc::new(Hosted { state: state.clone(), about, whole: RefCell::new(Some(whole)), around });
    let driver = Driver { state, connection: Some(connection), reactor };
    runtime.spawn(boxed(|| hosted.clone().run(driver)));
    hosted
}

struct Driver {
    state: Shared,
    connection: Option<Box<Connection>>,
    reactor: Arc<Reactor>,
}

impl Driver {
    /// Ready when no slot is taken and nothing is pending.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut moved = 0;
        loop {
            if self.state.borrow().lost.is_some() {
                return if self.state.borrow().slots == 0 { Poll::Ready(()) } else { self.sleep(cx) };
            }
            self.renew_keys();
            if let Poll::Ready(Err(lost)) = self.poll_write(cx) {
                self.state.borrow_mut().lose(lost);
                continue;
            }
            let state = self.state.borrow();
            if state.slots == 0 && state.session.is_quiet() {
                return Poll::Ready(());
            }
            drop(state);
            match self.poll_read(cx) {
                Poll::Ready(Ok(n)) => moved += n,
                Poll::Ready(Err(lost)) => self.state.borrow_mut().lose(lost),
                Poll::Pending => return self.sleep(cx),
            }
            if moved >= FAIR_SHARE {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
    }

    fn renew_keys(&self) {
        let now = self.reactor.now();
        let mut state = self.state.borrow_mut();
        if now.saturating_duration_since(state.keyed) >= REKEY_AFTER {
            state.keyed = now;
            if let Err(e) = state.session.transport().rekey() {
                state.lose(e.into());
            }
        }
    }

    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), SessionError>> {
        let Some(connection) = &mut self.connection else { return Poll::Pending };
        let mut state = self.state.borrow_mut();
        let had = !state.session.transport().output().is_empty();
        while !state.session.transport().output().is_empty() {
            match ready!(connection.filter().poll_write(cx, state.session.transport().output())) {
                Ok(0) => return Poll::Ready(Err(SessionError::Closed)),
                Ok(n) => state.session.transport().sent(n),
                Err(e) => return Poll::Ready(Err(e.into())),
            }
        }
        if had {
            // There is room again for who has something to send.
            state.wake(|_| true);
        }
        connection.filter().poll_flush(cx).map_err(SessionError::from)
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<usize, SessionError>> {
        let Some(connection) = &mut self.connection else { return Poll::Pending };
        let mut state = self.state.borrow_mut();
        match ready!(connection.filter().poll_read(cx, state.session.transport().space())) {
            Ok(0) => Poll::Ready(Err(SessionError::Closed)),
            Ok(n) => {
                state.session.transport().received(n);
                let taken = state.session.take_in();
                let news = state.session.news();
                state.wake(|id| news.contains(&id));
                if n < super::SMALL {
                    connection.filter().socket().acknowledge();
                }
                Poll::Ready(taken.map(|()| n).map_err(SessionError::from))
            }
            Err(e) => Poll::Ready(Err(e.into())),
        }
    }

    fn sleep(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.state.borrow_mut().driver = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Driver {
    /// Dropped with the multi handle; all waiters are woken.
    fn drop(&mut self) {
        if let Ok(mut state) = self.state.try_borrow_mut() {
            state.lose(SessionError::Abandoned);
        }
    }
}

impl State {
    /// A placeholder for a session that has ended: operations on it fail.
    fn lost(now: std::time::Instant) -> State {
        let transport = ssh::Transport::new(ssh::Config::default());
        let session = ssh::Session::new(transport.expect("the system has random numbers"));
        let lost = Some(SessionError::Abandoned);
        State::new(session, Vec::new(), CHANNELS, now, lost)
    }

    pub(super) fn new(
        session: ssh::Session,
        spare: Vec<super::IdleChannel>,
        most: usize,
        keyed: std::time::Instant,
        lost: Option<SessionError>,
    ) -> State {
        State {
            session,
            driver: None,
            waiting: Vec::new(),
            spare,
            slots: 0,
            most,
            lost,
            retiring: false,
            served: false,
            keyed,
        }
    }
}

impl Hosted {
    /// Runs the driver until the session rests.
    async fn run(self: Rc<Self>, mut driver: Driver) {
        drive(&*self, &self.whole, |cx| driver.poll(cx)).await;
        let Some(connection) = driver.connection.take() else { return };
        let mut state = self.state.borrow_mut();
        let good = state.lost.is_none() && !state.retiring;
        // Remaining users of the session find it lost.
        let rest = std::mem::replace(&mut *state, State::lost(driver.reactor.now()));
        drop(state);
        let left = Rested { connection, session: good.then(|| Parked::of(rest)) };
        give_back(&self.whole, &self.about, left, self.around.as_ref());
    }
}

impl pool::Session for Hosted {
    type Connection = AnyConnection;
    type Place = SessionPlace;

    fn is_by_quic(&self) -> bool {
        false
    }

    fn vacancies(&self) -> usize {
        let state = self.state.borrow();
        if state.lost.is_some() || state.retiring { 0 } else { state.most.saturating_sub(state.slots) }
    }

    fn place(self: Rc<Self>) -> SessionPlace {
        SessionPlace::Channel(ChannelSlot::new(self.clone()))
    }
}

impl Session for Hosted {
    fn about(&self) -> &About {
        &self.about
    }
}
