//! `warmwire_upload` against real servers: the guide's C program, behind a relay that cuts, and killed.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use testkit::body::pattern;
use testkit::certs::Authority;
use testkit::cutter::{Cut, CutPoint, Cutter, Plan, Side};
use testkit::launch::{Ftpd, FtpdKind, S3_SIGNATURE, Sshd, Tusd, Versitygw};

use super::common::library;
use super::guide::upload_program;

const PIECE: usize = 64 << 10;
/// Pieces of a file, beside its last bytes.
const PIECES: usize = 4;
/// A part of an upload to S3.
const PART: usize = 8 << 20;
const SIZE: usize = PIECES * PIECE + 777;
/// Head of a request over HTTP, with its piece of the file.
const HEAD: usize = 400;
/// Keys and login before a file over SFTP.
const LOGIN: usize = 6000;
const PATIENCE: Duration = Duration::from_secs(60);

enum Server {
    Ftp(Ftpd),
    Ssh(Sshd),
    Tus(Tusd),
    S3(Versitygw),
}

/// A server behind a relay.
struct Peer {
    server: Server,
    cutter: Cutter,
    url: String,
    mode: &'static str,
    variables: Vec<(&'static str, String)>,
}

impl Peer {
    fn new(server: Server, port: u16, url: &str, mode: &'static str) -> Peer {
        let cutter = Cutter::open(([127, 0, 0, 1], port).into());
        let url = url.replace(&format!(":{port}/"), &format!(":{}/", cutter.port()));
        Peer { server, cutter, url, mode, variables: Vec::new() }
    }

    fn ftp(kind: FtpdKind) -> Peer {
        let ftp = Ftpd::start(kind, &Authority::new().good(), &[]).unwrap();
        let (port, url) = (ftp.port, ftp.url("/up/f"));
        Peer::new(Server::Ftp(ftp), port, &url, "resume")
    }

    fn s3() -> Peer {
        let s3 = Versitygw::start().unwrap();
        let (port, url) = (s3.port, format!("{}f", s3.url()));
        let (signature, login) = S3_SIGNATURE;
        let variables = vec![("UPLOAD_SIGNATURE", signature.to_owned()), ("UPLOAD_LOGIN", login.to_owned())];
        Peer { variables, ..Peer::new(Server::S3(s3), port, &url, "s3") }
    }

    fn all() -> Vec<Peer> {
        let ftp = Peer::ftp(FtpdKind::Vsftpd);
        let ssh = Sshd::start("").unwrap();
        let (port, url) = (ssh.port, ssh.url("sftp", &ssh.path("f").display().to_string()));
        let key = ssh.path("user_ed25519").display().to_string();
        let ssh = Peer {
            variables: vec![("UPLOAD_KEY", key)],
            ..Peer::new(Server::Ssh(ssh), port, &url, "resume")
        };
        let mut peers = vec![ftp, ssh];
        for mode in ["tus", "ietf"] {
            let tusd = Tusd::start().unwrap();
            let (port, url) = (tusd.port, tusd.url());
            // tusd takes no PUT. By the draft the URL of the upload comes while the first piece is sent, and
            // must not be cut off.
            let variables = match mode {
                "ietf" => vec![("UPLOAD_METHOD", "POST".to_owned()), ("UPLOAD_RATE", "1000000".to_owned())],
                _ => Vec::new(),
            };
            peers.push(Peer { variables, ..Peer::new(Server::Tus(tusd), port, &url, mode) });
        }
        peers.push(Peer::s3());
        peers
    }

    /// Returns the length of a piece after which the upload can continue.
    fn piece(&self) -> usize {
        if matches!(self.server, Server::S3(_)) { PART } else { PIECE }
    }

    fn source(&self) -> Vec<u8> {
        pattern(PIECES * self.piece() + 777)
    }

    /// Returns how many bytes of the client a connection passes until a piece of the file has arrived.
    fn bytes_until_cut(&self) -> usize {
        match self.server {
            Server::Ftp(_) => PIECE,
            Server::Ssh(_) => PIECE + LOGIN,
            Server::Tus(_) => PIECE + HEAD,
            // The question for the parts, and a bit of the next part.
            Server::S3(_) => PART + 4 * HEAD,
        }
    }

    /// Ends each connection after a piece of the file.
    fn cut(&self, cut: Cut) {
        let point = Some(CutPoint { side: Side::Client, after: self.bytes_until_cut(), cut });
        self.cutter.set(match self.server {
            Server::Ftp(_) => Plan { cut: None, data: Some(point) },
            _ => Plan { cut: point, data: None },
        });
    }

    /// Returns whether a piece of the file has passed on the last connection.
    fn has_passed(&self) -> bool {
        let passed = match self.server {
            Server::Ftp(_) => self.cutter.data_passed(),
            Server::Ssh(_) => self.cutter.talk().client.len(),
            Server::Tus(_) | Server::S3(_) => self.cutter.passed(),
        };
        passed >= self.bytes_until_cut()
    }

