//! A session as a pool knows it: it has its connection whole, its driver is a task of the multi handle, and both go back to
//! the pool when no stream is left.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::time::{Duration, Instant};

use runtime::Runtime;

use super::driver::Rested;
use super::{Driver, Http3, Parked, Place};
use crate::connection::{About, Connection, Memory};
use crate::exchange::streams::Multiplexed;
use crate::exchange::{Exchange, Storage};
use crate::http2::{self, Around, Terms};
use crate::lease::Whole;
use crate::session::{Place as SessionPlace, Session, Stream};

struct Hosted {
    http3: Http3,
    about: Rc<About>,
    /// How many streams may be open at once (CURLMOPT_MAX_CONCURRENT_STREAMS); it may change meanwhile.
    most: Rc<Cell<usize>>,
    around: Option<Around>,
    /// Without its connection, which the driver has.
    whole: RefCell<Option<Whole>>,
}

/// Whether a session is parked on the connection.
pub fn is_parked(connection: &mut Connection) -> bool {
    connection.state.as_mut().is_some_and(|memory| memory.see::<Parked>().is_some())
}

/// For [`Whole::host`]: runs the session on the connection that is parked there.
pub fn host(mut whole: Whole, terms: Terms, runtime: &Runtime) -> Rc<dyn Session> {
    let about = Rc::new(whole.about().clone());
    let mut connection = whole.take();
    let parked = connection.state.take().and_then(|memory| memory.take::<Parked>());
    let (http3, driver) = Http3::resume(connection, parked.map(|parked| *parked), runtime.reactor());
    let Terms { most, around, .. } = terms;
    let hosted = Rc::new(Hosted { http3, about, most, around, whole: RefCell::new(Some(whole)) });
    runtime.spawn(Box::pin(drive(hosted.clone(), driver)));
    hosted
}

/// Drives a session to its rest. Whoever waits for a stream is told when there may be one.
async fn drive(hosted: Rc<Hosted>, driver: Driver) {
    let mut driver = pin!(driver);
    let rested = poll_fn(|cx| {
        let step = driver.as_mut().poll(cx);
        if step.is_pending() && hosted.vacancies() > 0 {
            hosted.whole.borrow().iter().for_each(Whole::tell_room);
        }
        step
    });
    let rested = rested.await;
    hosted.give_back(rested);
}

impl Hosted {
    fn give_back(&self, rested: Rested) {
        let Some(mut whole) = self.whole.take() else { return };
        whole.restore(rested.connection);
        let stays = rested.session.is_some();
        whole.connection().state = rested.session.map(|parked| Box::new(parked) as Box<dyn Memory>);
        let mut whole = Some(whole);
        let mut give = || match whole.take() {
            Some(whole) if stays => whole.release(),
            other => other.into_iter().for_each(Whole::retire),
        };
        match &self.around {
            Some(around) => around(&mut give),
            None => give(),
        }
    }
}

impl Session for Hosted {
    fn about(&self) -> &About {
        &self.about
    }

    fn vacancies(&self) -> usize {
        self.http3.vacancies().min(self.most.get().saturating_sub(self.http3.streams()))
    }

    fn keep_up(&self, interval: Duration, now: Instant) {
        self.http3.keep_up(interval, now);
    }

    fn place(self: Rc<Self>) -> SessionPlace {
        let place = self.http3.place();
        SessionPlace::Stream(Box::new(Seat { hosted: self, place: Some(place) }))
    }

    /// Nothing is pushed here (no MAX_PUSH_ID is ever sent): a stream of another session has no place in this one.
    fn adopt(self: Rc<Self>, stream: http2::Stream) -> SessionPlace {
        drop(stream);
        self.place()
    }
}

/// The place of one transfer.
struct Seat {
    hosted: Rc<Hosted>,
    place: Option<Place>,
}

impl Stream for Seat {
    fn begin(&mut self, storage: Storage) -> Box<dyn Exchange> {
        let place = self.place.take().unwrap_or_else(|| self.hosted.http3.place());
        Box::new(Multiplexed::new(place, None, self.hosted.about.clone(), storage))
    }

    fn retire(&mut self) {
        self.hosted.http3.leave();
    }
}
