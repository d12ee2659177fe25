//! A session as a pool sees it: it owns its connection, its driver is a task of the multi handle, and both
//! return to the pool when no stream is left.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::rc::Rc;
use std::time::{Duration, Instant};

use runtime::cell::RefCell;
use runtime::{Runtime, boxed};

use super::{Driver, Http3, Parked};
use crate::connection::{About, AnyConnection};
use crate::exchange::{BufferPool, Exchange, Multiplexed, Reservation};
use crate::http2::Terms;
use crate::pool;
use crate::session::{QuicWhole, ReturnWrapper, Session, SessionPlace, Stream, drive, give_back};

struct Hosted {
    http3: Http3,
    about: Rc<About>,
    /// Maximum number of open streams (CURLMOPT_MAX_CONCURRENT_STREAMS); it may change meanwhile.
    most: Rc<Cell<usize>>,
    around: Option<ReturnWrapper>,
    /// Without its connection, which the driver has.
    whole: RefCell<Option<QuicWhole>>,
}

/// Runs the session that is parked on the connection (for [`QuicWhole::host`]).
pub fn host(mut whole: QuicWhole, terms: Terms, runtime: &Runtime) -> Rc<dyn Session> {
    let about = Rc::new(whole.about().clone());
    let mut connection = whole.take();
    let parked = connection.state.take().and_then(|memory| memory.take::<Parked>());
    let Terms { most, around, buffer, .. } = terms;
    let (http3, driver) = Http3::resume(connection, parked.map(|parked| *parked), runtime.reactor(), buffer);

    let hosted = Rc::new(Hosted { http3, about, most, around, whole: RefCell::new(Some(whole)) });
    runtime.spawn(boxed(|| hosted.clone().run(driver)));
    hosted
}

impl Hosted {
    /// Runs the driver until the session rests.
    async fn run(self: Rc<Self>, driver: Driver) {
        let mut driver = pin!(driver);
        let left = drive(&*self, &self.whole, |cx| driver.as_mut().poll(cx)).await;
        give_back(&self.whole, &self.about, left, self.around.as_ref());
    }
}

impl pool::Session for Hosted {
    type Connection = AnyConnection;
    type Place = SessionPlace;

    fn is_by_quic(&self) -> bool {
        self.about.is_by_quic()
    }

    fn vacancies(&self) -> usize {
        self.http3.vacancies().min(self.most.get().saturating_sub(self.http3.streams()))
    }

    fn keep_up(&self, interval: Duration, now: Instant) {
        self.http3.keep_up(interval, now);
    }

    fn place(self: Rc<Self>) -> SessionPlace {
        let place = Reservation::promised(self.http3.clone());
        SessionPlace::Stream(Box::new(StreamSlot { hosted: self, place: Some(place) }))
    }
}

impl Session for Hosted {
    fn about(&self) -> &About {
        &self.about
    }
}

/// The place of one transfer.
struct StreamSlot {
    hosted: Rc<Hosted>,
    place: Option<Reservation<Http3>>,
}

impl Stream for StreamSlot {
    fn begin(&mut self, buffers: &BufferPool) -> Box<dyn Exchange> {
        let place = self.place.take().unwrap_or_else(|| Reservation::promised(self.hosted.http3.clone()));
        Box::new(Multiplexed::new(place, None, self.hosted.about.clone(), buffers))
    }

    fn retire(&mut self) {
        self.hosted.http3.leave();
    }
}
