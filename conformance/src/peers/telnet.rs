//! The TELNET server of the cases (RFC 854): it negotiates a little and echoes its input. Behaviour after
//! tests/negtelnetserver.py of curl's repository.

use std::sync::Arc;
use std::time::Duration;

use super::wire::{Conn, Got};
use super::{CaseContext, Peer};

const IAC: u8 = 255;
const DONT: u8 = 254;
const DO: u8 = 253;
const WONT: u8 = 252;
const WILL: u8 = 251;
const NEW_ENVIRON: u8 = 39;
const NAWS: u8 = 31;

pub fn server() -> Arc<dyn Peer> {
    Arc::new(Telnet)
}

struct Telnet;

impl Peer for Telnet {
    fn serve(&self, conn: &mut Conn, stage: &CaseContext) {
        let offers = [IAC, DO, NEW_ENVIRON, IAC, WILL, NEW_ENVIRON, IAC, DONT, NAWS, IAC, WONT, NAWS];
        if conn.write(&offers, stage).is_err() {
            return;
        }
        let mut received = vec![];
        let mut buffer = [0; 4096];
        while text(&received).is_empty() {
            match conn.read(&mut buffer, stage) {
                Got::Closed => return,
                Got::Data(n) => received.extend_from_slice(&buffer[..n]),
            }
        }
        let _ = conn.write(text(&received).trim_ascii(), stage);
        // closing at once could reset the connection under the client's last words
        conn.read_within(&mut buffer, stage, Duration::from_millis(100));
    }
}

/// Removes the negotiations, each of three bytes.
fn text(received: &[u8]) -> Vec<u8> {
    let mut out = vec![];
    let mut bytes = received.iter();
    while let Some(&byte) = bytes.next() {
        if byte != IAC {
            out.push(byte);
        } else if bytes.next().is_some_and(|c| (WILL..=DONT).contains(c)) {
            bytes.next();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn negotiations_are_no_text() {
        assert_eq!(super::text(&[255, 253, 39, b'h', 255, 251, 31, b'i']), b"hi");
        assert_eq!(super::text(&[255, 253]), b"");
    }
}
