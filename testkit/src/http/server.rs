//! The embedded HTTP/1.1 server: one thread per connection, persistent connections, counters, a record of
//! requests.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use rustls::ServerConfig;

use super::request::Request;
use super::response::{After, Response};
use super::routes;
use crate::stop::{Signal, Stop, Woken};
use crate::stream::Stream;

/// Maximum number of recorded requests.
const RECORD_LIMIT: usize = 2000;
/// Larger bodies are answered but not recorded.
const RECORD_BODY_LIMIT: usize = 1 << 20;
const STACK: usize = 512 << 10;

/// Answers a request before the built-in paths are tried.
pub type Handler = Arc<dyn Fn(&Request) -> Option<Response> + Send + Sync>;

/// Settings of a server before it starts.
#[derive(Clone, Default)]
pub struct Config {
    pub tls: Option<Arc<ServerConfig>>,
    pub handler: Option<Handler>,
    /// Where to listen; an ephemeral port of 127.0.0.1 when None.
    pub address: Option<SocketAddr>,
    /// Delimits each head and body in a trace on standard error.
    pub trace: bool,
}

/// A running server; dropping it closes the listener and every connection.
pub struct HttpServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Stop,
}

/// A connection as the server sees it.
pub(super) struct Wire {
    pub stream: Stream,
    /// Bytes read and not yet parsed.
    pub pending: Vec<u8>,
    pub signal: Signal,
}

struct Shared {
    config: Config,
    /// Ends the connections; replaced when only the idle ones are to be closed.
    connections: Mutex<Stop>,
    /// The end of the server.
    ending: Signal,
    accepts: AtomicUsize,
    open: AtomicUsize,
    handshakes: AtomicUsize,
    resumptions: AtomicUsize,
    served: AtomicUsize,
    record: Mutex<VecDeque<Request>>,
}

impl HttpServer {
    /// A plain server with the built-in paths (see `routes.rs`).
    pub fn plain() -> HttpServer {
        HttpServer::start(Config::default()).expect("loopback has a free port")
    }

    /// Starts two plain servers at one port of 127.0.0.1 and of 127.0.0.2, for a name that moves from the
    /// first to the second.
    pub fn twins(first: Option<Handler>, second: Option<Handler>) -> (HttpServer, HttpServer) {
        for _ in 0..100 {
            let config = Config { handler: first.clone(), ..Config::default() };
            let here = HttpServer::start(config).expect("loopback has a free port");
            let address = Some(SocketAddr::from(([127, 0, 0, 2], here.port())));
            let config = Config { address, handler: second.clone(), ..Config::default() };
            // Another test may use the port there.
            if let Ok(there) = HttpServer::start(config) {
                return (here, there);
            }
        }
        panic!("no port is free at both addresses");
    }

    /// Starts a server with TLS.
    pub fn tls(config: Arc<ServerConfig>) -> HttpServer {
        HttpServer::start(Config { tls: Some(config), ..Config::default() })
            .expect("loopback has a free port")
    }

    /// A plain server that asks `handler` first.
    pub fn with(handler: impl Fn(&Request) -> Option<Response> + Send + Sync + 'static) -> HttpServer {
        HttpServer::start(Config { handler: Some(Arc::new(handler)), ..Config::default() })
            .expect("loopback has a free port")
    }

