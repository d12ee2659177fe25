//! known_hosts in OpenSSH's format (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT"): the known keys of hosts. A line
//! is `[@marker] names type base64 [comment]`. Names are patterns between commas, `!` negates, `|1|salt|hash`
//! is a hashed name, and a port other than 22 is written as `[host]:port`.

use crate::crypto::{Hash, Mac};
use crate::public::{self, CERT_SUFFIX, Certificate, HOST_ALGORITHMS};
use wire::base64;

/// A file's content, as it was read.
#[derive(Clone, Debug, Default)]
pub struct KnownHosts {
    lines: Vec<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marker {
    None,
    Authority,
    Revoked,
}

struct Entry<'a> {
    marker: Marker,
    names: &'a [u8],
    key_type: &'a [u8],
    /// The key in base64, as in the file.
    coded: &'a [u8],
    key: Vec<u8>,
}

/// The result of looking up a host and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is known by this key.
    Known,
    /// The host is known with this other key.
    Other(KnownKey),
    /// It is not known.
    Missing,
    /// The key is marked as revoked.
    Revoked,
}

/// A key and its text in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownKey {
    pub key_type: String,
    pub base64: String,
}

impl KnownHosts {
    pub fn parse(bytes: &[u8]) -> KnownHosts {
        let mut lines: Vec<Vec<u8>> = bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
        if lines.last().is_some_and(Vec::is_empty) {
            lines.pop();
        }
        KnownHosts { lines }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = self.lines.join(&b'\n');
        if !out.is_empty() {
            out.push(b'\n');
        }
        out
    }

    fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.lines.iter().filter_map(|line| Entry::parse(line))
    }

    /// Returns the entries for the host; those that name the port come first.
    fn of<'a>(&'a self, host: &str, port: u16) -> impl Iterator<Item = Entry<'a>> {
        let names = names(host, port);
        names.into_iter().flat_map(|name| self.entries().filter(move |entry| entry.speaks_of(&name)))
    }

    /// Looks up this host with this key.
    pub fn check(&self, host: &str, port: u16, key: &[u8]) -> Verdict {
        let mut other = None;
        let mut known = false;
        for entry in self.of(host, port) {
            let same = entry.key == key;
            match entry.marker {
                Marker::Revoked if same => return Verdict::Revoked,
                Marker::None if same => known = true,
                Marker::None => {
                    // The key of the same type is the one that has changed.
                    let of_type = entry.key_type == public::type_of(key).as_bytes();
                    if other.is_none() || of_type {
                        other = Some(entry.known());
                    }
                }
                _ => {}
            }
        }
        match other {
            _ if known => Verdict::Known,
            Some(other) => Verdict::Other(other),
            None => Verdict::Missing,
        }
    }

    /// Whether an authority that may speak for this host has signed this certificate for it.
    pub fn vouches(&self, host: &str, port: u16, certificate: &Certificate, now: u64) -> bool {
        let is_revoked =
            |key: &[u8]| self.of(host, port).any(|e| e.marker == Marker::Revoked && e.key == key);
        let authority = |e: &Entry| e.marker == Marker::Authority && e.key == certificate.authority;
        self.of(host, port).any(|entry| authority(&entry))
            && !is_revoked(&certificate.authority)
            && !is_revoked(&certificate.key.to_blob())
            && certificate.is_for(host, now)
    }

    /// Returns the host key algorithms to request from this host: first those of its known keys.
    pub fn preferred(&self, host: &str, port: u16) -> Vec<String> {
        let mut preferred = Vec::new();
        if self.of(host, port).any(|entry| entry.marker == Marker::Authority) {
            preferred.extend(HOST_ALGORITHMS.iter().map(|name| format!("{name}{CERT_SUFFIX}")));
        }
        let has = |name: &str| {
            let wanted = public::type_for(name).as_bytes();
            self.of(host, port).any(|entry| entry.marker == Marker::None && entry.key_type == wanted)
        };
        let (known, others): (Vec<&str>, Vec<&str>) = HOST_ALGORITHMS.iter().partition(|name| has(name));
        preferred.extend(known.into_iter().chain(others).map(str::to_owned));
        preferred
    }

    /// Adds the host with this key.
    pub fn add(&mut self, host: &str, port: u16, key: &[u8]) {
        let name = &names(host, port)[0];
        let line = format!("{name} {} {}", public::type_of(key), base64::encode(key));
        self.lines.push(line.into_bytes());
    }

    /// Removes the host's key of this type.
    pub fn forget(&mut self, host: &str, port: u16, known: &KnownKey) {
        let names = names(host, port);
        self.lines.retain(|line| {
            Entry::parse(line).is_none_or(|entry| {
                let same = entry.known() == *known && entry.marker == Marker::None;
                !same || !names.iter().any(|name| entry.speaks_of(name))
            })
        });
    }
}

