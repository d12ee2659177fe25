//! Every option that could be given as text changes what is sent, done or answered, or it is refused. None
//! answers OK and does nothing, as POSTFIELDS, STDERR, SHARE, ERRORBUFFER, HTTPPOST, MIMEPOST, STREAM_DEPENDS
//! and CURLU once did.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use testkit::certs::Authority;
use testkit::dns::{DnsAnswer, NameServer, address};
use testkit::launch::Sshd;
use testkit::raw::{RawPeer, Script, Step, expect, send};
use testkit::temp::TempDir;
use warmwire::callbacks::{ReadAnswer, WriteAnswer};
use warmwire::{ArgKind, Code, EasyOption as O, Handle, Value};

/// The peer of a transfer.
#[derive(Clone, Copy, PartialEq)]
enum World {
    /// HTTP on loopback.
    Http,
    /// The reply is a redirect to another path.
    Redirect,
    /// The peer is an HTTP proxy.
    Proxied,
    /// HTTPS whose certificate nothing vouches for yet.
    Https,
    /// HTTPS whose authority is given.
    Trusted,
    /// An HTTPS proxy that nothing vouches for yet.
    HttpsProxy,
    /// An HTTPS proxy whose authority is given.
    TrustedProxy,
    /// HTTP, by a name that a name server of our own knows.
    Named,
    /// FTP with these replies after the greeting.
    Ftp(&'static [&'static str]),
    /// SMTP with a message to send.
    Smtp,
    Rtsp,
    /// OpenSSH's server, with a key that it takes.
    Sftp,
}
use World::{
    Ftp, Http, Https, HttpsProxy, Named, Proxied, Redirect, Rtsp, Sftp, Smtp, Trusted, TrustedProxy,
};

