//! A configuration in OpenSSL's terms: a context of the system's library, created for one connection. The
//! library verifies chains itself. Names, pins and the rest are checked as for any connection
//! ([`Verifier::check_leaf`]).

mod client;
pub(super) mod filter;
pub mod sessions;

use super::alerts;
use super::keylog;
use super::provider::provider;
use super::verify::Verifier;
use super::{Backend, CaSource, CertSource, ClientCert, Ech, TlsConfig, TlsVersion};
use crate::{NetError, NetErrorKind};
use openssl::{Context, Encoding, Failure, NotOpened, Protocol, Store};
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Instant;

pub use client::OpenSslClient;
pub use openssl::{Module, engines, is_there};

/// Opens the engine or the provider of that name (CURLOPT_SSLENGINE).
pub fn open(name: &str) -> Result<Module, NetError> {
    Module::open(name).map_err(|e| not_opened(name, e))
}

fn not_opened(name: &str, why: NotOpened) -> NetError {
    let (kind, text) = match why {
        NotOpened::NotFound(failure) => {
            (NetErrorKind::SslEngineNotfound, format!("SSL Engine '{name}' not found: {failure}"))
        }
        NotOpened::NotInitialised(failure) => (
            NetErrorKind::SslEngineInitfailed,
            format!("Failed to initialise SSL Engine '{name}': {failure}"),
        ),
        NotOpened::BadName => (NetErrorKind::BadFunctionArgument, format!("no engine is called '{name}'")),
    };
    NetError::new(kind, text)
}

/// Returns whether an engine or a provider has the certificate or the key.
pub(super) fn asks_module(client: &ClientCert) -> bool {
    let types = [&client.cert_type, &client.key_type];
    types.iter().any(|kind| matches!(Kind::of(kind), Some(Kind::Engine | Kind::Provider)))
}

/// A context with all settings applied, which the application may still change.
pub struct PreparedContext {
    pub(crate) context: Context,
    pub(crate) verifier: Verifier,
}

impl PreparedContext {
    pub fn new(config: &Arc<TlsConfig>) -> Result<PreparedContext, NetError> {
        if matches!(config.ech, Some(Ech::Offer { .. } | Ech::Published { required: true, .. })) {
            let text = "ECH: the hello is not encrypted by OpenSSL 3";
            return Err(NetError::new(NetErrorKind::NotBuiltIn, text));
        }
        let module = module(config)?;
        let mut context = Context::new(module.clone()).map_err(|text| {
            NetError::new(NetErrorKind::NotBuiltIn, format!("OpenSSL could not be loaded: {text}"))
        })?;
        let failed = |kind, what: &str, text: &str| NetError::new(kind, format!("{what}: '{text}'"));
        let versions = (protocol(config.min_version), protocol(config.max_version));
        if config.min_version > config.max_version {
            return Err(alerts::no_protocols());
        }
        context.set_versions(versions.0, versions.1).map_err(|e| not_made(&e))?;
        let (below_tls13, of_tls13) = config.cipher_lists();
        if let Some(list) = below_tls13 {
            let failed = |_| failed(NetErrorKind::SslCipher, "failed setting cipher list", list);
            context.set_cipher_list(list).map_err(failed)?;
        }
        if let Some(list) = of_tls13 {
            let failed = |_| failed(NetErrorKind::SslCipher, "failed setting TLS 1.3 cipher suite", list);
            context.set_suites(list).map_err(failed)?;
        }
        if let Some(list) = &config.curves {
            let failed = |_| failed(NetErrorKind::SslCipher, "failed setting curves list", list);
            context.set_groups(list).map_err(failed)?;
        }
        if let Some(list) = &config.sigalgs {
            let failed = |_| failed(NetErrorKind::SslCipher, "failed setting signature algorithms", list);
            context.set_signature_algorithms(list).map_err(failed)?;
        }
        if !config.alpn.is_empty() {
            let list = config.alpn.iter().flat_map(|name| [&[name.len() as u8], name.as_bytes()].concat());
            context.set_alpn(&list.collect::<Vec<u8>>());
        }
        if let Some(client) = &config.client {
            show_client(&mut context, client, module.as_deref())?;
        }
        if config.verify_peer {
            context.verify();
            trust(&mut context, config)?;
        }
        // This reads the lists of revoked certificates, and reports an error in them.
        let verifier = Verifier::new(config, provider().signature_verification_algorithms, None)?;
        if let Some(lists) = config.crl.as_ref().filter(|_| config.verify_peer) {
            context.revoke_pem(&fs::read(lists.path()).unwrap_or_default());
        }
        if config.resumes() {
            context.keep_sessions();
        }
        if let Some(log) = config.key_log.as_deref().and_then(keylog::open) {
            context.log_keys(log);
        }
        Ok(PreparedContext { context, verifier })
    }
}

fn protocol(version: TlsVersion) -> Protocol {
    match version {
        TlsVersion::Tls10 => Protocol::Tls10,
        TlsVersion::Tls11 => Protocol::Tls11,
        TlsVersion::Tls12 => Protocol::Tls12,
        TlsVersion::Tls13 => Protocol::Tls13,
    }
}

