//! Files in the key of a connection. One relative name in two directories is two files, and a file that was
//! replaced under its name is another one: neither the connection nor the TLS session of the first serves the
//! second.
//!
//! The working directory belongs to the process, so the tests here run one at a time.

mod common;

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use common::{App, handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::certs::Authority;
use testkit::http::HttpServer;
use testkit::launch::{Sshd, keygen};
use testkit::temp::TempDir;
use warmwire_engine::Easy;

/// The relative name for the options.
const NAME: &str = "file";

/// Two folders, and the right to the working folder of the process.
struct Folders {
    _turn: MutexGuard<'static, ()>,
    dir: TempDir,
}

impl Folders {
    fn new() -> Folders {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = TempDir::new("folders").unwrap();
        for name in ["a", "b"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        Folders { _turn: turn, dir }
    }

    fn path(&self, folder: &str) -> PathBuf {
        self.dir.path().join(folder)
    }

    fn enter(&self, folder: &str) {
        std::env::set_current_dir(self.path(folder)).unwrap();
    }

    /// Writes the named file in a directory, replacing an existing one.
    fn write(&self, folder: &str, content: &[u8]) {
        let path = self.path(folder);
        fs::write(path.join("new"), content).unwrap();
        fs::rename(path.join("new"), path.join(NAME)).unwrap();
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        let _ = std::env::set_current_dir("/");
    }
}

/// An option that names a file, content with which the server is reached, and content with which it is not.
struct Case {
    option: O,
    good: Vec<u8>,
    other: Vec<u8>,
    /// The code that the other content must lead to.
    refused: &'static [Code],
}

fn tls_cases(authority: &Authority, server_key: String) -> Vec<Case> {
    let stranger = Authority::new();
    let pem = |authority: &Authority| {
        let leaf = authority.client("me");
        format!("{}{}", leaf.cert_pem, leaf.key_pem).into_bytes()
    };
    let ca = |authority: &Authority| authority.ca_pem().as_bytes().to_vec();
    let case = |option, good, other, refused| Case { option, good, other, refused };
    vec![
        // TLS 1.3 servers refuse a certificate after the client has finished: the alert is read instead of a
        // reply.
        case(O::SslCert, pem(authority), pem(&stranger), &[Code::RecvError, Code::SslConnectError]),
        case(O::CaInfo, ca(authority), ca(&stranger), &[Code::PeerFailedVerification]),
        case(O::CrlFile, authority.empty_crl().into(), b"no list".to_vec(), &[Code::SslCrlBadfile]),
        case(O::IssuerCert, ca(authority), ca(&stranger), &[Code::SslIssuerError]),
        case(
            O::PinnedPublicKey,
            server_key.into(),
            stranger.good().public_key_pem().into(),
            &[Code::SslPinnedpubkeynotmatch],
        ),
    ]
}

/// A handle that is accepted by the server as long as the case's file is the right one.
fn tls_handle(server: &HttpServer, authority: &Authority, dir: &Path, option: O) -> (Easy, Rc<App>) {
    let (easy, app) = handle(&server.url("/bytes/1"));
    let me = authority.client("me");
    let write = |name: &str, content: &str| {
        fs::write(dir.join(name), content).unwrap();
        dir.join(name).display().to_string()
    };
    text(&easy, O::CaInfo, &write("ca.pem", authority.ca_pem()));
    text(&easy, O::SslCert, &write("me.pem", &format!("{}{}", me.cert_pem, me.key_pem)));
    text(&easy, option, NAME);
    (easy, app)
}

fn accepted(easy: &Easy, what: O) {
    assert_eq!(easy.perform(), Code::Ok, "{what:?}: {}", easy.state().message());
}

/// Fails on the kept connection and with the TLS session.
fn refused(easy: &Easy, case: &Case) {
    for fresh in [0, 1] {
        long(easy, O::FreshConnect, fresh);
        let code = easy.perform();
        assert!(case.refused.contains(&code), "{:?} fresh {fresh}: {code:?}", case.option);
    }
    long(easy, O::FreshConnect, 0);
}

/// Makes a connection and a TLS session with the good content, and proves that both would be used.
fn made(easy: &Easy, server: &HttpServer, case: &Case) {
    accepted(easy, case.option);
    let (accepts, resumptions) = (server.accepts(), server.resumptions());
    accepted(easy, case.option);
    assert_eq!(server.accepts(), accepts, "{:?}: the connection is kept", case.option);
    long(easy, O::FreshConnect, 1);
    accepted(easy, case.option);
    assert_eq!(server.accepts(), accepts + 1);
    assert_eq!(server.resumptions(), resumptions + 1, "{:?}: the session is kept", case.option);
    long(easy, O::FreshConnect, 0);
}

#[test]
fn one_name_in_two_folders_is_two_files() {
    let folders = Folders::new();
    let authority = Authority::new();
    let leaf = authority.good();
    let server = HttpServer::tls(authority.demanding(&leaf).unwrap());
    for case in tls_cases(&authority, leaf.public_key_pem()) {
        folders.write("a", &case.good);
        folders.write("b", &case.other);
        let (easy, _app) = tls_handle(&server, &authority, folders.dir.path(), case.option);
        folders.enter("a");
        made(&easy, &server, &case);
        folders.enter("b");
        refused(&easy, &case);
        folders.enter("a");
        accepted(&easy, case.option);
    }
}

#[test]
fn a_replaced_file_is_another_one() {
    let folders = Folders::new();
    let authority = Authority::new();
    let leaf = authority.good();
    let server = HttpServer::tls(authority.demanding(&leaf).unwrap());
    folders.enter("a");
    for case in tls_cases(&authority, leaf.public_key_pem()) {
        folders.write("a", &case.good);
        let (easy, _app) = tls_handle(&server, &authority, folders.dir.path(), case.option);
        made(&easy, &server, &case);
        folders.write("a", &case.other);
        refused(&easy, &case);
        folders.write("a", &case.good);
        accepted(&easy, case.option);
    }
}

/// The contents of a directory of certificates are part of the key.
#[test]
fn a_folder_of_certificates_is_its_content() {
    let folders = Folders::new();
    let (authority, stranger) = (Authority::new(), Authority::new());
    let server = HttpServer::tls(authority.demanding(&authority.good()).unwrap());
    let case =
        Case { option: O::CaPath, good: vec![], other: vec![], refused: &[Code::PeerFailedVerification] };
    let put = |folder: &str, authority: &Authority| {
        let place = folders.path(folder).join(NAME);
        fs::create_dir_all(&place).unwrap();
        fs::write(place.join("ca.new"), authority.ca_pem()).unwrap();
        fs::rename(place.join("ca.new"), place.join("ca.pem")).unwrap();
    };
    put("a", &authority);
    put("b", &stranger);
    let (easy, _app) = tls_handle(&server, &authority, folders.dir.path(), O::CaPath);
    easy.state().settings.borrow_mut().set_text(O::CaInfo, None).unwrap();
    folders.enter("a");
    made(&easy, &server, &case);
    folders.enter("b");
    refused(&easy, &case);
    folders.enter("a");
    accepted(&easy, O::CaPath);
    put("a", &stranger);
    refused(&easy, &case);
}

/// Answers each connection at this path with the name of the place, and keeps it open.
fn serve_socket(path: &Path, name: &'static str) {
    let listener = UnixListener::bind(path).unwrap();
    std::thread::spawn(move || {
        for mut peer in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{name}", name.len());
                while peer.read(&mut [0; 4096]).is_ok_and(|n| n > 0) {
                    peer.write_all(reply.as_bytes()).unwrap();
                }
            });
        }
    });
}

