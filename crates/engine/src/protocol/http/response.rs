//! The head of a reply: reads its lines, passes them to the application, and stores what the transfer needs.

use std::future::poll_fn;
use std::hint::cold_path;
use std::task::{Poll, ready};

use net::exchange::{Body, HeadError, HeadItem, HeadPart};
use tables::constant::{
    CURL_HTTP_VERSION_1_0, CURL_HTTP_VERSION_1_1, CURL_HTTP_VERSION_2_0, CURL_HTTP_VERSION_3,
};
use tables::scheme::Family;
use tables::{Code, EasyOption as O};
use wire::content_encoding::{DEPTH_LIMIT, Decoder};
use wire::date;
use wire::http1::status::{BadStatus, Opening};
use wire::http1::{HeaderLine, StatusLine, TooLarge};

use super::active_exchange::ActiveExchange;
use super::decide::reply::{self, Complete, CutOff, Final, Kind, SWITCHING};
use super::explained;
use super::headless::http09;
use super::http_transfer::HttpTransfer;
use super::version::asks_for_http10;
use crate::callbacks::DebugKind;
use crate::error::{Error, Result};
use crate::rare::{Nothing, Rare};
use crate::scratch::{SMALL, with_scratch};
use crate::settings::Text;
use crate::stores::headers::Origin;
use crate::stores::now;
use crate::transfer::Transfer;
use crate::transfer::auth::schemes_offered;
use crate::transfer::body::{closed_early, receive_failed};
use crate::transfer::client_writer::decode_error;

/// Longest field with its continuation lines, and longest sum of a request's heads, as in curl 8.21.
const MAX_LINE: usize = 100 * 1024 - 1;
const MAX_HEADS: usize = 300 * 1024;
/// Longest sum of all heads of a transfer with its redirects.
const MAX_ALL_HEADS: usize = 20 * MAX_HEADS;
/// No field with a shorter or longer name means anything here: Alt-Svc to Strict-Transport-Security.
const SHORTEST_NAME: usize = 7;
const LONGEST_NAME: usize = 25;

/// The contents of a reply's head.
#[derive(Default, Debug)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// 9, 10, 11 …, as in [`StatusLine`].
    pub version: u8,
    /// Whether the status has no body, whatever the fields say.
    bodyless: bool,
    /// The framing of the body, by the exchange.
    pub body: Body,
    has_content_range: bool,
    /// Whether a Content-Range begins at the offset of the resumed transfer.
    resumes: bool,
    /// A Content-Range names no place: the reply is the whole file again.
    begins_anew: bool,
    /// The server closed before the empty line.
    cut_off: bool,
    /// Whether the document is older than the condition requires, although the server sends it.
    not_newer: bool,
    cookies: u32,
    /// Values that few replies have.
    pub rare: Rare<ExtraFields>,
}

/// Values of rare fields, in a box: the response waits in the transfer as long as the body arrives.
#[derive(Default, Debug)]
pub struct ExtraFields {
    content_codings: Vec<u8>,
    /// Location.
    pub location: Option<Vec<u8>>,
    /// The Location of an interim reply before this one: reported, but not followed; there is at most one.
    pub interim_location: Option<Vec<u8>>,
    last_modified: Option<i64>,
    /// Values of WWW-Authenticate.
    pub challenges: Vec<Vec<u8>>,
    /// Values of Proxy-Authenticate.
    pub proxy_challenges: Vec<Vec<u8>>,
    /// The value of Persistent-Auth ([MS-N2HT] 2.2.2).
    pub persistent_auth: Option<bool>,
    /// The number of fields in the header API before this head, if an interim reply came before it.
    fields_before: usize,
}

impl Nothing for ExtraFields {
    const NOTHING: &'static ExtraFields = &ExtraFields {
        content_codings: Vec::new(),
        location: None,
        interim_location: None,
        last_modified: None,
        challenges: Vec::new(),
        proxy_challenges: Vec::new(),
        persistent_auth: None,
        fields_before: 0,
    };
}

/// The heads of one request's replies, as they come.
#[derive(Default)]
pub struct Heads {
    /// Heads that have come before.
    before: u32,
    /// Bytes of all of them.
    total: usize,
}

