//! `--proxy-command`: a command whose standard input and output are the connection to the server, as with
//! OpenSSH's ProxyCommand.
//!
//! The library believes that it uses a SOCKS5 proxy (RFC 1928): so it looks up no names, and FTP's data
//! connections go the same way. The socket that it gets for the proxy is one end of a pair. A thread reads
//! the destination at the other end, accepts, and hands that end to the command.

use crate::bytes::Bytes;
use crate::message::{os_text, shown};
use crate::options::ToolOption;
use crate::parse::Wrong;
use crate::raw::EasyOption as O;
use crate::raw::sockets::Target;
use crate::request::Request;
use crate::system::{OwnedFd, ProxyProcess};
use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr};

/// The proxy's URL for the library: a Unix socket, which is never opened.
pub const PROXY: &[u8] = b"socks5h://localhost/proxy-command";
const SOCKET: &str = "/proxy-command";

const TOKENS: Wrong =
    Wrong::Allowed("takes a command, in which %h is the host, %p the port and %% a percent sign");

/// Numbers of RFC 1928.
mod socks {
    pub const VERSION: u8 = 5;
    pub const NO_LOGIN: u8 = 0;
    pub const IPV4: u8 = 1;
    pub const NAME: u8 = 3;
    pub const IPV6: u8 = 4;
    pub const DONE: u8 = 0;
    pub const NOT_ALLOWED: u8 = 2;
}

/// Checks the tokens of a command.
pub fn check(command: &[u8]) -> Result<(), Wrong> {
    expand(command, b"", 0).map(drop)
}

/// Returns a flag that a request has and that can't be combined with the command.
pub fn conflict(request: &Request) -> Option<&'static str> {
    request.options.text(ToolOption::ProxyCommand)?;
    let others = [
        (O::PreProxy, "--preproxy"),
        (O::UnixSocketPath, "--unix-socket"),
        (O::AbstractUnixSocket, "--abstract-unix-socket"),
    ];
    others.into_iter().find(|(option, _)| request.options.text(*option).is_some()).map(|(_, flag)| flag)
}

/// The connections of one transfer by the command.
pub struct ProxyCommand {
    command: Bytes,
    started: RefCell<Vec<ProxyProcess>>,
    /// The one whose socket the library is about to set up.
    fresh: RefCell<Option<ProxyProcess>>,
    /// Why no process could be started.
    failed: RefCell<Option<String>>,
}

impl ProxyCommand {
    /// Returns the command of a request.
    pub fn of(request: &Request) -> Option<ProxyCommand> {
        let command = request.options.text(ToolOption::ProxyCommand)?.to_vec();
        Some(ProxyCommand {
            command,
            started: RefCell::default(),
            fresh: RefCell::default(),
            failed: RefCell::default(),
        })
    }

    /// Returns whether a socket is for the proxy.
    pub fn serves(&self, target: &Target) -> bool {
        matches!(target, Target::Unix(address) if address.to_string() == SOCKET)
    }

    /// Returns a socket at whose other end the command will be.
    pub fn open(&self) -> io::Result<OwnedFd> {
        let command = self.command.clone();
        let (socket, process) = ProxyProcess::start(move |end| {
            let (host, port) = read_destination(end)?;
            if !is_safe(&host) {
                answer(end, socks::NOT_ALLOWED)?;
                let host = shown(&host);
                return Ok(Err(format!("is not run: \"{host}\" could be misread by a shell or a program")));
            }
            answer(end, socks::DONE)?;
            Ok(expand(&command, &host, port).map_err(|wrong| wrong.text().to_owned()))
        })
        .inspect_err(|error| {
            self.failed.replace(Some(format!("cannot be started: {}", os_text(error))));
        })?;
        self.started.borrow_mut().push(process.clone());
        self.fresh.replace(Some(process));
        Ok(socket)
    }

    /// Returns the function that closes the socket just opened.
    pub fn close_hook(&self) -> Option<Box<dyn FnOnce(OwnedFd) + Send>> {
        let process = self.fresh.borrow().clone()?;
        Some(Box::new(move |end| process.close(end)))
    }

    /// Returns whether the socket just opened is connected.
    pub fn takes_fresh(&self) -> bool {
        self.fresh.take().is_some()
    }

    /// Returns a value that only transfers with the same command have: they use each other's connections.
    pub fn kin(&self) -> [usize; 2] {
        let mut hasher = DefaultHasher::new();
        self.command.hash(&mut hasher);
        [hasher.finish() as usize, self.command.len()]
    }

    /// Returns why the command is to blame for a failed transfer.
    pub fn failure(&self) -> Option<String> {
        let failed = self.failed.take();
        failed.or_else(|| self.started.take().iter().rev().find_map(ProxyProcess::failure))
    }
}

