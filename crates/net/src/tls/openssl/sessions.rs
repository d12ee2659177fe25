//! Sessions that OpenSSL serialised, which may be exported and imported (curl_easy_ssls_export(3)). Sessions
//! of rustls can be neither serialised nor parsed.
//!
//! An exported session does not name its server. It has a proof: a random salt, and the HMAC-SHA256 of the
//! server's name keyed with it. The name contains host, port and every rule of verification, so that a
//! session is resumed only with the same rules. Name, proof and format of a session are those of curl 8.22.

use crate::NamedFile;
use crate::named_file::FileStamp;
use crate::tls::{Backend, CaSource, CertSource, PinnedKey, TlsConfig, TlsVersion};
use ring::rand::{SecureRandom, SystemRandom};
use ring::{digest, hmac};
use runtime::seconds_since_1970;
use std::fmt::Write;
use std::sync::Arc;

/// Maximum number of servers: programs that request OpenSSL connect to few.
const MAX_PEERS: usize = 256;
/// Maximum number of TLS 1.3 tickets per server; each is used once.
const MAX_TICKETS: usize = 4;
/// The longest session that is exported, as in curl.
const MAX_PACKED: usize = 16 * 1024;

/// Maximum lifetimes: a week for TLS 1.3 (RFC 8446, section 4.6.1), a day for older versions (RFC 8446,
/// appendix C.4). A session without a lifetime gets a day.
const WEEK: i64 = 7 * DAY;
const DAY: i64 = 24 * 60 * 60;
const TLS13: u16 = 0x304;

/// A session in the library's own format, and its facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredSession {
    /// i2d_SSL_SESSION(3).
    pub ticket: Vec<u8>,
    /// 0x304 is TLS 1.3.
    pub version: u16,
    /// The time of its expiry, in seconds since 1970.
    pub until: i64,
    /// The protocol that its connection negotiated.
    pub alpn: Option<String>,
    /// Maximum number of early bytes that the server accepts.
    pub early: u32,
}

/// The tags of the fields, after one byte for the format itself.
mod mark {
    pub const FORM: u8 = 1;
    pub const VERSION: u8 = 2;
    pub const UNTIL: u8 = 3;
    pub const TICKET: u8 = 4;
    pub const ALPN: u8 = 5;
    pub const EARLY: u8 = 6;
    /// Parameters of QUIC; no session of OpenSSL has them here.
    pub const QUIC: u8 = 7;
}

impl StoredSession {
    /// Serialises the session: numbers in network order, texts after their length in two bytes. Returns
    /// `None` if it would be too long.
    fn packed(&self) -> Option<Vec<u8>> {
        let text = |bytes: &[u8]| Some([&u16::try_from(bytes.len()).ok()?.to_be_bytes(), bytes].concat());
        let mut out = vec![mark::FORM, mark::TICKET];
        out.extend(text(&self.ticket)?);
        out.push(mark::VERSION);
        out.extend(self.version.to_be_bytes());
        out.push(mark::UNTIL);
        out.extend(self.until.to_be_bytes());
        if let Some(alpn) = &self.alpn {
            out.push(mark::ALPN);
            out.extend(text(alpn.as_bytes())?);
        }
        if self.early > 0 {
            out.push(mark::EARLY);
            out.extend(self.early.to_be_bytes());
        }
        (out.len() <= MAX_PACKED).then_some(out)
    }

    /// Parses the output of [`packed`](Self::packed), or of curl.
    fn unpack(bytes: &[u8]) -> Option<StoredSession> {
        let (form, mut rest) = bytes.split_first()?;
        if *form != mark::FORM {
            return None;
        }
        let mut session = StoredSession::default();
        while let Some((field, behind)) = rest.split_first() {
            rest = behind;
            match *field {
                mark::TICKET => session.ticket = text(&mut rest)?.to_vec(),
                mark::VERSION => session.version = u16::from_be_bytes(taken(&mut rest)?),
                mark::UNTIL => session.until = i64::from_be_bytes(taken(&mut rest)?),
                mark::ALPN => session.alpn = Some(String::from_utf8(text(&mut rest)?.to_vec()).ok()?),
                mark::EARLY => session.early = u32::from_be_bytes(taken(&mut rest)?),
                mark::QUIC => drop(text(&mut rest)?),
                _ => return None,
            }
        }
        (!session.ticket.is_empty()).then_some(session)
    }

