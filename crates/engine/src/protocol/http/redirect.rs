//! What a 3xx reply makes of the transfer: where it goes, with which method, and how often.

use std::hint::cold_path;

use tables::constant::{CURL_REDIR_POST_301, CURL_REDIR_POST_302, CURL_REDIR_POST_303};
use tables::{Code, EasyOption as O};
use wire::url::{Part, Url, UrlError, flag};

use super::response::Response;
use crate::error::{Error, Result};
use crate::protocol::Next;
use crate::settings::{Method, Text};
use crate::transfer::Transfer;
use crate::transfer::prepare::{count, url_error, url_text, without_credentials};

/// CURLOPT_FOLLOWLOCATION: off, all requests as asked, methods as the codes say, or only the first
/// request with the custom method.
const OBEY_CODE: i64 = 2;
const FIRST_ONLY: i64 = 3;

/// Decides whether the reply's Location is followed.
pub fn after(t: &mut Transfer, response: &Response) -> Result<Next> {
    let follow = t.long(O::Followlocation);
    let location =
        response.rare.location.as_ref().filter(|_| (300..400).contains(&response.status) && follow != 0);
    let Some(location) = location else { return Ok(Next::Done) };
    if let Some(error) = exhausted(t) {
        t.easy.info.borrow_mut().rare.redirect_url = Some(told(t, location));
        return Ok(Next::Stop(error));
    }
    let url = target(t, location, 0).map_err(|e| {
        if e == UrlError::UnsupportedScheme {
            count(t); // as one whose scheme is not allowed
        }
        let text = format!("The redirect target URL could not be parsed: {}", e.message());
        Error::new(url_error(e).code(), text)
    })?;
    refer(t);
    change_method(t, response.status, follow);
    t.easy.note(|| {
        format!("Issue another request to this URL: '{}'", String::from_utf8_lossy(&url_text(&url)))
    });
    Ok(Next::Follow(Box::new(url)))
}

/// A Location that is not followed is told, whatever the status, once the whole reply has come: CURLINFO_REDIRECT_URL.
pub fn tell(t: &Transfer, response: &Response) {
    let said = &response.rare;
    let Some(location) = said.location.as_ref().or(said.interim_location.as_ref()) else { return };
    cold_path();
    t.easy.info.borrow_mut().rare.redirect_url = Some(told(t, location));
}

/// As it is told: what is a URL of its own without being encoded, and what is none as the server gave it.
fn told(t: &Transfer, location: &[u8]) -> Text {
    let absolute = Url::parse(location, flag::NON_SUPPORT_SCHEME | flag::ALLOW_SPACE);
    let url = absolute.or_else(|_| target(t, location, flag::NON_SUPPORT_SCHEME));
    url.map_or_else(|_| location.into(), |url| url_text(&url).into())
}

/// The same request once more, with credentials or without what the server refused. curl counts it among the redirects and
/// holds it to CURLOPT_MAXREDIRS, whether it follows others or not.
pub fn again(t: &mut Transfer) -> Next {
    if let Some(error) = exhausted(t) {
        t.easy.info.borrow_mut().rare.redirect_url = Some(url_text(&t.url).into());
        return Next::Stop(error);
    }
    count(t);
    refer(t);
    Next::Again
}

/// What comes next is referred to by what came before (CURLOPT_AUTOREFERER); to curl a round of a login is such a step, too.
fn refer(t: &mut Transfer) {
    if t.on(O::Autoreferer) {
        t.http.referer = Some(without_credentials(&t.url));
    }
}

/// CURLOPT_MAXREDIRS has been reached.
fn exhausted(t: &Transfer) -> Option<Error> {
    let limit = t.long(O::Maxredirs);
    let reached = limit >= 0 && t.easy.info.borrow().redirect_count >= limit;
    reached.then(|| Error::new(Code::TooManyRedirects, format!("Maximum ({limit}) redirects followed")))
}

/// The new URL: absolute, or relative to the current one.
fn target(t: &Transfer, location: &[u8], extra: u32) -> Result<Url, UrlError> {
    let mut bits = flag::URLENCODE | flag::ALLOW_SPACE | extra;
    if t.on(O::PathAsIs) {
        bits |= flag::PATH_AS_IS;
    }
    let mut url = (**t.url).clone();
    url.set(Part::Url, Some(location), bits)?;
    // A redirect without a fragment of its own keeps nothing of the old one (curl's behaviour is to
    // leave the new URL as the server gave it).
    Ok(url)
}

/// RFC 9110 §15.4: some codes make a GET of a POST unless CURLOPT_POSTREDIR says otherwise.
fn change_method(t: &mut Transfer, status: u16, follow: i64) {
    let kept = t.long(O::Postredir);
    let posting = matches!(t.method, Method::Post | Method::PostMime);
    let custom = t.text(O::Customrequest).is_some() && !t.custom_dropped;
    let to_get = match status {
        301 => posting && kept & CURL_REDIR_POST_301 == 0,
        302 => posting && kept & CURL_REDIR_POST_302 == 0,
        303 => {
            !(matches!(t.method, Method::Get | Method::Head) || posting && kept & CURL_REDIR_POST_303 != 0)
                || custom && follow == OBEY_CODE
        }
        _ => false,
    };
    if to_get {
        t.easy.note(|| "Switch to GET".to_owned());
        t.method = if t.on(O::Nobody) { Method::Head } else { Method::Get };
        if follow == OBEY_CODE {
            t.custom_dropped = true;
        }
    }
    if follow == FIRST_ONLY {
        t.custom_dropped = true;
    }
}
