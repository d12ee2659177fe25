//! The head of a response: status, version and fields.

use std::net::SocketAddr;
use std::sync::OnceLock;

use bytes::Bytes;
use engine::info::TransferInfo;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderName};
use http::{HeaderMap, HeaderValue, StatusCode, Version};
use tables::constant::{
    CURL_HTTP_VERSION_1_0, CURL_HTTP_VERSION_1_1, CURL_HTTP_VERSION_2, CURL_HTTP_VERSION_3,
};

use wire::http1::header::{HeaderLine, split_line};

use super::cookie::Cookie;
use crate::Url;

/// Content codings that the engine decodes.
const CODINGS: [&str; 6] = ["gzip", "x-gzip", "deflate", "br", "zstd", "identity"];

/// Fields for which a map has room without growing.
const USUAL_FIELDS: usize = 12;

/// The last head of a transfer, and the facts that are known when it has been received.
pub(crate) struct Head {
    pub status: StatusCode,
    pub reply_code: i64,
    pub version: Version,
    /// The fields of the last head, once they were asked for.
    headers: OnceLock<HeaderMap>,
    /// All header lines received.
    pub lines: Bytes,
    /// Where the last head begins in the lines; 0 if no line is a status line of HTTP.
    start: usize,
    pub url: Url,
    pub ends: (Option<SocketAddr>, Option<SocketAddr>),
    pub length: Option<u64>,
}

impl Head {
    /// Parses all header lines received so far. Interim replies and redirects come before the last head.
    /// `decodes`: the body arrives decoded, so that its coding and its length on the wire are left out.
    pub fn of(lines: Vec<u8>, info: &TransferInfo, decodes: bool) -> Head {
        let lines = Bytes::from(lines);
        let last = last_head(&lines);
        let start = last.unwrap_or(0);
        let mut length = u64::try_from(info.announced.max(info.download_total)).ok();
        let headers = OnceLock::new();
        if decodes && last.is_some() && may_be_coded(&lines[start..]) {
            let mut fields = parse_fields(&lines.slice(start..));
            if is_coded(&fields) {
                fields.remove(CONTENT_ENCODING);
                fields.remove(CONTENT_LENGTH);
                length = None;
            }
            let _ = headers.set(fields); // empty until now
        }
        let code = u16::try_from(info.response_code).ok().filter(|_| last.is_some());
        Head {
            status: code.and_then(|code| StatusCode::from_u16(code).ok()).unwrap_or(StatusCode::OK),
            reply_code: info.response_code,
            version: match info.http_version {
                CURL_HTTP_VERSION_1_0 => Version::HTTP_10,
                CURL_HTTP_VERSION_1_1 => Version::HTTP_11,
                CURL_HTTP_VERSION_2 => Version::HTTP_2,
                CURL_HTTP_VERSION_3 => Version::HTTP_3,
                _ => Version::HTTP_09,
            },
            headers,
            url: url_of(info),
            ends: (info.ends.remote, info.ends.local),
            length,
            lines,
            start,
        }
    }

    /// Returns the header fields. They are parsed when they are first asked for: that takes a tenth of the
    /// instructions of a small request, and many programs need the status and the body alone.
    pub fn headers(&self) -> &HeaderMap {
        self.headers.get_or_init(|| parse_fields(&self.lines.slice(self.start..)))
    }

    /// Returns the header fields, to change them.
    pub fn headers_mut(&mut self) -> &mut HeaderMap {
        self.headers();
        self.headers.get_mut().expect("the line above has parsed them")
    }

    /// Returns the informational replies directly before the last head, in order.
    pub fn informational(&self) -> Vec<Informational> {
        let starts: Vec<usize> = head_starts(&self.lines[..self.start]).collect();
        let (mut found, mut end) = (Vec::new(), self.start);
        for start in starts.into_iter().rev() {
            let head = self.lines.slice(start..end);
            end = start;
            let code = head.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
            let status = code.get(..3).and_then(|code| StatusCode::from_bytes(code).ok());
            let Some(status) = status.filter(StatusCode::is_informational) else { break };
            found.push(Informational { status, headers: parse_fields(&head) });
        }
        found.reverse();
        found
    }

