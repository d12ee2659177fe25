//! Secrets that rustls passes only to its key log: the exporter secret of TLS 1.3 (RFC 8446 section 7.5),
//! because rustls exports nothing from a connection without its own buffers, and the traffic secrets of both
//! directions. With these a connection renews its keys (section 7.2) without rustls, whose state is four
//! times as large as all that is needed then.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::crypto::tls13::OkmBlock;
use rustls::{CipherSuite, ConnectionTrafficSecrets, KeyLog, SupportedCipherSuite, Tls13CipherSuite};
use zeroize::Zeroizing;

use super::binding::EXPORTER_LABEL;
use super::record::Key;
use super::suites;

/// Labels of the secrets in a key log.
const LABELS: [&str; 3] = ["EXPORTER_SECRET", "CLIENT_TRAFFIC_SECRET_0", "SERVER_TRAFFIC_SECRET_0"];
const PREFIX_OF_LABELS: &[u8] = b"tls13 ";
const NOTHING: &[u8] = b"";

/// A key log that stores the secrets in [`LABELS`] and passes all on to the configured log.
pub(crate) struct Overheard {
    secrets: Mutex<[Option<OkmBlock>; 3]>,
    log: Arc<dyn KeyLog>,
}

impl Overheard {
    /// Wraps another log.
    pub fn new(log: Arc<dyn KeyLog>) -> Overheard {
        Overheard { secrets: Mutex::default(), log }
    }

    /// Returns the value of the channel binding (RFC 9266 section 2). `None` under TLS 1.2, where it requires
    /// an extended master secret, which rustls does not report.
    pub fn name(&self, suite: SupportedCipherSuite) -> Option<[u8; 32]> {
        let suite = suite.tls13()?;
        let empty = suite.common.hash_provider.hash(NOTHING);
        let [exporter, ..] = &*self.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        let label = EXPORTER_LABEL.as_bytes();
        let derived = expand(suite, exporter.as_ref()?, label, empty.as_ref(), empty.as_ref().len());
        expand(suite, &OkmBlock::new(&derived), b"exporter", empty.as_ref(), 32).as_slice().try_into().ok()
    }

    /// Takes the secrets of the sending and of the receiving key, once. `None` under TLS 1.2, whose keys are
    /// never renewed.
    pub fn take_traffic(&self, suite: SupportedCipherSuite) -> Option<[Traffic; 2]> {
        let suite = suite.tls13()?;
        let [_, client, server] =
            std::mem::take(&mut *self.secrets.lock().unwrap_or_else(PoisonError::into_inner));
        Some([client?, server?].map(|secret| Traffic { suite, secret }))
    }
}

impl KeyLog for Overheard {
    fn will_log(&self, label: &str) -> bool {
        LABELS.contains(&label) || self.log.will_log(label)
    }

    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        if let Some(at) = LABELS.iter().position(|known| *known == label) {
            self.secrets.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(OkmBlock::new(secret));
        }
        if self.log.will_log(label) {
            self.log.log(label, client_random, secret);
        }
    }
}

/// The secrets must not appear in logs.
impl fmt::Debug for Overheard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Overheard").finish_non_exhaustive()
    }
}

/// The secrets behind the keys of a connection, ours first. They renew the keys, and make them once more in
/// another process.
pub(crate) enum Secrets {
    /// Traffic secrets, from which keys and IVs are derived.
    Tls13(Box<[Traffic; 2]>),
    /// Keys, each with its IV behind it. They are never renewed.
    Tls12(Box<Tls12Keys>),
}

/// The keys of a connection with TLS 1.2.
pub(crate) struct Tls12Keys {
    pub suite: CipherSuite,
    pub keys: [Zeroizing<Vec<u8>>; 2],
}

/// Length of an IV: that of every cipher that is offered.
const IV: usize = 12;

impl Secrets {
    /// Keeps the keys that rustls passes on with TLS 1.2; `None` for a cipher that is not offered here.
    pub fn of_tls12(suite: CipherSuite, secrets: [&ConnectionTrafficSecrets; 2]) -> Option<Secrets> {
        let [tx, rx] = secrets.map(|secrets| {
            let (key, iv) = match secrets {
                ConnectionTrafficSecrets::Aes128Gcm { key, iv }
                | ConnectionTrafficSecrets::Aes256Gcm { key, iv }
                | ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => (key.as_ref(), iv.as_ref()),
                _ => return None,
            };
            let mut bytes = Zeroizing::new(Vec::with_capacity(key.len() + iv.len()));
            bytes.extend_from_slice(key);
            bytes.extend_from_slice(iv);
            Some(bytes)
        });
        Some(Secrets::Tls12(Box::new(Tls12Keys { suite, keys: [tx?, rx?] })))
    }

