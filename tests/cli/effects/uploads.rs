//! `--retry-resume` on uploads: real servers behind a relay that cuts, and commands that are killed.

use super::{Ran, clean, curl_in, empty_folder, tool};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use testkit::body::pattern;
use testkit::certs::Authority;
use testkit::cutter::{Cut, CutPoint, Cutter, Plan, Side};
use testkit::ftp::{Faults, FtpServer, RestartedUploads};
use testkit::launch::{Ftpd, FtpdKind, Sshd};

const PIECE: usize = 64 << 10;
/// The last piece is shorter than the others.
const SIZE: usize = 6 * PIECE + 777;
const PATIENCE: Duration = Duration::from_secs(60);

enum Server {
    Ftp(Ftpd),
    Ssh(Sshd),
}

/// A server behind a relay.
struct Peer {
    server: Server,
    cutter: Cutter,
    /// Flags and URL.
    words: Vec<String>,
}

impl Peer {
    fn ftp(kind: FtpdKind) -> Peer {
        let server = Ftpd::start(kind, &Authority::new().good(), &[]).unwrap();
        let cutter = Cutter::open(([127, 0, 0, 1], server.port).into());
        let url = server.url("/up/f").replace(&format!(":{}", server.port), &format!(":{}", cutter.port()));
        let words = if kind == FtpdKind::ProftpdSftp { vec!["-k".to_owned(), url] } else { vec![url] };
        Peer { server: Server::Ftp(server), cutter, words }
    }

    fn sftp() -> Peer {
        let server = Sshd::start("").unwrap();
        let cutter = Cutter::open(([127, 0, 0, 1], server.port).into());
        let url = server.url("sftp", &server.path("f").display().to_string());
        let url = url.replace(&format!(":{}/", server.port), &format!(":{}/", cutter.port()));
        let key = server.path("user_ed25519").display().to_string();
        let words = ["-k", "--key", &key, &url].map(str::to_owned).to_vec();
        Peer { server: Server::Ssh(server), cutter, words }
    }

    fn all() -> Vec<Peer> {
        FtpdKind::ALL.map(Peer::ftp).into_iter().chain([Peer::sftp()]).collect()
    }

    /// Ends each connection that carries a file after so many bytes of it, about so for SFTP.
    fn cut_at(&self, after: usize, cut: Cut) {
        let point = |after| Some(CutPoint { side: Side::Client, after, cut });
        self.cutter.set(match self.server {
            Server::Ftp(_) if !self.is_ssh() => Plan { cut: None, data: Some(point(after)) },
            // Keys and login before the file.
            _ => Plan { cut: point(after + 6000), data: None },
        });
    }

    fn pass_all(&self) {
        self.cutter.set(Plan::default());
    }

    /// Returns how many bytes of a connection that carries a file have passed.
    fn passed(&self) -> usize {
        match self.server {
            Server::Ftp(_) if !self.is_ssh() => self.cutter.data_passed(),
            _ => self.cutter.talk().client.len().saturating_sub(6000),
        }
    }

    fn file(&self) -> Vec<u8> {
        match &self.server {
            Server::Ftp(server) => server.file("/up/f"),
            Server::Ssh(server) => fs::read(server.path("f")).ok(),
        }
        .unwrap_or_default()
    }

    fn put(&self, content: &[u8]) {
        match &self.server {
            Server::Ftp(server) => server.put("/up/f", content).unwrap(),
            Server::Ssh(server) => drop(server.write("f", content).unwrap()),
        }
    }

    fn words<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let words = self.words.iter().map(String::as_str);
        more.iter().copied().chain(words).collect()
    }

    fn is_ssh(&self) -> bool {
        self.name().starts_with("sftp:")
    }

    fn name(&self) -> &str {
        self.words.last().unwrap()
    }
}

const UPLOAD: [&str; 3] = ["--retry-resume", "-T", "f"];

fn folder_with_source(content: &[u8]) -> PathBuf {
    let folder = empty_folder();
    fs::write(folder.join("f"), content).unwrap();
    folder
}

