//! TLS client: what a connection may be asked for (`TlsConfig`), what it turned out to be (`TlsInfo`), and the parts that
//! make it so. The bytes on the wire are moved by [`rustls`] and [`openssl`].
//!
//! rustls does the handshake (RFC 8446, RFC 5246); after it `record` takes over the keys and moves application data
//! without copies. Certificates are judged by `verify` alone, whatever the transport.

pub mod alerts;
pub mod anchors;
pub mod backend;
pub mod binding;
pub mod certinfo;
pub mod chain;
pub mod config;
pub mod constraints;
pub mod crl;
pub mod decrypt;
pub mod dn;
pub mod ech;
pub mod ed25519;
pub mod general_name;
pub mod handshake;
mod hpke;
pub(crate) mod key_schedule;
pub mod keylog;
pub mod keys;
mod mlkem;
pub mod names;
pub mod ocsp;
pub mod oids;
pub mod openssl;
mod p521;
pub mod path;
pub mod pem;
pub mod pin;
pub mod pkcs12;
pub mod profile;
mod provider;
pub mod record;
pub mod rustls;
pub mod sessions;
pub mod signatures;
pub mod strength;
pub mod suites;
pub mod verdict;
pub mod verify;
pub mod veto;
pub mod x509;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::{NamedFile, NetError, SecretBytes};

pub use ech::Ech;
pub use openssl::Module;
pub use openssl::sessions::{Exported, NotImported};
pub use sessions::{Early, PeerSessions, SessionStore};

/// Protocol versions an application can name. Those below 1.2 are known but not spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TlsVersion {
    Tls10,
    Tls11,
    Tls12,
    Tls13,
}

/// The library that speaks TLS ([`backend`] chooses it).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Backend {
    #[default]
    Rustls,
    /// The system's library, OpenSSL, where a program asks for it.
    System {
        /// The application's function and its data that change each context (CURLOPT_SSL_CTX_FUNCTION). Its
        /// effect is not known here, so only connections made with the same function are alike.
        hook: Option<[usize; 2]>,
        /// An engine or a provider that keys may be asked of (CURLOPT_SSLENGINE).
        module: Option<Arc<Module>>,
    },
}

/// An ability that one library has and another lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Data that leaves with the hello (RFC 8446, section 2.3).
    EarlyData,
    /// Encrypted Client Hello, GREASE among it.
    EncryptedHello,
    /// TLS 1.0 and 1.1.
    OldVersions,
}

impl Backend {
    /// The system's library, unchanged by a function or a module.
    pub const SYSTEM: Backend = Backend::System { hook: None, module: None };
    /// The library that serves QUIC, whatever is asked for.
    pub const OF_QUIC: Backend = Backend::Rustls;

    /// Whether the library can do this.
    pub fn supports(&self, capability: Capability) -> bool {
        match (self, capability) {
            (Backend::Rustls, Capability::EarlyData | Capability::EncryptedHello) => true,
            (Backend::Rustls, Capability::OldVersions) => false,
            (Backend::System { .. }, Capability::EarlyData | Capability::EncryptedHello) => false,
            (Backend::System { .. }, Capability::OldVersions) => true,
        }
    }

    /// Whether neither a function of the application nor a module has a part in it.
    pub fn is_unchanged(&self) -> bool {
        match self {
            Backend::Rustls => true,
            Backend::System { hook, module } => hook.is_none() && module.is_none(),
        }
    }

    /// Whether a function of the application changes each context.
    pub fn is_hooked(&self) -> bool {
        matches!(self, Backend::System { hook: Some(_), .. })
    }

    /// Returns the words by which trace lines name a library other than the usual one.
    pub fn by(&self) -> &'static str {
        match self {
            Backend::Rustls => "",
            Backend::System { .. } => " by OpenSSL",
        }
    }
}

/// One place where trust anchors come from; several are added up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CaSource {
    /// PEM certificates in one file.
    File(NamedFile),
    /// A directory of PEM files, by hashed names if there are any ([`NamedFile::folder`]).
    Path(NamedFile),
    /// PEM certificates in memory.
    Blob(Arc<[u8]>),
    /// The operating system's bundle, if there is one. Missing means no anchors, not an error.
    System(Option<NamedFile>),
}

impl CaSource {
    /// The operating system's bundle as it is now.
    pub fn system() -> CaSource {
        CaSource::System(anchors::system_bundle().map(NamedFile::of_system))
    }