    fn is_over(&self, now: i64) -> bool {
        self.until < now
    }

    /// Limits the lifetime.
    fn bounded(self, now: i64) -> StoredSession {
        let until = if self.until <= 0 { now.saturating_add(DAY) } else { self.until };
        let longest = if self.version == TLS13 { WEEK } else { DAY };
        StoredSession { until: until.min(now.saturating_add(longest)), ..self }
    }
}

fn taken<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (number, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(*number)
}

fn text<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::from(u16::from_be_bytes(taken(rest)?));
    let (text, behind) = rest.split_at_checked(length)?;
    *rest = behind;
    Some(text)
}

/// An exported session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The server's name; `None` for a session imported without one whose server was not used since.
    pub name: Option<String>,
    /// Salt and HMAC, in this order.
    pub proof: [u8; 64],
    pub packed: Vec<u8>,
    pub session: StoredSession,
}

/// The reason why a session cannot be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotImported {
    /// Neither a name nor a proof of the right length identifies its server.
    OtherOwner,
    /// The session cannot be parsed.
    Session,
}

/// All sessions; the server used last is at the end.
#[derive(Default)]
pub struct Store {
    peers: Vec<Peer>,
}

struct Peer {
    /// The server and the rules of a connection of this process.
    met: Option<(Arc<TlsConfig>, String, u16)>,
    /// The name, if it may be exported.
    name: Option<String>,
    proof: Option<[u8; 64]>,
    sessions: Vec<StoredSession>,
}

impl Store {
    /// Takes the newest session of a server.
    pub fn take(&mut self, config: &Arc<TlsConfig>, host: &str, port: u16) -> Option<StoredSession> {
        let place = self.find(config, host, port)?;
        let now = seconds_since_1970();
        self.peers[place].sessions.retain(|session| !session.is_over(now));
        let session = self.peers[place].sessions.pop();
        self.peers[place..].rotate_left(1);
        session
    }

    pub fn put(&mut self, config: &Arc<TlsConfig>, host: &str, port: u16, session: StoredSession) {
        let place = self.find(config, host, port).unwrap_or_else(|| {
            let met = Some((config.clone(), host.to_owned(), port));
            self.add(Peer { met, name: name(config, host, port), proof: None, sessions: Vec::new() })
        });
        self.peers[place].keep(session);
        self.peers[place..].rotate_left(1);
    }

    pub fn clear(&mut self) {
        self.peers.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.peers.is_empty()
    }

    /// Returns the index of a server used before, or of an imported one whose name or proof matches.
    fn find(&mut self, config: &Arc<TlsConfig>, host: &str, port: u16) -> Option<usize> {
        let is_met = |peer: &Peer| {
            peer.met.as_ref().is_some_and(|met| met.2 == port && met.1 == host && *met.0 == **config)
        };
        if let Some(place) = self.peers.iter().position(is_met) {
            return Some(place);
        }
        if self.peers.iter().all(|peer| peer.met.is_some()) {
            return None;
        }
        let name = name(config, host, port)?;
        let place = self.peers.iter().position(|peer| peer.met.is_none() && peer.is_called(&name))?;
        let peer = &mut self.peers[place];
        (peer.met, peer.name) = (Some((config.clone(), host.to_owned(), port)), Some(name));
        Some(place)
    }

    fn add(&mut self, peer: Peer) -> usize {
        if self.peers.len() == MAX_PEERS {
            self.peers.remove(0);
        }
        self.peers.push(peer);
        self.peers.len() - 1
    }

