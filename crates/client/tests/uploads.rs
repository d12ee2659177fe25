//! `Client::upload` against real servers, behind a relay that cuts.

use std::time::Duration;

use testkit::body::pattern;
use testkit::certs::Authority;
use testkit::cutter::{Cut, CutPoint, Cutter, Plan, Side};
use testkit::http::{HttpServer, Response};
use testkit::launch::{Ftpd, FtpdKind, S3_SIGNATURE, Sshd, Tusd, Versitygw};
use testkit::temp::TempDir;
use warmwire::blocking::{Client, Upload};
use warmwire::{Code, EasyOption, UploadMode};

const PIECE: usize = 64 << 10;
/// Pieces of a file, beside its last bytes.
const PIECES: usize = 4;
/// A part of an upload to S3.
const PART: usize = 8 << 20;
const SIZE: usize = PIECES * PIECE + 777;

/// Returns whether a server has this file, once.
type Comparison = Box<dyn Fn(&[u8]) -> bool>;

/// A server behind a relay that cuts each connection after a piece of the file.
struct Peer {
    cutter: Cutter,
    url: String,
    mode: UploadMode,
    /// Options of the request.
    options: Vec<(EasyOption, String)>,
    has: Comparison,
}

impl Peer {
    fn new(port: u16, url: &str, mode: UploadMode, has: Comparison) -> Peer {
        let cutter = Cutter::open(([127, 0, 0, 1], port).into());
        let url = url.replace(&format!(":{port}/"), &format!(":{}/", cutter.port()));
        Peer { cutter, url, mode, options: Vec::new(), has }
    }

    fn all() -> Vec<Peer> {
        let ftp = Ftpd::start(FtpdKind::Vsftpd, &Authority::new().good(), &[]).unwrap();
        let (port, url) = (ftp.port, ftp.url("/up/f"));
        let has = move |body: &[u8]| ftp.file("/up/f").is_some_and(|file| file == body);
        let ftp = Peer::new(port, &url, UploadMode::Resume, Box::new(has));
        let ssh = Sshd::start("").unwrap();
        let (port, url) = (ssh.port, ssh.url("sftp", &ssh.path("f").display().to_string()));
        let keys = [("user_ed25519", EasyOption::SshPrivateKeyFile)];
        let options = keys.map(|(name, option)| (option, ssh.path(name).display().to_string())).to_vec();
        let has = move |body: &[u8]| std::fs::read(ssh.path("f")).is_ok_and(|file| file == body);
        let ssh = Peer { options, ..Peer::new(port, &url, UploadMode::Resume, Box::new(has)) };
        let [tus, draft] = [UploadMode::Tus, UploadMode::Draft].map(|mode| {
            let tusd = Tusd::start().unwrap();
            let (port, url) = (tusd.port, tusd.url());
            // By the draft there may be beginnings whose URL was lost with the connection.
            let has = move |body: &[u8]| {
                let files = tusd.uploads();
                files.iter().filter(|file| file.as_slice() == body).count() == 1
                    && (mode == UploadMode::Draft || files.len() == 1)
            };
            Peer::new(port, &url, mode, Box::new(has))
        });
        let s3 = Versitygw::start().unwrap();
        let (port, url) = (s3.port, format!("{}f", s3.url()));
        let (signature, login) = S3_SIGNATURE;
        let options = [(EasyOption::AwsSigV4, signature), (EasyOption::UserPwd, login)];
        let options = options.map(|(option, value)| (option, value.to_owned())).to_vec();
        let has = move |body: &[u8]| {
            s3.object("f").is_some_and(|object| object == body) && s3.incomplete_uploads() == 0
        };
        let s3 = Peer { options, ..Peer::new(port, &url, UploadMode::S3, Box::new(has)) };
        vec![ftp, ssh, tus, draft, s3]
    }

    /// Returns a file of some pieces.
    fn source(&self) -> Vec<u8> {
        pattern(777 + if self.mode == UploadMode::S3 { 2 * PART } else { PIECES * PIECE })
    }

    /// Ends each connection after a piece of the file.
    fn cut(&self) {
        let point = |after| Some(CutPoint { side: Side::Client, after, cut: Cut::Reset });
        self.cutter.set(match &self.url {
            url if url.starts_with("ftp") => Plan { cut: None, data: Some(point(PIECE)) },
            // Keys and login before the file.
            url if url.starts_with("sftp") => Plan { cut: point(PIECE + 6000), data: None },
            // The question for the parts, and a bit of the next part. A request on a connection that has
            // carried others is repeated at once if it is reset.
            _ if self.mode == UploadMode::S3 => {
                let silent = CutPoint { side: Side::Client, after: PART + 1600, cut: Cut::Silence };
                Plan { cut: Some(silent), data: None }
            }
            _ => Plan { cut: point(PIECE + 400), data: None },
        });
    }