    /// The file or folder.
    fn file(&self) -> Option<&NamedFile> {
        match self {
            CaSource::File(file) | CaSource::Path(file) => Some(file),
            CaSource::System(bundle) => bundle.as_ref(),
            CaSource::Blob(_) => None,
        }
    }
}

/// A certificate or a key: in a file, in memory, or in an engine or a provider under a name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CertSource {
    File(NamedFile),
    /// May hold a private key.
    Blob(SecretBytes),
    /// What an engine or a provider is asked for, such as a PKCS #11 URI (types ENG and PROV).
    Module(String),
}

impl CertSource {
    /// The name as messages have it.
    fn shown(&self) -> String {
        match self {
            CertSource::File(file) => file.given().display().to_string(),
            CertSource::Blob(_) => "(memory blob)".to_owned(),
            CertSource::Module(id) => id.clone(),
        }
    }

    /// The file, if it is in one.
    fn file(&self) -> Option<&NamedFile> {
        match self {
            CertSource::File(file) => Some(file),
            CertSource::Blob(_) | CertSource::Module(_) => None,
        }
    }
}

/// The public key that a server must have (CURLOPT_PINNEDPUBLICKEY).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PinnedKey {
    /// One of these, `sha256//base64;sha256//…`.
    Hashes(String),
    /// The key in this file, in PEM or DER.
    File(NamedFile),
}

/// A client certificate and its key, as asked for: types are curl's words (PEM, DER, P12, ENG, PROV).
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ClientCert {
    pub cert: CertSource,
    pub cert_type: String,
    /// Missing: the key stands beside the certificate.
    pub key: Option<CertSource>,
    pub key_type: String,
    pub password: Option<SecretBytes>,
}

/// Everything that decides how a TLS connection is made. Two connections are alike only if these are equal, and
/// sessions are never shared between unequal ones.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TlsConfig {
    pub backend: Backend,
    pub min_version: TlsVersion,
    pub max_version: TlsVersion,
    pub verify_peer: bool,
    pub verify_host: bool,
    /// The server must staple an OCSP answer that says its certificate is good. Sessions are not resumed then.
    pub verify_status: bool,
    pub ca: Vec<CaSource>,
    /// How long loaded anchors may be used again; `None` is for ever, zero never.
    pub ca_cache: Option<Duration>,
    /// Anchors must be self-signed: an intermediate in `ca` is not enough.
    pub no_partial_chain: bool,
    pub crl: Option<NamedFile>,
    pub issuer: Option<CertSource>,
    pub client: Option<ClientCert>,
    pub pinned_key: Option<PinnedKey>,
    pub alpn: Vec<String>,
    /// TLS 1.3 is the only version then.
    pub ech: Option<Ech>,
    pub cipher_list: Option<String>,
    pub tls13_ciphers: Option<String>,
    pub curves: Option<String>,
    pub sigalgs: Option<String>,
    /// Sessions are resumed and remembered.
    pub session_cache: bool,
    /// Collect `TlsInfo::certinfo`.
    pub certinfo: bool,
    /// Secrets are appended to this file (SSLKEYLOGFILE; whether to honour it is decided above), an absolute path. Its content
    /// is ours.
    pub key_log: Option<PathBuf>,
}

impl Default for TlsConfig {
    fn default() -> TlsConfig {
        TlsConfig {
            backend: Backend::Rustls,
            min_version: TlsVersion::Tls12,
            max_version: TlsVersion::Tls13,
            verify_peer: true,
            verify_host: true,
            verify_status: false,
            ca: vec![CaSource::system()],
            ca_cache: Some(Duration::from_secs(24 * 60 * 60)),
            no_partial_chain: false,
            crl: None,
            issuer: None,
            client: None,
            pinned_key: None,
            alpn: Vec::new(),
            ech: None,
            cipher_list: None,
            tls13_ciphers: None,
            curves: None,
            sigalgs: None,
            session_cache: true,
            certinfo: false,
            key_log: None,
        }
    }
}

