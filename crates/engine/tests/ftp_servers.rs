//! FTP through the engine against vsftpd, proftpd, pure-ftpd and pyftpdlib: common servers with our commands,
//! pipelined commands, and TLS.

use std::io::ErrorKind;
use std::rc::Rc;

use crate::common::{App, handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::body::pattern;
use testkit::certs::Authority;
use testkit::launch::{Ftpd, FtpdKind};
use testkit::temp::TempDir;
use warmwire_engine::{Easy, FtpPipelining};

const LEVELS: [FtpPipelining; 3] = [FtpPipelining::Together, FtpPipelining::Ahead, FtpPipelining::InTurn];

/// How the control connection is protected.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Tls {
    No,
    Explicit,
    Implicit,
}

/// A server, and a handle's trust in its certificate.
struct World {
    server: Ftpd,
    directory: TempDir,
    tls: Tls,
}

impl World {
    /// Returns `None` without root, or if the server lacks the feature.
    fn start(kind: FtpdKind, tls: Tls, sizes: &[usize]) -> Option<World> {
        let authority = Authority::new();
        let directory = TempDir::new("ftp-servers").unwrap();
        directory.write("ca.pem", authority.ca_pem()).unwrap();
        let started = match tls {
            Tls::Implicit => Ftpd::start_implicit(kind, &authority.good(), sizes),
            _ => Ftpd::start(kind, &authority.good(), sizes).map(Some),
        };
        match started {
            Ok(server) => Some(World { server: server?, directory, tls }),
            Err(e) if e.kind() == ErrorKind::PermissionDenied => {
                testkit::left_out(format!("{kind:?} needs root"))
            }
            Err(e) => panic!("{kind:?}: {e}"),
        }
    }

    fn handle(&self, level: FtpPipelining, path: &str) -> (Easy, Rc<App>) {
        let (easy, app) = handle(&self.server.url(path));
        easy.state().ftp_pipelining.set(Some(level));
        long(&easy, O::TimeoutMs, 60_000);
        text(&easy, O::CaInfo, &self.directory.path().join("ca.pem").display().to_string());
        if self.tls == Tls::Explicit {
            long(&easy, O::UseSsl, 3);
        }
        (easy, app)
    }
}

fn perform(easy: &Easy, what: &str) {
    assert_eq!(easy.perform(), Code::Ok, "{what}: {}", easy.state().message());
}

/// Everything that is done with a server, at one level.
fn all_of_it(world: &World, level: FtpPipelining, what: &str) {
    up_and_down(world, level, what);
    listings(world, level, what);
}

fn up_and_down(world: &World, level: FtpPipelining, what: &str) {
    let content = pattern(300_000);
    let (easy, app) = world.handle(level, "/up/file");
    long(&easy, O::Upload, 1);
    *app.upload.borrow_mut() = content[..100_000].to_vec();
    perform(&easy, what);
    assert!(world.server.file("/up/file").unwrap() == content[..100_000], "{what}");
    // The server says how much it has; the rest is appended.
    *app.upload.borrow_mut() = content.clone();
    app.read_at.set(0);
    long(&easy, O::ResumeFromLarge, -1);
    perform(&easy, what);
    assert!(world.server.file("/up/file").unwrap() == content, "{what}");
    long(&easy, O::ResumeFromLarge, 0);
    long(&easy, O::Upload, 0);
    for _ in 0..3 {
        app.body.borrow_mut().clear();
        perform(&easy, what);
        assert!(*app.body.borrow() == content, "{what}");
    }
    app.body.borrow_mut().clear();
    long(&easy, O::ResumeFromLarge, 250_000);
    perform(&easy, what);
    assert!(app.body.borrow().as_slice() == &content[250_000..], "{what}");
    app.body.borrow_mut().clear();
    long(&easy, O::ResumeFromLarge, 0);
    text(&easy, O::Url, &world.server.url("/up/none"));
    assert_eq!(easy.perform(), Code::RemoteFileNotFound, "{what}");
}

fn listings(world: &World, level: FtpPipelining, what: &str) {
    let (easy, app) = world.handle(level, "/");
    for _ in 0..2 {
        long(&easy, O::DirListOnly, 1);
        app.body.borrow_mut().clear();
        perform(&easy, what);
        let names = String::from_utf8_lossy(&app.body.take()).into_owned();
        // pure-ftpd names the folder itself, too.
        let mut names: Vec<&str> = names.lines().filter(|name| !name.starts_with('.')).collect();
        names.sort_unstable();
        assert_eq!(names, ["bytes-10", "bytes-20", "bytes-3000", "up"], "{what}");
        long(&easy, O::DirListOnly, 0);
        perform(&easy, what);
        let lines = String::from_utf8_lossy(&app.body.take()).into_owned();
        assert_eq!(lines.lines().filter(|l| l.contains("bytes-")).count(), 3, "{what}");
    }
    long(&easy, O::WildcardMatch, 1);
    // A bare question mark would start a query, which FTP does not have; curl cuts it off, too.
    for pattern in ["/bytes-[12]0", "/bytes-%3F0?x"] {
        text(&easy, O::Url, &world.server.url(pattern));
        perform(&easy, what);
        assert_eq!(app.body.take().len(), 30, "{what}");
    }
    text(&easy, O::Url, &world.server.url("/nothing-*"));
    assert_eq!(easy.perform(), Code::RemoteFileNotFound, "{what}: {}", easy.state().message());
}

