//! One request of a transfer with `--cache`, and its reply as it comes.

use crate::bytes::Bytes;
use crate::cache::{CacheHit, Draft, Entry, now, selected};
use crate::raw::UrlPart;
use crate::raw::rules::{self, Field, RestVerdict};
use crate::url::parse_url;

/// A request and its reply.
#[derive(Default)]
pub(super) struct Hop {
    pub method: Bytes,
    pub url: Bytes,
    pub partition: String,
    pub fields: Vec<Field>,
    pub asked: i64,
    /// Whether the reply may be stored.
    pub storable: bool,
    /// The entry that is revalidated.
    pub found: Option<CacheHit>,
    /// The stored parts whose rest is requested.
    pub partial: Option<CacheHit>,
    /// Whether the request has conditions.
    pub conditional: bool,
    /// Whether the reply came from the cache.
    pub served: bool,
    /// Lines of a head have been shown.
    pub shown: bool,
    pub head: Head,
    pub recording: Option<Recording>,
}

/// A head as it comes.
#[derive(Default)]
pub(super) struct Head {
    pub status: u16,
    pub line: Bytes,
    pub fields: Vec<Field>,
    pub ended: bool,
    /// Whether the head is held back until its meaning is known.
    pub held: bool,
}

/// A reply that is being stored.
pub(super) struct Recording {
    pub entry: Entry,
    /// None for a reply without a body.
    pub draft: Option<Draft>,
    /// The entry that it replaces.
    pub old: Option<CacheHit>,
}

impl Recording {
    /// Returns whether the body of a part is not longer than its Content-Range says.
    pub fn is_consistent(&self) -> bool {
        let length = self.draft.as_ref().map_or(0, |draft| draft.length);
        self.entry.status != 206 || rules::is_part(&self.entry.fields, length)
    }
}

impl Hop {
    pub fn add_line(&mut self, line: &[u8]) {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        if text.starts_with(b"HTTP/") && (self.head.line.is_empty() || self.head.ended) {
            let code = text.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
            let status = std::str::from_utf8(code).ok().and_then(|code| code.parse().ok()).unwrap_or(0);
            let held = status == 304 && self.conditional
                || rules::is_error(status) && self.stands_in()
                || self.partial.is_some() && self.rest_verdict(status, true) != RestVerdict::Accept;
            self.head = Head { status, line: text.to_vec(), held, ..Head::default() };
        } else if text.is_empty() {
            self.head.ended = true;
        } else if self.head.ended {
            // A trailer is not part of the stored head.
        } else if let (true, Some((_, value))) = (text[0].is_ascii_whitespace(), self.head.fields.last_mut())
        {
            value.push(b' ');
            value.extend_from_slice(text.trim_ascii());
        } else if let Some(colon) = text.iter().position(|byte| *byte == b':') {
            self.head.fields.push((text[..colon].to_vec(), text[colon + 1..].trim_ascii().to_vec()));
        }
    }

    pub fn stands_in(&self) -> bool {
        let kept = |found: &CacheHit| rules::stands_in(&self.fields, found.entry.kept(), now()).is_some();
        self.found.as_ref().is_some_and(kept)
    }

    pub fn rest_verdict(&self, status: u16, completes: bool) -> RestVerdict {
        rules::rest_verdict(status, rules::value(&self.fields, "Range").is_none(), completes)
    }

    pub fn is_head(&self) -> bool {
        self.method == b"HEAD"
    }

    /// Returns whether only a close marks the end of the body: then a truncated one would look the same.
    pub fn ends_with_connection(&self) -> bool {
        let value = |name: &str| rules::value(&self.head.fields, name);
        let chunked =
            value("Transfer-Encoding").is_some_and(|list| list.to_ascii_lowercase().ends_with(b"chunked"));
        self.head.line.starts_with(b"HTTP/1.")
            && !self.is_head()
            && self.head.status != 204
            && !chunked
            && value("Content-Length").is_none()
    }

    /// Returns the URL on the same server that a field of the reply names.
    pub fn named_url(&self, field: &str) -> Option<Bytes> {
        let value = rules::value(&self.head.fields, field)?;
        let mut url = parse_url(&self.url).ok()?;
        let origin = |url: &crate::raw::Url| (url.scheme(), url.host().map(<[u8]>::to_vec), url.port());
        let own = origin(&url);
        url.set(UrlPart::Url, Some(&value), 0).ok()?;
        let text = url.get(UrlPart::Url, 0).ok().filter(|_| origin(&url) == own)?;
        Some(apart(&text).0)
    }

    /// Returns whether the reply, stored as this entry, may be stored.
    pub fn is_storable(&self, entry: &Entry) -> bool {
        let allowed = match self.method.as_slice() {
            b"POST" => {
                let own_place = self.named_url("Content-Location").is_some_and(|url| url == self.url);
                rules::is_storable_post(&self.fields, entry.kept(), own_place)
            }
            _ => rules::is_storable(&self.fields, entry.kept()),
        };
        // An error does not replace a reply that may be valid still.
        let replaces = rules::is_error(self.head.status) && self.found.is_some();
        allowed && !replaces && !self.ends_with_connection()
    }

    pub fn entry(&self, fields: Vec<Field>) -> Entry {
        let range = rules::value(&self.fields, "Range").filter(|_| self.head.status == 206);
        Entry {
            range,
            url: self.url.clone(),
            partition: self.partition.clone(),
            asked: self.asked,
            received: now(),
            head_only: self.is_head(),
            selected: selected(&fields, &self.fields),
            status: self.head.status,
            status_line: self.head.line.clone(),
            fields,
            body: None,
        }
    }
}

/// A URL without login and fragment, and the login.
pub(super) fn apart(url: &[u8]) -> (Bytes, [Option<Bytes>; 2]) {
    let Ok(mut parsed) = parse_url(url) else { return (Bytes::new(), [None, None]) };
    let login = [UrlPart::User, UrlPart::Password].map(|part| parsed.get(part, 0).ok());
    for part in [UrlPart::User, UrlPart::Password, UrlPart::Options, UrlPart::Fragment] {
        let _ = parsed.set(part, None, 0);
    }
    (parsed.get(UrlPart::Url, 0).unwrap_or_default(), login)
}
