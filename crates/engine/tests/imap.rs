//! imap:// against servers that answer truly, octet by octet, too much, too little, or with what is none of
//! their business.
//!
//! covers: CURLOPT_UPLOAD_FLAGS, CURLOPT_SASL_IR, CURLOPT_LOGIN_OPTIONS, CURLOPT_USE_SSL,
//! CURLOPT_CUSTOMREQUEST
//! covers: --upload-flags, --sasl-ir, --login-options

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::{sleep, spawn};
use std::time::Duration;

use crate::common::{App, handle, long, text};
use tables::{Code, EasyOption as O};
use warmwire_engine::Easy;

/// A server's reply to a line; `None` closes.
type Reply = Option<Vec<u8>>;

/// The lines sent to the server.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    /// Whether this line has arrived, or arrives soon: the sender of a LOGOUT does not wait for its reply.
    fn has(&self, line: &str) -> bool {
        (0..200).any(|_| {
            let has = self.lines().iter().any(|l| l == line);
            if !has {
                sleep(Duration::from_millis(10));
            }
            has
        })
    }
}

/// How a server writes.
#[derive(Clone, Copy, PartialEq)]
enum Pace {
    Whole,
    Octets,
}

fn serve(
    greeting: &'static str,
    pace: Pace,
    answer: impl Fn(&str) -> Reply + Send + Sync + 'static,
) -> (u16, Log) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let log = Log::default();
    let (shared, answer) = (log.clone(), Arc::new(answer));
    spawn(move || {
        for stream in listener.incoming() {
            let (log, answer) = (shared.clone(), answer.clone());
            spawn(move || talk(stream.unwrap(), greeting, pace, &log, answer.as_ref()));
        }
    });
    (port, log)
}

fn talk(
    stream: TcpStream,
    greeting: &str,
    pace: Pace,
    log: &Log,
    answer: &(dyn Fn(&str) -> Reply + Send + Sync),
) {
    stream.set_nodelay(true).unwrap();
    let mut out = stream.try_clone().unwrap();
    let mut write = move |bytes: &[u8]| match pace {
        Pace::Whole => out.write_all(bytes).is_ok(),
        Pace::Octets => bytes.iter().all(|octet| out.write_all(&[*octet]).is_ok()),
    };
    if !write(greeting.as_bytes()) {
        return;
    }
    let mut lines = BufReader::new(stream);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        let command = String::from_utf8_lossy(&line).trim_end().to_owned();
        line.clear();
        log.0.lock().unwrap().push(command.clone());
        match answer(&command) {
            Some(bytes) if write(&bytes) => {}
            _ => return,
        }
    }
}

const GREETING: &str = "* OK ready\r\n";

fn say(text: impl Into<String>) -> Reply {
    Some(text.into().into_bytes())
}

/// A typical server; `special` has replies to particular commands. `TAG` is replaced by the tag.
fn usual(line: &str, special: &[(&str, &str)]) -> Reply {
    let (tag, command) = line.split_once(' ').unwrap_or((line, ""));
    if let Some((_, reply)) = special.iter().find(|(start, _)| command.starts_with(start)) {
        return say(reply.replace("TAG", tag));
    }
    match command.split(' ').next().unwrap_or_default() {
        "CAPABILITY" => say(format!("* CAPABILITY IMAP4rev1\r\n{tag} OK done\r\n")),
        "SELECT" => say(format!("* 1 EXISTS\r\n* OK [UIDVALIDITY 7] fine\r\n{tag} OK done\r\n")),
        "LOGOUT" => None,
        _ => say(format!("{tag} OK done\r\n")),
    }
}

const MAIL: &str = "* 1 FETCH (BODY[] {12}\r\nTo: me\r\n\r\nhi)\r\nTAG OK done\r\n";

