//! Secrets that rustls passes only to its key log: the exporter secret of TLS 1.3 (RFC 8446 section 7.5),
//! because rustls exports nothing from a connection without its own buffers, and the traffic secrets of both
//! directions. With these a connection renews its keys (section 7.2) without rustls, whose state is four
//! times as large as all that is needed then.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::crypto::tls13::OkmBlock;
use rustls::{KeyLog, SupportedCipherSuite, Tls13CipherSuite};
use zeroize::Zeroizing;

use super::binding::EXPORTER_LABEL;
use super::record::Key;

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
        let part = |label: &[u8], length| expand(suite, &self.secret, label, NOTHING, length);
        Key::renewed(suite.common.suite, |length| part(b"key", length), &part(b"iv", 12))
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
