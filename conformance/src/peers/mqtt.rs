//! The MQTT 3.1.1 server of the cases: it logs packets in hexadecimal both ways, answers a subscription with
//! the case's data, and misbehaves as `<servercmd>` says. Behaviour after tests/server/mqttd.c of curl's
//! repository.

use std::io;
use std::sync::Arc;

use super::wire::{Conn, Got};
use super::{CaseContext, Peer};

const CONNECT: u8 = 0x10;
const CONNACK: u8 = 0x20;
const PUBLISH: u8 = 0x30;
const SUBSCRIBE: u8 = 0x82;
const SUBACK: u8 = 0x90;
const PINGRESP: u8 = 0xd0;
const DISCONNECT: u8 = 0xe0;

pub fn server() -> Arc<dyn Peer> {
    Arc::new(Mqtt)
}

struct Mqtt;

impl Peer for Mqtt {
    fn serve(&self, conn: &mut Conn, stage: &CaseContext) {
        let mut session = Session { conn, stage, pending: vec![], orders: Orders::of(stage) };
        while let Ok(true) = session.packet() {}
    }
}

/// The case's instructions.
#[derive(Default)]
struct Orders {
    publish_first: bool,
    short_publish: bool,
    excessive_remaining: bool,
    refusal: u8,
    connack_length: Option<u8>,
    pingresp_as_connack: bool,
    malformed_disconnect: bool,
}

impl Orders {
    fn of(stage: &CaseContext) -> Orders {
        let mut orders = Orders::default();
        for command in stage.commands() {
            let (key, value) = command.split_once(' ').unwrap_or((&command, ""));
            match key {
                "PUBLISH-before-SUBACK" => orders.publish_first = true,
                "short-PUBLISH" => orders.short_publish = true,
                "excessive-remaining" => orders.excessive_remaining = true,
                "error-CONNACK" => orders.refusal = value.trim().parse().unwrap_or(0),
                "remlen-CONNACK" => orders.connack_length = value.trim().parse().ok(),
                "PINGRESP-as-CONNACK" => orders.pingresp_as_connack = true,
                "DISCONNECT-malformed" => orders.malformed_disconnect = true,
                _ => {}
            }
        }
        orders
    }
}

struct Session<'a> {
    conn: &'a mut Conn,
    stage: &'a CaseContext,
    pending: Vec<u8>,
    orders: Orders,
}

