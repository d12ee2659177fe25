//! An FTP server with scripted faults, for a single client, so that the behaviour of two clients can be
//! compared. Without a script it is an ordinary server of one small file, in passive and in active mode.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::fd::OwnedFd;
use rustix::net::{AddressFamily, SocketType};

use crate::stop::{Signal, Stop, Woken};

/// A fault at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// A verb, or [`GREETING`], [`DONE`] (the reply after the data), [`DATA`].
    pub at: &'static str,
    /// At which of them; at each when none is named.
    pub nth: Option<usize>,
    pub what: Change,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// These octets instead of the reply.
    Say(Vec<u8>),
    /// These octets, and the control connection is closed.
    SayAndCut(Vec<u8>),
    /// The data connection's port is closed.
    Refuse,
    /// So much of the data.
    Short(usize),
    /// More data than the announced size.
    Long,
    /// The reply after the data is sent before it.
    Early,
}

pub const GREETING: &str = "(greeting)";
pub const DONE: &str = "(done)";
pub const DATA: &str = "(data)";

/// The file that is served.
pub const CONTENT: &[u8] = b"first line\r\nsecond line\nthird\r\n0123456789\n";
const LISTING: &[u8] = b"total 2\r\ndrwxr-xr-x   2 u g 512 Jan 11 10:00 .\r\n\
-rw-r--r--   1 u g 42 Jan 11 10:00 file\r\n-rw-r--r--   1 u g 42 Jan 11 10:00 file2\r\nlrwxrwxrwx 1 u g 4 Jan 11 10:00 li -> file\r\n";
const NAMES: &[u8] = b"file\r\nfile2\r\nli\r\n";

/// Idle time after which a client is dropped.
const LIMIT: Duration = Duration::from_secs(8);

/// A running server.
pub struct Mutant {
    address: SocketAddr,
    stop: Stop,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

struct Shared {
    faults: Vec<Mutation>,
    seen: Mutex<Vec<Vec<String>>>,
    stop: Signal,
}

impl Mutant {
    pub fn start(faults: Vec<Mutation>) -> io::Result<Mutant> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let stop = Stop::new()?;
        let shared = Arc::new(Shared { faults, seen: Mutex::default(), stop: stop.signal() });
        let for_thread = shared.clone();
        let accepting = thread::spawn(move || accept_all(&listener, &for_thread));
        Ok(Mutant { address, stop, shared, accepting: Some(accepting) })
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Returns what was received on each connection: commands, and stored files. Call it when the client has
    /// ended.
    pub fn seen(mut self) -> Vec<Vec<String>> {
        // Last commands may still be in transit: every session ends by itself once its client is gone.
        thread::sleep(Duration::from_millis(2));
        self.stop.stop();
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
        self.shared.seen.lock().expect("never poisoned").clone()
    }
}

fn accept_all(listener: &TcpListener, shared: &Arc<Shared>) {
    let mut sessions = Vec::new();
    while shared.stop.wait(listener, None) == Woken::Readable {
        let Ok((control, _)) = listener.accept() else { continue };
        let number = {
            let mut seen = shared.seen.lock().expect("never poisoned");
            seen.push(Vec::new());
            seen.len() - 1
        };
        let shared = shared.clone();
        sessions.push(thread::spawn(move || {
            let _ = Session::new(control, number, shared).serve();
        }));
    }
    for session in sessions {
        let _ = session.join();
    }
}

/// How a client is met on the data connection.
enum Meeting {
    Passive(TcpListener),
    Active(SocketAddr),
    /// This port refuses connections, and is reserved.
    Nobody(OwnedFd),
}

impl Meeting {
    fn listening() -> io::Result<Meeting> {
        TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map(Meeting::Passive)
    }

    fn nobody() -> io::Result<Meeting> {
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None)?;
        rustix::net::bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        Ok(Meeting::Nobody(socket))
    }

    fn port(&self) -> u16 {
        match self {
            Meeting::Passive(listener) => listener.local_addr().map_or(0, |address| address.port()),
            Meeting::Active(address) => address.port(),
            Meeting::Nobody(socket) => {
                let address =
                    rustix::net::getsockname(socket).ok().and_then(|a| SocketAddr::try_from(a).ok());
                address.map_or(0, |address| address.port())
            }
        }
    }
}

struct Session {
    control: TcpStream,
    number: usize,
    shared: Arc<Shared>,
    received: Vec<u8>,
    counts: Vec<(String, usize)>,
    meeting: Option<Meeting>,
    offset: usize,
    text: bool,
    cut: bool,
}