/// Reads heads until the final one, which is stored in `into` in place, because it is large.
pub async fn receive(t: &mut HttpTransfer, active: &mut ActiveExchange, into: &mut Response) -> Result<()> {
    if http09(t, active).await? {
        active.exchange.believe(StatusLine { version: 9, code: 200 });
        (into.version, into.status, into.body) = (9, 200, active.exchange.body());
        return Ok(());
    }
    let mut heads = Heads::default();
    loop {
        head(t, active, &mut heads, into, &mut super::upload_series::note).await?;
        if !is_interim(t, active, into)? {
            return Ok(());
        }
    }
}

/// Records a head that has arrived. Returns whether another one follows; `response` is then empty again.
pub fn is_interim(t: &HttpTransfer, active: &mut ActiveExchange, response: &mut Response) -> Result<bool> {
    t.easy.trace("http/1", || format!("the head of a reply has ended, status {}", response.status));
    let kind = reply::kind(&reply::Head {
        status: response.status,
        cut_off: response.cut_off,
        asked_for_http2: active.asks_for_http2,
        // Only relevant for that status.
        http10: response.status == SWITCHING && asks_for_http10(t),
    });
    match kind {
        Kind::Unsupported => {
            cold_path();
            let text = "Unsupported response code in HTTP response";
            return Err(Error::new(Code::UnsupportedProtocol, text));
        }
        Kind::Http2Follows => return Ok(false),
        Kind::Unexpected => {
            let text = "server sent 101 response while not talking HTTP/1.1";
            return Err(Error::new(Code::WeirdServerReply, text));
        }
        Kind::Final => {
            let queued = active.exchange.queued();
            active.upload.final_reply(response.status, t.on(O::KeepSendingOnError), queued);
            return Ok(false);
        }
        Kind::Continue => active.upload.go_ahead(),
        Kind::Interim => explained::informational(t, response.status, response.rare.fields_before),
    }
    let before = std::mem::take(response).rare;
    response.rare.fields_before = t.easy.headers.borrow().count();
    if let Some(location) = before.location.as_ref().or(before.interim_location.as_ref()) {
        response.rare.interim_location = Some(location.clone());
    }
    Ok(true)
}

