//! Two network namespaces with a delay between them: the shared tool `delaylink`, which delays every packet,
//! SYN included. It needs root.

use std::io::{self, BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::context::{output, root};
use crate::measure::Quantity;

/// The servers' end.
pub const SERVER: &str = "10.211.7.2";
const CLIENT: &str = "10.211.7.1";
/// An address without a host: packets to it are lost on the way.
pub const SILENT: &str = "fd77::2";
const CLIENT_SIX: &str = "fd77::1/64";
const ROUND_TRIP: Duration = Duration::from_millis(100);
const MEGABITS: u32 = 100;
const PLAIN_PORT: u16 = 2223;
/// Wall time: a link is no matter of microseconds.
pub const SECONDS: Quantity = Quantity { name: "time", unit: "s" };

/// The running link; its end takes the namespaces away.
pub struct Link {
    delay: Child,
    /// Where clients run.
    pub near: String,
    /// Where servers run.
    pub far: String,
}

impl Link {
    /// Of 100 Mbit/s each way, 50 ms long.
    pub fn start(directory: &Path) -> io::Result<Link> {
        Link::of(directory, ROUND_TRIP)
    }

    /// Of 100 Mbit/s each way, with this round trip.
    pub fn of(directory: &Path, round_trip: Duration) -> io::Result<Link> {
        let program = directory.join("delaylink");
        let source = source()?;
        output(Command::new("cc").args(["-O2", "-w", "-o"]).arg(&program).arg(&source))?;
        let names = ["near", "far"].map(|end| format!("ww-{end}-{}", std::process::id()));
        for name in &names {
            let made = output(Command::new("ip").args(["netns", "add", name]));
            made.map_err(|error| io::Error::new(ErrorKind::PermissionDenied, error))?;
        }
        let one_way_us = (round_trip / 2).as_micros().to_string();
        let mut delay = Command::new(program)
            .args([&names[0], CLIENT, &names[1], SERVER, &one_way_us])
            .arg(MEGABITS.to_string())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut ready = String::new();
        if let Some(pipe) = delay.stdout.take() {
            BufReader::new(pipe).read_line(&mut ready)?;
        }
        let [near, far] = names;
        let link = Link { delay, near, far };
        match ready.trim() {
            "ready" => link.with_silent_family(),
            _ => Err(io::Error::new(ErrorKind::PermissionDenied, "delaylink does not start: are we root?")),
        }
    }
}

impl Link {
    /// Gives IPv6 a route over the link to an address without a host.
    fn with_silent_family(self) -> io::Result<Link> {
        let words = ["-n", &self.near, "addr", "add", CLIENT_SIX, "dev", "dl0", "nodad"];
        output(Command::new("ip").args(words))?;
        Ok(self)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let _ = self.delay.kill();
        let _ = self.delay.wait();
        for name in [&self.near, &self.far] {
            let _ = Command::new("ip").args(["netns", "delete", name]).status();
        }
    }
}

/// A command where that end of the link is.
pub fn inside(namespace: &str, program: impl AsRef<Path>) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace]).arg(program.as_ref());
    command
}

/// How long it takes.
pub fn seconds(command: &mut Command) -> io::Result<Vec<f64>> {
    let started = Instant::now();
    output(command)?;
    Ok(vec![started.elapsed().as_secs_f64()])
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Down,
    Up,
}

/// A TCP connection with the same bytes: the time of the link itself. This is its server; dropping it ends
/// it.
pub struct Plain(Child);

impl Plain {
    pub fn start(link: &Link, size: usize) -> io::Result<Plain> {
        let mut server = inside(&link.far, "python3");
        server.args(["-c", PLAIN_SERVER, SERVER, &PLAIN_PORT.to_string(), &size.to_string()]);
        let mut plain = Plain(server.stdout(Stdio::piped()).spawn()?);
        let mut ready = String::new();
        if let Some(pipe) = plain.0.stdout.take() {
            BufReader::new(pipe).read_line(&mut ready)?;
        }
        match ready.trim() {
            "ready" => Ok(plain),
            _ => Err(io::Error::other("the server of plain TCP does not start")),
        }
    }

    /// Arguments of python3 for the client's end.
    pub fn client(address: &str, size: usize, way: Direction) -> [String; 6] {
        let letter = if way == Direction::Down { "d" } else { "u" };
        let words = ["-c", PLAIN_CLIENT, address, &PLAIN_PORT.to_string(), &size.to_string(), letter];
        words.map(str::to_owned)
    }
}

impl Drop for Plain {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const PLAIN_SERVER: &str = "\
import socket, sys
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind((sys.argv[1], int(sys.argv[2]))); s.listen()
print('ready', flush=True)
data = bytes(int(sys.argv[3]))
while True:
    c, _ = s.accept()
    if c.recv(1) == b'd':
        c.sendall(data)
    else:
        n = 0
        while n < len(data): n += len(c.recv(1 << 18))
        c.sendall(b'k')
    c.close()";
const PLAIN_CLIENT: &str = "\
import socket, sys
c = socket.create_connection((sys.argv[1], int(sys.argv[2])))
size = int(sys.argv[3])
c.sendall(sys.argv[4].encode())
if sys.argv[4] == 'd':
    n = 0
    while n < size: n += len(c.recv(1 << 18))
else:
    c.sendall(bytes(size)); c.recv(1)";

/// Path of the tool's source, which is not part of the project: it lies in the shared directory.
fn source() -> io::Result<PathBuf> {
    let shared = std::env::var_os("WARMWIRE_SHARED").map(PathBuf::from);
    let shared = shared.unwrap_or_else(|| root().join("../shared"));
    let file = shared.join("tools/delaylink.c");
    let missing = || {
        let text = format!("{} is missing (WARMWIRE_SHARED)", file.display());
        io::Error::new(ErrorKind::NotFound, text)
    };
    file.is_file().then_some(()).ok_or_else(missing)?;
    Ok(file)
}
