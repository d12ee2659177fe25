//! A peer that follows a script, byte for byte: for faults that no well-behaved server has.
//!
//! Each connection gets the next script in turn; the last one serves all further connections.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use rustls::ServerConfig;

use crate::stop::{Signal, Stop, Woken};
use crate::stream::Stream;

/// A thing the peer does.
#[derive(Clone, Debug)]
pub enum Step {
    /// Read until these bytes have come (everything up to their end is consumed).
    Expect(Vec<u8>),
    /// Read this many bytes.
    ExpectBytes(usize),
    Send(Vec<u8>),
    Sleep(Duration),
    /// Read until the client has ended.
    ReadAll,
    /// TLS from here on, where the peer is [upgradable](RawPeer::upgradable).
    StartTls,
    /// close_notify and FIN.
    Finish,
    /// Only FIN.
    Cut,
    Reset,
    /// Keep the connection open and silent until the peer is dropped.
    Hold,
}

/// The steps of one connection, in order; the connection is closed at the end of the script.
pub type Script = Vec<Step>;

/// Expects a text.
pub fn expect(text: &str) -> Step {
    Step::Expect(text.as_bytes().to_vec())
}

/// Sends a text.
pub fn send(text: &str) -> Step {
    Step::Send(text.as_bytes().to_vec())
}

/// An HTTP answer of which only the first `length` bytes arrive.
pub fn cut_after(answer: &[u8], length: usize) -> Script {
    vec![expect("\r\n\r\n"), Step::Send(answer[..length.min(answer.len())].to_vec()), Step::Cut]
}

/// A listening scripted peer.
pub struct RawPeer {
    address: SocketAddr,
    stop: Stop,
    shared: Arc<Shared>,
}

struct Shared {
    scripts: Vec<Script>,
    tls: Option<Arc<ServerConfig>>,
    /// TLS begins when the script says so.
    begins_plain: bool,
    accepts: AtomicUsize,
    /// Bytes received on each connection, in order of acceptance.
    received: Mutex<Vec<Vec<u8>>>,
    /// Number of completed scripts.
    ended: Mutex<usize>,
    one_more: Condvar,
}

impl RawPeer {
    pub fn start(scripts: Vec<Script>) -> RawPeer {
        RawPeer::over(scripts, None, true)
    }

    pub fn tls(scripts: Vec<Script>, config: Arc<ServerConfig>) -> RawPeer {
        RawPeer::over(scripts, Some(config), false)
    }

    /// Creates a peer without TLS up to [`Step::StartTls`].
    pub fn upgradable(scripts: Vec<Script>, config: Arc<ServerConfig>) -> RawPeer {
        RawPeer::over(scripts, Some(config), true)
    }

    /// Returns a port that refuses connections.
    pub fn refused_port() -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        listener.local_addr().expect("a bound socket has an address").port()
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn accepts(&self) -> usize {
        self.shared.accepts.load(Ordering::SeqCst)
    }

    /// Returns the bytes received on each connection so far.
    pub fn received(&self) -> Vec<Vec<u8>> {
        self.shared.received.lock().expect("never poisoned").clone()
    }

    /// How many scripts have ended.
    pub fn ends(&self) -> usize {
        *self.shared.ended.lock().expect("never poisoned")
    }

    /// Waits until that many scripts have ended, as they do when a client leaves early; ten seconds at most.
    pub fn wait_for_ends(&self, count: usize) {
        let ended = self.shared.ended.lock().expect("never poisoned");
        let limit = Duration::from_secs(10);
        let _ = self.shared.one_more.wait_timeout_while(ended, limit, |ended| *ended < count);
    }

    fn over(scripts: Vec<Script>, tls: Option<Arc<ServerConfig>>, begins_plain: bool) -> RawPeer {
        assert!(!scripts.is_empty(), "a peer needs a script");
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        listener.set_nonblocking(true).expect("a listener can be non-blocking");
        let stop = Stop::new().expect("a process may open a pipe");
        let shared = Arc::new(Shared {
            scripts,
            tls,
            begins_plain,
            accepts: AtomicUsize::new(0),
            received: Mutex::new(Vec::new()),
            ended: Mutex::new(0),
            one_more: Condvar::new(),
        });
        let (signal, for_thread) = (stop.signal(), shared.clone());
        thread::spawn(move || accept_all(&listener, &signal, &for_thread));
        RawPeer { address, stop, shared }
    }
}

