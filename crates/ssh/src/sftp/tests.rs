//! Packets whole and cut, replies in any order, and lengths that lie.

use super::*;
use crate::bytes::Put;

fn packet(kind: u8, id: u32, body: &[u8]) -> Vec<u8> {
    let mut inner = vec![kind];
    inner.put_u32(id);
    inner.extend_from_slice(body);
    let mut out = Vec::new();
    out.put_string(inner);
    out
}

#[test]
fn the_greeting_tells_what_the_server_can_do() {
    let mut body = vec![2, 0, 0, 0, 3];
    for (name, value) in [("posix-rename@openssh.com", "1"), ("statvfs@openssh.com", "2"), ("x", "y")] {
        body.put_string(name);
        body.put_string(value);
    }
    let mut bytes = Vec::new();
    bytes.put_string(&body);
    let mut client = Client::new();
    assert_eq!(client.output(), [0, 0, 0, 5, 1, 0, 0, 0, 3]);
    for n in 0..bytes.len() {
        assert_eq!(client.greet(&bytes[..n]), Ok(None));
    }
    assert_eq!(client.greet(&bytes), Ok(Some(bytes.len())));
    assert!(client.extensions().posix_rename && client.extensions().statvfs && !client.extensions().limits);
}

#[test]
fn lengths_that_lie_are_faults_at_once() {
    let mut client = Client::new();
    for length in [0u32, MAX_PACKET as u32 + 1, u32::MAX] {
        assert!(client.reply(&length.to_be_bytes()).is_err(), "{length}");
    }
    // A folder of four billion entries in a packet of a few bytes, and a string that is longer than its packet.
    assert!(client.reply(&packet(104, 0, &u32::MAX.to_be_bytes())).is_err());
    assert!(client.reply(&packet(103, 0, &[0, 0, 1, 0, 1])).is_err());
    assert!(client.reply(&packet(102, 0, &[[0, 0, 1, 1].as_slice(), &[0; 257]].concat())).is_err());
}

#[test]
fn attributes_go_there_and_back() {
    let all =
        Attrs { size: Some(5), owners: Some((1, 2)), permissions: Some(0o100_644), times: Some((3, 4)) };
    for attrs in [Attrs::default(), Attrs::mode(0o755), all] {
        let mut out = Vec::new();
        attrs.put(&mut out);
        assert_eq!(Attrs::read(&mut Reader::new(&out)), Ok(attrs));
    }
}

#[test]
fn a_forgotten_reply_is_passed_over() {
    let mut client = Client::new();
    client.ask_in_passing(&Request::Close { handle: b"h" });
    let taken = client.reply(&packet(101, 0, &[0, 0, 0, 0])).unwrap().map(|taken| taken.wanted.is_none());
    assert_eq!(taken, Some(true));
}

/// Pieces come in the wrong order, and short; what is handed out is the file.
#[test]
fn a_file_is_put_together() {
    let file: Vec<u8> = (0..200_000u32).map(|i| (i / 7) as u8).collect();
    let mut client = Client::new();
    let mut reads = Reads::new(b"h", 10, None);
    let mut out = Vec::new();
    let mut turn = 0;
    while !reads.is_done() {
        reads.ask(&mut client);
        let mut asked: Vec<(u32, u64, u32)> = requests(client.output());
        client.sent(usize::MAX);
        turn += 1;
        if turn % 2 == 1 {
            asked.reverse();
        }
        for (id, offset, length) in asked {
            if reads_none(&reads, id) {
                continue;
            }
            let from = (offset as usize).min(file.len());
            let to = (from + length as usize).min(file.len());
            let short = to - (to - from) / 3;
            let answer = match from == to {
                true => reads.status(&mut client, id, Status::EOF).unwrap(),
                false => reads.data(&mut client, id, &file[from..short]).unwrap(),
            };
            if answer == Answer::Next {
                out.extend_from_slice(&file[from..short]);
            }
            while let Some(kept) = reads.kept() {
                out.extend(kept);
            }
        }
    }
    assert_eq!(out, file[10..]);
}

fn reads_none(reads: &Reads, id: u32) -> bool {
    reads.position(id).is_none()
}

fn requests(mut bytes: &[u8]) -> Vec<(u32, u64, u32)> {
    let mut found = Vec::new();
    while let Ok(Some(packet)) = whole(bytes) {
        bytes = &bytes[packet.len()..];
        let mut reader = Reader::new(&packet[4..]);
        if reader.u8().unwrap() != 5 {
            continue;
        }
        let id = reader.u32().unwrap();
        reader.string().unwrap();
        found.push((id, reader.u64().unwrap(), reader.u32().unwrap()));
    }
    found
}

#[test]
fn data_that_nobody_asked_for_is_a_fault() {
    let mut client = Client::new();
    let mut reads = Reads::new(b"h", 0, Some(10));
    reads.ask(&mut client);
    assert!(reads.data(&mut client, 7, b"x").is_err());
    assert!(reads.data(&mut client, 0, &[0; 11]).is_err());
    let mut reads = Reads::new(b"h", 0, Some(10));
    reads.ask(&mut client);
    assert!(reads.data(&mut client, 1, b"").is_err());
}
