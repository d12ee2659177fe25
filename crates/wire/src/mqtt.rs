//! MQTT 3.1.1 (OASIS standard of 2014): the packets of a client, and the heads of received packets. Messages
//! are sent at most once (QoS 0), so that a payload is everything after a head.

/// The largest remaining length (section 2.2.3).
pub const MAX_REMAINING: u32 = 268_435_455;
/// Time in seconds after which a server may drop a silent client.
pub const KEEP_ALIVE_S: u16 = 60;
/// Packet identifier of the only subscription.
const SUBSCRIPTION: u16 = 1;

/// A text of MQTT has its length in front, in two bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// A head that no packet has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// The kind of a received packet, and how many bytes follow its head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The first octet: kind and flags.
    pub first: u8,
    pub kind: Kind,
    pub remaining: u32,
}

/// The control packet types that a client of this kind meets (section 2.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Connack,
    Publish,
    Suback,
    Pingresp,
    Disconnect,
    Other(u8),
}

impl Head {
    /// Parses the head at the front of received bytes; returns it and its length, or `None` while it is
    /// incomplete.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Head, usize)>, Malformed> {
        let Some((&first, lengths)) = bytes.split_first() else { return Ok(None) };
        let mut remaining = 0;
        for (at, &byte) in lengths.iter().take(4).enumerate() {
            remaining |= u32::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                return Ok(Some((Head { first, kind: Kind::of(first), remaining }, at + 2)));
            }
        }
        if lengths.len() < 4 { Ok(None) } else { Err(Malformed) }
    }
}

impl Kind {
    fn of(first: u8) -> Kind {
        match first >> 4 {
            2 => Kind::Connack,
            3 => Kind::Publish,
            9 => Kind::Suback,
            13 => Kind::Pingresp,
            14 => Kind::Disconnect,
            other => Kind::Other(other),
        }
    }
}

/// Returns CONNECT for a clean session (section 3.1).
pub fn connect(client: &[u8], user: Option<&[u8]>, password: Option<&[u8]>) -> Result<Vec<u8>, TooLong> {
    const CLEAN_SESSION: u8 = 0x02;
    let flag = |there: bool, bit: u8| if there { bit } else { 0 };
    let flags = CLEAN_SESSION | flag(user.is_some(), 0x80) | flag(password.is_some(), 0x40);
    let mut rest = b"\0\x04MQTT\x04".to_vec();
    rest.push(flags);
    rest.extend_from_slice(&KEEP_ALIVE_S.to_be_bytes());
    for part in [Some(client), user, password].into_iter().flatten() {
        text(&mut rest, part)?;
    }
    packet(0x10, rest)
}

/// SUBSCRIBE to one topic, to be sent its messages once at most (section 3.8).
pub fn subscribe(topic: &[u8]) -> Result<Vec<u8>, TooLong> {
    let mut rest = SUBSCRIPTION.to_be_bytes().to_vec();
    text(&mut rest, topic)?;
    rest.push(0);
    packet(0x82, rest)
}

/// The front of PUBLISH, behind which `payload` bytes follow (section 3.3).
pub fn publish(topic: &[u8], payload: u64) -> Result<Vec<u8>, TooLong> {
    let mut rest = Vec::new();
    text(&mut rest, topic)?;
    let all = u64::try_from(rest.len()).ok().and_then(|n| n.checked_add(payload)).ok_or(TooLong)?;
    let mut out = head(0x30, u32::try_from(all).map_err(|_| TooLong)?)?;
    out.append(&mut rest);
    Ok(out)
}

/// PINGREQ (section 3.12).
pub const PING: [u8; 2] = [0xc0, 0];
/// DISCONNECT (section 3.14).
pub const DISCONNECT: [u8; 2] = [0xe0, 0];

/// The two bytes of CONNACK (section 3.2.2) for an accepted, new session; every clean session is new.
pub const ACCEPTED: [u8; 2] = [0, 0];

/// Returns whether this is the rest of a SUBACK that grants our subscription (section 3.9).
pub fn is_granted(suback: [u8; 3]) -> bool {
    u16::from_be_bytes([suback[0], suback[1]]) == SUBSCRIPTION && suback[2] <= 2
}

fn text(out: &mut Vec<u8>, text: &[u8]) -> Result<(), TooLong> {
    let length = u16::try_from(text.len()).map_err(|_| TooLong)?;
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(text);
    Ok(())
}

fn packet(first: u8, mut rest: Vec<u8>) -> Result<Vec<u8>, TooLong> {
    let mut out = head(first, u32::try_from(rest.len()).map_err(|_| TooLong)?)?;
    out.append(&mut rest);
    Ok(out)
}

fn head(first: u8, mut remaining: u32) -> Result<Vec<u8>, TooLong> {
    if remaining > MAX_REMAINING {
        return Err(TooLong);
    }
    let mut out = vec![first];
    loop {
        let low = (remaining & 0x7f) as u8;
        remaining >>= 7;
        if remaining == 0 {
            out.push(low);
            return Ok(out);
        }
        out.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets() {
        let plain = connect(b"id", None, None).unwrap();
        assert_eq!(plain, b"\x10\x0e\0\x04MQTT\x04\x02\0\x3c\0\x02id");
        let full = connect(b"id", Some(b"me"), Some(b"pw")).unwrap();
        assert_eq!(full, b"\x10\x16\0\x04MQTT\x04\xc2\0\x3c\0\x02id\0\x02me\0\x02pw");
        assert_eq!(subscribe(b"a/b").unwrap(), b"\x82\x08\0\x01\0\x03a/b\0");
        assert_eq!(publish(b"t", 200).unwrap(), b"\x30\xcb\x01\0\x01t");
        assert_eq!(connect(&[b'x'; 65_536], None, None), Err(TooLong));
        assert_eq!(publish(b"t", u64::from(MAX_REMAINING)), Err(TooLong));
        assert_eq!(publish(b"t", u64::MAX), Err(TooLong));
    }

    #[test]
    fn heads() {
        let head = |first, kind, remaining, length| Ok(Some((Head { first, kind, remaining }, length)));
        assert_eq!(Head::parse(b"\x20\x02\0\0"), head(0x20, Kind::Connack, 2, 2));
        assert_eq!(Head::parse(b"\x31\xff\xff\xff\x7f"), head(0x31, Kind::Publish, MAX_REMAINING, 5));
        assert_eq!(Head::parse(b"\xf0\0"), head(0xf0, Kind::Other(15), 0, 2));
        for part in [&b""[..], b"\x30", b"\x30\x80", b"\x30\x80\x80\x80"] {
            assert_eq!(Head::parse(part), Ok(None));
        }
        assert_eq!(Head::parse(b"\x30\xff\xff\xff\x80\0"), Err(Malformed));
    }

    #[test]
    fn lengths_there_and_back() {
        for remaining in [0, 1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, MAX_REMAINING] {
            let bytes = head(0x30, remaining).unwrap();
            let head = Head { first: 0x30, kind: Kind::Publish, remaining };
            assert_eq!(Head::parse(&bytes), Ok(Some((head, bytes.len()))));
        }
    }
}