fn not_made(failure: &Failure) -> NetError {
    NetError::new(NetErrorKind::SslConnectError, format!("SSL: could not create a context: {failure}"))
}

/// Trust anchors in memory, for connections with the same sources.
struct Loaded {
    sources: Vec<CaSource>,
    partial: bool,
    at: Instant,
    store: Store,
}

/// Maximum number of stored trust anchor stores.
const MAX_STORES: usize = 8;
static STORES: Mutex<Vec<Loaded>> = Mutex::new(Vec::new());

/// Gives a context its trust anchors, from memory if they were read less than CURLOPT_CA_CACHE_TIMEOUT ago. A
/// handle that changes the store, or has lists of revoked certificates, gets a store of its own.
fn trust(context: &mut Context, config: &TlsConfig) -> Result<(), NetError> {
    let own = config.backend.is_hooked() || config.crl.is_some();
    let kept = config.ca_cache.is_none_or(|keep| !keep.is_zero()) && !own;
    let partial = !config.no_partial_chain && config.crl.is_none();
    // In a forked child the thread that held the lock may not exist. Without the lock nothing is reused.
    let mut stores = if kept { STORES.try_lock().ok() } else { None };
    if let Some(stores) = &mut stores {
        stores.retain(|s| s.sources != config.ca || config.ca_cache.is_none_or(|keep| s.at.elapsed() < keep));
        let alike = |s: &&Loaded| s.sources == config.ca && s.partial == partial;
        if let Some(known) = stores.iter().find(alike) {
            context.set_store(&known.store);
            return Ok(());
        }
    }
    read_anchors(context, &config.ca)?;
    if partial {
        context.allow_partial_chain();
    }
    if let Some(stores) = &mut stores {
        stores.retain(|s| s.sources != config.ca || s.partial != partial);
        if stores.len() == MAX_STORES {
            stores.remove(0);
        }
        let (sources, at, store) = (config.ca.clone(), Instant::now(), context.store());
        stores.push(Loaded { sources, partial, at, store });
    }
    Ok(())
}

/// Reads the trust anchors of all sources. A source without any is an error only if no earlier one had some,
/// as in curl.
fn read_anchors(context: &mut Context, sources: &[CaSource]) -> Result<(), NetError> {
    let bad = |what: String| NetError::new(NetErrorKind::SslCacertBadfile, what);
    let mut empty = true;
    for source in sources {
        let given = match source {
            CaSource::File(path) => context.trust_file(path.path()).map_err(|_| {
                bad(format!("error adding trust anchors from file: {}", path.given().display()))
            }),
            CaSource::Path(path) => context.trust_folder(path.path()).map_err(|_| {
                bad(format!("error adding trust anchors from path: {}", path.given().display()))
            }),
            CaSource::Blob(bytes) if context.trust_pem(bytes) == 0 => {
                return Err(bad("error adding trust anchors from certificate blob: 77".into()));
            }
            CaSource::Blob(_) => Ok(()),
            CaSource::System(bundle) => {
                if let Some(bundle) = bundle {
                    let _ = context.trust_file(bundle.path()); // without the file there are no anchors
                }
                Ok(())
            }
        };
        match given {
            Err(e) if empty => return Err(e),
            given => empty &= given.is_err(),
        }
    }
    Ok(())
}

const CHECK: &str = "(no key found, wrong passphrase, or wrong file format?)";

/// The values of CURLOPT_SSLCERTTYPE and CURLOPT_SSLKEYTYPE, in any case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Pem,
    Der,
    Pkcs12,
    Engine,
    Provider,
}

impl Kind {
    fn of(name: &str) -> Option<Kind> {
        Some(match name.to_ascii_uppercase().as_str() {
            "" | "PEM" => Kind::Pem,
            "DER" => Kind::Der,
            "P12" => Kind::Pkcs12,
            "ENG" => Kind::Engine,
            "PROV" => Kind::Provider,
            _ => return None,
        })
    }
}

/// Returns the module that the user named. For a key that a PKCS #11 URI names (RFC 7512), opens the module
/// of that name.
fn module(config: &TlsConfig) -> Result<Option<Arc<Module>>, NetError> {
    let Backend::System { module, .. } = &config.backend else { return Ok(None) };
    let Some(client) = config.client.as_ref().filter(|_| module.is_none()) else { return Ok(module.clone()) };
    let key = client.key.as_ref().map(|key| (key, &client.key_type));
    let named = [Some((&client.cert, &client.cert_type)), key].into_iter().flatten();
    let mut wanted =
        named.filter(|(source, _)| id(source).is_some_and(is_pkcs11)).map(|(_, kind)| Kind::of(kind));
    let open = match wanted.find(|kind| matches!(kind, Some(Kind::Engine | Kind::Provider))).flatten() {
        Some(Kind::Engine) => Module::engine,
        Some(_) => Module::provider,
        None => return Ok(None),
    };
    let opened = open(PKCS11).map_err(|e| problem(not_opened(PKCS11, e).message))?;
    Ok(Some(Arc::new(opened)))
}

/// The engine or the provider that reads PKCS #11 URIs.
const PKCS11: &str = "pkcs11";

