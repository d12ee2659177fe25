//! What the programs of `tests/abi` talk to; each server has a variable of the environment with its URL.

use std::path::Path;

use testkit::body::pattern;
use testkit::certs::Authority;
use testkit::frames::{FramePeer, kind};
use testkit::ftp::FtpServer;
use testkit::http::HttpServer;
use testkit::launch::{Http2Kind, Http2Server};

pub struct Servers {
    http: HttpServer,
    ftp: FtpServer,
    nginx: Http2Server,
    streams: FramePeer,
    ca: String,
}

impl Servers {
    /// The authority's certificate is put into the folder.
    pub fn start(folder: &Path) -> Servers {
        let authority = Authority::new();
        let ca = folder.join("ca.pem");
        std::fs::write(&ca, authority.ca_pem()).unwrap();
        Servers {
            http: HttpServer::plain(),
            ftp: FtpServer::with_file("/dir/file", pattern(2000)),
            nginx: Http2Server::start(Http2Kind::Nginx, &authority.good(), &[1000]).unwrap(),
            streams: streams(),
            ca: ca.display().to_string(),
        }
    }

    pub fn variables(&self) -> [(&'static str, String); 5] {
        [
            ("SERVER", self.http.url("")),
            ("FTP_SERVER", self.ftp.url("")),
            ("NGINX", self.nginx.https("")),
            ("CA", self.ca.clone()),
            ("H2_SERVER", format!("http://127.0.0.1:{}", self.streams.port())),
        ]
    }
}

/// Speaks HTTP/2 in clear. A POST gets 1,000 bytes of a reply that goes on when the connection has brought a GET, and then all
/// such replies end; a GET gets 1,000 bytes.
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
