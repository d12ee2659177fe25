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

/// Returns a client after the greeting of a server without extensions.
fn greeted() -> Client {
    let mut client = Client::new();
    client.reply(&[0, 0, 0, 5, 2, 0, 0, 0, 3]).unwrap();
    client.sent(usize::MAX);
    client
}

#[test]
fn the_greeting_lists_the_servers_extensions() {
    let mut body = vec![2, 0, 0, 0, 3];
    let extensions = [
        ("posix-rename@openssh.com", "1"),
        ("statvfs@openssh.com", "2"),
        ("limits@openssh.com", "1"),
        ("x", "y"),
    ];
    for (name, value) in extensions {
        body.put_string(name);
        body.put_string(value);
    }
    let mut bytes = Vec::new();
    bytes.put_string(&body);
    let mut client = Client::new();
    assert_eq!(client.output()[..9], [0, 0, 0, 5, 1, 0, 0, 0, 3]);
    for n in 0..bytes.len() {
        assert!(client.reply(&bytes[..n]).unwrap().is_none());
    }
    assert_eq!(client.reply(&bytes).unwrap().map(|taken| taken.length), Some(bytes.len()));
    assert!(client.is_greeted() && client.extensions().posix_rename && client.extensions().statvfs);
    assert_eq!(client.read_piece(), PIECE);
    let limits: Vec<u8> = [0u64, 1 << 40, 100_000, 0].iter().flat_map(|n| n.to_be_bytes()).collect();
    assert!(client.reply(&packet(201, 1, &limits)).unwrap().is_some_and(|taken| taken.wanted.is_none()));
    assert_eq!((client.read_piece(), client.write_piece()), (256 << 10, 100_000));
}

#[test]
fn a_checksum_of_a_file_is_asked_and_read() {
    let mut client = greeted();
    let before = client.output().len();
    client.ask(&Request::CheckFile { path: b"f", functions: "md5" });
    let mut wanted = Vec::new();
    for text in ["check-file-name", "f", "md5"] {
        wanted.put_string(text);
    }
    wanted.extend([0; 20]);
    assert!(client.output()[before..].ends_with(&wanted));
    let [mut plain, mut named, mut prefixed] = [const { Vec::new() }; 3];
    plain.put_string("md5");
    named.put_string("check-file");
    named.put_string("md5");
    prefixed.put_string("md5");
    prefixed.put_string([7; 16]);
    for body in [&mut plain, &mut named] {
        body.extend([7; 16]);
    }
    for body in [&plain, &named, &prefixed] {
        assert_eq!(Reply::Extended(body).check_file(), Some((b"md5".as_slice(), [7; 16].as_slice())));
    }
    assert_eq!(Reply::Extended(&[0, 0, 0, 9, 1]).check_file(), None);
    assert_eq!(Reply::Data(&plain).check_file(), None);
}

#[test]
fn an_old_server_is_refused() {
    assert!(Client::new().reply(&[0, 0, 0, 5, 2, 0, 0, 0, 2]).is_err());
}

/// The home directory is requested with the greeting; requests sent with it may be answered in any order.
#[test]
fn early_replies_are_kept_for_their_requests() {
    let mut client = greeted();
    let asked = client.ask(&Request::Stat { path: b"x" });
    let status = packet(101, asked, &[0, 0, 0, 2]);
    let taken = client.reply(&status).unwrap().unwrap();
    assert_eq!(taken.wanted.map(|(id, _)| id), Some(asked));
    client.keep(asked, &status).unwrap();
    assert_eq!(client.home(), None);
    let mut name = vec![0, 0, 0, 1];
    name.put_string("/users/u");
    name.put_string("");
    name.put_u32(0);
    assert!(client.reply(&packet(104, 0, &name)).unwrap().is_some_and(|taken| taken.wanted.is_none()));
    assert_eq!(client.home(), Some(&Ok(b"/users/u".to_vec())));
    let missing = client.kept(asked, |reply| matches!(reply, Reply::Status(Status::NO_SUCH_FILE, _)));
    assert_eq!(missing, Some(true));
    assert_eq!(client.kept(asked, |_| ()), None);
    assert!((0..MAX_KEPT).all(|_| client.keep(9, &status).is_ok()) && client.keep(9, &status).is_err());
}

