//! The client that BoringSSL's test runner drives (tests/bogo): one TLS connection, or several that resume,
//! through the filter, its record layer and its verifier.
//!
//! The runner's flags say what to do; `-backend openssl` chooses the system's library. Exit code 89 means
//! that a flag is not supported. `-async` and its like change nothing, because the filter never blocks.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use runtime::{Clock, Reactor, Runtime, Socket};
use warmwire_net::filter::SocketFilter;
use warmwire_net::tls::backend::Handshake;
use warmwire_net::tls::handshake::{self, Server};
use warmwire_net::tls::{
    Backend, CaSource, CertSource, ClientCert, Ech, SessionStore, TlsConfig, TlsInfo, TlsVersion,
};
use warmwire_net::{Filter, NetError};

/// The exit code for a flag that is not supported.
const UNIMPLEMENTED: u8 = 89;
/// How much is read at once unless the runner says otherwise.
const READ_SIZE: usize = 512;
/// The lengths that `-write-different-record-sizes` asks for.
const RECORD_SIZES: [usize; 10] = [1, 255, 256, 257, 16383, 16384, 16385, 32767, 32768, 32769];

/// Flags without a value that change nothing here: how an application calls BoringSSL, or what the runner
/// checks itself.
const NEUTRAL: [&str; 12] = [
    "-async",
    "-enable-ocsp-stapling",
    "-expect-ech-accept",
    "-expect-secure-renegotiation",
    "-renegotiate-ignore",
    "-implicit-handshake",
    "-no-op-extra-handshake",
    "-use-custom-verify-callback",
    "-use-old-client-cert-callback",
    "-expect-verify-result",
    "-no-tls1",
    "-no-tls11",
];

#[derive(Clone, Debug, Default)]
struct Options {
    port: u16,
    ipv6: bool,
    shim_id: u64,
    resumptions: usize,
    system: bool,
    host: Option<String>,
    min_version: Option<u16>,
    max_version: Option<u16>,
    no_tls12: bool,
    no_tls13: bool,
    trust: Option<String>,
    certificate: Option<String>,
    key: Option<String>,
    verify_peer: bool,
    verify_fail: bool,
    alpn: Vec<String>,
    groups: Vec<u16>,
    schemes: Vec<u16>,
    cipher: Option<String>,
    ech_list: Option<Vec<u8>>,
    ech_grease: bool,
    writes_first: bool,
    shuts_down: bool,
    check_close: bool,
    record_sizes: bool,
    read_size: Option<usize>,
    expected: Expected,
}

/// The parameters that the connection must have.
#[derive(Clone, Debug, Default)]
struct Expected {
    alpn: Option<String>,
    version: Option<u16>,
    group: Option<u16>,
    session_miss: bool,
    retry_configs: Option<Vec<u8>>,
}

/// A flag or a value that the shim does not support.
struct Unsupported(String);

type Words<'a> = std::iter::Cloned<std::slice::Iter<'a, String>>;

fn number<T: std::str::FromStr>(text: &str) -> Result<T, Unsupported> {
    text.parse().map_err(|_| Unsupported(format!("number {text}")))
}

impl Options {
    /// Reads one flag and its value.
    fn flag(&mut self, name: &str, words: &mut Words<'_>) -> Result<(), Unsupported> {
        if NEUTRAL.contains(&name) {
            return Ok(());
        }
        match name {
            "-ipv6" => self.ipv6 = true,
            "-no-tls12" => self.no_tls12 = true,
            "-no-tls13" => self.no_tls13 = true,
            "-verify-peer" => self.verify_peer = true,
            "-verify-fail" => self.verify_fail = true,
            "-enable-ech-grease" => self.ech_grease = true,
            "-shim-writes-first" => self.writes_first = true,
            "-shim-shuts-down" => self.shuts_down = true,
            "-check-close-notify" => self.check_close = true,
            "-write-different-record-sizes" => self.record_sizes = true,
            "-expect-session-miss" => self.expected.session_miss = true,
            "-expect-no-ech-retry-configs" => self.expected.retry_configs = Some(Vec::new()),
            _ => return self.with_value(name, words),
        }
        Ok(())
    }