/// What a finished handshake agreed on.
#[derive(Clone, Debug, Default)]
pub struct TlsInfo {
    /// "TLSv1.3", "TLSv1.2"; OpenSSL speaks older ones, too.
    pub version: &'static str,
    /// OpenSSL's name of the cipher suite.
    pub cipher: &'static str,
    /// Key exchange group ("X25519"), empty when a session was resumed.
    pub group: &'static str,
    pub alpn: Option<String>,
    /// What `tls-exporter` names the channel by (RFC 9266); TLS 1.3 over a byte stream alone has it.
    pub exported: Option<[u8; 32]>,
    /// The server's own certificate in DER; connections that resume or repeat a session have one between them.
    pub peer_cert: Option<Arc<[u8]>>,
    pub resumed: bool,
    /// Bytes of early data that the server took, or negative those that it refused (CURLINFO_EARLYDATA_SENT_T).
    pub early: i64,
    /// The handshake goes on while the connection is in use already: what stands here was taken from its session, and this
    /// will tell what came of it.
    pub late: Option<Arc<Late>>,
    /// X509_V_ERR_…: 0 when the chain was verified.
    pub verify_result: i64,
    /// Per certificate, `name:value` in the order curl gives them; empty unless asked for.
    pub certinfo: Vec<Vec<String>>,
    /// OpenSSL's own objects, where it speaks: the addresses of its SSL_CTX and its SSL.
    pub native: Option<[usize; 2]>,
    /// Where this connection's sessions are kept, for those that must resume them.
    pub sessions: Option<SessionStore>,
}

/// How a handshake ended whose connection was in use before.
pub type Late = OnceLock<Result<Arc<TlsInfo>, NetError>>;

impl TlsInfo {
    /// The same as far as it is known by now.
    pub fn by_now(&self) -> &TlsInfo {
        let ended = self.late.as_ref().and_then(|late| late.get());
        ended.and_then(|outcome| outcome.as_ref().ok()).map_or(self, |info| info)
    }
}

impl TlsConfig {
    /// The cipher lists up to TLS 1.2 and of TLS 1.3. That of a version which is not spoken is not looked at, as in curl.
    pub(crate) fn cipher_lists(&self) -> (Option<&str>, Option<&str>) {
        let below = self.cipher_list.as_deref().filter(|_| self.min_version < TlsVersion::Tls13);
        (below, self.tls13_ciphers.as_deref().filter(|_| self.max_version >= TlsVersion::Tls13))
    }

    /// Returns a warning about a term that the library cannot meet to the letter.
    pub fn caveat(&self) -> Option<&'static str> {
        let old = self.min_version < TlsVersion::Tls12 && !self.backend.supports(Capability::OldVersions);
        old.then_some(
            "TLS 1.0 and 1.1 are spoken by OpenSSL alone (CURL_SSL_BACKEND): TLS 1.2 is the least here",
        )
    }

    /// The files that it names.
    pub fn files(&self) -> impl Iterator<Item = &NamedFile> {
        let client = self.client.iter().flat_map(|client| [Some(&client.cert), client.key.as_ref()]);
        let pin = match &self.pinned_key {
            Some(PinnedKey::File(file)) => Some(file),
            Some(PinnedKey::Hashes(_)) | None => None,
        };
        let anchors = self.ca.iter().filter_map(CaSource::file);
        let certs = client.flatten().chain(&self.issuer).filter_map(CertSource::file);
        anchors.chain(certs).chain(&self.crl).chain(pin)
    }

    /// Whether sessions are resumed: one that is resumed brings no answer about its certificate.
    pub(crate) fn resumes(&self) -> bool {
        self.session_cache && !self.verify_status
    }

    /// Returns the terms of a peer whose replies are kept: without what is offered, resumed, cached or
    /// recorded.
    pub(crate) fn of_replies(&self) -> TlsConfig {
        let usual = TlsConfig::default();
        TlsConfig {
            alpn: Vec::new(),
            ca_cache: usual.ca_cache,
            session_cache: usual.session_cache,
            certinfo: usual.certinfo,
            key_log: None,
            ..self.clone()
        }
    }

    /// The configuration by which sessions are known: without what is offered by ALPN.
    pub(crate) fn sessions_of(self: &Arc<Self>) -> Arc<TlsConfig> {
        match self.alpn.is_empty() {
            true => self.clone(),
            false => Arc::new(TlsConfig { alpn: Vec::new(), ..(**self).clone() }),
        }
    }
}

/// Neither paths of keys nor passwords belong into logs.
impl fmt::Debug for TlsConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsConfig")
            .field("versions", &(self.min_version, self.max_version))
            .field("verify", &(self.verify_peer, self.verify_host))
            .field("alpn", &self.alpn)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ClientCert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCert").field("cert_type", &self.cert_type).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod mutations;
