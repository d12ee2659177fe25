//! An embedded FTP server (RFC 959, 2428, 3659): passive mode only, an in-memory tree, and faults by script.

pub mod mutant;
mod session;

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::link::Link;
use crate::stop::{Signal, Stop, Woken};

/// The server's faults.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// Close the control connection after this many reply lines (0: before the greeting).
    pub cut_after_lines: Option<usize>,
    /// Close the data connection after this many bytes of a download.
    pub cut_data_at: Option<usize>,
    /// After a cut, claim 226 all the same.
    pub claim_success: bool,
    /// Send 150 and 226 for a download in one write, behind the data.
    pub announce_late: bool,
    /// Hold the 226 of a download back until the next command has arrived, or for this long.
    pub confirm_behind_command: Option<Duration>,
    /// Announce a data port that refuses connections.
    pub refuse_data: bool,
    /// Answer EPSV with this text instead.
    pub epsv_reply: Option<String>,
    /// Answer PASV with this text instead.
    pub pasv_reply: Option<String>,
    /// Answer these commands (upper case) with this reply line instead of serving them.
    pub replies: BTreeMap<String, String>,
    /// Never answer this command.
    pub silent_at: Option<String>,
    /// Send no more after this many reply lines, and keep the connection open.
    pub silent_after_lines: Option<usize>,
    /// The treatment of commands that arrive together.
    pub together: PipelinedCommands,
    /// The treatment of STOR behind REST.
    pub restarted_uploads: RestartedUploads,
    /// Maximum number of simultaneous control connections: 421 for further ones.
    pub most_clients: Option<usize>,
}

/// How a server treats commands that do not wait for the previous reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PipelinedCommands {
    /// One after the other.
    #[default]
    Served,
    /// It processes one command of each read, and drops the rest.
    Discarded,
    /// 503
    Refused,
    /// It closes the connection.
    Cut,
}

/// How a server treats an upload that begins at an offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RestartedUploads {
    #[default]
    Served,
    /// 451, as ProFTPD without AllowStoreRestart.
    Refused,
    /// The offset is that of the next download alone: the file begins anew.
    Ignored,
}

/// Settings of a server before it starts.
#[derive(Clone, Default)]
pub struct Config {
    /// Path (absolute) to content.
    pub files: BTreeMap<String, Vec<u8>>,
    /// User and password; `None` accepts any login.
    pub login: Option<(String, String)>,
    pub faults: Faults,
    /// The greeting behind its first code. Further lines need their own codes.
    pub greeting: Option<String>,
    /// Data connections go through this link; use `FtpServer::door` for the control connection.
    pub link: Option<Link>,
}

/// A running server.
pub struct FtpServer {
    address: SocketAddr,
    door: SocketAddr,
    stop: Stop,
    shared: Arc<Shared>,
}

struct Shared {
    config: Config,
    files: Mutex<BTreeMap<String, Vec<u8>>>,
    stop: Signal,
    accepts: AtomicUsize,
    clients: AtomicUsize,
    data_accepts: AtomicUsize,
    logins: AtomicUsize,
    quits: AtomicUsize,
    together: AtomicUsize,
    before_confirmation: AtomicUsize,
    commands: Mutex<Vec<String>>,
}

/// The record of commands stops here.
const RECORD_LIMIT: usize = 10_000;
const STACK: usize = 256 << 10;

impl FtpServer {
    pub fn start(config: Config) -> io::Result<FtpServer> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        rustix::net::listen(&listener, 1024)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let door = config.link.as_ref().map_or(Ok(address), |link| link.door(address))?;
        let stop = Stop::new()?;
        let shared = Arc::new(Shared {
            files: Mutex::new(config.files.clone()),
            config,
            stop: stop.signal(),
            accepts: AtomicUsize::new(0),
            clients: AtomicUsize::new(0),
            data_accepts: AtomicUsize::new(0),
            logins: AtomicUsize::new(0),
            quits: AtomicUsize::new(0),
            together: AtomicUsize::new(0),
            before_confirmation: AtomicUsize::new(0),
            commands: Mutex::new(Vec::new()),
        });
        let for_thread = shared.clone();
        thread::Builder::new().stack_size(STACK).spawn(move || accept_all(&listener, &for_thread))?;
        Ok(FtpServer { address, door, stop, shared })
    }

    /// A server with one file.
    pub fn with_file(path: &str, content: impl Into<Vec<u8>>) -> FtpServer {
        FtpServer::with_faults(path, content, Faults::default())
    }

    pub fn with_faults(path: &str, content: impl Into<Vec<u8>>, faults: Faults) -> FtpServer {
        let files = BTreeMap::from([(path.to_string(), content.into())]);
        FtpServer::start(Config { files, faults, ..Config::default() }).expect("loopback has a free port")
    }

    /// Returns the address to which clients connect, through the link if there is one.
    pub fn door(&self) -> SocketAddr {
        self.door
    }

    /// The server's own address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn url(&self, path: &str) -> String {
        format!("ftp://{}{path}", self.door)
    }

    /// Control connections accepted.
    pub fn accepts(&self) -> usize {
        self.shared.accepts.load(Ordering::SeqCst)
    }

    pub fn data_accepts(&self) -> usize {
        self.shared.data_accepts.load(Ordering::SeqCst)
    }

    pub fn logins(&self) -> usize {
        self.shared.logins.load(Ordering::SeqCst)
    }

    /// Clients that said QUIT.
    pub fn quits(&self) -> usize {
        self.shared.quits.load(Ordering::SeqCst)
    }

    /// Returns how many commands arrived together with the next one.
    pub fn together(&self) -> usize {
        self.shared.together.load(Ordering::SeqCst)
    }

    /// Returns how many files were followed by a command before their confirmation.
    pub fn before_confirmation(&self) -> usize {
        self.shared.before_confirmation.load(Ordering::SeqCst)
    }

    /// The commands of all clients, in order of arrival.
    pub fn commands(&self) -> Vec<String> {
        self.shared.commands.lock().expect("never poisoned").clone()
    }

    /// A file as it is now.
    pub fn file(&self, path: &str) -> Option<Vec<u8>> {
        self.shared.files.lock().expect("never poisoned").get(path).cloned()
    }
}

