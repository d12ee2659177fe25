//! Names of a mirror's files: from a URL to a path below the target folder.
//!
//! No URL can name a file outside, or the mirror's own state. Names are the same on all systems: letters that
//! Windows forbids are percent-encoded, and names that differ only in case get different ends.

use crate::bytes::Bytes;
use crate::devices;
use crate::names::made_safe;
use crate::raw::escape::{Reject, decode, push_encoded};
use crate::raw::{Url, hex};
use std::collections::HashMap;

/// The folder of the mirror's own files.
pub const STATE_FOLDER: &str = ".warmwire-mirror";
/// The name of a folder's own page.
const INDEX: &[u8] = b"index.html";
/// Longer parts are cut and end with a digest; most systems allow 255 octets, and drafts need some.
const LONGEST_PART: usize = 200;
/// Deeper paths, and longer ones, are refused.
const MOST_PARTS: usize = 60;
const LONGEST_PATH: usize = 2048;

/// Returns the path that a URL asks for, as parts; `None` if it is too deep or too long.
pub fn wanted_parts(url: &Url) -> Option<Vec<Bytes>> {
    let mut parts = vec![host_part(url)];
    let path = url.path();
    let (folders, last) = path.split_at(path.iter().rposition(|octet| *octet == b'/').map_or(0, |at| at + 1));
    parts.extend(folders.split(|octet| *octet == b'/').filter(|part| !part.is_empty()).map(decoded_part));
    let mut name = if last.is_empty() { INDEX.to_vec() } else { decoded_part(last) };
    if let Some(query) = url.query().filter(|query| !query.is_empty()) {
        name.push(b'@');
        name.extend(harmless(query));
    }
    parts.push(name);
    let parts: Vec<Bytes> =
        parts.into_iter().map(shortened).map(|part| made_safe(part, devices::plain)).collect();
    let length: usize = parts.iter().map(|part| part.len() + 1).sum();
    (parts.len() <= MOST_PARTS && length <= LONGEST_PATH).then_some(parts)
}

/// Returns the folder of a host; a port that the URL names is part of it.
fn host_part(url: &Url) -> Bytes {
    let mut part = harmless(&url.host_ascii().unwrap_or_default());
    if let Some(port) = url.port() {
        part.extend(format!("+{port}").bytes());
    }
    if part.starts_with(b".") || part.is_empty() {
        part.splice(..part.len().min(1), *b"%2E");
    }
    part
}

fn decoded_part(part: &[u8]) -> Bytes {
    let decoded = decode(part, Reject::Nothing).unwrap_or_else(|_| part.to_vec());
    match decoded.as_slice() {
        b"." => b"%2E".to_vec(),
        b".." => b"%2E%2E".to_vec(),
        _ => harmless(&decoded),
    }
}

/// Encodes separators, control characters, what Windows forbids, and what is no UTF-8.
fn harmless(text: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() || "/\\:*?\"<>|".contains(c) {
                c.encode_utf8(&mut [0; 4]).bytes().for_each(|octet| push_encoded(&mut out, octet));
            } else {
                out.extend(c.encode_utf8(&mut [0; 4]).bytes());
            }
        }
        chunk.invalid().iter().for_each(|octet| push_encoded(&mut out, *octet));
    }
    out
}

/// Cuts a long part, and adds a digest of the whole.
fn shortened(part: Bytes) -> Bytes {
    if part.len() <= LONGEST_PART {
        return part;
    }
    let digest = hex::encode(&blake3::hash(&part).as_bytes()[..8]);
    let mut end = LONGEST_PART - digest.len() - 1;
    while part[end] & 0xc0 == 0x80 {
        end -= 1; // in the middle of a character
    }
    [&part[..end], b"~", digest.as_bytes()].concat()
}

/// The names that are taken, without regard to case.
#[derive(Debug, Default)]
pub struct FileNames {
    taken: HashMap<String, Taken>,
}

#[derive(Debug)]
struct Taken {
    /// As it is written on the disk.
    path: Bytes,
    is_folder: bool,
}

impl FileNames {
    /// Assigns a path to a URL: the wanted one, or one with a number if that is another's.
    pub fn assign(&mut self, parts: &[Bytes]) -> Bytes {
        let (last, folders) = parts.split_last().expect("a path has a host and a name");
        let mut path = Bytes::new();
        for folder in folders {
            path = self.entry(&path, folder, true);
            path.push(b'/');
        }
        self.entry(path.as_slice(), last, false)
    }

    /// Notes a path of an earlier run. Returns whether it was free.
    pub fn occupy(&mut self, path: &[u8]) -> bool {
        let mut at = 0;
        while let Some(slash) = path[at..].iter().position(|octet| *octet == b'/') {
            at += slash;
            let folder = &path[..at];
            let entry = Taken { path: folder.to_vec(), is_folder: true };
            let taken = self.taken.entry(key(folder)).or_insert(entry);
            if !taken.is_folder || taken.path != folder {
                return false;
            }
            at += 1;
        }
        let entry = Taken { path: path.to_vec(), is_folder: false };
        match self.taken.entry(key(path)) {
            std::collections::hash_map::Entry::Occupied(_) => false,
            std::collections::hash_map::Entry::Vacant(vacant) => {
                vacant.insert(entry);
                true
            }
        }
    }

