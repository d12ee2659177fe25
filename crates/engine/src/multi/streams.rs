//! Settings of a multi handle about connections: their number, and streams that several transfers share.

use std::cell::Cell;
use std::rc::Rc;

use net::session::Buffer;
use runtime::cell::RefCell;

use crate::push::PushFunction;

/// Limits of a multi handle (CURLMOPT_*), 0 meaning none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// Maximum number of kept connections; 0 lets it grow with the number of transfers.
    pub max_connects: usize,
    /// Connections to one host.
    pub max_host: usize,
    /// Connections in all.
    pub max_total: usize,
}

/// Most transfers on one connection, by default.
const MOST: usize = 100;

/// How transfers share the connections that carry streams.
pub struct Streams {
    /// The application's function for pushed replies.
    pub push: RefCell<Option<PushFunction>>,
    /// Each transfer has a connection of its own.
    pub apart: Cell<bool>,
    /// Most transfers on one connection.
    pub most: Rc<Cell<usize>>,
    buffer: Buffer,
}

impl Default for Streams {
    /// Returns the streams of a handle as curl_multi_init creates them.
    fn default() -> Streams {
        Streams {
            push: RefCell::default(),
            apart: Cell::new(false),
            most: Rc::new(Cell::new(MOST)),
            buffer: Buffer::default(),
        }
    }
}

impl Streams {
    /// Makes them as new.
    pub fn renew(&mut self) {
        let Streams { push, apart, most, buffer } = self;
        drop(push.take());
        apart.set(false);
        most.set(MOST);
        buffer.forget();
    }

    /// Whether one connection serves several transfers at once.
    pub fn multiplexes(&self) -> bool {
        !self.apart.get()
    }

    /// Returns the receive buffer of their sessions.
    pub fn buffer(&self) -> Buffer {
        self.buffer.clone()
    }

    /// How many at most. It may change.
    pub fn most(&self) -> Rc<Cell<usize>> {
        self.most.clone()
    }
}
