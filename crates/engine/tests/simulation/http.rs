//! An HTTP/1 server. `/length/N`, `/chunks/N` and `/close/N` are bodies of N bytes with that framing;
//! `/to/HOST/PATH` redirects; `/sum` returns the checksum of an upload. Only the first host accepts a login.

use super::network::{Peer, Say, Shared, content, sum};

/// The host that the application's credentials are for.
pub const HOME: u8 = 1;

pub struct Server {
    host: u8,
    heard: Vec<u8>,
}

impl Server {
    pub fn new(host: u8) -> Server {
        Server { host, heard: Vec::new() }
    }

    fn answer(&mut self, head: &str, body: &[u8], world: &mut Shared) -> Say {
        if self.host != HOME && head.contains("Authorization:") {
            world.faults.push(format!("credentials at host {}: {head}", self.host));
        }
        let mut say = Say::default();
        if world.odd(30) {
            return Say { ends: true, ..say };
        }
        if world.odd(40) {
            say.bytes = b"HTTP/1.1 2zz nonsense\r\n\r\n".to_vec();
            return Say { ends: true, ..say };
        }
        if world.dice.roll(8) == 0 {
            say.bytes.extend(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n");
        }
        let path: Vec<&str> =
            head.split(' ').nth(1).unwrap_or("/").trim_start_matches('/').split('/').collect();
        let last = world.dice.roll(6) == 0;
        say.ends = last;
        let close = if last { "Connection: close\r\n" } else { "" };
        let size = path.get(1).and_then(|size| size.parse().ok()).unwrap_or(0);
        match path[0] {
            "to" => {
                let head = format!(
                    "HTTP/1.1 302 Found\r\n{close}Location: http://10.0.0.{size}/{}\r\n",
                    path[2..].join("/")
                );
                say.bytes.extend(format!("{head}Content-Length: 3\r\n\r\nno\n").bytes());
            }
            "chunks" => {
                say.bytes
                    .extend(format!("HTTP/1.1 200 OK\r\n{close}Transfer-Encoding: chunked\r\n\r\n").bytes());
                let body = content(size);
                for chunk in body.chunks(1 + world.dice.roll(2000)) {
                    say.bytes.extend(format!("{:x}\r\n", chunk.len()).bytes());
                    say.bytes.extend(chunk);
                    say.bytes.extend(b"\r\n");
                }
                say.bytes.extend(b"0\r\n\r\n");
            }
            "close" => {
                say.bytes.extend(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
                say.bytes.extend(content(size));
                return Say { ends: true, whole_or_nothing: true, ..say };
            }
            "sum" => {
                let body = sum(body);
                say.bytes.extend(
                    format!("HTTP/1.1 200 OK\r\n{close}Content-Length: {}\r\n\r\n{body}", body.len()).bytes(),
                );
            }
            _ => {
                say.bytes.extend(format!("HTTP/1.1 200 OK\r\n{close}Content-Length: {size}\r\n\r\n").bytes());
                say.bytes.extend(content(size));
            }
        }
        if world.odd(30) {
            let at = world.dice.roll(say.bytes.len());
            say.bytes.truncate(at);
            say.ends = true;
        }
        say
    }
}

impl Peer for Server {
    fn turn(&mut self, heard: &[u8], _: bool, world: &mut Shared) -> Say {
        self.heard.extend(heard);
        let Some(end) = self.heard.windows(4).position(|four| four == b"\r\n\r\n") else {
            return Say::default();
        };
        let head = String::from_utf8_lossy(&self.heard[..end + 4]).into_owned();
        let field = |name: &str| head.split("\r\n").find_map(|line| line.strip_prefix(name)).map(str::trim);
        let length = field("Content-Length:").and_then(|n| n.parse::<usize>().ok());
        let rest = &self.heard[end + 4..];
        let (body, used) = match (length, field("Transfer-Encoding:")) {
            (None, None) => (Vec::new(), 0),
            (Some(length), _) if rest.len() >= length => (rest[..length].to_vec(), length),
            (Some(_), _) => return Say::default(),
            (None, Some(_)) => match unchunk(rest) {
                Some(whole) => whole,
                None => return Say::default(),
            },
        };
        self.heard.drain(..end + 4 + used);
        self.answer(&head, &body, world)
    }
}

/// A whole chunked body, and how long it was on the way.
fn unchunk(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (mut body, mut at) = (Vec::new(), 0);
    loop {
        let line = bytes[at..].windows(2).position(|two| two == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&bytes[at..at + line]).ok()?, 16).ok()?;
        at += line + 2;
        let piece = bytes.get(at..at + size + 2)?;
        body.extend(&piece[..size]);
        at += size + 2;
        if size == 0 {
            return Some((body, at));
        }
    }
}
