//! One transfer between the task that asked for it and the driver that runs it.
//!
//! The two have no thread in common: what each leaves for the other lies under a mutex, and whoever waits is woken. Two stocks of
//! body are the most there is: one here, which the task takes as a whole, and one with the engine, which pauses the transfer when it
//! has a window of it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tables::{Code, EasyOption};

use super::Client;
use super::body::Source;
use super::error::{Error, ErrorKind, Reached};
use super::multipart::Multipart;
use super::response::{Head, Metrics};
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

/// The task's side of a transfer. Dropping it breaks the transfer off.
pub(super) struct Running {
    client: Client,
    call: Arc<Call>,
    source: Option<Source>,
    /// There is nothing to break off.
    over: bool,
}

impl Running {
    pub fn start(client: Client, prepared: Prepared, source: Option<Source>) -> Running {
        let call = Arc::<Call>::default();
        client.hub().order(Order::Start(Box::new(prepared), call.clone()));
        Running { client, call, source, over: false }
    }

    /// The last head, or what there was instead of one.
    pub fn poll_head(&mut self, cx: &mut Context<'_>) -> Poll<Result<Head, Error>> {
        if let Err(error) = self.send(cx) {
            return Poll::Ready(Err(error));
        }
        let mut state = self.call.lock();
        // A failure with nothing before it that could be shown is the reply's.
        if state.body.is_empty() && matches!(state.ended, Some(Err(_))) {
            self.over = true;
            return Poll::Ready(Err(state
                .ended
                .take()
                .and_then(Result::err)
                .unwrap_or_else(Error::no_driver)));
        }
        match state.head.take() {
            Some(head) => Poll::Ready(Ok(head)),
            None => {
                wait(&mut state, cx);
                Poll::Pending
            }
        }
    }

    /// The next of the body; an error is the last thing told, and so is the end with its measurements and trailers.
    pub fn poll_body(&mut self, cx: &mut Context<'_>) -> Poll<Result<Piece, Error>> {
        if let Err(error) = self.send(cx) {
            return Poll::Ready(Err(error));
        }
        let mut state = self.call.lock();
        if !state.body.is_empty() {
            let body = std::mem::take(&mut state.body);
            let more = state.ended.is_none();
            drop(state);
            if more {
                self.client.hub().order(Order::Take(self.call.clone()));
            }
            return Poll::Ready(Ok(Piece::Body(body)));
        }
        match state.ended.take() {
            Some(ended) => {
                self.over = true;
                let trailers = std::mem::take(&mut state.trailers);
                Poll::Ready(ended.map(|metrics| Piece::End(metrics, trailers)))
            }
            None => {
                wait(&mut state, cx);
                Poll::Pending
            }
        }
    }

    /// Hands on what the caller's source gives, as long as the engine takes it.
    fn send(&mut self, cx: &mut Context<'_>) -> Result<(), Error> {
        while let Some(source) = &mut self.source {
            let mut state = self.call.lock();
            if state.ended.is_some() {
                self.source = None; // the server has heard enough
                return Ok(());
            }
            if !state.hungry {
                wait(&mut state, cx);
                return Ok(());
            }
            drop(state);
            let piece = match Pin::new(source).poll_next(cx) {
                Poll::Pending => return Ok(()),
                Poll::Ready(None) => None,
                Poll::Ready(Some(Ok(bytes))) if bytes.is_empty() => continue,
                Poll::Ready(Some(Ok(bytes))) => Some(bytes),
                Poll::Ready(Some(Err(error))) => {
                    self.source = None;
                    self.cancel();
                    let message = format!("the source of the body failed: {error}");
                    return Err(Error::new(ErrorKind::Body, Code::ReadError, message).because(error));
                }
            };
            if piece.is_none() {
                self.source = None;
            }
            let mut state = self.call.lock();
            (state.hungry, state.feeding) = (false, true);
            drop(state);
            self.client.hub().order(Order::Feed(self.call.clone(), piece));
        }
        Ok(())
    }

    fn cancel(&mut self) {
        if !std::mem::replace(&mut self.over, true) {
            self.client.hub().order(Order::Cancel(self.call.clone()));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cancel();
    }
}

/// What comes after a head.
pub(super) enum Piece {
    Body(Vec<u8>),
    End(Metrics, Vec<u8>),
}

fn wait(state: &mut State, cx: &Context<'_>) {
    match &mut state.waker {
        Some(waker) => waker.clone_from(cx.waker()),
        none => *none = Some(cx.waker().clone()),
    }
}