/// Returns the line for the shell, which becomes the command. No shell stays between it and the library.
fn expand(command: &[u8], host: &[u8], port: u16) -> Result<Bytes, Wrong> {
    let mut line = b"exec ".to_vec();
    let mut rest = command;
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        line.extend_from_slice(&rest[..at]);
        match rest.get(at + 1) {
            Some(b'h') => line.extend_from_slice(host),
            Some(b'p') => line.extend_from_slice(port.to_string().as_bytes()),
            Some(b'%') => line.push(b'%'),
            _ => return Err(TOKENS),
        }
        rest = &rest[at + 2..];
    }
    line.extend_from_slice(rest);
    Ok(line)
}

/// Returns whether a host may be a word of a shell: a name or an address, and not an option of a program
/// (CVE-2023-51385 of OpenSSH). A URL or a redirect names it.
fn is_safe(host: &[u8]) -> bool {
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b':' | b'_' | b'-');
    !host.is_empty() && !host.starts_with(b"-") && host.iter().all(fits)
}

/// Reads the greeting and the request of a SOCKS5 client. Returns the host and the port.
fn read_destination(stream: &mut (impl Read + Write)) -> io::Result<(Bytes, u16)> {
    let [version, methods] = read_array(stream)?;
    let mut offered = vec![0; usize::from(methods)];
    stream.read_exact(&mut offered)?;
    if version != socks::VERSION || !offered.contains(&socks::NO_LOGIN) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    stream.write_all(&[socks::VERSION, socks::NO_LOGIN])?;
    let [_, _, _, kind] = read_array(stream)?;
    let host = match kind {
        socks::IPV4 => Ipv4Addr::from(read_array::<4>(stream)?).to_string().into_bytes(),
        socks::IPV6 => Ipv6Addr::from(read_array::<16>(stream)?).to_string().into_bytes(),
        socks::NAME => {
            let [length] = read_array(stream)?;
            let mut name = vec![0; usize::from(length)];
            stream.read_exact(&mut name)?;
            name
        }
        _ => return Err(io::ErrorKind::InvalidData.into()),
    };
    Ok((host, u16::from_be_bytes(read_array(stream)?)))
}

/// Answers the request, with no address.
fn answer(stream: &mut impl Write, verdict: u8) -> io::Result<()> {
    stream.write_all(&[socks::VERSION, verdict, 0, socks::IPV4, 0, 0, 0, 0, 0, 0])
}

fn read_array<const N: usize>(stream: &mut impl Read) -> io::Result<[u8; N]> {
    let mut array = [0; N];
    stream.read_exact(&mut array)?;
    Ok(array)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn tokens_are_those_of_openssh() {
        let expanded = |command: &str| {
            expand(command.as_bytes(), b"h.test", 22).map(|line| String::from_utf8(line).unwrap())
        };
        assert_eq!(expanded("nc %h %p").as_deref(), Ok("exec nc h.test 22"));
        assert_eq!(expanded("a%%h%h:%p%p").as_deref(), Ok("exec a%hh.test:2222"));
        for faulty in ["nc %x", "nc %", "%H"] {
            assert_eq!(expanded(faulty), Err(TOKENS), "{faulty}");
        }
    }

    #[test]
    fn hosts_that_a_shell_would_act_on_are_refused() {
        for host in ["host.test", "127.0.0.1", "::1", "xn--bcher-kva.test", "a_b"] {
            assert!(is_safe(host.as_bytes()), "{host}");
        }
        for host in
            ["", "a;b", "$(id)", "a b", "-oProxyCommand=x", "a`b", "a\nb", "a'b", "a\\b", "ü", "a/b", "*"]
        {
            assert!(!is_safe(host.as_bytes()), "{host}");
        }
    }

    /// A client's bytes, and what is written to it.
    struct Client(Cursor<Vec<u8>>, Vec<u8>);

    impl Read for Client {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            self.0.read(buf)
        }
    }

    impl Write for Client {
        fn write(&mut self, data: &[u8]) -> io::Result<usize> {
            self.1.write(data)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// RFC 1928 sections 3 and 4
    #[test]
    fn destinations_of_socks_requests() {
        type Row<'r> = (&'r [u8], Option<(&'r str, u16)>);
        let rows: [Row; 7] = [
            (b"\x05\x01\x00\x05\x01\x00\x03\x06h.test\x00\x50", Some(("h.test", 80))),
            (b"\x05\x02\x02\x00\x05\x01\x00\x01\x7f\x00\x00\x01\x01\xbb", Some(("127.0.0.1", 443))),
            (b"\x05\x01\x00\x05\x01\x00\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\x15", Some(("::1", 21))),
            (b"\x05\x01\x02", None),
            (b"\x04\x01\x00", None),
            (b"\x05\x01\x00\x05\x01\x00\x09", None),
            (b"\x05\x01\x00\x05\x01\x00\x03\x06h.te", None),
        ];
        for (bytes, found) in rows {
            let mut client = Client(Cursor::new(bytes.to_vec()), Vec::new());
            let read = read_destination(&mut client).ok();
            let wanted = found.map(|(host, port)| (host.as_bytes().to_vec(), port));
            assert_eq!(read, wanted, "{bytes:?}");
            assert!(found.is_none() || client.1 == [5, 0]);
        }
    }
}
