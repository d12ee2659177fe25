//! TLS options: the TLS configuration for the origin, for an HTTPS proxy and for a DNS-over-HTTPS server.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use net::tls::backend;
use net::tls::ech::is_usable;
use net::tls::{Backend, CaSource, CertSource, ClientCert, Ech, PinnedKey, TlsConfig, TlsVersion};
use net::{NamedFile, SecretBytes};
use tables::constant::{
    CURL_SSLVERSION_DEFAULT, CURL_SSLVERSION_SSLv2, CURL_SSLVERSION_SSLv3, CURL_SSLVERSION_TLSv1,
    CURL_SSLVERSION_TLSv1_0, CURL_SSLVERSION_TLSv1_1, CURL_SSLVERSION_TLSv1_2, CURL_SSLVERSION_TLSv1_3,
    CURLSSLOPT_NATIVE_CA, CURLSSLOPT_NO_PARTIALCHAIN,
};
use tables::{Code, EasyOption as O};

use super::policy_tls::{demand_version, pin_keys};
use crate::error::{Error, Result};
use crate::settings::Settings;
use crate::settings::ech::{EchWish, Mode};
use crate::sys::path_buf;

/// The peer whose TLS options are read: the row of each option of the origin names its twin for an HTTPS
/// proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsPeer {
    /// The origin, or a server that speaks for it.
    Origin,
    /// An HTTPS proxy.
    Proxy,
}

impl TlsPeer {
    /// Returns the option of this peer; one without a twin counts for both.
    fn option(self, option: O) -> O {
        match self {
            TlsPeer::Origin => option,
            TlsPeer::Proxy => option.proxy_twin().unwrap_or(option),
        }
    }
}

/// The TLS configuration that the settings ask for.
pub fn tls_config(settings: &Settings, peer: TlsPeer, alpn: Vec<String>) -> Result<TlsConfig> {
    let (min_version, max_version) = tls_versions(settings.long(peer.option(O::SslVersion)))?;
    let options = settings.long(peer.option(O::SslOptions));
    let mut config = TlsConfig {
        backend: Backend::Rustls,
        min_version,
        max_version,
        verify_peer: settings.on(peer.option(O::SslVerifyPeer)),
        verify_host: settings.on(peer.option(O::SslVerifyHost)),
        // There is no such option for a proxy.
        verify_status: peer == TlsPeer::Origin && settings.on(O::SslVerifyStatus),
        ca: trust_anchors(settings, peer, options & CURLSSLOPT_NATIVE_CA != 0),
        ca_cache: match settings.long(O::CaCacheTimeout) {
            -1 => None,
            n => Some(Duration::from_secs(n.max(0) as u64)),
        },
        no_partial_chain: options & CURLSSLOPT_NO_PARTIALCHAIN != 0,
        crl: named(settings, peer.option(O::CrlFile)),
        issuer: source(settings, peer.option(O::IssuerCert), peer.option(O::IssuerCertBlob), "PEM"),
        client: client_cert(settings, peer),
        pinned_key: settings
            .text(peer.option(O::PinnedPublicKey))
            .map(|text| PinnedKey::parse(&text, |name| NamedFile::new(crate::sys::path(name)))),
        alpn,
        ech: if peer == TlsPeer::Origin { ech(settings, max_version)? } else { None },
        cipher_list: settings.string(peer.option(O::SslCipherList)),
        tls13_ciphers: settings.string(peer.option(O::Tls13Ciphers)),
        curves: settings.string(O::SslEcCurves),
        sigalgs: settings.string(O::SslSignatureAlgorithms),
        session_cache: settings.on(O::SslSessionIdCache),
        certinfo: settings.on(O::CertInfo),
        key_log: key_log(),
    };
    demand_version(&mut config, &settings.guard())?;
    let (hook, module) = (settings.tls_hook(), settings.tls_module().cloned());
    config.backend = backend::choose(&config, settings.needs_system_tls(), settings.own_tls(), hook, module);
    Ok(config)
}

/// Returns the file that the environment names for TLS secrets.
fn key_log() -> Option<PathBuf> {
    std::env::var_os("SSLKEYLOGFILE").map(|name| {
        let name = PathBuf::from(name);
        std::path::absolute(&name).unwrap_or(name)
    })
}

/// Returns whether a configuration has the library and the file of secrets that it would have if it were made
/// now. Both depend on the process; the rest depends on the settings alone.
pub fn is_as_chosen(config: &TlsConfig, settings: &Settings) -> bool {
    let (hook, module) = (settings.tls_hook(), settings.tls_module().cloned());
    let backend = backend::choose(config, settings.needs_system_tls(), settings.own_tls(), hook, module);
    config.backend == backend && config.key_log == key_log()
}

/// Returns the TLS configuration for the host of a URL, with the keys that policies pin for it.
pub fn origin_tls(host: &str, settings: &Settings, alpn: Vec<String>) -> Result<TlsConfig> {
    let mut config = tls_config(settings, TlsPeer::Origin, alpn)?;
    pin_keys(&mut config, &settings.guard(), host)?;
    Ok(config)
}

