//! The record of an upload that has begun at a server: which source it sends, and where. Of the URL it has a
//! hash without the login.

use std::fs::Metadata;
use std::io;
use std::time::SystemTime;

use engine::archive::redact::without_login;
use sha2::{Digest, Sha256};
use wire::hex;

use crate::segments::{seal, unseal};

const FIRST_LINE: &str = "warmwire upload 1";
/// A record beyond this is not ours.
pub(super) const LONGEST: u64 = 64 << 10;

/// The size and the time of a file, which tell whether it is still the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    pub size: u64,
    /// Nanoseconds since 1970.
    modified: i128,
}

impl Stamp {
    pub fn of(file: &Metadata) -> io::Result<Stamp> {
        let modified = file.modified()?;
        let nanos = match modified.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => after.as_nanos() as i128,
            Err(before) => -(before.duration().as_nanos() as i128),
        };
        Ok(Stamp { size: file.len(), modified: nanos })
    }
}

/// Names the record of a source's upload to a URL.
pub fn key(url: &[u8], source: &[u8]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(without_login(url));
    hasher.update([0]);
    hasher.update(source);
    hex::encode(&hasher.finalize()[..16])
}

/// An upload that has begun at a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub key: String,
    pub stamp: Stamp,
    /// The URL of an upload that is a resource of its own. It may be a secret.
    pub resource: Option<Vec<u8>>,
}

impl Record {
    pub fn text(&self) -> String {
        let Record { key, stamp, resource } = self;
        let (size, modified) = (stamp.size, stamp.modified);
        let mut text = format!("{FIRST_LINE}\nkey {key}\nsize {size}\nmodified {modified}\n");
        if let Some(resource) = resource {
            text.push_str(&format!("resource {}\n", hex::encode(resource)));
        }
        seal(&text)
    }

    /// Parses a record; `None` if it is truncated, modified or something else.
    pub fn parse(text: &str) -> Option<Record> {
        let mut lines = unseal(text)?.lines();
        if lines.next() != Some(FIRST_LINE) {
            return None;
        }
        let (mut key, mut size, mut modified, mut resource) = (None, None, None, None);
        for line in lines {
            let (name, value) = line.split_once(' ')?;
            match name {
                "key" => key = Some(value.to_owned()),
                "size" => size = Some(value.parse().ok()?),
                "modified" => modified = Some(value.parse().ok()?),
                "resource" => resource = Some(hex::decode(value.as_bytes())?),
                _ => return None,
            }
        }
        Some(Record { key: key?, stamp: Stamp { size: size?, modified: modified? }, resource })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let stamp = Stamp { size: 200_000, modified: -5 };
        let key = key(b"http://me:secret@h/f", b"/srv/f");
        Record { key, stamp, resource: Some(b"http://h/files/1\xff".to_vec()) }
    }

    #[test]
    fn a_written_record_is_read_back() {
        assert_eq!(Record::parse(&record().text()), Some(record()));
        let bare = Record { resource: None, ..record() };
        assert_eq!(Record::parse(&bare.text()), Some(bare));
    }

    #[test]
    fn a_truncated_or_changed_record_is_refused() {
        let text = record().text();
        for end in 0..text.len() {
            assert_eq!(Record::parse(&text[..end]), None, "{end}");
        }
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let changed = String::from_utf8(bytes).unwrap();
            assert_eq!(Record::parse(&changed), None, "{changed}");
        }
        let body = format!("{FIRST_LINE}\nkey a\nsize 1\nmodified 1\n");
        assert!(Record::parse(&seal(&body)).is_some());
        assert_eq!(Record::parse(&seal(&format!("{body}more 1\n"))), None);
    }

    #[test]
    fn a_record_is_found_by_url_and_source_without_the_login() {
        assert_eq!(record().key, key(b"http://you@h/f", b"/srv/f"));
        for (url, source) in [("http://h/g", "/srv/f"), ("http://h/f", "/srv/g"), ("https://h/f", "/srv/f")] {
            assert_ne!(record().key, key(url.as_bytes(), source.as_bytes()), "{url} {source}");
        }
        assert!(!record().text().contains("secret"));
    }
}
