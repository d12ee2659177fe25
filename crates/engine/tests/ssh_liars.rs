//! SFTP and SCP servers that lie: OpenSSH's server runs a script in their place. Missing data is never
//! delivered, memory is bounded, and each fault is reported.

use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::common::{App, handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::body::pattern;
use testkit::cutter::Cutter;
use testkit::launch::{SSH_USER, Sshd};
use testkit::temp::TempDir;
use warmwire_engine::Easy;

/// An SFTP server with the fault in its argument; the file's bytes are `i % 251`.
const SFTP: &str = r#"
import struct, sys
mode, inp, out = sys.argv[1], sys.stdin.buffer, sys.stdout.buffer
FILE = bytes(i % 251 for i in range(100000))
def send(kind, id, body, length=None):
    packet = bytes([kind]) + struct.pack('>I', id) + body
    out.write(struct.pack('>I', len(packet) if length is None else length) + packet)
    out.flush()
def text(b): return struct.pack('>I', len(b)) + b
def status(id, n): send(101, id, struct.pack('>I', n) + text(b'\x1b[31msaid') + text(b''))
def words(body):
    while len(body) >= 4:
        n = struct.unpack('>I', body[:4])[0]
        yield body[4:4 + n]
        body = body[4 + n:]
while True:
    head = inp.read(4)
    if len(head) < 4: break
    packet = inp.read(struct.unpack('>I', head)[0])
    kind, body = packet[0], packet[5:]
    if kind == 1:
        if mode == 'no version': out.write(struct.pack('>I', 5) + b'\x63abcd'); out.flush()
        elif mode == 'version bomb': out.write(struct.pack('>IBI', 0x7fffffff, 2, 3)); out.flush()
        else: out.write(struct.pack('>IBI', 5, 2, 3)); out.flush()
        continue
    id = struct.unpack('>I', packet[1:5])[0]
    if kind == 16: send(104, id, struct.pack('>I', 1) + text(b'/') + text(b'') + struct.pack('>I', 0))
    elif kind == 17:
        size = {'grown': 5000, 'size bomb': 2**63 + 5, 'no size': 0}.get(mode, len(FILE))
        send(105, id, struct.pack('>IQ', 1, size))
    elif kind in (3, 11):
        if mode == 'handle bomb': send(102, id, text(b'h' * 300))
        elif mode == 'another kind': send(103, id, text(b'data'))
        else: send(102, id, text(b'h'))
    elif kind == 5:
        offset, length = struct.unpack('>QI', body[5:17])
        data = FILE[offset:offset + length]
        if mode == 'longer': data = data + b'x' * 1000000
        if mode == 'short file' and offset + length > 5000: data = data[:max(0, 5000 - offset)]
        if mode == 'exit': sys.exit(0)
        if mode == 'silence': continue
        if mode == 'length bomb': send(103, id, text(data), 0xfffffff0)
        elif mode == 'inner length bomb': send(103, id, struct.pack('>I', 0x7fffffff) + data)
        elif mode == 'no length': out.write(struct.pack('>I', 0)); out.flush()
        elif mode == 'nobody asked': send(103, id + 1000000, text(data))
        elif mode == 'strange status': status(id, 12345)
        elif mode == 'nothing': send(103, id, text(b''))
        elif mode == 'refuses': status(id, 3)
        elif mode == 'twice' and data: send(103, id, text(data)); send(103, id, text(data))
        elif mode == 'piece by piece' and data: send(103, id, text(data[:777]))
        elif data: send(103, id, text(data))
        else: status(id, 1)
    elif kind == 6:
        status(id, {'full': 14, 'quota': 15, 'locked': 17, 'fails': 4}.get(mode, 0))
    elif kind == 12:
        if mode == 'count bomb': send(104, id, struct.pack('>I', 0xffffffff))
        elif mode == 'name bomb': send(104, id, struct.pack('>II', 1, 0x7fffffff))
        else: status(id, 1)
    else: status(id, 0)
"#;

/// An scp for `-f` and `-t`, with the fault in its argument.
const SCP: &str = r#"
import os, sys, time
mode, inp, out = sys.argv[1], sys.stdin.buffer, sys.stdout.buffer
stores = ' -t ' in os.environ.get('SSH_ORIGINAL_COMMAND', '')
def say(b): out.write(b); out.flush()
if stores:
    if mode == 'refuses at once': say(b'\x01scp: no\x1b[31m\n'); sys.exit(1)
    say(b'\0'); inp.readline()
    if mode == 'refuses the head': say(b'\x02scp: no\n'); sys.exit(1)
    say(b'\0'); inp.read(1000)
    if mode == 'exits': sys.exit(0)
    inp.read(1)
    say(b'\x01scp: disk full\n' if mode == 'refuses at the end' else b'\0')
    sys.exit(0)
inp.read(1)
FILE = bytes(i % 251 for i in range(1000))
if mode == 'exits': sys.exit(1)
if mode == 'complains': say(b'\x01scp: \x1b[31mno\x07\n'); sys.exit(1)
if mode == 'stderr': sys.stderr.write('scp: not found\n'); sys.exit(127)
head = {'negative': b'C0644 -5 f\n', 'too long': b'C0644 99999999999999999999 f\n', 'folder': b'D0755 0 f\n',
        'nonsense': b'hello\n', 'empty line': b'\n', 'no name': b'C0644 5\n', 'more': b'C0644 10 f\n',
        'away': b'C0644 1000 ../../etc/passwd\n'}.get(mode, b'C0644 1000 f\n')
if mode == 'endless line':
    try:
        while True: say(b'C' * 65536)
    except OSError: sys.exit(1)
if mode == 'times': say(b'T981173106 0 0 0\n'); inp.read(1)
say(head); inp.read(1)
say(FILE[:500] if mode == 'short' else FILE)
if mode == 'short': sys.exit(0)
say(b'\x01scp: read error\n' if mode == 'read error' else b'\0')
inp.read(1)
"#;

/// The server, and the folder that its script is in.
struct Liar {
    server: Sshd,
    _folder: TempDir,
}

fn liar(script: &str, mode: &str) -> Liar {
    let folder = TempDir::new("liar").unwrap();
    let file = folder.write("liar.py", script).unwrap().display().to_string();
    let server = Sshd::start(&format!("ForceCommand exec /usr/bin/python3 {file} '{mode}'")).unwrap();
    Liar { server, _folder: folder }
}

/// Returns the result of the transfer: code, message, and the application with its data.
fn ask(server: &Liar, url: &str, set: &dyn Fn(&Easy, &App)) -> (Code, String, Rc<App>) {
    let (scheme, path) = url.split_once(':').unwrap();
    let (easy, app) = handle(&server.server.url(scheme, path));
    text(&easy, O::SshPrivateKeyFile, &server.server.path("user_ed25519").display().to_string());
    set(&easy, &app);
    let started = Instant::now();
    let code = easy.perform();
    assert!(started.elapsed() < Duration::from_secs(60));
    let message = easy.state().message();
    assert!(!message.contains(char::is_control), "{message:?}");
    (code, message, app)
}

fn file() -> Vec<u8> {
    (0..100_000).map(|i| (i % 251) as u8).collect()
}

#[test]
fn a_server_of_sftp_that_lies() {
    let whole = 100_000;
    for (mode, codes, most) in [
        ("is honest", &[Code::Ok][..], whole),
        ("piece by piece", &[Code::Ok], whole),
        ("grown", &[Code::Ok], 5000),
        ("no size", &[Code::Ok], whole),
        ("no version", &[Code::FailedInit], 0),
        ("version bomb", &[Code::FailedInit], 0),
        ("handle bomb", &[Code::Ssh], 0),
        ("another kind", &[Code::Ssh], 0),
        ("size bomb", &[Code::BadDownloadResume], 0),
        ("longer", &[Code::Ssh], 0),
        ("short file", &[Code::PartialFile], 5000),
        ("exit", &[Code::Ssh], 0),
        ("length bomb", &[Code::Ssh], 0),
        ("inner length bomb", &[Code::Ssh], 0),
        ("no length", &[Code::Ssh], 0),
        ("nobody asked", &[Code::Ssh, Code::OperationTimedout], 0),
        ("strange status", &[Code::Ssh], 0),
        ("nothing", &[Code::Ssh], 0),
        ("refuses", &[Code::RemoteAccessDenied], 0),
        ("twice", &[Code::Ssh], whole),
        ("silence", &[Code::OperationTimedout], 0),
    ] {
        let server = liar(SFTP, mode);
        let (code, message, app) = ask(&server, "sftp:/file", &|easy, _| long(easy, O::Timeout, 8));
        assert!(codes.contains(&code), "{mode}: {code:?} {message}");
        let came = app.body.borrow();
        assert!(file().starts_with(&came) && came.len() <= most, "{mode}: {} bytes came", came.len());
        assert!(code != Code::Ok || came.len() == most, "{mode}: {} bytes came", came.len());
    }
    for (mode, code) in [("count bomb", Code::Ssh), ("name bomb", Code::Ssh), ("is honest", Code::Ok)] {
        let (found, message, _) = ask(&liar(SFTP, mode), "sftp:/folder/", &|_, _| {});
        assert_eq!(found, code, "{mode}: {message}");
    }
}

#[test]
fn sftp_status_of_uploads() {
    for (mode, code) in [
        ("is honest", Code::Ok),
        ("full", Code::RemoteDiskFull),
        ("quota", Code::RemoteDiskFull),
        ("locked", Code::RemoteAccessDenied),
        ("fails", Code::Ssh),
    ] {
        let (found, message, _) = ask(&liar(SFTP, mode), "sftp:/file", &|easy, app| {
            *app.upload.borrow_mut() = pattern(500_000);
            long(easy, O::Upload, 1);
        });
        assert_eq!(found, code, "{mode}: {message}");
    }
}

#[test]
fn a_server_of_scp_that_lies() {
    for (mode, code, came) in [
        ("is honest", Code::Ok, 1000),
        ("times", Code::Ok, 1000),
        ("away", Code::Ok, 1000),
        ("exits", Code::RemoteFileNotFound, 0),
        ("complains", Code::RemoteFileNotFound, 0),
        ("stderr", Code::RemoteFileNotFound, 0),
        ("negative", Code::RemoteFileNotFound, 0),
        ("too long", Code::RemoteFileNotFound, 0),
        ("folder", Code::RemoteFileNotFound, 0),
        ("nonsense", Code::RemoteFileNotFound, 0),
        ("empty line", Code::RemoteFileNotFound, 0),
        ("no name", Code::RemoteFileNotFound, 0),
        ("endless line", Code::RemoteFileNotFound, 0),
        ("more", Code::PartialFile, 10),
        ("short", Code::PartialFile, 500),
        ("read error", Code::PartialFile, 1000),
    ] {
        let server = liar(SCP, mode);
        let (found, message, app) = ask(&server, "scp:/file", &|easy, _| long(easy, O::FileTime, 1));
        assert_eq!((found, app.body.borrow().len()), (code, came), "{mode}: {message}");
        assert!(file().starts_with(&app.body.borrow()), "{mode}");
    }
    for (mode, code) in [
        ("is honest", Code::Ok),
        ("refuses at once", Code::UploadFailed),
        ("refuses the head", Code::UploadFailed),
        ("refuses at the end", Code::UploadFailed),
        ("exits", Code::UploadFailed),
    ] {
        let (found, message, _) = ask(&liar(SCP, mode), "scp:/file", &|easy, app| {
            *app.upload.borrow_mut() = pattern(1000);
            long(easy, O::Upload, 1);
            long(easy, O::InFileSizeLarge, 1000);
        });
        assert_eq!(found, code, "{mode}: {message}");
    }
}

/// A server that is cut off while greeting, agreeing on keys, logging in, opening a channel or telling of a
/// file: an error each time, and soon.
#[test]
fn a_server_that_stops_anywhere() {
    let server = Sshd::start("").unwrap();
    server.write("file", pattern(1000)).unwrap();
    let target = ([127, 0, 0, 1], server.port).into();
    for length in (0..5000).step_by(83) {
        let cutter = Cutter::start(target, length);
        let place = server.path("file").display().to_string();
        let (easy, app) = handle(&format!("sftp://{SSH_USER}@127.0.0.1:{}{place}", cutter.port()));
        text(&easy, O::SshPrivateKeyFile, &server.path("user_ed25519").display().to_string());
        long(&easy, O::Timeout, 30);
        let code = easy.perform();
        let whole = *app.body.borrow() == pattern(1000);
        assert_ne!(code, Code::OperationTimedout, "cut after {length} bytes: {}", easy.state().message());
        assert_eq!(code == Code::Ok, whole, "cut after {length} bytes: {code:?}");
        assert!(length > 1000 || code == Code::FailedInit, "cut after {length} bytes: {code:?}");
    }
}

/// One that is silent, and one that only sends banners.
#[test]
fn a_server_that_says_nothing() {
    for (what, code) in
        [(&b""[..], Code::OperationTimedout), (&b"welcome\r\n".repeat(100_000), Code::FailedInit)]
    {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let says = what.to_vec();
        std::thread::spawn(move || {
            let Ok((mut peer, _)) = listener.accept() else { return };
            let _ = std::io::Write::write_all(&mut peer, &says);
            let _ = std::io::copy(&mut peer, &mut std::io::sink());
        });
        let (easy, _) = handle(&format!("sftp://127.0.0.1:{port}/file"));
        long(&easy, O::ConnectTimeoutMs, 1500);
        assert_eq!(easy.perform(), code, "{}", easy.state().message());
    }
}
