//! A session as a pool sees it: it owns its connection, its driver is a task of the multi handle, and both
//! return to the pool when no stream is left.

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;
use std::time::{Duration, Instant};

use runtime::cell::RefCell;
use runtime::{Runtime, boxed};
use wire::h2::Config;

use super::{Driver, Http2, Parked, Stream as OpenStream};
use crate::connection::{About, AnyConnection};
use crate::exchange::{BufferPool, Exchange, Multiplexed, Reservation};
use crate::pool;
use crate::session::{Adopt, Buffer, ReturnWrapper, Session, SessionPlace, Stream, Whole, drive, give_back};

/// Parameters of a session that do not come from its peer.
pub struct Terms {
    /// Our settings.
    pub config: Config,
    /// Maximum number of open streams (CURLMOPT_MAX_CONCURRENT_STREAMS); it may change meanwhile.
    pub most: Rc<Cell<usize>>,
    /// The receive buffer.
    pub buffer: Buffer,
    /// A lock held while the connection is returned.
    pub around: Option<ReturnWrapper>,
}

/// The result of a request of HTTP/1 that asked for the upgrade (RFC 7540 §3.2).
pub struct UpgradeReply {
    /// It was HEAD.
    pub head_only: bool,
    /// Bytes that were received after the response.
    pub received: Vec<u8>,
}

struct Hosted {
    /// The first stream after an upgrade, for the transfer that requested it.
    first: RefCell<Option<OpenStream>>,
    http2: Http2,
    about: Rc<About>,
    most: Rc<Cell<usize>>,
    around: Option<ReturnWrapper>,
    /// When the peer was last probed.
    kept_up: Cell<Instant>,
    /// Without its connection, which the driver has.
    whole: RefCell<Option<Whole>>,
}

/// Runs a session on the connection, the parked one or a new one (for [`Whole::host`]).
pub fn host(mut whole: Whole, terms: Terms, runtime: &Runtime) -> Rc<dyn Session> {
    let about = Rc::new(whole.about().clone());
    let mut connection = whole.take();
    let kept_up = connection.kept_up;
    let parked = connection.state.take().and_then(|memory| memory.take::<Parked>());
    let (http2, driver) = match parked {
        Some(parked) => Http2::resume(connection, *parked),
        None => Http2::new(connection, terms.config.clone()),
    };
    begin(NewSession { http2, driver, first: None, about, kept_up }, whole, terms, runtime)
}

/// Runs a session on a connection that has switched from HTTP/1: the request for that is its first stream.
pub fn host_upgraded(
    mut whole: Whole,
    terms: Terms,
    runtime: &Runtime,
    switched: UpgradeReply,
) -> Rc<dyn Session> {
    let about = Rc::new(whole.about().clone());
    let connection = whole.take();
    let kept_up = connection.kept_up;
    let (http2, driver, stream) = Http2::upgraded(connection, terms.config.clone(), switched);
    begin(NewSession { http2, driver, first: Some(stream), about, kept_up }, whole, terms, runtime)
}

/// A session and its driver.
struct NewSession {
    http2: Http2,
    driver: Driver,
    first: Option<OpenStream>,
    about: Rc<About>,
    kept_up: Instant,
}

fn begin(begun: NewSession, whole: Whole, terms: Terms, runtime: &Runtime) -> Rc<dyn Session> {
    let NewSession { http2, driver, first, about, kept_up } = begun;
    let Terms { most, around, buffer, .. } = terms;
    let (first, whole) = (RefCell::new(first), RefCell::new(Some(whole)));
    let hosted = Rc::new(Hosted { first, http2, about, most, around, kept_up: Cell::new(kept_up), whole });
    runtime.spawn(boxed(|| hosted.clone().run(driver.with_buffer(buffer))));
    hosted
}

impl Hosted {
    /// Runs the driver until the session rests.
    async fn run(self: Rc<Self>, driver: Driver) {
        let mut driver = pin!(driver);
        let mut left = drive(&*self, &self.whole, |cx| driver.as_mut().poll(cx)).await;
        left.connection.kept_up = self.kept_up.get();
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
        self.http2.vacancies().min(self.most.get().saturating_sub(self.http2.streams()))
    }

    fn keep_up(&self, interval: Duration, now: Instant) {
        if now.saturating_duration_since(self.kept_up.get()) >= interval {
            self.kept_up.set(now);
            self.http2.ping([0; 8]);
        }
    }

    fn place(self: Rc<Self>) -> SessionPlace {
        if let Some(opened) = self.first.take() {
            return SessionPlace::Stream(self.adopt(opened));
        }
        let place = Reservation::promised(self.http2.clone());
        SessionPlace::Stream(Box::new(StreamSlot { hosted: self, place: Some(place), opened: None }))
    }
}

impl Session for Hosted {
    fn about(&self) -> &About {
        &self.about
    }
}

impl Adopt for Hosted {
    fn adopt(self: Rc<Self>, stream: OpenStream) -> Box<dyn Stream> {
        let place = Reservation::taken(self.http2.clone());
        Box::new(StreamSlot { hosted: self, place: Some(place), opened: Some(stream) })
    }
}

/// The place of one transfer.
struct StreamSlot {
    hosted: Rc<Hosted>,
    place: Option<Reservation<Http2>>,
    opened: Option<OpenStream>,
}

impl Stream for StreamSlot {
    fn begin(&mut self, buffers: &BufferPool) -> Box<dyn Exchange> {
        let place = self.place.take().unwrap_or_else(|| Reservation::promised(self.hosted.http2.clone()));
        Box::new(Multiplexed::new(place, self.opened.take(), self.hosted.about.clone(), buffers))
    }

    fn retire(&mut self) {
        self.hosted.http2.leave();
    }

    fn adopts(&self) -> Option<Rc<dyn Adopt>> {
        Some(self.hosted.clone())
    }
}
