//! One transfer, shared by the task that requested it and the driver that runs it.
//!
//! The two may be on different threads: what they exchange is under a mutex, and the waiting side is woken.
//! At most two buffers of body exist: one here, which the task takes as a whole, and one in the engine, which
//! pauses the transfer when the buffer exceeds the window. A task that wants all of the body waits for its
//! end instead, without a window.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use bytes::Bytes;
use tables::EasyOption;

use super::error::{Error, RequestPhase};
use super::head::Head;
use super::multipart::Form;
use super::timings::Timings;
use crate::transfers::{Choices, Upload};
use crate::{AccessPolicy, PlainValue, Reasons, Url, Why};

/// A command for the driver.
pub(super) enum Order {
    Start(Box<Prepared>, Arc<Call>),
    /// The task has taken the body that was buffered here.
    Take(Arc<Call>),
    /// The task wants the rest of the body at its end, and none before.
    Collect(Arc<Call>),
    /// More data to upload; `None` is the end.
    Feed(Arc<Call>, Option<Bytes>),
    Cancel(Arc<Call>),
}

impl Order {
    /// Fails the transfer because no driver runs, for this reason.
    pub fn refuse(self, reason: &str) {
        if let Order::Start(prepared, call) = self {
            call.fail(Error::no_driver(reason).at(prepared.url, RequestPhase::Nothing));
        }
    }
}

/// A transfer that is ready to start.
pub(super) struct Prepared {
    pub stall_limit: Option<Duration>,
    pub explain: Reasons,
    pub choices: Choices,
    pub access_policy: Option<AccessPolicy>,
    pub url: Url,
    /// Whether content codings are decoded.
    pub decodes: bool,
    /// Options of the client, followed by those of the request.
    pub options: Vec<(EasyOption, PlainValue)>,
    pub form: Option<Form>,
    pub upload: Upload,
    pub window: usize,
}

/// The state of one transfer that the driver and a task share.
#[derive(Default)]
pub(super) struct Call(Mutex<State>);

#[derive(Default)]
pub(super) struct State {
    /// The engine's number for the transfer, while it has one.
    pub id: Option<usize>,
    /// The task that waits for a change of this state.
    pub waker: Option<Waker>,
    pub head: Option<Box<Head>>,
    pub has_had_head: bool,
    /// Whether the head itself shows that the body follows it: no redirect, challenge or interim reply.
    pub body_follows: bool,
    /// Whether the head's content codings are decoded.
    pub decodes: bool,
    pub body: Vec<u8>,
    /// Whether the rest of the body comes here at its end.
    pub collects: bool,
    /// Trailer lines received after the body.
    pub trailers: Vec<u8>,
    /// Whether the engine waits for upload data.
    pub wants_upload: bool,
    /// Whether upload data is on its way to the engine.
    pub upload_is_queued: bool,
    pub ended: Option<Result<Timings, Error>>,
    /// The reasons of the transfer, once it has ended.
    pub why: Option<Box<Why>>,
}

impl Call {
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the transfer with an error: it never started, or its driver has ended.
    pub fn fail(&self, error: Error) {
        let mut state = self.lock();
        state.id = None;
        state.ended.get_or_insert(Err(error));
        let waker = state.waker.take();
        drop(state);
        waker.into_iter().for_each(Waker::wake);
    }
}
