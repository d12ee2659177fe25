//! Command lines with the exit codes, output or trace of curl 8.22.

use super::{curl, curl_in, folder_with, ran};
use crate::{empty_folder, tool};
use std::process::Command;
use testkit::raw::{RawPeer, expect, send};

/// Returns a server of HTTP/1.0 that requires a login once, then accepts anything.
fn asks_for_a_login() -> RawPeer {
    let asks = "HTTP/1.0 401 Login\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n";
    let accepts = "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let sized = |text| vec![expect("\r\n\r\n"), send(text)];
    RawPeer::start(vec![sized(asks), vec![expect("0\r\n\r\n"), send(accepts)]])
}

// covers: --anyauth
#[test]
fn chunks_that_the_application_asks_for_are_sent_to_a_server_of_http_1_0() {
    let server = asks_for_a_login();
    let url = format!("http://{}/", server.address());
    let words = ["-H", "Transfer-Encoding: chunked", "-T", "file", "--digest", "--basic", "--anyauth"];
    let ran = curl_in(folder_with("file", "body"), &[&words[..], &["-u", "a:b", &url]].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "ok"), "{}", ran.stderr);
    let last = String::from_utf8(server.received().pop().unwrap()).unwrap();
    assert!(last.contains("Transfer-Encoding: chunked\r\n") && last.contains("4\r\nbody\r\n"), "{last}");
}

// covers: --upload-file
#[test]
fn a_body_of_unknown_length_has_no_framing_in_http_1_0() {
    let server = asks_for_a_login();
    let ran = curl(&["-T", "-", "--http1.0", &format!("http://{}/", server.address())]);
    let text = "curl: (25) Chunky upload is not supported by HTTP 1.0\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (25, text));
}

/// The file is read for every scheme, also where no login is sent.
// covers: --netrc, --netrc-file, --netrc-optional
#[test]
fn a_missing_netrc_file_fails_every_scheme() {
    let folder = folder_with("file", "text");
    let file = format!("file://{}/file", folder.display());
    let port = RawPeer::refused_port();
    let others = ["dict", "gopher", "tftp", "telnet"].map(|scheme| format!("{scheme}://127.0.0.1:{port}/x"));
    for url in others.iter().chain([&file]) {
        let ran = curl_in(folder.clone(), &["--netrc", url]);
        let text = "curl: (26) .netrc error: no such file\n";
        assert_eq!((ran.code, ran.stderr.as_str()), (26, text), "{url}");
    }
    assert_eq!(curl_in(folder, &["--netrc-optional", &file]).text(), "text");
}

// covers: --resolve
#[test]
fn a_bad_pin_fails_schemes_that_look_nothing_up() {
    let folder = folder_with("file", "text");
    let port = RawPeer::refused_port();
    for url in [format!("file://{}/file", folder.display()), format!("tftp://127.0.0.1:{port}/x")] {
        let ran = curl_in(folder.clone(), &["--resolve", "x", &url]);
        assert_eq!(ran.code, 49, "{url}: {}", ran.stderr);
    }
}

// covers: --verbose
#[test]
fn a_file_ends_its_trace_as_a_connection_does() {
    let folder = folder_with("file", "text");
    let url = |name| format!("file://{}/{name}", folder.display());
    let trace = |words: &[&str]| {
        let ran = ran(Command::new(tool()).arg("-sSv").args(words), folder.clone());
        (ran.code, ran.stderr)
    };
    let closing = "* shutting down connection #0\n";
    assert_eq!(trace(&[&url("file")]), (0, format!("{{ [4 bytes data]\n{closing}")));
    assert_eq!(trace(&["-T", "file", &url("new")]), (0, closing.to_owned()));
    let (code, text) = trace(&[&url("none")]);
    assert!(code == 37 && !text.contains("shutting down"), "{text}");
}

/// The server's text goes to the trace. The message is that of the code, which programs match.
#[test]
fn errors_of_a_tftp_server_have_the_texts_of_curl() {
    let rows: [(u8, i32, &str); 9] = [
        (0, 71, "TFTP: Illegal operation"),
        (1, 68, "TFTP: File Not Found"),
        (2, 69, "TFTP: Access Violation"),
        (3, 70, "Disk full or allocation exceeded"),
        (4, 71, "TFTP: Illegal operation"),
        (5, 72, "TFTP: Unknown transfer ID"),
        (6, 73, "Remote file already exists"),
        (7, 74, "TFTP: No such user"),
        (8, 42, "Operation was aborted by an application callback"),
    ];
    for (number, code, text) in rows {
        let (url, server) = tftp_refusal(number);
        let ran = ran(Command::new(tool()).args(["-sSv", &url]), empty_folder());
        server.join().unwrap();
        assert_eq!(ran.code, code, "{number}: {}", ran.stderr);
        assert!(ran.stderr.ends_with(&format!("curl: ({code}) {text}\n")), "{number}: {}", ran.stderr);
        for line in ["*   Trying 127.0.0.1:", "* TFTP error: no[2J\n", "* shutting down connection #0\n"] {
            assert!(ran.stderr.contains(line), "{number}: {line} in {}", ran.stderr);
        }
    }
}

/// Starts a server that refuses its one request with this error number.
fn tftp_refusal(number: u8) -> (String, std::thread::JoinHandle<()>) {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
    let url = format!("tftp://{}/file", socket.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (_, client) = socket.recv_from(&mut [0; 600]).unwrap();
        socket.send_to(&[&[0, 5, 0, number], &b"no\x1b[2J\0"[..]].concat(), client).unwrap();
    });
    (url, thread)
}

/// Standard input that is a file can be read again from where it was, as after a challenge.
// covers: --upload-file
#[test]
fn standard_input_that_is_a_file_is_sent_again() {
    let accepts = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let asks = "HTTP/1.1 401 Login\r\nWWW-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n";
    let server =
        RawPeer::start(vec![vec![expect("0\r\n\r\n"), send(asks), expect("0\r\n\r\n"), send(accepts)]]);
    let folder = folder_with("file", "line\nbody");
    // The shell reads the first line, so the upload starts after it.
    let line = format!(
        "(read line; exec {} -sS -H Expect: -T - --anyauth -u a:b http://{}/) <file",
        tool(),
        server.address()
    );
    let ran = ran(Command::new("sh").args(["-c", &line]), folder);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "ok"), "{}", ran.stderr);
    let sent = String::from_utf8(server.received().concat()).unwrap();
    assert_eq!(sent.matches("\r\n4\r\nbody\r\n0\r\n\r\n").count(), 2, "{sent}");
}
