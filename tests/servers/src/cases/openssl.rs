//! Features that only the system's OpenSSL has: keys in a smart card (SoftHSM) or in a provider, old servers,
//! and sessions that another process resumes.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use testkit::launch::AskingApache;
use testkit::temp::TempDir;

use super::{case, ours};
use crate::runner::{Case, Context, Output};
use crate::subject::Subject;

pub fn cases() -> Vec<Case> {
    vec![
        case("smart-card", smart_card),
        ours("provider-keys", provider_keys),
        case("servers-of-old", servers_of_old),
        case("asked-for-a-certificate-late", asked_late),
    ]
}

/// Runs `openssl` with the words of this line.
pub fn openssl(folder: &Path, line: &str) {
    run_well(Command::new("openssl").args(line.split(' ')).current_dir(folder));
}

fn run_well(command: &mut Command) {
    let output = command.output().expect("tests/packages.txt names what the tests run");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// `openssl s_server -www` with `cert.pem` and `key.pem` of a folder.
pub struct Served {
    child: Child,
    pub url: String,
    /// On 127.0.0.1.
    pub port: String,
}

impl Served {
    pub fn start(folder: &Path, more: &[&str]) -> Served {
        let mut child = Command::new("openssl")
            .args(["s_server", "-accept", "127.0.0.1:0", "-www", "-cert", "cert.pem", "-key", "key.pem"])
            .args(more)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("tests/packages.txt names openssl");
        let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines().map_while(Result::ok);
        let address = lines.find_map(|line| line.strip_prefix("ACCEPT ").map(str::to_owned));
        // Further output must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let address = address.expect("the address on which it listens");
        let port = address.rsplit(':').next().unwrap_or_default().to_owned();
        Served { child, url: format!("https://{address}/"), port }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An authority (`ca.pem`), and a certificate of its for 127.0.0.1 with number 5 (`cert.pem`, `key.pem`).
pub fn authority(folder: &Path) {
    openssl(folder, "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=root -days 2");
    openssl(folder, "req -new -newkey rsa:2048 -nodes -keyout key.pem -out leaf.csr -subj /CN=leaf");
    std::fs::write(folder.join("names"), "subjectAltName=IP:127.0.0.1\n").expect("a folder of our own");
    openssl(
        folder,
        "x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -set_serial 5 -days 2 -extfile names -out cert.pem",
    );
}

/// Creates a client certificate (`client.pem`), its key (`client.key`), and its authority beside the
/// server's.
fn client(folder: &Path) {
    openssl(folder, "req -new -newkey rsa:2048 -nodes -keyout client.key -out client.csr -subj /CN=holder");
    openssl(
        folder,
        "x509 -req -in client.csr -CA ca.pem -CAkey ca.key -set_serial 6 -days 2 -out client.pem",
    );
}

/// A server that accepts only clients known to the authority.
const ASKS: [&str; 4] = ["-Verify", "1", "-verify_return_error", "-CAfile"];

fn asking(folder: &Path) -> Served {
    Served::start(folder, &[&ASKS[..], &["ca.pem"]].concat())
}

/// Creates SoftHSM in a directory, with the client's key in its only token, and the certificate beside it.
fn card(folder: &Path) {
    let tokens = folder.join("tokens");
    std::fs::create_dir(&tokens).expect("a folder of our own");
    let settings = format!("directories.tokendir = {}\nobjectstore.backend = file\n", tokens.display());
    std::fs::write(folder.join("softhsm2.conf"), settings).expect("a folder of our own");
    let token = |program: &str, line: &str| {
        let mut command = Command::new(program);
        run_well(inserted(command.args(line.split(' ')).current_dir(folder), folder));
    };
    token("softhsm2-util", "--init-token --free --label card --so-pin 87654321 --pin 1234");
    token("softhsm2-util", "--import client.key --token card --label mine --id a1 --pin 1234");
    openssl(folder, "x509 -in client.pem -outform DER -out client.der");
    let line = "--login --pin 1234 --write-object client.der --type cert --label mine --id a1";
    token("pkcs11-tool", &format!("--module {SOFTHSM} --token-label card {line}"));
}

const SOFTHSM: &str = "/usr/lib/softhsm/libsofthsm2.so";

/// Inserts the card for this command.
fn inserted<'a>(command: &'a mut Command, folder: &Path) -> &'a mut Command {
    command.env("SOFTHSM2_CONF", folder.join("softhsm2.conf")).env("PKCS11_MODULE_PATH", SOFTHSM)
}

fn fetch(run: &Context, folder: &Path, url: &str, options: &[&str]) -> Output {
    let mut command = Command::new(run.world.program("fetch"));
    command.current_dir(folder).args(["-o", "CAINFO=ca.pem"]);
    for option in options {
        command.args(["-o", option]);
    }
    run.run(inserted(command.arg(url), folder))
}

// covers: CURLOPT_SSLENGINE, CURLOPT_SSLENGINE_DEFAULT, CURLOPT_SSLCERTTYPE, CURLOPT_SSLKEYTYPE,
// CURLOPT_KEYPASSWD
fn smart_card(run: &Context) {
    let place = TempDir::new("card").expect("a folder is made");
    let folder = place.path();
    authority(folder);
    client(folder);
    card(folder);
    let server = asking(folder);
    let cert = ["SSLCERT=pkcs11:token=card;object=mine;type=cert", "SSLCERTTYPE=ENG"];
    let key = ["SSLKEY=pkcs11:token=card;object=mine;type=private", "SSLKEYTYPE=ENG"];
    let pin = "KEYPASSWD=1234";
    let rows: [(&str, &str, &[&str]); 8] = [
        ("the engine is named", "0", &["SSLENGINE=pkcs11", cert[0], cert[1], key[0], key[1], pin]),
        ("a URI is enough", "0", &[cert[0], cert[1], key[0], key[1], pin]),
        (
            "the PIN stands in the URI",
            "0",
            &[cert[0], cert[1], &format!("{};pin-value=1234", key[0]), key[1]],
        ),
        ("the certificate is a file", "0", &["SSLCERT=client.pem", key[0], key[1], pin]),
        ("another certificate", "58", &["SSLCERT=cert.pem", key[0], key[1], pin]),
        ("a wrong PIN", "58", &[cert[0], cert[1], key[0], key[1], "KEYPASSWD=4321"]),
        (
            "the engine is everybody's",
            "0",
            &["SSLENGINE=pkcs11", "SSLENGINE_DEFAULT=1", cert[0], cert[1], key[0], key[1], pin],
        ),
        (
            "no such object",
            "58",
            &["SSLCERT=client.pem", "SSLKEY=pkcs11:token=card;object=other", key[1], pin],
        ),
    ];
    for (what, code, options) in rows {
        let output = fetch(run, folder, &server.url, options);
        assert_eq!(output.fact("code"), code, "{what}: {output:?}");
    }
    let nobody = fetch(run, folder, &server.url, &[]);
    assert_ne!(nobody.fact("code"), "0", "without the card: {nobody:?}");
}

/// CURL_SSLVERSION_TLSv1_0, and the same as the newest.
const FROM_TLS10: &str = "SSLVERSION=4";
const TLS10_ALONE: &str = "SSLVERSION=262148";

/// A server with only TLS 1.0 and RSA key exchange is reached by a client that lowers the security level
/// itself, and by no other; an old cipher of TLS 1.2 by one that names it.
// covers: CURLOPT_SSLVERSION, CURLOPT_SSL_CIPHER_LIST
fn servers_of_old(run: &Context) {
    let place = TempDir::new("old").expect("a folder is made");
    let folder = place.path();
    authority(folder);
    // 1024 bits are enough for level 0 only; some systems' own level permits TLS 1.0.
    openssl(folder, "req -new -newkey rsa:1024 -nodes -keyout key.pem -out leaf.csr -subj /CN=leaf");
    let line =
        "x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -set_serial 7 -days 2 -extfile names -out cert.pem";
    openssl(folder, line);
    let lowered = "SSL_CIPHER_LIST=DEFAULT@SECLEVEL=0";
    openssl(
        folder,
        "req -x509 -newkey rsa:2048 -nodes -keyout other.key -out other.pem -subj /CN=other -days 2",
    );
    let old = Served::start(folder, &["-tls1", "-cipher", "AES128-SHA:@SECLEVEL=0"]);
    let refused: [&[&str]; 5] = [
        &[],
        &[FROM_TLS10],
        &[TLS10_ALONE],
        &[TLS10_ALONE, "SSL_CIPHER_LIST=AES128-SHA"],
        &[lowered, "SSLVERSION=6"],
    ];
    for options in refused {
        let output = fetch(run, folder, &old.url, options);
        assert!(["35", "60"].contains(&output.fact("code")), "TLS 1.0 {options:?}: {output:?}");
    }
    for options in [[FROM_TLS10, lowered], [TLS10_ALONE, "SSL_CIPHER_LIST=AES128-SHA:@SECLEVEL=0"]] {
        let output = fetch(run, folder, &old.url, &options);
        assert_eq!(output.fact("code"), "0", "TLS 1.0 {options:?}: {output:?}");
    }
    let strangers = fetch(run, folder, &old.url, &[FROM_TLS10, lowered, "CAINFO=other.pem"]);
    assert_eq!(strangers.fact("code"), "60", "who it is counts all the same: {strangers:?}");
    authority(folder);
    let rsa = Served::start(folder, &["-tls1_2", "-cipher", "AES128-SHA"]);
    assert_eq!(fetch(run, folder, &rsa.url, &["SSL_CIPHER_LIST=AES128-SHA"]).fact("code"), "0");
    let silent = if matches!(run.subject, Subject::Ours(_)) { "35" } else { "0" };
    assert_eq!(fetch(run, folder, &rsa.url, &[]).fact("code"), silent, "rustls speaks it to nobody");
}

/// Apache requests the client certificate when the connection has been in use: with TLS 1.3 by post-handshake
/// authentication, with TLS 1.2 by renegotiation. An authenticated client stays authenticated for the next
/// request.
fn asked_late(run: &Context) {
    const SIZE: &str = "1000";
    let place = TempDir::new("late").expect("a folder is made");
    let authority = &run.world.authority;
    let client = authority.client("somebody");
    let server = AskingApache::start(&authority.good(), authority, 1000).expect("Apache starts");
    let write =
        |name: &str, text: &str| place.write(name, text).expect("a folder of our own").display().to_string();
    let cert = format!("SSLCERT={}", write("client.pem", &client.cert_pem));
    let key = format!("SSLKEY={}", write("client.key", &client.key_pem));
    let ca = format!("CAINFO={}", run.world.ca());
    let (open, private) = (server.url("/bytes-1000"), server.url("/private/bytes-1000"));
    let fetch = |words: &[&str], urls: &[&str]| {
        let mut command = Command::new(run.world.program("fetch"));
        command.env("CURL_SSL_BACKEND", "openssl").args(["-o", &ca]);
        for word in words {
            command.args(["-o", word]);
        }
        run.run(command.args(urls))
    };
    // Only TLS 1.3, and only 1.2.
    for version in ["SSLVERSION=7", "SSLVERSION=393222"] {
        let known = fetch(&[version, &cert, &key], &[&open, &private, &private, &open]);
        assert_eq!(known.facts("code"), ["0"; 4], "{version}: {known:?}");
        assert_eq!((known.facts("http"), known.facts("bytes")), (vec!["200"; 4], vec![SIZE; 4]), "{version}");
        assert_eq!(known.facts("connects"), ["1", "0", "0", "0"], "{version}: {known:?}");
        let sent = fetch(
            &[version, &cert, &key, "POSTFIELDS=asked for before it is read"],
            &[&server.url("/private/echo")],
        );
        assert_eq!((sent.fact("http"), sent.fact("bytes")), ("200", "27"), "{version}: {sent:?}");
        let nobody = fetch(&[version], &[&open, &private]);
        assert_eq!(nobody.facts("http")[0], "200", "{version}: {nobody:?}");
        assert_ne!(nobody.facts("http")[1], "200", "{version}: {nobody:?}");
    }
}

/// OpenSSL's built-in provider reads files by URI.
// covers: CURLOPT_SSLENGINE, CURLOPT_SSLCERTTYPE, CURLOPT_SSLKEYTYPE
fn provider_keys(run: &Context) {
    let place = TempDir::new("provider").expect("a folder is made");
    let folder = place.path();
    authority(folder);
    client(folder);
    openssl(folder, "pkey -in client.key -aes128 -passout pass:secret -out locked.key");
    let server = asking(folder);
    let rows: [(&str, &str, &[&str]); 7] = [
        (
            "both of a provider",
            "0",
            &[
                "SSLENGINE=default",
                "SSLCERT=client.pem",
                "SSLCERTTYPE=PROV",
                "SSLKEY=client.key",
                "SSLKEYTYPE=prov",
            ],
        ),
        (
            "with properties",
            "0",
            &[
                "SSLENGINE=default:provider=default",
                "SSLCERT=client.pem",
                "SSLKEY=client.key",
                "SSLKEYTYPE=PROV",
            ],
        ),
        (
            "a locked key",
            "0",
            &[
                "SSLENGINE=default",
                "SSLCERT=client.pem",
                "SSLKEY=locked.key",
                "SSLKEYTYPE=PROV",
                "KEYPASSWD=secret",
            ],
        ),
        (
            "a locked key and the wrong word",
            "58",
            &[
                "SSLENGINE=default",
                "SSLCERT=client.pem",
                "SSLKEY=locked.key",
                "SSLKEYTYPE=PROV",
                "KEYPASSWD=other",
            ],
        ),
        ("nothing there", "58", &["SSLENGINE=default", "SSLCERT=none.pem", "SSLCERTTYPE=PROV"]),
        ("no provider", "58", &["SSLCERT=client.pem", "SSLKEY=client.key", "SSLKEYTYPE=PROV"]),
        ("a provider is no engine", "58", &["SSLENGINE=default", "SSLCERT=client.pem", "SSLCERTTYPE=ENG"]),
    ];
    for (what, code, options) in rows {
        let output = fetch(run, folder, &server.url, options);
        assert_eq!(output.fact("code"), code, "{what}: {output:?}");
    }
}
