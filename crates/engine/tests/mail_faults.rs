//! Faults of mail servers: cuts and silence at any byte, endless replies, a goodbye on an idle connection;
//! and STARTTLS, with data in clear after the go-ahead.

use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::common::{App, handle, long, text};
use tables::share::LockData;
use tables::{Code, EasyOption as O};
use testkit::certs::Authority;
use testkit::raw::{RawPeer, Script, Step, expect, send};
use testkit::temp::TempDir;
use warmwire_engine::{Easy, Share};

const MAIL: &str = "Subject: x\r\n\r\nend\r\n";

#[derive(Clone, Copy, Debug, PartialEq)]
enum Protocol {
    Imap,
    Pop3,
    Smtp,
}

use Protocol::{Imap, Pop3, Smtp};

const ALL: [Protocol; 3] = [Imap, Pop3, Smtp];

impl Protocol {
    /// A handle for the script of [`exchange`](Protocol::exchange).
    fn handle(self, port: u16, tls: bool) -> (Easy, Rc<App>) {
        let s = if tls { "s" } else { "" };
        let url = match self {
            Imap => format!("imap{s}://localhost:{port}/INBOX;UID=1"),
            Pop3 => format!("pop3{s}://localhost:{port}/1"),
            Smtp => format!("smtp{s}://localhost:{port}/client"),
        };
        let (easy, app) = handle(&url);
        text(&easy, O::Username, "user");
        text(&easy, O::Password, "secret");
        long(&easy, O::TimeoutMs, 20_000);
        if self == Smtp {
            let list = vec![b"a@b"[..].into()];
            easy.state().settings.borrow_mut().set_list(O::MailRcpt, Some(list)).unwrap();
            text(&easy, O::MailFrom, "me@b");
            long(&easy, O::Upload, 1);
            *app.upload.borrow_mut() = MAIL.as_bytes().to_vec();
        }
        (easy, app)
    }

    fn greeting(self) -> Step {
        match self {
            Imap => send("* OK hi\r\n"),
            Pop3 => send("+OK hi\r\n"),
            Smtp => send("220 hi\r\n"),
        }
    }

    /// From the greeting to a login, for the command with this number (IMAP counts).
    fn login(self, first: usize) -> Script {
        let turn = |asked: &str, answer: String| [expect(asked), send(&answer)];
        let tag = |n: usize| format!("A{:03}", first + n);
        match self {
            Imap => [
                turn(" CAPABILITY\r\n", format!("* CAPABILITY IMAP4rev1\r\n{} OK\r\n", tag(0))),
                turn(" LOGIN user secret\r\n", format!("{} OK\r\n", tag(1))),
            ]
            .concat(),
            Pop3 => [
                turn("CAPA\r\n", "+OK\r\nUSER\r\n.\r\n".into()),
                turn("USER user\r\n", "+OK\r\n".into()),
                turn("PASS secret\r\n", "+OK\r\n".into()),
            ]
            .concat(),
            Smtp => [
                turn("EHLO client\r\n", "250-me\r\n250 AUTH PLAIN\r\n".into()),
                turn("AUTH PLAIN\r\n", "334 \r\n".into()),
                turn("AHVzZXIAc2VjcmV0\r\n", "235 in\r\n".into()),
            ]
            .concat(),
        }
    }

    /// One message.
    fn exchange(self, first: usize, selects: bool) -> Script {
        let turn = |asked: &str, answer: String| [expect(asked), send(&answer)];
        let tag = |n: usize| format!("A{:03}", first + n);
        match self {
            Imap => {
                let fetch = |n| {
                    let literal = format!("* 1 FETCH (UID 1 BODY[] {{{}}}\r\n{MAIL})\r\n", MAIL.len());
                    turn(" UID FETCH 1 BODY[]\r\n", format!("{literal}{} OK\r\n", tag(n)))
                };
                match selects {
                    true => [turn(" SELECT INBOX\r\n", format!("{} OK\r\n", tag(0))), fetch(1)].concat(),
                    false => fetch(0).to_vec(),
                }
            }
            Pop3 => turn("RETR 1\r\n", format!("+OK\r\n{MAIL}.\r\n")).to_vec(),
            Smtp => [
                turn("MAIL FROM:<me@b>\r\n", "250 ok\r\n".into()),
                turn("RCPT TO:<a@b>\r\n", "250 ok\r\n".into()),
                turn("DATA\r\n", "354 go\r\n".into()),
                turn("\r\n.\r\n", "250 ok\r\n".into()),
            ]
            .concat(),
        }
    }