    pub fn start(config: Config) -> io::Result<HttpServer> {
        let listener = TcpListener::bind(config.address.unwrap_or_else(|| ([127, 0, 0, 1], 0).into()))?;
        // std listens with a backlog of 128; a test opens 1,100 connections at once.
        rustix::net::listen(&listener, 4096)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let accepting = Stop::new()?;
        let shared = Arc::new(Shared {
            config,
            connections: Mutex::new(Stop::new()?),
            ending: accepting.signal(),
            accepts: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            handshakes: AtomicUsize::new(0),
            resumptions: AtomicUsize::new(0),
            served: AtomicUsize::new(0),
            record: Mutex::new(VecDeque::new()),
        });
        let (signal, for_thread) = (accepting.signal(), shared.clone());
        thread::Builder::new()
            .stack_size(STACK)
            .spawn(move || accept_all(&listener, &signal, &for_thread))?;
        Ok(HttpServer { address, shared, accepting })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// An absolute URL on this server; over TLS it names localhost, over plain TCP the address.
    pub fn url(&self, path: &str) -> String {
        match self.shared.config.tls {
            Some(_) => format!("https://localhost:{}{path}", self.port()),
            None => format!("http://{}{path}", self.address),
        }
    }

    /// Connections accepted so far.
    pub fn accepts(&self) -> usize {
        self.shared.accepts.load(Ordering::SeqCst)
    }

    /// Connections open now.
    pub fn open(&self) -> usize {
        self.shared.open.load(Ordering::SeqCst)
    }

    /// TLS handshakes that succeeded.
    pub fn handshakes(&self) -> usize {
        self.shared.handshakes.load(Ordering::SeqCst)
    }

    /// Handshakes among them that resumed a TLS session.
    pub fn resumptions(&self) -> usize {
        self.shared.resumptions.load(Ordering::SeqCst)
    }

    /// Requests answered so far.
    pub fn served(&self) -> usize {
        self.shared.served.load(Ordering::SeqCst)
    }

    /// Returns the requests, oldest first (the last 2,000).
    pub fn requests(&self) -> Vec<Request> {
        self.shared.record.lock().expect("recording does not panic").iter().cloned().collect()
    }

    pub fn last_request(&self) -> Option<Request> {
        self.shared.record.lock().expect("recording does not panic").back().cloned()
    }

    /// Closes every connection that waits for a request (and those that sleep within a reply); the server
    /// continues.
    pub fn close_connections(&self) -> io::Result<()> {
        let fresh = Stop::new()?;
        let old = std::mem::replace(&mut *self.shared.connections.lock().expect("never poisoned"), fresh);
        old.stop();
        Ok(())
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.accepting.stop();
        self.shared.connections.lock().expect("never poisoned").stop();
    }
}

fn accept_all(listener: &TcpListener, signal: &Signal, shared: &Arc<Shared>) {
    while signal.wait(listener, None) == Woken::Readable {
        let Ok((socket, _)) = listener.accept() else { continue };
        let number = shared.accepts.fetch_add(1, Ordering::SeqCst);
        let shared = shared.clone();
        let started = thread::Builder::new().stack_size(STACK).spawn(move || {
            shared.open.fetch_add(1, Ordering::SeqCst);
            let _ = serve(socket, number, &shared);
            shared.open.fetch_sub(1, Ordering::SeqCst);
        });
        drop(started);
    }
}

fn serve(socket: TcpStream, number: usize, shared: &Shared) -> io::Result<()> {
    socket.set_nonblocking(false)?;
    let signal = shared.connections.lock().expect("never poisoned").signal();
    let stream = Stream::accept(socket, shared.config.tls.as_ref())?;
    shared.handshakes.fetch_add(usize::from(shared.config.tls.is_some()), Ordering::SeqCst);
    shared.resumptions.fetch_add(usize::from(stream.is_resumed()), Ordering::SeqCst);
    let mut wire = Wire { stream, pending: Vec::new(), signal };
    let mut serial = 0;
    loop {
        let buffered = !wire.pending.is_empty() || wire.stream.has_decrypted();
        // A connection is idle, and may be closed as such, only after its first request.
        let signal = if serial == 0 { &shared.ending } else { &wire.signal };
        if !buffered && signal.wait(wire.stream.socket(), None) == Woken::Stopped {
            wire.stream.finish();
            return Ok(());
        }
        let Some(mut request) = Request::read_head(&mut wire)? else { return Ok(()) };
        (request.connection, request.serial) = (number, serial);
        serial += 1;
        match exchange(&mut wire, request, shared)? {
            After::Keep => continue,
            After::Finish => wire.stream.finish(),
            After::Cut => wire.stream.cut(),
            After::Reset => wire.stream.reset(),
        }
        return Ok(());
    }
}

/// Reads the body, replies, and returns the state of the connection.
fn exchange(wire: &mut Wire, mut request: Request, shared: &Shared) -> io::Result<After> {
    // A request with Expect may be refused by its head alone.
    let early = if request.expects_continue() { routes::refuse_expectation(&request) } else { None };
    let response = match early {
        Some(response) => response,
        None => {
            if request.expects_continue() && !request.path().starts_with("/no-continue") {
                wire.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
                wire.stream.flush()?;
            }
            request.read_body(wire)?;
            let custom = shared.config.handler.as_ref().and_then(|handler| handler(&request));
            custom.unwrap_or_else(|| routes::answer(&request, shared.counters()))
        }
    };
    if shared.config.trace {
        eprint!("{}", String::from_utf8_lossy(&request.head));
    }
    let (head_only, closing) = (request.is_head(), asks_to_close(&request));
    shared.remember(request);
    shared.served.fetch_add(1, Ordering::SeqCst);
    response.send(wire, head_only)?;
    Ok(match response.after {
        After::Keep if closing || response.framing == super::Framing::Close => After::Finish,
        after => after,
    })
}

fn asks_to_close(request: &Request) -> bool {
    request.field("Connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
}

impl Shared {
    fn counters(&self) -> routes::Counters {
        routes::Counters {
            accepts: self.accepts.load(Ordering::SeqCst),
            open: self.open.load(Ordering::SeqCst),
            served: self.served.load(Ordering::SeqCst),
        }
    }

    fn remember(&self, mut request: Request) {
        if request.body.len() > RECORD_BODY_LIMIT {
            request.body = Vec::new();
        }
        let mut record = self.record.lock().expect("recording does not panic");
        if record.len() == RECORD_LIMIT {
            record.pop_front();
        }
        record.push_back(request);
    }
}
