//! Uploads that continue after a cut: a series of requests, which [`wire::upload::http`] chooses for tus 1.0
//! and draft-ietf-httpbis-resumable-upload, [`wire::upload::s3`] for Amazon S3. The state lasts from one
//! transfer of a handle to the next ([`crate::upload_resumption`]).

use std::future::poll_fn;
use std::hint::cold_path;
use std::rc::Rc;

use tables::{Code, EasyOption as O};
use wire::http1::{HeaderLine, own_line};
use wire::upload::s3::{PieceDigest, Step};
use wire::upload::series::{Next as Reaction, Payload, Request};
use wire::url::{Part, Url, flag};

use super::decide::redirect as decide;
use super::fields::Custom;
use super::http_transfer::{HttpTransfer, UploadStep};
use crate::callbacks::SeekAnswer;
use crate::easy::EasyState;
use crate::error::{Error, Result};
use crate::settings::{Method, Text};
use crate::transfer::Transfer;
use crate::transfer::client_reader::ClientReader;
use crate::transfer::next::Next;
use crate::transfer::route::url::{url_error, without_credentials};
use crate::upload_resumption::{HttpState, Machine, UploadHead, UploadMode};
use crate::why::Event;

/// Bytes of the source that are read at once for a digest.
const DIGEST_PIECE: usize = 128 << 10;

/// Returns whether the transfer is an upload by a series of requests.
pub fn applies(t: &HttpTransfer) -> bool {
    let is_upload = t.http.upload_step.is_some() || t.method == Method::Put;
    t.easy.upload_resumption.is_http() && is_upload
}