impl Drop for FtpServer {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

fn accept_all(listener: &TcpListener, shared: &Arc<Shared>) {
    while shared.stop.wait(listener, None) == Woken::Readable {
        let Ok((socket, _)) = listener.accept() else { continue };
        shared.accepts.fetch_add(1, Ordering::SeqCst);
        let shared = shared.clone();
        let started = thread::Builder::new().stack_size(STACK).spawn(move || {
            shared.clients.fetch_add(1, Ordering::SeqCst);
            let _ = session::serve(socket, &shared);
            shared.clients.fetch_sub(1, Ordering::SeqCst);
        });
        drop(started);
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;
    use crate::{body::pattern, needs};

    /// The distribution's curl as a client that was not written here.
    fn curl(args: &[&str]) -> (i32, Vec<u8>) {
        let output = needs::output(Command::new("curl").args(["-sS", "--max-time", "20"]).args(args));
        (output.status.code().unwrap_or(-1), output.stdout)
    }

    #[test]
    fn a_file_goes_down_and_up() {
        let server = FtpServer::with_file("/dir/file", pattern(100_000));
        assert_eq!(curl(&[&server.url("/dir/file")]), (0, pattern(100_000)));
        assert_eq!(curl(&["-r", "10-19", &server.url("/dir/file")]).1, pattern(20)[10..]);
        assert_eq!(curl(&["-T", "/etc/hostname", &server.url("/dir/new")]).0, 0);
        assert_eq!(server.file("/dir/new"), std::fs::read("/etc/hostname").ok());
        // The client makes a text transfer's CRLF one LF.
        assert_eq!(curl(&["-l", &server.url("/dir/")]), (0, b"file\nnew\n".to_vec()));
        assert_eq!(curl(&[&server.url("/dir/none")]).0, 78);
        assert_eq!(server.quits(), 5);
    }

    #[test]
    fn faults_are_noticed() {
        let faults = Faults { cut_data_at: Some(50), ..Faults::default() };
        let server = FtpServer::with_faults("/file", pattern(100), faults);
        assert_eq!(curl(&[&server.url("/file")]), (18, pattern(50)));
        let faults = Faults { refuse_data: true, ..Faults::default() };
        let server = FtpServer::with_faults("/file", pattern(100), faults);
        assert_ne!(curl(&[&server.url("/file")]).0, 0);
        let faults = Faults { epsv_reply: Some("229 nonsense".into()), ..Faults::default() };
        let server = FtpServer::with_faults("/file", pattern(100), faults);
        assert_eq!(curl(&[&server.url("/file")]).0, 13);
        let faults = Faults { cut_after_lines: Some(2), ..Faults::default() };
        let server = FtpServer::with_faults("/file", pattern(100), faults);
        assert_ne!(curl(&[&server.url("/file")]).0, 0);
    }

    #[test]
    fn everything_goes_through_the_link() {
        let trip = std::time::Duration::from_millis(20);
        let link = Link::new(trip).unwrap();
        let files = BTreeMap::from([("/file".to_string(), pattern(2000))]);
        let server = FtpServer::start(Config { files, link: Some(link), ..Config::default() }).unwrap();
        let start = std::time::Instant::now();
        assert_eq!(curl(&[&server.url("/file")]), (0, pattern(2000)));
        // Connection and greeting 2, USER, PASS, PWD, EPSV, data connection, TYPE, SIZE, RETR: about 9 round
        // trips.
        assert!(start.elapsed() > 8 * trip, "{:?}", start.elapsed());
    }
}