fn is_pkcs11(id: &str) -> bool {
    id.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("pkcs11:"))
}

/// Returns the name by which a module knows the object. Bytes have no name.
fn id(source: &CertSource) -> Option<&str> {
    match source {
        CertSource::Module(id) => Some(id),
        CertSource::File(file) => file.given().to_str(),
        CertSource::Blob(_) => None,
    }
}

/// Returns the module, if it is of the requested type, and the name of the object to load from it.
fn asked<'a>(
    module: Option<&'a Module>,
    kind: Kind,
    source: &'a CertSource,
    what: &str,
) -> Result<(&'a Module, &'a str), NetError> {
    let (engine, sort) = (kind == Kind::Engine, if kind == Kind::Engine { "engine" } else { "provider" });
    let module = module.filter(|module| module.is_engine() == engine);
    match (module, id(source)) {
        (Some(module), Some(id)) => Ok((module, id)),
        (Some(_), None) => Err(problem(format!("a crypto {sort} cannot load {what} from memory"))),
        (None, _) => Err(problem(format!("crypto {sort} not set, cannot load {what}"))),
    }
}

fn show_client(context: &mut Context, wanted: &ClientCert, module: Option<&Module>) -> Result<(), NetError> {
    let secret = wanted.password.as_deref().unwrap_or_default();
    let failed = |what: &str, e: Failure| {
        let name = wanted.cert.shown();
        problem(format!("could not load {what} from {name}, OpenSSL error {e}, {CHECK}"))
    };
    let Some(kind) = Kind::of(&wanted.cert_type) else {
        let text = format!("not supported file type '{}' for certificate", wanted.cert_type);
        return Err(NetError::new(NetErrorKind::BadFunctionArgument, text));
    };
    let bytes = || read(&wanted.cert).map_err(|e| failed("client certificate", Failure { code: 0, text: e }));
    match kind {
        Kind::Pkcs12 => {
            return context.use_pkcs12(&bytes()?, secret).map_err(|e| {
                problem(format!("could not parse PKCS12 file, check password, OpenSSL error {e}"))
            });
        }
        Kind::Pem => context
            .use_certificate(&bytes()?, Encoding::Pem, secret)
            .map_err(|e| failed("PEM client certificate", e))?,
        Kind::Der => context
            .use_certificate(&bytes()?, Encoding::Der, secret)
            .map_err(|e| failed("ASN1 client certificate", e))?,
        Kind::Engine | Kind::Provider => {
            let (module, id) = asked(module, kind, &wanted.cert, "certificate")?;
            context.use_certificate_of(module, id, secret).map_err(|e| match kind {
                Kind::Engine => problem(format!("ssl engine cannot load client cert with id '{id}' [{e}]")),
                _ => problem(format!("No cert found in the openssl store: {e}")),
            })?;
        }
    }
    show_key(context, wanted, kind, module)
}

fn show_key(
    context: &mut Context,
    wanted: &ClientCert,
    of_cert: Kind,
    module: Option<&Module>,
) -> Result<(), NetError> {
    let secret = wanted.password.as_deref().unwrap_or_default();
    let source = wanted.key.as_ref().unwrap_or(&wanted.cert);
    // Without a key of its own the certificate's file and type serve for both.
    let kind = if wanted.key.is_some() { Kind::of(&wanted.key_type) } else { Some(of_cert) };
    let encoding = match kind {
        Some(Kind::Pem) => Encoding::Pem,
        Some(Kind::Der) => Encoding::Der,
        Some(kind @ (Kind::Engine | Kind::Provider)) => {
            let (module, id) = asked(module, kind, source, "private key")?;
            context.use_key_of(module, id, secret).map_err(|e| match kind {
                Kind::Engine => problem(format!("failed to load private key from crypto engine: {e}")),
                _ => problem(format!("No private key found in the openssl store: {e}")),
            })?;
            return check_key(context);
        }
        Some(Kind::Pkcs12) => return Err(problem("file type P12 for private key not supported".into())),
        None => {
            let text = "not supported file type for private key";
            return Err(NetError::new(NetErrorKind::BadFunctionArgument, text));
        }
    };
    let bytes = read(source).unwrap_or_default();
    context.use_key(&bytes, encoding, secret).map_err(|_| {
        let kind = if encoding == Encoding::Der { "DER" } else { "PEM" };
        let text = format!("unable to set private key file: '{}' type {kind}", source.shown());
        NetError::new(NetErrorKind::BadFunctionArgument, text)
    })?;
    check_key(context)
}

fn check_key(context: &mut Context) -> Result<(), NetError> {
    context.check_key().map_err(|_| problem("Private key does not match the certificate public key".into()))
}

fn read(source: &CertSource) -> Result<Vec<u8>, String> {
    match source {
        CertSource::File(file) => fs::read(file.path()).map_err(|e| e.to_string()),
        CertSource::Blob(bytes) => Ok(bytes.to_vec()),
        CertSource::Module(id) => Err(format!("'{id}' is in no file")),
    }
}

fn problem(text: String) -> NetError {
    NetError::new(NetErrorKind::SslCertproblem, text)
}