    fn with_value(&mut self, name: &str, words: &mut Words<'_>) -> Result<(), Unsupported> {
        let mut value = || words.next().ok_or_else(|| Unsupported(name.to_owned()));
        match name {
            "-port" => self.port = number(&value()?)?,
            "-shim-id" => self.shim_id = number(&value()?)?,
            "-resume-count" => self.resumptions = number(&value()?)?,
            "-backend" => self.system = value()? == "openssl",
            "-host-name" => self.host = Some(value()?),
            "-min-version" => self.min_version = Some(number(&value()?)?),
            "-max-version" => self.max_version = Some(number(&value()?)?),
            "-trust-cert" => self.trust = Some(value()?),
            "-cert-file" => self.certificate = Some(value()?),
            "-key-file" => self.key = Some(value()?),
            "-advertise-alpn" => self.alpn = protocols(&value()?)?,
            "-curves" => self.groups.push(number(&value()?)?),
            "-verify-prefs" => self.schemes.push(number(&value()?)?),
            "-cipher" => self.cipher = Some(value()?),
            "-ech-config-list" => self.ech_list = Some(base64(&value()?)?),
            "-read-size" => self.read_size = Some(number(&value()?)?),
            "-expect-alpn" => self.expected.alpn = Some(value()?),
            "-expect-version" => self.expected.version = Some(number(&value()?)?),
            "-expect-curve-id" => self.expected.group = Some(number(&value()?)?),
            "-expect-ech-retry-configs" => self.expected.retry_configs = Some(base64(&value()?)?),
            _ => return Err(Unsupported(name.to_owned())),
        }
        Ok(())
    }

    /// Reads the flags of the connection with this number: 0 is the first.
    fn parse(words: &[String], connection: usize) -> Result<Options, Unsupported> {
        let mut options = Options::default();
        let mut words = words.iter().cloned();
        while let Some(word) = words.next() {
            let (name, applies) = match word.strip_prefix("-on-").and_then(|rest| rest.split_once('-')) {
                Some(("initial", name)) => (format!("-{name}"), connection == 0),
                Some(("resume", name)) => (format!("-{name}"), connection > 0),
                Some(("retry" | "shim" | "handshaker", _)) => return Err(Unsupported(word)),
                _ => (word, true),
            };
            match applies {
                true => options.flag(&name, &mut words)?,
                // The value has to be passed over, too.
                false => options.clone().flag(&name, &mut words)?,
            }
        }
        Ok(options)
    }

    fn versions(&self) -> Result<(TlsVersion, TlsVersion), Unsupported> {
        let wanted = |version: TlsVersion| {
            let code = code(version);
            self.min_version.is_none_or(|min| code >= min)
                && self.max_version.is_none_or(|max| code <= max)
                && !(self.no_tls12 && version == TlsVersion::Tls12)
                && !(self.no_tls13 && version == TlsVersion::Tls13)
        };
        let all = [TlsVersion::Tls12, TlsVersion::Tls13];
        let mut versions = all.into_iter().filter(|version| wanted(*version));
        let first = versions.next().ok_or_else(|| Unsupported("no version".to_owned()))?;
        Ok((first, versions.next().unwrap_or(first)))
    }

    fn config(&self) -> Result<TlsConfig, Unsupported> {
        let (min_version, max_version) = self.versions()?;
        if self.system && (self.ech_list.is_some() || self.ech_grease) {
            return Err(Unsupported("ECH by OpenSSL".to_owned()));
        }
        let anchors = match &self.trust {
            Some(file) if !self.verify_fail => vec![CaSource::File(file.as_str().into())],
            _ => Vec::new(),
        };
        let client = self.certificate.as_ref().map(|file| ClientCert {
            cert: CertSource::File(file.as_str().into()),
            cert_type: "PEM".to_owned(),
            key: self.key.as_ref().map(|file| CertSource::File(file.as_str().into())),
            key_type: "PEM".to_owned(),
            password: None,
        });
        let ech = match &self.ech_list {
            Some(list) => Some(Ech::Offer { list: list.as_slice().into(), outer_name: None }),
            None => self.ech_grease.then_some(Ech::Grease),
        };
        Ok(TlsConfig {
            backend: if self.system { Backend::SYSTEM } else { Backend::Rustls },
            min_version,
            max_version,
            // A failure that nobody asked about is none.
            verify_peer: self.trust.is_some() && (self.verify_peer || !self.verify_fail),
            verify_host: false,
            ca: anchors,
            client,
            alpn: self.alpn.clone(),
            ech,
            cipher_list: self.cipher.clone(),
            curves: names(&self.groups, group)?,
            sigalgs: names(&self.schemes, scheme)?,
            ..TlsConfig::default()
        })
    }
}

fn code(version: TlsVersion) -> u16 {
    match version {
        TlsVersion::Tls10 => 0x301,
        TlsVersion::Tls11 => 0x302,
        TlsVersion::Tls12 => 0x303,
        TlsVersion::Tls13 => 0x304,
    }
}