fn everything(kind: FtpdKind) {
    for tls in [Tls::No, Tls::Explicit, Tls::Implicit] {
        let Some(world) = World::start(kind, tls, &[10, 20, 3000]) else { continue };
        for level in LEVELS {
            all_of_it(&world, level, &format!("{kind:?} {tls:?} {level:?}"));
        }
    }
}

#[test]
fn vsftpd() {
    everything(FtpdKind::Vsftpd);
}

#[test]
fn proftpd() {
    everything(FtpdKind::Proftpd);
}

#[test]
fn pure_ftpd() {
    everything(FtpdKind::PureFtpd);
}

#[test]
fn pyftpdlib() {
    everything(FtpdKind::Pyftpdlib);
}

#[test]
fn a_thousand_files_over_one_control_connection() {
    for kind in FtpdKind::ALL {
        let Some(world) = World::start(kind, Tls::No, &[2000, 300]) else { continue };
        for level in LEVELS {
            let (easy, app) = world.handle(level, "/");
            let mut connections = std::collections::BTreeSet::new();
            for round in 0..1000 {
                let size = if round % 2 == 0 { 2000 } else { 300 };
                text(&easy, O::Url, &world.server.url(&format!("/bytes-{size}")));
                perform(&easy, &format!("{kind:?} {level:?} {round}"));
                connections.insert(easy.state().info.borrow().connection_id);
                assert!(app.body.take() == pattern(size), "{kind:?} {level:?} {round}");
            }
            let most = if level == FtpPipelining::InTurn { 4 } else { 1 };
            assert!((1..=most).contains(&connections.len()), "{kind:?} {level:?}: {connections:?}");
        }
    }
}

/// Both require that a data connection resumes the session of its own control connection; six of these at a
/// time. With an upload proftpd issues no new ticket: two of them use all tickets of the control connection.
#[test]
fn data_connections_resume_their_own_control_connection() {
    for kind in [FtpdKind::Vsftpd, FtpdKind::Proftpd] {
        let Some(world) = World::start(kind, Tls::Explicit, &[3000]) else { continue };
        let multi = warmwire_engine::Multi::default();
        let all: Vec<_> = (0..6).map(|_| world.handle(FtpPipelining::Together, "/bytes-3000")).collect();
        for round in 0..12 {
            let upload = round % 2 == 0;
            for (n, (easy, app)) in all.iter().enumerate() {
                long(easy, O::Upload, i64::from(upload));
                let path = if upload { format!("/up/file{n}") } else { "/bytes-3000".to_owned() };
                text(easy, O::Url, &world.server.url(&path));
                *app.upload.borrow_mut() = pattern(500);
                multi.add(easy);
            }
            for _ in &all {
                let code = crate::common::until_done(&multi);
                let messages = all.iter().map(|(easy, _)| easy.state().message()).collect::<Vec<_>>();
                assert_eq!(code, Code::Ok, "{kind:?}, round {round}: {messages:?}");
            }
            for (easy, app) in &all {
                multi.remove(easy);
                assert!(upload || app.body.take() == pattern(3000), "{kind:?}, round {round}");
            }
        }
    }
}

/// A connection by ftps: is reused for ftp: to the same host and port, which would not answer in clear.
#[test]
fn implicit_tls_goes_on_for_a_plain_url() {
    for kind in [FtpdKind::Vsftpd, FtpdKind::Proftpd] {
        let Some(world) = World::start(kind, Tls::Implicit, &[3000]) else { continue };
        let (easy, app) = world.handle(FtpPipelining::Together, "/bytes-3000");
        perform(&easy, "ftps");
        text(&easy, O::Url, &world.server.url("/bytes-3000").replace("ftps:", "ftp:"));
        app.body.take();
        perform(&easy, "ftp");
        assert!(app.body.take() == pattern(3000), "{kind:?}");
        assert_eq!(easy.state().info.borrow().connection_id, 0, "{kind:?}");
    }
}

// covers: CURLOPT_FTP_SSL_CCC
#[test]
fn commands_in_clear_again() {
    for mode in [1, 2] {
        let Some(world) = World::start(FtpdKind::Proftpd, Tls::Explicit, &[3000]) else { return };
        let (easy, app) = world.handle(FtpPipelining::Together, "/bytes-3000");
        long(&easy, O::FtpSslCcc, mode);
        for _ in 0..3 {
            perform(&easy, "CCC");
            assert!(app.body.take() == pattern(3000));
        }
        assert_eq!(easy.state().info.borrow().connection_id, 0, "it was kept");
        assert_eq!(easy.state().info.borrow().connects, 1, "the data connection");
        let header_text = String::from_utf8_lossy(&app.headers.take()).to_ascii_lowercase();
        assert!(header_text.contains("200 clearing control channel"), "{header_text}");
    }
}