    fn whole(self) -> Script {
        [vec![self.greeting()], self.login(1), self.exchange(3, true)].concat()
    }
}

/// How much the server says.
fn length(script: &Script) -> usize {
    script.iter().map(|step| if let Step::Send(bytes) = step { bytes.len() } else { 0 }).sum()
}

/// Returns the script up to this byte of the server.
fn up_to(script: &Script, mut left: usize, end: Step) -> Script {
    let mut cut = Script::new();
    for step in script {
        match step {
            Step::Send(bytes) if bytes.len() > left => {
                cut.push(Step::Send(bytes[..left].to_vec()));
                break;
            }
            Step::Send(bytes) => left -= bytes.len(),
            _ => {}
        }
        cut.push(step.clone());
    }
    cut.push(end);
    cut
}

/// The whole script in one piece first: otherwise the cuts would prove nothing.
#[test]
fn a_cut_behind_each_byte() {
    for protocol in ALL {
        let script = protocol.whole();
        for kept in 0..=length(&script) {
            let peer = RawPeer::start(vec![up_to(&script, kept, Step::Finish)]);
            let (easy, app) = protocol.handle(peer.port(), false);
            let code = easy.perform();
            assert_eq!(code == Code::Ok, kept == length(&script), "{protocol:?} {kept}: {code:?}");
            let body = app.body.borrow();
            assert!(protocol == Smtp || MAIL.as_bytes().starts_with(&body), "{protocol:?} {kept}: {body:?}");
        }
    }
}

/// A silent server is abandoned after CURLOPT_SERVER_RESPONSE_TIMEOUT_MS, wherever it stopped.
#[test]
fn silence() {
    for protocol in ALL {
        let script = protocol.whole();
        for kept in (0..length(&script)).step_by(11) {
            let peer = RawPeer::start(vec![up_to(&script, kept, Step::Hold)]);
            let (easy, _) = protocol.handle(peer.port(), false);
            long(&easy, O::ServerResponseTimeoutMs, 60);
            long(&easy, O::TimeoutMs, 1500);
            let begun = Instant::now();
            assert_eq!(easy.perform(), Code::OperationTimedout, "{protocol:?} {kept}");
            assert!(begun.elapsed() < Duration::from_secs(6), "{protocol:?} {kept}");
        }
    }
}

/// Each byte in a separate packet.
#[test]
fn byte_by_byte() {
    for protocol in ALL {
        let single = |step| match step {
            Step::Send(bytes) => bytes.into_iter().map(|b| Step::Send(vec![b])).collect(),
            step => vec![step],
        };
        let script: Script = protocol.whole().into_iter().flat_map(single).collect();
        let peer = RawPeer::start(vec![script]);
        let (easy, app) = protocol.handle(peer.port(), false);
        assert_eq!(easy.perform(), Code::Ok, "{protocol:?}: {}", easy.state().message());
        assert!(protocol == Smtp || *app.body.borrow() == MAIL.as_bytes());
    }
}

/// Lines that never end the reply: time and memory are bounded.
#[test]
fn replies_without_end() {
    let endless = |first: &str, line: &str| {
        let mut script = vec![send(first)];
        script.extend((0..200).map(|_| send(&line.repeat(200))));
        script.push(Step::Hold);
        script
    };
    for (protocol, first, line) in [
        (Imap, "", "* OK this is no greeting, and no end\r\n"),
        (Imap, "* OK hi\r\n", "* 1 EXISTS\r\n"),
        (Imap, "* OK hi\r\n", "B999 OK somebody else's\r\n"),
        (Imap, "* OK hi\r\n", "* LIST {3}\r\nabc\r\n"),
        (Pop3, "", "nothing\r\n"),
        (Pop3, "+OK hi\r\n", "XNOTHING\r\n"),
        (Smtp, "", "220-more\r\n"),
        (Smtp, "220 hi\r\n", "250-more\r\n"),
        (Smtp, "220 hi\r\n", "no reply at all\r\n"),
        (Imap, "", "no end of a line "),
        (Pop3, "+OK hi\r\n", "no end of a line "),
        (Smtp, "220 hi\r\n", "250-no end of a line "),
    ] {
        let peer = RawPeer::start(vec![endless(first, line)]);
        let (easy, app) = protocol.handle(peer.port(), false);
        long(&easy, O::ServerResponseTimeoutMs, 300);
        let code = easy.perform();
        let fits = [Code::OperationTimedout, Code::WeirdServerReply, Code::RecvError];
        // A greeting is accepted whatever follows; the rest is not the expected reply.
        assert!(fits.contains(&code), "{protocol:?} {line:?}: {code:?}");
        assert!(app.body.borrow().is_empty());
    }
}

