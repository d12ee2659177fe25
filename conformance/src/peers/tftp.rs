//! The TFTP server of the cases (RFC 1350): it logs requests in words, sends the case's data and stores
//! uploads. It takes no options up, so that blocks stay at 512 bytes. Behaviour after tests/server/tftpd.c of
//! curl's repository.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use super::case_context::CaseContext;
use super::wire::{Conn, is_timeout};
use super::{Peer, dialogue};
use crate::newlines;

const READ: u16 = 1;
const WRITE: u16 = 2;
const DATA: u16 = 3;
const ACK: u16 = 4;
const ERROR: u16 = 5;

const BLOCK: usize = 512;
/// Number of transmissions of a packet before the client counts as gone, a second apart.
const TRIES: usize = 6;

pub fn server() -> Arc<dyn Peer> {
    Arc::new(Tftp)
}

struct Tftp;

impl Peer for Tftp {
    fn serve(&self, _conn: &mut Conn, _stage: &CaseContext) {}

    fn datagram(&self, socket: &UdpSocket, packet: &[u8], from: SocketAddr, stage: &CaseContext) {
        stage.note("tftp", "<", packet);
        let Some(request) = Request::read(packet) else { return };
        stage.server_input.append(request.log().as_bytes());
        let Ok(local) = socket.local_addr() else { return };
        let answered = UdpSocket::bind((local.ip(), 0)).and_then(|socket| {
            socket.connect(from)?;
            socket.set_read_timeout(Some(Duration::from_millis(50)))?;
            Transfer { socket, stage }.run(&request)
        });
        if let Err(e) = answered {
            stage.note("tftp", "*", e.to_string().as_bytes());
        }
    }
}

struct Request {
    code: u16,
    file: String,
    mode: String,
    options: Vec<(String, String)>,
}

impl Request {
    fn read(packet: &[u8]) -> Option<Request> {
        let code = u16::from_be_bytes([*packet.first()?, *packet.get(1)?]);
        let mut words = packet[2..].split(|&b| b == 0).map(|w| String::from_utf8_lossy(w).into_owned());
        let (file, mode) = (words.next()?, words.next()?);
        let mut options = vec![];
        while let (Some(name), Some(value)) = (words.next(), words.next()) {
            options.push((name, value));
        }
        [READ, WRITE].contains(&code).then_some(Request { code, file, mode, options })
    }

    fn log(&self) -> String {
        let mut text = format!("opcode = {:x}\nmode = {}\n", self.code, self.mode.to_lowercase());
        for (name, value) in &self.options {
            text += &format!("{name} = {value}\n");
        }
        text + &format!("filename = {}\n", self.file)
    }
}

struct Transfer<'a> {
    socket: UdpSocket,
    stage: &'a CaseContext,
}

impl Transfer<'_> {
    fn run(&self, request: &Request) -> io::Result<()> {
        let name = request.file.rsplit('/').next().unwrap_or_default();
        let is_text = request.mode.eq_ignore_ascii_case("netascii");
        if request.code == WRITE {
            let data = self.receive()?;
            let digits: String = name.chars().filter(char::is_ascii_digit).collect();
            dialogue::store(self.stage, &digits, &data, false);
            return Ok(());
        }
        let mut data = dialogue::case_data(self.stage, name);
        if data.is_empty() {
            return self.send(&[&ERROR.to_be_bytes()[..], &[0, 1], b"File not found\0"].concat());
        }
        if is_text {
            let lines = data.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec);
            data = lines
                .flat_map(|mut line| {
                    newlines::force_crlf(&mut line);
                    line
                })
                .collect();
        }
        self.deliver(&data)
    }

    fn deliver(&self, data: &[u8]) -> io::Result<()> {
        let pause =
            self.stage.commands().iter().find_map(|c| c.strip_prefix("writedelay:")?.trim().parse().ok());
        let blocks = data.len() / BLOCK + 1;
        for number in 1..=blocks {
            if let Some(pause) = pause {
                self.stage.sleep(Duration::from_millis(pause));
            }
            let part = &data[(number - 1) * BLOCK..data.len().min(number * BLOCK)];
            let number = number as u16;
            let packet = [&DATA.to_be_bytes()[..], &number.to_be_bytes(), part].concat();
            self.exchange(&packet, ACK, number)?;
        }
        Ok(())
    }

    fn receive(&self) -> io::Result<Vec<u8>> {
        let mut data = vec![];
        let acknowledge = |number: u16| [ACK.to_be_bytes(), number.to_be_bytes()].concat();
        for number in 1u16.. {
            let part = self.exchange(&acknowledge(number - 1), DATA, number)?;
            data.extend_from_slice(&part);
            if part.len() < BLOCK {
                self.send(&acknowledge(number))?;
                break;
            }
        }
        Ok(data)
    }

    /// Sends until a reply with this code and number arrives; returns its payload.
    fn exchange(&self, packet: &[u8], code: u16, number: u16) -> io::Result<Vec<u8>> {
        let wanted = [code.to_be_bytes(), number.to_be_bytes()].concat();
        let mut buffer = [0; 65_536];
        for _ in 0..TRIES {
            self.send(packet)?;
            for _ in 0..20 {
                match self.socket.recv(&mut buffer) {
                    Ok(n) if buffer[..n].starts_with(&wanted) => {
                        self.stage.note("tftp", "<", &buffer[..n]);
                        return Ok(buffer[4..n].to_vec());
                    }
                    Ok(n) if buffer[..n].starts_with(&ERROR.to_be_bytes()) => {
                        return Err(io::ErrorKind::ConnectionAborted.into());
                    }
                    Err(e) if !is_timeout(&e) => return Err(e),
                    _ if self.stage.stopped() => return Err(io::ErrorKind::Interrupted.into()),
                    _ => {}
                }
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }

    fn send(&self, packet: &[u8]) -> io::Result<()> {
        self.stage.note("tftp", ">", packet);
        self.socket.send(packet).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_logged_field_by_field() {
        let request = Request::read(b"\0\x01/7\0octet\0tsize\x000\0blksize\x00400\0").unwrap();
        assert_eq!(request.log(), "opcode = 1\nmode = octet\ntsize = 0\nblksize = 400\nfilename = /7\n");
        assert!(Request::read(b"\0\x03\0\x01").is_none());
    }
}
