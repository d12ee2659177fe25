//! Input from a server before there are keys, in any order and of any length: it fails at once, and nothing
//! grows.

use warmwire_ssh::{Config, Error, Step, Transport};

/// A packet in the clear.
fn packet(payload: &[u8]) -> Vec<u8> {
    let padding = 4 + (8 - (payload.len() + 9) % 8) % 8;
    let mut out = ((1 + payload.len() + padding) as u32).to_be_bytes().to_vec();
    out.push(padding as u8);
    out.extend_from_slice(payload);
    out.resize(out.len() + padding, 0);
    out
}

/// A server's offer, with this added to its key exchange methods.
fn offer(beside: &str) -> Vec<u8> {
    let mut out = vec![20];
    out.extend_from_slice(&[7; 16]);
    let methods = format!("curve25519-sha256{beside}");
    for list in [
        &methods,
        "ssh-ed25519",
        "aes128-ctr",
        "aes128-ctr",
        "hmac-sha2-256",
        "hmac-sha2-256",
        "none",
        "none",
        "",
        "",
    ] {
        out.extend_from_slice(&(list.len() as u32).to_be_bytes());
        out.extend_from_slice(list.as_bytes());
    }
    out.extend_from_slice(&[0; 5]);
    out
}

const STRICT: &str = ",kex-strict-s-v00@openssh.com";

/// Feeds all of it, at most so many bytes at a time, and steps as far as that leads.
fn feed(transport: &mut Transport, mut bytes: &[u8], piece: usize) -> Result<Option<Step>, Error> {
    while !bytes.is_empty() {
        let space = transport.space();
        let n = bytes.len().min(piece).min(space.len());
        assert!(n > 0, "no room, and nothing was taken");
        space[..n].copy_from_slice(&bytes[..n]);
        bytes = &bytes[n..];
        transport.received(n);
        if let Some(step) = transport.step()? {
            return Ok(Some(step));
        }
    }
    Ok(None)
}

fn after_greeting(packets: &[Vec<u8>]) -> Result<Option<Step>, Error> {
    let bytes = [b"SSH-2.0-test\r\n".as_slice(), &packets.concat()].concat();
    let whole = feed(&mut Transport::new(Config::default()).unwrap(), &bytes, usize::MAX);
    let single = feed(&mut Transport::new(Config::default()).unwrap(), &bytes, 1);
    assert_eq!(whole, single, "it is one whether bytes come together or alone");
    whole
}

#[test]
fn greetings_without_end() {
    let line = b"word of welcome\r\n";
    for piece in [1, 1000, 100_000] {
        let mut transport = Transport::new(Config::default()).unwrap();
        let endless = feed(&mut transport, &line.repeat(1 << 17), piece);
        assert!(matches!(endless, Err(Error::NotSsh(_))), "{endless:?}");
        let mut transport = Transport::new(Config::default()).unwrap();
        let long = feed(&mut transport, &vec![b'x'; 1 << 20], piece);
        assert!(matches!(long, Err(Error::NotSsh(_))), "{long:?}");
    }
    for greeting in ["SSH-1.5-old\n", "SSH-3.0-new\n"] {
        let old = feed(&mut Transport::new(Config::default()).unwrap(), greeting.as_bytes(), 5);
        assert!(matches!(old, Err(Error::NotSsh(_))), "{old:?}");
    }
    // A few lines are accepted.
    let mut transport = Transport::new(Config::default()).unwrap();
    assert_eq!(feed(&mut transport, b"hello\r\nyou\nSSH-2.0-x y\r\n", 3), Ok(None));
    assert_eq!(transport.server(), "SSH-2.0-x y");
}

/// CVE-2023-48795: if both sides are strict, no other message is allowed during the first exchange; injected
/// packets would shift the numbers of authenticated ones.
#[test]
fn other_messages_end_a_strict_exchange() {
    let ignore = packet(&[2, 0, 0, 0, 1, b'x']);
    let debug = packet(&[4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let unimplemented = packet(&[3, 0, 0, 0, 0]);
    let extensions = packet(&[7, 0, 0, 0, 0]);
    for stray in [&ignore, &debug, &unimplemented, &extensions] {
        let before = after_greeting(&[stray.clone(), packet(&offer(STRICT))]);
        assert!(matches!(before, Err(Error::Protocol(_))), "{before:?}");
        let within = after_greeting(&[packet(&offer(STRICT)), stray.clone()]);
        assert!(matches!(within, Err(Error::Protocol(_))), "{within:?}");
    }
    // A server that is not strict may send them.
    assert_eq!(after_greeting(&[ignore.clone(), packet(&offer("")), ignore, debug]), Ok(None));
}

#[test]
fn messages_in_any_order() {
    for number in (0..=255_u8).filter(|n| ![2, 3, 4, 20].contains(n)) {
        for before in [&[][..], &[packet(&offer(""))], &[packet(&offer(STRICT))]] {
            for length in [0, 1, 40] {
                let stray = packet(&[&[number][..], &vec![0; length]].concat());
                let came = after_greeting(&[before, &[stray]].concat());
                assert!(came.is_err(), "{number} behind {} packets: {came:?}", before.len());
            }
        }
    }
    let twice = after_greeting(&[packet(&offer("")), packet(&offer(""))]);
    assert!(twice.is_err(), "{twice:?}");
    assert!(after_greeting(&[packet(&[])]).is_err(), "a message without a number");
}

#[test]
fn packets_of_any_length() {
    for length in [0_u32, 1, 4, (256 << 10) + 1, 1 << 24, 0x7fff_ffff, 0xffff_ffff] {
        let came = after_greeting(&[length.to_be_bytes().to_vec()]);
        assert!(came.is_err(), "{length}: nothing more is waited for: {came:?}");
    }
    // Padding that is longer than its packet.
    let mut padded = packet(&offer(""));
    padded[4] = 255;
    assert!(after_greeting(&[padded]).is_err());
    // Lists that end beyond the message, at each place.
    let whole = offer("");
    for cut in 0..whole.len() {
        let came = after_greeting(&[packet(&whole[..cut])]);
        assert!(came.is_err(), "cut at {cut}: {came:?}");
    }
    for at in 17..whole.len() - 5 {
        let mut changed = whole.clone();
        changed[at] = 0xff;
        // Any input must end.
        let _ = after_greeting(&[packet(&changed)]);
    }
}
