//! The requests and replies of a transfer, as they pass by.

use std::time::Instant;

/// Bounds on the exchanges of one transfer.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    /// Bytes of one head, and of one body that is sent.
    head: usize,
    body: usize,
    count: usize,
}

/// For a run of the tool.
const OF_TOOL: Bounds = Bounds { head: 1 << 20, body: 1 << 16, count: 1000 };
/// For a program, which may run for months. No bodies: they are the application's.
const OF_PROGRAM: Bounds = Bounds { head: 1 << 14, body: 0, count: 32 };

/// A request and its reply; redirects and logins make several of them in one transfer.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub sent: Instant,
    pub answered: Option<Instant>,
    /// The number of its stream, if the connection has streams.
    pub stream: Option<u32>,
    pub request: Vec<u8>,
    /// The beginning of the body that was sent, and its whole length.
    pub body: Vec<u8>,
    pub body_length: usize,
    /// The head of the last reply; interim ones are replaced by it.
    pub reply: Vec<u8>,
    reply_ended: bool,
    /// The role of a cache in it.
    pub cache: Option<&'static str>,
}

impl Exchange {
    /// Returns how many bytes of memory the heads and the body take.
    pub fn size(&self) -> usize {
        self.request.len() + self.body.len() + self.reply.len()
    }
}

/// Watches heads go by.
#[derive(Clone, Debug)]
pub struct Exchanges {
    pub all: Vec<Exchange>,
    bounds: Bounds,
    /// The stream that was opened for the next one.
    opened: Option<u32>,
}

impl Default for Exchanges {
    fn default() -> Exchanges {
        Exchanges { all: Vec::new(), bounds: OF_TOOL, opened: None }
    }
}

impl Exchanges {
    /// Returns the exchanges of a transfer of a program, without bodies.
    pub fn of_program() -> Exchanges {
        Exchanges { bounds: OF_PROGRAM, ..Exchanges::default() }
    }

    /// Parses the library's verbose output: before a request on a stream, it names the stream.
    pub fn noted(&mut self, text: &[u8]) {
        let stream = || {
            let text = std::str::from_utf8(text).ok()?;
            let after_version =
                ["[HTTP/2] [", "[HTTP/3] ["].iter().find_map(|version| text.strip_prefix(version))?;
            let (number, rest) = after_version.split_once(']')?;
            rest.starts_with(" OPENED").then(|| number.parse().ok()).flatten()
        };
        self.opened = stream().or(self.opened);
    }

    /// A request that a cache answers was never sent.
    pub fn not_sent(&mut self, head: &[u8], cache: &'static str) {
        self.asked(head);
        self.cached(cache);
    }

    /// Records the role of a cache in the last exchange.
    pub fn cached(&mut self, cache: &'static str) {
        if let Some(last) = self.all.last_mut() {
            last.cache = Some(cache);
        }
    }

    /// The head of a request. FTP has commands instead.
    pub fn asked(&mut self, head: &[u8]) {
        if self.all.len() < self.bounds.count && head.ends_with(b"\r\n\r\n") {
            let request = head[..head.len().min(self.bounds.head)].to_vec();
            let exchange = Exchange {
                sent: Instant::now(),
                answered: None,
                stream: self.opened.take(),
                request,
                body: Vec::new(),
                body_length: 0,
                reply: Vec::new(),
                reply_ended: false,
                cache: None,
            };
            self.all.push(exchange);
        }
    }

    /// Some of the body of a request.
    pub fn sent(&mut self, data: &[u8]) {
        let Some(last) = self.all.last_mut() else { return };
        last.body_length += data.len();
        let room = self.bounds.body - last.body.len();
        last.body.extend_from_slice(&data[..data.len().min(room)]);
    }

    /// A line of the head of a reply.
    pub fn answered(&mut self, line: &[u8]) {
        let Some(last) = self.all.last_mut() else { return };
        last.answered.get_or_insert_with(Instant::now);
        if std::mem::replace(&mut last.reply_ended, matches!(line, b"\r\n" | b"\n")) {
            last.reply.clear();
        }
        if last.reply.len() + line.len() <= self.bounds.head {
            last.reply.extend_from_slice(line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_body_is_cut() {
        let mut exchanges = Exchanges::default();
        exchanges.sent(b"before any head");
        exchanges.asked(b"PUT / HTTP/1.1\r\n\r\n");
        for _ in 0..3 {
            exchanges.sent(&[b'x'; OF_TOOL.body / 2 + 1]);
        }
        assert_eq!(exchanges.all[0].body.len(), OF_TOOL.body);
        assert_eq!(exchanges.all[0].body_length, 3 * (OF_TOOL.body / 2 + 1));
    }

    #[test]
    fn a_program_keeps_no_bodies_and_few_heads() {
        let mut exchanges = Exchanges::of_program();
        for _ in 0..OF_PROGRAM.count + 5 {
            exchanges.asked(b"PUT / HTTP/1.1\r\n\r\n");
            exchanges.sent(b"abc");
        }
        assert_eq!((exchanges.all.len(), exchanges.all[0].body.len()), (OF_PROGRAM.count, 0));
        assert_eq!(exchanges.all[0].body_length, 3);
        let size = |exchanges: &Exchanges| exchanges.all.iter().map(Exchange::size).sum::<usize>();
        assert_eq!(size(&exchanges), OF_PROGRAM.count * 18);
        for _ in 0..1000 {
            exchanges.answered(&[b'x'; 100]);
        }
        assert!(size(&exchanges) < OF_PROGRAM.head + OF_PROGRAM.count * 18);
    }

    #[test]
    fn commands_are_no_heads() {
        let mut exchanges = Exchanges::default();
        exchanges.asked(b"RETR file\r\n");
        exchanges.answered(b"150 ok\r\n");
        assert!(exchanges.all.is_empty());
    }
}
