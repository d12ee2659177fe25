//! The queue of commands from a client to its driver.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use super::call::Order;
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
    /// Whether the driver is gone.
    pub gone: bool,
}

impl Hub {
    pub fn lock(&self) -> MutexGuard<'_, Inbox> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn order(&self, order: Order) {
        let mut inbox = self.lock();
        if inbox.gone {
            drop(inbox);
            return order.refuse();
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
}

/// The driver's end of the hub.
pub(super) struct Post(pub Arc<Hub>);

impl Drop for Post {
    fn drop(&mut self) {
        let mut inbox = self.0.lock();
        inbox.gone = true;
        let orders = std::mem::take(&mut inbox.orders);
        drop(inbox);
        orders.into_iter().for_each(Order::refuse);
    }
}

/// State shared by the clones of a client, its requests and its responses. The driver ends after the last of
/// them.
pub(super) struct Shared {
    pub hub: Arc<Hub>,
    pub options: Options,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.hub.close();
    }
}