    /// Returns the charset that Content-Type names.
    pub fn charset(&self) -> Option<&str> {
        let media_type = self.headers().get(http::header::CONTENT_TYPE)?.to_str().ok()?;
        let parameters = media_type.split(';').skip(1).filter_map(|parameter| parameter.split_once('='));
        let mut charsets = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
        charsets.next().map(|(_, value)| value.trim().trim_matches('"'))
    }

    /// Returns the cookies that the head sets.
    pub fn cookies(&self) -> impl Iterator<Item = Cookie<'_>> {
        Cookie::all(self.headers())
    }
}

/// An informational reply (1xx), which came before the reply itself. Early hints (103, RFC 8297) name what
/// the page will need; 102 says that the server is still at work.
///
/// ```no_run
/// # async fn hints(client: warmwire::Client) -> Result<(), warmwire::Error> {
/// let response = client.get("https://example.com/").send().await?;
/// for early in response.informational() {
///     println!("{} {:?}", early.status(), early.headers().get_all("link"));
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Informational {
    status: StatusCode,
    headers: HeaderMap,
}

impl Informational {
    /// Returns the status, from 102 to 199.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the header fields.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }
}

/// Returns where the last head of HTTP begins: its status line. Interim replies and redirects come before it.
fn last_head(lines: &[u8]) -> Option<usize> {
    head_starts(lines).last()
}

/// Returns where each head of HTTP begins.
fn head_starts(lines: &[u8]) -> impl Iterator<Item = usize> {
    let mut rest = lines;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let at = lines.len() - rest.len();
            let (line, behind) = split_line(rest);
            rest = behind;
            if line.starts_with(b"HTTP/") {
                return Some(at);
            }
        }
        None
    })
}

/// Returns whether a line of a head begins as a Content-Encoding does.
fn may_be_coded(mut lines: &[u8]) -> bool {
    let name = CONTENT_ENCODING.as_str().as_bytes();
    while !lines.is_empty() {
        let (line, behind) = split_line(lines);
        if line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)) {
            return true;
        }
        lines = behind;
    }
    false
}

/// Parses lines of the form `name: value`. Other lines are skipped: a status line, the replies of an FTP
/// server. A folded line belongs to the previous field (RFC 9112, 5.2). The values share the memory of the
/// lines.
pub(super) fn parse_fields(lines: &Bytes) -> HeaderMap {
    if lines.is_empty() {
        return HeaderMap::new();
    }
    let mut fields = HeaderMap::with_capacity(USUAL_FIELDS);
    let mut open: Option<(HeaderName, Bytes)> = None;
    let close = |fields: &mut HeaderMap, open: &mut Option<(HeaderName, Bytes)>| {
        if let Some((name, value)) = open.take()
            && let Ok(value) = HeaderValue::from_maybe_shared(value)
        {
            fields.append(name, value);
        }
    };
    let mut rest = &lines[..];
    while !rest.is_empty() {
        let (line, behind) = split_line(rest);
        rest = behind;
        if let (Some(b' ' | b'\t'), Some((_, value))) = (line.first(), &mut open) {
            *value = [value, b" ".as_slice(), line.trim_ascii()].concat().into();
            continue;
        }
        close(&mut fields, &mut open);
        open = HeaderLine::parse(line).and_then(|line| {
            let name = HeaderName::from_bytes(line.name).ok()?;
            Some((name, lines.slice_ref(line.value)))
        });
    }
    close(&mut fields, &mut open);
    fields
}

