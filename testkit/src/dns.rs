//! A name server on loopback, by UDP and TCP on one port, with scripted replies.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::stop::{Signal, Stop, Woken};

/// Types of records, as they are numbered.
pub const A: u16 = 1;
pub const CNAME: u16 = 5;
pub const AAAA: u16 = 28;
pub const HTTPS: u16 = 65;

/// A received query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedQuery {
    /// The name in the case of letters that was received.
    pub name: String,
    pub kind: u16,
    /// By TCP.
    pub by_stream: bool,
    /// It said how much room there is for an answer (EDNS).
    pub extended: bool,
    pub from: SocketAddr,
    pub message: Vec<u8>,
}

/// A scripted reply.
#[derive(Clone, Debug)]
pub enum DnsAnswer {
    /// Records: owner (empty for the queried name), type and data, each with a TTL of a minute unless
    /// `Lasting` says another.
    Records(Vec<(&'static str, u16, Vec<u8>)>),
    /// A response code, without records.
    Code(u8),
    /// Truncated, without records.
    Truncated,
    Silence,
    /// First this answer with a wrong number, then with the right one.
    AfterForgery(Vec<u8>),
    /// That reply after this delay; other queries are answered meanwhile.
    Late(Duration, Box<DnsAnswer>),
    /// That reply, whose records have a TTL of so many seconds.
    Lasting(u32, Box<DnsAnswer>),
    /// With the name in lower case, whatever the case of the query.
    LowerCase(Vec<u8>),
}

/// Answers a question.
pub type Handler = Arc<dyn Fn(&ReceivedQuery) -> DnsAnswer + Send + Sync>;

/// A running name server; dropping it ends it.
pub struct NameServer {
    address: SocketAddr,
    record: Arc<Mutex<Vec<ReceivedQuery>>>,
    _stop: Stop,
}

/// An address as a record.
pub fn address(kind: u16, ip: &str) -> DnsAnswer {
    let octets = match ip.parse().expect("a test writes addresses") {
        std::net::IpAddr::V4(v4) => v4.octets().to_vec(),
        std::net::IpAddr::V6(v6) => v6.octets().to_vec(),
    };
    DnsAnswer::Records(vec![("", kind, octets)])
}

impl NameServer {
    /// Starts a server at a free port.
    pub fn start(handler: impl Fn(&ReceivedQuery) -> DnsAnswer + Send + Sync + 'static) -> NameServer {
        let sockets = pair().expect("loopback has a free port");
        NameServer::serve(sockets, handler)
    }

    /// Starts a server at that address: the system's resolver asks port 53 alone.
    pub fn start_at(
        address: SocketAddr,
        handler: impl Fn(&ReceivedQuery) -> DnsAnswer + Send + Sync + 'static,
    ) -> io::Result<NameServer> {
        Ok(NameServer::serve((UdpSocket::bind(address)?, TcpListener::bind(address)?), handler))
    }

    fn serve(
        (datagrams, streams): (UdpSocket, TcpListener),
        handler: impl Fn(&ReceivedQuery) -> DnsAnswer + Send + Sync + 'static,
    ) -> NameServer {
        let address = datagrams.local_addr().expect("it is bound");
        let (stop, record) = (Stop::new().expect("pipes can be had"), Arc::default());
        let answering = Answering { handler: Arc::new(handler), record: Arc::clone(&record) };
        let (signal, other) = (stop.signal(), answering.clone());
        thread::spawn(move || answering.datagrams(&datagrams, &signal));
        let signal = stop.signal();
        thread::spawn(move || other.streams(&streams, &signal));
        NameServer { address, record, _stop: stop }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns all queries so far.
    pub fn asked(&self) -> Vec<ReceivedQuery> {
        self.record.lock().expect("no thread panics with it").clone()
    }
}

/// Two sockets at one port.
fn pair() -> io::Result<(UdpSocket, TcpListener)> {
    let mut last = None;
    for _ in 0..50 {
        let datagrams = UdpSocket::bind("127.0.0.1:0")?;
        match TcpListener::bind(datagrams.local_addr()?) {
            Ok(streams) => return Ok((datagrams, streams)),
            Err(e) => last = Some(e),
        }
    }
    Err(last.unwrap_or_else(|| io::ErrorKind::AddrInUse.into()))
}

#[derive(Clone)]
struct Answering {
    handler: Handler,
    record: Arc<Mutex<Vec<ReceivedQuery>>>,
}

impl Answering {
    fn datagrams(&self, socket: &UdpSocket, signal: &Signal) {
        let mut buffer = [0; 2048];
        while signal.wait(socket, None) == Woken::Readable {
            let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
            let (late, replies) = self.replies(&buffer[..length], from, false);
            let Ok(socket) = socket.try_clone() else { continue };
            let send = move || {
                thread::sleep(late);
                replies.iter().for_each(|reply| drop(socket.send_to(reply, from)));
            };
            if late.is_zero() { send() } else { drop(thread::spawn(send)) }
        }
    }

    fn streams(&self, listener: &TcpListener, signal: &Signal) {
        while signal.wait(listener, None) == Woken::Readable {
            if let Ok((stream, from)) = listener.accept() {
                let _ = self.stream(stream, from, signal);
            }
        }
    }

    fn stream(&self, mut stream: TcpStream, from: SocketAddr, signal: &Signal) -> io::Result<()> {
        while signal.wait(&stream, None) == Woken::Readable {
            let mut length = [0; 2];
            stream.read_exact(&mut length)?;
            let mut message = vec![0; usize::from(u16::from_be_bytes(length))];
            stream.read_exact(&mut message)?;
            let (late, replies) = self.replies(&message, from, true);
            thread::sleep(late);
            for reply in replies {
                // In two pieces: who reads must put them together.
                stream.write_all(&(reply.len() as u16).to_be_bytes()[..1])?;
                stream.write_all(&[&(reply.len() as u16).to_be_bytes()[1..], &reply].concat())?;
            }
        }
        Ok(())
    }

    /// Returns the replies, and the delay before them.
    fn replies(&self, message: &[u8], from: SocketAddr, by_stream: bool) -> (Duration, Vec<Vec<u8>>) {
        let Some((name, end)) = name(message) else { return Default::default() };
        let kind = u16::from_be_bytes([message[end], message[end + 1]]);
        let extended = message[11] == 1;
        let asked = ReceivedQuery { name, kind, by_stream, extended, from, message: message.to_vec() };
        let (mut late, mut ttl) = (Duration::ZERO, 60);
        let mut says = (self.handler)(&asked);
        loop {
            says = match says {
                DnsAnswer::Late(by, inner) => {
                    late += by;
                    *inner
                }
                DnsAnswer::Lasting(seconds, inner) => {
                    ttl = seconds;
                    *inner
                }
                _ => break,
            };
        }
        self.record.lock().expect("no thread panics with it").push(asked);
        let mut question = message[..end + 4].to_vec();
        (question[2], question[3], question[11]) = (0x81, 0x80, 0);
        let replies = match says {
            DnsAnswer::Silence | DnsAnswer::Late(..) | DnsAnswer::Lasting(..) => Vec::new(),
            DnsAnswer::Code(code) => {
                question[3] |= code;
                vec![question]
            }
            DnsAnswer::Truncated => {
                question[2] |= 2;
                vec![question]
            }
            DnsAnswer::Records(records) => vec![with(question, ttl, &records)],
            DnsAnswer::LowerCase(data) => {
                question[12..end].make_ascii_lowercase();
                vec![with(question, ttl, &[("", kind, data)])]
            }
            DnsAnswer::AfterForgery(data) => {
                let honest = with(question.clone(), ttl, &[("", kind, data)]);
                let mut forged = with(question, ttl, &[("", kind, vec![9; 4])]);
                forged[0] ^= 1;
                vec![forged, honest]
            }
        };
        (late, replies)
    }
}

fn with(mut message: Vec<u8>, ttl: u32, records: &[(&str, u16, Vec<u8>)]) -> Vec<u8> {
    message[7] = records.len() as u8;
    for (owner, kind, data) in records {
        match owner.is_empty() {
            true => message.extend([0xc0, 12]),
            false => message.extend(wire_name(owner)),
        }
        message.extend(kind.to_be_bytes());
        message.extend([0, 1]);
        message.extend(ttl.to_be_bytes());
        message.extend((data.len() as u16).to_be_bytes());
        message.extend(data);
    }
    message
}

/// A name as records have it.
pub fn wire_name(name: &str) -> Vec<u8> {
    let labels = name.split('.').flat_map(|label| [&[label.len() as u8], label.as_bytes()].concat());
    labels.chain([0]).collect()
}

/// Returns the name in the query, and the position of its type.
fn name(message: &[u8]) -> Option<(String, usize)> {
    let (mut at, mut labels) = (12, Vec::new());
    loop {
        let length = usize::from(*message.get(at)?);
        let label = message.get(at + 1..at + 1 + length)?;
        at += 1 + length;
        if length == 0 {
            message.get(at..at + 4)?;
            return Some((labels.join("."), at));
        }
        labels.push(String::from_utf8_lossy(label).into_owned());
    }
}