/// Reads one head, part by part. `on_field` sees each field before the application does.
pub async fn head(
    t: &mut Transfer,
    active: &mut ActiveExchange,
    heads: &mut Heads,
    response: &mut Response,
    on_field: &mut impl FnMut(&Transfer, &HeaderLine<'_>) -> Result<()>,
) -> Result<()> {
    let mut number = 0;
    loop {
        // Usually the whole head has arrived at once, and only its first part waits.
        let len = loop {
            if let Some(len) = next_part(active, number, heads.before == 0)? {
                break len;
            }
            if !more(t, active).await? {
                cold_path();
                if !active.exchange.any_received() {
                    return Err(nothing(active));
                }
                heads.before += 1;
                return response.cut_off(t, active, number, on_field);
            }
        };
        heads.total += len;
        check_size(t, heads.total, len)?;
        if response.part(t, active, on_field)? {
            heads.before += 1;
            return Ok(());
        }
        number += 1;
    }
}

/// Checks that the heads of this request, `total`, and of the transfer stay within limits with this part.
fn check_size(t: &Transfer, total: usize, part: usize) -> Result<()> {
    let all = t.easy.info.borrow().header_size as usize + part;
    let (bad, limit) = match total > MAX_HEADS {
        true => (total, MAX_HEADS),
        false if all > MAX_ALL_HEADS => (all, MAX_ALL_HEADS),
        false => return Ok(()),
    };
    Err(Error::new(Code::RecvError, format!("Too large response headers: {bad} > {limit}")))
}

#[cold]
pub fn nothing(active: &mut ActiveExchange) -> Error {
    active.upload.take_failure().unwrap_or_else(|| Error::new(Code::GotNothing, "Empty reply from server"))
}

/// Returns the length of the next part of the head, or `None` until all of the part has arrived.
#[inline]
fn next_part(active: &mut ActiveExchange, number: usize, first: bool) -> Result<Option<usize>> {
    // After an interim reply, only another head may follow; a violation shows before its line ends.
    if number == 0 && !first && active.exchange.opening() == Opening::Other {
        cold_path();
        return Err(Error::new(Code::WeirdServerReply, "Invalid status line"));
    }
    active.exchange.find_part(MAX_LINE).map_err(|TooLarge| active.line_too_long())
}

/// Receives more of a head, while the request's body may still be on its way; `false` when the server closed.
pub async fn more(t: &mut Transfer, active: &mut ActiveExchange) -> Result<bool> {
    let writer = &mut t.flow.writer;
    poll_fn(|cx| {
        if let Err(e) = active.poll_beside(cx) {
            return Poll::Ready(Err(e));
        }
        // A header callback may pause, too.
        if let Poll::Ready(Err(e)) = writer.poll_ready(cx) {
            return Poll::Ready(Err(e));
        }
        let more = ready!(with_scratch(SMALL, |buf| active.exchange.poll_more(cx, buf)));
        Poll::Ready(more.map_err(|e| active.upload.take_failure().unwrap_or(receive_failed(&e))))
    })
    .await
}

fn bad(fault: HeadError) -> Error {
    match fault {
        HeadError::Status(bad @ BadStatus::Major(2)) => Error::new(Code::WeirdServerReply, bad.text()),
        HeadError::Status(bad) => Error::new(Code::UnsupportedProtocol, bad.text()),
        HeadError::Octet(bad, _) => Error::from(bad),
        HeadError::NotRtsp => Error::new(Code::WeirdServerReply, "Invalid RTSP status line"),
        HeadError::NoColon => Error::new(Code::WeirdServerReply, "Header without colon"),
        HeadError::Length => Error::new(Code::WeirdServerReply, "Invalid Content-Length: value"),
        HeadError::Coding(bad) => Error::new(Code::BadContentEncoding, bad.text()),
    }
}

impl Response {
    /// Processes one part of the head: stores its contents, and passes it on. Returns whether it is the end.
    fn part(
        &mut self,
        t: &mut Transfer,
        active: &mut ActiveExchange,
        on_field: &mut impl FnMut(&Transfer, &HeaderLine<'_>) -> Result<()>,
    ) -> Result<bool> {
        let HeadPart { line, item, body } = active.exchange.part();
        if let Ok(HeadItem::Status(status)) | Err(HeadError::Octet(_, Some(status))) = item {
            self.status(t, status);
        }
        if let Err(fault @ (HeadError::Status(_) | HeadError::NotRtsp | HeadError::Octet(..))) = item {
            cold_path();
            return Err(bad(fault));
        }
        t.easy.callbacks.debug_if_wanted(DebugKind::HeaderIn, line);
        let ends = item == Ok(HeadItem::End);
        match item.map_err(bad)? {
            HeadItem::Status(_) => {}
            HeadItem::Field(field) => {
                on_field(t, &field)?;
                self.keep(t, &field, body)?;
            }
            HeadItem::End => {
                self.end_of_head(t, body.expect("the end of a head comes with its framing"));
                self.not_newer = self.status / 100 == 2 && self.simulates_304(t);
                super::upload_series::head_ended(t, self.status)?;
            }
        }
        t.flow.writer.header(line, t.on(O::Header) && !self.begins_websocket(t))?;
        t.easy.info.borrow_mut().header_size += line.len() as i64;
        active.exchange.take_part();
        Ok(ends)
    }

    /// Processes a line of a stored head. Cookies, challenges and the like were processed when it came.
    pub fn stored_line(&mut self, t: &mut Transfer, line: &[u8], body: Body) -> Result<()> {
        t.easy.callbacks.debug_if_wanted(DebugKind::HeaderIn, line);
        if self.status == 0 {
            let status = StatusLine::parse(line).map_err(|fault| bad(HeadError::Status(fault)))?;
            self.status(t, status);
        } else if let Some(field) = HeaderLine::parse(line) {
            let heard = ["Set-Cookie", "Alt-Svc", "Strict-Transport-Security", "WWW-Authenticate"];
            if !heard.iter().any(|name| field.is(name)) {
                self.field(t, &field, Some(body))?;
            }
            let request = t.easy.info.borrow().redirect_count as usize;
            t.easy.headers.borrow_mut().add_field(Origin::Header, request, &field)?;
        } else {
            self.end_of_head(t, body);
        }
        t.flow.writer.header(line, t.on(O::Header))?;
        t.easy.info.borrow_mut().header_size += line.len() as i64;
        Ok(())
    }

    /// Stores the contents of a field, for the transfer and for the header API.
    fn keep(&mut self, t: &mut Transfer, field: &HeaderLine<'_>, body: Option<Body>) -> Result<()> {
        self.field(t, field, body)?;
        let origin = if self.status / 100 == 1 { Origin::Interim } else { Origin::Header };
        let request = t.easy.info.borrow().redirect_count as usize;
        t.easy.headers.borrow_mut().add_field(origin, request, field)
    }

    /// Handles a close within the head. Some servers omit the empty line of a reply without a body, and curl
    /// uses the complete lines as the head; it is not a reply only if it has no status line, or is interim.
    fn cut_off(
        &mut self,
        t: &mut Transfer,
        active: &mut ActiveExchange,
        number: usize,
        on_field: &mut impl FnMut(&Transfer, &HeaderLine<'_>) -> Result<()>,
    ) -> Result<()> {
        if let Some(e) = active.upload.take_failure() {
            return Err(e);
        }
        // A last line that is not a field is dropped together with the missing empty line.
        if active.exchange.cut_off() && number > 0 && active.exchange.rest().contains(&b':') {
            self.part(t, active, on_field)?;
        }
        let body = active.exchange.body();
        match reply::cut_off(number, self.status, body.length.filter(|_| body.exists)) {
            CutOff::Nothing => return Err(nothing(active)),
            CutOff::BodyMissing(length) => {
                self.cut_off = true;
                self.end_of_head(t, body);
                return Err(closed_early(length));
            }
            CutOff::Complete => {}
        }
        self.cut_off = true;
        self.end_of_head(t, body);
        Ok(())
    }

    fn status(&mut self, t: &Transfer, parsed: StatusLine) {
        (self.status, self.version) = (parsed.code, parsed.version);
        self.bodyless = parsed.is_bodyless();
        let mut info = t.easy.info.borrow_mut();
        info.response_code = i64::from(parsed.code);
        info.http_version = match parsed.version {
            10 => CURL_HTTP_VERSION_1_0,
            20 => CURL_HTTP_VERSION_2_0,
            30 => CURL_HTTP_VERSION_3,
            _ => CURL_HTTP_VERSION_1_1,
        };
        info.announced = if matches!(parsed.code, 204 | 304) { 0 } else { -1 };
        info.condition_unmet = parsed.code == 304;
    }

    fn field(&mut self, t: &mut Transfer, header: &HeaderLine<'_>, body: Option<Body>) -> Result<()> {
        let value = header.value;
        if header.name.len() < SHORTEST_NAME {
            return Ok(());
        }
        let mut lower = [0; LONGEST_NAME];
        let Some(name) = lower.get_mut(..header.name.len()) else { return Ok(()) };
        name.copy_from_slice(header.name);
        name.make_ascii_lowercase();
        match &*name {
            b"content-length" if !self.bodyless => body.map_or(Ok(()), |body| content_length(t, body))?,
            b"content-encoding" if !self.bodyless => append_list(&mut self.rare.content_codings, value),
            b"content-type" if !value.is_empty() => {
                t.easy.info.borrow_mut().content_type = Some(Text::from(value));
            }
            b"content-range" => {
                self.has_content_range = true;
                match reply::range_start(value) {
                    Some(start) => self.resumes |= start as i64 == t.long(O::ResumeFromLarge),
                    None => self.begins_anew |= self.status < 300,
                }
            }
            b"location" if !value.is_empty() => self.location(value)?,
            // Two of three replies have one, and few applications ask for it.
            b"last-modified" if !self.bodyless && (t.on(O::FileTime) || t.long(O::TimeCondition) != 0) => {
                self.rare.last_modified = date::parse(value);
                if let Some(seconds) = self.rare.last_modified.filter(|_| t.on(O::FileTime)) {
                    t.easy.info.borrow_mut().file_time = seconds;
                }
            }
            b"retry-after" => {
                t.easy.info.borrow_mut().rare.retry_after = date::retry_after(value, now());
            }
            b"www-authenticate" => {
                self.rare.challenges.push(value.to_vec());
                if self.status == 401 {
                    let offered = schemes_offered(&self.rare.challenges);
                    t.easy.info.borrow_mut().rare.auth_available = offered as i64;
                }
            }
            b"proxy-authenticate" => {
                self.rare.proxy_challenges.push(value.to_vec());
                if self.status == 407 {
                    let offered = schemes_offered(&self.rare.proxy_challenges);
                    t.easy.info.borrow_mut().rare.proxy_auth_available = offered as i64;
                }
            }
            b"persistent-auth" => {
                let no = value.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"false"));
                self.rare.persistent_auth = Some(!no);
            }
            b"set-cookie" => {
                self.cookies += 1;
                // A reply that floods the jar is cut short (CVE-2022-32205).
                if self.cookies as usize <= wire::cookie::RESPONSE_LIMIT {
                    t.cookie_received(value);
                }
            }
            b"alt-svc" => t.alternative_received(self.version, value),
            b"strict-transport-security" => t.strictness_received(value),
            _ => {}
        }
        Ok(())
    }

    /// Stores the value of Location; all heads of a reply may have one place to go.
    fn location(&mut self, value: &[u8]) -> Result<()> {
        let known = self.rare.location.as_deref().or(self.rare.interim_location.as_deref());
        if known.is_some_and(|known| known != value) {
            return Err(Error::new(Code::WeirdServerReply, "Multiple Location headers"));
        }
        self.rare.location = Some(value.to_vec());
        Ok(())
    }

    /// Processes the framing of the body. Runs before the header callback is called with the empty line, in
    /// which applications query the size.
    fn end_of_head(&mut self, t: &Transfer, body: Body) {
        self.body = body;
        if body.coded {
            t.easy.info.borrow_mut().announced = -1;
        }
        if self.status / 100 != 1 {
            self.note_size(t);
        }
    }

    /// Notes the size of the body, unless the transfer ends because of this head.
    fn note_size(&self, t: &Transfer) {
        if reply::failure(&self.facts(t)).is_some() {
            return;
        }
        let mut info = t.easy.info.borrow_mut();
        if matches!(self.status, 204 | 304) {
            info.download_total = 0;
        } else if let Some(length) = self.body.length {
            info.download_total = length as i64;
        }
    }

    /// Whether frames of a WebSocket follow. Such a head is not shown with them.
    pub fn begins_websocket(&self, t: &Transfer) -> bool {
        t.scheme().family() == Family::Ws && reply::agrees_to_websocket(self.version, self.status)
    }

    /// Returns the facts for decisions about a reply that is the transfer's last.
    #[inline]
    fn facts(&self, t: &Transfer) -> Final {
        let settings = t.easy.settings.borrow();
        Final {
            status: self.status,
            method: t.method,
            length: self.body.length,
            fail_on_error: settings.on(O::FailOnError),
            limit: settings.long(O::MaxFileSizeLarge),
            resume_from: settings.long(O::ResumeFromLarge),
            resumes: self.resumes,
            begins_anew: self.begins_anew,
        }
    }

    /// Fails if the final reply fails the transfer.
    pub fn check_body(&self, t: &Transfer) -> Result<()> {
        let Some(failure) = reply::failure(&self.facts(t)) else { return Ok(()) };
        cold_path();
        Err(Error::new(failure.code(), failure.text()))
    }

    /// Fails if only interim replies were received.
    pub fn check_end(&self, t: &Transfer) -> Result<()> {
        match reply::is_empty(self.status, t.easy.info.borrow().downloaded) {
            true => Err(Error::new(Code::GotNothing, "Empty reply from server")),
            false => Ok(()),
        }
    }

    /// Returns whether a resumed document is complete already, so that its body is of no use.
    pub fn is_there_already(&self, t: &Transfer) -> bool {
        let complete = reply::is_complete(&self.facts(t));
        if complete == Some(Complete::SameLength) {
            t.easy.note(|| "The entire document is already downloaded".to_owned());
        }
        complete.is_some()
    }

    /// Returns whether the server sends a document that CURLOPT_TIMECONDITION does not want.
    pub fn is_not_newer(&self, t: &Transfer) -> bool {
        if self.status / 100 == 2 { self.not_newer } else { self.simulates_304(t) }
    }

    /// Compares the reply's date with CURLOPT_TIMEVALUE, and reports a document that is not newer as a 304.
    fn simulates_304(&self, t: &Transfer) -> bool {
        // Few replies have a relevant date; the settings are read only for those.
        let Some(modified) = self.rare.last_modified else { return false };
        let (condition, limit) = (t.long(O::TimeCondition), t.long(O::TimeValueLarge));
        let has_range = t.text(O::Range).is_some();
        if !reply::is_unmet(condition, limit, Some(modified), has_range) {
            return false;
        }
        t.easy.note(|| "Simulate an HTTP 304 response".to_owned());
        let mut info = t.easy.info.borrow_mut();
        (info.condition_unmet, info.response_code) = (true, 304);
        true
    }

    /// Prepares framing and decoders for the body.
    pub fn begin_body(&self, t: &mut Transfer, active: &mut ActiveExchange) -> Result<()> {
        active.exchange.begin_body();
        if !self.body.exists {
            return Ok(());
        }
        let mut codings = Vec::new();
        if t.on(O::HttpContentDecoding) && t.text(O::AcceptEncoding).is_some() {
            append_list(&mut codings, &self.rare.content_codings);
        }
        append_list(&mut codings, active.exchange.codings());
        if !codings.is_empty() {
            cold_path();
            let list = String::from_utf8_lossy(&codings).into_owned();
            let dictionary = t.flow.writer.dictionary();
            let decoder = Decoder::with_dictionary(&list, DEPTH_LIMIT, dictionary).map_err(decode_error)?;
            if !decoder.is_identity() {
                t.flow.writer.decode(decoder);
            }
        }
        Ok(())
    }
}

/// Passes trailer fields to the header callback, like those of the head.
pub fn receive_trailers(t: &mut Transfer, active: &mut ActiveExchange) -> Result<()> {
    while let Some(HeadPart { line, item, .. }) = active.exchange.trailer() {
        match item {
            Ok(HeadItem::Field(field)) => {
                let count = t.easy.info.borrow().redirect_count as usize;
                t.easy.headers.borrow_mut().add_field(Origin::Trailer, count, &field)?;
            }
            Err(fault @ (HeadError::Octet(..) | HeadError::NoColon)) => return Err(bad(fault)),
            _ => {}
        }
        t.flow.writer.header(line, t.on(O::Header))?;
    }
    Ok(())
}

/// Checks the combined Content-Length fields.
fn content_length(t: &Transfer, body: Body) -> Result<()> {
    if body.overflow && t.long(O::MaxFileSizeLarge) > 0 {
        return Err(Error::new(Code::FilesizeExceeded, "Maximum file size exceeded"));
    }
    if body.overflow {
        t.easy.note(|| "Overflow Content-Length: value".to_owned());
    }
    if let Some(length) = body.length {
        t.easy.info.borrow_mut().announced = length as i64;
    }
    Ok(())
}

fn append_list(list: &mut Vec<u8>, more: &[u8]) {
    if !list.is_empty() && !more.is_empty() {
        list.extend_from_slice(b", ");
    }
    list.extend_from_slice(more);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::fixture::transfer;

    #[test]
    fn codings_of_several_fields_are_one_list() {
        let rows: [(_, &[&[u8]], &[u8]); 4] = [
            ("RFC 9110 §8.4: one field", &[b"gzip"], b"gzip"),
            ("RFC 9110 §5.3: two fields", &[b"br", b"gzip"], b"br, gzip"),
            ("RFC 9110 §5.6.1: an empty one", &[b"", b"gzip", b""], b"gzip"),
            ("RFC 9110 §8.4: none", &[], b""),
        ];
        for (name, values, wanted) in rows {
            let mut list = Vec::new();
            values.iter().for_each(|value| append_list(&mut list, value));
            assert_eq!(list, wanted, "{name}");
        }
    }

    #[test]
    fn a_reply_leads_to_one_place() {
        let with = |interim: Option<&[u8]>, values: &[&[u8]]| {
            let mut response = Response::default();
            response.rare.interim_location = interim.map(<[u8]>::to_vec);
            let read = values.iter().try_for_each(|value| response.location(value));
            read.map(|()| response.rare.location.clone()).map_err(|e| e.code())
        };
        let weird = Err(Code::WeirdServerReply);
        let rows: [(_, Option<&[u8]>, &[&[u8]], _); 5] = [
            ("RFC 9110 §10.2.2: one", None, &[b"/a"], Ok(Some(b"/a".to_vec()))),
            ("RFC 9110 §10.2.2: said twice", None, &[b"/a", b"/a"], Ok(Some(b"/a".to_vec()))),
            ("RFC 9110 §10.2.2: two places", None, &[b"/a", b"/b"], weird.clone()),
            ("RFC 9110 §15.2: an interim reply named it", Some(b"/a"), &[b"/a"], Ok(Some(b"/a".to_vec()))),
            ("RFC 9110 §15.2: an interim reply named another", Some(b"/b"), &[b"/a"], weird),
        ];
        for (name, interim, values, wanted) in rows {
            assert_eq!(with(interim, values), wanted, "{name}");
        }
    }

    #[test]
    fn heads_are_bounded_together() {
        let of = |before: i64, total, part| {
            let t = transfer("http://h/", &[], &[]);
            t.easy.0.info.borrow_mut().header_size = before;
            check_size(&t, total, part).map_err(|e| e.code())
        };
        let bad = Err(Code::RecvError);
        let rows = [
            ("CVE-2023-38039: just within", 0, MAX_HEADS, 1, Ok(())),
            ("CVE-2023-38039: heads of one request", 0, MAX_HEADS + 1, 1, bad),
            ("CVE-2023-38039: of all redirects, just within", MAX_ALL_HEADS as i64 - 1, 1, 1, Ok(())),
            ("CVE-2023-38039: of all redirects", MAX_ALL_HEADS as i64, 1, 1, bad),
        ];
        for (name, before, total, part, wanted) in rows {
            assert_eq!(of(before, total, part), wanted, "{name}");
        }
    }

    #[test]
    fn a_length_that_overflows_fails_only_against_a_limit() {
        let of = |limit, body| {
            let t = transfer("http://h/", &[], &[(O::MaxFileSizeLarge, limit)]);
            let checked = content_length(&t, body).map_err(|e| e.code());
            let announced = t.easy.0.info.borrow().announced;
            (checked, announced)
        };
        let overflow = Body { overflow: true, ..Body::default() };
        let nine = Body { length: Some(9), ..Body::default() };
        assert_eq!(of(0, nine), (Ok(()), 9), "RFC 9110 §8.6: a length");
        assert_eq!(of(0, overflow), (Ok(()), -1), "RFC 9110 §8.6: more than fits is not known");
        assert_eq!(of(5, overflow).0, Err(Code::FilesizeExceeded), "CURLOPT_MAXFILESIZE(3)");
    }

    #[test]
    fn faults_of_a_head_have_codes() {
        let rows = [
            (
                "RFC 9112 §4: HTTP/2 in the wrong place",
                HeadError::Status(BadStatus::Major(2)),
                Code::WeirdServerReply,
            ),
            (
                "RFC 9112 §2.3: a version that nobody has",
                HeadError::Status(BadStatus::Major(7)),
                Code::UnsupportedProtocol,
            ),
            ("RFC 9112 §5: no colon", HeadError::NoColon, Code::WeirdServerReply),
            ("RFC 9110 §8.6: a length that is none", HeadError::Length, Code::WeirdServerReply),
            ("RFC 2326 §7.1: no status line of RTSP", HeadError::NotRtsp, Code::WeirdServerReply),
        ];
        for (name, fault, wanted) in rows {
            assert_eq!(bad(fault).code(), wanted, "{name}");
        }
    }
}