/// Returns whether the engine decodes all codings of the head.
fn is_coded(headers: &HeaderMap) -> bool {
    let mut codings = headers.get_all(CONTENT_ENCODING).into_iter().peekable();
    let known = |name: &str| CODINGS.iter().any(|coding| coding.eq_ignore_ascii_case(name.trim()));
    codings.peek().is_some()
        && codings.all(|value| value.to_str().is_ok_and(|value| value.split(',').all(known)))
}

/// Returns the URL that the transfer last requested.
pub(super) fn url_of(info: &TransferInfo) -> Url {
    Url::of_engine(info.effective_url.as_deref().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(lines: &'static [u8]) -> HeaderMap {
        parse_fields(&Bytes::from_static(lines))
    }

    #[test]
    fn the_last_head_counts() {
        let heads: &[u8] = b"HTTP/1.1 103 Early Hints\r\nlink: <a>\r\n\r\n\
            HTTP/1.1 200 OK\r\nx-a: HTTP/1.1 500 No\r\nb:\t2 \nc: 3";
        assert_eq!(last_head(heads), Some(39));
        let fields = parse(&heads[39..]);
        assert!(!fields.contains_key("link"));
        assert_eq!(
            (fields.len(), &fields["x-a"], &fields["b"], &fields["c"]),
            (
                3,
                &HeaderValue::from_static("HTTP/1.1 500 No"),
                &HeaderValue::from_static("2"),
                &HeaderValue::from_static("3")
            )
        );
        assert_eq!((last_head(b"220 ready\r\n"), parse(b"").len()), (None, 0));
        assert_eq!(parse(b"220 ready\r\nsubject: a mail\r\n").len(), 1);
    }

    #[test]
    fn informational_replies_belong_to_the_last_head() {
        let last = "HTTP/1.1 200 OK\r\na: b\r\n\r\n";
        let hint = "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\nlink: </b>\r\n\r\n";
        for (before, expected) in [
            ("", vec![]),
            (hint, vec![(103, 2)]),
            (&*format!("HTTP/1.1 102 P\r\n\r\n{hint}"), vec![(102, 0), (103, 2)]),
            // The first belongs to the redirect.
            (&*format!("{hint}HTTP/1.1 302 Found\r\nlocation: /\r\n\r\n{hint}"), vec![(103, 2)]),
            (&*format!("{hint}HTTP/1.1 302 Found\r\n\r\n"), vec![]),
        ] {
            let lines = format!("{before}{last}").into_bytes();
            let head = Head::of(lines, &TransferInfo::default(), false);
            let found = head.informational();
            let found: Vec<_> =
                found.iter().map(|reply| (reply.status().as_u16(), reply.headers().len())).collect();
            assert_eq!(found, expected, "{before}");
        }
    }

    #[test]
    fn a_head_may_be_coded_only_by_a_line_that_begins_so() {
        for (lines, is) in [
            (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".as_slice(), true),
            (b"HTTP/1.1 200 OK\r\ncontent-encoding : br", true),
            (b"HTTP/1.1 200 OK\r\nx-content-encoding: gzip\r\ncontent-encodin", false),
            (b"", false),
        ] {
            assert_eq!(may_be_coded(lines), is, "{}", lines.escape_ascii());
        }
    }

    #[test]
    fn lines_that_are_no_fields_are_skipped() {
        let fields = parse(b"HTTP/1.1 200 OK\r\nA: 1\r\n  2\r\n: x\r\n220 ready: go\r\na:3\r\nB:\r\n\r\n");
        let values: Vec<_> = fields.get_all("a").iter().collect();
        assert_eq!(values, ["1 2", "3"]);
        assert_eq!((fields.get("b").unwrap().len(), fields.len()), (0, 3));
    }

    #[test]
    fn a_head_is_coded_if_all_its_codings_are_known() {
        for (value, is) in [("gzip", true), ("br, GZIP", true), ("gzip, rot13", false)] {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_ENCODING, value.parse().unwrap());
            assert_eq!(is_coded(&headers), is, "{value}");
        }
        assert!(!is_coded(&HeaderMap::new()));
    }
}
