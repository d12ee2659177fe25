//! The queue of commands from a client to its driver.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use super::call::Order;

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

    /// Returns whether there are commands, or the last client is gone.
    pub fn has_news(&self) -> bool {
        let inbox = self.lock();
        inbox.closed || !inbox.orders.is_empty()
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
