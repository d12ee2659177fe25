//! The server of one case: it answers the first, second, … request of a connection with the first, second, …
//! reply, the last one again and again.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// How soon a waiting thread sees that the case is over.
const SLICE: Duration = Duration::from_millis(20);

pub type Request = (Vec<u8>, Vec<u8>);

pub struct Server {
    pub port: u16,
    state: Arc<ServerState>,
    thread: JoinHandle<()>,
}

struct ServerState {
    replies: Vec<Vec<u8>>,
    keep_open: bool,
    over: AtomicBool,
    requests: Mutex<Vec<Request>>,
}

impl Server {
    /// `%PORT` in the replies becomes the port.
    pub fn start(replies: &[Vec<u8>], keep_open: bool) -> std::io::Result<Server> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let replies = replies.iter().map(|r| super::case::with_port(r, port)).collect();
        let state =
            Arc::new(ServerState { replies, keep_open, over: false.into(), requests: Mutex::default() });
        let shared = Arc::clone(&state);
        let thread = std::thread::spawn(move || accept(&listener, &shared));
        Ok(Server { port, state, thread })
    }

    /// Ends the server; returns heads and bodies of all requests, in order.
    pub fn stop(self) -> Vec<Request> {
        self.state.over.store(true, Ordering::Relaxed);
        let _ = self.thread.join();
        std::mem::take(&mut *self.state.requests.lock().unwrap_or_else(|e| e.into_inner()))
    }
}

fn accept(listener: &TcpListener, state: &Arc<ServerState>) {
    let mut threads = vec![];
    while !state.over.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, _)) => {
                let state = Arc::clone(state);
                threads.push(std::thread::spawn(move || drop(converse(stream, &state))));
            }
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    threads.into_iter().for_each(|thread| drop(thread.join()));
}

fn converse(mut stream: TcpStream, state: &ServerState) -> std::io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(SLICE))?;
    let mut received = vec![];
    let mut replies = state
        .replies
        .iter()
        .cycle()
        .take(state.replies.len())
        .chain(state.replies.last().into_iter().cycle());
    while let Some(request) = request(&mut stream, &mut received, state)? {
        state.requests.lock().unwrap_or_else(|e| e.into_inner()).push(request);
        let Some(reply) = replies.next() else { break };
        stream.write_all(reply)?;
        if !state.keep_open {
            return stream.shutdown(Shutdown::Both);
        }
    }
    Ok(())
}

/// The next request; `None` when the client has closed or the case is over. The body of one that expects a
/// go-ahead is not waited for.
fn request(
    stream: &mut TcpStream,
    received: &mut Vec<u8>,
    state: &ServerState,
) -> std::io::Result<Option<Request>> {
    let mut head_len = None;
    loop {
        head_len = head_len.or_else(|| find(received, b"\r\n\r\n"));
        if let Some(head_len) = head_len {
            let (head, rest) = (&received[..head_len], &received[head_len + 4..]);
            if let Some(body_len) = body_len(head, rest) {
                let request = (head.to_vec(), rest[..body_len].to_vec());
                received.drain(..head_len + 4 + body_len);
                return Ok(Some(request));
            }
        }
        let mut buffer = [0; 16 * 1024];
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(None),
            Ok(n) => received.extend_from_slice(&buffer[..n]),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if state.over.load(Ordering::Relaxed) {
                    return Ok(None);
                }
            }
            Err(e) => return Err(e),
        }
    }
}

/// How long the body is, once all of it is there.
fn body_len(head: &[u8], rest: &[u8]) -> Option<usize> {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let value = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    if value("expect:").is_some() {
        return Some(0);
    }
    if value("transfer-encoding:").is_some() {
        return find(rest, b"0\r\n\r\n").map(|at| at + 5);
    }
    let length = value("content-length:").and_then(|text| text.parse().ok()).unwrap_or(0);
    (rest.len() >= length).then_some(length)
}

pub fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}