/// A server that says goodbye on an idle connection, before or while it is reused, causes no error.
#[test]
fn goodbyes() {
    for (protocol, goodbye) in [
        (Imap, "* BYE too long idle\r\n"),
        (Pop3, "-ERR Disconnected for inactivity.\r\n"),
        (Smtp, "421 4.4.2 timeout\r\n"),
    ] {
        let first = protocol.whole();
        let at_once = [&first[..], &[send(goodbye), Step::Finish]].concat();
        let asked = match protocol {
            Imap => " UID FETCH 1 BODY[]\r\n",
            Pop3 => "RETR 1\r\n",
            Smtp => "MAIL FROM:<me@b>\r\n",
        };
        let when_asked = [&first[..], &[expect(asked), send(goodbye), Step::Finish]].concat();
        // A POP3 server's message before it closes looks like a reply (by RFC 1939 section 3 it closes
        // silently).
        let scripts = if protocol == Pop3 { vec![at_once] } else { vec![at_once, when_asked] };
        for script in scripts {
            let again: Script = protocol.whole().into_iter().map(renumbered).collect();
            let peer = RawPeer::start(vec![script, again]);
            let (easy, app) = protocol.handle(peer.port(), false);
            assert_eq!(easy.perform(), Code::Ok, "{protocol:?}: {}", easy.state().message());
            std::thread::sleep(Duration::from_millis(30));
            app.read_at.set(0);
            assert_eq!(easy.perform(), Code::Ok, "{protocol:?}: {}", easy.state().message());
            assert_eq!(peer.accepts(), 2);
        }
    }
}

/// A connection that another handle has left in a share serves the next one's message, and a server's goodbye
/// meanwhile causes no error either.
#[test]
fn shared_connections() {
    for (protocol, goodbye) in [
        (Imap, "* BYE too long idle\r\n"),
        (Pop3, "-ERR Disconnected for inactivity.\r\n"),
        (Smtp, "421 4.4.2 timeout\r\n"),
    ] {
        let kept = [protocol.whole(), protocol.exchange(5, false), vec![Step::Hold]].concat();
        let gone = [protocol.whole(), vec![send(goodbye), Step::Finish]].concat();
        let again: Script = protocol.whole().into_iter().map(renumbered).collect();
        for (scripts, connections) in [(vec![kept], 1), (vec![gone, again], 2)] {
            let peer = RawPeer::start(scripts);
            let share = Share::default();
            share.set_kind(LockData::Connect, true);
            let mut numbers = Vec::new();
            for _ in 0..2 {
                let (easy, app) = protocol.handle(peer.port(), false);
                easy.set_share(Some(share.clone()));
                assert_eq!(easy.perform(), Code::Ok, "{protocol:?}: {}", easy.state().message());
                assert!(protocol == Smtp || *app.body.borrow() == MAIL.as_bytes());
                let number = easy.state().info.borrow().connection_id;
                numbers.push(number);
                std::thread::sleep(Duration::from_millis(30));
            }
            assert_eq!(peer.accepts(), connections, "{protocol:?}");
            assert_eq!(
                numbers,
                [0, connections as i64 - 1],
                "all connections of a share have numbers of their own"
            );
        }
    }
}

/// IMAP's tags on the second connection.
fn renumbered(step: Step) -> Step {
    match step {
        Step::Send(bytes) => Step::Send(String::from_utf8(bytes).unwrap().replace("A00", "B00").into_bytes()),
        step => step,
    }
}