/// The expected effect of an option.
#[derive(Clone, Copy)]
enum Expected {
    /// The transfer differs from one without it. All other options are set in both.
    Effect(World, &'static str, &'static [(O, &'static str)]),
    /// The option is refused.
    Refused(&'static str),
    /// Obsolete in curl 8.22, too, where it is taken and ignored.
    Obsolete,
    /// It takes a Kerberos realm to see: this test does it (file and function).
    Elsewhere(&'static str),
}
use Expected::{Effect, Elsewhere, Obsolete, Refused};

const LOGIN_REFUSED: &[&str] = &["530 no", "230 in"];
const ACCOUNT_WANTED: &[&str] = &["331 password", "332 account", "230 in"];
const USUAL: &[&str] = &["230 in", "257 \"/\"", "500 no", "500 no"];
const CLIENT: &[(O, &str)] = &[(O::SslCert, "FOLDER/client.pem"), (O::SslKey, "FOLDER/client.key")];
const PROXY_CLIENT: &[(O, &str)] =
    &[(O::ProxySslCert, "FOLDER/client.pem"), (O::ProxySslKey, "FOLDER/client.key")];
const LOCKED: &[(O, &str)] = &[(O::SslCert, "FOLDER/client.pem"), (O::SslKey, "FOLDER/locked.key")];
const PROXY_LOCKED: &[(O, &str)] =
    &[(O::ProxySslCert, "FOLDER/client.pem"), (O::ProxySslKey, "FOLDER/locked.key")];
const SETUP: &[(O, &str)] = &[(O::RtspTransport, "RTP/AVP;unicast")];
const SIGNED: &[(O, &str)] = &[(O::HttpSigAlgorithm, "2"), (O::HttpSigKey, "00ff"), (O::HttpSigKeyId, "me")];
const PIN: &str = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

/// All options that take text, and all that take an object in C.
const ROWS: &[(O, Expected)] = &[
    (O::Url, Effect(Http, "http://127.0.0.1:PORT/other", &[])),
    (O::Proxy, Effect(Http, "http://127.0.0.1:PORT", &[(O::Url, "http://origin.example/")])),
    (O::UserPwd, Effect(Http, "u:p", &[])),
    (O::ProxyUserPwd, Effect(Proxied, "u:p", &[])),
    (O::Range, Effect(Http, "2-5", &[])),
    (O::ErrorBuffer, Refused("text")),
    (O::PostFields, Effect(Http, "a=b", &[])),
    (O::Referer, Effect(Http, "http://r/", &[])),
    (O::FtpPort, Effect(Ftp(USUAL), "-", &[])),
    (O::UserAgent, Effect(Http, "me/1", &[])),
    (O::Cookie, Effect(Http, "a=b", &[])),
    (O::HttpPost, Refused("text")),
    (O::SslCert, Effect(Https, "FOLDER/none", &[(O::SslVerifyPeer, "0")])),
    (O::KeyPasswd, Effect(Trusted, "open", LOCKED)),
    (O::CookieFile, Effect(Http, "FOLDER/cookies", &[])),
    (O::CustomRequest, Effect(Http, "PURGE", &[])),
    (O::StdErr, Refused("text")),
    (O::Interface, Effect(Http, "none0", &[])),
    (O::KrbLevel, Refused("clear")),
    (O::CaInfo, Effect(Https, "FOLDER/ca/ca.pem", &[])),
    (O::RandomFile, Obsolete),
    (O::EgdSocket, Obsolete),
    (O::CookieJar, Effect(Http, "FOLDER/jar", &[])),
    (O::SslCipherList, Effect(Trusted, "none", &[(O::SslVersion, "393216")])),
    (O::SslCertType, Effect(Trusted, "none", CLIENT)),
    (O::SslKey, Effect(Trusted, "FOLDER/none", &[(O::SslCert, "FOLDER/client.pem")])),
    (O::SslKeyType, Effect(Trusted, "none", CLIENT)),
    (O::SslEngine, Effect(Trusted, "none", &[])),
    (O::CaPath, Effect(Https, "FOLDER/ca", &[])),
    (O::Share, Refused("text")),
    (O::AcceptEncoding, Effect(Http, "gzip", &[])),
    (O::Private, Refused("text")),
    (O::NetrcFile, Effect(Http, "FOLDER/netrc", &[(O::Netrc, "2")])),
    (O::FtpAccount, Effect(Ftp(ACCOUNT_WANTED), "a", &[])),
    (O::CookieList, Effect(Http, "127.0.0.1\tFALSE\t/\tFALSE\t0\ta\tb", &[])),
    (O::FtpAlternativeToUser, Effect(Ftp(LOGIN_REFUSED), "AUTH me", &[])),
    (O::SshPublicKeyFile, Effect(Sftp, "FOLDER/none", &[])),
    (O::SshPrivateKeyFile, Effect(Sftp, "FOLDER/none", &[])),
    (O::SshHostPublicKeyMd5, Effect(Sftp, "00112233445566778899aabbccddeeff", &[])),
    (O::CopyPostFields, Effect(Http, "a=b", &[])),
    (O::CrlFile, Effect(Trusted, "FOLDER/none", &[])),
    (O::IssuerCert, Effect(Trusted, "FOLDER/none", &[])),
    (O::Username, Effect(Http, "u", &[])),
    (O::Password, Effect(Http, "p", &[(O::Username, "u")])),
    (O::ProxyUsername, Effect(Proxied, "u", &[])),
    (O::ProxyPassword, Effect(Proxied, "p", &[(O::ProxyUsername, "u")])),
    (O::NoProxy, Effect(Proxied, "*", &[])),
    (O::Socks5GssapiService, Elsewhere("tests/cli/effects/proxy.rs#socks_5_with_a_ticket")),
    (O::SshKnownHosts, Effect(Sftp, "FOLDER/none", &[])),
    (O::MailFrom, Effect(Smtp, "me@here", &[])),
    (O::RtspSessionId, Effect(Rtsp, "12", SETUP)),
    (O::RtspStreamUri, Effect(Rtsp, "rtsp://other/", SETUP)),
    (O::RtspTransport, Effect(Rtsp, "RTP/AVP;unicast", &[])),
    (O::TlsAuthUsername, Refused("u")),
    (O::TlsAuthPassword, Refused("p")),
    (O::TlsAuthType, Refused("SRP")),
    (O::DnsServers, Effect(Named, "127.0.0.1:1", &[])),
    (O::MailAuth, Effect(Smtp, "me", &[(O::UserPwd, "u:p")])),
    (O::Xoauth2Bearer, Effect(Http, "token", &[(O::HttpAuth, "64")])),
    (O::DnsInterface, Effect(Named, "none0", &[])),
    (O::DnsLocalIp4, Effect(Named, "192.0.2.77", &[])),
    (O::DnsLocalIp6, Refused("no address")),
    (O::LoginOptions, Effect(Smtp, "AUTH=LOGIN", &[(O::UserPwd, "u:p")])),
    (O::PinnedPublicKey, Effect(Trusted, PIN, &[])),
    (O::UnixSocketPath, Effect(Http, "FOLDER/none", &[])),
    (O::ProxyServiceName, Elsewhere("crates/engine/tests/negotiate.rs#act_proxies")),
    (O::ServiceName, Elsewhere("crates/engine/tests/negotiate.rs#act_belongs_to_its_user")),
    (O::DefaultProtocol, Effect(Http, "ftp", &[(O::Url, "127.0.0.1:PORT/")])),
    (O::StreamDepends, Refused("text")),
    (O::StreamDependsE, Refused("text")),
    (O::ProxyCaInfo, Effect(HttpsProxy, "FOLDER/ca/ca.pem", &[])),
    (O::ProxyCaPath, Effect(HttpsProxy, "FOLDER/ca", &[])),
    (O::ProxyTlsAuthUsername, Refused("u")),
    (O::ProxyTlsAuthPassword, Refused("p")),
    (O::ProxyTlsAuthType, Refused("SRP")),
    (O::ProxySslCert, Effect(TrustedProxy, "FOLDER/none", &[])),
    (O::ProxySslCertType, Effect(TrustedProxy, "none", PROXY_CLIENT)),
    (O::ProxySslKey, Effect(TrustedProxy, "FOLDER/none", &[(O::ProxySslCert, "FOLDER/client.pem")])),
    (O::ProxySslKeyType, Effect(TrustedProxy, "none", PROXY_CLIENT)),
    (O::ProxyKeyPasswd, Effect(TrustedProxy, "open", PROXY_LOCKED)),
    (O::ProxySslCipherList, Effect(TrustedProxy, "none", &[(O::ProxySslVersion, "393216")])),
    (O::ProxyCrlFile, Effect(TrustedProxy, "FOLDER/none", &[])),
    (O::PreProxy, Effect(Proxied, "socks5://127.0.0.1:1", &[])),
    (O::ProxyPinnedPublicKey, Effect(TrustedProxy, PIN, &[])),
    (O::AbstractUnixSocket, Effect(Http, "none", &[])),
    (O::RequestTarget, Effect(Http, "*", &[])),
    (O::MimePost, Refused("text")),
    (O::Tls13Ciphers, Effect(Trusted, "none", &[])),
    (O::ProxyTls13Ciphers, Effect(TrustedProxy, "none", &[])),
    (O::DohUrl, Effect(Named, "https://127.0.0.1:1/", &[])),
    (O::CurlU, Refused("text")),
    (O::AltSvc, Effect(Trusted, "FOLDER/alternatives", &[(O::AltSvcCtrl, "56")])),
    (O::SaslAuthzId, Effect(Smtp, "me", &[(O::UserPwd, "u:p")])),
    (O::SslCertBlob, Effect(Trusted, "junk", &[])),
    (O::SslKeyBlob, Effect(Trusted, "junk", &[(O::SslCert, "FOLDER/client.pem")])),
    (O::ProxySslCertBlob, Effect(TrustedProxy, "junk", &[])),
    (O::ProxySslKeyBlob, Effect(TrustedProxy, "junk", &[(O::ProxySslCert, "FOLDER/client.pem")])),
    (O::IssuerCertBlob, Effect(Trusted, "junk", &[])),
    (O::ProxyIssuerCert, Effect(TrustedProxy, "FOLDER/none", &[])),
    (O::ProxyIssuerCertBlob, Effect(TrustedProxy, "junk", &[])),
    (O::SslEcCurves, Effect(Trusted, "none", &[])),
    (O::Hsts, Effect(Http, "FOLDER/hsts", &[(O::HstsCtrl, "1")])),
    (O::AwsSigV4, Effect(Http, "aws:amz:region:service", &[(O::UserPwd, "u:p")])),
    (O::CaInfoBlob, Effect(Https, "CA", &[])),
    (O::ProxyCaInfoBlob, Effect(HttpsProxy, "CA", &[])),
    (O::SshHostPublicKeySha256, Effect(Sftp, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", &[])),
    (O::ProtocolsStr, Effect(Http, "ftp", &[])),
    (O::RedirProtocolsStr, Effect(Redirect, "ftp", &[])),
    (O::HaProxyClientIp, Effect(Http, "192.0.2.1", &[(O::HaProxyProtocol, "1")])),
    (O::Ech, Refused("nonsense")),
    (O::SslSignatureAlgorithms, Effect(Trusted, "none", &[])),
    // By proxy: a signature covers the port of the URL, which is another one for each peer.
    (O::HttpSigKey, Effect(Proxied, "0011", SIGNED)),
    (O::HttpSigKeyId, Effect(Proxied, "you", SIGNED)),
    (O::HttpSigHeaders, Effect(Proxied, "method", SIGNED)),
];

/// Certificates, keys and files that rows name.
struct Files {
    folder: TempDir,
    authority: Authority,
}

impl Files {
    fn new() -> Files {
        let folder = TempDir::new("text-options").unwrap();
        let authority = Authority::new();
        let client = authority.client("me");
        std::fs::create_dir(folder.path().join("ca")).unwrap();
        for (name, text) in [
            ("ca/ca.pem", authority.ca_pem()),
            ("client.pem", &client.cert_pem),
            ("client.key", &client.key_pem),
            ("netrc", "machine 127.0.0.1 login u password p\n"),
            ("cookies", "127.0.0.1\tFALSE\t/\tFALSE\t0\ta\tb\n"),
        ] {
            folder.write(name, text).unwrap();
        }
        let locking = "pkcs8 -topk8 -in client.key -out locked.key -passout pass:open";
        let mut openssl = Command::new("openssl");
        let locked = openssl.args(locking.split(' ')).current_dir(folder.path()).status().unwrap();
        assert!(locked.success());
        Files { folder, authority }
    }

    fn names(&self) -> BTreeSet<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }
}

/// A peer, and what a handle needs to reach it.
enum Peer {
    Scripted(RawPeer),
    Ssh(Sshd),
}

fn replies(texts: &[&str]) -> Script {
    let each = |text: &&str| [send(&format!("{text}\r\n")), expect("\r\n")];
    let mut script: Script = texts.iter().flat_map(each).collect();
    script.pop();
    script.extend([Step::Finish]);
    script
}

fn script_of(world: World) -> Script {
    let end = "Connection: close\r\nContent-Length: 2\r\n";
    let fields = match world {
        Redirect => {
            return vec![
                expect("\r\n\r\n"),
                send("HTTP/1.1 302 Found\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"),
                expect("\r\n\r\n"),
                send(&format!("HTTP/1.1 200 OK\r\n{end}\r\nhi")),
                Step::ReadAll,
            ];
        }
        Ftp(texts) => return replies(&[&["220 hi"], texts].concat()),
        Smtp => {
            return replies(&[
                "220 hi",
                "250-hi\r\n250 AUTH PLAIN LOGIN EXTERNAL",
                "334 ",
                "235 in",
                "250 from",
                "250 to",
                "354 on",
            ]);
        }
        Rtsp => {
            return vec![
                expect("\r\n\r\n"),
                send("RTSP/1.0 200 OK\r\nCSeq: 1\r\nSession: 12\r\n\r\n"),
                Step::ReadAll,
            ];
        }
        Trusted => "Alt-Svc: h2=\"other:1\"; ma=100\r\n",
        _ => "",
    };
    vec![expect("\r\n\r\n"), send(&format!("HTTP/1.1 200 OK\r\n{fields}{end}\r\nhi")), Step::ReadAll]
}

impl Peer {
    fn of(world: World, files: &Files) -> Peer {
        let script = vec![script_of(world)];
        match world {
            Https | Trusted | HttpsProxy | TrustedProxy => {
                Peer::Scripted(RawPeer::tls(script, files.authority.good().server_config().unwrap()))
            }
            Sftp => {
                let server = Sshd::start("").unwrap();
                server.write("file", "hi").unwrap();
                server.known_hosts().unwrap();
                Peer::Ssh(server)
            }
            _ => Peer::Scripted(RawPeer::start(script)),
        }
    }

    fn port(&self) -> u16 {
        match self {
            Peer::Scripted(peer) => peer.port(),
            Peer::Ssh(server) => server.port,
        }
    }

    /// Returns what has arrived. Conversations of mail and FTP end by themselves, and their last command is
    /// waited for.
    fn received(&self, world: World) -> Vec<u8> {
        match self {
            Peer::Scripted(peer) => {
                if matches!(world, Ftp(_) | Smtp) {
                    peer.wait_for_ends(peer.accepts());
                }
                peer.received().join(&b"\n--\n"[..])
            }
            Peer::Ssh(_) => Vec::new(),
        }
    }

    /// Prepares a handle for this world.
    fn prepare(&self, world: World, files: &Files, names: &NameServer, handle: &mut Handle) {
        let port = self.port();
        let mut set = |option, value: Value| handle.set(option, value).unwrap();
        let url = match world {
            Proxied | HttpsProxy | TrustedProxy => "http://origin.example/a".to_owned(),
            Https | Trusted => format!("https://127.0.0.1:{port}/a"),
            Named => format!("http://name.example:{port}/a"),
            Ftp(_) => format!("ftp://127.0.0.1:{port}/a"),
            Smtp => format!("smtp://127.0.0.1:{port}/me"),
            Rtsp => format!("rtsp://127.0.0.1:{port}/a"),
            Sftp => String::new(),
            Http | Redirect => format!("http://127.0.0.1:{port}/a"),
        };
        set(O::Url, url.as_str().into());
        set(O::TimeoutMs, 4000.into());
        match world {
            Proxied => set(O::Proxy, format!("http://127.0.0.1:{port}").as_str().into()),
            HttpsProxy | TrustedProxy => {
                set(O::Proxy, format!("https://127.0.0.1:{port}").as_str().into());
            }
            Named => set(O::DnsServers, names.address().to_string().as_str().into()),
            Redirect => set(O::FollowLocation, 1.into()),
            Rtsp => set(O::RtspRequest, 4.into()),
            Smtp => {
                set(O::MailRcpt, vec![b"you@there".to_vec()].into());
                set(O::Upload, 1.into());
            }
            _ => {}
        }
        match world {
            Trusted => set(O::CaInfoBlob, files.authority.ca_pem().into()),
            TrustedProxy => set(O::ProxyCaInfoBlob, files.authority.ca_pem().into()),
            _ => {}
        }
        if let Peer::Ssh(server) = self {
            let file = |path: &Path| Value::from(path.to_str().unwrap());
            set(O::Url, server.url("sftp", server.path("file").to_str().unwrap()).as_str().into());
            set(O::SshPrivateKeyFile, file(&server.path("user_ed25519")));
            set(O::SshPublicKeyFile, file(&server.path("user_ed25519.pub")));
            set(O::SshKnownHosts, file(&server.path("known_hosts")));
            set(O::SshAuthTypes, 1.into());
        }
    }
}

/// Puts the place of the peer and of the files into a value.
fn value(option: O, text: &str, peer: &Peer, files: &Files) -> Value {
    if matches!(option.kind(), ArgKind::Long | ArgKind::Values | ArgKind::OffT) {
        return Value::Long(text.parse().unwrap());
    }
    let text = match text {
        "CA" => files.authority.ca_pem().to_owned(),
        text => text.replace("PORT", &peer.port().to_string()),
    };
    Value::from(text.replace("FOLDER", files.folder.path().to_str().unwrap()).as_str())
}

/// All that can be seen of a transfer: its code and message, the bytes that the peer received, and the files
/// that are there.
fn observed(world: World, files: &Files, names: &NameServer, options: &[(O, &str)]) -> Result<String, Code> {
    let peer = Peer::of(world, files);
    let mut handle = Handle::new();
    handle.on_write(|_| WriteAnswer::All);
    handle.on_read(|_| ReadAnswer::Bytes(0));
    peer.prepare(world, files, names, &mut handle);
    for (option, text) in options {
        handle.set(*option, value(*option, text, &peer, files))?;
    }
    let outcome = match handle.perform() {
        Ok(()) => "OK".to_owned(),
        Err(failure) => format!("{:?} {}", failure.code, failure.message),
    };
    let own_port = handle.info(|info| info.local_port());
    drop(handle);
    let mut received =
        String::from_utf8_lossy(&peer.received(world)).replace(&peer.port().to_string(), "PORT");
    if own_port > 0 {
        received = received.replace(&own_port.to_string(), "OWN_PORT");
    }
    // Digits are times and sizes that differ between runs.
    let numbers = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "");
    let observed = format!("{} {:?} {received}", numbers(&outcome), files.names());
    for name in ["jar", "alternatives", "hsts"] {
        let _ = std::fs::remove_file(files.folder.path().join(name));
    }
    Ok(observed)
}

/// Returns what is observed with and without the option. Something that changes by itself, such as the
/// date of a signature, does not count: transfers without the option are observed before and after.
fn compared(
    observe: impl Fn(&[(O, &str)]) -> Result<String, Code>,
    beside: &[(O, &str)],
    added: (O, &str),
) -> (Result<String, Code>, String) {
    for _ in 0..5 {
        let before = observe(beside).unwrap();
        let with = observe(&[beside, &[added]].concat());
        if observe(beside).as_ref() == Ok(&before) {
            return (with, before);
        }
    }
    panic!("{added:?}: no two transfers without the option are alike");
}

#[test]
fn each_option_given_as_text_does_something_or_is_refused() {
    let (files, names) = (
        Files::new(),
        NameServer::start(|asked| match asked.kind {
            1 => address(1, "127.0.0.1"),
            _ => DnsAnswer::Records(Vec::new()),
        }),
    );
    let mut idle = Vec::new();
    for (option, expected) in ROWS {
        match *expected {
            Effect(world, text, beside) => {
                let observe = |options: &[(O, &str)]| observed(world, &files, &names, options);
                let (with, without) = compared(observe, beside, (*option, text));
                if with.as_ref() == Ok(&without) {
                    idle.push(format!("{option:?}: {without}"));
                }
            }
            Refused(text) => {
                let answer = Handle::new().set(*option, text);
                assert!(answer.is_err(), "{option:?}: {answer:?}");
            }
            Obsolete => {
                let support = option.support();
                assert!(support == tables::Support::NoEffect, "{option:?}");
            }
            Elsewhere(place) => {
                let (file, function) = place.split_once('#').unwrap();
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
                let text = std::fs::read_to_string(path).unwrap();
                assert!(text.contains(&format!("fn {function}(")), "{option:?}: {place}");
            }
        }
    }
    assert!(idle.is_empty(), "these did nothing:\n{}", idle.join("\n"));
}

/// An option that is added has a row above.
#[test]
fn every_option_that_text_could_be_given_to_has_a_row() {
    let takes_text = |option: &&O| matches!(option.kind(), ArgKind::String | ArgKind::Blob | ArgKind::Object);
    for option in O::ALL.iter().filter(takes_text) {
        let rows = ROWS.iter().filter(|(row, _)| row == option).count();
        assert_eq!(rows, 1, "{option:?}");
    }
    for option in O::ALL.iter().filter(|option| !takes_text(option)) {
        assert_eq!(Handle::new().set(*option, "text"), Err(Code::BadFunctionArgument), "{option:?}");
    }
}

/// Objects of C's have no text.
#[test]
fn objects_take_no_text() {
    for option in [
        O::StdErr,
        O::Share,
        O::ErrorBuffer,
        O::HttpPost,
        O::MimePost,
        O::StreamDepends,
        O::StreamDependsE,
        O::CurlU,
    ] {
        assert_eq!(Handle::new().set(option, "a=b"), Err(Code::BadFunctionArgument), "{option:?}");
    }
}
