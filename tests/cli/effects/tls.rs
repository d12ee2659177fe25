//! Flags about TLS with `openssl s_server -www`, which reports what it saw; each also for an HTTPS proxy.

use super::{Ran, curl_in, write};
use crate::empty_folder;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use testkit::certs::Authority;
use testkit::launch::{Http2Kind, Http2Server};

/// A server that shows a page about the TLS session.
pub struct Judge {
    child: Child,
    address: String,
    folder: PathBuf,
}

impl Judge {
    pub fn start(more: &[&str]) -> Judge {
        let folder = empty_folder();
        let authority = Authority::new();
        let (own, client) = (authority.good(), authority.client("someone"));
        let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        write("ca.pem", authority.ca_pem());
        write("cert.pem", &own.cert_pem);
        write("key.pem", &own.key_pem);
        write("client.pem", &format!("{}{}", client.cert_pem, client.key_pem));
        write("client-cert.pem", &client.cert_pem);
        write("client-key.pem", &client.key_pem);
        Judge::of_folder(folder, more)
    }

    /// With the certificates that lie there.
    pub fn of_folder(folder: PathBuf, more: &[&str]) -> Judge {
        let mut child = Command::new("openssl")
            .args(["s_server", "-accept", "127.0.0.1:0", "-cert", "cert.pem", "-key", "key.pem", "-www"])
            .args(more)
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("tests/packages.txt names openssl");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines
            .find_map(|line| line.unwrap().strip_prefix("ACCEPT ").map(str::to_string))
            .expect("the address on which it listens");
        // Further output must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Judge { child, address, folder }
    }

    pub fn url(&self) -> String {
        format!("https://{}/", self.address)
    }

    pub fn ask(&self, words: &[&str]) -> Ran {
        curl_in(self.folder.clone(), &[words, &[&self.url()]].concat())
    }

    /// The server as an HTTPS proxy: each flag in its `--proxy-` form.
    fn ask_as_proxy(&self, words: &[&str]) -> Ran {
        let words: Vec<String> = words.iter().map(|word| word.replacen("--", "--proxy-", 1)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        curl_in(self.folder.clone(), &[&words[..], &["-x", &self.url(), "http://origin.example/"]].concat())
    }

    /// Returns the pages of both.
    fn pages(&self, words: &[&str]) -> [String; 2] {
        let words = [&["--cacert", "ca.pem"], words].concat();
        [self.ask(&words).text(), self.ask_as_proxy(&words).text()]
    }

    fn codes(&self, words: &[&str]) -> [i32; 2] {
        [self.ask(words).code, self.ask_as_proxy(words).code]
    }
}

impl Drop for Judge {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The value of a line such as `    Cipher    : X`.
fn value<'p>(page: &'p str, name: &str) -> &'p str {
    let line = page.lines().find(|line| line.trim_start().starts_with(name));
    line.and_then(|line| line.split_once(':')).map_or("", |(_, value)| value.trim())
}

pub fn openssl(folder: &Path, line: &str) {
    let done = Command::new("openssl")
        .args(line.split(' '))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(done.unwrap().success(), "{line}");
}

// covers: --ciphers, --tls13-ciphers, --proxy-ciphers, --proxy-tls13-ciphers
#[test]
fn cipher_suites() {
    let judge = Judge::start(&[]);
    for page in judge.pages(&["--tls13-ciphers", "TLS_CHACHA20_POLY1305_SHA256"]) {
        assert_eq!(value(&page, "Cipher  "), "TLS_CHACHA20_POLY1305_SHA256");
    }
    let judge = Judge::start(&["-no_tls1_3"]);
    for page in judge.pages(&["--ciphers", "ECDHE-ECDSA-AES128-GCM-SHA256"]) {
        assert_eq!(value(&page, "Cipher  "), "ECDHE-ECDSA-AES128-GCM-SHA256");
    }
    assert_eq!(judge.codes(&["--cacert", "ca.pem", "--ciphers", "nonsense"]), [59, 59]);
    // A list for versions that are not spoken is not looked at.
    let below = judge.ask(&["--cacert", "ca.pem", "--tls-max", "1.2", "--tls13-ciphers", "nonsense"]);
    assert_eq!(below.code, 0, "{}", below.stderr);
    let judge = Judge::start(&[]);
    let above = judge.ask(&["--cacert", "ca.pem", "--tlsv1.3", "--ciphers", "nonsense"]);
    assert_eq!(above.code, 0, "{}", above.stderr);
}