/// One transfer of a path.
fn fetch(path: &str, special: &'static [(&str, &str)], set: impl FnOnce(&Easy, &App)) -> (Code, String, Log) {
    let (port, log) = serve(GREETING, Pace::Whole, |line| usual(line, special));
    let (easy, app) = handle(&format!("imap://user:secret@127.0.0.1:{port}{path}"));
    set(&easy, &app);
    let code = easy.perform();
    let body = String::from_utf8_lossy(&app.body.borrow()).into_owned();
    (code, body, log)
}

fn nothing(_: &Easy, _: &App) {}

#[test]
fn a_message_and_the_next_on_the_same_connection() {
    for pace in [Pace::Whole, Pace::Octets] {
        let (port, log) = serve(GREETING, pace, |line| usual(line, &[("FETCH", MAIL), ("UID FETCH", MAIL)]));
        let (easy, app) = handle(&format!("imap://user:se%22cret@127.0.0.1:{port}/box/;MAILINDEX=1"));
        assert_eq!(easy.perform(), Code::Ok);
        assert_eq!(*app.body.borrow(), b"To: me\r\n\r\nhi");
        text(
            &easy,
            O::Url,
            &format!("imap://user:se%22cret@127.0.0.1:{port}/BOX;UIDVALIDITY=7/;UID=4/;PARTIAL=0.9"),
        );
        assert_eq!(easy.perform(), Code::Ok);
        text(&easy, O::Url, &format!("imap://user:se%22cret@127.0.0.1:{port}/two%20words?SINCE%201"));
        assert_eq!(easy.perform(), Code::Ok);
        drop(easy);
        assert!(log.has("A008 LOGOUT"));
        assert_eq!(
            log.lines(),
            [
                "A001 CAPABILITY",
                "A002 LOGIN user \"se\\\"cret\"",
                "A003 SELECT box",
                "A004 FETCH 1 BODY[]",
                "A005 UID FETCH 4 BODY[]<0.9>",
                "A006 SELECT \"two words\"",
                "A007 SEARCH SINCE 1",
                "A008 LOGOUT"
            ]
        );
    }
}

#[test]
fn literals_contain_no_reply_lines() {
    // The second literal contains what would end the reply.
    const TWO: &str =
        "* 1 FETCH (BODY[1] {5}\r\nhello BODY[2] {14}\r\nTAG NO\r\n1234\r\n)\r\nTAG OK done\r\n";
    const OTHER: &str = "* 9 FETCH (FLAGS ())\r\n* 8 STATUS {13}\r\nTAG NO fooled\r\nB001 NO\r\nA999 NO\r\n";
    let (code, body, log) = fetch("/box/;UID=1", &[("UID FETCH", TWO)], nothing);
    assert_eq!((code, body.as_str()), (Code::Ok, "hello"));
    assert!(log.has("A005 LOGOUT"), "it was in step");
    let special: &[(&str, &str)] = &[("NOOP", OTHER), ("X", "")];
    let (port, log) = serve(GREETING, Pace::Whole, move |line| match line.contains("NOOP") {
        true => usual(line, special).map(|reply| [&reply[..], b"A003 OK done\r\n"].concat()),
        false => usual(line, special),
    });
    let (easy, _) = handle(&format!("imap://user:secret@127.0.0.1:{port}/"));
    text(&easy, O::CustomRequest, "NOOP");
    assert_eq!(easy.perform(), Code::Ok);
    drop(easy);
    assert!(log.has("A004 LOGOUT"));
}

#[test]
fn literals_of_any_size() {
    let mail: Arc<Vec<u8>> = Arc::new((0..9_000_000u32).map(|n| (n % 251) as u8).collect());
    let sent = mail.clone();
    let (port, _) = serve(GREETING, Pace::Whole, move |line| match line.split_once(" FETCH ") {
        Some((tag, _)) => {
            let head = format!("* 1 FETCH (BODY[] {{{}}}\r\n", sent.len());
            let end = format!(")\r\n{tag} OK\r\n");
            Some([head.as_bytes(), &sent, end.as_bytes()].concat())
        }
        None => usual(line, &[]),
    });
    let (easy, app) = handle(&format!("imap://user:secret@127.0.0.1:{port}/box/;MAILINDEX=1"));
    assert_eq!(easy.perform(), Code::Ok);
    assert!(*app.body.borrow() == *mail);
}