    /// Asserts that the server has the file, once.
    fn has(&self, body: &[u8]) {
        let (files, parts): (Vec<_>, Vec<_>) = match &self.server {
            Server::Ftp(server) => (vec![server.file("/up/f").unwrap_or_default()], Vec::new()),
            Server::Ssh(server) => (vec![std::fs::read(server.path("f")).unwrap_or_default()], Vec::new()),
            Server::Tus(server) => server.uploads().into_iter().partition(|file| file.len() >= body.len()),
            Server::S3(server) => (server.object("f").into_iter().collect(), Vec::new()),
        };
        assert!(files == [body], "{} {}: {} bytes", self.url, self.mode, files.concat().len());
        // By the draft there may be beginnings whose URL was lost with the connection that it had come on.
        assert!(self.mode == "ietf" || parts.is_empty(), "{}: {} parts", self.mode, parts.len());
    }

    fn upload(&self, program: &Path, folder: &Path) -> Child {
        self.command(program, folder).spawn().unwrap()
    }

    /// Runs the program to its end. Returns its status and its line about the checksum.
    fn verified(&self, program: &Path, folder: &Path) -> (Option<i32>, String) {
        let output = self.command(program, folder).stdout(Stdio::piped()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    }

    fn command(&self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command.args(["f", &self.url, self.mode, "state"]).current_dir(folder);
        command.env("LD_LIBRARY_PATH", library()).envs(self.variables.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }
}

/// Waits for the program's end. Kills it after a piece of the file if `peer` is given, and returns whether it
/// has ended by itself.
fn wait(child: &mut Child, peer: Option<&Peer>) -> bool {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{status}");
            return true;
        }
        if peer.is_some_and(Peer::has_passed) {
            child.kill().unwrap();
            child.wait().unwrap();
            return false;
        }
        if begun.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("the upload takes too long");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn folder(program: &Path, name: &str, body: &[u8]) -> PathBuf {
    let folder = program.parent().unwrap().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("f"), body).unwrap();
    folder
}

#[test]
fn uploads_of_a_c_program_continue_after_cuts_and_kills() {
    let (_scratch, program) = upload_program();
    for peer in Peer::all() {
        let body = peer.source();
        let folder = folder(&program, "cut", &body);
        peer.cut(Cut::Reset);
        wait(&mut peer.upload(&program, &folder), None);
        peer.has(&body);
        assert!(!folder.join("state").exists(), "{}", peer.mode);
    }
    for peer in Peer::all() {
        let body = peer.source();
        let folder = folder(&program, "kill", &body);
        let mut kills = 0;
        loop {
            peer.cut(Cut::Silence);
            if wait(&mut peer.upload(&program, &folder), Some(&peer)) {
                break;
            }
            kills += 1;
            assert!(kills <= 4 * PIECES, "{}: no progress", peer.mode);
        }
        assert!(kills >= PIECES - 2, "{}: {kills} kills", peer.url);
        peer.has(&body);
    }
}

#[test]
fn a_c_program_compares_its_source_with_the_servers_checksum() {
    let (_scratch, program) = upload_program();
    let body = pattern(SIZE);
    for (kind, line) in [(FtpdKind::Vsftpd, "checksum: none\n"), (FtpdKind::Proftpd, "checksum: compared\n")]
    {
        let peer = Peer::ftp(kind);
        let folder = folder(&program, "verify", &body);
        assert_eq!(peer.verified(&program, &folder), (Some(0), line.to_owned()), "{kind:?}");
        peer.has(&body);
    }
    // S3 names the digest of each part, which is compared as it is sent.
    let peer = Peer::s3();
    let source = folder(&program, "s3", &body);
    assert_eq!(peer.verified(&program, &source), (Some(0), "checksum: compared\n".to_owned()));
    // The part is changed at the server after a kill: its size alone would not show it.
    let peer = Peer::ftp(FtpdKind::Proftpd);
    let folder = folder(&program, "changed", &body);
    peer.cut(Cut::Silence);
    assert!(!wait(&mut peer.upload(&program, &folder), Some(&peer)), "killed");
    peer.cutter.set(Plan::default());
    let Server::Ftp(server) = &peer.server else { unreachable!("it is one of FTP") };
    let mut part = server.file("/up/f").unwrap();
    assert!(part.len() > 1000 && body.starts_with(&part));
    part[500] ^= 1;
    server.put("/up/f", &part).unwrap();
    let differs = (Some(33), "checksum: differs\n".to_owned());
    assert_eq!(peer.verified(&program, &folder), differs);
    let again = (Some(0), "checksum: compared\n".to_owned());
    assert_eq!(peer.verified(&program, &folder), again);
    peer.has(&body);
}
