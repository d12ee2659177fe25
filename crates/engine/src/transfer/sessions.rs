//! Sessions of a transfer: HTTP/2, HTTP/3 or SSH on a connection, driven by the multi handle.

use std::rc::Rc;

use net::http2::{self, Terms, Trace, UpgradeReply};
use net::http3;
use net::session::{ReturnWrapper, Session};
use net::ssh;
use net::{AnyConnection, ByCarrier, Connection, Granted, HttpLease, Lease, QuicWhole, Slot, Whole};
use tables::{Code, EasyOption as O, LockData};
use wire::h2::Config;

use super::Connector;
use super::route::plan::Plan;
use crate::easy::FRAMES;
use crate::error::{Error, Result};

impl Connector {
    /// Resumes the session that was parked on a connection.
    pub(super) fn resume_session(&self, granted: Granted) -> Lease {
        let parked = |connection: &mut Connection| http2::is_parked(connection) || ssh::is_parked(connection);
        match granted.by_carrier() {
            ByCarrier::Quic(whole) => whole.host(|whole| self.run_http3(whole)),
            ByCarrier::Bytes(mut lease) => {
                match lease.whole().is_some_and(|whole| parked(whole.connection())) {
                    false => lease,
                    true => self.host(lease),
                }
            }
        }
    }

    /// Runs a session on a whole connection; a stream is returned as it is.
    fn host(&self, lease: Lease) -> Lease {
        match lease {
            Lease::Whole(whole) => whole.host(|whole| self.run_session(whole)),
            stream => stream,
        }
    }

    /// Puts an opened connection into its slot.
    ///
    /// Not inlined: callbacks of the opening would run below its frame.
    #[inline(never)]
    pub(super) fn place(&self, plan: &Plan, slot: Slot, connection: AnyConnection) -> Lease {
        // The application's own connection is driven by nobody.
        let channels = plan.is_ssh() && !self.on(O::ConnectOnly);
        self.locked(LockData::Connect, || match connection {
            AnyConnection::Quic(connection) => slot.host(connection, |whole| self.run_http3(whole)),
            AnyConnection::Bytes(connection) => {
                let streams =
                    self.replayed.is_none() && plan.may_have_streams() && has_streams(plan, &connection);
                match streams || channels {
                    true => slot.host(connection, |whole| self.run_session(whole)),
                    false => slot.fill(connection),
                }
            }
        })
    }

    /// Runs HTTP/2 or SSH on a connection. The multi handle drives the session.
    pub(super) fn run_session(&self, whole: Whole) -> Rc<dyn Session> {
        match ssh::resume(whole, &self.multi.runtime, || self.around_parking()) {
            Ok(session) => session,
            Err(whole) => http2::host(whole, self.terms(), &self.multi.runtime),
        }
    }

    /// Runs HTTP/3 on a connection over QUIC.
    fn run_http3(&self, whole: QuicWhole) -> Rc<dyn Session> {
        http3::host(whole, self.terms(), &self.multi.runtime)
    }

    /// Runs HTTP/2 on a connection whose server has agreed to the upgrade that a request asked for.
    pub fn switch_to_session(&self, lease: HttpLease, switched: UpgradeReply) -> Result<HttpLease> {
        let run = |whole| http2::host_upgraded(whole, self.terms(), &self.multi.runtime, switched);
        match lease {
            HttpLease::Whole(whole) => {
                let lease: Lease = whole.host(run);
                lease.into_http().ok_or_else(|| Error::from(Code::FailedInit))
            }
            stream => Ok(stream),
        }
    }

    fn terms(&self) -> Terms {
        Terms {
            config: self.http2_config(),
            most: self.multi.streams.most(),
            buffer: self.multi.streams.buffer(),
            around: self.around_parking(),
        }
    }

    /// Returns our settings of HTTP/2.
    pub fn http2_config(&self) -> Config {
        Config { push: self.multi.push_function().is_some(), ..Config::default() }
    }

    /// Returns the function that reports frames to this transfer, if the transfer traces them.
    pub fn trace_of_frames(&self) -> Option<Trace> {
        let wanted = self.easy.callbacks.wants_debug() && self.easy.callbacks.traces(FRAMES);
        let easy = wanted.then(|| Rc::downgrade(&self.easy))?;
        let runtime = self.multi.runtime.clone();
        Some(Rc::new(move |line| {
            let Some(easy) = easy.upgrade() else { return };
            easy.saw_frame(line);
            if let Some(task) = easy.task.get() {
                runtime.wake(task);
            }
        }))
    }

    /// Returns a wrapper around the parking of a session, which happens after its last stream: the lock
    /// functions of the share that gets the connection, called for this handle as long as the handle exists.
    fn around_parking(&self) -> Option<ReturnWrapper> {
        let share = self.easy.share.borrow().clone().filter(|share| share.shares(LockData::Connect))?;
        let easy = Rc::downgrade(&self.easy);
        Some(Rc::new(move |give: &mut dyn FnMut()| {
            let tag = easy.upgrade().map_or(0, |easy| easy.tag.get());
            share.around(LockData::Connect, tag, give);
        }))
    }
}

/// Returns whether HTTP/2 or HTTP/3 is spoken on a connection, by prior knowledge or by its handshake.
fn has_streams(plan: &Plan, connection: &Connection) -> bool {
    let agreed = connection.about.tls.as_ref().and_then(|tls| tls.alpn.as_deref());
    plan.knows_http2() || matches!(agreed, Some("h2"))
}
