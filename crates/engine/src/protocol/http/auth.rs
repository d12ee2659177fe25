//! HTTP authentication (RFC 9110 §11): which scheme answers which challenge, and the fields that carry
//! the credentials. Credentials go to the origin they were given for and to no other.

use tables::constant::{CURLAUTH_BASIC, CURLAUTH_BEARER};
use tables::{EasyOption as O, constant};
use wire::base64;

use super::Talk;
use super::response::Response;
use crate::error::Result;
use crate::protocol::Next;
use crate::transfer::Transfer;
use crate::transfer::client_reader::ClientReader;
use crate::transfer::connect::Link;
use crate::transfer::login::credentials;

/// Authentication state of one transfer.
#[derive(Default)]
pub struct State {
    picked: Option<u64>,
    withhold: bool,
}

impl State {
    /// Whether this request only asks for a challenge and leaves its body out.
    pub fn withholds_body(&self) -> bool {
        self.withhold
    }
}

/// The Proxy-Authorization and Authorization fields of a request.
pub fn fields(
    t: &mut Transfer,
    link: &Link,
    _method: &[u8],
    _target: &[u8],
    _body: &mut ClientReader,
) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    if link.via_proxy
        && let Some(user) = t.text(O::Proxyusername)
        && t.long(O::Proxyauth) as u64 & CURLAUTH_BASIC != 0
    {
        let password = t.text(O::Proxypassword).map(|p| p.to_vec()).unwrap_or_default();
        field(&mut out, "Proxy-Authorization: Basic ", &basic(&user, &password));
    }
    if custom_authorization(t) {
        return Ok(out);
    }
    let allowed = t.http.auth.picked.unwrap_or(t.long(O::Httpauth) as u64);
    let single = allowed & !constant::CURLAUTH_ONLY & u64::from(u32::MAX);
    let mine = !t.other_origin || t.on(O::UnrestrictedAuth);
    if let Some(token) = t.text(O::Xoauth2Bearer).filter(|_| mine && allowed & CURLAUTH_BEARER != 0) {
        field(&mut out, "Authorization: Bearer ", &token);
        t.easy.info.borrow_mut().auth_used = CURLAUTH_BEARER as i64;
    } else if let Some((user, password)) = credentials(t)?
        && single == CURLAUTH_BASIC
    {
        field(&mut out, "Authorization: Basic ", &basic(&user, &password));
        t.easy.info.borrow_mut().auth_used = CURLAUTH_BASIC as i64;
    }
    Ok(out)
}

fn field(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

fn basic(user: &[u8], password: &[u8]) -> Vec<u8> {
    base64::encode(&[user, b":", password].concat()).into()
}

/// The application's own Authorization line replaces ours.
fn custom_authorization(t: &Transfer) -> bool {
    let lines = t.easy.settings.borrow().list(O::Httpheader);
    lines.iter().any(|l| l.len() > 14 && l[..14].eq_ignore_ascii_case(b"authorization:"))
        && (!t.other_origin || t.on(O::UnrestrictedAuth))
}

/// After a 401 or 407: another round with a scheme that both sides know.
pub fn after(t: &mut Transfer, talk: &mut Talk, response: &Response) -> Result<Option<Next>> {
    if response.status != 401 {
        return Ok(None);
    }
    let offered = offered(&response.challenges);
    t.easy.info.borrow_mut().auth_available = offered as i64;
    let wanted = t.long(O::Httpauth) as u64;
    if t.http.auth.picked.is_some() || t.easy.info.borrow().auth_used != 0 || credentials(t)?.is_none() {
        return Ok(None);
    }
    if offered & wanted & CURLAUTH_BASIC == 0 {
        return Ok(None);
    }
    t.http.auth.picked = Some(CURLAUTH_BASIC);
    talk.upload.rewind()?;
    Ok(Some(Next::Again))
}

fn offered(challenges: &[Vec<u8>]) -> u64 {
    let mut bits = 0;
    for challenge in challenges {
        let scheme = challenge.split(|b| *b == b' ').next().unwrap_or_default();
        bits |= match scheme.to_ascii_lowercase().as_slice() {
            b"basic" => CURLAUTH_BASIC,
            b"bearer" => CURLAUTH_BEARER,
            b"digest" => constant::CURLAUTH_DIGEST,
            b"ntlm" => constant::CURLAUTH_NTLM,
            b"negotiate" => constant::CURLAUTH_NEGOTIATE,
            _ => 0,
        };
    }
    bits
}
