//! A broker in a thread, and connections to park.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use broker::{Client, Folder, Key, Label, Limits, Parcel, Server, Unavailable};
use testkit::temp::TempDir;

/// Longer than any answer takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A broker in a folder of its own.
pub struct Running {
    pub place: TempDir,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub fn new(limits: Limits) -> Running {
        let place = TempDir::new("broker").unwrap();
        let mut running = Running { place, thread: None };
        running.start(limits);
        running
    }

    /// Starts a broker in the same folder, as after a restart.
    pub fn start(&mut self, limits: Limits) {
        self.stop();
        let listener = Folder::at(&self.folder()).unwrap().listen().unwrap();
        let mut server = Server::new(listener, limits).unwrap();
        self.thread = Some(std::thread::spawn(move || server.serve().unwrap()));
    }

    pub fn stop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = self.client().stop();
            thread.join().unwrap();
        }
    }

    /// Waits for the broker's own end.
    pub fn wait(&mut self) {
        self.thread.take().unwrap().join().unwrap();
    }

    pub fn folder(&self) -> PathBuf {
        self.place.path().join("pool")
    }

    pub fn client(&self) -> Client {
        Client::at(&self.folder(), PATIENCE)
    }

    /// Waits until that many connections are parked.
    pub fn wait_for(&self, parked: usize) {
        eventually(|| self.client().status().unwrap().parked.len() == parked);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = Client::at(&self.folder(), PATIENCE).stop();
    }
}

pub fn eventually(mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "it did not happen in time");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Both ends of a TCP connection: the client's and the server's.
pub fn connection() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

pub fn key(client: &Client, name: u8) -> Key {
    client.secret().unwrap().key([name; 32])
}

/// Gives a connection, and closes the giver's descriptor.
pub fn give(client: &Client, name: u8, socket: TcpStream, state: &[u8]) -> Result<(), Unavailable> {
    client.give(&key(client, name), &parcel(&socket, state), Instant::now() + PATIENCE)
}

pub fn parcel<'a>(socket: &'a TcpStream, state: &'a [u8]) -> Parcel<'a> {
    Parcel {
        label: Label { scheme: "https", host: "example.org", port: 443 },
        age: Duration::from_secs(9),
        idle: Duration::from_secs(1),
        uses: 3,
        idle_limit: Duration::from_secs(118),
        state,
        socket: socket.as_fd(),
    }
}

/// Returns whether the other end has closed the connection.
pub fn is_closed(mut server: &TcpStream) -> bool {
    server.set_read_timeout(Some(PATIENCE)).unwrap();
    matches!(server.read(&mut [0]), Ok(0) | Err(_))
}

/// Sends bytes in both directions.
pub fn talk(mut client: &TcpStream, mut server: &TcpStream) {
    client.set_nonblocking(false).unwrap();
    let mut read = [0; 4];
    client.write_all(b"ping").unwrap();
    server.read_exact(&mut read).unwrap();
    server.write_all(b"pong").unwrap();
    client.read_exact(&mut read).unwrap();
    assert_eq!(&read, b"pong");
}

pub fn socket_of(folder: &Path) -> PathBuf {
    folder.join("broker.sock")
}
