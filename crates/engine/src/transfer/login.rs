//! The user and password for the current URL: what the application set, what stands in the URL, what a .netrc file
//! says (CURLOPT_USERPWD(3), CURLOPT_NETRC(3)).

use tables::constant::{CURL_NETRC_IGNORED, CURL_NETRC_REQUIRED};
use tables::{Code, EasyOption as O};

use super::Transfer;
use super::plan::path;
use crate::error::{Error, Result};

/// User and password.
pub type Login = (Vec<u8>, Vec<u8>);

/// The login for the current URL. What the application set goes before what stands in the URL, and is for the origin of
/// the first URL alone.
pub fn credentials(t: &Transfer) -> Result<Option<Login>> {
    let mine = !t.other_origin || t.on(O::UnrestrictedAuth);
    let set = |option| t.text(option).filter(|_| mine).map(|text| text.to_vec());
    let (user, password) = (set(O::Username), set(O::Password));
    if let Some(user) = user {
        return complete(t, user, password);
    }
    let in_url = (t.url.user().map(decoded), t.url.password().map(decoded));
    match in_url {
        (Some(user), password) if t.long(O::Netrc) != CURL_NETRC_REQUIRED => complete(t, user, password),
        _ => Ok(from_file(t, None)?.or_else(|| password.map(|p| (Vec::new(), p)))),
    }
}

/// A user whose password may stand in the file.
fn complete(t: &Transfer, user: Vec<u8>, password: Option<Vec<u8>>) -> Result<Option<Login>> {
    match password {
        Some(password) => Ok(Some((user, password))),
        None => Ok(Some(from_file(t, Some(&user))?.unwrap_or((user, Vec::new())))),
    }
}

fn decoded(text: &[u8]) -> Vec<u8> {
    wire::escape::decode(text, wire::escape::Reject::Nothing).unwrap_or_default()
}

/// What the .netrc file says for the current host. A file that can't be read says nothing.
fn from_file(t: &Transfer, user: Option<&[u8]>) -> Result<Option<Login>> {
    if t.long(O::Netrc) == CURL_NETRC_IGNORED {
        return Ok(None);
    }
    let file = match t.text(O::NetrcFile) {
        Some(name) => path(name),
        None => match std::env::var_os("HOME") {
            Some(home) => std::path::Path::new(&home).join(".netrc"),
            None => return Ok(None),
        },
    };
    let Ok(text) = read(&file) else { return Ok(None) };
    let host = t.url.host_unbracketed().unwrap_or_default();
    let found = wire::netrc::find(&text, host, user)
        .map_err(|_| Error::new(Code::ReadError, ".netrc parser error"))?;
    Ok(found.map(|found| (found.login, found.password)))
}

/// No more than the parser takes, and one byte by which it sees that there is more.
fn read(file: &std::path::Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    let mut text = Vec::new();
    std::fs::File::open(file)?.take(wire::netrc::FILE_LIMIT as u64 + 1).read_to_end(&mut text)?;
    Ok(text)
}