// covers: --curves, --sigalgs
#[test]
fn groups_and_signatures() {
    let judge = Judge::start(&[]);
    let page = |words: &[&str]| judge.ask(&[&["--cacert", "ca.pem"], words].concat()).text();
    assert_eq!(value(&page(&["--curves", "P-384:X25519"]), "Supported groups"), "secp384r1:x25519");
    let page = page(&["--sigalgs", "ecdsa_secp256r1_sha256"]);
    assert_eq!(value(&page, "Signature Algorithms"), "ECDSA+SHA256");
}

// covers: --tlsv1, --tlsv1.0, --tlsv1.1, --tlsv1.2, --tlsv1.3, --tls-max, --proxy-tlsv1
#[test]
fn versions() {
    let (both, twelve) = (Judge::start(&[]), Judge::start(&["-no_tls1_3"]));
    let page = |judge: &Judge, words: &[&str]| judge.ask(&[&["--cacert", "ca.pem"], words].concat());
    assert_eq!(value(&page(&both, &["--tls-max", "1.2"]).text(), "Protocol"), "TLSv1.2");
    for flag in ["--tlsv1", "--tlsv1.0", "--tlsv1.1", "--tlsv1.2"] {
        assert_eq!(value(&page(&both, &[flag]).text(), "Protocol"), "TLSv1.3", "{flag}");
        assert_eq!(value(&page(&twelve, &[flag]).text(), "Protocol"), "TLSv1.2", "{flag}");
    }
    for (flag, is_reported) in [("--tlsv1.0", true), ("--tlsv1.2", false)] {
        let ran = page(&both, &[flag, "-v"]);
        let line =
            "TLS 1.0 and 1.1 are spoken by OpenSSL alone (CURL_SSL_BACKEND): TLS 1.2 is the least here";
        assert_eq!((ran.code, ran.stderr.contains(line)), (0, is_reported), "{flag}: {}", ran.stderr);
    }
    assert_eq!(value(&page(&both, &["--tlsv1.3"]).text(), "Protocol"), "TLSv1.3");
    assert_eq!(page(&twelve, &["--tlsv1.3"]).code, 35);
    assert_eq!(page(&both, &["--tlsv1.3", "--tls-max", "1.2"]).code, 2);
    let proxied = both.ask_as_proxy(&["--cacert", "ca.pem", "--tlsv1"]).text();
    assert_eq!(value(&proxied, "Protocol"), "TLSv1.3");
}

/// The first flight waits for no file of certificates.
#[test]
fn trust_anchors_are_read_when_the_hello_has_left() {
    let judge = Judge::start(&[]);
    let (ca, url) =
        (judge.folder.join("ca.pem").display().to_string(), format!("https://{}/", judge.address));
    let calls = super::traced("openat,sendto,sendmsg,write,writev", &["--cacert", &ca, "-o", "page", &url]);
    let at = |what: &str| calls.find(what).unwrap_or_else(|| panic!("no {what} in {calls}"));
    // A record of a handshake, as strace shows its first octets.
    assert!(at("\"\\26\\3\\1") < at("/ca.pem\""), "{calls}");
}

// covers: --no-sessionid
#[test]
fn sessions_are_resumed_unless_forbidden() {
    let judge = Judge::start(&["-no_tls1_3"]);
    let url = format!("https://{}/", judge.address);
    let resumed = |words: &[&str]| {
        let page = judge.ask(&[words, &["--cacert", "ca.pem", "-o", "first", &url]].concat()).text();
        page.contains("\nReused, TLSv1.2")
    };
    assert!(resumed(&[]));
    assert!(!resumed(&["--no-sessionid"]));
}