    /// Returns all sessions that may be exported. Sessions that involve a client certificate or a function of
    /// the application are excluded.
    pub fn export(&mut self) -> Vec<Exported> {
        let now = seconds_since_1970();
        let mut out = Vec::new();
        for peer in &mut self.peers {
            peer.sessions.retain(|session| !session.is_over(now));
            let Some(proof) = peer.prove().filter(|_| !peer.sessions.is_empty()) else { continue };
            out.extend(peer.sessions.iter().filter_map(|session| {
                let (packed, session) = (session.packed()?, session.clone());
                Some(Exported { name: peer.name.clone(), proof, packed, session })
            }));
        }
        out
    }

    /// Stores an exported session of this or another process. Its name or, without that, its proof identifies
    /// its server.
    pub fn import(&mut self, name: Option<&str>, proof: &[u8], packed: &[u8]) -> Result<(), NotImported> {
        let proof = <[u8; 64]>::try_from(proof).ok();
        if name.is_none() && proof.is_none() {
            return Err(NotImported::OtherOwner);
        }
        let session = StoredSession::unpack(packed).ok_or(NotImported::Session)?;
        let now = seconds_since_1970();
        if session.is_over(now) && session.until > 0 {
            return Ok(()); // it came too late
        }
        let alike = |peer: &Peer| match (name, &proof) {
            (Some(name), _) => peer.is_called(name),
            (_, Some(proof)) => peer.proof.as_ref() == Some(proof) || peer.is_proved(proof),
            _ => false,
        };
        let place = self.peers.iter().position(alike).unwrap_or_else(|| {
            let proof = proof.filter(|_| name.is_none());
            self.add(Peer { met: None, name: name.map(str::to_owned), proof, sessions: Vec::new() })
        });
        self.peers[place].keep(session.bounded(now));
        Ok(())
    }
}

impl Peer {
    fn keep(&mut self, session: StoredSession) {
        if session.version != TLS13 {
            self.sessions.clear(); // one is good for many connections
        } else if self.sessions.len() == MAX_TICKETS {
            self.sessions.remove(0);
        }
        self.sessions.push(session);
    }

    fn is_called(&self, name: &str) -> bool {
        match (&self.name, &self.proof) {
            (Some(own), _) => own.eq_ignore_ascii_case(name),
            (None, Some(proof)) => proves(proof, name),
            _ => false,
        }
    }

    fn is_proved(&self, proof: &[u8; 64]) -> bool {
        self.name.as_ref().is_some_and(|name| proves(proof, name))
    }

    /// Returns salt and HMAC, created on first use.
    fn prove(&mut self) -> Option<[u8; 64]> {
        if self.proof.is_none() {
            let name = self.name.as_ref()?;
            let mut proof = [0; 64];
            SystemRandom::new().fill(&mut proof[..32]).ok()?;
            let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &proof[..32]), name.as_bytes());
            proof[32..].copy_from_slice(tag.as_ref());
            self.proof = Some(proof);
        }
        self.proof
    }
}

fn proves(proof: &[u8; 64], name: &str) -> bool {
    let key = hmac::Key::new(hmac::HMAC_SHA256, &proof[..32]);
    hmac::verify(&key, name.as_bytes(), &proof[32..]).is_ok()
}