    /// Returns the secrets with these [`bytes`](Secrets::bytes). `None` for a suite that is not offered here.
    /// With TLS 1.2 a secret of a wrong length makes no key.
    pub fn from_bytes(suite: u16, secrets: [Zeroizing<Vec<u8>>; 2]) -> Option<Secrets> {
        let suite = suites::supported(suite)?;
        let Some(tls13) = suite.tls13() else {
            return Some(Secrets::Tls12(Box::new(Tls12Keys { suite: suite.suite(), keys: secrets })));
        };
        let length = tls13.common.hash_provider.output_len();
        if secrets.iter().any(|secret| secret.len() != length) {
            return None;
        }
        let traffic = |secret: Zeroizing<Vec<u8>>| Traffic { suite: tls13, secret: OkmBlock::new(&secret) };
        Some(Secrets::Tls13(Box::new(secrets.map(traffic))))
    }

    /// Returns the number of the cipher suite.
    pub fn suite(&self) -> u16 {
        match self {
            Secrets::Tls13(traffic) => traffic[0].suite.common.suite.into(),
            Secrets::Tls12(keys) => keys.suite.into(),
        }
    }

    /// Returns the present secret of each direction.
    pub fn bytes(&self) -> [Zeroizing<Vec<u8>>; 2] {
        match self {
            Secrets::Tls13(traffic) => {
                [&traffic[0], &traffic[1]].map(|traffic| Zeroizing::new(traffic.secret.as_ref().to_vec()))
            }
            Secrets::Tls12(keys) => keys.keys.clone(),
        }
    }

    /// Returns the present key of one direction, which handles the record `sequence` next.
    pub fn key(&self, direction: usize, sequence: u64) -> Option<Key> {
        match self {
            Secrets::Tls13(traffic) => traffic[direction].key(sequence),
            Secrets::Tls12(both) => {
                let (key, iv) = both.keys[direction].split_last_chunk::<IV>()?;
                Key::of_suite(both.suite, |_| Zeroizing::new(key.to_vec()), iv, sequence)
            }
        }
    }

    /// Returns the next key of one direction; `None` where keys are not renewed.
    pub fn renew(&mut self, direction: usize) -> Option<Key> {
        match self {
            Secrets::Tls13(traffic) => traffic[direction].renew(),
            Secrets::Tls12(_) => None,
        }
    }
}

/// The secret of one direction, from which its keys are derived.
pub(crate) struct Traffic {
    suite: &'static Tls13CipherSuite,
    secret: OkmBlock,
}

impl Traffic {
    /// Returns the next key, derived from the next secret (RFC 8446 sections 7.2 and 7.3). `None` for a
    /// cipher that is not offered here.
    pub fn renew(&mut self) -> Option<Key> {
        let (suite, length) = (self.suite, self.secret.as_ref().len());
        self.secret = OkmBlock::new(&expand(suite, &self.secret, b"traffic upd", NOTHING, length));
        self.key(0)
    }

    /// Returns the key of the present secret, which handles the record `sequence` next.
    fn key(&self, sequence: u64) -> Option<Key> {
        let part = |label: &[u8], length| expand(self.suite, &self.secret, label, NOTHING, length);
        Key::of_suite(self.suite.common.suite, |length| part(b"key", length), &part(b"iv", IV), sequence)
    }
}

/// HKDF-Expand-Label of RFC 8446 section 7.1.
fn expand(
    suite: &Tls13CipherSuite,
    secret: &OkmBlock,
    label: &[u8],
    context: &[u8],
    length: usize,
) -> Zeroizing<Vec<u8>> {
    let mut out = Zeroizing::new(vec![0; length]);
    let short = |n: usize| u8::try_from(n).expect("labels and hashes are short");
    let lengths = [0, short(length), short(PREFIX_OF_LABELS.len() + label.len())];
    let parts = [&lengths[..], PREFIX_OF_LABELS, label, &[short(context.len())], context];
    let expander = suite.hkdf_provider.expander_for_okm(secret);
    expander.expand_slice(&parts, &mut out).expect("no more than 255 hashes are asked for");
    out
}