#[test]
fn lengths_that_lie_are_faults_at_once() {
    let mut client = greeted();
    for length in [0u32, MAX_PACKET as u32 + 1, u32::MAX] {
        assert!(client.reply(&length.to_be_bytes()).is_err(), "{length}");
    }
    // A folder of four billion entries in a packet of a few bytes, and a string that is longer than its
    // packet.
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
fn a_reply_without_a_reader_is_dropped() {
    let mut client = greeted();
    client.ask_in_passing(&Request::Close { handle: b"h" });
    let taken = client.reply(&packet(101, 1, &[0, 0, 0, 0])).unwrap().map(|taken| taken.wanted.is_none());
    assert_eq!(taken, Some(true));
}

/// Pieces arrive out of order and short; the output is the file.
#[test]
fn a_file_is_put_together() {
    let file: Vec<u8> = (0..200_000u32).map(|i| (i / 7) as u8).collect();
    let mut client = greeted();
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
    while let Ok(Some(packet)) = front_packet(bytes) {
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
fn a_second_answer_is_a_fault() {
    let mut client = greeted();
    let mut reads = Reads::new(b"h", 0, Some(100_000));
    reads.ask(&mut client);
    assert_eq!(reads.data(&mut client, 2, &[0; 32768]), Ok(Answer::Kept));
    assert!(reads.data(&mut client, 2, &[0; 32768]).is_err());
    assert!(reads.status(&mut client, 2, Status::EOF).is_err());
    assert_eq!(reads.status(&mut client, 3, Status::EOF), Ok(Answer::Kept));
    assert!(reads.status(&mut client, 3, Status::EOF).is_err());
}

#[test]
fn data_that_nobody_asked_for_is_a_fault() {
    let mut client = greeted();
    let mut reads = Reads::new(b"h", 0, Some(10));
    reads.ask(&mut client);
    assert!(reads.data(&mut client, 7, b"x").is_err());
    assert!(reads.data(&mut client, 1, &[0; 11]).is_err());
    let mut reads = Reads::new(b"h", 0, Some(10));
    reads.ask(&mut client);
    assert!(reads.data(&mut client, 2, b"").is_err());
}

/// Returns a client whose server has returned the handle "h" twice.
fn foreseeing() -> Client {
    let mut client = greeted();
    assert!(EarlyRead::ask(&mut client, 0).is_none(), "nothing is known of the server's handles");
    for (handle, likely) in [("x", false), ("h", false), ("h", true)] {
        let asked = client.ask(&Request::Open { path: b"f", flags: READ, attrs: Attrs::default() });
        let given = packet(102, asked, &[b"\0\0\0\x01", handle.as_bytes()].concat());
        assert!(client.reply(&given).unwrap().is_some_and(|taken| taken.wanted.is_some()));
        assert_eq!(client.expected_handle().is_some(), likely);
    }
    client.sent(usize::MAX);
    client
}

#[test]
fn the_first_piece_is_asked_for_before_there_is_a_handle() {
    let mut client = foreseeing();
    let ahead = EarlyRead::ask(&mut client, 5).unwrap();
    let asked = requests(client.output());
    assert_eq!(asked, [(ahead.id, 5, PIECE)]);
    client.sent(usize::MAX);
    let mut reads = Reads::new(b"h", 5, Some(100_000));
    reads.take(&mut client, ahead);
    reads.ask(&mut client);
    let behind = requests(client.output());
    assert_eq!(behind[0].1, 5 + u64::from(PIECE), "what was asked for is not asked for again");
    assert_eq!(reads.data(&mut client, asked[0].0, &[7; PIECE as usize]), Ok(Answer::Next));
    // A file shorter than the piece arrived with it.
    let mut client = foreseeing();
    let ahead = EarlyRead::ask(&mut client, 0).unwrap();
    let id = ahead.id;
    client.sent(usize::MAX);
    let mut reads = Reads::new(b"h", 0, Some(10));
    reads.take(&mut client, ahead);
    reads.ask(&mut client);
    assert_eq!(reads.data(&mut client, id, &[7; 10]), Ok(Answer::Next));
    assert!(reads.is_done() && client.output().is_empty(), "nothing else is asked for");
}

#[test]
fn early_reads_of_another_handle_are_dropped() {
    let mut client = foreseeing();
    let ahead = EarlyRead::ask(&mut client, 0).unwrap();
    let id = ahead.id;
    client.sent(usize::MAX);
    let mut reads = Reads::new(b"other", 0, Some(10));
    reads.take(&mut client, ahead);
    reads.ask(&mut client);
    assert_eq!(requests(client.output()).len(), 1, "it is read by its own");
    let data = packet(103, id, &[&[0, 0, 0, 10][..], &[1; 10]].concat());
    assert!(client.reply(&data).unwrap().is_some_and(|taken| taken.wanted.is_none()));
}

/// A server that does not keep the order of requests may refuse a predicted piece, or reply to it early.
#[test]
fn a_piece_that_came_too_early_is_asked_for_again() {
    let mut client = foreseeing();
    for status in [Status::FAILURE, Status::EOF] {
        let ahead = EarlyRead::ask(&mut client, 0).unwrap();
        let id = ahead.id;
        client.sent(usize::MAX);
        let mut reads = Reads::new(b"h", 0, Some(10));
        reads.take(&mut client, ahead);
        assert_eq!(reads.status(&mut client, id, status), Ok(Answer::Kept));
        let asked = requests(client.output());
        assert_eq!((asked.len(), asked[0].1, asked[0].2), (1, 0, 10));
        assert_eq!(
            reads.status(&mut client, asked[0].0, Status::FAILURE),
            Ok(Answer::Failed(Status::FAILURE))
        );
        client.sent(usize::MAX);
    }
    let ahead = EarlyRead::ask(&mut client, 0).unwrap();
    client.keep(ahead.id, &packet(101, ahead.id, &[0, 0, 0, 4])).unwrap();
    client.sent(usize::MAX);
    let mut reads = Reads::new(b"h", 0, Some(10));
    reads.take(&mut client, ahead);
    reads.ask(&mut client);
    assert_eq!(requests(client.output()).len(), 1);
    assert!(client.kept.is_empty());
}