// covers: --cert, --key, --cert-type, --key-type, --pass, --proxy-cert, --proxy-key, --proxy-cert-type,
// --proxy-key-type
// covers: --proxy-pass
#[test]
fn certificates_of_the_client() {
    let judge = Judge::start(&["-Verify", "1", "-CAfile", "ca.pem"]);
    assert_ne!(judge.codes(&["--cacert", "ca.pem"]), [0, 0]);
    for page in judge.pages(&["--cert", "client.pem"]) {
        assert!(page.contains("CN = someone") || page.contains("CN=someone"), "{page}");
    }
    let parted =
        ["--cert", "client-cert.pem", "--cert-type", "PEM", "--key", "client-key.pem", "--key-type", "PEM"];
    for page in judge.pages(&parted) {
        assert!(page.contains("someone"), "{page}");
    }
    let openssl = |line: &str| openssl(&judge.folder, line);
    openssl("x509 -in client-cert.pem -outform DER -out client.der");
    openssl("pkey -in client-key.pem -outform DER -out key.der");
    let binary = ["--cert", "client.der", "--cert-type", "DER", "--key", "key.der", "--key-type", "DER"];
    for page in judge.pages(&binary) {
        assert!(page.contains("someone"), "{page}");
    }
    openssl("pkcs8 -topk8 -in client-key.pem -out locked.pem -passout pass:open");
    let locked = ["--cert", "client-cert.pem", "--key", "locked.pem", "--pass"];
    for page in judge.pages(&[&locked[..], &["open"]].concat()) {
        assert!(page.contains("someone"), "{page}");
    }
    let wrong = [&["--cacert", "ca.pem"], &locked[..], &["shut"]].concat();
    assert_eq!(judge.codes(&wrong), [43, 43], "a key that can't be read, since curl 8");
    assert_eq!(
        judge.codes(&["--cacert", "ca.pem", "--cert", "client.pem", "--cert-type", "nonsense"]),
        [43, 43]
    );
}

// covers: --cacert, --capath, --insecure, --proxy-cacert, --proxy-capath, --proxy-insecure
#[test]
fn trust_flags_select_the_accepted_issuers() {
    let judge = Judge::start(&[]);
    assert_eq!(judge.codes(&[]), [60, 60]);
    assert_eq!(judge.codes(&["--cacert", "ca.pem"]), [0, 0]);
    assert_eq!(judge.codes(&["--insecure"]), [0, 0]);
    assert_eq!(judge.codes(&["--cacert", "missing.pem"]), [2, 2], "reported before a request is sent");
    super::write(&judge.folder, "empty.pem", "");
    assert_eq!(judge.codes(&["--cacert", "empty.pem"]), [77, 77]);
    let hashed = judge.folder.join("hashed");
    std::fs::create_dir(&hashed).unwrap();
    std::fs::copy(judge.folder.join("ca.pem"), hashed.join("ca.pem")).unwrap();
    assert!(Command::new("openssl").arg("rehash").arg(&hashed).status().unwrap().success());
    assert_eq!(judge.codes(&["--capath", "hashed"]), [0, 0]);
}

// covers: --pinnedpubkey, --proxy-pinnedpubkey
#[test]
fn pinned_keys() {
    let judge = Judge::start(&[]);
    let script = "openssl x509 -in cert.pem -pubkey -noout >pub.pem; openssl pkey -pubin -in pub.pem -outform DER | \
                  openssl dgst -sha256 -binary | openssl base64";
    let out = Command::new("sh").args(["-c", script]).current_dir(&judge.folder).output().unwrap();
    let pin = format!("sha256//{}", String::from_utf8(out.stdout).unwrap().trim());
    let other = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    assert_eq!(judge.codes(&["--insecure", "--pinnedpubkey", &pin]), [0, 0]);
    assert_eq!(judge.codes(&["--insecure", "--pinnedpubkey", "pub.pem"]), [0, 0]);
    assert_eq!(judge.codes(&["--insecure", "--pinnedpubkey", &format!("{other};{pin}")]), [0, 0]);
    assert_eq!(judge.codes(&["--insecure", "--pinnedpubkey", other]), [90, 90]);
}

// covers: --crlfile, --proxy-crlfile
#[test]
fn revoked_certificates() {
    let judge = Judge::start(&[]);
    assert_eq!(judge.codes(&["--cacert", "ca.pem", "--crlfile", "missing.pem"]), [2, 2]);
    super::write(&judge.folder, "empty.pem", "");
    assert_eq!(judge.codes(&["--cacert", "ca.pem", "--crlfile", "empty.pem"]), [82, 82]);
}

