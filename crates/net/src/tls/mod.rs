//! TLS client: the configuration of a connection (`TlsConfig`), its negotiated parameters (`TlsInfo`), and
//! the parts between them. [`rustls`] and [`openssl`] move the bytes.
//!
//! rustls does the handshake (RFC 8446, RFC 5246). After it `record` takes over the keys and moves
//! application data without copies. Only `verify` judges certificates, on every transport.

pub mod alerts;
pub mod anchors;
pub mod backend;
pub mod binding;
pub mod certinfo;
pub mod chain;
pub mod checks;
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
pub mod trust_report;
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
pub use trust_report::{Expiry, TrustReport};

/// Protocol versions an application can name. Only the system's library supports those below 1.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TlsVersion {
    Tls10,
    Tls11,
    Tls12,
    Tls13,
}

/// The library that serves a TLS connection ([`backend`] chooses it).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Backend {
    #[default]
    Rustls,
    /// The system's library, OpenSSL, where a program asks for it.
    System {
        /// The application's function and its data that change each context (CURLOPT_SSL_CTX_FUNCTION). Its
        /// effect is not known here, so only connections made with the same function are alike.
        hook: Option<[usize; 2]>,
        /// An engine or a provider that keys may be loaded from (CURLOPT_SSLENGINE).
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
    /// The library that serves QUIC in every configuration.
    pub const OF_QUIC: Backend = Backend::Rustls;

    /// Returns whether the library supports this.
    pub fn supports(&self, capability: Capability) -> bool {
        match (self, capability) {
            (Backend::Rustls, Capability::EarlyData | Capability::EncryptedHello) => true,
            (Backend::Rustls, Capability::OldVersions) => false,
            (Backend::System { .. }, Capability::EarlyData | Capability::EncryptedHello) => false,
            (Backend::System { .. }, Capability::OldVersions) => true,
        }
    }

    /// Returns whether neither a function of the application nor a module takes part.
    pub fn is_unchanged(&self) -> bool {
        match self {
            Backend::Rustls => true,
            Backend::System { hook, module } => hook.is_none() && module.is_none(),
        }
    }

    /// Returns whether a function of the application changes each context.
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

/// A source of trust anchors; those of several sources are combined.
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
    /// Returns the operating system's bundle in its current state.
    pub fn system() -> CaSource {
        CaSource::System(anchors::system_bundle().map(NamedFile::of_system))
    }

    /// Returns the file or directory.
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
    /// The name in an engine or a provider, such as a PKCS #11 URI (types ENG and PROV).
    Module(String),
}

impl CertSource {
    /// Returns the name for messages.
    fn shown(&self) -> String {
        match self {
            CertSource::File(file) => file.given().display().to_string(),
            CertSource::Blob(_) => "(memory blob)".to_owned(),
            CertSource::Module(id) => id.clone(),
        }
    }

    /// Returns the file, if it is in one.
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
    /// Any of these hashes: `sha256//base64;sha256//…`.
    Hashes(String),
    /// The key in this file, in PEM or DER.
    File(NamedFile),
}

/// A client certificate and its key, as configured: types are curl's words (PEM, DER, P12, ENG, PROV).
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ClientCert {
    pub cert: CertSource,
    pub cert_type: String,
    /// If absent, the key is in the certificate's source.
    pub key: Option<CertSource>,
    pub key_type: String,
    pub password: Option<SecretBytes>,
}

/// The complete configuration of a TLS connection. Two connections are alike only if these are equal, and
/// sessions are never shared between unequal ones.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TlsConfig {
    pub backend: Backend,
    pub min_version: TlsVersion,
    pub max_version: TlsVersion,
    pub verify_peer: bool,
    pub verify_host: bool,
    /// Whether the server must staple an OCSP response with the status good. Sessions are not resumed then.
    pub verify_status: bool,
    pub ca: Vec<CaSource>,
    /// How long loaded anchors may be reused; `None` is for ever, zero never.
    pub ca_cache: Option<Duration>,
    /// Whether anchors must be self-signed: an intermediate in `ca` is not enough.
    pub no_partial_chain: bool,
    pub crl: Option<NamedFile>,
    pub issuer: Option<CertSource>,
    pub client: Option<ClientCert>,
    pub pinned_key: Option<PinnedKey>,
    pub alpn: Vec<String>,
    /// Encrypted Client Hello; TLS 1.3 is then the only version.
    pub ech: Option<Ech>,
    pub cipher_list: Option<String>,
    pub tls13_ciphers: Option<String>,
    pub curves: Option<String>,
    pub sigalgs: Option<String>,
    /// Whether sessions are resumed and stored.
    pub session_cache: bool,
    /// Whether to collect `TlsInfo::certinfo`.
    pub certinfo: bool,
    /// The absolute path of a file that secrets are appended to. The layer above decides whether
    /// SSLKEYLOGFILE counts.
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