    fn upload(&self, client: &Client, folder: &TempDir) -> Upload {
        let upload = client.upload(&self.url).from(folder.path().join("f")).protocol(self.mode);
        let upload = upload.pause(Duration::from_millis(10)).attempts(60).state_in(folder.path());
        let upload = match self.mode {
            // tusd takes no PUT, and the URL of the upload must not be cut off.
            UploadMode::Draft => {
                let slow = upload.option(EasyOption::MaxSendSpeedLarge, 1_000_000);
                slow.method(http::Method::POST)
            }
            UploadMode::S3 => upload.option(EasyOption::LowSpeedLimit, 1).option(EasyOption::LowSpeedTime, 2),
            _ => upload,
        };
        let options = self.options.iter();
        options.fold(upload, |upload, (option, value)| upload.option(*option, value.as_str()))
    }
}

fn folder_with_source(body: &[u8]) -> TempDir {
    let folder = TempDir::new("uploads").unwrap();
    folder.write("f", body).unwrap();
    folder
}

#[test]
fn an_upload_that_is_cut_every_64_kib_is_whole() {
    for peer in Peer::all() {
        let body = peer.source();
        let folder = folder_with_source(&body);
        peer.cut();
        let client = Client::new();
        let uploaded = peer.upload(&client, &folder).send().unwrap_or_else(|e| panic!("{}: {e}", peer.url));
        assert!((peer.has)(&body), "{}", peer.url);
        assert_eq!(uploaded.size(), body.len() as u64);
        let least = if peer.mode == UploadMode::S3 { 3 } else { 4 };
        assert!(uploaded.attempts() >= least, "{}: {}", peer.url, uploaded.attempts());
        assert_eq!(uploaded.is_verified(), peer.mode == UploadMode::S3, "{}", peer.url);
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().collect();
        assert_eq!(left.len(), 1, "{}: the source alone: {left:?}", peer.url);
    }
}

/// As if the process had been killed: a new client continues by what is in the folder.
#[test]
fn an_upload_continues_with_another_client() {
    for peer in Peer::all() {
        let body = peer.source();
        let folder = folder_with_source(&body);
        for left in (0..40).rev() {
            assert!(left > 0, "{}: no progress", peer.url);
            peer.cut();
            match peer.upload(&Client::new(), &folder).attempts(1).send() {
                Ok(uploaded) => {
                    assert!(uploaded.sent() < body.len() as u64, "{}: the rest alone", peer.url);
                    break;
                }
                Err(error) => assert_ne!(error.code(), Code::RangeError, "{}: {error}", peer.url),
            }
        }
        assert!((peer.has)(&body), "{}", peer.url);
    }
}

#[test]
fn an_upload_is_verified_where_the_server_has_a_checksum() {
    for (kind, verified) in [(FtpdKind::Proftpd, true), (FtpdKind::Vsftpd, false)] {
        let server = Ftpd::start(kind, &Authority::new().good(), &[]).unwrap();
        let folder = folder_with_source(&pattern(SIZE));
        let upload = Client::new().upload(server.url("/up/f")).from(folder.path().join("f"));
        let uploaded = upload.send().unwrap();
        assert_eq!((uploaded.is_verified(), uploaded.attempts()), (verified, 1), "{kind:?}");
    }
}

#[test]
fn an_upload_that_is_refused_is_not_tried_again() {
    let server = HttpServer::with(|_| Some(Response::status(403)));
    let folder = folder_with_source(b"content");
    let upload = Client::new().upload(server.url("/files")).from(folder.path().join("f"));
    let error = upload.protocol(UploadMode::Tus).send().unwrap_err();
    assert_eq!((error.code(), server.requests().len()), (Code::HttpReturnedError, 1));
    let plain = Client::new().upload(server.url("/f")).from(folder.path().join("f")).send().unwrap_err();
    assert!(plain.to_string().contains("protocol"), "{plain}");
    let missing =
        Client::new().upload("ftp://127.0.0.1:1/f").from(folder.path().join("g")).send().unwrap_err();
    assert_eq!(missing.code(), Code::ReadError);
}

#[test]
fn an_upload_returns_its_reasons_if_it_was_asked_to_keep_them() {
    let server = Ftpd::start(FtpdKind::Vsftpd, &Authority::new().good(), &[]).unwrap();
    let folder = folder_with_source(b"content");
    let upload = |url: &str| Client::new().upload(url).from(folder.path().join("f"));
    let uploaded = upload(&server.url("/up/f")).explain(true).send().unwrap();
    let why = uploaded.why().expect("explain is set").json();
    assert!(why.contains(&format!("127.0.0.1:{}", server.port)), "{why}");
    assert!(upload(&server.url("/up/f")).send().unwrap().why().is_none());
    let refused = HttpServer::with(|_| Some(Response::status(403)));
    let error = upload(&refused.url("/files")).protocol(UploadMode::Tus).explain(true).send().unwrap_err();
    assert!(error.why().is_some(), "{error}");
}