#[test]
fn a_socket_of_one_name_is_another_one() {
    let folders = Folders::new();
    serve_socket(&folders.path("a").join(NAME), "of a");
    serve_socket(&folders.path("b").join(NAME), "of b");
    let (easy, app) = handle("http://host.test/");
    text(&easy, O::UnixSocketPath, NAME);
    let asked = |connects: i64| {
        app.body.borrow_mut().clear();
        accepted(&easy, O::UnixSocketPath);
        assert_eq!(easy.state().info.borrow().connects, connects);
        String::from_utf8(app.body.borrow().clone()).unwrap()
    };
    folders.enter("a");
    assert_eq!((asked(1), asked(0)), ("of a".into(), "of a".into()));
    folders.enter("b");
    assert_eq!(asked(1), "of b");
    folders.enter("a");
    assert_eq!(asked(0), "of a");
    fs::remove_file(NAME).unwrap();
    serve_socket(Path::new(NAME), "another");
    assert_eq!(asked(1), "another");
}

#[test]
fn ssh_files_of_one_name_are_others() {
    let folders = Folders::new();
    let server = Sshd::start("").unwrap();
    server.write("file", b"text").unwrap();
    keygen(folders.dir.path(), "stranger", &["-t", "ed25519", "-N", ""]).unwrap();
    let read = |path: PathBuf| fs::read(path).unwrap();
    let stranger = folders.dir.path().join("stranger");
    let known = read(server.known_hosts().unwrap());
    let other_host = format!(
        "[127.0.0.1]:{} {}",
        server.port,
        fs::read_to_string(folders.dir.path().join("stranger.pub")).unwrap()
    );
    let cases = [
        Case {
            option: O::SshPrivateKeyFile,
            good: read(server.path("user_ed25519")),
            other: read(stranger),
            refused: &[Code::LoginDenied],
        },
        Case {
            option: O::SshKnownHosts,
            good: known,
            other: other_host.into_bytes(),
            refused: &[Code::PeerFailedVerification],
        },
    ];
    for case in &cases {
        folders.write("a", &case.good);
        folders.write("b", &case.other);
        let (easy, _app) = handle(&server.url("sftp", &server.path("file").display().to_string()));
        text(&easy, O::SshPrivateKeyFile, &server.path("user_ed25519").display().to_string());
        text(&easy, case.option, NAME);
        folders.enter("a");
        accepted(&easy, case.option);
        accepted(&easy, case.option);
        assert_eq!(easy.state().info.borrow().connects, 0, "{:?}: the connection is kept", case.option);
        folders.enter("b");
        refused(&easy, case);
        folders.enter("a");
        accepted(&easy, case.option);
        folders.write("a", &case.other);
        refused(&easy, case);
    }
}