/// Returns the TLS configuration for the DNS-over-HTTPS server ([`super::over_https`]).
pub(super) fn doh_tls(settings: &Settings) -> TlsConfig {
    let peer = TlsPeer::Origin;
    let options = settings.long(peer.option(O::SslOptions));
    TlsConfig {
        verify_peer: settings.on(O::DohSslVerifyPeer),
        verify_host: settings.on(O::DohSslVerifyHost),
        verify_status: settings.on(O::DohSslVerifyStatus),
        ca: trust_anchors(settings, peer, options & CURLSSLOPT_NATIVE_CA != 0),
        no_partial_chain: options & CURLSSLOPT_NO_PARTIALCHAIN != 0,
        crl: named(settings, peer.option(O::CrlFile)),
        cipher_list: settings.string(peer.option(O::SslCipherList)),
        tls13_ciphers: settings.string(peer.option(O::Tls13Ciphers)),
        curves: settings.string(O::SslEcCurves),
        sigalgs: settings.string(O::SslSignatureAlgorithms),
        ..TlsConfig::default()
    }
}

/// Returns the value of CURLOPT_ECH. Without a list of configurations, the name server's is used.
fn ech(settings: &Settings, max_version: TlsVersion) -> Result<Option<Ech>> {
    let Some(text) = settings.text(O::Ech) else { return Ok(None) };
    let EchWish { mode, list, outer_name } = EchWish::of(&text);
    let required = mode == Mode::Hard;
    let outer_name: Option<Arc<str>> = outer_name.map(|name| String::from_utf8_lossy(name).into());
    let Some(list) = list else {
        return Ok(match mode {
            Mode::Off => None,
            // TLS 1.2 knows none.
            Mode::Grease => (max_version >= TlsVersion::Tls13).then_some(Ech::Grease),
            Mode::Try | Mode::Hard => Some(Ech::Published { required, outer_name }),
        });
    };
    let list = wire::base64::decode(list).filter(|list| is_usable(list, outer_name.as_deref()));
    match (mode, list) {
        (Mode::Off, _) => Ok(None),
        (Mode::Grease, _) => Ok(Some(Ech::Grease)),
        (_, Some(list)) => Ok(Some(Ech::Offer { list: list.into(), outer_name })),
        (_, None) if required => Err(Error::from(Code::SslConnectError)),
        (_, None) => Ok(None),
    }
}

/// CURL_SSLVERSION_* and, in the upper half, CURL_SSLVERSION_MAX_*.
fn tls_versions(value: i64) -> Result<(TlsVersion, TlsVersion)> {
    let numbers = [
        (CURL_SSLVERSION_TLSv1_0, TlsVersion::Tls10),
        (CURL_SSLVERSION_TLSv1_1, TlsVersion::Tls11),
        (CURL_SSLVERSION_TLSv1_2, TlsVersion::Tls12),
        (CURL_SSLVERSION_TLSv1_3, TlsVersion::Tls13),
    ];
    let version = |n| numbers.iter().find(|(number, _)| *number == n).map(|(_, version)| *version);
    let (low, high) = (value & 0xffff, value >> 16);
    let min = if [CURL_SSLVERSION_DEFAULT, CURL_SSLVERSION_TLSv1].contains(&low) {
        TlsVersion::Tls12
    } else if [CURL_SSLVERSION_SSLv2, CURL_SSLVERSION_SSLv3].contains(&low) {
        return Err(Error::new(Code::SslConnectError, "SSL versions not supported"));
    } else {
        version(low).ok_or(Error::from(Code::SslConnectError))?
    };
    Ok((min, version(high).unwrap_or(TlsVersion::Tls13)))
}

fn trust_anchors(settings: &Settings, peer: TlsPeer, native: bool) -> Vec<CaSource> {
    let mut sources = Vec::new();
    if let Some(blob) = settings.text(peer.option(O::CaInfoBlob)) {
        sources.push(CaSource::Blob(blob.to_vec().into()));
    }
    if let Some(file) = settings.text(peer.option(O::CaInfo)) {
        sources.push(CaSource::File(path_buf(&file).into()));
    }
    if let Some(folder) = settings.text(peer.option(O::CaPath)) {
        sources.push(CaSource::Path(NamedFile::folder(path_buf(&folder))));
    }
    if sources.is_empty() || native {
        sources.push(CaSource::system());
    }
    sources
}

fn client_cert(settings: &Settings, peer: TlsPeer) -> Option<ClientCert> {
    let kind = |option| settings.string(option).unwrap_or_else(|| "PEM".to_owned());
    let (cert_type, key_type) = (kind(peer.option(O::SslCertType)), kind(peer.option(O::SslKeyType)));
    Some(ClientCert {
        cert: source(settings, peer.option(O::SslCert), peer.option(O::SslCertBlob), &cert_type)?,
        key: source(settings, peer.option(O::SslKey), peer.option(O::SslKeyBlob), &key_type),
        password: secret(settings, peer.option(O::KeyPasswd)),
        cert_type,
        key_type,
    })
}

/// A certificate or a key. One of type ENG or PROV has the name that its engine or provider knows.
fn source(settings: &Settings, name: O, blob: O, kind: &str) -> Option<CertSource> {
    if let Some(blob) = settings.text(blob) {
        return Some(CertSource::Blob(SecretBytes::from(&*blob)));
    }
    let in_module = ["ENG", "PROV"].iter().any(|module| kind.eq_ignore_ascii_case(module));
    match settings.text(name)? {
        name if in_module => Some(CertSource::Module(String::from_utf8_lossy(&name).into_owned())),
        name => Some(CertSource::File(path_buf(&name).into())),
    }
}

/// The file that an option names, as it is now.
pub(super) fn named(settings: &Settings, option: O) -> Option<NamedFile> {
    settings.text(option).map(|name| path_buf(&name).into())
}

pub(super) fn secret(settings: &Settings, option: O) -> Option<SecretBytes> {
    settings.text(option).map(|text| SecretBytes::from(&*text))
}