impl Drop for RawPeer {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// A peer that accepts thousands of connections with one thread and never says a word.
pub struct SilentPeer {
    address: SocketAddr,
    stop: Stop,
}

impl SilentPeer {
    pub fn start() -> io::Result<SilentPeer> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        rustix::net::listen(&listener, 4096)?;
        listener.set_nonblocking(true)?;
        let (address, stop) = (listener.local_addr()?, Stop::new()?);
        let signal = stop.signal();
        thread::spawn(move || {
            let mut held = Vec::new();
            while signal.wait(&listener, None) == Woken::Readable {
                held.extend(listener.accept());
            }
        });
        Ok(SilentPeer { address, stop })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for SilentPeer {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

fn accept_all(listener: &TcpListener, signal: &Signal, shared: &Arc<Shared>) {
    while signal.wait(listener, None) == Woken::Readable {
        let Ok((socket, _)) = listener.accept() else { continue };
        let number = shared.accepts.fetch_add(1, Ordering::SeqCst);
        shared.received.lock().expect("never poisoned").push(Vec::new());
        let (shared, signal) = (shared.clone(), signal.clone());
        thread::spawn(move || {
            let _ = socket.set_nonblocking(false);
            let tls = shared.tls.as_ref().filter(|_| !shared.begins_plain);
            let Ok(stream) = Stream::accept(socket, tls) else { return };
            let script = shared.scripts[number.min(shared.scripts.len() - 1)].clone();
            let _ = follow(script, stream, number, &shared, &signal);
            *shared.ended.lock().expect("never poisoned") += 1;
            shared.one_more.notify_all();
        });
    }
}

fn follow(
    script: Script,
    mut stream: Stream,
    number: usize,
    shared: &Shared,
    signal: &Signal,
) -> io::Result<()> {
    let mut pending = Vec::new();
    for step in script {
        match step {
            Step::Expect(text) => read_until(&mut stream, &mut pending, number, shared, |bytes| {
                bytes
                    .windows(text.len().max(1))
                    .position(|window| window == text)
                    .map(|start| start + text.len())
            })?,
            Step::ExpectBytes(length) => read_until(&mut stream, &mut pending, number, shared, |bytes| {
                (bytes.len() >= length).then_some(length)
            })?,
            Step::Send(bytes) => {
                stream.write_all(&bytes)?;
                stream.flush()?;
            }
            Step::Sleep(time) => {
                signal.sleep(time);
            }
            Step::ReadAll => {
                let _ = read_until(&mut stream, &mut pending, number, shared, |_| None);
            }
            Step::StartTls => {
                pending.clear();
                stream = match stream {
                    Stream::Plain(socket) => Stream::accept(socket, shared.tls.as_ref())?,
                    protected => protected,
                };
            }
            Step::Finish => break,
            Step::Cut => {
                stream.cut();
                return Ok(());
            }
            Step::Reset => {
                stream.reset();
                return Ok(());
            }
            Step::Hold => while signal.sleep(Duration::from_secs(3600)) {},
        }
    }
    stream.finish();
    Ok(())
}

fn read_until(
    stream: &mut Stream,
    pending: &mut Vec<u8>,
    number: usize,
    shared: &Shared,
    enough: impl Fn(&[u8]) -> Option<usize>,
) -> io::Result<()> {
    let mut scratch = [0; 16_384];
    loop {
        if let Some(length) = enough(pending) {
            pending.drain(..length);
            return Ok(());
        }
        let length = stream.read(&mut scratch)?;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        pending.extend_from_slice(&scratch[..length]);
        shared.received.lock().expect("never poisoned")[number].extend_from_slice(&scratch[..length]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;

    #[test]
    fn scripts_are_dealt_in_turn() {
        let peer =
            RawPeer::start(vec![vec![expect("one"), send("1")], vec![expect("two"), send("22"), Step::Cut]]);
        for (say, hear) in [("one", "1"), ("two", "22"), ("two", "22")] {
            let mut stream = TcpStream::connect(peer.address()).unwrap();
            stream.write_all(say.as_bytes()).unwrap();
            let mut heard = String::new();
            stream.read_to_string(&mut heard).unwrap();
            assert_eq!(heard, hear);
        }
        assert_eq!(peer.received(), [b"one".to_vec(), b"two".to_vec(), b"two".to_vec()]);
    }
}
