//! The name server of the cases: answers every name with the case's `<dns>`, and logs each query as text.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;

use super::Peer;
use super::case_context::CaseContext;
use super::wire::Conn;

/// Types that have a name here, with their numbers.
const TYPES: [(&str, u16); 3] = [("A", 1), ("AAAA", 28), ("HTTPS", 65)];

pub fn server() -> Arc<dyn Peer> {
    Arc::new(Dns)
}

struct Dns;

impl Peer for Dns {
    fn serve(&self, _conn: &mut Conn, _stage: &CaseContext) {}

    fn datagram(&self, socket: &UdpSocket, packet: &[u8], from: SocketAddr, stage: &CaseContext) {
        stage.note("dns", "<", packet);
        let Some((name, end)) = question(packet) else { return };
        let number = u16::from_be_bytes([packet[end - 4], packet[end - 3]]);
        let kind = TYPES.iter().find(|(_, n)| *n == number).map_or("other", |(name, _)| name);
        stage.dns_input.append(format!("QNAME {name} QTYPE {kind}\n").as_bytes());
        let script = stage.script_of(stage.number);
        let lines = script.map(|s| s.words("reply", "dns")).unwrap_or_default();
        let reply = reply(&packet[..end], number, &addresses(&lines, kind));
        stage.note("dns", ">", &reply);
        let _ = socket.send_to(&reply, from);
    }
}

/// The name in lower case, since case is noise (draft-vixie-dnsext-dns0x20), and where the question ends.
fn question(packet: &[u8]) -> Option<(String, usize)> {
    let (mut at, mut labels) = (12, Vec::new());
    while let length @ 1.. = usize::from(*packet.get(at)?) {
        let label = packet.get(at + 1..at + 1 + length)?;
        labels.push(String::from_utf8_lossy(label).to_lowercase());
        at += 1 + length;
    }
    packet.get(..at + 5)?;
    Some((labels.join("."), at + 5))
}

/// `A: 127.0.0.1`, in brackets or not; `none` is none.
fn addresses(lines: &[String], kind: &str) -> Vec<IpAddr> {
    let own = lines.iter().filter_map(|line| line.split_once(':')).filter(|(name, _)| name.trim() == kind);
    own.filter_map(|(_, ip)| ip.trim().trim_matches(['[', ']']).parse().ok()).collect()
}

fn reply(question: &[u8], kind: u16, addresses: &[IpAddr]) -> Vec<u8> {
    let mut message = question.to_vec();
    (message[2], message[3], message[7], message[11]) = (0x81, 0x80, addresses.len() as u8, 0);
    for ip in addresses {
        let data = match ip {
            IpAddr::V4(v4) => v4.octets().to_vec(),
            IpAddr::V6(v6) => v6.octets().to_vec(),
        };
        message.extend([0xc0, 12]);
        message.extend(kind.to_be_bytes());
        message.extend([0, 1, 0, 0, 0, 60, 0, data.len() as u8]);
        message.extend(data);
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_answered_as_the_case_says() {
        let packet = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\x01\x01A\x02Ex\0\0\x01\0\x01rest";
        let (name, end) = question(packet).unwrap();
        assert_eq!((name.as_str(), end), ("a.ex", packet.len() - 4));
        let lines = ["A: 127.0.0.1", "AAAA: [::1]", "A: none"].map(str::to_owned);
        let found = addresses(&lines, "A");
        assert_eq!((found.len(), addresses(&lines, "AAAA").len()), (1, 1));
        let answer = reply(&packet[..end], 1, &found);
        assert_eq!(&answer[..12], b"\x12\x34\x81\x80\0\x01\0\x01\0\0\0\0");
        assert!(answer.ends_with(b"\0\x04\x7f\0\0\x01"));
    }
}
