//! Uploads that continue after a cut, by tus 1.0 or draft-ietf-httpbis-resumable-upload: a series of
//! requests, which [`wire::upload::http`] chooses. The state lasts from one transfer of a handle to the next
//! ([`crate::upload_resumption`]).

use std::hint::cold_path;

use tables::{Code, EasyOption as O};
use wire::http1::{HeaderLine, own_line};
use wire::upload::http::{Answer, Next as Reaction};
use wire::url::{Part, Url, flag};

use super::decide::redirect as decide;
use super::fields::Custom;
use super::http_transfer::{HttpTransfer, UploadStep};
use crate::callbacks::SeekAnswer;
use crate::error::{Error, Result};
use crate::settings::{Method, Text};
use crate::transfer::Transfer;
use crate::transfer::client_reader::ClientReader;
use crate::transfer::next::Next;
use crate::transfer::route::url::{url_text, without_credentials};
use crate::upload_resumption::{HttpState, UploadHead, UploadMode};

/// Returns whether the transfer is an upload by a series of requests.
pub fn applies(t: &HttpTransfer) -> bool {
    let is_upload = t.http.upload_step.is_some() || t.method == Method::Put;
    t.easy.upload_resumption.is_http() && is_upload
}

/// Chooses the next request. Returns where to go instead, if that is at another URL.
pub fn begin(t: &mut HttpTransfer) -> Result<Option<Next>> {
    let first = t.http.upload_step.is_none();
    if first {
        let size = u64::try_from(t.long(O::InFileSizeLarge)).ok();
        let needs_size = t.easy.upload_resumption.mode() == UploadMode::Tus;
        if needs_size && size.is_none() {
            return Err(Error::new(Code::UploadFailed, "An upload by tus needs the size of its source"));
        }
        t.easy.upload_resumption.begin_http(&without_credentials(&t.first_url), size);
    }
    let has_read = t.http.upload_step.as_ref().is_some_and(|step| step.has_read);
    let (request, location) = with_state(t, |state| {
        state.head = UploadHead::default();
        (state.machine.request(), state.machine.location().map(<[u8]>::to_vec))
    })?;
    t.method = if request.method == Some("HEAD") { Method::Head } else { Method::Put };
    let goes_to = location.filter(|_| request.to_resource);
    t.http.upload_step = Some(Box::new(UploadStep { request, has_read }));
    let Some(location) = goes_to else { return Ok(None) };
    match resource(t, &location) {
        Ok(url) => Ok((url_text(&t.url) != url_text(&url)).then(|| Next::Follow(Box::new(url)))),
        Err(error) if first => {
            t.easy.note(|| format!("The upload begins anew: {error}"));
            t.easy.upload_resumption.restart();
            t.http.upload_step = None;
            t.method = Method::Put;
            Ok(Some(Next::Follow(Box::new(Url::clone(&t.first_url)))))
        }
        Err(error) => Err(error),
    }
}

/// Runs something on the state of the upload.
fn with_state<R>(t: &Transfer, run: impl FnOnce(&mut HttpState) -> R) -> Result<R> {
    let mut state = t.easy.upload_resumption.http().borrow_mut();
    // A callback of the application may have ended the upload meanwhile.
    let gone = || Error::new(Code::AbortedByCallback, "The upload was given up");
    state.as_mut().map(|state| run(state)).ok_or_else(gone)
}

/// Resolves the URL of the upload. Logins and fields of the user go there, so it must be at the same server
/// unless CURLOPT_UNRESTRICTED_AUTH trusts others.
fn resource(t: &Transfer, location: &[u8]) -> Result<Url> {
    let bad = |_| Error::new(Code::HttpReturnedError, "The server names an invalid URL for the upload");
    let url = decide::target(&t.url, location, true, flag::NON_SUPPORT_SCHEME).map_err(bad)?;
    if t.first_url.origin() == url.origin() || t.on(O::UnrestrictedAuth) {
        return Ok(url);
    }
    let part = |part| url.get(part, flag::DEFAULT_PORT).unwrap_or_default();
    let [scheme, host, port] = [Part::Scheme, Part::Host, Part::Port].map(part);
    let at = [scheme.as_slice(), b"://", &host, b":", &port].concat();
    let at = String::from_utf8_lossy(&at);
    let text = format!(
        "The server names {at} for the upload, which is another server; --location-trusted allows it"
    );
    Err(Error::new(Code::HttpReturnedError, text))
}

/// Returns the method of the request, if the series demands one.
pub fn method(t: &HttpTransfer) -> Option<&'static str> {
    t.http.upload_step.as_ref().and_then(|step| step.request.method)
}

const METADATA: &[u8] = b"Upload-Metadata";

