//! What a protocol handler works with: it is one async function that gets a [`Transfer`], and what keeps it short stands in
//! the modules beside this one. No protocol is known here.

pub mod ask;
pub mod auth;
pub mod body;
pub mod client_reader;
pub mod client_writer;
pub mod connect;
pub mod dialogue;
mod gssapi;
pub mod http;
pub mod login;
mod look_up;
pub mod negotiate;
pub mod next;
mod over_https;
pub mod plan;
pub mod prepare;
pub mod proxy;
mod quic;
pub mod rate_limit;
mod replay;
pub mod sasl;
pub mod secret;
mod secure;
pub mod sending;
mod site;
mod socks;
pub mod starttls;
pub mod target;
mod tunnel;
pub mod usual_keys;
pub mod watch;

#[cfg(test)]
mod rows;

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use net::tls::Late;
use runtime::cell::RefCell;
use tables::{EasyOption as O, Scheme};

use crate::easy::EasyState;
use crate::error::{Error, Result};
use crate::info::{Nanos, TransferInfo};
use crate::multi::MultiState;
use crate::settings::Method;
use client_writer::ClientWriter;
use connect::LogIn;
use rate_limit::RateLimit;
use target::Target;

/// What a protocol handler works with. Lives inside the transfer's future: whatever the application
/// may read or change meanwhile is in [`EasyState`] instead.
pub struct Transfer {
    /// The handle's state beside the future.
    pub easy: Rc<EasyState>,
    /// The multi handle that runs it.
    pub multi: Rc<MultiState>,
    /// The URL of the current request.
    pub url: Rc<Target>,
    /// The URL that the application gave: credentials belong to its origin.
    pub first_url: Rc<Target>,
    /// Where received bytes go.
    pub writer: ClientWriter,
    /// Pace of receiving and of sending.
    pub receive_rate: RateLimit,
    /// Pace of sending.
    pub send_rate: RateLimit,
    /// The request method, which redirects may change.
    pub method: Method,
    /// Whether a redirect has dropped CURLOPT_CUSTOMREQUEST.
    pub custom_dropped: bool,
    /// How authentication goes, which the handle keeps from one transfer to the next.
    pub auth: Rc<RefCell<auth::Memory>>,
    /// What the HTTP handler remembers between the requests of one transfer.
    pub http: http::Memory,
    /// Whether another origin than the first is being talked to.
    pub other_origin: bool,
    /// What the handler has done to each new connection before anybody may have it.
    pub log_in: Option<LogIn>,
    /// How the handshake ends that goes on beside the request.
    late: Option<Arc<Late>>,
    /// A Kerberos ticket has logged in on the connection that was opened last.
    ticket_used: Cell<bool>,
}

impl Transfer {
    /// The transfer that the settings ask for.
    #[inline]
    pub fn new(multi: Rc<MultiState>, easy: Rc<EasyState>, url: Rc<Target>) -> Transfer {
        let settings = easy.settings.borrow();
        // CURLOPT_NOBODY stays on when CURLOPT_POSTFIELDS is set after it, and means HEAD.
        let body_less = settings.on(O::Nobody) && settings.method != Method::Put;
        let method = if body_less { Method::Head } else { settings.method };
        let auth = easy.memories.of::<auth::Memory>();
        auth.borrow_mut().begin(&settings);
        let receive_rate = RateLimit::new(settings.long(O::MaxRecvSpeedLarge));
        let send_rate = RateLimit::new(settings.long(O::MaxSendSpeedLarge));
        drop(settings);
        Transfer {
            writer: ClientWriter::new(easy.clone()),
            easy,
            multi,
            first_url: url.clone(),
            url,
            receive_rate,
            send_rate,
            method,
            custom_dropped: false,
            auth,
            http: Default::default(),
            other_origin: false,
            log_in: None,
            late: None,
            ticket_used: Cell::new(false),
        }
    }

    /// What the application may ask about the URL of the next request.
    pub fn note_url(&self) {
        let mut info = self.easy.info.borrow_mut();
        info.effective_url = Some(self.url.text.clone());
        info.scheme = self.scheme().name();
        info.protocol = self.scheme().bit() as i64;
    }

    /// The scheme of the current URL; `check_scheme` has let only known ones pass.
    pub fn scheme(&self) -> Scheme {
        self.url.scheme.unwrap_or(Scheme::Http)
    }

    /// The first byte of a reply has come.
    pub fn mark_first_byte(&self) {
        self.mark(TransferInfo::first_byte);
    }

    /// Now, as the multi's clock tells it.
    pub fn now(&self) -> Instant {
        self.multi.runtime.reactor().now()
    }

    /// A number option, read at the point of use.
    #[inline]
    pub fn long(&self, option: O) -> i64 {
        self.easy.settings.borrow().long(option)
    }

    /// A boolean option.
    #[inline]
    pub fn on(&self, option: O) -> bool {
        self.easy.settings.borrow().on(option)
    }

    /// A string option.
    #[inline]
    pub fn text(&self, option: O) -> Option<crate::settings::Text> {
        self.easy.settings.borrow().text(option)
    }

    /// From here on data is meant to move: the low-speed limit counts.
    pub fn begins_to_move(&self) {
        let now = self.now();
        self.easy.info.borrow_mut().moving_since = Some(now);
    }

    /// Notes a moment of the transfer.
    pub fn mark(&self, set: impl FnOnce(&mut TransferInfo, Nanos)) {
        self.mark_at(self.now(), set);
    }

    /// Notes that it came at that time.
    pub fn mark_at(&self, now: Instant, set: impl FnOnce(&mut TransferInfo, Nanos)) {
        let mut info = self.easy.info.borrow_mut();
        let elapsed = info.since_start(now);
        set(&mut info, elapsed);
    }

    /// Runs a future with a deadline; what it comes to after that is not looked at.
    pub async fn within<T>(
        &self,
        deadline: Option<Instant>,
        late: impl FnOnce() -> Error,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let Some(deadline) = deadline else { return work.await };
        let mut timer = self.multi.runtime.reactor().sleep_until(deadline);
        let mut work = pin!(work);
        let done = poll_fn(|cx| {
            if self.now() >= deadline {
                return Poll::Ready(None);
            }
            if let Poll::Ready(result) = work.as_mut().poll(cx) {
                return Poll::Ready(Some(result));
            }
            Pin::new(&mut timer).poll(cx).map(|()| None)
        });
        match done.await {
            Some(result) => result,
            None => Err(late()),
        }
    }
}