#[test]
fn lists_and_own_commands() {
    const LIST: &str = "* LIST () \"/\" a\r\n* 3 EXISTS\r\n* LIST () \"/\" {5}\r\nin\r\nx\r\nTAG OK\r\n";
    let (code, body, log) = fetch("/a%22b", &[("LIST", LIST)], nothing);
    assert_eq!((code, body.as_str()), (Code::Ok, "* LIST () \"/\" a\r\n* LIST () \"/\" {5}\r\nin\r\nx\r\n"));
    assert!(log.lines().contains(&"A003 LIST \"a\\\"b\" *".to_owned()));
    let (code, body, log) = fetch("/box?FROM+me%2b", &[("SEARCH", "* SEARCH 1 2\r\nTAG OK\r\n")], nothing);
    assert_eq!((code, body.as_str()), (Code::Ok, "* SEARCH 1 2\r\n"));
    assert!(log.lines().contains(&"A004 SEARCH FROM me+".to_owned()), "a plus is a blank");
    let own = |easy: &Easy, _: &App| text(easy, O::CustomRequest, "FETCH 1 BODY%5b%5d");
    let (code, body, _) = fetch("/box", &[("FETCH", MAIL)], own);
    assert_eq!((code, body.as_str()), (Code::Ok, "* 1 FETCH (BODY[] {12}\r\nTo: me\r\n\r\nhi"));
    let (code, body, log) = fetch("/", &[("LIST", "TAG NO\r\n")], nothing);
    assert_eq!((code, body.as_str()), (Code::QuoteError, ""));
    assert!(log.has("A004 LOGOUT"));
    let quiet = |easy: &Easy, _: &App| long(easy, O::NoBody, 1);
    for path in ["/box/;UID=1", "/box"] {
        let (code, body, _) = fetch(path, &[("UID FETCH", MAIL), ("LIST", LIST)], quiet);
        assert_eq!(
            (code, body.as_str()),
            (Code::WeirdServerReply, ""),
            "a body that nobody wanted, as in curl"
        );
    }
}

/// curl's test 1848: the reply to a FETCH of a range or a list is delivered only as headers.
#[test]
fn a_fetch_of_many_messages_has_no_body() {
    const FLAGS: &str = "* 1 FETCH (FLAGS ())\r\n* 2 FETCH (BODY[] {2}\r\nhi)\r\nTAG OK\r\n";
    let first = "* 1 FETCH (FLAGS ())\r\n* 2 FETCH (BODY[] {2}\r\nhi";
    let rows = [
        ("FETCH 1:* (FLAGS)", ""),
        ("fetch 12,3 (FLAGS)", ""),
        ("UID FETCH 1:2 (FLAGS)", ""),
        ("uid fetch 1,2", ""),
        ("FETCH 1 (FLAGS)", first),
        ("FETCH * (FLAGS)", first),
        ("UID FETCH 12 (FLAGS 1:2)", first),
    ];
    for (own, wanted) in rows {
        let special = &[("FETCH", FLAGS), ("fetch", FLAGS), ("UID", FLAGS), ("uid", FLAGS)];
        let (port, log) = serve(GREETING, Pace::Whole, |line| usual(line, special));
        let (easy, app) = handle(&format!("imap://user:secret@127.0.0.1:{port}/box"));
        text(&easy, O::CustomRequest, own);
        assert_eq!(easy.perform(), Code::Ok, "{own}");
        assert_eq!(String::from_utf8_lossy(&app.body.borrow()), wanted, "{own}");
        let headers = String::from_utf8_lossy(&app.headers.borrow()).into_owned();
        assert!(headers.contains("* 1 FETCH (FLAGS ())"), "{own}");
        drop(easy);
        assert!(log.has("A005 LOGOUT"), "{own}: the two are in step");
    }
}

