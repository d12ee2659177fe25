//! One transfer between the task that asked for it and the driver that runs it.
//!
//! The two have no thread in common: what each leaves for the other lies under a mutex, and whoever waits is
//! woken. Two stocks of body are the most there is: one here, which the task takes as a whole, and one with
//! the engine, which pauses the transfer when it has a window of it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use tables::EasyOption;

use super::error::{Error, Reached};
use super::head::Head;
use super::metrics::Metrics;
use super::multipart::Multipart;
use crate::PlainValue;
use crate::transfers::Upload;

/// What the driver is asked for.
pub(super) enum Order {
    Start(Box<Prepared>, Arc<Call>),
    /// The body that was here has been taken.
    Take(Arc<Call>),
    /// More to send; `None` is the end.
    Feed(Arc<Call>, Option<Vec<u8>>),
    Cancel(Arc<Call>),
}

impl Order {
    /// There is no driver to obey it.
    pub fn refuse(self) {
        if let Order::Start(prepared, call) = self {
            call.fail(Error::no_driver().at(prepared.url, Reached::Nothing));
        }
    }
}

/// A transfer about to begin.
pub(super) struct Prepared {
    pub url: String,
    /// Those of the client come first.
    pub options: Vec<(EasyOption, PlainValue)>,
    pub form: Option<Multipart>,
    pub upload: Upload,
    pub window: usize,
}

/// What the driver and a task know of one transfer.
#[derive(Default)]
pub(super) struct Call(Mutex<State>);

#[derive(Default)]
pub(super) struct State {
    /// Its number with the engine, while it has one.
    pub id: Option<usize>,
    /// Who waits for any of the rest.
    pub waker: Option<Waker>,
    pub head: Option<Head>,
    pub has_had_head: bool,
    pub body: Vec<u8>,
    /// What followed the body in lines.
    pub trailers: Vec<u8>,
    /// The engine has nothing to send.
    pub hungry: bool,
    /// Something to send is on its way to the engine.
    pub feeding: bool,
    pub ended: Option<Result<Metrics, Error>>,
}

impl Call {
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It has ended without ever having begun, or because its driver has.
    pub fn fail(&self, error: Error) {
        let mut state = self.lock();
        state.id = None;
        state.ended.get_or_insert(Err(error));
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}