// covers: --cert-status
#[test]
fn stapled_answers() {
    let folder = empty_folder();
    openssl(&folder, "req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -subj /CN=root -days 2");
    openssl(&folder, "req -new -newkey rsa:2048 -nodes -keyout key.pem -out leaf.csr -subj /CN=leaf");
    write(&folder, "names", "subjectAltName=IP:127.0.0.1\n");
    openssl(
        &folder,
        "x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -set_serial 5 -days 2 -extfile names -out cert.pem",
    );
    openssl(&folder, "ocsp -issuer ca.pem -cert cert.pem -no_nonce -reqout asked.der");
    let answered = |index: &str| {
        write(&folder, "index", index);
        let line =
            "ocsp -index index -CA ca.pem -reqin asked.der -respout answer.der -ndays 1 -rsigner ca.pem";
        openssl(&folder, &format!("{line} -rkey ca.key"));
        let judge = Judge::of_folder(folder.clone(), &["-status_file", "answer.der"]);
        judge.ask(&["--cacert", "ca.pem", "--cert-status"])
    };
    assert_eq!(answered("V\t400101000000Z\t\t05\tunknown\t/CN=leaf\n").code, 0);
    let revoked = answered("R\t400101000000Z\t250101000000Z,keyCompromise\t05\tunknown\t/CN=leaf\n");
    assert_eq!(revoked.code, 91);
    assert!(revoked.stderr.contains("keyCompromise"), "{}", revoked.stderr);
    let silent = Judge::of_folder(folder.clone(), &[]);
    assert_eq!(silent.ask(&["--cacert", "ca.pem"]).code, 0);
    assert_eq!(silent.ask(&["--cacert", "ca.pem", "--cert-status"]).code, 91);
}

/// An FTP server with AUTH TLS and CCC that says who ended TLS, and the first command in clear.
const CLEARED: &str = r#"
import socket, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
for _ in range(2):
    plain = listener.accept()[0]
    plain.settimeout(5)
    plain.sendall(b"220 ready\r\n")
    assert plain.recv(99).startswith(b"AUTH ")
    plain.sendall(b"234 go on\r\n")
    secure = context.wrap_socket(plain, server_side=True, suppress_ragged_eofs=False)
    while not (line := secure.recv(99)).startswith(b"CCC"):
        secure.sendall(b"331 more\r\n" if line.startswith(b"USER") else b"200 fine\r\n")
    secure.sendall(b"200 in clear\r\n")
    secure.settimeout(1)
    try:
        ended = "client" if secure.recv(99) == b"" else "nobody"
    except TimeoutError:
        ended = "server"
    secure.settimeout(5)
    plain = secure.unwrap()
    print(ended, plain.recv(99).decode().strip(), flush=True)
    plain.sendall(b"421 enough\r\n")
    plain.close()
"#;

// covers: --ftp-ssl-ccc, --ftp-ssl-ccc-mode
#[test]
fn ccc_modes_choose_which_side_ends_tls() {
    let folder = empty_folder();
    let authority = Authority::new();
    let own = authority.good();
    for (name, text) in
        [("ca.pem", authority.ca_pem()), ("cert.pem", &own.cert_pem), ("key.pem", &own.key_pem)]
    {
        write(&folder, name, text);
    }
    let mut server = Command::new("python3")
        .args(["-c", CLEARED])
        .current_dir(&folder)
        .stdout(Stdio::piped())
        .spawn()
        .expect("tests/packages.txt names python3");
    let mut printed = BufReader::new(server.stdout.take().unwrap()).lines().map(Result::unwrap);
    let url = format!("ftp://127.0.0.1:{}/", printed.next().unwrap());
    for (flag, expected) in
        [(&["--ftp-ssl-ccc"][..], "server PWD"), (&["--ftp-ssl-ccc-mode", "active"], "client PWD")]
    {
        curl_in(folder.clone(), &[&["--ssl-reqd", "--cacert", "ca.pem"], flag, &[&url]].concat());
        assert_eq!(printed.next().as_deref(), Some(expected), "{flag:?}");
    }
    server.wait().unwrap();
}

// covers: --no-alpn
#[test]
fn no_alpn_offers_no_protocol() {
    let judge = Judge::start(&["-alpn", "http/1.1"]);
    let stderr_of = |words: &[&str]| judge.ask(&[&["--cacert", "ca.pem", "-v"], words].concat()).stderr;
    assert!(stderr_of(&[]).contains("ALPN: server accepted http/1.1"), "{}", stderr_of(&[]));
    assert!(!stderr_of(&["--no-alpn"]).contains("ALPN: server accepted"));
}