/// A client that wants no more of a reply can still say goodbye: the server keeps reading.
#[test]
fn a_reply_of_which_nothing_is_wanted_is_followed_by_a_goodbye() {
    type Exchange = &'static [(&'static str, &'static str)];
    let rows: [(&str, Exchange, i64, Code, &str); 3] = [
        (
            "/box/;UID=1",
            &[("UID FETCH", "* 1 FETCH (BODY[] NIL)\r\nTAG OK\r\n")],
            0,
            Code::WeirdServerReply,
            "A005 LOGOUT",
        ),
        ("/box/;UID=1", &[("UID FETCH", MAIL)], 3, Code::FilesizeExceeded, "A005 LOGOUT"),
        ("/box", &[("LIST", "* LIST () \"/\" a\r\nTAG OK\r\n")], 3, Code::FilesizeExceeded, "A004 LOGOUT"),
    ];
    for (path, special, limit, wanted, goodbye) in rows {
        let (code, _, log) = fetch(path, special, |easy, _| long(easy, O::MaxFileSizeLarge, limit));
        assert_eq!(code, wanted, "{path} {special:?}");
        assert!(log.has(goodbye), "{:?}", log.lines());
    }
}

#[test]
fn replies_that_are_none() {
    let lines = "x".repeat(70_000);
    let rows: [(&str, &str, Code); 9] = [
        ("/box/;UID=1", "TAG OK\r\n", Code::RemoteFileNotFound),
        ("/box/;UID=1", "* 1 FETCH (FLAGS ())\r\nTAG OK\r\n", Code::WeirdServerReply),
        ("/box/;UID=1", "* 1 FETCH (BODY[] {99999999999999999999}\r\n", Code::WeirdServerReply),
        ("/box/;UID=1", "* 1 FETCH (BODY[] {-1}\r\n", Code::WeirdServerReply),
        ("/box/;UID=1", "+ go on\r\n", Code::WeirdServerReply),
        ("/box/;UID=1", "* a\0b\r\nTAG OK\r\n", Code::WeirdServerReply),
        ("/box/;UID=1", "LONG", Code::WeirdServerReply),
        ("/box/;UID=1", "* 1 FETCH (BODY[] {2}\r\nhi)\r\nTAG NO\r\n", Code::WeirdServerReply),
        ("/box;UIDVALIDITY=8/;UID=1", "", Code::RemoteFileNotFound),
    ];
    for (path, reply, wanted) in rows {
        let reply = if reply == "LONG" { lines.clone() } else { reply.to_owned() };
        let shown = reply.chars().take(60).collect::<String>();
        let (port, log) = serve(GREETING, Pace::Whole, move |line| match line.split_once(" UID FETCH") {
            Some((tag, _)) => say(reply.replace("TAG", tag)),
            None => usual(line, &[]),
        });
        let (easy, _) = handle(&format!("imap://user:secret@127.0.0.1:{port}{path}"));
        assert_eq!(easy.perform(), wanted, "{path} {shown:?}");
        if path.contains("UIDVALIDITY") {
            assert!(log.has("A004 LOGOUT") && !log.lines().iter().any(|line| line.contains("FETCH")));
        }
    }
}