    /// Returns the path of an entry of a folder. A folder may exist; a file is always a new one.
    fn entry(&mut self, folder: &[u8], name: &[u8], is_folder: bool) -> Bytes {
        for number in 1_usize.. {
            let path = match number {
                1 => [folder, name].concat(),
                _ => [folder, name, format!("~{number}").as_bytes()].concat(),
            };
            match self.taken.get(&key(&path)) {
                Some(taken) if taken.is_folder && is_folder => return taken.path.clone(),
                Some(_) => {}
                None => {
                    self.taken.insert(key(&path), Taken { path: path.clone(), is_folder });
                    return path;
                }
            }
        }
        unreachable!("some number is free")
    }
}

fn key(path: &[u8]) -> String {
    String::from_utf8_lossy(path).to_lowercase()
}

/// Returns whether a path is one that this module makes: relative, and without a way out.
pub fn is_safe(path: &[u8]) -> bool {
    let mut parts = path.split(|octet| *octet == b'/');
    let own = parts.clone().next().is_some_and(|first| first.eq_ignore_ascii_case(STATE_FOLDER.as_bytes()));
    !own && parts.all(|part| {
        !matches!(part, b"" | b"." | b"..")
            && !part.iter().any(|octet| matches!(octet, 0..0x20 | b'\\' | b':'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(url: &str) -> Option<String> {
        let parts = wanted_parts(&Url::parse(url.as_bytes(), 0).unwrap())?;
        let path = parts.join(&b'/');
        assert!(is_safe(&path), "{url}");
        Some(String::from_utf8(path).unwrap())
    }

    #[test]
    fn urls_become_paths() {
        for (url, expected) in [
            ("http://a/", "a/index.html"),
            ("http://a/b/", "a/b/index.html"),
            ("http://a/b", "a/b"),
            ("http://a:8080/b", "a+8080/b"),
            ("http://[::1]/b", "[%3A%3A1]/b"),
            ("http://a/b?x=1&y=/z", "a/b@x=1&y=%2Fz"),
            ("http://a/?x", "a/index.html@x"),
            ("http://a//b///c", "a/b/c"),
            ("http://a/%2e%2e%2f%2e%2e/x", "a/..%2F../x"),
            ("http://a/b/%2E%2E/%2e/x", "a/x"),
            ("http://a/..%5Cx", "a/..%5Cx"),
            ("http://a/%00%0a%1b", "a/%00%0A%1B"),
            ("http://a/C:%5Cx", "a/C%3A%5Cx"),
            ("http://a/%E4", "a/%E4"),
            ("http://a/%C3%A4%20b", "a/\u{e4} b"),
            ("http://.warmwire-mirror/state", "%2Ewarmwire-mirror/state"),
        ] {
            assert_eq!(path(url).as_deref(), Some(expected), "{url}");
        }
    }

    #[test]
    fn long_names_are_cut_and_long_paths_refused() {
        let long = |end: &str| path(&format!("http://a/{}{end}", "\u{e4}".repeat(300))).unwrap();
        let names = [long("1"), long("2")];
        assert!(names.iter().all(|name| name.len() <= LONGEST_PART + 2) && names[0] != names[1], "{names:?}");
        assert_eq!(path(&format!("http://a{}/x", "/b".repeat(70))), None);
        assert_eq!(path(&format!("http://a{}/x", format!("/{}", "b".repeat(150)).repeat(20))), None);
    }

    #[test]
    fn names_collide_with_nothing() {
        let mut names = FileNames::default();
        assert!(names.occupy(b"a/old") && !names.occupy(b"a/OLD") && !names.occupy(b"a/old/x"));
        for (url, expected) in [
            ("http://a/b", "a/b"),
            ("http://a/B", "a/B~2"),
            ("http://a/b/c", "a/b~3/c"),
            ("http://a/b/d", "a/b~3/d"),
            ("http://a/d/x", "a/d/x"),
            ("http://a/d", "a/d~2"),
            ("http://a/D/y", "a/d/y"),
            ("http://a/old", "a/old~2"),
            ("https://a/b", "a/b~4"),
        ] {
            let parts = wanted_parts(&Url::parse(url.as_bytes(), 0).unwrap()).unwrap();
            assert_eq!(String::from_utf8(names.assign(&parts)).unwrap(), expected, "{url}");
        }
    }

    #[test]
    fn paths_of_a_state_file_are_checked() {
        for path in [
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a//b",
            "",
            "a/./b",
            ".warmwire-mirror/x",
            "C:x",
            "a\\b",
            "a\nb",
        ] {
            assert!(!is_safe(path.as_bytes()), "{path:?}");
        }
    }
}