fn names(codes: &[u16], name: fn(u16) -> Option<&'static str>) -> Result<Option<String>, Unsupported> {
    let names: Result<Vec<_>, _> =
        codes.iter().map(|code| name(*code).ok_or_else(|| Unsupported(format!("code {code}")))).collect();
    Ok(Some(names?.join(":")).filter(|list| !list.is_empty()))
}

fn group(code: u16) -> Option<&'static str> {
    Some(match code {
        23 => "P-256",
        24 => "P-384",
        25 => "P-521",
        29 => "X25519",
        4588 => "X25519MLKEM768",
        _ => return None,
    })
}

fn scheme(code: u16) -> Option<&'static str> {
    Some(match code {
        0x401 => "rsa_pkcs1_sha256",
        0x501 => "rsa_pkcs1_sha384",
        0x601 => "rsa_pkcs1_sha512",
        0x403 => "ecdsa_secp256r1_sha256",
        0x503 => "ecdsa_secp384r1_sha384",
        0x603 => "ecdsa_secp521r1_sha512",
        0x804 => "rsa_pss_rsae_sha256",
        0x805 => "rsa_pss_rsae_sha384",
        0x806 => "rsa_pss_rsae_sha512",
        0x807 => "ed25519",
        _ => return None,
    })
}

/// Reads the protocols of a hello's extension: each with its length before it.
fn protocols(text: &str) -> Result<Vec<String>, Unsupported> {
    let mut rest = text.as_bytes();
    let mut found = Vec::new();
    while let Some((length, more)) = rest.split_first() {
        let bad = || Unsupported("protocols".to_owned());
        let (name, more) = more.split_at_checked((*length).into()).ok_or_else(bad)?;
        found.push(String::from_utf8(name.to_vec()).map_err(|_| bad())?);
        rest = more;
    }
    Ok(found)
}

fn base64(text: &str) -> Result<Vec<u8>, Unsupported> {
    wire::base64::decode(text.as_bytes()).ok_or_else(|| Unsupported("base64".to_owned()))
}

/// Compares what was agreed on.
fn check(info: &TlsInfo, options: &Options, resumed: bool) -> Result<(), String> {
    let expected = &options.expected;
    let version = match info.version {
        "TLSv1.2" => 0x303,
        "TLSv1.3" => 0x304,
        other => return Err(format!("version {other}")),
    };
    if expected.version.is_some_and(|wanted| wanted != version) {
        return Err(format!("unexpected version {version:x}"));
    }
    // A resumed session has no new group.
    let group_matters = !info.resumed || version == 0x304;
    if group_matters
        && expected
            .group
            .is_some_and(|wanted| group(wanted).is_some_and(|name| !same_group(name, info.group)))
    {
        return Err(format!("unexpected group {}", info.group));
    }
    if expected.alpn.as_ref().is_some_and(|wanted| Some(wanted) != info.alpn.as_ref()) {
        return Err(format!("unexpected protocol {:?}", info.alpn));
    }
    if info.resumed != (resumed && !expected.session_miss) {
        return Err(format!("resumed: {}", info.resumed));
    }
    if expected.retry_configs.is_some() {
        return Err("ECH was expected to be rejected".to_owned());
    }
    Ok(())
}

fn same_group(ours: &str, theirs: &str) -> bool {
    let others: &[&str] = match ours {
        "P-256" => &["prime256v1", "secp256r1"],
        "P-384" => &["secp384r1"],
        "P-521" => &["secp521r1"],
        _ => &[],
    };
    others.iter().chain([&ours]).any(|name| theirs.eq_ignore_ascii_case(name))
}

/// Compares a failure with the rejection of ECH that was expected.
fn check_rejection(error: &NetError, options: &Options) -> Result<(), String> {
    if let Some(wanted) = &options.expected.retry_configs {
        let came = error.retry_configs.as_deref().unwrap_or_default();
        if came != wanted.as_slice() {
            return Err(format!("retry configs did not match: {came:?}"));
        }
    }
    Err(error.message.clone())
}

/// Echoes what comes, each octet inverted, until the server ends.
async fn exchange(filter: &mut dyn Filter, options: &Options) -> Result<(), String> {
    if options.record_sizes {
        for size in RECORD_SIZES {
            filter.write_all(&vec![0x42; size]).await.map_err(|error| error.to_string())?;
        }
        return Ok(());
    }
    if options.writes_first {
        filter.write_all(b"hello").await.map_err(|error| error.to_string())?;
    }
    if options.shuts_down {
        return Ok(());
    }
    let mut buffer = vec![0; options.read_size.unwrap_or(READ_SIZE)];
    loop {
        let count = filter.read(&mut buffer).await.map_err(|error| error.to_string())?;
        if count == 0 {
            return Ok(());
        }
        for octet in &mut buffer[..count] {
            *octet ^= 0xff;
        }
        filter.write_all(&buffer[..count]).await.map_err(|error| error.to_string())?;
    }
}

