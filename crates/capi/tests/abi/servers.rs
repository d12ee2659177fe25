//! The servers for the programs of `tests/abi`; each has an environment variable with its URL.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use testkit::body::pattern;
use testkit::certs::{Authority, Leaf};
use testkit::dns::{self, DnsAnswer, NameServer};
use testkit::frames::{FramePeer, kind};
use testkit::ftp::FtpServer;
use testkit::http::HttpServer;
use testkit::launch::{Http2Kind, Http2Server, Sshd};

pub struct Servers {
    http: HttpServer,
    ftp: FtpServer,
    nginx: io::Result<Http2Server>,
    streams: FramePeer,
    names: NameServer,
    /// Asks for a certificate of the client's.
    demanding: HttpServer,
    ssh: io::Result<Sshd>,
    folder: String,
}

impl Servers {
    /// The authority's certificate is put into the folder.
    pub fn start(folder: &Path) -> Servers {
        let authority = Authority::new();
        let ca = folder.join("ca.pem");
        std::fs::write(ca, authority.ca_pem()).unwrap();
        let ssh =
            Sshd::start("").and_then(|ssh| lock_keys(folder, &authority.client("me"), &ssh).map(|()| ssh));
        Servers {
            http: HttpServer::plain(),
            ftp: FtpServer::with_file("/dir/file", pattern(2000)),
            nginx: Http2Server::start(Http2Kind::Nginx, &authority.good(), &[1000]),
            streams: streams(),
            names: names(),
            demanding: HttpServer::tls(authority.demanding(&authority.good()).unwrap()),
            ssh,
            folder: folder.display().to_string(),
        }
    }

    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let file = |name: &str| format!("{}/{name}", self.folder);
        let mut variables = vec![
            ("SERVER", self.http.url("")),
            ("FTP_SERVER", self.ftp.url("")),
            ("CA", file("ca.pem")),
            ("DEMANDING_SERVER", self.demanding.url("/bytes/10")),
            ("NAME_SERVER", self.names.address().to_string()),
            ("H2_SERVER", format!("http://127.0.0.1:{}", self.streams.port())),
        ];
        if let Ok(nginx) = &self.nginx {
            variables.push((OF_NGINX[0], nginx.https("")));
        }
        if let Ok(ssh) = &self.ssh {
            let url = ssh.url("sftp", &ssh.path("file").display().to_string());
            let values = [url, file("me.pem"), file("locked.pem"), file("locked_ssh")];
            variables.extend(OF_SSH.into_iter().zip(values));
        }
        variables
    }

    /// The variables that have no value because a server or its tools are not installed.
    pub fn missing(&self) -> impl Iterator<Item = &'static str> {
        let of = |lacks: bool, names: &'static [&'static str]| if lacks { names } else { &[] };
        of(self.nginx.is_err(), &OF_NGINX).iter().chain(of(self.ssh.is_err(), &OF_SSH)).copied()
    }

    /// Why variables are missing.
    pub fn reason(&self) -> Option<String> {
        let errors = [self.nginx.as_ref().err(), self.ssh.as_ref().err()];
        errors.into_iter().flatten().map(ToString::to_string).reduce(|one, other| format!("{one}; {other}"))
    }
}

const OF_NGINX: [&str; 1] = ["NGINX"];
const OF_SSH: [&str; 4] = ["SSH_SERVER", "CLIENT_CERT", "LOCKED_KEY", "LOCKED_SSH_KEY"];

/// Writes the client's certificate and its key, and a key that the SSH server accepts. A passphrase that is
/// not UTF-8 opens both.
fn lock_keys(folder: &Path, client: &Leaf, ssh: &Sshd) -> io::Result<()> {
    const PHRASE: &[u8] = b"p\xe9\xff word";
    let write = |name: &str, content: &[u8]| std::fs::write(folder.join(name), content).unwrap();
    write("me.pem", client.cert_pem.as_bytes());
    write("key.pem", client.key_pem.as_bytes());
    write("phrase", PHRASE);
    ssh.write("file", "text").unwrap();
    let mut openssl = Command::new("openssl");
    openssl.args(["pkcs8", "-topk8", "-in", "key.pem", "-out", "locked.pem", "-passout", "file:phrase"]);
    let mut keygen = Command::new("ssh-keygen");
    keygen.args(["-q", "-t", "ed25519", "-f", "locked_ssh", "-N"]).arg(OsStr::from_bytes(PHRASE));
    for command in [&mut openssl, &mut keygen] {
        assert!(command.current_dir(folder).output()?.status.success());
    }
    std::fs::copy(folder.join("locked_ssh.pub"), ssh.path("authorized_keys"))?;
    Ok(())
}

/// Answers with 127.0.0.1: at once, after 10 ms for names that begin with `late`, and after 120 ms for those
/// that begin with `slow`.
fn names() -> NameServer {
    NameServer::start(|query| {
        let answer = match query.kind {
            dns::A => dns::address(dns::A, "127.0.0.1"),
            _ => DnsAnswer::Records(Vec::new()),
        };
        let name = query.name.to_ascii_lowercase();
        let delay = [("late", 10), ("slow", 120)].into_iter().find(|(word, _)| name.starts_with(word));
        match delay {
            Some((_, ms)) => DnsAnswer::Late(Duration::from_millis(ms), Box::new(answer)),
            None => answer,
        }
    })
}

/// Speaks HTTP/2 in clear. A POST gets 1,000 bytes of a reply that continues once the connection has carried
/// a GET, and then all such replies end; a GET gets 1,000 bytes.
fn streams() -> FramePeer {
    FramePeer::start(|talk| {
        talk.greet(&[])?;
        let mut open = Vec::new();
        loop {
            let head = talk.until(|frame| frame.kind == kind::HEADERS)?;
            talk.head(head.stream, &[(":status", "200")], false)?;
            if !head.ends() {
                talk.data(head.stream, &[b'x'; 1000], false)?;
                open.push(head.stream);
                continue;
            }
            for stream in open.drain(..) {
                talk.data(stream, &[b'y'; 30_000], true)?;
            }
            talk.data(head.stream, &[b'x'; 1000], true)?;
        }
    })
}
