//! The head of a reply: status, version and fields.

use std::net::SocketAddr;

use engine::info::TransferInfo;
use tables::constant::{CURL_HTTP_VERSION_1_1, CURL_HTTP_VERSION_2, CURL_HTTP_VERSION_3};

/// The header fields of a response, in the order received.
#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<(String, Vec<u8>)>);

impl Fields {
    /// Parses the lines of a head, each `name: value`. Lines that are not fields are skipped; a folded line
    /// belongs to the previous field (RFC 9112, 5.2).
    pub(super) fn parse(lines: &[u8]) -> Fields {
        let mut fields: Vec<(String, Vec<u8>)> = Vec::new();
        for line in lines.split(|byte| *byte == b'\n') {
            if let (true, Some((_, value))) =
                (line.starts_with(b" ") || line.starts_with(b"\t"), fields.last_mut())
            {
                value.push(b' ');
                value.extend_from_slice(line.trim_ascii());
                continue;
            }
            let colon = line.iter().position(|byte| *byte == b':').filter(|colon| *colon > 0);
            if let Some(colon) = colon {
                let name = String::from_utf8_lossy(&line[..colon]).into_owned();
                fields.push((name, line[colon + 1..].trim_ascii().to_vec()));
            }
        }
        Fields(fields)
    }

    /// Returns the first value of a field, if it is valid UTF-8. Names are case-insensitive.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.get_all(name).find_map(|value| std::str::from_utf8(value).ok())
    }

    /// Returns all values of a field.
    pub fn get_all(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let named = self.0.iter().filter(move |(known, _)| known.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_slice())
    }

    /// Iterates over all fields.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_slice()))
    }

    /// Returns the number of fields.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The HTTP version of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Version {
    /// HTTP/1.0, or a protocol other than HTTP.
    Http10,
    /// HTTP/1.1.
    Http11,
    /// HTTP/2.
    Http2,
    /// HTTP/3.
    Http3,
}

/// The last head of a transfer, and the facts that are known when it has been received.
pub(super) struct Head {
    pub status: u16,
    pub version: Version,
    pub fields: Fields,
    pub url: String,
    pub ends: (Option<SocketAddr>, Option<SocketAddr>),
    pub length: Option<u64>,
}

impl Head {
    /// Parses all header lines received so far. Interim replies and redirects come before the last head.
    pub fn of(lines: &[u8], info: &TransferInfo) -> Head {
        let starts = |at: &usize| lines[*at..].starts_with(b"HTTP/") && (*at == 0 || lines[at - 1] == b'\n');
        let begins = (0..lines.len()).rev().find(starts).unwrap_or(0);
        let version = match info.http_version {
            CURL_HTTP_VERSION_1_1 => Version::Http11,
            CURL_HTTP_VERSION_2 => Version::Http2,
            CURL_HTTP_VERSION_3 => Version::Http3,
            _ => Version::Http10,
        };
        Head {
            status: u16::try_from(info.response_code).unwrap_or(0),
            version,
            fields: Fields::parse(&lines[begins..]),
            url: url_of(info),
            ends: (info.ends.remote, info.ends.local),
            length: u64::try_from(info.announced.max(info.download_total)).ok(),
        }
    }
}

/// Returns the URL that the transfer last requested.
pub(super) fn url_of(info: &TransferInfo) -> String {
    info.effective_url.as_ref().map(|url| String::from_utf8_lossy(url).into_owned()).unwrap_or_default()
}