// covers: --ssl-allow-beast, --ssl-auto-client-cert, --ssl-no-revoke, --ssl-revoke-best-effort, --ca-native
// covers: --proxy-ssl-allow-beast, --proxy-ssl-auto-client-cert, --proxy-ca-native
#[test]
fn flags_for_other_tls_libraries_change_nothing() {
    let judge = Judge::start(&[]);
    for flag in ["--ssl-allow-beast", "--ssl-auto-client-cert", "--ca-native"] {
        assert_eq!(judge.codes(&["--cacert", "ca.pem", flag]), [0, 0], "{flag}");
        assert_eq!(judge.codes(&[flag]), [60, 60], "{flag}");
    }
    for flag in ["--ssl-no-revoke", "--ssl-revoke-best-effort"] {
        assert_eq!(judge.ask(&["--cacert", "ca.pem", flag]).code, 0, "{flag}");
        assert_eq!(judge.ask(&[flag]).code, 60, "{flag}");
    }
}

/// The page shows whether a session was resumed: one from a file of another process is, under the same rules.
// covers: --ssl-sessions
#[test]
fn sessions_outlive_the_process() {
    let judge = Judge::start(&[]);
    let kept = judge.folder.join("sessions");
    let words = ["--cacert", "ca.pem", "--ssl-sessions", "sessions"];
    for (version, which) in [("--tlsv1.3", "TLSv1.3"), ("--tls-max", "TLSv1.2")] {
        let _ = std::fs::remove_file(&kept);
        let version = if version == "--tls-max" { vec![version, "1.2"] } else { vec![version] };
        let ask = |more: &[&str]| judge.ask(&[&words[..], &version, more].concat());
        let first = ask(&["-v"]);
        assert!(first.text().contains(&format!("New, {which}")), "{which}");
        let text = std::fs::read_to_string(&kept).unwrap();
        assert!(text.lines().any(|line| line.contains(':') && !line.starts_with('#')), "{text}");
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&kept).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
        // The server confirms the resumption; sessions received meanwhile serve the next transfer.
        for _ in 0..3 {
            assert!(ask(&[]).text().contains(&format!("Reused, {which}")), "{which}");
        }
        assert!(ask(&["-k"]).text().contains(&format!("New, {which}")), "{which}: other rules");
        assert!(ask(&["--no-sessionid"]).text().contains(&format!("New, {which}")), "{which}");
    }
    // Invalid lines are skipped.
    write(&judge.folder, "sessions", "# a remark\n\nword\n!!:!!\nAAAA:AAAA\n");
    let ran = judge.ask(&[&["--no-silent"], &words[..]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for message in
        ["unrecognized line 3", "unrecognized line 4", "import of session from line 5 rejected(43)"]
    {
        assert!(ran.stderr.contains(message), "{message}: {}", ran.stderr);
    }
}

// covers: --engine
#[test]
fn engines_are_chosen_by_name() {
    let judge = Judge::start(&["-Verify", "1"]);
    let listed = judge.ask(&["--engine", "list"]).text();
    assert!(listed.starts_with("Build-time engines:\n  ") && listed.contains("\n  dynamic\n"), "{listed}");
    let ran = judge.ask(&["--engine", "nobody"]);
    assert_eq!((ran.code, &*ran.stderr), (53, "curl: (53) SSL crypto engine not found\n"));
    let words =
        ["--cacert", "ca.pem", "--cert", "client-cert.pem", "--key", "client-key.pem", "--key-type", "PROV"];
    assert_eq!(judge.ask(&words).code, 58, "no provider is named");
    let by_provider =
        |words: &[&str]| curl_in(judge.folder.clone(), &[&["--engine", "default"], words].concat()).text();
    let url = format!("https://{}/", judge.address);
    let page = by_provider(&[&words[..], &[&url]].concat());
    assert!(page.contains("CN = someone") || page.contains("CN=someone"), "{page}");
    let words = words.map(|word| word.replacen("--", "--proxy-", 1));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let page = by_provider(&[&words[..], &["-x", &url, "http://origin.example/"]].concat());
    assert!(page.contains("CN = someone") || page.contains("CN=someone"), "{page}");
}

/// With nginx: a resumed session's request is sent with the hello, in HTTP/1.1 and in HTTP/2, as much of it
/// as the server accepts (16 KB); a server with other keys refuses it, and gets it afterwards.
// covers: --tls-earlydata
#[test]
fn early_data() {
    let authority = Authority::new();
    let start = || Http2Server::start(Http2Kind::Nginx, &authority.good(), &[10]).unwrap();
    let (here, there) = (start(), start());
    let port = |url: &str| url.rsplit(':').next().unwrap().trim_end_matches('/').to_owned();
    let elsewhere = format!("localhost:{}:localhost:{}", port(&here.https("")), port(&there.https("")));
    let folder = empty_folder();
    let body = "0123456789".repeat(10_000);
    std::fs::write(folder.join("ca.pem"), authority.ca_pem()).unwrap();
    std::fs::write(folder.join("body"), &body).unwrap();
    for version in ["--http1.1", "--http2"] {
        let url = here.https("/up");
        let format = "%{num_connects} %{tls_earlydata} %{ssl_verify_result}\\n";
        // Each on its own connection, separated by some socket option.
        let words = [
            &["--tls-earlydata", "--keepalive-time", "51"][..],
            &["--tls-earlydata", "--keepalive-time", "52", "-v"],
            &["--tls-earlydata", "--keepalive-time", "53", "-T", "body"],
            &["--tls-earlydata", "--keepalive-time", "54", "-T", "body", "--connect-to", &elsewhere],
            &["--keepalive-time", "55"],
        ]
        .map(|own| {
            [&["-s", "--cacert", "ca.pem", "-o", "out", "-w", format, version], own, &[&url]].concat()
        });
        let words = words.join(&"--next");
        let before = here.origin.requests().len();
        let ran = curl_in(folder.clone(), &words);
        let early: Vec<i64> = ran
            .stdout
            .lines()
            .map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
                ["1", early, "0"] => early.parse().unwrap(),
                _ => panic!("{version}: {}\n{}", ran.stdout, ran.stderr),
            })
            .collect();
        let [first, second, upload, refused, without] = early[..] else { panic!("{early:?} {}", ran.stderr) };
        assert_eq!((first, without), (0, 0));
        assert!((50..1000).contains(&second), "{second}");
        assert_eq!((upload, refused), (16384, -16384), "{}", ran.stderr);
        let shown = format!("Server accepted {second} bytes of TLS early data.");
        assert!(
            ran.stderr.contains(&shown) && ran.stderr.contains("SSL connection using TLSv1.3"),
            "{}",
            ran.stderr
        );
        let whole = |server: &Http2Server, from: usize| {
            let bodies: Vec<_> =
                server.origin.requests().split_off(from).iter().map(|r| r.body.len()).collect();
            assert_eq!(bodies.iter().filter(|length| **length == body.len()).count(), 1, "{bodies:?}");
        };
        whole(&here, before);
        whole(&there, there.origin.requests().len() - 1);
    }
}