/// Without `-host-name` no name is sent, as for an address.
async fn connection(
    socket: Socket,
    options: &Options,
    store: &SessionStore,
    reactor: &Arc<Reactor>,
    (config, resumed): (Arc<TlsConfig>, bool),
) -> Result<(), String> {
    let below: Box<dyn Filter> = Box::new(SocketFilter::new(socket));
    let host = options.host.as_deref().unwrap_or("127.0.0.1");
    let server = Server::new(&config, host, 443);
    let mut filter = match handshake::connect::<Handshake>(below, server, store, reactor).await {
        Ok(filter) => filter,
        Err(error) => return check_rejection(&error, options),
    };
    let info = filter.tls().expect("a TLS connection has parameters").clone();
    let outcome = match check(&info, options, resumed) {
        Ok(()) => exchange(filter.as_mut(), options).await,
        failed => failed,
    };
    filter.say_goodbye();
    if outcome.is_ok() && options.shuts_down && options.check_close {
        let rest = filter.read(&mut [0; READ_SIZE]).await.map_err(|error| error.to_string())?;
        return if rest == 0 { Ok(()) } else { Err("application data on shutdown".to_owned()) };
    }
    outcome
}

/// Runs one connection. The socket is drained at the end, so that the runner sees our alert and no reset.
fn run(options: Options, config: TlsConfig, store: &SessionStore, resumed: bool) -> Result<(), String> {
    let address = if options.ipv6 { "::1" } else { "127.0.0.1" };
    let mut stream = TcpStream::connect((address, options.port)).map_err(|error| error.to_string())?;
    stream.set_nodelay(true).map_err(|error| error.to_string())?;
    stream.write_all(&options.shim_id.to_le_bytes()).map_err(|error| error.to_string())?;
    let mut drained = stream.try_clone().map_err(|error| error.to_string())?;
    stream.set_nonblocking(true).map_err(|error| error.to_string())?;
    let runtime = Runtime::new(Clock::system());
    let reactor = runtime.reactor().clone();
    let mut socket = Socket::new(stream.into());
    socket.attach(&reactor, 0);
    let outcome = Arc::new(Mutex::new(None));
    let (result, store) = (outcome.clone(), store.clone());
    runtime.spawn(Box::pin(async move {
        let ended = connection(socket, &options, &store, &reactor, (Arc::new(config), resumed)).await;
        *result.lock().expect("nothing panics under the lock") = Some(ended);
    }));
    let ended = loop {
        runtime.perform().map_err(|error| format!("{error:?}"))?;
        if let Some(ended) = outcome.lock().expect("nothing panics under the lock").take() {
            break ended;
        }
        runtime.wait(&mut [], Duration::from_secs(1), true).map_err(|error| error.to_string())?;
    };
    let _ = drained.set_nonblocking(false);
    let _ = drained.set_read_timeout(Some(Duration::from_secs(5)));
    let _ = drained.shutdown(Shutdown::Write);
    let mut rest = [0; 4096];
    while matches!(drained.read(&mut rest), Ok(count) if count > 0) {}
    ended
}

/// Appends what is not supported to the file that `BOGO_UNSUPPORTED` names, because the runner does not say.
fn note(what: &str) {
    let file = std::env::var_os("BOGO_UNSUPPORTED")
        .and_then(|name| std::fs::OpenOptions::new().create(true).append(true).open(name).ok());
    if let Some(mut file) = file {
        let _ = file.write_all(format!("{what}\n").as_bytes());
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "-is-handshaker-supported") {
        println!("No");
        return ExitCode::SUCCESS;
    }
    let store = SessionStore::new();
    let mut number = 0;
    loop {
        let read = Options::parse(&words, number).and_then(|options| Ok((options.config()?, options)));
        let (config, options) = match read {
            Ok(read) => read,
            Err(Unsupported(what)) => {
                note(&what);
                return ExitCode::from(UNIMPLEMENTED);
            }
        };
        let resumptions = options.resumptions;
        if let Err(text) = run(options, config, &store, number > 0) {
            eprintln!("connection {number}: {text}");
            return ExitCode::FAILURE;
        }
        if number == resumptions {
            return ExitCode::SUCCESS;
        }
        number += 1;
    }
}