impl Session {
    fn new(control: TcpStream, number: usize, shared: Arc<Shared>) -> Session {
        Session {
            control,
            number,
            shared,
            received: Vec::new(),
            counts: Vec::new(),
            meeting: None,
            offset: 0,
            text: false,
            cut: false,
        }
    }

    fn serve(&mut self) -> io::Result<()> {
        self.control.set_nodelay(true)?;
        self.control.set_read_timeout(Some(LIMIT))?;
        self.answer(GREETING, "220 mutant")?;
        while let Some(line) = self.command()? {
            self.note(line.clone());
            if !self.cut {
                self.obey(&line)?;
            }
        }
        Ok(())
    }

    fn note(&self, what: String) {
        self.shared.seen.lock().expect("never poisoned")[self.number].push(what);
    }

    fn command(&mut self) -> io::Result<Option<String>> {
        loop {
            if let Some(end) = self.received.iter().position(|&octet| octet == b'\n') {
                let line: Vec<u8> = self.received.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line);
                return Ok(Some(line.trim_end_matches(['\r', '\n']).to_owned()));
            }
            let mut buf = [0; 4096];
            match self.control.read(&mut buf)? {
                0 => return Ok(None),
                n => self.received.extend_from_slice(&buf[..n]),
            }
        }
    }

    /// The fault at this place, now that it is come by once more.
    fn fault(&mut self, at: &str) -> Option<Change> {
        let nth = match self.counts.iter_mut().find(|(place, _)| place == at) {
            Some((_, count)) => {
                *count += 1;
                *count
            }
            None => {
                self.counts.push((at.to_owned(), 0));
                0
            }
        };
        let fits = |fault: &&Mutation| fault.at == at && fault.nth.is_none_or(|wanted| wanted == nth);
        self.shared.faults.iter().find(fits).map(|fault| fault.what.clone())
    }

    /// Sends a reply, or the script's replacement; returns the code that was sent last.
    fn answer(&mut self, at: &str, reply: &str) -> io::Result<u16> {
        let octets = match self.fault(at) {
            Some(Change::Say(octets)) => octets,
            Some(Change::SayAndCut(octets)) => {
                self.cut = true;
                octets
            }
            _ => format!("{reply}\r\n").into_bytes(),
        };
        let octets = self.with_port(octets);
        // A client that is gone may have left commands to read.
        let _ = self.control.write_all(&octets);
        if self.cut {
            // Remaining input is read: a reset would destroy replies that the client has not read yet.
            let _ = self.control.shutdown(std::net::Shutdown::Write);
        }
        Ok(last_code(&octets))
    }

    /// `{p}`, `{h}` and `{l}` are the data port, whole and in two halves.
    fn with_port(&self, octets: Vec<u8>) -> Vec<u8> {
        let Some(port) = self.meeting.as_ref().map(Meeting::port) else { return octets };
        let Ok(text) = str::from_utf8(&octets) else { return octets };
        let halves = [("{p}", port), ("{h}", port >> 8), ("{l}", port & 255)];
        halves
            .iter()
            .fold(text.to_owned(), |text, (name, value)| text.replace(name, &value.to_string()))
            .into_bytes()
    }

    fn obey(&mut self, line: &str) -> io::Result<()> {
        let (verb, argument) = line.split_once(' ').unwrap_or((line, ""));
        let reply = match verb {
            "USER" => "331 password",
            "PASS" => "230 in",
            "PWD" => "257 \"/\" is it",
            "CWD" | "MKD" | "DELE" | "ACCT" => "250 fine",
            "SYST" => "215 UNIX",
            "SIZE" => "213 42",
            "MDTM" => "213 20200102030405",
            "QUIT" => "221 bye",
            "ABOR" => "225 nothing to stop",
            "REST" => return self.restart(argument),
            "TYPE" => {
                self.text = argument == "A";
                "200 type"
            }
            "EPSV" | "PASV" => return self.passive(verb),
            "EPRT" | "PORT" => return self.active(verb, argument),
            "RETR" | "LIST" | "NLST" => return self.send(verb),
            "STOR" | "APPE" => return self.store(verb),
            _ => "200 fine",
        };
        self.answer(verb, reply).map(|_| ())
    }

    fn restart(&mut self, argument: &str) -> io::Result<()> {
        if self.answer("REST", "350 from there")? == 350 {
            self.offset = argument.parse().unwrap_or(0);
        }
        Ok(())
    }

    fn passive(&mut self, verb: &str) -> io::Result<()> {
        let refused = self.fault(DATA) == Some(Change::Refuse);
        let meeting = if refused { Meeting::nobody()? } else { Meeting::listening()? };
        let port = meeting.port();
        let reply = match verb {
            "EPSV" => format!("229 here (|||{port}|)"),
            _ => format!("227 here (127,0,0,1,{},{})", port >> 8, port & 255),
        };
        self.meeting = Some(meeting);
        self.answer(verb, &reply).map(|_| ())
    }

    fn active(&mut self, verb: &str, argument: &str) -> io::Result<()> {
        let port = match verb {
            "EPRT" => argument.rsplit('|').nth(1).and_then(|port| port.parse().ok()),
            _ => {
                let numbers: Vec<u16> = argument.split(',').filter_map(|n| n.parse().ok()).collect();
                numbers.get(4).zip(numbers.get(5)).map(|(high, low)| high << 8 | low)
            }
        };
        let refused = self.fault(DATA) == Some(Change::Refuse);
        self.meeting = match port {
            Some(port) if !refused => Some(Meeting::Active((Ipv4Addr::LOCALHOST, port).into())),
            _ => None,
        };
        self.answer(verb, "200 fine").map(|_| ())
    }

    fn meet(&mut self) -> io::Result<Option<TcpStream>> {
        let stream = match self.meeting.take() {
            Some(Meeting::Passive(listener)) => {
                match self.shared.stop.wait(&listener, Some(Duration::from_secs(3))) {
                    Woken::Readable => Some(listener.accept()?.0),
                    _ => None,
                }
            }
            Some(Meeting::Active(address)) => TcpStream::connect(address).ok(),
            _ => None,
        };
        if let Some(stream) = &stream {
            stream.set_read_timeout(Some(LIMIT))?;
        }
        Ok(stream)
    }

    fn send(&mut self, verb: &str) -> io::Result<()> {
        let from = std::mem::take(&mut self.offset).min(CONTENT.len());
        let mut content = match verb {
            "RETR" => CONTENT[from..].to_vec(),
            "LIST" => LISTING.to_vec(),
            _ => NAMES.to_vec(),
        };
        let fault = self.fault(DATA);
        match fault {
            Some(Change::Short(length)) => content.truncate(length),
            Some(Change::Long) => content.extend_from_slice(b"and more\n"),
            _ => {}
        }
        let begin = if verb == "RETR" { "150 it comes (42 bytes)" } else { "150 it comes" };
        if self.answer(verb, begin)? / 100 != 1 || self.cut {
            self.meeting = None;
            return Ok(());
        }
        if fault == Some(Change::Early) {
            self.answer(DONE, "226 done")?;
        }
        if let Some(mut stream) = self.meet()? {
            stream.write_all(&content)?;
            leave(stream);
        }
        match fault {
            Some(Change::Early) => Ok(()),
            _ => self.answer(DONE, "226 done").map(|_| ()),
        }
    }

    fn store(&mut self, verb: &str) -> io::Result<()> {
        if self.answer(verb, "150 send it")? / 100 != 1 || self.cut {
            self.meeting = None;
            return Ok(());
        }
        if let Some(mut stream) = self.meet()? {
            let mut content = Vec::new();
            let end = Instant::now() + LIMIT;
            let mut buf = [0; 4096];
            while Instant::now() < end {
                match stream.read(&mut buf) {
                    Ok(0) | Err(_) => break,
                    Ok(n) => content.extend_from_slice(&buf[..n]),
                }
            }
            self.note(format!("stored {:?}", String::from_utf8_lossy(&content)));
        }
        self.answer(DONE, "226 done").map(|_| ())
    }
}

/// Closes after the client, so that no reset destroys unread data.
fn leave(mut stream: TcpStream) {
    let _ = stream.shutdown(std::net::Shutdown::Write);
    thread::spawn(move || {
        let _ = io::copy(&mut stream, &mut io::sink());
    });
}

/// The code of the last line that ends a reply.
fn last_code(octets: &[u8]) -> u16 {
    let lines = octets.split(|&octet| octet == b'\n');
    let mut codes = lines.filter_map(|line| match line {
        [a, b, c, b' ', ..] if [a, b, c].iter().all(|octet| octet.is_ascii_digit()) => {
            std::str::from_utf8(&line[..3]).ok()?.parse().ok()
        }
        _ => None,
    });
    codes.next_back().unwrap_or(0)
}