/// Runs the tool with a folder of states below its own.
fn upload(folder: &Path, words: &[&str]) -> Ran {
    let home = folder.join("state").display().to_string();
    let mut command = Command::new("env");
    command.arg(format!("XDG_STATE_HOME={home}")).arg(tool()).arg("-sS").args(words);
    super::ran(&mut command, folder.to_owned())
}

fn started(folder: &Path, words: &[&str]) -> Child {
    let mut command = Command::new(tool());
    clean(&mut command).arg("-sS").args(words).env("XDG_STATE_HOME", folder.join("state"));
    command.current_dir(folder).stdin(Stdio::null()).spawn().unwrap()
}

fn states(folder: &Path) -> Vec<String> {
    let listed = fs::read_dir(folder.join("state/warmwire/uploads")).into_iter().flatten().flatten();
    listed.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

#[test]
fn an_upload_that_is_cut_every_64_kib_is_whole() {
    let body = pattern(SIZE);
    for peer in Peer::all() {
        peer.cut_at(PIECE, Cut::Reset);
        let retries = ["--retry", "40", "--retry-delay", "0.01"];
        let folder = folder_with_source(&body);
        let ran = upload(&folder, &peer.words(&[&UPLOAD[..], &retries].concat()));
        assert_eq!(ran.code, 0, "{}: {}", peer.name(), ran.stderr);
        assert!(peer.file() == body, "{}: {}", peer.name(), ran.stderr);
        let cuts = ran.stderr.matches("curl: (").count();
        assert!(cuts >= SIZE / PIECE - 2, "{}: {cuts} cuts", peer.name());
        assert!(states(&folder).is_empty(), "{:?}", states(&folder));
    }
}

#[test]
fn a_command_that_is_killed_every_64_kib_is_started_again() {
    let body = pattern(SIZE);
    for peer in Peer::all() {
        // An older file there is no part of this one.
        peer.put(&vec![b'x'; 5 * PIECE]);
        let folder = folder_with_source(&body);
        let mut kills = 0;
        loop {
            peer.cut_at(PIECE, Cut::Silence);
            let mut child = started(&folder, &peer.words(&UPLOAD));
            let begun = Instant::now();
            let ended = loop {
                if let Some(status) = child.try_wait().unwrap() {
                    break Some(status);
                }
                if peer.passed() >= PIECE {
                    child.kill().unwrap();
                    child.wait().unwrap();
                    break None;
                }
                assert!(begun.elapsed() < PATIENCE, "{}: after {kills} kills", peer.name());
                std::thread::sleep(Duration::from_millis(5));
            };
            // With all of the file in this machine's send buffer, the server may have ended before the kill.
            if ended.is_some_and(|status| status.success()) {
                break;
            }
            kills += 1;
            assert!(kills <= 2 * SIZE / PIECE, "{}: no progress", peer.name());
        }
        // Over SFTP a little more of the file may pass.
        assert!(kills >= SIZE / PIECE - 2, "{}: {kills} kills", peer.name());
        assert!(peer.file() == body, "{}", peer.name());
        assert!(states(&folder).is_empty(), "{:?}", states(&folder));
    }
}

/// ProFTPD has HASH, and check-file over SFTP; vsftpd and OpenSSH have no checksum, and a note says so.
#[test]
fn the_servers_checksum_is_compared_at_the_end() {
    let body = pattern(SIZE);
    for (kind, note) in [
        (FtpdKind::Proftpd, "The server's SHA-256 of the upload is that of the source"),
        (FtpdKind::ProftpdSftp, "The server's SHA-256 of the upload is that of the source"),
        (FtpdKind::Vsftpd, "The server has no checksum of the upload; its size was compared"),
    ] {
        let peer = Peer::ftp(kind);
        peer.cut_at(PIECE, Cut::Reset);
        let folder = folder_with_source(&body);
        let retries = ["-v", "--no-silent", "--retry", "40", "--retry-delay", "0.01"];
        let ran = upload(&folder, &peer.words(&[&UPLOAD[..], &retries].concat()));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let notes: Vec<&str> = ran.stderr.lines().filter_map(|line| line.strip_prefix("Note: ")).collect();
        assert!(notes.join(" ").contains(note), "{}", ran.stderr);
    }
    let peer = Peer::sftp();
    let folder = folder_with_source(&body);
    let ran = upload(&folder, &peer.words(&[&UPLOAD[..], &["-v", "--no-silent"]].concat()));
    assert!(ran.code == 0 && ran.stderr.contains("The server has no checksum"), "{}", ran.stderr);
}

#[test]
fn a_part_that_was_changed_at_the_server_is_found_by_its_checksum() {
    let body = pattern(SIZE);
    for peer in [FtpdKind::Proftpd, FtpdKind::ProftpdSftp].map(Peer::ftp) {
        changed_part(&peer, &body);
    }
}

fn changed_part(peer: &Peer, body: &[u8]) {
    let folder = folder_with_source(body);
    kill_one(peer, &folder);
    let mut part = peer.file();
    assert!(part.len() > 1000 && body.starts_with(&part));
    part[500] ^= 1;
    peer.put(&part);
    let ran = upload(&folder, &peer.words(&UPLOAD));
    assert_eq!(ran.code, 33, "{}", ran.stderr);
    let text = "curl: (33) The server's file differs from the source: its SHA-256 is ";
    assert!(ran.stderr.contains(text), "{}", ran.stderr);
    assert_eq!(peer.file().len(), SIZE);
    assert!(states(&folder).is_empty(), "no part is continued from it");
    let ran = upload(&folder, &peer.words(&UPLOAD));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(peer.file() == body);
}

/// Kills a command after its first piece, and waits until the server has written what it received.
fn kill_one(peer: &Peer, folder: &Path) {
    peer.cut_at(PIECE, Cut::Silence);
    let mut child = started(folder, &peer.words(&UPLOAD));
    let begun = Instant::now();
    while peer.passed() < PIECE {
        assert!(begun.elapsed() < PATIENCE && child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    peer.pass_all();
    let mut size = 0;
    while size == 0 || peer.file().len() != size {
        assert!(begun.elapsed() < PATIENCE, "{}: {size} bytes", peer.name());
        size = peer.file().len();
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_source_that_has_changed_is_sent_from_its_start() {
    let other = |length| pattern(length).iter().map(|octet| octet ^ 0xff).collect::<Vec<u8>>();
    for peer in [Peer::ftp(FtpdKind::Vsftpd), Peer::sftp()] {
        for length in [SIZE, SIZE - 100, PIECE / 2] {
            let folder = folder_with_source(&pattern(SIZE));
            kill_one(&peer, &folder);
            assert_eq!(states(&folder).len(), 2, "the record, and the lock of the killed command");
            fs::write(folder.join("f"), other(length)).unwrap();
            let ran = upload(&folder, &peer.words(&UPLOAD));
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            assert!(peer.file() == other(length), "{} {length}", peer.name());
        }
    }
}

#[test]
fn a_file_at_the_server_that_is_no_part_of_the_source_is_an_error_once() {
    let body = pattern(SIZE);
    for peer in [Peer::ftp(FtpdKind::Vsftpd), Peer::sftp()] {
        let folder = folder_with_source(&body);
        kill_one(&peer, &folder);
        peer.put(&vec![b'x'; SIZE + 1]);
        let ran = upload(&folder, &peer.words(&UPLOAD));
        let text = format!(
            "curl: (33) The server has {} bytes and the source {SIZE}: it is another file\n",
            SIZE + 1
        );
        assert_eq!((ran.code, ran.stderr.ends_with(&text)), (33, true), "{}", ran.stderr);
        assert_eq!(peer.file().len(), SIZE + 1, "it is as it was");
        let ran = upload(&folder, &peer.words(&UPLOAD));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(peer.file() == body, "{}", peer.name());
    }
}

#[test]
fn a_part_that_is_gone_is_sent_again_and_a_complete_one_is_not() {
    let body = pattern(SIZE);
    for peer in [Peer::ftp(FtpdKind::Vsftpd), Peer::sftp()] {
        let folder = folder_with_source(&body);
        kill_one(&peer, &folder);
        match &peer.server {
            Server::Ftp(server) => server.remove("/up/f").unwrap(),
            Server::Ssh(server) => fs::remove_file(server.path("f")).unwrap(),
        }
        assert_eq!(upload(&folder, &peer.words(&UPLOAD)).code, 0);
        assert!(peer.file() == body, "{}", peer.name());
        // As if the command had been killed after the last byte.
        kill_one(&peer, &folder);
        peer.put(&body);
        let ran = upload(
            &folder,
            &peer.words(&["-w", "%{size_upload}"].iter().chain(&UPLOAD).copied().collect::<Vec<_>>()),
        );
        assert_eq!((ran.code, &*ran.stdout), (0, "0"), "{}", ran.stderr);
    }
}

/// The state is bound to source and URL, private, and used by one command at a time.
#[test]
fn a_second_command_with_the_same_upload_is_refused_and_another_is_not() {
    use std::os::unix::fs::PermissionsExt;
    let peer = Peer::ftp(FtpdKind::Vsftpd);
    let body = pattern(SIZE);
    let folder = folder_with_source(&body);
    peer.cut_at(PIECE, Cut::Silence);
    let mut first = started(&folder, &peer.words(&UPLOAD));
    let begun = Instant::now();
    while peer.passed() < PIECE {
        assert!(begun.elapsed() < PATIENCE && first.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(5));
    }
    for name in states(&folder) {
        let mode = fs::metadata(folder.join("state/warmwire/uploads").join(&name)).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600, "{name}");
    }
    let ran = upload(&folder, &peer.words(&UPLOAD));
    let text = "curl: f is being uploaded to this URL by another process\n\
                curl: (25) Upload failed (at start/before it took off)\n";
    assert_eq!((ran.code, &*ran.stderr), (25, text));
    fs::write(folder.join("g"), &body[..1000]).unwrap();
    let ran = upload(&folder, &["--retry-resume", "-T", "g", &peer.name().replace("/up/f", "/up/g")]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    first.kill().unwrap();
    first.wait().unwrap();
    peer.pass_all();
    assert_eq!(upload(&folder, &peer.words(&UPLOAD)).code, 0);
    assert!(peer.file() == body);
}

/// Without a folder for states the upload works, and ends with its command.
#[test]
fn a_user_without_a_home_uploads_all_the_same() {
    let peer = Peer::ftp(FtpdKind::Vsftpd);
    let folder = folder_with_source(&pattern(SIZE));
    peer.cut_at(PIECE, Cut::Reset);
    let retries = ["--retry", "40", "--retry-delay", "0.01"];
    let ran = curl_in(folder, &peer.words(&[&UPLOAD[..], &retries].concat()));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(peer.file() == pattern(SIZE));
}

/// A server that refuses to begin at an offset (ProFTPD without AllowStoreRestart), or begins anew without a
/// word, gets the whole file in the end.
#[test]
fn a_server_that_continues_no_upload_gets_all_of_it() {
    let body = pattern(SIZE);
    for (treatment, code) in [(RestartedUploads::Refused, 31), (RestartedUploads::Ignored, 0)] {
        let faults = Faults { restarted_uploads: treatment, ..Faults::default() };
        let server = FtpServer::with_faults("/other", "", faults);
        let cutter = Cutter::open(server.address());
        let cut = Some(CutPoint { side: Side::Client, after: PIECE, cut: Cut::Finish });
        cutter.set(Plan { cut: None, data: Some(cut) });
        let url = format!("ftp://127.0.0.1:{}/f", cutter.port());
        let folder = folder_with_source(&body);
        let ran = upload(&folder, &["--retry-resume", "-T", "f", &url]);
        assert_ne!(ran.code, 0);
        assert!(server.file("/f").unwrap() == body[..PIECE]);
        cutter.set(Plan::default());
        let retries = ["--retry", "1", "--retry-delay", "0.01"];
        let ran = upload(&folder, &[&retries[..], &["--retry-resume", "-T", "f", &url]].concat());
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_eq!(ran.stderr.contains(&format!("curl: ({code}) ")), code != 0, "{}", ran.stderr);
        assert!(server.file("/f").unwrap() == body, "{treatment:?}");
    }
}