/// The server must prove its identity, although the request has been sent: an impostor's reply is refused.
// covers: --tls-earlydata
#[test]
fn early_data_with_an_impostor() {
    let start =
        |authority: &Authority| Http2Server::start(Http2Kind::Nginx, &authority.good(), &[10]).unwrap();
    let authority = Authority::new();
    let (here, impostor) = (start(&authority), start(&Authority::new()));
    let port = |url: &str| url.rsplit(':').next().unwrap().to_owned();
    let elsewhere = format!("localhost:{}:localhost:{}", port(&here.https("")), port(&impostor.https("")));
    let folder = empty_folder();
    std::fs::write(folder.join("ca.pem"), authority.ca_pem()).unwrap();
    let url = here.https("/bytes-10");
    for version in ["--http1.1", "--http2"] {
        let format = "%{exitcode} %{ssl_verify_result}\\n";
        let words = [version, "--tls-earlydata", "--cacert", "ca.pem", "-v", "-w", format, "-o"];
        let first = [&words[..], &["one", &url, "--next"]].concat();
        let second = [&words[..], &["two", "--connect-to", &elsewhere, &url]];
        let ran = curl_in(folder.clone(), &[&first[..], &second.concat()].concat());
        assert_eq!((ran.code, &*ran.stdout), (60, "0 0\n60 20\n"), "{}", ran.stderr);
        assert!(ran.stderr.contains("of early data, reusing ALPN"), "{}", ran.stderr);
        assert!(!folder.join("two").exists());
        assert_eq!(impostor.origin.requests().len(), 0);
    }
}