/// The negotiated parameters of a finished handshake.
#[derive(Clone, Debug, Default)]
pub struct TlsInfo {
    /// "TLSv1.3", "TLSv1.2"; OpenSSL also has older ones.
    pub version: &'static str,
    /// OpenSSL's name of the cipher suite.
    pub cipher: &'static str,
    /// Key exchange group ("X25519"), empty when a session was resumed.
    pub group: &'static str,
    pub alpn: Option<String>,
    /// The channel binding `tls-exporter` (RFC 9266), only for TLS 1.3 over a byte stream.
    pub exported: Option<[u8; 32]>,
    /// The server's own certificate in DER; connections to one server with the same certificate share it.
    pub peer_cert: Option<Arc<[u8]>>,
    pub resumed: bool,
    /// Number of early bytes that the server accepted, or negative the number that it refused
    /// (CURLINFO_EARLYDATA_SENT_T).
    pub early: i64,
    /// Set while the handshake is in progress on a connection in use. The other fields are those of the
    /// resumed session then, and this receives the result.
    pub late: Option<Arc<Late>>,
    /// X509_V_ERR_…: 0 when the chain was verified.
    pub verify_result: i64,
    /// Which certificate of the chain expires first; only if requested ([`handshake::ChainDetail`]).
    pub expiry: Option<Expiry>,
    /// The checks of the chain; only if requested.
    pub trust: Option<Arc<TrustReport>>,
    /// Per certificate, `name:value` in curl's order; empty unless requested.
    pub certinfo: Vec<Vec<String>>,
    /// The addresses of OpenSSL's SSL_CTX and SSL, if OpenSSL serves the connection.
    pub native: Option<[usize; 2]>,
    /// The store of this connection's sessions, for connections that must resume them.
    pub sessions: Option<SessionStore>,
}

/// The result of a handshake whose connection was in use before it ended.
pub type Late = OnceLock<Result<Arc<TlsInfo>, NetError>>;

impl TlsInfo {
    /// Returns the parameters as far as they are known by now.
    pub fn by_now(&self) -> &TlsInfo {
        let ended = self.late.as_ref().and_then(|late| late.get());
        ended.and_then(|outcome| outcome.as_ref().ok()).map_or(self, |info| info)
    }
}

impl TlsConfig {
    /// Returns the cipher lists up to TLS 1.2 and of TLS 1.3. The list of a version that is not enabled is
    /// ignored, as in curl.
    pub(crate) fn cipher_lists(&self) -> (Option<&str>, Option<&str>) {
        let below = self.cipher_list.as_deref().filter(|_| self.min_version < TlsVersion::Tls13);
        (below, self.tls13_ciphers.as_deref().filter(|_| self.max_version >= TlsVersion::Tls13))
    }

    /// Returns a warning about a term that the library does not implement exactly.
    pub fn caveat(&self) -> Option<&'static str> {
        let old = self.min_version < TlsVersion::Tls12 && !self.backend.supports(Capability::OldVersions);
        old.then_some(
            "TLS 1.0 and 1.1 are spoken by OpenSSL alone (CURL_SSL_BACKEND): TLS 1.2 is the least here",
        )
    }

    /// Returns the files that it names.
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

    /// Returns whether sessions are resumed. A resumed session brings no response about its certificate.
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

    /// Returns the configuration that identifies sessions: without the protocols offered by ALPN.
    pub(crate) fn sessions_of(self: &Arc<Self>) -> Arc<TlsConfig> {
        match self.alpn.is_empty() {
            true => self.clone(),
            false => Arc::new(TlsConfig { alpn: Vec::new(), ..(**self).clone() }),
        }
    }
}

/// Omits paths of keys and passwords, which must not be logged.
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
