//! Decisions of MQTT 3.1.1: pure functions from facts to a verdict.

use std::time::Duration;

use tables::Code;
use wire::escape::{self, Reject};
use wire::mqtt::{self, Head, Kind};

use crate::error::{Error, Result};
use crate::transfer::body::check_size;

/// Returns the topic that the path of a URL names (curl's docs/MQTT.md).
pub fn topic(path: &[u8]) -> Result<Vec<u8>> {
    let topic = escape::decode(path.strip_prefix(b"/").unwrap_or(path), Reject::Control)
        .map_err(|_| Error::new(Code::UrlMalformat, "a topic has no control characters"))?;
    match topic.len() {
        0 => Err(Error::new(Code::UrlMalformat, "No MQTT topic found. Forgot to URL encode it?")),
        1..=0xffff => Ok(topic),
        _ => Err(long_topic()),
    }
}

/// Returns the user name or password of CONNECT. An empty one is left out.
pub fn credential(given: &[u8]) -> Option<&[u8]> {
    Some(given).filter(|given| !given.is_empty())
}

/// Fails if the first packet of a server is not an acknowledgement of CONNECT.
pub fn check_first(head: Head) -> Result<()> {
    match head.kind {
        Kind::Connack if head.remaining == 2 => Ok(()),
        Kind::Connack => Err(weird(&format!("CONNACK expected Remaining Length 2, got {}", head.remaining))),
        _ => Err(unexpected(head)),
    }
}

/// Fails if the server has refused the connection (MQTT 3.1.1 §3.2.2).
pub fn check_connack(connack: [u8; 2]) -> Result<()> {
    match connack {
        mqtt::ACCEPTED => Ok(()),
        [flags, code] => Err(weird(&format!("Expected 0000 but got {flags:02x}{code:02x}"))),
    }
}

/// The part of a packet that a subscriber waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The head of the next packet.
    Head,
    /// The return code of the subscription.
    Suback,
    /// So many bytes of a message.
    Message(usize),
}

/// Decides what follows the head of a packet; `None` after the last packet. `limit` is CURLOPT_MAXFILESIZE.
pub fn after_head(head: Head, limit: i64) -> Result<Option<Awaited>> {
    match (head.kind, head.remaining) {
        (Kind::Publish, remaining) => {
            check_size(limit, Some(remaining.into()))?;
            Ok(Some(Awaited::Message(remaining as usize)))
        }
        (Kind::Suback, 3) => Ok(Some(Awaited::Suback)),
        (Kind::Pingresp, 0) => Ok(Some(Awaited::Head)),
        (Kind::Disconnect, 0) => Ok(None),
        _ => Err(unexpected(head)),
    }
}

/// Returns how often the server is sent a PINGREQ. `option` is CURLOPT_UPKEEP_INTERVAL_MS; 0 is never.
pub fn ping_interval(option: i64) -> Option<Duration> {
    u64::try_from(option).ok().filter(|ms| *ms > 0).map(Duration::from_millis)
}

/// Creates the error for a packet that nobody waits for, or whose length none of its kind has.
pub fn unexpected(head: Head) -> Error {
    let name = match head.kind {
        Kind::Pingresp => "PINGRESP",
        Kind::Disconnect => "DISCONNECT",
        _ => return weird("a packet that makes no sense here"),
    };
    let Head { first, remaining, .. } = head;
    weird(&format!("Broker sent malformed {name} (remaining_length={remaining}, header byte=0x{first:02x})"))
}

/// Creates the error for a topic that does not fit into a packet.
pub fn long_topic() -> Error {
    Error::new(Code::UrlMalformat, "Too long MQTT topic")
}