/// Adds the fields of the series to the application's own, in place of those of the same names. Metadata for
/// the creation of an upload may be the application's.
pub fn add_fields(step: &UploadStep, custom: &mut Custom) {
    let named = |line: &[u8]| own_line(line).map(|(name, _)| name.to_ascii_lowercase());
    let request = &step.request;
    let of_series: Vec<_> = request.fields.iter().filter_map(|field| named(field.as_bytes())).collect();
    custom.retain(|line| match named(line) {
        Some(name) if name.eq_ignore_ascii_case(METADATA) => !request.to_resource,
        Some(name) => !of_series.contains(&name),
        None => true,
    });
    custom.add(request.fields.iter().map(|field| Text::from(field.clone().into_bytes())));
}

/// Returns the body of the request: the source from some byte on, or nothing.
pub fn body(t: &mut HttpTransfer) -> Result<ClientReader> {
    let easy = t.easy.clone();
    let Some(step) = t.http.upload_step.as_mut() else { return ClientReader::open(&easy, Method::Put) };
    let Some(from) = step.request.body else {
        return Ok(match step.request.method {
            Some("HEAD") => ClientReader::empty(&easy),
            _ => ClientReader::of(&easy, Vec::new()),
        });
    };
    let has_read = std::mem::replace(&mut step.has_read, true);
    let mut reader = ClientReader::open(&easy, Method::Put)?;
    if has_read && easy.callbacks.seek(from) != SeekAnswer::Done {
        let text = format!("The source can't be read again from byte {from}: set CURLOPT_SEEKFUNCTION");
        return Err(Error::new(Code::SendFailRewind, text));
    }
    match has_read {
        true => reader.size = reader.size.map(|size| size.saturating_sub(from)),
        false => reader.start_at(from)?,
    }
    if from > 0 {
        easy.note(|| format!("The upload continues at byte {from}"));
    }
    Ok(reader)
}

/// Notes a field of a reply.
#[inline]
pub fn note(t: &Transfer, field: &HeaderLine<'_>) -> Result<()> {
    if t.easy.upload_resumption.is_http() {
        cold_path();
        let mut state = t.easy.upload_resumption.http().borrow_mut();
        if let Some(state) = state.as_mut() {
            state.head.push(field.name, field.value);
        }
    }
    Ok(())
}

/// Takes an interim reply, which may name the URL of the upload (104 of the draft).
#[inline]
pub fn head_ended(t: &Transfer, status: u16) -> Result<()> {
    let resumption = &t.easy.upload_resumption;
    let is_one = status / 100 == 1 && resumption.is_http() && resumption.http().borrow().is_some();
    if is_one { informed(t, status) } else { Ok(()) }
}

#[cold]
fn informed(t: &Transfer, status: u16) -> Result<()> {
    let answer = take_answer(t, status)?;
    with_state(t, |state| state.machine.informed(&borrowed(&answer, status))).map(drop)
}

/// Returns whether a reply decides what follows, and not its Location: the server may have another place for
/// new uploads.
pub fn decides(t: &HttpTransfer, status: u16) -> bool {
    let Some(step) = &t.http.upload_step else { return false };
    let is_moved = matches!(status, 307 | 308) && t.long(O::FollowLocation) != 0;
    step.request.to_resource || !is_moved
}

/// Decides what follows a final reply.
pub fn after(t: &mut HttpTransfer, status: u16) -> Result<Next> {
    let answer = take_answer(t, status)?;
    let (reaction, location) = with_state(t, |state| {
        let reaction = state.machine.answered(&borrowed(&answer, status));
        (reaction, state.machine.location().map(<[u8]>::to_vec))
    })?;
    let refused = |status| {
        Next::Stop(Error::new(Code::HttpReturnedError, format!("The requested URL returned error: {status}")))
    };
    Ok(match reaction {
        Reaction::Request => Next::Follow(Box::new(match location {
            Some(location) => resource(t, &location)?,
            None => Url::clone(&t.first_url),
        })),
        Reaction::Later => {
            t.easy.upload_resumption.set_busy(true);
            refused(status)
        }
        Reaction::End => {
            t.easy.upload_resumption.end();
            Next::Done
        }
        Reaction::Refused(status) => refused(status),
        Reaction::Failed(why) => {
            t.easy.upload_resumption.restart();
            Next::Stop(Error::new(Code::RangeError, why))
        }
    })
}

/// Takes the fields of the last head, with an absolute Location. One at another server is an error only if
/// the upload would continue there.
fn take_answer(t: &Transfer, status: u16) -> Result<UploadHead> {
    let mut head = with_state(t, |state| std::mem::take(&mut state.head))?;
    let is_tus = t.easy.upload_resumption.mode() == UploadMode::Tus;
    let goes_on = is_tus && status == 201 || head.complete.as_deref() == Some(b"?0");
    head.location = match head.location.map(|location| resource(t, &location)) {
        Some(Ok(url)) => Some(without_credentials(&url)),
        Some(Err(error)) if goes_on => return Err(error),
        _ => None,
    };
    Ok(head)
}

fn borrowed(head: &UploadHead, status: u16) -> Answer<'_> {
    Answer {
        status,
        offset: head.offset.as_deref(),
        complete: head.complete.as_deref(),
        version: head.version.as_deref(),
        location: head.location.as_deref(),
    }
}
