//! Processes that are killed at any moment: a connection never has two owners.
//!
//! The other processes are this program with another test: a broker, and workers. A worker takes a
//! connection, or opens one, sends the number that its state contains, and gives the connection with the next
//! number. The server checks that the numbers of a connection grow, as sequence numbers of TLS records have
//! to. A number that came twice would be a nonce used twice.

use std::env;
use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{PATIENCE, eventually, parcel, socket_of};
use broker::message::{Request, UNKNOWN};
use broker::{Client, Folder, Limits, Server, Unavailable};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketType, connect, recv, send, socket,
};
use testkit::dice::Dice;
use testkit::temp::TempDir;

const ROLE: &str = "BROKER_TEST_ROLE";
const FOLDER: &str = "BROKER_TEST_FOLDER";
const SERVER: &str = "BROKER_TEST_SERVER";

#[test]
#[ignore = "runs as a process of the other tests"]
fn child_process() {
    let role = env::var(ROLE).expect("the other tests start it");
    let folder = env::var_os(FOLDER).unwrap();
    match role.as_str() {
        "broker" => serve(Path::new(&folder)),
        "worker" => work(Path::new(&folder)),
        "stranger" => be_refused(Path::new(&folder)),
        other => panic!("{other}"),
    }
}

fn process(role: &str, folder: &Path, server: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "processes::child_process", "--ignored", "--nocapture"]);
    command.env(ROLE, role).env(FOLDER, folder).env(SERVER, server);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn serve(folder: &Path) {
    let listener = Folder::at(folder).unwrap().listen().unwrap();
    Server::new(listener, Limits::default()).unwrap().serve().unwrap();
}

fn work(folder: &Path) {
    let client = Client::at(folder, PATIENCE);
    let key = client.secret().map(|secret| secret.key([1; 32]));
    let taken = key.as_ref().ok().and_then(|key| client.take(key).ok()).flatten();
    let (mut socket, number) = match taken {
        Some(taken) => {
            let number = u64::from_be_bytes(taken.state[..].try_into().unwrap());
            (TcpStream::from(taken.socket), number)
        }
        None => (TcpStream::connect(env::var(SERVER).unwrap()).unwrap(), 0),
    };
    socket.write_all(&number.to_be_bytes()).unwrap();
    let state = (number + 1).to_be_bytes();
    if let Ok(key) = key {
        let _ = client.give(&key, &parcel(&socket, &state), Instant::now() + PATIENCE);
    }
}

/// Observations of the server.
#[derive(Default)]
struct Observations {
    connections: AtomicUsize,
    numbers: AtomicUsize,
    highest: AtomicUsize,
    faults: Mutex<Vec<String>>,
}

impl Observations {
    /// Reads the numbers of one connection.
    fn check(&self, mut connection: TcpStream) {
        self.connections.fetch_add(1, Ordering::SeqCst);
        let mut bytes = [0; 8];
        let mut expected = 0;
        while connection.read_exact(&mut bytes).is_ok() {
            let number = u64::from_be_bytes(bytes);
            if number != expected {
                self.faults.lock().unwrap().push(format!("{number} after {expected} numbers"));
            }
            expected = number + 1;
            self.numbers.fetch_add(1, Ordering::SeqCst);
            self.highest.fetch_max(number as usize, Ordering::SeqCst);
        }
    }
}

fn server() -> (String, Arc<Observations>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let seen = Arc::new(Observations::default());
    let shared = seen.clone();
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let seen = shared.clone();
            std::thread::spawn(move || seen.check(connection));
        }
    });
    (address, seen)
}

fn start_broker(folder: &Path) -> Child {
    let broker = process("broker", folder, "").spawn().unwrap();
    eventually(|| Client::at(folder, PATIENCE).secret().is_ok());
    broker
}

fn end(mut child: Child) {
    let _ = child.kill();
    let _ = child.wait();
}

/// The time that a worker needs undisturbed.
fn usual_time(folder: &Path, address: &str) -> Duration {
    let times = (0..10).map(|_| {
        let start = Instant::now();
        assert!(process("worker", folder, address).status().unwrap().success());
        start.elapsed()
    });
    times.max().unwrap()
}

