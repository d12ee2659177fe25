//! Reply: which kind of head has arrived, and whether the final reply is a failure, a document that is there
//! already, or one that is not new.

use tables::Code;
use tables::constant::CURL_TIMECOND_IFUNMODSINCE;

use crate::settings::Method;

/// Status 101 (RFC 9110 §15.2.2).
pub const SWITCHING: u16 = 101;

/// A reply whose first bytes are not a status line.
#[derive(Clone, Copy, Debug)]
pub struct Headless {
    /// The connection has served another request before.
    pub reused: bool,
    /// CURLOPT_HTTP09_ALLOWED.
    pub allowed: bool,
    /// The request was HEAD.
    pub head_only: bool,
}

/// The verdict on a reply without a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Http09 {
    /// All of it is the body.
    Body,
    /// A server that has spoken HTTP/1 does not fall back.
    NoStatusLine,
    /// The application does not allow it.
    NotAllowed,
    /// No part of the body is wanted.
    NoBody,
}

/// Decides about a reply that has no head (HTTP/0.9).
pub fn headless(f: &Headless) -> Http09 {
    match f {
        Headless { reused: true, .. } => Http09::NoStatusLine,
        Headless { allowed: false, .. } => Http09::NotAllowed,
        Headless { head_only: true, .. } => Http09::NoBody,
        _ => Http09::Body,
    }
}

/// A head that has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Its status.
    pub status: u16,
    /// The server closed before the empty line.
    pub cut_off: bool,
    /// Whether the request asked for HTTP/2 by an Upgrade field.
    pub asked_for_http2: bool,
    /// The request was one of HTTP/1.0.
    pub http10: bool,
}

/// The kind of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No status of HTTP.
    Unsupported,
    /// The reply follows in HTTP/2.
    Http2Follows,
    /// A change of protocol that was not requested.
    Unexpected,
    /// The reply itself.
    Final,
    /// The server wants the body (100).
    Continue,
    /// Another head follows.
    Interim,
}

/// Decides which kind of head has arrived.
pub fn kind(f: &Head) -> Kind {
    match f.status {
        ..100 if !f.cut_off => Kind::Unsupported,
        SWITCHING if f.asked_for_http2 => Kind::Http2Follows,
        SWITCHING if f.http10 => Kind::Unexpected,
        SWITCHING => Kind::Final,
        100 => Kind::Continue,
        102..200 => Kind::Interim,
        _ => Kind::Final,
    }
}

/// Returns the targets that a Link field names (RFC 8288 §3.1), without their queries, which may be secret.
pub fn link_targets(value: &[u8]) -> Vec<String> {
    let target = |part: &[u8]| {
        let end = part.iter().position(|byte| *byte == b'>')?;
        let end = part[..end].iter().position(|byte| matches!(byte, b'?' | b'#')).unwrap_or(end);
        Some(String::from_utf8_lossy(&part[..end]).into_owned())
    };
    value.split(|byte| *byte == b'<').skip(1).filter_map(target).collect()
}

/// Returns whether the reply agrees to a WebSocket: 101 in HTTP/1.1 (RFC 6455 §4.2.2), any success on a
/// stream (RFC 8441 §5).
pub fn agrees_to_websocket(version: u8, status: u16) -> bool {
    if version >= 20 { status / 100 == 2 } else { status == SWITCHING }
}

/// The end of a connection within a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutOff {
    /// There is no reply.
    Nothing,
    /// The head counts as complete, and so does the reply.
    Complete,
    /// The head counts as complete; so many bytes of the body are missing.
    BodyMissing(u64),
}

/// Decides about a head that ended without its empty line. Some servers omit that if no body follows, and
/// curl uses the lines received; it is not a reply only if it has no status line, or is interim. `length` is
/// the length of a body that follows.
pub fn cut_off(lines: usize, status: u16, length: Option<u64>) -> CutOff {
    if lines == 0 || status / 100 == 1 {
        return CutOff::Nothing;
    }
    match length {
        Some(length) if length > 0 => CutOff::BodyMissing(length),
        _ => CutOff::Complete,
    }
}

