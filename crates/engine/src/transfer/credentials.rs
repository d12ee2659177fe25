//! The user and password for the current URL: set by the application, in the URL, or in a .netrc file
//! (CURLOPT_USERPWD(3), CURLOPT_NETRC(3)). Each is for one server only.

use tables::constant::{CURL_NETRC_IGNORED, CURL_NETRC_REQUIRED};
use tables::scheme::Family;
use tables::{Code, EasyOption as O};
use wire::url::Url;

use super::Route;
use super::login::{ANONYMOUS, Login};
use super::secret::{Peer, Secret};
use crate::error::{Error, Result};
use crate::sys::path_buf;

/// Returns the login for the current URL. The application's login has precedence over the URL's, and that
/// over the file's.
pub fn credentials(t: &Route) -> Result<Option<Secret<Login>>> {
    let peer = t.peer();
    let set = |option| t.text(option).and_then(|text| t.secret(text).for_peer(&peer).map(|s| s.to_vec()));
    let (user, password) = (set(O::Username), set(O::Password));
    // If HTTP authentication is not requested, an empty login counts as one; a file's has precedence over it.
    let nothing = |user: &[u8], password: Option<&[u8]>| {
        user.is_empty() && password.is_none_or(<[u8]>::is_empty) && !t.scheme().family().asks_by_http()
    };
    let filed = || Ok::<_, Error>(from_file(t, None)?.unwrap_or_default());
    // If it is requested, an empty login yields to the URL's.
    let empty = user.as_ref().is_some_and(Vec::is_empty) && password.as_ref().is_none_or(Vec::is_empty);
    let gives_way = empty && t.scheme().family().asks_by_http() && in_url(t, &peer).is_some();
    if let Some(user) = user.filter(|_| !gives_way) {
        if nothing(&user, password.as_deref()) {
            return Ok(Some(Secret::of(peer, filed()?)));
        }
        // Has precedence over a file, even without a password.
        let password = password.unwrap_or_default();
        return Ok(Some(Secret::of(peer, Login { user, password })));
    }
    let login = match in_url(t, &peer) {
        Some((user, password)) if nothing(&user, password.as_deref()) => Some(filed()?),
        // --netrc has precedence over a password in the URL, but not over a user without one.
        Some((user, password)) if password.is_none() || t.long(O::Netrc) != CURL_NETRC_REQUIRED => {
            Some(complete(t, user, password)?)
        }
        // The file decides; a user in the URL chooses among its lines.
        Some((user, _)) => match from_file(t, Some(&user))? {
            Some(login) => Some(login),
            None => from_file(t, None)?,
        },
        // A password alone belongs to the empty user, or to the default one.
        None => {
            let family = t.scheme().family();
            let alone = password.filter(|password| !family.asks_by_http() || !password.is_empty());
            let user = if family == Family::Ftp { ANONYMOUS.to_vec() } else { Vec::new() };
            from_file(t, None)?.or_else(|| alone.map(|password| Login { user, password }))
        }
    };
    Ok(login.map(|login| Secret::of(peer, login)))
}

/// The login for the server of the current URL, to be sent to it.
pub fn given(t: &Route) -> Result<Option<Login>> {
    Ok(credentials(t)?.and_then(|login| login.for_peer(&t.peer()).cloned()))
}

/// Returns user and password of [`given`], which may be empty.
pub fn own(t: &Route) -> Result<(Vec<u8>, Vec<u8>)> {
    let login = given(t)?.unwrap_or_default();
    Ok((login.user, login.password))
}

/// Refuses a user or password in the URL that no line of a protocol can contain, before connecting.
pub fn check_url(t: &Route) -> Result<()> {
    for part in [t.url.user(), t.url.password()].into_iter().flatten() {
        let bad = |_| Error::new(Code::UrlMalformat, "error extracting credentials from URL");
        wire::escape::decode(part, wire::escape::Reject::Control).map_err(bad)?;
    }
    Ok(())
}

/// Returns the login options (CURLOPT_LOGIN_OPTIONS(3)): the option has precedence over the URL.
pub fn options(t: &Route) -> Result<Vec<u8>> {
    let peer = t.peer();
    let set = t.text(O::LoginOptions).and_then(|text| t.secret(text).for_peer(&peer).map(|s| s.to_vec()));
    let bad = |_| Error::new(Code::UrlMalformat, "control characters in the login options");
    match set {
        Some(options) => Ok(options),
        None => Ok(t.url.options_decoded(wire::escape::Reject::Control).map_err(bad)?.unwrap_or_default()),
    }
}

/// Returns the login in the URL, or in the first one if a redirect leads to the same server by an absolute
/// URL. In HTTP an empty user without a password is no login; elsewhere it is one with an empty name.
fn in_url(t: &Route, peer: &Peer) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    let of = |url: &Url| {
        let (user, password) = (url.user().map(decoded), url.password().map(decoded));
        let none_is_one = !t.scheme().family().asks_by_http();
        user.filter(|user| none_is_one || !user.is_empty() || password.is_some()).map(|user| (user, password))
    };
    let first = || of(&t.first_url).filter(|_| *t.first_url.peer == *peer);
    of(&t.url).or_else(first)
}

/// Completes a user whose password may be in the file.
fn complete(t: &Route, user: Vec<u8>, password: Option<Vec<u8>>) -> Result<Login> {
    match password {
        Some(password) => Ok(Login { user, password }),
        None => Ok(from_file(t, Some(&user))?.unwrap_or(Login { user, password: Vec::new() })),
    }
}

fn decoded(text: &[u8]) -> Vec<u8> {
    wire::escape::decode(text, wire::escape::Reject::Nothing).unwrap_or_default()
}

/// Returns the .netrc entry for the current host. A file that cannot be read or parsed is an error only if it
/// is required (CURL_NETRC_REQUIRED).
fn from_file(t: &Route, user: Option<&[u8]>) -> Result<Option<Login>> {
    let level = t.long(O::Netrc);
    if level == CURL_NETRC_IGNORED {
        return Ok(None);
    }
    let failed = |why: &str| match level {
        CURL_NETRC_REQUIRED => Err(Error::new(Code::ReadError, format!(".netrc error: {why}"))),
        _ => Ok(None),
    };
    let file = match t.text(O::NetrcFile) {
        Some(name) => path_buf(&name),
        None => match std::env::home_dir() {
            Some(home) => home.join(".netrc"),
            None => return failed("no such file"),
        },
    };
    let Ok(text) = read(&file) else { return failed("no such file") };
    let host = t.url.host_name().unwrap_or_default();
    let Ok(found) = wire::netrc::find(&text, &host, user) else { return failed("syntax error") };
    if found.is_none() {
        let shown = String::from_utf8_lossy(&host).into_owned();
        t.easy.note(|| format!("Could not find host {shown} in the {} file; using defaults", file.display()));
    }
    let login = found.map(|found| Login { user: found.login, password: found.password });
    let http = t.scheme().family().asks_by_http();
    let control = |login: &Login| login.user.iter().chain(&login.password).any(|b| *b < b' ' && *b != b'\t');
    if login.as_ref().is_some_and(|login| !http && control(login)) {
        return Err(Error::new(Code::ReadError, "control code detected in .netrc credentials"));
    }
    Ok(login.filter(|login| *login != Login::default()))
}

/// No more than the parser takes, and one byte by which it sees that there is more.
fn read(file: &std::path::Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    let mut text = Vec::new();
    std::fs::File::open(file)?.take(wire::netrc::FILE_LIMIT as u64 + 1).read_to_end(&mut text)?;
    Ok(text)
}
