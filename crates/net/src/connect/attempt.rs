//! One attempt: a socket being connected, then the layers on top of it.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use runtime::{Reactor, Sleep, Socket, is_under_way};
use rustix::io::Errno;

use super::eyeballs::AttemptId;
use super::{ConnectRequest, Connected, Endpoints, Stage, Through};
use crate::error::{LayerError, NetError, NetErrorKind};
use crate::filter::open::{Fresh, Target, open};
use crate::sys;

/// Interval between attempts to connect to a Unix socket whose queue is full: no event reports room.
const UNIX_RETRY: Duration = Duration::from_millis(10);

pub struct Attempt<'a, T> {
    pub id: AttemptId,
    /// The real target: the application may have changed it.
    pub target: Target,
    state: State<'a, T>,
}

enum State<'a, T> {
    Waiting(Socket),
    /// A unix socket's queue was full.
    Retry(Socket, Sleep),
    /// The socket, and its addresses if they were requested.
    Connected(Socket, Option<Endpoints>),
    Staged(Through<'a, T>),
    Over,
}

/// The state of an attempt.
pub enum News<T> {
    Connected,
    Through(T),
    /// Not even connected, from this local end.
    Refused(NetError, Option<SocketAddr>),
    Broken(LayerError),
}

impl<'a, T> Attempt<'a, T> {
    /// Creates the socket and starts to connect it.
    pub fn start(
        id: AttemptId,
        target: &Target,
        reactor: &Arc<Reactor>,
        request: &ConnectRequest<'_>,
    ) -> Result<Attempt<'a, T>, NetError> {
        let fresh = open(target, request.transport, request.options, request.local_hosts, request.callbacks)?;
        let Fresh { mut socket, target, already_connected } = fresh;
        let begun = match already_connected {
            true => {
                // The application connected it, perhaps to another place.
                if let Some(peer) = Endpoints::of(&socket).remote {
                    request.options.guard.judge_socket(peer)?;
                }
                ConnectProgress::Connected
            }
            false => try_connect(&socket, &target, reactor)?,
        };
        // Registered after the connect: before it, epoll reports a meaningless hang-up.
        socket.attach(reactor, request.owner);
        Ok(Attempt { id, target, state: begun.state(socket) })
    }

    /// Continues; must be polled again after `Connected`.
    pub fn poll(
        &mut self,
        cx: &mut Context<'_>,
        (reactor, request): (&Arc<Reactor>, &ConnectRequest<'_>),
        stage: &Stage<'a, T>,
    ) -> Poll<News<T>> {
        loop {
            match std::mem::replace(&mut self.state, State::Over) {
                State::Waiting(mut socket) => match socket.poll_connected(cx) {
                    Poll::Ready(Ok(peer)) => {
                        let ends = Endpoints::with_peer(&socket, peer);
                        self.state = State::Connected(socket, Some(ends));
                    }
                    Poll::Ready(Err(e)) => {
                        return Poll::Ready(News::Refused(refused(&e), Endpoints::of(&socket).local));
                    }
                    Poll::Pending => return self.wait(State::Waiting(socket)),
                },
                State::Retry(socket, mut sleep) => match Pin::new(&mut sleep).poll(cx) {
                    Poll::Pending => return self.wait(State::Retry(socket, sleep)),
                    Poll::Ready(()) => match try_connect(&socket, &self.target, reactor) {
                        Ok(begun) => self.state = begun.state(socket),
                        Err(e) => return Poll::Ready(News::Refused(e, None)),
                    },
                },
                State::Connected(socket, ends) => {
                    let endpoints = ends.unwrap_or_else(|| Endpoints::of(&socket));
                    let private = request.callbacks.is_some();
                    let connected_at = reactor.now();
                    self.state = State::Staged(stage(Connected { socket, endpoints, private, connected_at }));
                    return Poll::Ready(News::Connected);
                }
                State::Staged(mut through) => match through.as_mut().poll(cx) {
                    Poll::Ready(Ok(out)) => return Poll::Ready(News::Through(out)),
                    Poll::Ready(Err(fault)) => return Poll::Ready(News::Broken(fault)),
                    Poll::Pending => return self.wait(State::Staged(through)),
                },
                State::Over => return Poll::Pending,
            }
        }
    }

    fn wait(&mut self, state: State<'a, T>) -> Poll<News<T>> {
        self.state = state;
        Poll::Pending
    }
}

/// The result of the connect call.
enum ConnectProgress {
    Waiting,
    Connected,
    Retry(Sleep),
}

impl ConnectProgress {
    fn state<'a, T>(self, socket: Socket) -> State<'a, T> {
        match self {
            ConnectProgress::Waiting => State::Waiting(socket),
            ConnectProgress::Connected => State::Connected(socket, None),
            ConnectProgress::Retry(sleep) => State::Retry(socket, sleep),
        }
    }
}

/// The connect call itself.
fn try_connect(
    socket: &Socket,
    target: &Target,
    reactor: &Arc<Reactor>,
) -> Result<ConnectProgress, NetError> {
    let result = match target {
        Target::Ip(address) => rustix::net::connect(socket, address),
        Target::Unix(address) => sys::connect_unix(socket, address)?,
    };
    match result {
        Ok(()) | Err(Errno::ISCONN) => Ok(ConnectProgress::Connected),
        Err(e) if is_under_way(e) => Ok(ConnectProgress::Waiting),
        Err(Errno::AGAIN) if matches!(target, Target::Unix(_)) => {
            Ok(ConnectProgress::Retry(reactor.sleep(UNIX_RETRY)))
        }
        Err(e) => Err(refused(&e.into())),
    }
}

/// A failed attempt; the message is made at the end, with the time it took altogether.
pub fn refused(e: &io::Error) -> NetError {
    NetError::from_io(NetErrorKind::CouldntConnect, "", e)
}