/// Returns the name of a server: host, port and the rules of verification. Returns `None` if it must not be
/// exported: a client certificate, a password, or a function or an engine of this process is involved, or it
/// names a file that another process would resolve differently.
fn name(config: &TlsConfig, host: &str, port: u16) -> Option<String> {
    if config.client.is_some() || config.backend != Backend::SYSTEM {
        return None;
    }
    let mut out = format!("{host}:{port}");
    let mut add_flag = |condition: bool, text: &str| {
        if condition {
            out.push_str(text);
        }
    };
    add_flag(!config.verify_peer, ":NO-VRFY-PEER");
    add_flag(!config.verify_host, ":NO-VRFY-HOST");
    add_flag(config.verify_status, ":VRFY-STATUS");
    if (config.min_version, config.max_version) != (TlsVersion::Tls12, TlsVersion::Tls13) {
        let number = |version| match version {
            TlsVersion::Tls10 => 4,
            TlsVersion::Tls11 => 5,
            TlsVersion::Tls12 => 6,
            TlsVersion::Tls13 => 7,
        };
        let _ = write!(out, ":TLSVER-{}-{}", number(config.min_version), number(config.max_version));
    }
    if config.no_partial_chain {
        out.push_str(":TLSOPT-4");
    }
    let lists = [
        ("CIPHER", &config.cipher_list),
        ("CIPHER13", &config.tls13_ciphers),
        ("CURVES", &config.curves),
        ("SIGALGS", &config.sigalgs),
    ];
    for (what, list) in lists {
        if let Some(list) = list {
            let _ = write!(out, ":{what}-{list}");
        }
    }
    if config.verify_peer {
        for source in &config.ca {
            match source {
                CaSource::File(file) => add_path(&mut out, "CA", file)?,
                CaSource::Path(folder) => add_path(&mut out, "CApath", folder)?,
                CaSource::Blob(bytes) => add_digest(&mut out, "CAInfoBlob", bytes),
                CaSource::System(Some(bundle)) => add_path(&mut out, "CA", bundle)?,
                CaSource::System(None) => return None,
            }
        }
        if let Some(list) = &config.crl {
            add_path(&mut out, "CRL", list)?;
        }
        match &config.issuer {
            Some(CertSource::File(file)) => add_path(&mut out, "Issuer", file)?,
            Some(CertSource::Blob(bytes)) => add_digest(&mut out, "IssuerBlob", bytes),
            Some(CertSource::Module(_)) => return None,
            None => {}
        }
    }
    match &config.pinned_key {
        Some(PinnedKey::Hashes(hashes)) => {
            let _ = write!(out, ":Pinned-{hashes}");
        }
        Some(PinnedKey::File(file)) => {
            let _ = write!(out, ":Pinned-{}", absolute(file)?);
        }
        None => {}
    }
    let library = openssl::version()?.split(' ').take(2).collect::<Vec<_>>().join("/");
    let _ = write!(out, ":IMPL-{library}:G");
    Some(out)
}

/// Adds a file by its absolute path, so that a process in another directory means the same file.
fn add_path(out: &mut String, what: &str, file: &NamedFile) -> Option<()> {
    let _ = write!(out, ":{what}-{}", absolute(file)?);
    Some(())
}

/// Returns the absolute path of a file that exists.
fn absolute(file: &NamedFile) -> Option<&str> {
    let is_there = !matches!(file.stamp(), FileStamp::Missing | FileStamp::Unknown(_));
    file.path().to_str().filter(|_| is_there || file.given().is_absolute())
}

fn add_digest(out: &mut String, what: &str, bytes: &[u8]) {
    let _ = write!(out, ":{what}-");
    for byte in digest::digest(&digest::SHA256, bytes).as_ref() {
        let _ = write!(out, "{byte:02x}");
    }
}

#[cfg(all(test, unix))] // a store is OpenSSL's, which is looked for there alone
mod tests {
    use super::*;

    fn config() -> Arc<TlsConfig> {
        let ca = vec![CaSource::Blob([1, 2, 3].as_slice().into())];
        Arc::new(TlsConfig { backend: Backend::SYSTEM, ca, ..TlsConfig::default() })
    }

    fn session(ticket: &[u8]) -> StoredSession {
        let (ticket, alpn) = (ticket.to_vec(), Some("h2".to_owned()));
        StoredSession { ticket, version: TLS13, until: seconds_since_1970() + 600, alpn, early: 16384 }
    }