/// The final reply of a transfer, and its resumption and limits.
#[derive(Clone, Copy, Debug)]
pub struct Final {
    /// Status of the reply.
    pub status: u16,
    /// Method of the request.
    pub method: Method,
    /// The length of its body, where it is known.
    pub length: Option<u64>,
    /// CURLOPT_FAILONERROR.
    pub fail_on_error: bool,
    /// CURLOPT_MAXFILESIZE_LARGE; 0 is without limit.
    pub limit: i64,
    /// CURLOPT_RESUME_FROM_LARGE.
    pub resume_from: i64,
    /// Whether a Content-Range begins at the requested offset.
    pub resumes: bool,
    /// A Content-Range names no place: the reply is the whole file.
    pub begins_anew: bool,
}

impl Final {
    fn is_resumed(&self) -> bool {
        self.resume_from > 0
    }
}

/// A reply that fails its transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyFailure {
    /// CURLOPT_FAILONERROR, with the status.
    Status(u16),
    /// CURLOPT_MAXFILESIZE.
    TooLong,
    /// The server does not know ranges.
    NoRanges,
}

impl ReplyFailure {
    /// Returns curl's code.
    pub fn code(self) -> Code {
        match self {
            ReplyFailure::Status(_) => Code::HttpReturnedError,
            ReplyFailure::TooLong => Code::FilesizeExceeded,
            ReplyFailure::NoRanges => Code::RangeError,
        }
    }

    /// Returns curl's text.
    pub fn text(self) -> String {
        match self {
            ReplyFailure::Status(status) => format!("The requested URL returned error: {status}"),
            ReplyFailure::TooLong => "Maximum file size exceeded".to_owned(),
            ReplyFailure::NoRanges => {
                "HTTP server does not seem to support byte ranges. Cannot resume.".to_owned()
            }
        }
    }
}

/// Decides whether the final reply fails the transfer before its body is read.
pub fn failure(f: &Final) -> Option<ReplyFailure> {
    if f.fail_on_error && f.status >= 400 && !(f.status == 416 && f.is_resumed()) {
        return Some(ReplyFailure::Status(f.status));
    }
    let unranged = f.is_resumed()
        && f.method == Method::Get
        && f.status != 416
        && !f.resumes
        && !f.begins_anew
        && f.length != Some(f.resume_from as u64);
    if unranged {
        return Some(ReplyFailure::NoRanges);
    }
    (f.limit > 0 && f.length.is_some_and(|length| length > f.limit as u64)).then_some(ReplyFailure::TooLong)
}

/// A resumed document that is complete already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Complete {
    /// There is nothing after the requested offset.
    NothingBehind,
    /// The server sends the whole document, which is as long as the part that is there.
    SameLength,
}

/// Returns whether the document is there already, so that the body of this reply is not stored.
pub fn is_complete(f: &Final) -> Option<Complete> {
    if !f.is_resumed() || f.method != Method::Get {
        return None;
    }
    if f.status == 416 {
        return Some(Complete::NothingBehind);
    }
    (!f.resumes && f.length == Some(f.resume_from as u64)).then_some(Complete::SameLength)
}

/// Returns whether the document does not fulfil CURLOPT_TIMECONDITION although the server sends it. `limit`
/// is CURLOPT_TIMEVALUE_LARGE; a request for a range is never taken for unmet.
pub fn is_unmet(condition: i64, limit: i64, modified: Option<i64>, has_range: bool) -> bool {
    let Some(modified) = modified.filter(|_| condition != 0 && !has_range) else { return false };
    if condition == CURL_TIMECOND_IFUNMODSINCE { modified >= limit } else { modified <= limit }
}

/// Returns whether there was no real reply: only a 101, and nothing after it.
pub fn is_empty(status: u16, downloaded: i64) -> bool {
    status == SWITCHING && downloaded == 0
}

