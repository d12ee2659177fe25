//! The servers for the programs of `tests/abi`; each has an environment variable with its URL.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use testkit::body::pattern;
use testkit::certs::{Authority, Leaf};
use testkit::frames::{FramePeer, kind};
use testkit::ftp::FtpServer;
use testkit::http::HttpServer;
use testkit::launch::{Http2Kind, Http2Server, Sshd};

pub struct Servers {
    http: HttpServer,
    ftp: FtpServer,
    nginx: Http2Server,
    streams: FramePeer,
    /// Asks for a certificate of the client's.
    demanding: HttpServer,
    ssh: Sshd,
    folder: String,
}

impl Servers {
    /// The authority's certificate is put into the folder.
    pub fn start(folder: &Path) -> Servers {
        let authority = Authority::new();
        let ca = folder.join("ca.pem");
        std::fs::write(ca, authority.ca_pem()).unwrap();
        let ssh = Sshd::start("").unwrap();
        lock_keys(folder, &authority.client("me"), &ssh);
        Servers {
            http: HttpServer::plain(),
            ftp: FtpServer::with_file("/dir/file", pattern(2000)),
            nginx: Http2Server::start(Http2Kind::Nginx, &authority.good(), &[1000]).unwrap(),
            streams: streams(),
            demanding: HttpServer::tls(authority.demanding(&authority.good()).unwrap()),
            ssh,
            folder: folder.display().to_string(),
        }
    }

    pub fn variables(&self) -> [(&'static str, String); 10] {
        let file = |name: &str| format!("{}/{name}", self.folder);
        [
            ("SERVER", self.http.url("")),
            ("FTP_SERVER", self.ftp.url("")),
            ("NGINX", self.nginx.https("")),
            ("CA", file("ca.pem")),
            ("CLIENT_CERT", file("me.pem")),
            ("LOCKED_KEY", file("locked.pem")),
            ("LOCKED_SSH_KEY", file("locked_ssh")),
            ("DEMANDING_SERVER", self.demanding.url("/bytes/10")),
            ("SSH_SERVER", self.ssh.url("sftp", &self.ssh.path("file").display().to_string())),
            ("H2_SERVER", format!("http://127.0.0.1:{}", self.streams.port())),
        ]
    }
}

/// Writes the client's certificate and its key, and a key that the SSH server accepts. A passphrase that is
/// not UTF-8 opens both.
fn lock_keys(folder: &Path, client: &Leaf, ssh: &Sshd) {
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
        assert!(command.current_dir(folder).output().unwrap().status.success());
    }
    std::fs::copy(folder.join("locked_ssh.pub"), ssh.path("authorized_keys")).unwrap();
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