#[test]
fn a_literal_that_ends_early() {
    let (port, log) = serve(GREETING, Pace::Whole, |line| match line {
        "" => None,
        _ => usual(line, &[("UID FETCH", "* 1 FETCH (BODY[] {500}\r\nTAG OK\r\n")]),
    });
    let (easy, _) = handle(&format!("imap://user:secret@127.0.0.1:{port}/box/;UID=1"));
    long(&easy, O::TimeoutMs, 700);
    assert_eq!(easy.perform(), Code::OperationTimedout);
    drop(easy);
    assert_eq!(log.lines().len(), 4, "nothing is said behind half a literal");
    let (port, _) = serve("* OK\r\n", Pace::Whole, |line| match line.contains("FETCH") {
        false => usual(line, &[]),
        // Nothing follows the start of the literal.
        true => say("* 1 FETCH (BODY[] {500}\r\nshort"),
    });
    let (easy, app) = handle(&format!("imap://user:secret@127.0.0.1:{port}/box/;UID=1"));
    long(&easy, O::TimeoutMs, 700);
    assert_eq!(easy.perform(), Code::OperationTimedout);
    assert_eq!(*app.body.borrow(), b"short");
}

#[test]
fn no_line_is_slipped_in() {
    let paths =
        ["/a%0d%0aA9%20LOGOUT", "/a;UID=1%0a", "/a;SECTION=%0d;UID=1", "/a?x%0d%0ay", "/a;UID=%00", "/a;X=1"];
    for path in paths {
        let (code, _, log) = fetch(path, &[], nothing);
        assert_eq!(code, Code::UrlMalformat, "{path}");
        assert!(!log.lines().iter().any(|line| line.contains("A9") || line.contains("SEARCH")), "{path}");
    }
    for own in ["NOOP%0d%0aA9 LOGOUT", "NOOP\r\nA9 LOGOUT"] {
        let (code, _, log) = fetch("/", &[], |easy, _| text(easy, O::CustomRequest, own));
        assert_eq!(code, Code::UrlMalformat, "{own}");
        assert!(!log.lines().iter().any(|line| line.contains("NOOP")));
    }
    for option in [O::Username, O::Password] {
        let (code, _, log) = fetch("/", &[], |easy, _| {
            text(easy, O::Username, "user");
            text(easy, option, "x\r\nA9 LOGOUT");
        });
        assert_ne!(code, Code::Ok);
        assert!(!log.lines().iter().any(|line| line.contains("LOGIN") || line.contains("A9")));
    }
}

/// CVE-2021-22947: data received in clear after the go-ahead is not taken for a reply under TLS.
#[test]
fn tls_that_does_not_come_keeps_the_password() {
    const STARTTLS: &str = "* CAPABILITY IMAP4 STARTTLS AUTH=PLAIN\r\nTAG OK\r\n";
    const INJECTED: &str = "TAG OK\r\n* CAPABILITY IMAP4\r\nA003 OK\r\n";
    type Exchange = &'static [(&'static str, &'static str)];
    let rows: [(i64, Exchange, Code, usize); 6] = [
        (1, &[("CAPABILITY", STARTTLS), ("STARTTLS", INJECTED)], Code::WeirdServerReply, 2),
        (3, &[("CAPABILITY", STARTTLS), ("STARTTLS", INJECTED)], Code::WeirdServerReply, 2),
        (3, &[("CAPABILITY", STARTTLS), ("STARTTLS", "TAG NO\r\n")], Code::UseSslFailed, 2),
        (3, &[("CAPABILITY", "* CAPABILITY IMAP4\r\nTAG OK\r\n")], Code::UseSslFailed, 1),
        (3, &[("CAPABILITY", "TAG BAD\r\n")], Code::UseSslFailed, 1),
        (0, &[("CAPABILITY", "* CAPABILITY LOGINDISABLED\r\nTAG OK\r\n")], Code::LoginDenied, 1),
    ];
    for (level, special, wanted, lines) in rows {
        let (code, _, log) = fetch("/", special, |easy, _| {
            long(easy, O::UseSsl, level);
            long(easy, O::TimeoutMs, 5000);
        });
        assert_eq!(code, wanted, "{level} {special:?}");
        assert_eq!(log.lines().len(), lines, "{:?}", log.lines());
    }
    // Where TLS is only tried, a refusal is no failure.
    let special: &[(&str, &str)] =
        &[("CAPABILITY", "* CAPABILITY STARTTLS\r\nTAG OK\r\n"), ("STARTTLS", "TAG NO\r\n")];
    let (code, _, log) = fetch("/", special, |easy, _| long(easy, O::UseSsl, 1));
    assert_eq!(code, Code::Ok);
    assert!(log.lines().contains(&"A003 LOGIN user secret".to_owned()));
}

