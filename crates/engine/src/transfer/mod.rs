//! One run of an easy handle, from its options to its result. A protocol handler is one async
//! function that gets a [`Transfer`]; what keeps it short stands in the modules beside this one.

pub mod ask;
pub mod auth;
pub mod body;
pub mod client_reader;
pub mod client_writer;
pub mod connect;
pub mod dialogue;
mod gssapi;
pub mod login;
mod look_up;
pub mod negotiate;
mod over_https;
pub mod plan;
pub mod prepare;
pub mod proxy;
mod quic;
pub mod rate_limit;
pub mod sasl;
pub mod secret;
mod secure;
pub mod sending;
mod site;
mod socks;
pub mod target;
mod tunnel;
mod watch;

#[cfg(test)]
mod rows;

use std::future::{Future, poll_fn};
use std::hint::cold_path;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use std::time::Instant;

use tables::{Code, EasyOption as O, Scheme};

use crate::easy::EasyState;
use crate::error::{Error, Result};
use crate::multi::MultiState;
use crate::protocol::{self, Next};
use crate::settings::Method;
use client_writer::ClientWriter;
use rate_limit::RateLimit;
use target::Target;
use watch::Watch;

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
    /// Memory of the HTTP handler between the requests of one transfer.
    pub http: protocol::HttpMemory,
    /// Whether another origin than the first is being talked to.
    pub other_origin: bool,
}

/// The future that a multi handle runs for an easy handle.
pub fn task(multi: Rc<MultiState>, easy: Rc<EasyState>) -> Pin<Box<dyn Future<Output = ()>>> {
    Box::pin(async move {
        let code = complete(&multi, &easy).await;
        multi.finished(&easy, code);
    })
}

/// One run of an easy handle, to its result.
pub async fn complete(multi: &Rc<MultiState>, easy: &Rc<EasyState>) -> Code {
    let result = run(multi, easy).await;
    conclude(easy, multi, result)
}

async fn run(multi: &Rc<MultiState>, easy: &Rc<EasyState>) -> Result<()> {
    let now = multi.runtime.reactor().now();
    {
        let mut info = easy.info.borrow_mut();
        (info.started, info.request_started) = (Some(now), Some(now));
    }
    easy.trace("multi", || "the transfer begins".to_owned());
    crate::stores::begin(easy)?;
    let mut transfer = Transfer::new(multi.clone(), easy.clone(), target::first(easy)?);
    let mut watch = Watch::new(multi, easy, now);
    let mut exchange = pin!(transfer.drive());
    // The clock is asked first: what comes after the time is over comes too late, however much the caller has slept.
    let result = poll_fn(|cx| match watch.too_late() {
        Some(late) => Poll::Ready(Err(late)),
        None => match exchange.as_mut().poll(cx) {
            Poll::Ready(result) => Poll::Ready(result),
            Poll::Pending => watch.poll(cx).map(Err),
        },
    });
    let result = result.await;
    watch.conclude(result)
}

/// Writes down how it ended.
fn conclude(easy: &Rc<EasyState>, multi: &Rc<MultiState>, result: Result<()>) -> Code {
    easy.leave_websocket();
    drop(easy.adopted.take());
    let now = multi.runtime.reactor().now();
    {
        let mut info = easy.info.borrow_mut();
        info.total = info.since_start(now);
        if let Err(e) = &result {
            cold_path();
            if e.os_errno() != 0 {
                easy.os_errno.set(i64::from(e.os_errno()));
            }
            info.proxy_error = e.proxy_code();
            if e.verify_result() != 0 {
                info.verify_result = e.verify_result();
            }
        }
    }
    easy.trace("multi", || match &result {
        Ok(()) => "the transfer has ended".to_owned(),
        Err(e) => format!("the transfer has failed with {}", e.code().id()),
    });
    match result {
        Ok(()) => Code::Ok,
        Err(e) => {
            cold_path();
            let text = e.to_string();
            easy.note(|| text.clone());
            easy.set_message(&text);
            e.code()
        }
    }
}

impl Transfer {
    #[inline]
    fn new(multi: Rc<MultiState>, easy: Rc<EasyState>, url: Rc<Target>) -> Transfer {
        let settings = easy.settings.borrow();
        // CURLOPT_NOBODY stays on when CURLOPT_POSTFIELDS is set after it, and means HEAD.
        let body_less = settings.on(O::Nobody) && settings.method != Method::Put;
        let method = if body_less { Method::Head } else { settings.method };
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
            http: Default::default(),
            other_origin: false,
        }
    }

    /// Runs requests until none follows.
    async fn drive(&mut self) -> Result<()> {
        loop {
            self.upgrade()?;
            prepare::check_scheme(self)?;
            self.note_url();
            match protocol::run(self).await? {
                Next::Done => {
                    // What the application was not ready for is handed out first, whatever the protocol.
                    poll_fn(|cx| self.writer.poll_ready(cx)).await?;
                    return self.writer.finish();
                }
                Next::Follow(url) => prepare::follow(self, *url)?,
                Next::Again => {}
                Next::Stop(error) => return Err(error),
            }
            let now = self.now();
            self.easy.info.borrow_mut().begin_request(now);
        }
    }

    fn note_url(&self) {
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
        self.mark(crate::info::TransferInfo::first_byte);
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
    pub fn mark(&self, set: impl FnOnce(&mut crate::info::TransferInfo, std::time::Duration)) {
        let now = self.now();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callbacks::Callbacks;
    use crate::{Easy, Multi};

    struct Nobody;

    impl Callbacks for Nobody {}

    /// Ten thousand transfers are forty megabytes, not four hundred. What a transfer seldom does is in boxes.
    #[test]
    fn an_http_transfer_is_small() {
        let multi = Multi::default();
        let easy = Easy::new(Rc::new(Nobody));
        easy.set_text(O::Url, Some(b"http://host/")).unwrap();
        let task = size_of_val(&*task(multi.0.clone(), easy.0.clone()));
        let url = target::first(&easy.0).unwrap();
        let mut transfer = Transfer::new(multi.0.clone(), easy.0.clone(), url);
        let http = protocol::http_size(&mut transfer);
        let all = [("task with the transfer", task), ("http", http)];
        let sum: usize = all.iter().map(|(_, size)| size).sum();
        println!("{all:?}");
        assert!(sum <= 4096, "{all:?}");
    }
}
