//! Folders, peers and messages that are refused.

use std::fs::{self, File, Permissions};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::{PATIENCE, Running, connection, give, is_closed, key, socket_of, talk};
use broker::message::{Give, Reply, Request, Times, UNKNOWN};
use broker::{Client, Folder, Limits, Unavailable};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix,
    SocketType, bind, connect, listen, recv, send, sendmsg, socket,
};
use testkit::dice::Dice;
use testkit::temp::TempDir;

fn refusal(path: &Path) -> String {
    match Client::at(path, PATIENCE).secret() {
        Err(Unavailable::Folder(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn folders_that_others_could_use_are_refused() {
    let place = TempDir::new("broker-folders").unwrap();
    let at = |name: &str| place.path().join(name);
    fs::create_dir(at("open")).unwrap();
    for mode in [0o710, 0o701, 0o770, 0o755] {
        fs::set_permissions(at("open"), Permissions::from_mode(mode)).unwrap();
        assert!(refusal(&at("open")).ends_with("is accessible to other users"), "{mode:o}");
    }
    fs::create_dir(at("private")).unwrap();
    fs::set_permissions(at("private"), Permissions::from_mode(0o700)).unwrap();
    assert_eq!(Client::at(&at("private"), PATIENCE).secret().unwrap_err(), Unavailable::NotRunning);
    symlink(at("private"), at("link")).unwrap();
    assert!(refusal(&at("link")).ends_with("is no folder, or a symbolic link"));
    File::create(at("file")).unwrap();
    assert!(refusal(&at("file")).ends_with("is no folder, or a symbolic link"));
    assert!(refusal(Path::new("relative")).ends_with("is not an absolute path"));
    let below = at("missing").join("pool");
    assert!(Folder::at(&below).unwrap_err().contains("can't be created"));
}

#[test]
fn a_folder_of_another_user_is_refused() {
    let place = TempDir::new("broker-owner").unwrap();
    let folder = place.path().join("pool");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    if chown(&folder, Some(65534), None).is_err() {
        testkit::left_out("needs the right to change owners");
    }
    assert!(refusal(&folder).ends_with("belongs to another user"));
}

#[test]
fn a_new_folder_is_private() {
    let place = TempDir::new("broker-new").unwrap();
    let path = place.path().join("pool");
    let _listener = Folder::at(&path).unwrap().listen().unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
}

/// A socket that a killed broker left behind.
#[test]
fn a_stale_socket_is_replaced() {
    let place = TempDir::new("broker-stale").unwrap();
    let path = place.path().join("pool");
    let folder = Folder::at(&path).unwrap();
    drop(folder.listen().unwrap());
    assert!(socket_of(&path).exists());
    assert_eq!(Client::at(&path, PATIENCE).secret().unwrap_err(), Unavailable::NotRunning);
    drop(folder.listen().unwrap());
}

fn listener(folder: &Path) -> OwnedFd {
    let socket = socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
    Folder::at(folder).unwrap();
    bind(&socket, &SocketAddrUnix::new(socket_of(folder)).unwrap()).unwrap();
    listen(&socket, 8).unwrap();
    socket
}

/// A process that listens and does not answer costs the time limit once, and then nothing for a while.
#[test]
fn a_silent_broker_costs_the_time_limit_once() {
    let place = TempDir::new("broker-silent").unwrap();
    let folder = place.path().join("pool");
    let _listener = listener(&folder);
    let client = Client::at(&folder, Duration::from_millis(5));
    assert_eq!(client.secret().unwrap_err(), Unavailable::Slow);
    let start = Instant::now();
    for _ in 0..100 {
        assert_eq!(client.secret().unwrap_err(), Unavailable::Slow);
    }
    assert!(start.elapsed() < Duration::from_millis(400), "{:?}", start.elapsed());
}

/// Answers the first message of each connection with these bytes.
fn answer(listener: OwnedFd, answer: Vec<u8>) {
    std::thread::spawn(move || {
        while let Ok(peer) = rustix::net::accept(&listener) {
            let _ = recv(&peer, &mut [0; 1024], RecvFlags::empty());
            let _ = send(&peer, &answer, SendFlags::NOSIGNAL);
        }
    });
}

#[test]
fn malformed_replies_and_other_versions_make_the_broker_unavailable() {
    let place = TempDir::new("broker-answers").unwrap();
    let mut other = Reply::OtherVersion.encode(&UNKNOWN);
    other[4..6].copy_from_slice(&[1, 2]);
    let malformed = Unavailable::Broken("malformed reply".to_owned());
    let cases = [
        ("version", other, Unavailable::OtherVersion(0x102)),
        ("garbage", b"HTTP/1.1 200 OK".to_vec(), malformed.clone()),
        ("unexpected", Reply::Stopping.encode(&UNKNOWN), malformed.clone()),
        ("cut", Reply::Welcome(&[0; 32]).encode(&UNKNOWN), malformed),
    ];
    for (name, bytes, expected) in cases {
        let folder = place.path().join(name);
        answer(listener(&folder), bytes);
        assert_eq!(Client::at(&folder, PATIENCE).secret().unwrap_err(), expected, "{name}");
    }
}

/// Connects as a program that does not know the protocol.
fn stranger(running: &Running) -> OwnedFd {
    let socket = socket(AddressFamily::UNIX, SocketType::SEQPACKET, None).unwrap();
    connect(&socket, &SocketAddrUnix::new(socket_of(&running.folder())).unwrap()).unwrap();
    socket
}

fn send_with(socket: &OwnedFd, bytes: &[u8], descriptors: &[BorrowedFd<'_>]) -> Result<(), Errno> {
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(3))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        assert!(ancillary.push(SendAncillaryMessage::ScmRights(descriptors)));
    }
    sendmsg(socket, &[std::io::IoSlice::new(bytes)], &mut ancillary, SendFlags::NOSIGNAL).map(drop)
}

/// Malformed messages, and descriptors that are no connections, end the talk and nothing else.
#[test]
fn bad_messages_end_the_talk() {
    let running = Running::new(Limits::default());
    let client = running.client();
    let (socket, server) = connection();
    give(&client, 1, socket, b"kept").unwrap();
    let file = File::open("/dev/null").unwrap();
    let (good, _other) = connection();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let instance = instance(&running);
    let time = Duration::from_secs(1);
    let request = Request::Give(Give {
        mac: [1; 32],
        times: Times { age: time, idle: Duration::ZERO, uses: 0 },
        idle_limit: time,
        scheme: "http",
        host: "h",
        port: 80,
        state: b"",
    });
    let message = request.encode(&instance);
    send_with(&stranger(&running), &message, &[]).unwrap();
    send_with(&stranger(&running), &message, &[file.as_fd()]).unwrap();
    send_with(&stranger(&running), &message, &[listener.as_fd()]).unwrap();
    send_with(&stranger(&running), &message, &[good.as_fd(), file.as_fd(), good.as_fd()]).unwrap();
    send_with(&stranger(&running), b"", &[good.as_fd()]).unwrap();
    send_with(&stranger(&running), &vec![b'W'; 100_000], &[]).unwrap();
    mutate(&running, &message, &good);
    let taken = client.take(&key(&client, 1)).unwrap().unwrap();
    assert_eq!(&taken.state[..], b"kept");
    talk(&taken.socket.into(), &server);
}

/// The instance in the broker's welcome.
fn instance(running: &Running) -> [u8; 16] {
    let socket = stranger(running);
    send_with(&socket, &Request::Hello.encode(&UNKNOWN), &[]).unwrap();
    let mut buffer = [0; 256];
    let (_, length) = recv(&socket, &mut buffer, RecvFlags::empty()).unwrap();
    broker::message::Head::decode(&buffer[..length]).unwrap().instance
}

/// Sends thousands of damaged messages, some with a descriptor. The key of the parked connection is not among
/// them.
fn mutate(running: &Running, message: &[u8], socket: &std::net::TcpStream) {
    let mut dice = Dice::new(36);
    for _ in 0..3000 {
        let mut damaged = message.to_vec();
        damaged[22..54].fill(9);
        for _ in 0..=dice.roll(3) {
            let place = dice.roll(damaged.len());
            match dice.roll(3) {
                0 => damaged[place] = dice.roll(256) as u8,
                1 => damaged.truncate(place.max(1)),
                _ => damaged.insert(place, dice.roll(256) as u8),
            }
        }
        // Not `stop`, which is valid.
        if damaged.get(3) == Some(&b'x') {
            continue;
        }
        let descriptors = [socket.as_fd()];
        let stranger = stranger(running);
        let _ = send_with(&stranger, &damaged, &descriptors[..dice.roll(2)]);
    }
}

/// Peers that connect and stay silent are dropped, and do not keep others out.
#[test]
fn silent_peers_are_dropped() {
    let running = Running::new(Limits::default());
    let silent: Vec<_> = (0..300).map(|_| stranger(&running)).collect();
    let client = running.client();
    let (socket, _server) = connection();
    give(&client, 1, socket, b"").unwrap();
    assert!(client.take(&key(&client, 1)).unwrap().is_some());
    for peer in &silent {
        assert!(matches!(recv(peer, &mut [0], RecvFlags::empty()), Ok((_, 0)) | Err(_)));
    }
}

/// A taker that is gone before its reply: the connection is closed, and nobody else gets it.
#[test]
fn a_connection_that_was_sent_is_not_sent_again() {
    let running = Running::new(Limits::default());
    let client = running.client();
    let instance = instance(&running);
    for _ in 0..50 {
        let (socket, server) = connection();
        give(&client, 1, socket, b"").unwrap();
        let taker = stranger(&running);
        send_with(&taker, &Request::Take([1; 32]).encode(&instance), &[]).unwrap();
        drop(taker);
        assert!(is_closed(&server));
        assert!(client.take(&key(&client, 1)).unwrap().is_none());
    }
}