#[test]
fn logins() {
    const SASL: &str = "* CAPABILITY IMAP4 SASL-IR AUTH=PLAIN AUTH=X-OWN\r\nTAG OK\r\n";
    let (code, _, log) = fetch("/", &[("CAPABILITY", SASL)], nothing);
    assert_eq!(code, Code::Ok);
    assert_eq!(log.lines()[1], "A002 AUTHENTICATE PLAIN AHVzZXIAc2VjcmV0");
    let own = |easy: &Easy, _: &App| text(easy, O::LoginOptions, "AUTH=+LOGIN");
    let (_, _, log) = fetch("/", &[("CAPABILITY", SASL)], own);
    assert_eq!(log.lines()[1], "A002 LOGIN user secret");
    let (code, _, log) = fetch("/", &[("CAPABILITY", SASL), ("AUTHENTICATE", "TAG NO\r\n")], nothing);
    assert_eq!((code, log.lines().len()), (Code::LoginDenied, 2), "a refusal is final");
    let wrong = |easy: &Easy, _: &App| text(easy, O::LoginOptions, "AUTH=nonsense");
    let (code, _, log) = fetch("/", &[], wrong);
    assert_eq!((code, log.lines().len()), (Code::UrlMalformat, 0));
    let (port, log) = serve("* PREAUTH hello\r\n", Pace::Whole, |line| usual(line, &[]));
    let (easy, _) = handle(&format!("imap://user:secret@127.0.0.1:{port}/"));
    assert_eq!(easy.perform(), Code::Ok);
    assert_eq!(log.lines(), ["A001 CAPABILITY", "A002 LIST \"\" *"]);
    for greeting in ["* BYE no\r\n", "* NO\r\n"] {
        let (port, log) = serve(greeting, Pace::Whole, |line| usual(line, &[]));
        let (easy, _) = handle(&format!("imap://user:secret@127.0.0.1:{port}/"));
        assert_eq!((easy.perform(), log.lines().len()), (Code::WeirdServerReply, 0), "{greeting}");
    }
}

#[test]
fn messages_are_appended() {
    fn upload(size: i64, flags: i64) -> impl FnOnce(&Easy, &App) {
        move |easy, app| {
            *app.upload.borrow_mut() = b"To: me\r\n\r\nhi".to_vec();
            long(easy, O::Upload, 1);
            long(easy, O::InFileSizeLarge, size);
            long(easy, O::UploadFlags, flags);
        }
    }
    let (port, log) = serve(GREETING, Pace::Whole, |line| match line {
        // The mail's own lines, the last of which also ends the command.
        "To: me" | "" => say(""),
        "hi" => say("A003 OK done\r\n"),
        _ => usual(line, &[("APPEND", "+ go on\r\n")]),
    });
    let (easy, app) = handle(&format!("imap://user:secret@127.0.0.1:{port}/my%20box"));
    upload(12, 17)(&easy, &app);
    assert_eq!(easy.perform(), Code::Ok);
    drop(easy);
    assert!(log.has("A004 LOGOUT"));
    let wanted = ["A003 APPEND \"my box\" (\\Answered \\Seen) {12}", "To: me", "", "hi", "A004 LOGOUT"];
    assert_eq!(log.lines()[2..], wanted);
    let (code, _, log) = fetch("/box", &[("APPEND", "TAG NO full\r\n")], upload(12, 0));
    assert_eq!(code, Code::UploadFailed);
    assert_eq!(log.lines()[2], "A003 APPEND box {12}");
    let (code, _, _) = fetch("/box", &[], upload(-1, 0));
    assert_eq!(code, Code::UploadFailed, "a literal says its size first");
    let (code, _, _) = fetch("/", &[], upload(12, 0));
    assert_eq!(code, Code::UrlMalformat);
}

