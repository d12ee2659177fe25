//! The queue of commands from a client to its driver, which starts with the first command.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use engine::Share;
use engine::process_pool::Pool;
use http::HeaderMap;

use super::call::Order;
use super::config::Config;
use super::options::Options;

/// State shared by a client and its driver.
#[derive(Default)]
pub(super) struct Hub(Mutex<Inbox>);

#[derive(Default)]
pub(super) struct Inbox {
    pub orders: VecDeque<Order>,
    /// The waker of a driver that waits.
    pub driver: Option<Waker>,
    /// Whether all clients are gone.
    pub closed: bool,
    /// Why there is no driver, once there is none.
    pub gone: Option<String>,
}

impl Hub {
    pub fn lock(&self) -> MutexGuard<'_, Inbox> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn order(&self, order: Order) {
        let mut inbox = self.lock();
        if let Some(reason) = inbox.gone.clone() {
            drop(inbox);
            return order.refuse(&reason);
        }
        inbox.orders.push_back(order);
        let driver = inbox.driver.take();
        drop(inbox);
        driver.into_iter().for_each(Waker::wake);
    }

    /// Records that the last client is gone.
    pub fn close(&self) {
        let mut inbox = self.lock();
        inbox.closed = true;
        let driver = inbox.driver.take();
        drop(inbox);
        driver.into_iter().for_each(Waker::wake);
    }

    /// Sets which driver to wake from now on.
    pub fn set_driver(&self, waker: Option<&Waker>) {
        let before = std::mem::replace(&mut self.lock().driver, waker.cloned());
        drop(before);
    }

    /// Refuses all commands from now on. The last reason counts.
    pub fn refuse(&self, reason: &str) {
        let mut inbox = self.lock();
        inbox.gone = Some(reason.to_owned());
        let orders = std::mem::take(&mut inbox.orders);
        drop(inbox);
        orders.into_iter().for_each(|order| order.refuse(reason));
    }
}

/// The driver's end of the hub.
pub(super) struct Post(pub Arc<Hub>);

impl Drop for Post {
    fn drop(&mut self) {
        self.0.refuse("the client's driver has ended");
    }
}

/// A function that starts a client's driver.
type Start = Box<dyn FnOnce() -> std::io::Result<()> + Send>;

/// Cookies and what else handles share, and the pool of connections.
pub(super) type Stores = (Option<Share>, Option<Pool>);

/// State shared by the clones of a client, its requests and its responses. The driver ends after the last of
/// them.
pub(super) struct Shared {
    pub hub: Arc<Hub>,
    pub options: Options,
    pub headers: HeaderMap,
    /// The share and the pool, for transfers outside the driver.
    #[cfg_attr(not(feature = "download"), expect(dead_code))]
    pub stores: Stores,
    launch: Launch,
}

/// The start of a driver that the client runs itself.
struct Launch {
    is_done: AtomicBool,
    start: Mutex<Option<Start>>,
    /// The process in which the driver's thread is: a forked child has a number of its own.
    generation: u64,
}

impl Shared {
    /// `start` runs before the first command; `None` if the user runs the driver.
    pub fn new(hub: Arc<Hub>, config: Config, stores: Stores, start: Option<Start>) -> Shared {
        let launch = Launch {
            is_done: AtomicBool::new(start.is_none()),
            start: Mutex::new(start),
            generation: engine::fork_generation(),
        };
        let Config { options, headers, .. } = config;
        Shared { hub, options, headers, stores, launch }
    }

    /// Passes a command to the driver, and starts the driver before the first one.
    pub fn order(&self, order: Order) {
        if !self.launch.is_done.load(Ordering::Acquire) {
            self.start();
        }
        if self.launch.generation != engine::fork_generation() {
            return order
                .refuse("the client's thread is in the parent process: create a client in the child");
        }
        self.hub.order(order);
    }

    /// Other threads wait here until the driver exists, so that no command is lost if it cannot start.
    #[cold]
    fn start(&self) {
        let mut start = self.launch.start.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(start) = start.take()
            && let Err(error) = start()
        {
            self.hub.refuse(&format!("the client's thread cannot start: {error}"));
        }
        self.launch.is_done.store(true, Ordering::Release);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.hub.close();
    }
}
