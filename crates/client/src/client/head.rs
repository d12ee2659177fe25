//! The head of a reply: status, version and fields.

use std::net::SocketAddr;

use engine::info::TransferInfo;

/// The fields of a head, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct Fields(Vec<(String, Vec<u8>)>);

impl Fields {
    /// The lines of a head, each `name: value`. What is no field is left out; a folded line is part of the
    /// one before (RFC 9112, 5.2).
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

    /// The first value under a name, whose case is of no account, where it is text.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.get_all(name).find_map(|value| std::str::from_utf8(value).ok())
    }

    /// All values under a name.
    pub fn get_all(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let named = self.0.iter().filter(move |(known, _)| known.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_slice())
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_slice()))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The version of HTTP that a server answered in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Version {
    /// HTTP/1.0, or none at all: another protocol.
    Http10,
    /// HTTP/1.1.
    Http11,
    /// HTTP/2.
    Http2,
    /// HTTP/3.
    Http3,
}

/// The last head of a transfer, and what else is known when it has come.
pub(super) struct Head {
    pub status: u16,
    pub version: Version,
    pub fields: Fields,
    pub url: String,
    pub ends: (Option<SocketAddr>, Option<SocketAddr>),
    pub length: Option<u64>,
}

impl Head {
    /// Of all lines received so far: interim replies and redirects come before the last head.
    pub fn of(lines: &[u8], info: &TransferInfo) -> Head {
        let starts = |at: &usize| lines[*at..].starts_with(b"HTTP/") && (*at == 0 || lines[at - 1] == b'\n');
        let begins = (0..lines.len()).rev().find(starts).unwrap_or(0);
        let version = match info.http_version {
            2 => Version::Http11,
            3 => Version::Http2,
            30 => Version::Http3,
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

/// The URL that a transfer last asked for.
pub(super) fn url_of(info: &TransferInfo) -> String {
    info.effective_url.as_ref().map(|url| String::from_utf8_lossy(url).into_owned()).unwrap_or_default()
}