#[test]
fn numbers_never_repeat_when_workers_are_killed() {
    let place = TempDir::new("broker-kill").unwrap();
    let folder = place.path().join("pool");
    let (address, seen) = server();
    let broker = start_broker(&folder);
    let usual = usual_time(&folder, &address);
    assert_eq!(seen.connections.load(Ordering::SeqCst), 1, "undisturbed workers share one connection");
    let mut dice = Dice::new(500);
    for _ in 0..500 {
        let mut worker = process("worker", &folder, &address).spawn().unwrap();
        std::thread::sleep(usual.mul_f64(dice.roll(1000) as f64 / 1000.0));
        let _ = worker.kill();
        worker.wait().unwrap();
    }
    assert_eq!(*seen.faults.lock().unwrap(), [""; 0]);
    let (connections, numbers) = (&seen.connections, &seen.numbers);
    let counts = (connections.load(Ordering::SeqCst), numbers.load(Ordering::SeqCst));
    // The kills have hit workers before, within and after their turn.
    assert!(counts.0 > 1 && counts.1 > counts.0 && counts.1 < 510, "{counts:?}");
    end(broker);
}

#[test]
fn numbers_never_repeat_when_the_broker_is_killed() {
    let place = TempDir::new("broker-killed").unwrap();
    let folder = place.path().join("pool");
    let (address, seen) = server();
    let done = AtomicBool::new(false);
    let (done, place, target) = (&done, folder.as_path(), address.as_str());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(move || {
                while !done.load(Ordering::SeqCst) {
                    let _ = process("worker", place, target).status();
                }
            });
        }
        let mut dice = Dice::new(40);
        for _ in 0..40 {
            let broker = start_broker(&folder);
            std::thread::sleep(Duration::from_millis(dice.roll(60) as u64));
            end(broker);
        }
        done.store(true, Ordering::SeqCst);
    });
    assert_eq!(*seen.faults.lock().unwrap(), [""; 0]);
    assert!(seen.highest.load(Ordering::SeqCst) > 0, "connections were passed on");
}

#[test]
fn fifty_processes_at_once() {
    let place = TempDir::new("broker-fifty").unwrap();
    let folder = place.path().join("pool");
    let (address, seen) = server();
    let broker = start_broker(&folder);
    for round in 1..=3 {
        let workers: Vec<_> =
            (0..50).map(|_| process("worker", &folder, &address).spawn().unwrap()).collect();
        for mut worker in workers {
            assert!(worker.wait().unwrap().success());
        }
        eventually(|| seen.numbers.load(Ordering::SeqCst) == 50 * round);
    }
    assert_eq!(*seen.faults.lock().unwrap(), [""; 0]);
    // No process lost its connection: one that is not parked any more was taken by a process that gave it
    // back.
    let status = Client::at(&folder, PATIENCE).status().unwrap();
    assert_eq!(status.parked.len(), seen.connections.load(Ordering::SeqCst));
    end(broker);
}

/// Starts a process of another user.
fn as_nobody(mut command: Command) -> Child {
    match command.uid(65534).gid(65534).stderr(Stdio::inherit()).spawn() {
        Err(_) => testkit::left_out("needs the right to change the user"),
        Ok(child) => child,
    }
}

/// The folder refuses other users. If it is open by mistake, the broker refuses them, too.
#[test]
fn the_broker_refuses_another_user() {
    let place = TempDir::new("broker-user").unwrap();
    let folder = place.path().join("pool");
    let broker = start_broker(&folder);
    fs::set_permissions(place.path(), Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
    fs::set_permissions(socket_of(&folder), Permissions::from_mode(0o777)).unwrap();
    let mut stranger = as_nobody(process("stranger", &folder, ""));
    let status = stranger.wait().unwrap();
    end(broker);
    assert!(status.success());
}

/// Runs as another user.
fn be_refused(folder: &Path) {
    let refused = Client::at(folder, PATIENCE).secret();
    assert!(matches!(refused, Err(Unavailable::Folder(_))), "{refused:?}");
    let socket = socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
    connect(&socket, &SocketAddrUnix::new(socket_of(folder)).unwrap()).unwrap();
    let _ = send(&socket, &Request::Hello.encode(&UNKNOWN), SendFlags::NOSIGNAL);
    let received = recv(&socket, &mut [0; 256], RecvFlags::empty());
    assert!(matches!(received, Ok((_, 0)) | Err(_)), "{received:?}");
}

/// A process of another user that listens in the user's folder gets nothing, not even a hello.
#[test]
fn the_client_refuses_another_user() {
    let place = TempDir::new("broker-other").unwrap();
    fs::set_permissions(place.path(), Permissions::from_mode(0o777)).unwrap();
    let folder = place.path().join("pool");
    let broker = as_nobody(process("broker", &folder, ""));
    eventually(|| socket_of(&folder).exists());
    chown(&folder, Some(0), Some(0)).unwrap();
    let mut refused = Ok(());
    eventually(|| {
        refused = Client::at(&folder, PATIENCE).secret().map(drop);
        refused != Err(Unavailable::NotRunning)
    });
    end(broker);
    assert_eq!(refused, Err(Unavailable::OtherUser));
}
