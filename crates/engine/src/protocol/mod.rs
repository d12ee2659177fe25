//! The protocol handlers, one file or directory each, and the table of which handler serves which scheme.

#[cfg(feature = "dict")]
mod dict;
#[cfg(feature = "file")]
mod file;
#[cfg(feature = "ftp")]
mod ftp;
#[cfg(feature = "gopher")]
mod gopher;
mod http;
#[cfg(feature = "mail")]
mod imap;
#[cfg(feature = "ldap")]
mod ldap;
mod memory;
#[cfg(feature = "mqtt")]
mod mqtt;
#[cfg(feature = "mail")]
mod pop3;
#[cfg(feature = "rtsp")]
mod rtsp;
#[cfg(feature = "mail")]
mod smtp;
#[cfg(feature = "ssh")]
mod ssh;
#[cfg(feature = "telnet")]
mod telnet;
#[cfg(feature = "tftp")]
mod tftp;

use std::hint::cold_path;

use net::Connection;
use runtime::{Boxed, boxed};
use tables::constant::CURL_NETRC_IGNORED;
use tables::scheme::Family;
use tables::{Code, EasyOption as O};

use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::credentials::credentials;
pub use crate::transfer::next::Next;
use crate::transfer::next::give;
pub use http::HttpTransfer;
pub use memory::decode_memory;

/// The handler of a family of schemes.
struct Handler {
    /// Runs one request.
    run: Run,
    /// Opens a new connection that is ready for its first request, and leaves it in the pool; `None` where
    /// no connections are kept.
    log_in: Option<Step<()>>,
    /// Opens a connection for the application itself, logged in (CURLOPT_CONNECT_ONLY).
    connect_only: Step<Connection>,
    /// Whether CURLOPT_NOBODY makes the writer refuse a body.
    refuses_body: bool,
    /// The settings that curl reads for every scheme and the handler does not.
    checks: Checks,
}

/// A function of a handler; its future is built in place on the heap.
type Step<T> = for<'a> fn(&'a mut HttpTransfer) -> Boxed<'a, Result<T>>;

/// The run of a handler.
#[derive(Clone, Copy)]
enum Run {
    /// A URL takes one request.
    Once(Step<()>),
    /// A reply may lead to another request.
    Steps(Step<Next>),
}

/// Settings that are checked although the handler does not use them.
#[derive(Clone, Copy)]
struct Checks {
    netrc: bool,
    pins: bool,
}

/// A handler that connects and does no more; the base of the rows below.
const PLAIN: Handler = Handler {
    run: Run::Once(|t| boxed(|| unsupported(t))),
    log_in: None,
    connect_only: |t| boxed(|| connect_only(t)),
    refuses_body: false,
    checks: Checks { netrc: false, pins: false },
};

const HTTP: Handler = Handler {
    run: Run::Steps(|t| boxed(|| http::run(t))),
    log_in: Some(|t| boxed(|| http::open_ahead(t))),
    ..PLAIN
};

const WS: Handler = Handler { log_in: None, ..HTTP };

/// Defines the handler of a protocol that is built in with a feature.
macro_rules! optional {
    ($feature:literal, $name:ident = $handler:expr) => {
        #[cfg(feature = $feature)]
        const $name: Handler = $handler;
        #[cfg(not(feature = $feature))]
        const $name: Handler = PLAIN;
    };
}

optional! { "rtsp", RTSP = Handler { run: Run::Steps(|t| boxed(|| rtsp::run(t))), ..PLAIN } }

optional! { "ftp", FTP = Handler {
    run: Run::Once(|t| boxed(|| ftp::run(t))),
    log_in: Some(|t| boxed(|| ftp::log_in(t))),
    connect_only: |t| boxed(|| ftp::connect_only(t)),
    ..PLAIN
} }

optional! { "mail", IMAP = Handler {
    run: Run::Once(|t| boxed(|| imap::run(t))),
    log_in: Some(|t| boxed(|| imap::log_in(t))),
    connect_only: |t| boxed(|| imap::connect_only(t)),
    ..PLAIN
} }

optional! { "mail", POP3 = Handler {
    run: Run::Once(|t| boxed(|| pop3::run(t))),
    log_in: Some(|t| boxed(|| pop3::log_in(t))),
    connect_only: |t| boxed(|| pop3::connect_only(t)),
    ..PLAIN
} }

optional! { "mail", SMTP = Handler {
    run: Run::Once(|t| boxed(|| smtp::run(t))),
    log_in: Some(|t| boxed(|| smtp::log_in(t))),
    connect_only: |t| boxed(|| smtp::connect_only(t)),
    ..PLAIN
} }

optional! { "ssh", SSH = Handler {
    run: Run::Once(|t| boxed(|| ssh::run(t))),
    connect_only: |t| boxed(|| ssh::connect_only(t)),
    ..PLAIN
} }

