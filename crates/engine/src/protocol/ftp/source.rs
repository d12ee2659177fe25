//! The receiving end of a data connection: limits the bytes that are read, and converts line ends of texts.

use std::task::{Context, Poll, ready};

use net::Filter;
use net::exchange::BodyStep;

use crate::error::Result;
use crate::transfer::body::{BodySource, closed_early, receive_failed, truncated};

/// Bytes from a data connection.
pub struct DataSource {
    /// The connection.
    pub filter: Box<dyn Filter>,
    /// Number of bytes that must still arrive.
    left: Option<u64>,
    /// Whether less than everything may be wanted.
    limited: bool,
    /// Number of bytes that may still be read.
    room: Option<u64>,
    /// Number of received bytes, before any conversion.
    pub got: u64,
    /// Converts the lines of a text.
    lines: Option<Lines>,
}

impl DataSource {
    /// `size` is the expected number of bytes, if known, and `most` the wanted number, if limited.
    pub fn new(filter: Box<dyn Filter>, size: Option<u64>, most: Option<u64>, text: bool) -> DataSource {
        let room = [size, most].into_iter().flatten().min();
        let lines = text.then(Lines::default);
        DataSource { filter, left: size.and(room), limited: most.is_some(), room, got: 0, lines }
    }
}

/// Converts CR LF and a lone CR to LF, also across reads.
#[derive(Default)]
struct Lines {
    after_cr: bool,
}

impl Lines {
    /// Converts in place; returns the remaining length.
    fn convert(&mut self, buf: &mut [u8]) -> usize {
        let mut kept = 0;
        for at in 0..buf.len() {
            let octet = buf[at];
            let second = octet == b'\n' && self.after_cr;
            self.after_cr = octet == b'\r';
            if !second {
                buf[kept] = if octet == b'\r' { b'\n' } else { octet };
                kept += 1;
            }
        }
        kept
    }
}

impl BodySource for DataSource {
    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep>> {
        if self.room == Some(0) {
            return Poll::Ready(Ok(BodyStep::End));
        }
        let n = match ready!(self.filter.poll_read(cx, buf)) {
            Ok(n) => n,
            // Without close_notify an attacker may have ended the data; the size or the reply decides.
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof && self.left.is_some_and(|l| l == 0) => 0,
            Err(e) => return Poll::Ready(Err(receive_failed(&e))),
        };
        if n == 0 {
            return Poll::Ready(match self.left {
                Some(left) if left > 0 && self.limited => Err(truncated(Some(left))),
                Some(left) if left > 0 => Err(closed_early(left)),
                _ => Ok(BodyStep::End),
            });
        }
        let taken = self.room.map_or(n, |l| n.min(usize::try_from(l).unwrap_or(usize::MAX)));
        let less = |of: u64| of - taken as u64;
        (self.left, self.room) = (self.left.map(less), self.room.map(less));
        self.got += taken as u64;
        match self.lines.as_mut().map_or(taken, |lines| lines.convert(&mut buf[..taken])) {
            // Only the second half of a line end.
            0 => self.poll_body(cx, buf),
            n => Poll::Ready(Ok(BodyStep::Bytes(n))),
        }
    }

    fn converted(&self) -> Option<u64> {
        self.lines.is_some().then_some(self.got)
    }

    fn forget_read(&mut self, cx: &mut Context<'_>) {
        self.filter.forget_read(cx);
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn line_ends_across_reads() {
        let mut lines = Lines::default();
        let mut out = Vec::new();
        for piece in ["a\r\nb\r", "\n", "\nc\rd\n", "e"] {
            let mut buf = piece.as_bytes().to_vec();
            let n = lines.convert(&mut buf);
            out.extend_from_slice(&buf[..n]);
        }
        assert_eq!(out, b"a\nb\n\nc\nd\ne");
    }
}