/// Two messages under TLS, implicit or by STARTTLS.
fn under_tls(protocol: Protocol, on_request: bool) -> Script {
    let mut script = vec![protocol.greeting()];
    if on_request {
        script.extend(match protocol {
            Imap => [expect(" CAPABILITY\r\n"), send("* CAPABILITY STARTTLS AUTH=PLAIN\r\nA001 OK\r\n")],
            Pop3 => [expect("CAPA\r\n"), send("+OK\r\nSTLS\r\nSASL PLAIN\r\n.\r\n")],
            Smtp => [expect("EHLO client\r\n"), send("250-STARTTLS\r\n250 AUTH PLAIN\r\n")],
        });
        script.extend(match protocol {
            Imap => [expect(" STARTTLS\r\n"), send("A002 OK go\r\n")],
            Pop3 => [expect("STLS\r\n"), send("+OK go\r\n")],
            Smtp => [expect("STARTTLS\r\n"), send("220 go\r\n")],
        });
        script.push(Step::StartTls);
    }
    let begun = if on_request { 3 } else { 1 };
    script.extend(protocol.login(begun));
    script.extend(protocol.exchange(begun + 2, true));
    script.extend(protocol.exchange(begun + 4, false));
    script.push(Step::Hold);
    script
}

/// Implicit TLS and STARTTLS, and the second message on the same connection. A server with an untrusted
/// certificate receives nothing.
// covers: CURLOPT_USE_SSL
#[test]
fn tls() {
    let authority = Authority::new();
    let config = authority.good().server_config().unwrap();
    let directory = TempDir::new("mail").unwrap();
    let file = directory.write("ca.pem", authority.ca_pem()).unwrap().display().to_string();
    let other = directory.write("other.pem", Authority::new().ca_pem()).unwrap().display().to_string();
    for (protocol, on_request) in ALL.into_iter().flat_map(|protocol| [(protocol, false), (protocol, true)]) {
        let start = |trusted: &str| {
            let scripts = vec![under_tls(protocol, on_request)];
            let peer = match on_request {
                true => RawPeer::upgradable(scripts, config.clone()),
                false => RawPeer::tls(scripts, config.clone()),
            };
            let (easy, app) = protocol.handle(peer.port(), !on_request);
            long(&easy, O::UseSsl, 3);
            text(&easy, O::CaInfo, trusted);
            (peer, easy, app)
        };
        let (peer, easy, _) = start(&other);
        assert_eq!(easy.perform(), Code::PeerFailedVerification, "{protocol:?}");
        let commands = String::from_utf8_lossy(&peer.received()[0]).into_owned();
        assert!(!commands.contains("secret") && !commands.contains("AHVz"), "{commands}");
        let (peer, easy, app) = start(&file);
        for _ in 0..2 {
            app.read_at.set(0);
            app.body.borrow_mut().clear();
            assert_eq!(easy.perform(), Code::Ok, "{protocol:?} {on_request}: {}", easy.state().message());
            assert!(protocol == Smtp || *app.body.borrow() == MAIL.as_bytes());
        }
        assert_eq!(peer.accepts(), 1);
    }
}

/// CVE-2026-8286: a connection upgraded with other TLS settings is another one.
#[test]
fn an_upgraded_connection_serves_only_equal_tls_settings() {
    let config = Authority::new().good().server_config().unwrap();
    for protocol in ALL {
        let first = under_tls(protocol, true);
        let second = first.iter().cloned().map(renumbered).collect();
        let peer = RawPeer::upgradable(vec![first, second], config.clone());
        let (easy, app) = protocol.handle(peer.port(), false);
        long(&easy, O::UseSsl, 3);
        long(&easy, O::SslVerifyPeer, 0);
        for (verify_host, connections) in [(2, 1), (2, 1), (0, 2)] {
            long(&easy, O::SslVerifyHost, verify_host);
            app.read_at.set(0);
            assert_eq!(easy.perform(), Code::Ok, "{protocol:?}: {}", easy.state().message());
            assert_eq!(peer.accepts(), connections, "{protocol:?}");
        }
    }
}
