//! Fields of a request that depend on more than one option: the application's own lines, Host, ranges and
//! lengths; and whether a request's head may be sent again by the next transfer.

use net::exchange::RequestBody;

use super::version::Version;
use crate::settings::Method;

/// A request that the application's own lines are added to.
#[derive(Clone, Copy, Debug)]
pub struct Own {
    /// Its method, as the settings know it.
    pub method: Method,
    /// Its body is a form.
    pub form: bool,
    /// Whether it omits its body to get a challenge.
    pub withheld: bool,
    /// Whether it goes to another origin than the first one.
    pub other_origin: bool,
}

/// Returns whether a line of CURLOPT_HTTPHEADER that names this field is added as it is. Fields that the
/// request makes by itself are not.
pub fn adds_own_line(name: &[u8], f: &Own) -> bool {
    let is = |n: &str| name.eq_ignore_ascii_case(n.as_bytes());
    let foreign_length = f.withheld || f.method == Method::Get && f.other_origin;
    !(is("Host")
        || is("Connection")
        || is("Content-Type") && f.form
        || is("Content-Length") && foreign_length)
}

/// The Host field of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Host {
    /// The URL's host and port.
    OfUrl,
    /// The application's own value.
    Own,
    /// The application wants it empty.
    Empty,
    /// The application has removed it.
    Absent,
}

/// Decides about the Host field. The application's own is meant for the first origin.
pub fn host(other_origin: bool, named: bool, has_value: bool, blank: bool) -> Host {
    match (other_origin || !named, has_value, blank) {
        (true, ..) => Host::OfUrl,
        (false, true, _) => Host::Own,
        (false, false, true) => Host::Empty,
        (false, false, false) => Host::Absent,
    }
}

/// A request for a part of a document, or with a part of one.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Its method, as the settings know it.
    pub method: Method,
    /// CURLOPT_RESUME_FROM_LARGE.
    pub from: i64,
    /// CURLOPT_RANGE is set.
    pub range: bool,
    /// The offset of a resumed upload, and the total length.
    pub upload: Option<(u64, Option<u64>)>,
    /// Whether the application has its own Range field.
    pub own_range: bool,
    /// Whether the application has its own Content-Range field.
    pub own_content_range: bool,
}

/// The field that names the part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// There is none.
    None,
    /// `Range: bytes=FROM-`.
    From(i64),
    /// `Range: bytes=` and CURLOPT_RANGE.
    Option,
    /// `Content-Range: bytes FROM-LAST/ALL`.
    Upload(u64, Option<u64>),
    /// `Content-Range: bytes ` and CURLOPT_RANGE.
    UploadOption,
}

/// Decides which field names the part of a document that is meant. curl asks for no part of a form's reply.
pub fn range(f: &Part) -> Range {
    match (f.method, f.upload) {
        (Method::Get | Method::Head, _) if f.own_range => Range::None,
        (Method::Get | Method::Head, _) if f.from > 0 => Range::From(f.from),
        (Method::Get | Method::Head, _) if f.range => Range::Option,
        (Method::Put | Method::Post, _) if f.own_content_range => Range::None,
        (Method::Put | Method::Post, Some((from, all))) => Range::Upload(from, all),
        (Method::Put | Method::Post, None) if f.range => Range::UploadOption,
        _ => Range::None,
    }
}

/// A resumed upload that cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NothingLeft;

/// Decides where a resumed upload continues: `Some(offset)` skips the bytes before it. A negative offset
/// means to ask the server for its size; HTTP cannot do that, so everything is sent, and the field says so.
pub fn resumed_upload(
    method: Method,
    from: i64,
    is_nothing: bool,
    size: Option<u64>,
) -> Result<Option<u64>, NothingLeft> {
    if from == 0 || !matches!(method, Method::Put | Method::Post) || is_nothing {
        return Ok(None);
    }
    let Ok(from) = u64::try_from(from) else { return Ok(Some(0)) };
    if size.is_some_and(|all| all <= from) { Err(NothingLeft) } else { Ok(Some(from)) }
}

/// Returns the value of the Content-Length field, if one is added.
pub fn content_length(follows: RequestBody, withheld: bool, own: bool, size: Option<u64>) -> Option<u64> {
    match (follows, withheld, own) {
        (RequestBody::Chunked, ..) => None,
        (_, true, _) => Some(0),
        (_, false, true) => None,
        (_, false, false) => size,
    }
}

/// Returns whether the body's end is marked by its framing, so that the application may append trailers. The
/// frames of a WebSocket end with the stream.
pub fn has_open_end(follows: RequestBody, version: Version, size: Option<u64>, websocket: bool) -> bool {
    let in_frames = version.has_streams() && follows != RequestBody::None && size.is_none() && !websocket;
    follows == RequestBody::Chunked || in_frames
}

