//! The protocol handlers, one file or directory each, and the table of which handler serves which scheme.

mod dict;
mod file;
mod ftp;
mod gopher;
mod http;
mod imap;
mod ldap;
mod mqtt;
mod pop3;
mod rtsp;
mod smtp;
mod ssh;
mod telnet;
mod tftp;

use std::hint::cold_path;

use runtime::boxed;
use tables::constant::CURL_NETRC_IGNORED;
use tables::scheme::Family;
use tables::{Code, EasyOption as O};

use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::credentials::credentials;
pub use crate::transfer::next::Next;
use crate::transfer::next::give;

/// Runs one request of the transfer's current URL.
// exhaustive: schemes
pub async fn run(t: &mut Transfer) -> Result<Next> {
    let scheme = t.scheme();
    if scheme.network() && t.on(O::ConnectOnly) && !http::is_by_hand(t) {
        cold_path();
        return boxed(|| connect_only(t)).await;
    }
    if t.easy.ahead.get() {
        cold_path();
        return boxed(|| ahead(t)).await;
    }
    use Family::{Dict, Gopher, Ldap, Mqtt, Telnet, Tftp};
    if matches!(scheme.family(), Dict | Gopher | Ldap | Mqtt | Telnet | Tftp) {
        t.flow.writer.refuse_body(t.on(O::Nobody));
    }
    check_unused(t)?;
    match scheme.family() {
        Family::Http | Family::Ws => boxed(|| http::run(t)).await,
        // An HTTP proxy that is no tunnel fetches FTP URLs itself.
        Family::Ftp if t.forwards()? => boxed(|| http::run(t)).await,
        Family::Ftp => boxed(|| ftp::run(t)).await.map(|()| Next::Done),
        Family::File => boxed(|| file::run(t)).await.map(|()| Next::Done),
        Family::Dict => boxed(|| dict::run(t)).await.map(|()| Next::Done),
        Family::Telnet => boxed(|| telnet::run(t)).await.map(|()| Next::Done),
        Family::Tftp => boxed(|| tftp::run(t)).await.map(|()| Next::Done),
        Family::Pop3 => boxed(|| pop3::run(t)).await.map(|()| Next::Done),
        Family::Smtp => boxed(|| smtp::run(t)).await.map(|()| Next::Done),
        Family::Ldap => boxed(|| ldap::run(t)).await.map(|()| Next::Done),
        Family::Mqtt => boxed(|| mqtt::run(t)).await.map(|()| Next::Done),
        Family::Imap => boxed(|| imap::run(t)).await.map(|()| Next::Done),
        Family::Gopher => boxed(|| gopher::run(t)).await.map(|()| Next::Done),
        Family::Rtsp => boxed(|| rtsp::run(t)).await,
        Family::Ssh => boxed(|| ssh::run(t)).await.map(|()| Next::Done),
        Family::Rtmp | Family::Smb => Err(Error::new(
            Code::UnsupportedProtocol,
            format!("Protocol \"{}\" not supported", scheme.name()),
        )),
    }
}

/// Fails on an invalid .netrc file or CURLOPT_RESOLVE entry for schemes that use neither. curl reads both for
/// every scheme.
fn check_unused(t: &Transfer) -> Result<()> {
    use Family::{Dict, File, Gopher, Telnet, Tftp};
    let family = t.scheme().family();
    if matches!(family, Dict | File | Gopher | Telnet | Tftp) && t.long(O::Netrc) != CURL_NETRC_IGNORED {
        credentials(t)?;
    }
    if matches!(family, File | Tftp) { t.pin_names() } else { Ok(()) }
}

/// Opens a new connection, ready for its first request, for a later transfer.
async fn ahead(t: &mut Transfer) -> Result<Next> {
    let family = t.scheme().family();
    if family == Family::Ftp && !t.forwards()? {
        boxed(|| ftp::log_in(t)).await?;
    } else if family == Family::Imap {
        let whole = boxed(|| imap::log_in(t)).await?;
        t.release(whole);
    } else if matches!(family, Family::Pop3 | Family::Smtp) {
        let whole = boxed(|| log_in(t, true)).await?;
        t.release(whole);
    } else if matches!(family, Family::Http | Family::Ftp) {
        let link = boxed(|| http::connect(t, true)).await?;
        t.release(link.lease);
    } else {
        return Err(Error::new(Code::UnsupportedProtocol, "no connections of this protocol are kept"));
    }
    Ok(Next::Done)
}

/// Opens a connection to a mail server and logs in.
async fn log_in(t: &mut Transfer, fresh: bool) -> Result<net::Whole> {
    match t.scheme().family() {
        Family::Pop3 => pop3::log_in(t, fresh).await,
        _ => smtp::log_in(t, fresh).await,
    }
}

/// CURLOPT_CONNECT_ONLY(3): passes the connection to the application, which sends and receives on it
/// (curl_easy_send(3)). A protocol's login is part of connecting.
async fn connect_only(t: &mut Transfer) -> Result<Next> {
    let connection = match t.scheme().family() {
        Family::Ftp if !t.forwards()? => boxed(|| ftp::connect_only(t)).await?,
        Family::Imap => boxed(|| imap::connect_only(t)).await?,
        Family::Pop3 | Family::Smtp => {
            let mut whole = boxed(|| log_in(t, false)).await?;
            whole.connection().farewell.clear();
            whole.into_connection()
        }
        Family::Ssh => boxed(|| ssh::connect_only(t)).await?,
        _ => boxed(|| t.connect(false)).await?.into_whole()?.into_connection(),
    };
    give(t, connection).await
}

/// The size of an HTTP request's future, apart from the transfer itself.
#[cfg(test)]
pub fn http_size(t: &mut Transfer) -> usize {
    size_of_val(&http::run(t))
}