/// Creates the error for a reply that breaks the protocol.
pub fn weird(text: &str) -> Error {
    Error::new(Code::WeirdServerReply, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(bytes: &[u8]) -> Head {
        Head::parse(bytes).unwrap().unwrap().0
    }

    #[test]
    fn topics_are_decoded_paths() {
        let bad = Err(Code::UrlMalformat);
        let long = vec![b'x'; 0x1_0000];
        let rows: [(_, &[u8], Result<&[u8], Code>); 6] = [
            ("docs/MQTT.md: the path", b"/a/b", Ok(b"a/b")),
            ("docs/MQTT.md: encoded", b"/a%20b", Ok(b"a b")),
            ("MQTT 3.1.1 §4.7.1: a topic may begin with a slash", b"//a", Ok(b"/a")),
            ("MQTT 3.1.1 §4.7.3: none", b"/", bad),
            ("MQTT 3.1.1 §1.5.3: no NUL", b"/a%00", bad),
            ("MQTT 3.1.1 §1.5.3: 65,536 octets", &long, bad),
        ];
        for (name, path, wanted) in rows {
            assert_eq!(topic(path).map_err(|e| e.code()), wanted.map(<[u8]>::to_vec), "{name}");
        }
        assert!(topic(&long[1..]).is_ok(), "MQTT 3.1.1 §1.5.3: 65,535 octets");
    }

    #[test]
    fn empty_credentials_are_left_out() {
        assert_eq!(credential(b"me"), Some(&b"me"[..]), "MQTT 3.1.1 §3.1.3.4");
        assert_eq!(credential(b""), None, "CURLOPT_USERNAME(3): an empty one");
    }

    #[test]
    fn the_first_packet_acknowledges_connect() {
        let rows: [(_, &[u8], _); 4] = [
            ("MQTT 3.1.1 §3.2: CONNACK", b"\x20\x02", None),
            (
                "MQTT 3.1.1 §3.2.1: of another length",
                b"\x20\x03",
                Some("CONNACK expected Remaining Length 2, got 3"),
            ),
            ("MQTT 3.1.1 §3.2: another packet", b"\x30\x02", Some("a packet that makes no sense here")),
            (
                "MQTT 3.1.1 §3.14: a DISCONNECT",
                b"\xe0\x00",
                Some("Broker sent malformed DISCONNECT (remaining_length=0, header byte=0xe0)"),
            ),
        ];
        for (name, bytes, wanted) in rows {
            let failed = check_first(head(bytes)).err();
            assert_eq!(failed.as_ref().map(Error::message), wanted, "{name}");
            assert!(failed.is_none_or(|e| e.code() == Code::WeirdServerReply), "{name}");
        }
    }

    #[test]
    fn connack_has_the_verdict_in_two_octets() {
        let rows = [
            ("MQTT 3.1.1 §3.2.2.3: accepted", [0, 0], None),
            (
                "MQTT 3.1.1 §3.2.2.2: a session that nobody asked for",
                [1, 0],
                Some("Expected 0000 but got 0100"),
            ),
            ("MQTT 3.1.1 §3.2.2.3: bad credentials", [0, 4], Some("Expected 0000 but got 0004")),
            ("MQTT 3.1.1 §3.2.2.3: not authorized", [0, 5], Some("Expected 0000 but got 0005")),
        ];
        for (name, connack, wanted) in rows {
            assert_eq!(check_connack(connack).err().as_ref().map(Error::message), wanted, "{name}");
        }
    }

    #[test]
    fn heads_say_what_a_subscriber_waits_for() {
        let weird = Err(Code::WeirdServerReply);
        let rows: [(_, &[u8], _, _); 10] = [
            ("MQTT 3.1.1 §3.3: a message", b"\x30\x05", 0, Ok(Some(Awaited::Message(5)))),
            ("MQTT 3.1.1 §3.3.1: a retained one", b"\x31\x05", 0, Ok(Some(Awaited::Message(5)))),
            ("MQTT 3.1.1 §3.3: an empty one", b"\x30\x00", 0, Ok(Some(Awaited::Message(0)))),
            ("CURLOPT_MAXFILESIZE(3): just within", b"\x30\x05", 5, Ok(Some(Awaited::Message(5)))),
            ("CURLOPT_MAXFILESIZE(3): too large", b"\x30\x06", 5, Err(Code::FilesizeExceeded)),
            ("MQTT 3.1.1 §3.9: SUBACK", b"\x90\x03", 0, Ok(Some(Awaited::Suback))),
            ("MQTT 3.1.1 §3.9: for two topics", b"\x90\x04", 0, weird),
            ("MQTT 3.1.1 §3.13: PINGRESP", b"\xd0\x00", 0, Ok(Some(Awaited::Head))),
            ("MQTT 3.1.1 §3.13: a PINGRESP with something in it", b"\xd0\x01", 0, weird),
            ("MQTT 3.1.1 §3.14: DISCONNECT", b"\xe0\x00", 0, Ok(None)),
        ];
        for (name, bytes, limit, wanted) in rows {
            assert_eq!(after_head(head(bytes), limit).map_err(|e| e.code()), wanted, "{name}");
        }
    }

    #[test]
    fn the_upkeep_interval_is_the_pings() {
        let rows = [
            ("CURLOPT_UPKEEP_INTERVAL_MS(3): a second", 1000, Some(Duration::from_secs(1))),
            ("CURLOPT_UPKEEP_INTERVAL_MS(3): never", 0, None),
            ("CURLOPT_UPKEEP_INTERVAL_MS(3): a number that is none", -1, None),
        ];
        for (name, option, wanted) in rows {
            assert_eq!(ping_interval(option), wanted, "{name}");
        }
    }
}