/// A request whose head might be reused by the next transfer.
#[derive(Clone, Copy, Debug)]
pub struct Repeatable {
    /// It is for the URL that the application gave.
    pub first_url: bool,
    /// A redirect has changed the method or made a Referer.
    pub redirected: bool,
    /// A server has replied in HTTP/1.0, or does on this connection.
    pub http10: bool,
    /// Whether a proxy fetches the URL, or an alternative service is used.
    pub indirect: bool,
    /// Whether each request of the scheme differs: a WebSocket has its own key, RTSP numbers its requests.
    pub numbered: bool,
    /// Whether a field asks for HTTP/2.
    pub asks_for_upgrade: bool,
    /// Whether the application has a cache, and may add conditions.
    pub keeps_replies: bool,
    /// The handle has cookies.
    pub cookies: bool,
}

/// Returns whether the head depends only on the settings and the URL.
pub fn is_repeatable(f: &Repeatable) -> bool {
    f.first_url
        && !(f.redirected
            || f.http10
            || f.indirect
            || f.numbered
            || f.asks_for_upgrade
            || f.keeps_replies
            || f.cookies)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Method::{Get, Head, Post, PostMime, Put};

    #[test]
    fn own_lines() {
        let get = Own { method: Get, form: false, withheld: false, other_origin: false };
        let post = Own { method: Post, ..get };
        let rows = [
            ("CURLOPT_HTTPHEADER(3): a field of any name", "X-Test", get, true),
            ("RFC 9110 §7.2: Host has its place", "host", get, false),
            ("RFC 9110 §7.6.1: Connection has its place", "CONNECTION", get, false),
            ("CURLOPT_HTTPHEADER(3): a type of one's own", "Content-Type", post, true),
            (
                "RFC 7578 §4.1: a form's type has a boundary",
                "Content-Type",
                Own { form: true, ..post },
                false,
            ),
            ("CURLOPT_HTTPHEADER(3): a length of one's own", "Content-Length", post, true),
            (
                "CURLOPT_HTTPAUTH(3): the body is left out",
                "Content-Length",
                Own { withheld: true, ..post },
                false,
            ),
            (
                "RFC 9110 §15.4: the GET behind a redirect has no body",
                "Content-Length",
                Own { other_origin: true, ..get },
                false,
            ),
            (
                "RFC 9110 §15.4.8: a redirected POST has one",
                "Content-Length",
                Own { other_origin: true, ..post },
                true,
            ),
        ];
        for (rule, name, facts, wanted) in rows {
            assert_eq!(adds_own_line(name.as_bytes(), &facts), wanted, "{rule}");
        }
    }

    #[test]
    fn hosts() {
        // Another origin, named, with a value, as "Host;".
        let rows = [
            ("RFC 9110 §7.2: from the URL", (false, false, false, false), Host::OfUrl),
            ("CURLOPT_HTTPHEADER(3): \"Host: x\"", (false, true, true, false), Host::Own),
            ("CURLOPT_HTTPHEADER(3): \"Host;\"", (false, true, false, true), Host::Empty),
            ("CURLOPT_HTTPHEADER(3): \"Host:\"", (false, true, false, false), Host::Absent),
            (
                "CURLOPT_FOLLOWLOCATION(3): not behind a redirect to another",
                (true, true, true, false),
                Host::OfUrl,
            ),
        ];
        for (name, (other, named, value, blank), wanted) in rows {
            assert_eq!(host(other, named, value, blank), wanted, "{name}");
        }
    }

    #[test]
    fn ranges() {
        let get = Part {
            method: Get,
            from: 0,
            range: false,
            upload: None,
            own_range: false,
            own_content_range: false,
        };
        let put = Part { method: Put, from: 5, upload: Some((5, Some(9))), ..get };
        let rows = [
            ("RFC 9110 §14.2: none", get, Range::None),
            ("CURLOPT_RESUME_FROM_LARGE(3)", Part { from: 5, ..get }, Range::From(5)),
            ("CURLOPT_RANGE(3)", Part { range: true, ..get }, Range::Option),
            (
                "CURLOPT_RESUME_FROM_LARGE(3): goes before a range",
                Part { from: 5, range: true, ..get },
                Range::From(5),
            ),
            (
                "CURLOPT_HTTPHEADER(3): Range of one's own",
                Part { from: 5, own_range: true, ..get },
                Range::None,
            ),
            ("RFC 9110 §14.2: HEAD is asked the same", Part { method: Head, from: 5, ..get }, Range::From(5)),
            ("CURLOPT_RESUME_FROM_LARGE(3): a resumed upload", put, Range::Upload(5, Some(9))),
            (
                "RFC 9110 §14.4: of unknown length",
                Part { upload: Some((5, None)), ..put },
                Range::Upload(5, None),
            ),
            ("CURLOPT_RANGE(3): an upload's", Part { upload: None, range: true, ..put }, Range::UploadOption),
            (
                "CURLOPT_HTTPHEADER(3): Content-Range of one's own",
                Part { own_content_range: true, ..put },
                Range::None,
            ),
            (
                "RFC 9110 §14.4: Range is no field of an upload's",
                Part { own_range: true, ..put },
                Range::Upload(5, Some(9)),
            ),
            (
                "CURLOPT_RANGE(3): no part of a form",
                Part { method: PostMime, range: true, ..get },
                Range::None,
            ),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(range(&facts), wanted, "{name}");
        }
    }

    #[test]
    fn resumed_uploads() {
        let rows = [
            ("CURLOPT_RESUME_FROM_LARGE(3): off", (Put, 0, false, Some(9)), Ok(None)),
            ("CURLOPT_RESUME_FROM_LARGE(3): in the middle", (Put, 5, false, Some(9)), Ok(Some(5))),
            ("CURLOPT_RESUME_FROM_LARGE(3): a POST, too", (Post, 5, false, Some(9)), Ok(Some(5))),
            ("CURLOPT_RESUME_FROM_LARGE(3): of unknown length", (Put, 5, false, None), Ok(Some(5))),
            ("CURLOPT_RESUME_FROM_LARGE(3): all is there", (Put, 9, false, Some(9)), Err(NothingLeft)),
            (
                "CURLOPT_RESUME_FROM_LARGE(3): -1 asks the server, in vain",
                (Put, -1, false, Some(9)),
                Ok(Some(0)),
            ),
            ("CURLOPT_RESUME_FROM_LARGE(3): a download", (Get, 5, false, None), Ok(None)),
            ("CURLOPT_RESUME_FROM_LARGE(3): a form", (PostMime, 5, false, Some(9)), Ok(None)),
            ("CURLOPT_RESUME_FROM_LARGE(3): nothing to send", (Put, 5, true, Some(0)), Ok(None)),
        ];
        for (name, (method, from, nothing, size), wanted) in rows {
            assert_eq!(resumed_upload(method, from, nothing, size), wanted, "{name}");
        }
    }

    #[test]
    fn lengths() {
        use RequestBody::{Chunked, None as Nothing, Plain};
        let rows = [
            ("RFC 9110 §8.6: known", (Plain, false, false, Some(5)), Some(5)),
            ("RFC 9110 §8.6: a POST without a body says so", (Nothing, false, false, Some(0)), Some(0)),
            ("RFC 9112 §6.2: never beside chunks", (Chunked, false, false, Some(5)), None),
            ("RFC 9113 §8.1.1: not known on a stream", (Plain, false, false, None), None),
            ("CURLOPT_HTTPHEADER(3): the application's own", (Plain, false, true, Some(5)), None),
            ("CURLOPT_HTTPAUTH(3): the body is left out", (Plain, true, false, Some(5)), Some(0)),
            ("CURLOPT_HTTPAUTH(3): whatever the application says", (Plain, true, true, Some(5)), Some(0)),
        ];
        for (name, (follows, withheld, own, size), wanted) in rows {
            assert_eq!(content_length(follows, withheld, own, size), wanted, "{name}");
        }
    }

    #[test]
    fn open_ends() {
        use RequestBody::{Chunked, None as Nothing, Plain};
        let rows = [
            ("RFC 9112 §7.1: chunks end by themselves", (Chunked, Version::Http11, None, false), true),
            (
                "RFC 9112 §7.1.2: chunks of a known length, too",
                (Chunked, Version::Http11, Some(5), false),
                true,
            ),
            ("RFC 9112 §6.2: a length", (Plain, Version::Http11, Some(5), false), false),
            ("RFC 9113 §8.1: END_STREAM", (Plain, Version::Http2, None, false), true),
            ("RFC 9114 §4.1: the end of a stream", (Plain, Version::Http3, None, false), true),
            ("RFC 9113 §8.1: of a known length", (Plain, Version::Http2, Some(5), false), false),
            ("RFC 9113 §8.1: no body", (Nothing, Version::Http2, None, false), false),
            ("RFC 8441 §5: frames of a WebSocket", (Plain, Version::Http2, None, true), false),
        ];
        for (name, (follows, version, size, websocket), wanted) in rows {
            assert_eq!(has_open_end(follows, version, size, websocket), wanted, "{name}");
        }
    }

    #[test]
    fn repeatable_heads() {
        let plain = Repeatable {
            first_url: true,
            redirected: false,
            http10: false,
            indirect: false,
            numbered: false,
            asks_for_upgrade: false,
            keeps_replies: false,
            cookies: false,
        };
        let rows = [
            ("a plain request", plain, true),
            ("RFC 9110 §15.4: behind a redirect", Repeatable { first_url: false, ..plain }, false),
            (
                "CURLOPT_AUTOREFERER(3): with a Referer of a redirect",
                Repeatable { redirected: true, ..plain },
                false,
            ),
            ("RFC 9112 §2.3: to a server of HTTP/1.0", Repeatable { http10: true, ..plain }, false),
            ("RFC 9112 §3.2.2: through a proxy", Repeatable { indirect: true, ..plain }, false),
            ("RFC 6455 §4.1: with a key of its own", Repeatable { numbered: true, ..plain }, false),
            ("RFC 7540 §3.2: with an Upgrade field", Repeatable { asks_for_upgrade: true, ..plain }, false),
            ("RFC 9111 §4.3.1: with a condition", Repeatable { keeps_replies: true, ..plain }, false),
            ("RFC 6265 §5.4: with cookies", Repeatable { cookies: true, ..plain }, false),
        ];
        for (name, facts, wanted) in rows {
            assert_eq!(is_repeatable(&facts), wanted, "{name}");
        }
    }
}