/// Chooses the next request. Returns what is done instead: the request is at another URL, or there is none.
pub async fn begin(t: &mut HttpTransfer) -> Result<Option<Next>> {
    let first = t.http.upload_step.is_none();
    if first {
        let size = u64::try_from(t.long(O::InFileSizeLarge)).ok();
        check_source(t, size)?;
        t.easy.upload_resumption.begin_http(&without_credentials(&t.first_url), size);
    }
    let mut has_read = t.http.upload_step.as_ref().is_some_and(|step| step.has_read);
    let request = loop {
        match with_state(t, HttpState::step)? {
            Step::Request(request) => break request,
            Step::Digest(from, length) => digest(t, from, length, &mut has_read).await?,
            Step::End => return ended(t).map(Some),
        }
    };
    explain_continuation(t)?;
    t.method = match request.method {
        Some("HEAD") => Method::Head,
        Some("GET") => Method::Get,
        _ => Method::Put,
    };
    let target = target(t, &request);
    t.http.upload_step = Some(Box::new(UploadStep { request, has_read }));
    match target {
        Ok(Some(url)) if t.url.origin() == url.origin() => {
            t.go_to(url);
            t.note_url();
            Ok(None)
        }
        Ok(Some(url)) => Ok(Some(Next::Follow(Box::new(url)))),
        Ok(None) => Ok(None),
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

/// Checks that the source can be sent by the protocol.
fn check_source(t: &Transfer, size: Option<u64>) -> Result<()> {
    let mode = t.easy.upload_resumption.mode();
    if let (Some(protocol), None) = (mode.needs_size(), size) {
        let text = format!("An upload by {protocol} needs the size of its source");
        return Err(Error::new(Code::UploadFailed, text));
    }
    if mode == UploadMode::S3 && (t.on(O::Crlf) || t.on(O::TransferText)) {
        return Err(Error::new(Code::UploadFailed, "An upload in parts can't convert line ends"));
    }
    Ok(())
}

/// Returns the URL of a request; `None` is that of the last one.
fn target(t: &Transfer, request: &Request) -> Result<Option<Url>> {
    if !request.to_resource {
        return Ok(None);
    }
    if let Some(location) = with_state(t, |state| state.location().map(<[u8]>::to_vec))? {
        return resource(t, &location).map(Some);
    }
    let mut url = Url::clone(&t.first_url);
    if !request.query.is_empty() {
        url.set(Part::Query, Some(request.query.as_bytes()), flag::APPENDQUERY).map_err(url_error)?;
    }
    Ok(Some(url))
}

/// Computes the digest of a piece of the source.
async fn digest(t: &Transfer, from: u64, length: u64, has_read: &mut bool) -> Result<()> {
    let mut reader = source(&t.easy, from, has_read)?;
    reader.size = Some(length);
    let mut digest = PieceDigest::default();
    let mut buffer = vec![0; DIGEST_PIECE];
    while !reader.ended() {
        let count = poll_fn(|cx| reader.poll_read(cx, &mut buffer)).await?;
        digest.update(&buffer[..count]);
        // Other transfers have their turn.
        t.multi.runtime.reactor().next_run().await;
    }
    let digest = digest.of_length(length);
    with_state(t, |state| match (&mut state.machine, digest) {
        (Machine::S3(upload), Some(digest)) => upload.take_digest(digest),
        _ => state.interrupted(),
    })
}

/// Records where an upload in parts continues.
fn explain_continuation(t: &Transfer) -> Result<()> {
    let continued = with_state(t, |state| match &mut state.machine {
        Machine::S3(upload) => upload.take_continued(),
        Machine::Resource(_) => None,
    })?;
    if let Some((present, of)) = continued {
        t.easy.explain(|| Event::PartsPresent { present, of });
        t.easy.note(|| format!("The upload continues: the server has {present} of {of} parts"));
    }
    Ok(())
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

/// Adds the fields of the series to the application's own, in place of those of the same names. A request
/// has only those of the application's fields that are about it.
pub fn add_fields(step: &UploadStep, custom: &mut Custom) {
    let named = |line: &[u8]| own_line(line).map(|(name, _)| name.to_ascii_lowercase());
    let request = &step.request;
    let of_series: Vec<_> = request.fields.iter().filter_map(|field| named(field.as_bytes())).collect();
    custom.retain(|line| {
        named(line).is_none_or(|name| request.own_fields.includes(&name) && !of_series.contains(&name))
    });
    custom.add(request.fields.iter().map(|field| Text::from(field.clone().into_bytes())));
}

/// Returns the body of the request: the source from some byte on, other bytes, or nothing.
pub fn body(t: &mut HttpTransfer) -> Result<ClientReader> {
    let easy = t.easy.clone();
    let Some(step) = t.http.upload_step.as_mut() else { return ClientReader::open(&easy, Method::Put) };
    let (from, length) = match &step.request.body {
        Payload::Nothing => return Ok(ClientReader::empty(&easy)),
        Payload::Bytes(bytes) => return Ok(ClientReader::of(&easy, bytes.clone())),
        Payload::Source { from, length } => (*from, *length),
    };
    let mut reader = source(&easy, from, &mut step.has_read)?;
    match length {
        Some(length) => {
            with_state(t, |state| state.begin_digest(length))?;
            reader.digest_piece(length);
        }
        None if from > 0 => easy.note(|| format!("The upload continues at byte {from}")),
        None => {}
    }
    Ok(reader)
}

/// Opens the source from a byte on.
fn source(easy: &Rc<EasyState>, from: u64, has_read: &mut bool) -> Result<ClientReader> {
    let had_read = std::mem::replace(has_read, true);
    let mut reader = ClientReader::open(easy, Method::Put)?;
    if had_read && easy.callbacks.seek(from) != SeekAnswer::Done {
        let text = format!("The source can't be read again from byte {from}: set CURLOPT_SEEKFUNCTION");
        return Err(Error::new(Code::SendFailRewind, text));
    }
    match had_read {
        true => reader.size = reader.size.map(|size| size.saturating_sub(from)),
        false => reader.start_at(from)?,
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
    let head = take_head(t, status)?;
    with_state(t, |state| match &mut state.machine {
        Machine::Resource(upload) => drop(upload.informed(&head.answer(status))),
        Machine::S3(_) => {}
    })
}

/// Returns whether the bodies of replies are for the series: those of S3 have facts, and none is the
/// application's.
pub fn reads_replies(t: &HttpTransfer) -> bool {
    t.http.upload_step.is_some() && t.easy.upload_resumption.mode() == UploadMode::S3
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
    let head = take_head(t, status)?;
    let reaction = with_state(t, |state| state.answered(&head, status))?;
    let refused = |status| -> Result<Next> {
        let why = with_state(t, |state| state.error_text())?;
        let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
        let text = format!("The requested URL returned error: {status}{why}");
        Ok(Next::Stop(Error::new(Code::HttpReturnedError, text)))
    };
    Ok(match reaction {
        Reaction::Request => {
            let next = match with_state(t, HttpState::step)? {
                Step::Request(request) => target(t, &request)?,
                Step::Digest(..) | Step::End => None,
            };
            Next::Follow(Box::new(next.unwrap_or_else(|| Url::clone(&t.first_url))))
        }
        Reaction::Later => {
            t.easy.upload_resumption.set_busy(true);
            refused(status)?
        }
        Reaction::End => ended(t)?,
        Reaction::Refused(status) => refused(status)?,
        Reaction::Failed(why) => {
            t.easy.upload_resumption.restart();
            Next::Stop(Error::new(Code::RangeError, why))
        }
    })
}

/// Ends an upload that is complete.
fn ended(t: &Transfer) -> Result<Next> {
    let is_compared = with_state(t, |state| match &state.machine {
        Machine::S3(upload) => upload.is_compared(),
        Machine::Resource(_) => false,
    })?;
    t.easy.upload_resumption.end();
    if is_compared {
        t.easy.upload_resumption.note_compared();
        t.easy.explain(|| Event::UploadCompared);
    }
    Ok(Next::Done)
}

/// Takes the fields of the last head, with an absolute Location. One at another server is an error only if
/// the upload would continue there.
fn take_head(t: &Transfer, status: u16) -> Result<UploadHead> {
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