impl Session<'_> {
    /// Takes and answers one packet; false where it ends the connection.
    fn packet(&mut self) -> io::Result<bool> {
        let kind = self.take(1)?[0];
        let length = self.remaining_length()?;
        let body = self.take(length)?;
        match kind {
            CONNECT => {
                self.log("client", "CONNECT", length, &body);
                Ok(is_sound_connect(&body) && self.accept()?)
            }
            SUBSCRIBE => {
                self.log("client", "SUBSCRIBE", length, &body);
                self.subscribe(&body)
            }
            kind if kind & 0xf0 == PUBLISH => {
                self.log("client", "PUBLISH", length, &body);
                let goodbye = self.take(2)?;
                self.log("client", "DISCONNECT", 0, &goodbye);
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    fn accept(&mut self) -> io::Result<bool> {
        if self.orders.pingresp_as_connack {
            self.send("PINGRESP-as-CONNACK", 2, &[PINGRESP, 2, 0, 0])?;
        } else {
            let length = self.orders.connack_length.unwrap_or(2);
            self.send("CONNACK", length.into(), &[CONNACK, length, 0, self.orders.refusal])?;
        }
        Ok(true)
    }

    fn subscribe(&mut self, body: &[u8]) -> io::Result<bool> {
        // packet id, topic with its length, quality of service
        let sound = body.len() >= 6 && usize::from(u16::from_be_bytes([body[2], body[3]])) == body.len() - 5;
        if !sound {
            return Ok(false);
        }
        let (id, topic) = (&body[..2], &body[4..body.len() - 1]);
        let acknowledgement = [SUBACK, 3, id[0], id[1], 0];
        if !self.orders.publish_first {
            self.send("SUBACK", 3, &acknowledgement)?;
        }
        if !self.publish(topic)? {
            return Ok(false);
        }
        if self.orders.publish_first {
            self.send("SUBACK", 3, &acknowledgement)?;
        }
        if self.orders.malformed_disconnect {
            self.send("DISCONNECT-malformed", 2, &[DISCONNECT, 2, 0, 0])?;
        } else {
            self.send("DISCONNECT", 0, &[DISCONNECT, 0])?;
        }
        Ok(true)
    }

    /// Sends the case's data; false where it was cut short.
    fn publish(&mut self, topic: &[u8]) -> io::Result<bool> {
        let script = self.stage.script_of(self.stage.number).unwrap_or_default();
        let payload = match script.part("reply", "data") {
            Some(part) => part.bytes(),
            None => b"this is random payload yes yes it is".to_vec(),
        };
        let remaining = topic.len() + 2 + payload.len();
        let mut packet = vec![PUBLISH];
        if self.orders.excessive_remaining {
            // a fourth byte must not say that a fifth follows
            packet.extend_from_slice(&[0xff, 0xff, 0xff, 0x80]);
        } else {
            packet.extend(encoded_length(remaining));
        }
        packet.extend_from_slice(&(topic.len() as u16).to_be_bytes());
        packet.extend_from_slice(topic);
        packet.extend(payload);
        if self.orders.short_publish {
            packet.truncate(packet.len() - 2);
        }
        self.send("PUBLISH", remaining, &packet)?;
        Ok(!self.orders.short_publish)
    }

    fn send(&mut self, name: &str, remaining: usize, packet: &[u8]) -> io::Result<()> {
        self.conn.write(packet, self.stage)?;
        self.log("server", name, remaining, packet);
        Ok(())
    }

    fn log(&self, who: &str, name: &str, remaining: usize, bytes: &[u8]) {
        let hex: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
        self.stage.server_input.append(format!("{who} {name} {remaining:x} {hex}\n").as_bytes());
    }

    fn remaining_length(&mut self) -> io::Result<usize> {
        let mut length = 0;
        for place in 0..4 {
            let byte = self.take(1)?[0];
            length |= usize::from(byte & 0x7f) << (7 * place);
            if byte & 0x80 == 0 {
                return Ok(length);
            }
        }
        Err(io::ErrorKind::InvalidData.into())
    }

    fn take(&mut self, count: usize) -> io::Result<Vec<u8>> {
        let mut buffer = vec![0; 65_536];
        while self.pending.len() < count {
            match self.conn.read(&mut buffer, self.stage) {
                Got::Closed => return Err(io::ErrorKind::UnexpectedEof.into()),
                Got::Data(n) => self.pending.extend_from_slice(&buffer[..n]),
            }
        }
        Ok(self.pending.drain(..count).collect())
    }
}

fn encoded_length(mut length: usize) -> Vec<u8> {
    let mut bytes = vec![];
    loop {
        let more = if length >= 0x80 { 0x80 } else { 0 };
        bytes.push((length % 0x80) as u8 | more);
        length /= 0x80;
        if length == 0 {
            return bytes;
        }
    }
}

/// The preamble is right, and the fields that the flags announce fill the packet.
fn is_sound_connect(body: &[u8]) -> bool {
    if body.len() < 12 || body[..7] != *b"\0\x04MQTT\x04" {
        return false;
    }
    let field = |at: usize| body.get(at..at + 2).map(|b| 2 + usize::from(u16::from_be_bytes([b[0], b[1]])));
    let Some(client) = field(10) else { return false };
    let mut at = 10 + client;
    for flag in [0x80, 0x40] {
        if body[7] & flag != 0 {
            let Some(length) = field(at) else { return false };
            at += length;
        }
    }
    at == body.len() && client < 34
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths() {
        assert_eq!(encoded_length(0), [0]);
        assert_eq!(encoded_length(127), [0x7f]);
        assert_eq!(encoded_length(0x80d), [0x8d, 0x10]);
    }

    #[test]
    fn connects() {
        assert!(is_sound_connect(b"\0\x04MQTT\x04\x02\0\x3c\0\x02ab"));
        assert!(is_sound_connect(b"\0\x04MQTT\x04\xc2\0\x3c\0\x02ab\0\x01u\0\x01p"));
        assert!(!is_sound_connect(b"\0\x04MQTT\x04\xc2\0\x3c\0\x02ab\0\x01u"));
        assert!(!is_sound_connect(b"\0\x04MQTX\x04\x02\0\x3c\0\x02ab"));
    }
}
