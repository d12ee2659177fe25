//! Redirects: gathers the facts for `decide::redirect` and changes the transfer accordingly.

use std::hint::cold_path;

use tables::{Code, EasyOption as O};
use wire::url::{Url, UrlError, flag};

use super::decide::redirect::{self as decide, Redirected};
use super::http_transfer::HttpTransfer;
use super::response::Response;
use crate::error::{Error, Result};
use crate::settings::Text;
use crate::transfer::Transfer;
use crate::transfer::next::Next;
use crate::transfer::route::url::{url_error, url_text, without_credentials};
use crate::why::Event;

/// Follows the reply's Location if it is to be followed.
pub fn after(t: &mut HttpTransfer, response: &Response) -> Result<Next> {
    let follow = t.long(O::FollowLocation);
    let location = response.rare.location.as_ref().filter(|_| decide::is_followed(response.status, follow));
    let Some(location) = location else { return Ok(Next::Done) };
    if let Some(error) = exhausted(t) {
        t.easy.info.borrow_mut().rare.redirect_url = Some(reported_url(t, location));
        return Ok(Next::Stop(error));
    }
    let url = target(t, location, 0).map_err(|e| {
        if e == UrlError::UnsupportedScheme {
            t.count_redirect(); // like one whose scheme is not allowed
        }
        let text = format!("The redirect target URL could not be parsed: {}", e.message());
        Error::new(url_error(e).code(), text)
    })?;
    refer(t);
    change_method(t, response.status, follow);
    t.easy.explain(|| Event::Redirected {
        status: response.status,
        to: String::from_utf8_lossy(&without_credentials(&url)).into_owned(),
    });
    t.easy.note(|| {
        format!("Issue another request to this URL: '{}'", String::from_utf8_lossy(&url_text(&url)))
    });
    Ok(Next::Follow(Box::new(url)))
}

/// Reports a Location that is not followed, whatever the status, after the whole reply
/// (CURLINFO_REDIRECT_URL).
pub fn report_location(t: &Transfer, response: &Response) {
    let fields = &response.rare;
    let Some(location) = fields.location.as_ref().or(fields.interim_location.as_ref()) else { return };
    cold_path();
    t.easy.info.borrow_mut().rare.redirect_url = Some(reported_url(t, location));
}

/// Returns the reported form: an absolute URL without encoding it, and an invalid one as the server sent it.
fn reported_url(t: &Transfer, location: &[u8]) -> Text {
    let absolute = Url::parse(location, flag::NON_SUPPORT_SCHEME | flag::ALLOW_SPACE);
    let url = absolute.or_else(|_| target(t, location, flag::NON_SUPPORT_SCHEME));
    url.map_or_else(|_| location.into(), |url| url_text(&url).into())
}

/// Repeats the same request, with credentials or without what the server refused. curl counts this as a
/// redirect and applies CURLOPT_MAXREDIRS, whether it follows redirects or not.
pub fn repeat(t: &mut HttpTransfer) -> Next {
    if let Some(error) = exhausted(t) {
        t.easy.info.borrow_mut().rare.redirect_url = Some(url_text(&t.url).into());
        return Next::Stop(error);
    }
    t.count_redirect();
    refer(t);
    Next::Again
}

/// Sets the Referer to the previous URL (CURLOPT_AUTOREFERER); in curl a round of a login is such a step,
/// too.
fn refer(t: &mut HttpTransfer) {
    if t.on(O::AutoReferer) {
        t.http.referer = Some(without_credentials(&t.url));
    }
}

/// CURLOPT_MAXREDIRS has been reached.
fn exhausted(t: &Transfer) -> Option<Error> {
    let limit = t.long(O::MaxRedirs);
    let reached = decide::is_exhausted(limit, t.easy.info.borrow().redirect_count);
    reached.then(|| Error::new(Code::TooManyRedirects, format!("Maximum ({limit}) redirects followed")))
}

/// Resolves a Location against the current URL.
fn target(t: &Transfer, location: &[u8], extra: u32) -> Result<Url, UrlError> {
    decide::target(&t.url, location, t.on(O::PathAsIs), extra)
}

/// Changes the method of the next request as the status demands.
fn change_method(t: &mut HttpTransfer, status: u16, follow: i64) {
    let change = decide::method_after(&Redirected {
        status,
        method: t.method,
        follow,
        kept: t.long(O::PostRedir),
        custom: t.text(O::CustomRequest).is_some() && !t.http.custom_dropped,
        no_body: t.on(O::NoBody),
    });
    if let Some(method) = change.method {
        t.easy.note(|| "Switch to GET".to_owned());
        t.method = method;
    }
    t.http.custom_dropped |= change.drops_custom;
}