/// Returns the names under which a host is looked up. A host at another port may be known without the port,
/// as in libssh2.
fn names(host: &str, port: u16) -> Vec<String> {
    let host = host.to_ascii_lowercase();
    match port {
        22 => vec![host],
        _ => vec![format!("[{host}]:{port}"), host],
    }
}

impl<'a> Entry<'a> {
    fn parse(line: &'a [u8]) -> Option<Entry<'a>> {
        let mut words = line.split(|b| b.is_ascii_whitespace()).filter(|word| !word.is_empty());
        let mut names = words.next()?;
        let marker = match names {
            b"@cert-authority" => Marker::Authority,
            b"@revoked" => Marker::Revoked,
            _ if names.starts_with(b"@") || names.starts_with(b"#") => return None,
            _ => Marker::None,
        };
        if marker != Marker::None {
            names = words.next()?;
        }
        let (key_type, coded) = (words.next()?, words.next()?);
        let key = base64::decode_unpadded(coded)?;
        // A line that is cut off, or says one thing and has another, is none.
        (public::type_of(&key).as_bytes() == key_type).then_some(Entry {
            marker,
            names,
            key_type,
            coded,
            key,
        })
    }

    fn known(&self) -> KnownKey {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        KnownKey { key_type: text(self.key_type), base64: text(self.coded) }
    }

    /// `name` is in lower case.
    fn speaks_of(&self, name: &str) -> bool {
        if let Some(hashed) = self.names.strip_prefix(b"|1|") {
            return is_hash_of(hashed, name).unwrap_or(false);
        }
        let mut found = false;
        for pattern in self.names.split(|b| *b == b',').filter(|pattern| !pattern.is_empty()) {
            match pattern.strip_prefix(b"!") {
                Some(pattern) if matches(pattern, name.as_bytes()) => return false,
                Some(_) => {}
                None => found |= matches(pattern, name.as_bytes()),
            }
        }
        found
    }
}

/// `salt|hash`, both in base64: HMAC-SHA1 of the name.
fn is_hash_of(hashed: &[u8], name: &str) -> Option<bool> {
    let at = hashed.iter().position(|b| *b == b'|')?;
    let (salt, hash) = (base64::decode_unpadded(&hashed[..at])?, base64::decode_unpadded(&hashed[at + 1..])?);
    Some(Mac::new(Hash::Sha1, &salt).sign(name.as_bytes()) == hash)
}

/// `*` and `?`; letters in either case. Takes the product of both lengths at most.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == b'?' || c.eq_ignore_ascii_case(&name[n]) => (p, n) = (p + 1, n + 1),
            _ => match &mut star {
                Some((at, from)) => {
                    *from += 1;
                    (p, n) = (*at + 1, *from);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::Put;

    fn key(n: u8) -> Vec<u8> {
        let mut out = Vec::new();
        out.put_string("ssh-ed25519");
        out.put_string([n; 32]);
        out
    }

    fn line(names: &str, n: u8) -> String {
        format!("{names} ssh-ed25519 {} a comment\n", base64::encode(&key(n)))
    }

    fn check(text: &str, host: &str, port: u16) -> Verdict {
        KnownHosts::parse(text.as_bytes()).check(host, port, &key(1))
    }

    #[test]
    fn names_ports_patterns_and_denials() {
        for (names, host, port, known) in [
            ("host", "HOST", 22, true),
            ("Host", "host", 22, true),
            ("host", "host", 2222, true),
            ("[host]:2222", "host", 2222, true),
            ("[host]:2222", "host", 22, false),
            ("[host]:2222", "host", 2223, false),
            ("*.example.org,!bad.example.org", "a.example.org", 22, true),
            ("*.example.org,!bad.example.org", "bad.example.org", 22, false),
            ("h?st", "host", 22, true),
            ("h?st", "hoost", 22, false),
            ("other,127.0.0.1", "127.0.0.1", 22, true),
            ("#host", "host", 22, false),
            ("hos", "host", 22, false),
        ] {
            let expected = if known { Verdict::Known } else { Verdict::Missing };
            assert_eq!(check(&line(names, 1), host, port), expected, "{names} {host}:{port}");
        }
    }

    /// ssh-keygen -H makes such names.
    #[test]
    fn hashed_names() {
        let salt = [7; 20];
        let hash = |name: &str| base64::encode(&Mac::new(Hash::Sha1, &salt).sign(name.as_bytes()));
        let names = |name: &str| format!("|1|{}|{}", base64::encode(&salt), hash(name));
        assert_eq!(check(&line(&names("host"), 1), "Host", 22), Verdict::Known);
        assert_eq!(check(&line(&names("[host]:2222"), 1), "host", 2222), Verdict::Known);
        assert_eq!(check(&line(&names("other"), 1), "host", 22), Verdict::Missing);
        assert_eq!(check(&line("|1|!!|!!", 1), "host", 22), Verdict::Missing);
    }

    #[test]
    fn another_key_and_a_revoked_one() {
        assert!(matches!(check(&line("host", 2), "host", 22), Verdict::Other(_)));
        assert_eq!(check(&(line("host", 2) + &line("host", 1)), "host", 22), Verdict::Known);
        let revoked = format!("@revoked {}{}", line("*", 1), line("host", 1));
        assert_eq!(check(&revoked, "host", 22), Verdict::Revoked);
        assert_eq!(check(&format!("@cert-authority {}", line("*", 1)), "host", 22), Verdict::Missing);
    }

    /// CVE-2026-9547: a host that is known only with a key of another type is not an unknown host.
    #[test]
    fn a_key_of_another_type_is_another_key() {
        let mut rsa = Vec::new();
        rsa.put_string("ssh-rsa");
        rsa.put_mpint(&[1, 0, 1]);
        rsa.put_mpint(&[0x80; 256]);
        let text = format!("host ssh-rsa {}\n", base64::encode(&rsa));
        let Verdict::Other(known) = check(&text, "host", 22) else { panic!("silently taken") };
        assert_eq!(known.key_type, "ssh-rsa");
        let hosts = KnownHosts::parse(text.as_bytes());
        assert_eq!(hosts.preferred("host", 22)[0], "rsa-sha2-512");
        assert_eq!(hosts.preferred("other", 22)[0], "ssh-ed25519");
    }

    #[test]
    fn corrupted_lines_are_ignored() {
        assert_eq!(check("host ssh-ed25519 AAAA\n", "host", 22), Verdict::Missing);
        assert_eq!(check("host ssh-ed25519\n\nhost\n\0\n", "host", 22), Verdict::Missing);
        let lies = format!("host ssh-rsa {}\n", base64::encode(&key(1)));
        assert_eq!(check(&lies, "host", 22), Verdict::Missing);
    }

    #[test]
    fn adding_and_replacing_leave_the_rest_alone() {
        let text = format!("# mine\n{}{}", line("other", 3), line("host", 2));
        let mut hosts = KnownHosts::parse(text.as_bytes());
        let Verdict::Other(known) = hosts.check("host", 22, &key(1)) else { panic!() };
        hosts.forget("host", 22, &known);
        hosts.add("host", 22, &key(1));
        hosts.add("host", 2222, &key(1));
        let out = String::from_utf8(hosts.to_bytes()).unwrap();
        let coded = base64::encode(&key(1));
        let added = format!("host ssh-ed25519 {coded}\n[host]:2222 ssh-ed25519 {coded}\n");
        assert_eq!(out, format!("# mine\n{}{added}", line("other", 3)));
    }
}
