//! A relay that cuts: a conversation passes up to a byte, then the server seems to stop, to reset, or to fall
//! silent.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rustix::fd::AsFd;

use crate::stop::{Signal, Stop, Woken};

/// The side whose bytes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Client,
    Server,
}

/// The action at the cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Both sides see the end.
    Finish,
    /// The client sees RST.
    Reset,
    /// Nothing is forwarded any more, without a sign of it.
    Silence,
}

/// After how many bytes a conversation is cut, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CutPoint {
    pub side: Side,
    pub after: usize,
    pub cut: Cut,
}

/// The bytes forwarded on a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    pub client: Vec<u8>,
    pub server: Vec<u8>,
}

/// A relay in front of a server.
pub struct Cutter {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Stop,
}

struct Shared {
    target: SocketAddr,
    plan: Mutex<Plan>,
    /// Of the first connection under the present plan.
    talk: Mutex<Option<Recording>>,
    /// The most bytes of the client on one connection under the present plan.
    passed: Mutex<usize>,
    /// The relays of FTP's data connections under the present plan.
    data: Mutex<Vec<Cutter>>,
}

/// The treatment of connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub cut: Option<CutPoint>,
    /// The connections that the server names in replies to EPSV: each gets a relay, which does this.
    pub data: Option<Option<CutPoint>>,
}

impl Cutter {
    /// Forwards everything.
    pub fn open(target: SocketAddr) -> Cutter {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let stop = Stop::new().expect("a process may open a pipe");
        let signal = stop.signal();
        let shared = Arc::new(Shared {
            target,
            plan: Mutex::default(),
            talk: Mutex::default(),
            passed: Mutex::default(),
            data: Mutex::default(),
        });
        let for_thread = shared.clone();
        thread::spawn(move || {
            while signal.wait(&listener, None) == Woken::Readable {
                let Ok((client, _)) = listener.accept() else { continue };
                let (shared, signal) = (for_thread.clone(), signal.clone());
                let plan = *shared.plan.lock().expect("never poisoned");
                let mut talk = shared.talk.lock().expect("never poisoned");
                let first = talk.is_none();
                talk.get_or_insert_default();
                drop(talk);
                thread::spawn(move || Relay { shared, signal, plan, first }.run(&client));
            }
        });
        Cutter { address, shared, stop }
    }

    /// Forwards `length` bytes of the server on each connection; then both sides see the end.
    pub fn start(target: SocketAddr, length: usize) -> Cutter {
        let cutter = Cutter::open(target);
        let fault = CutPoint { side: Side::Server, after: length, cut: Cut::Finish };
        cutter.set(Plan { cut: Some(fault), data: None });
        cutter
    }

    /// Sets the treatment of further connections, and forgets the bytes of earlier ones.
    pub fn set(&self, plan: Plan) {
        self.shared.data.lock().expect("never poisoned").clear();
        *self.shared.talk.lock().expect("never poisoned") = None;
        *self.shared.passed.lock().expect("never poisoned") = 0;
        *self.shared.plan.lock().expect("never poisoned") = plan;
    }

    /// Returns the bytes of the first connection since [`Cutter::set`].
    pub fn talk(&self) -> Recording {
        self.shared.talk.lock().expect("never poisoned").clone().unwrap_or_default()
    }

    /// Returns the bytes of the first data connection.
    pub fn data_talk(&self) -> Recording {
        self.shared.data.lock().expect("never poisoned").first().map(Cutter::talk).unwrap_or_default()
    }

    /// Returns how many bytes of the client a connection has passed since [`Cutter::set`]: the most of any of
    /// them.
    pub fn passed(&self) -> usize {
        *self.shared.passed.lock().expect("never poisoned")
    }

    /// Returns how many bytes of the client a data connection has passed: the most of any of them.
    pub fn data_passed(&self) -> usize {
        let data = self.shared.data.lock().expect("never poisoned");
        data.iter().map(|relay| relay.talk().client.len()).max().unwrap_or(0)
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for Cutter {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// A connection.
struct Relay {
    shared: Arc<Shared>,
    signal: Signal,
    plan: Plan,
    first: bool,
}

impl Relay {
    fn run(&self, client: &TcpStream) {
        let Ok(server) = TcpStream::connect(self.shared.target) else { return };
        let _ = (client.set_nodelay(true), server.set_nodelay(true));
        let ends = [(Side::Client, client, &server), (Side::Server, &server, client)];
        let (mut open, mut buffer) = (vec![0, 1], [0; 4096]);
        let mut passed = [0, 0];
        while !open.is_empty() {
            let mut most = [buffer.len(); 2];
            if let Some(fault) = self.plan.cut {
                let side = fault.side as usize;
                most[side] = most[side].min(fault.after - passed[side]);
                if most[side] == 0 {
                    return self.cut(fault.cut, client, &server);
                }
            }
            let waited = open.iter().map(|at| ends[*at].1.as_fd()).collect::<Vec<_>>();
            let Some(which) = self.signal.wait_any(&waited) else { return };
            let at = open[which];
            let (side, mut from, mut to) = ends[at];
            match from.read(&mut buffer[..most[at]]) {
                Ok(n) if n > 0 => {
                    passed[at] += n;
                    let mut most = self.shared.passed.lock().expect("never poisoned");
                    *most = (*most).max(passed[Side::Client as usize]);
                    drop(most);
                    self.note(side, &buffer[..n]);
                    let named = self.lead_data(side, &buffer[..n]);
                    if to.write_all(named.as_deref().unwrap_or(&buffer[..n])).is_err() {
                        return;
                    }
                }
                _ => {
                    let _ = to.shutdown(Shutdown::Write);
                    open.remove(which);
                }
            }
        }
    }

    fn note(&self, side: Side, bytes: &[u8]) {
        let mut talk = self.shared.talk.lock().expect("never poisoned");
        if let (true, Some(talk)) = (self.first, talk.as_mut()) {
            match side {
                Side::Client => &mut talk.client,
                Side::Server => &mut talk.server,
            }
            .extend_from_slice(bytes);
        }
    }

    /// A reply to EPSV names the port of a relay instead.
    fn lead_data(&self, side: Side, bytes: &[u8]) -> Option<Vec<u8>> {
        let fault = self.plan.data.filter(|_| side == Side::Server)?;
        let text = std::str::from_utf8(bytes).ok()?;
        let (before, rest) = text.split_once("(|||")?;
        let (port, after) = rest.split_once('|')?;
        let cutter = Cutter::open((Ipv4Addr::LOCALHOST, port.parse().ok()?).into());
        cutter.set(Plan { cut: fault, data: None });
        let text = format!("{before}(|||{}|{after}", cutter.port());
        self.shared.data.lock().expect("never poisoned").push(cutter);
        Some(text.into_bytes())
    }

    fn cut(&self, cut: Cut, client: &TcpStream, server: &TcpStream) {
        match cut {
            Cut::Finish => {
                let _ = (server.shutdown(Shutdown::Both), client.shutdown(Shutdown::Write));
                // To close with bytes unread would make a reset of it.
                let (mut client, mut rest) = (client, [0; 4096]);
                while self.signal.wait(&client, None) == Woken::Readable
                    && client.read(&mut rest).is_ok_and(|n| n > 0)
                {}
            }
            Cut::Reset => {
                let _ = rustix::net::sockopt::set_socket_linger(client, Some(Duration::ZERO));
            }
            Cut::Silence => self.signal.wait_for_end(client),
        }
    }
}