/// If a server accepts literals without a continuation request (RFC 7888), none is awaited; nor on a kept
/// connection. A long one waits: a server that refuses it need not read it.
#[test]
fn literals_that_nobody_waits_for() {
    for (offer, size, unasked) in [
        ("LITERAL+", 12, true),
        ("literal-", 12, true),
        ("LITERAL+", 60_000, true),
        ("LITERAL-", 4096, true),
        ("LITERAL-", 4097, false),
        ("LITERAL+", 70_000, false),
        ("LITERALLY", 12, false),
    ] {
        let (port, log) = serve(GREETING, Pace::Whole, move |line| match line.split_once(' ') {
            Some((tag, "CAPABILITY")) => say(format!("* CAPABILITY IMAP4 {offer}\r\n{tag} OK\r\n")),
            Some((_, append)) if append.starts_with("APPEND") => say(if unasked { "" } else { "+ go\r\n" }),
            Some(_) => usual(line, &[]),
            // The mail's last line, which also ends the command.
            None => say(if line.ends_with("1!") { "A003 OK\r\n" } else { "A004 OK\r\n" }),
        });
        let (easy, app) = handle(&format!("imap://user:secret@127.0.0.1:{port}/box"));
        long(&easy, O::Upload, 1);
        long(&easy, O::InFileSizeLarge, size);
        long(&easy, O::UploadFlags, 0);
        long(&easy, O::TimeoutMs, 10_000);
        for end in ["1!", "2!"] {
            let mail = [&vec![b'x'; size as usize - 2][..], end.as_bytes()].concat();
            *app.upload.borrow_mut() = mail.clone();
            app.read_at.set(0);
            assert_eq!(easy.perform(), Code::Ok, "{offer} {size}: {}", easy.state().message());
            let last = log.lines().pop().unwrap();
            assert!(last.as_bytes() == mail, "{offer} {size}");
        }
        let plus = if unasked { "+" } else { "" };
        let appends: Vec<_> = log.lines().into_iter().filter(|line| line.contains("APPEND")).collect();
        let wanted = ["A003", "A004"].map(|tag| format!("{tag} APPEND box {{{size}{plus}}}"));
        assert_eq!(appends, wanted, "{offer}");
    }
    let refuse =
        [("CAPABILITY", "* CAPABILITY LITERAL+\r\nTAG OK\r\n"), ("APPEND", "TAG NO [TRYCREATE] no\r\n")];
    let (port, log) = serve(GREETING, Pace::Whole, move |line| usual(line, &refuse));
    let (easy, app) = handle(&format!("imap://user:secret@127.0.0.1:{port}/box"));
    *app.upload.borrow_mut() = b"To: me\r\n\r\nhi".to_vec();
    long(&easy, O::Upload, 1);
    long(&easy, O::InFileSizeLarge, 12);
    long(&easy, O::UploadFlags, 0);
    assert_eq!(easy.perform(), Code::UploadFailed);
    assert_eq!(log.lines()[2], "A003 APPEND box {12+}");
}

#[test]
fn a_server_that_ends_an_idle_connection_costs_nothing() {
    let (port, log) = serve(GREETING, Pace::Whole, |line| match line.contains("NOOP") {
        true if line.starts_with('A') => usual(line, &[("NOOP", "TAG OK\r\n* BYE too long idle\r\n")]),
        _ => usual(line, &[]),
    });
    let (easy, _) = handle(&format!("imap://user:secret@127.0.0.1:{port}/"));
    text(&easy, O::CustomRequest, "NOOP");
    assert_eq!(easy.perform(), Code::Ok);
    sleep(Duration::from_millis(50));
    assert_eq!(easy.perform(), Code::Ok);
    assert!(log.has("B003 NOOP"), "{:?}", log.lines());
}