/// A passphrase is bytes: one that is not UTF-8 opens its key, and no other bytes do, in each form of key
/// file and for a key in memory.
#[test]
fn a_passphrase_that_is_not_utf8_opens_its_key() {
    const PHRASE: &[u8] = b"p\xe9\xff";
    let authority = Authority::new();
    let server = HttpServer::tls(authority.demanding(&authority.good()).unwrap());
    let dir = TempDir::new("passphrase").unwrap();
    let me = authority.client("me");
    let ca = dir.write("ca.pem", authority.ca_pem()).unwrap();
    let cert = dir.write("cert.pem", &me.cert_pem).unwrap();
    dir.write("key.pem", &me.key_pem).unwrap();
    dir.write("phrase", PHRASE).unwrap();
    let forms: [(&str, &str, &[&str]); 3] = [
        ("pkcs8.pem", "PEM", &["pkcs8", "-topk8", "-v2", "aes-256-cbc"]),
        ("sec1.pem", "PEM", &["ec", "-aes128"]),
        ("store.p12", "P12", &["pkcs12", "-export", "-inkey", "key.pem"]),
    ];
    for (name, kind, words) in forms {
        let input = if kind == "P12" { "cert.pem" } else { "key.pem" };
        let mut openssl = Command::new("openssl");
        openssl.args(words).args(["-in", input, "-out", name, "-passout", "file:phrase"]);
        assert!(openssl.current_dir(dir.path()).output().unwrap().status.success(), "{name}");
        let with = |phrase: &[u8], blob: bool| {
            let (easy, _app) = handle(&server.url("/bytes/1"));
            text(&easy, O::CaInfo, &ca.display().to_string());
            let path = dir.path().join(name);
            let (file_option, blob_option) = match kind {
                "P12" => (O::SslCert, O::SslCertBlob),
                _ => (O::SslKey, O::SslKeyBlob),
            };
            if kind == "P12" {
                text(&easy, O::SslCertType, kind);
            } else {
                text(&easy, O::SslCert, &cert.display().to_string());
            }
            let mut settings = easy.state().settings.borrow_mut();
            match blob {
                true => settings.set_text(blob_option, Some(&fs::read(&path).unwrap())).unwrap(),
                false => settings.set_text(file_option, Some(path.to_str().unwrap().as_bytes())).unwrap(),
            }
            settings.set_text(O::KeyPasswd, Some(phrase)).unwrap();
            drop(settings);
            easy.perform()
        };
        // As curl 8.22 answers.
        let wrong = if kind == "P12" { Code::SslCertproblem } else { Code::BadFunctionArgument };
        for blob in [false, true] {
            assert_eq!(with(PHRASE, blob), Code::Ok, "{name} {blob}");
            // The passphrase after a lossy conversion to UTF-8.
            assert_eq!(with("p\u{fffd}\u{fffd}".as_bytes(), blob), wrong, "{name} {blob}");
            assert_eq!(with("p\u{e9}\u{ff}".as_bytes(), blob), wrong, "{name} {blob}");
        }
    }
}
