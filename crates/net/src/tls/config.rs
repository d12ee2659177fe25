//! Builds a configuration of rustls from a `TlsConfig`, once per configuration; the session store keeps it. A
//! changed file results in another `TlsConfig`, so that sessions made with the old content are not found any
//! more.

use super::keylog::LogFile;
use super::provider::provider;
use super::sessions::SessionStore;
use super::verify::Verifier;
use super::{TlsConfig, TlsVersion, alerts, ech, keys, suites};
use crate::{NamedFile, NetError};
use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::{ClientConfig, SupportedProtocolVersion, version};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

static BUILT: AtomicU64 = AtomicU64::new(0);

/// A configuration for rustls.
pub struct Built {
    /// A unique number that identifies the sessions made with this configuration.
    pub number: u64,
    pub verifier: Arc<Verifier>,
    config: ClientConfig,
}

impl Built {
    /// Returns the kept one for an equal configuration, or a new one. ALPN is set for each connection.
    pub fn get(config: &Arc<TlsConfig>, store: &SessionStore) -> Result<Arc<Built>, NetError> {
        if let Some(built) = store.built(config) {
            return Ok(built);
        }
        let built = Arc::new(build(config)?);
        // A file that was replaced before it was read has content that the configuration does not describe.
        if config.files().all(NamedFile::is_current) {
            store.keep_built(config, &built);
        }
        Ok(built)
    }

    /// Returns the configuration for one connection, which offers these protocols, and resumes and stores
    /// sessions through `resumption`. With `early` data may be sent with the ClientHello if a session allows
    /// it.
    pub fn for_one(&self, alpn: &[String], resumption: Resumption, early: bool) -> ClientConfig {
        let mut config = self.config.clone();
        config.resumption = resumption;
        config.enable_early_data = early;
        config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        config
    }
}

fn build(config: &Arc<TlsConfig>) -> Result<Built, NetError> {
    let (below_tls13, of_tls13) = config.cipher_lists();
    let provider = CryptoProvider {
        cipher_suites: suites::choose(below_tls13, of_tls13)?,
        kx_groups: suites::groups(config.curves.as_deref())?,
        ..provider()
    };
    let schemes = suites::schemes(config.sigalgs.as_deref())?;
    let verifier = Arc::new(Verifier::new(config, provider.signature_verification_algorithms, schemes)?);
    let client = config.client.as_ref().map(|c| keys::load(c, &provider)).transpose()?;
    let builder = ClientConfig::builder_with_provider(Arc::new(provider));
    let versions = versions(config)?;
    let builder = match &config.ech {
        Some(_) if !versions.contains(&&version::TLS13) => return Err(alerts::no_protocols()),
        Some(wanted) => ech::mode(wanted).and_then(|mode| builder.with_ech(mode)),
        None => builder.with_protocol_versions(&versions),
    };
    let builder = builder
        .map_err(|e| alerts::connect_error(&e))?
        .dangerous()
        .with_custom_certificate_verifier(verifier.clone());
    let mut out = match client {
        Some(key) => builder.with_client_cert_resolver(Arc::new(key)),
        None => builder.with_no_client_auth(),
    };
    out.enable_secret_extraction = true; // tls::record takes over after the handshake
    if let Some(log) = config.key_log.as_deref().and_then(LogFile::open) {
        out.key_log = Arc::new(log);
    }
    let number = BUILT.fetch_add(1, Ordering::Relaxed);
    Ok(Built { number, verifier, config: out })
}

/// TLS 1.0 and 1.1 as a minimum mean "or later"; as a maximum they are an error.
fn versions(config: &TlsConfig) -> Result<Vec<&'static SupportedProtocolVersion>, NetError> {
    let range = config.min_version..=config.max_version;
    let mut out = Vec::new();
    if range.contains(&TlsVersion::Tls13) {
        out.push(&version::TLS13);
    }
    if range.contains(&TlsVersion::Tls12) {
        out.push(&version::TLS12);
    }
    if out.is_empty() { Err(alerts::no_protocols()) } else { Ok(out) }
}