optional! { "file", FILE = Handler {
    run: Run::Once(|t| boxed(|| file::run(t))),
    checks: Checks { netrc: true, pins: true },
    ..PLAIN
} }

optional! { "tftp", TFTP = Handler {
    run: Run::Once(|t| boxed(|| tftp::run(t))),
    refuses_body: true,
    checks: Checks { netrc: true, pins: true },
    ..PLAIN
} }

/// The base of protocols that only show a text.
const TEXT: Handler = Handler { refuses_body: true, checks: Checks { netrc: true, pins: false }, ..PLAIN };

optional! { "dict", DICT = Handler { run: Run::Once(|t| boxed(|| dict::run(t))), ..TEXT } }

optional! { "telnet", TELNET = Handler { run: Run::Once(|t| boxed(|| telnet::run(t))), ..TEXT } }

optional! { "gopher", GOPHER = Handler { run: Run::Once(|t| boxed(|| gopher::run(t))), ..TEXT } }

optional! { "ldap", LDAP = Handler {
    run: Run::Once(|t| boxed(|| ldap::run(t))),
    refuses_body: true,
    ..PLAIN
} }

optional! { "mqtt", MQTT = Handler {
    run: Run::Once(|t| boxed(|| mqtt::run(t))),
    refuses_body: true,
    ..PLAIN
} }

/// Returns the handler of a family.
// exhaustive: schemes
#[inline]
fn handler(family: Family) -> &'static Handler {
    match family {
        Family::Http => &HTTP,
        Family::Ws => &WS,
        Family::Ftp => &FTP,
        Family::File => &FILE,
        Family::Dict => &DICT,
        Family::Telnet => &TELNET,
        Family::Tftp => &TFTP,
        Family::Pop3 => &POP3,
        Family::Smtp => &SMTP,
        Family::Ldap => &LDAP,
        Family::Mqtt => &MQTT,
        Family::Imap => &IMAP,
        Family::Gopher => &GOPHER,
        Family::Rtsp => &RTSP,
        Family::Ssh => &SSH,
        Family::Rtmp | Family::Smb => &PLAIN,
    }
}

/// Runs one request of the transfer's current URL.
pub async fn run(t: &mut HttpTransfer) -> Result<Next> {
    t.begin_request();
    if let Some(source) = t.proxy_source() {
        cold_path();
        boxed(|| t.find_proxies(source)).await?;
    }
    let scheme = t.scheme();
    let mut handler = handler(scheme.family());
    if scheme.family() == Family::Ftp && t.forwards()? {
        handler = &HTTP; // an HTTP proxy that is no tunnel fetches FTP URLs itself
    }
    if t.multi.recording.get().is_some() {
        t.check_recording(matches!(scheme.family(), Family::Http | Family::Ftp))?;
    }
    if scheme.network() && t.on(O::ConnectOnly) && !http::is_by_hand(t) {
        cold_path();
        let connection = (handler.connect_only)(t).await?;
        return boxed(|| give(t, connection)).await;
    }
    if t.easy.ahead.get() {
        cold_path();
        let Some(log_in) = handler.log_in else {
            return Err(Error::new(Code::UnsupportedProtocol, "no connections of this protocol are kept"));
        };
        return log_in(t).await.map(|()| Next::Done);
    }
    if handler.refuses_body {
        let refuses = t.on(O::NoBody);
        t.flow.writer.refuse_body(refuses);
    }
    check_unused(t, handler.checks)?;
    match handler.run {
        Run::Steps(run) => run(t).await,
        Run::Once(run) => run(t).await.map(|()| Next::Done),
    }
}

/// Fails on a .netrc file or a CURLOPT_RESOLVE entry that cannot be used.
fn check_unused(t: &Transfer, checks: Checks) -> Result<()> {
    if checks.netrc && t.long(O::Netrc) != CURL_NETRC_IGNORED {
        credentials(t)?;
    }
    if checks.pins { t.pin_names() } else { Ok(()) }
}

/// Opens a connection for the application, which sends and receives on it (curl_easy_send(3)).
async fn connect_only(t: &mut Transfer) -> Result<Connection> {
    Ok(boxed(|| t.connect(false)).await?.into_whole()?.into_connection())
}

/// Refuses a scheme that has no handler.
async fn unsupported(t: &mut Transfer) -> Result<()> {
    let name = t.scheme().name();
    Err(Error::new(Code::UnsupportedProtocol, format!("Protocol \"{name}\" not supported")))
}

/// The size of an HTTP request's future, apart from the transfer itself.
#[cfg(test)]
pub fn http_size(t: &mut HttpTransfer) -> usize {
    size_of_val(&http::run(t))
}