/// Returns the first byte of a Content-Range such as "bytes 10-20/30"; there is none in "bytes */30".
pub fn range_start(value: &[u8]) -> Option<u64> {
    let place = value.iter().copied().skip_while(|b| !b.is_ascii_digit() && *b != b'*');
    let digits: Vec<u8> = place.take_while(u8::is_ascii_digit).collect();
    std::str::from_utf8(&digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_of_ranges() {
        let rows: [(&[u8], _); 4] =
            [(b"bytes 10-20/30", Some(10)), (b"0-0/1", Some(0)), (b"bytes */30", None), (b"bytes", None)];
        for (value, first) in rows {
            assert_eq!(range_start(value), first);
        }
    }

    #[test]
    fn headless_replies() {
        let fresh = Headless { reused: false, allowed: true, head_only: false };
        let rows = [
            ("CURLOPT_HTTP09_ALLOWED(3): all is body", fresh, Http09::Body),
            ("CURLOPT_HTTP09_ALLOWED(3): off", Headless { allowed: false, ..fresh }, Http09::NotAllowed),
            (
                "RFC 9112 §2.3: who has spoken HTTP/1",
                Headless { reused: true, ..fresh },
                Http09::NoStatusLine,
            ),
            (
                "RFC 9112 §2.3: who has spoken HTTP/1, where it is not allowed",
                Headless { reused: true, allowed: false, ..fresh },
                Http09::NoStatusLine,
            ),
            ("RFC 9110 §9.3.2: HEAD", Headless { head_only: true, ..fresh }, Http09::NoBody),
            (
                "CURLOPT_HTTP09_ALLOWED(3): HEAD, where it is not allowed",
                Headless { head_only: true, allowed: false, ..fresh },
                Http09::NotAllowed,
            ),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(headless(&facts), wanted, "{name}");
        }
    }

    #[test]
    fn kinds() {
        let head = |status| Head { status, cut_off: false, asked_for_http2: false, http10: false };
        let http10 = |status| Head { http10: true, ..head(status) };
        let rows = [
            ("RFC 9110 §15.3.1: 200", head(200), Kind::Final),
            ("RFC 9110 §15: a status of no known class", head(999), Kind::Final),
            ("RFC 9110 §15.2.1: 100", head(100), Kind::Continue),
            ("RFC 8297 §2: 103", head(103), Kind::Interim),
            ("RFC 9110 §15.2: the last interim one", head(199), Kind::Interim),
            ("RFC 9110 §15.2.2: 101 is final here", head(101), Kind::Final),
            (
                "RFC 7540 §3.2: 101 that was asked for",
                Head { asked_for_http2: true, ..head(101) },
                Kind::Http2Follows,
            ),
            (
                "RFC 7540 §3.2: HTTP/2 that is not granted",
                Head { asked_for_http2: true, ..head(200) },
                Kind::Final,
            ),
            ("RFC 9110 §7.8: 101 to a request of HTTP/1.0", http10(101), Kind::Unexpected),
            ("RFC 9110 §15.2: 100 to a request of HTTP/1.0 is passed over", http10(100), Kind::Continue),
            ("RFC 9110 §15: below 100 is none", head(99), Kind::Unsupported),
            (
                "RFC 9112 §8: a head that was cut off has been judged",
                Head { cut_off: true, ..head(0) },
                Kind::Final,
            ),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(kind(&facts), wanted, "{name}");
        }
    }

    #[test]
    fn websockets() {
        let rows = [
            ("RFC 6455 §4.2.2: 101", 11, 101, true),
            ("RFC 6455 §4.1: any other status is a refusal", 11, 200, false),
            ("RFC 6455 §4.1: a redirect, too", 11, 302, false),
            ("RFC 8441 §5: any success on a stream", 20, 200, true),
            ("RFC 8441 §5: the last one", 20, 299, true),
            ("RFC 8441 §5: 101 means nothing there", 20, 101, false),
            ("RFC 8441 §5: an error", 20, 403, false),
            ("RFC 9220 §3: HTTP/3 as HTTP/2", 30, 200, true),
        ];
        for (name, version, status, wanted) in rows {
            assert_eq!(agrees_to_websocket(version, status), wanted, "{name}");
        }
    }

    #[test]
    fn cut_off_heads() {
        let rows = [
            ("RFC 9112 §8: not even a status line", 0, 0, None, CutOff::Nothing),
            ("RFC 9112 §8: an interim reply alone", 1, 103, None, CutOff::Nothing),
            ("RFC 9112 §8: a head without its empty line", 2, 200, None, CutOff::Complete),
            ("RFC 9112 §6.3: an empty body", 2, 200, Some(0), CutOff::Complete),
            ("RFC 9112 §6.3: a body is missing", 2, 200, Some(5), CutOff::BodyMissing(5)),
        ];
        for (name, lines, status, length, wanted) in rows {
            assert_eq!(cut_off(lines, status, length), wanted, "{name}");
        }
    }

    /// A whole document of 10 bytes.
    const WHOLE: Final = Final {
        status: 200,
        method: Method::Get,
        length: Some(10),
        fail_on_error: false,
        limit: 0,
        resume_from: 0,
        resumes: false,
        begins_anew: false,
    };
    /// A document of which 4 bytes are there, and the rest comes.
    const PART: Final = Final { status: 206, resume_from: 4, resumes: true, length: Some(6), ..WHOLE };

    #[test]
    fn failures() {
        let strict = |status, f| Final { status, fail_on_error: true, ..f };
        let limited = |limit, length| Final { limit, length, ..WHOLE };
        let unranged = Final { status: 200, resumes: false, length: Some(10), ..PART };
        let rows = [
            ("RFC 9110 §15.3.1: a document", WHOLE, None),
            ("CURLOPT_FAILONERROR(3): off", Final { status: 404, ..WHOLE }, None),
            ("CURLOPT_FAILONERROR(3): 404", strict(404, WHOLE), Some(ReplyFailure::Status(404))),
            ("CURLOPT_FAILONERROR(3): the first error", strict(400, WHOLE), Some(ReplyFailure::Status(400))),
            ("CURLOPT_FAILONERROR(3): a redirect is none", strict(399, WHOLE), None),
            ("CURLOPT_FAILONERROR(3): 416 of a resumed document", strict(416, PART), None),
            (
                "CURLOPT_FAILONERROR(3): 416 of another one",
                strict(416, WHOLE),
                Some(ReplyFailure::Status(416)),
            ),
            ("CURLOPT_MAXFILESIZE_LARGE(3): within", limited(10, Some(10)), None),
            ("CURLOPT_MAXFILESIZE_LARGE(3): beyond", limited(9, Some(10)), Some(ReplyFailure::TooLong)),
            ("CURLOPT_MAXFILESIZE_LARGE(3): a length that is not known", limited(9, None), None),
            (
                "CURLOPT_FAILONERROR(3): the status goes first",
                strict(500, limited(9, Some(10))),
                Some(ReplyFailure::Status(500)),
            ),
            ("RFC 9110 §15.3.7: the part that was asked for", PART, None),
            ("CURLOPT_RESUME_FROM_LARGE(3): the range was ignored", unranged, Some(ReplyFailure::NoRanges)),
            (
                "CURLOPT_MAXFILESIZE_LARGE(3): an ignored range goes before the length",
                Final { limit: 6, ..unranged },
                Some(ReplyFailure::NoRanges),
            ),
            (
                "CURLOPT_RESUME_FROM_LARGE(3): another part",
                Final { resumes: false, ..PART },
                Some(ReplyFailure::NoRanges),
            ),
            ("RFC 9110 §14.4: \"bytes */10\"", Final { begins_anew: true, ..unranged }, None),
            (
                "CURLOPT_RESUME_FROM_LARGE(3): as long as the part that is there",
                Final { length: Some(4), ..unranged },
                None,
            ),
            ("RFC 9110 §15.5.17: nothing is behind it", Final { status: 416, ..unranged }, None),
            (
                "CURLOPT_RESUME_FROM_LARGE(3): an upload's reply has no range",
                Final { method: Method::Put, ..unranged },
                None,
            ),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(failure(&facts), wanted, "{name}");
        }
        let codes = [ReplyFailure::Status(404), ReplyFailure::TooLong, ReplyFailure::NoRanges]
            .map(|failure| failure.code().id());
        assert_eq!(codes, [22, 63, 33], "libcurl-errors(3)");
    }

    #[test]
    fn complete_documents() {
        let same = Final { status: 200, resumes: false, length: Some(4), ..PART };
        let rows = [
            ("RFC 9110 §15.5.17: 416", Final { status: 416, ..same }, Some(Complete::NothingBehind)),
            ("CURLOPT_RESUME_FROM_LARGE(3): as long as what is there", same, Some(Complete::SameLength)),
            ("CURLOPT_RESUME_FROM_LARGE(3): longer", Final { length: Some(5), ..same }, None),
            ("RFC 9110 §15.3.7: a part of that length", PART_OF_FOUR, None),
            ("RFC 9110 §15.5.17: nothing was resumed", Final { resume_from: 0, status: 416, ..same }, None),
            ("RFC 9110 §15.5.17: an upload", Final { method: Method::Put, status: 416, ..same }, None),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(is_complete(&facts), wanted, "{name}");
        }
    }

    const PART_OF_FOUR: Final = Final { length: Some(4), ..PART };

    #[test]
    fn targets_of_early_hints() {
        for (name, value, wanted) in [
            ("RFC 8297 §2: one link", "</style.css>; rel=preload; as=style", &["/style.css"][..]),
            (
                "RFC 8288 §3: a list",
                "</a>; rel=preload, <https://h/b>;rel=preconnect",
                &["/a", "https://h/b"],
            ),
            ("RFC 8288 §3.1: a query stays out", "</a?key=1#top>; rel=preload", &["/a"]),
            ("RFC 8288 §3: no target", "rel=preload", &[]),
            ("RFC 8288 §3: not closed", "</a; rel=preload", &[]),
        ] {
            assert_eq!(link_targets(value.as_bytes()), wanted, "{name}");
        }
    }

    #[test]
    fn time_conditions() {
        let (since, unmodified, last) = (1, 2, 3);
        let rows = [
            ("CURLOPT_TIMECONDITION(3): none", (0, 100, Some(50), false), false),
            ("RFC 9110 §13.1.3: older", (since, 100, Some(99), false), true),
            ("RFC 9110 §13.1.3: of that moment", (since, 100, Some(100), false), true),
            ("RFC 9110 §13.1.3: newer", (since, 100, Some(101), false), false),
            ("RFC 9110 §13.1.3: without a date", (since, 100, None, false), false),
            ("RFC 9110 §13.1.4: older", (unmodified, 100, Some(99), false), false),
            ("RFC 9110 §13.1.4: of that moment", (unmodified, 100, Some(100), false), true),
            ("CURLOPT_TIMECONDITION(3): CURL_TIMECOND_LASTMOD", (last, 100, Some(100), false), true),
            ("CURLOPT_RANGE(3): a part is wanted in any case", (since, 100, Some(50), true), false),
        ];
        for (name, (condition, limit, modified, range), wanted) in rows {
            assert_eq!(is_unmet(condition, limit, modified, range), wanted, "{name}");
        }
    }

    #[test]
    fn empty_replies() {
        let rows = [
            ("RFC 9110 §15.2.2: 101 and the end", 101, 0, true),
            ("RFC 9110 §15.2.2: 101 and bytes of another protocol", 101, 1, false),
            ("RFC 9110 §15.3.5: a final reply may be empty", 204, 0, false),
        ];
        for (name, status, downloaded, wanted) in rows {
            assert_eq!(is_empty(status, downloaded), wanted, "{name}");
        }
    }
}