    #[test]
    fn exported_sessions_return_for_equal_rules_only() {
        let (mut here, mut there) = (Store::default(), Store::default());
        here.put(&config(), "a.example", 443, session(b"one"));
        here.put(&config(), "a.example", 443, session(b"two"));
        here.put(&config(), "b.example", 443, session(b"three"));
        let out = here.export();
        assert_eq!(out.len(), 3);
        assert_eq!(out[0].proof, out[1].proof);
        assert!(out[0].proof != out[2].proof && out[0].name != out[2].name);
        for one in &out {
            there.import(None, &one.proof, &one.packed).unwrap();
        }
        let lenient = Arc::new(TlsConfig { verify_peer: false, ..(*config()).clone() });
        let others =
            [("a.example", 444, config()), ("c.example", 443, config()), ("a.example", 443, lenient)];
        for (host, port, config) in others {
            assert_eq!(there.take(&config, host, port), None, "{host}:{port}");
        }
        assert_eq!(there.export().len(), 3, "and it leaves again before anybody asked for it");
        assert!(there.export().iter().all(|one| one.name.is_none()));
        assert_eq!(there.take(&config(), "a.example", 443), Some(session(b"two")));
        assert_eq!(there.take(&config(), "a.example", 443), Some(session(b"one")));
        assert_eq!(there.take(&config(), "a.example", 443), None, "each once");
        assert_eq!(there.export()[0].name, None, "b has not been met");
        assert_eq!(there.take(&config(), "b.example", 443), Some(session(b"three")));
    }

    #[test]
    fn sessions_with_secrets_are_not_exported() {
        let stays = |config: TlsConfig| {
            let mut store = Store::default();
            store.put(&Arc::new(config), "a.example", 443, session(b"one"));
            store.export().is_empty()
        };
        let base = (*config()).clone();
        assert!(!stays(base.clone()));
        assert!(stays(TlsConfig {
            backend: Backend::System { hook: Some([1, 2]), module: None },
            ..base.clone()
        }));
        assert!(stays(TlsConfig { ca: vec![CaSource::File("not/there.pem".into())], ..base.clone() }));
        let client = crate::tls::ClientCert {
            cert: CertSource::File("/a.pem".into()),
            cert_type: "PEM".to_owned(),
            key: None,
            key_type: "PEM".to_owned(),
            password: None,
        };
        assert!(stays(TlsConfig { client: Some(client), ..base }));
    }

    #[test]
    fn truncated_and_changed_sessions_are_refused() {
        let good = session(b"ticket").packed().unwrap();
        assert_eq!(StoredSession::unpack(&good), Some(session(b"ticket")));
        // At the boundary of two fields it is whole, and cannot tell.
        let ends = [10, 13, 22, 27];
        for n in 0..good.len() {
            let whole = StoredSession::unpack(&good[..n]).is_some();
            assert!(!whole || ends.contains(&n), "cut after {n} bytes");
        }
        for bytes in [
            &b""[..],
            b"\x02",
            b"\x01",
            b"\x01\x04\0\0",
            b"\x01\x09",
            b"\x01\x04\xff\xffab",
            b"\x01\x05\0\x01\xff",
        ] {
            assert_eq!(StoredSession::unpack(bytes), None, "{bytes:?}");
        }
        let mut store = Store::default();
        assert_eq!(store.import(None, &[0; 63], &good), Err(NotImported::OtherOwner));
        assert_eq!(store.import(None, &[0; 64], b"\x01"), Err(NotImported::Session));
        for n in 0..2 * MAX_PEERS {
            store.import(Some(&n.to_string()), &[], &good).unwrap();
        }
        assert_eq!(store.peers.len(), MAX_PEERS);
        let large = StoredSession { ticket: vec![0; MAX_PACKED], ..session(b"") };
        assert_eq!(large.packed(), None);
    }

    #[test]
    fn none_lives_for_ever() {
        let far = StoredSession { until: i64::MAX, ..session(b"x") };
        assert_eq!(far.clone().bounded(1000).until, 1000 + WEEK);
        assert_eq!(StoredSession { version: 0x303, ..far.clone() }.bounded(1000).until, 1000 + DAY);
        assert_eq!(StoredSession { until: 0, ..far }.bounded(1000).until, 1000 + DAY);
        let mut store = Store::default();
        store.put(
            &config(),
            "a.example",
            443,
            StoredSession { until: seconds_since_1970() - 5, ..session(b"x") },
        );
        assert!(store.export().is_empty());
        assert_eq!(store.take(&config(), "a.example", 443), None);
    }
}
