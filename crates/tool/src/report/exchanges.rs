//! The requests and replies of a transfer, as they pass by.

use crate::bytes::Bytes;
use std::time::Instant;

/// Maximum size of a stored head or posted body, and maximum number of exchanges.
const LARGEST_HEAD: usize = 1 << 20;
const LARGEST_BODY: usize = 1 << 16;
const MOST_EXCHANGES: usize = 1000;

/// A request and its reply; redirects and logins make several of them in one transfer.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub sent: Instant,
    pub answered: Option<Instant>,
    /// The number of its stream, if the connection has streams.
    pub stream: Option<u32>,
    pub request: Bytes,
    /// The beginning of the body that was sent, and its whole length.
    pub body: Bytes,
    pub body_length: usize,
    /// The head of the last reply; interim ones are replaced by it.
    pub reply: Bytes,
    reply_ended: bool,
    /// The role of a cache in it.
    pub cache: Option<&'static str>,
}

/// Watches heads go by.
#[derive(Clone, Debug, Default)]
pub struct Exchanges {
    pub all: Vec<Exchange>,
    /// The stream that was opened for the next one.
    opened: Option<u32>,
}

impl Exchanges {
    /// Parses the library's verbose output: before a request on a stream, it names the stream.
    pub fn noted(&mut self, text: &[u8]) {
        let stream = || {
            let text = std::str::from_utf8(text).ok()?;
            let told = ["[HTTP/2] [", "[HTTP/3] ["].iter().find_map(|version| text.strip_prefix(version))?;
            let (number, rest) = told.split_once(']')?;
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
        if self.all.len() < MOST_EXCHANGES && head.ends_with(b"\r\n\r\n") {
            let request = head[..head.len().min(LARGEST_HEAD)].to_vec();
            let exchange = Exchange {
                sent: Instant::now(),
                answered: None,
                stream: self.opened.take(),
                request,
                body: Bytes::new(),
                body_length: 0,
                reply: Bytes::new(),
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
        let room = LARGEST_BODY - last.body.len();
        last.body.extend_from_slice(&data[..data.len().min(room)]);
    }

    /// A line of the head of a reply.
    pub fn answered(&mut self, line: &[u8]) {
        let Some(last) = self.all.last_mut() else { return };
        last.answered.get_or_insert_with(Instant::now);
        if std::mem::replace(&mut last.reply_ended, matches!(line, b"\r\n" | b"\n")) {
            last.reply.clear();
        }
        if last.reply.len() + line.len() <= LARGEST_HEAD {
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
            exchanges.sent(&[b'x'; LARGEST_BODY / 2 + 1]);
        }
        assert_eq!(exchanges.all[0].body.len(), LARGEST_BODY);
        assert_eq!(exchanges.all[0].body_length, 3 * (LARGEST_BODY / 2 + 1));
    }

    #[test]
    fn commands_are_no_heads() {
        let mut exchanges = Exchanges::default();
        exchanges.asked(b"RETR file\r\n");
        exchanges.answered(b"150 ok\r\n");
        assert!(exchanges.all.is_empty());
    }
}
