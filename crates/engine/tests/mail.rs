//! POP3 and SMTP with scripted peers: what is sent, what is kept, and attacks of peers.

use std::rc::Rc;

use crate::common::{App, handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::raw::{RawPeer, Script, Step, expect, send};
use warmwire_engine::Easy;

const MAIL: &str = "Subject: x\r\n\r\n.dot\r\nend\r\n";

fn commands(peer: &RawPeer, connection: usize) -> String {
    String::from_utf8(peer.received()[connection].clone()).unwrap()
}

fn mailbox(peer: &RawPeer, path: &str) -> (Easy, Rc<App>) {
    let (easy, app) = handle(&format!("pop3://127.0.0.1:{}{path}", peer.port()));
    text(&easy, O::Username, "user");
    text(&easy, O::Password, "secret");
    long(&easy, O::TimeoutMs, 5000);
    (easy, app)
}

fn mail(peer: &RawPeer, recipients: &[&str]) -> (Easy, Rc<App>) {
    let (easy, app) = handle(&format!("smtp://127.0.0.1:{}/client", peer.port()));
    let list = recipients.iter().map(|r| r.as_bytes().into()).collect();
    easy.state().settings.borrow_mut().set_list(O::MailRcpt, Some(list)).unwrap();
    text(&easy, O::MailFrom, "me@example.com");
    long(&easy, O::Upload, 1);
    long(&easy, O::TimeoutMs, 5000);
    *app.upload.borrow_mut() = MAIL.as_bytes().to_vec();
    (easy, app)
}

fn pop3_login(capabilities: &str) -> Script {
    vec![
        send("+OK ready\r\n"),
        expect("CAPA\r\n"),
        send(&format!("+OK\r\n{capabilities}.\r\n")),
        expect("USER user\r\n"),
        send("+OK\r\n"),
        expect("PASS secret\r\n"),
        send("+OK\r\n"),
    ]
}

fn smtp_hello(extensions: &str) -> Script {
    vec![send("220 hi\r\n"), expect("EHLO client\r\n"), send(&format!("250-me\r\n{extensions}250 HELP\r\n"))]
}

#[test]
fn one_login_serves_many_messages() {
    let mut script = pop3_login("USER\r\n");
    script.extend([
        expect("RETR 1\r\n"),
        send("+OK\r\n..a\r\n.b\r\nc\r\n."),
        send("\r\n"),
        expect("RETR 2\r\n"),
        send("+OK\r\n.\r\n"),
        expect("DELE 2\r\n"),
        send("+OK\r\n"),
        expect("QUIT\r\n"),
    ]);
    let peer = RawPeer::start(vec![script]);
    let (easy, app) = mailbox(&peer, "/1");
    assert_eq!(easy.perform(), Code::Ok);
    assert_eq!(*app.body.borrow(), b".a\r\nb\r\nc\r\n");
    text(&easy, O::Url, &format!("pop3://127.0.0.1:{}/2", peer.port()));
    assert_eq!(easy.perform(), Code::Ok);
    text(&easy, O::CustomRequest, "DELE");
    assert_eq!(easy.perform(), Code::Ok);
    assert_eq!((peer.accepts(), app.body.borrow().len()), (1, 10));
}

/// However slow the transfer and however it is cut.
#[test]
fn a_message_byte_by_byte() {
    let mut script = pop3_login("USER\r\n");
    script.push(expect("RETR 1\r\n"));
    script.extend("+OK\r\n..\r\n.x\r\n.\r\n".bytes().map(|b| Step::Send(vec![b])));
    script.push(expect("QUIT\r\n"));
    let peer = RawPeer::start(vec![script]);
    let (easy, app) = mailbox(&peer, "/1");
    long(&easy, O::MaxRecvSpeedLarge, 40);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(*app.body.borrow(), b".\r\nx\r\n");
}

#[test]
fn a_message_that_is_cut_short_is_a_failure() {
    let mut script = pop3_login("USER\r\n");
    script.extend([expect("RETR 1\r\n"), send("+OK\r\nhalf\r\n"), Step::Finish]);
    let peer = RawPeer::start(vec![script]);
    let (easy, app) = mailbox(&peer, "/1");
    assert_eq!((easy.perform(), &app.body.borrow()[..]), (Code::PartialFile, &b"half\r\n"[..]));
}

/// A kept connection that the server has closed causes no error.
#[test]
fn a_connection_that_died_idle_is_replaced() {
    let mut first = pop3_login("USER\r\n");
    first.extend([expect("STAT\r\n"), send("+OK\r\n"), expect("STAT\r\n"), Step::Finish]);
    let mut second = pop3_login("USER\r\n");
    second.extend([expect("STAT\r\n"), send("+OK\r\n"), expect("QUIT\r\n")]);
    let peer = RawPeer::start(vec![first, second]);
    let (easy, _) = mailbox(&peer, "/");
    text(&easy, O::CustomRequest, "STAT");
    assert_eq!((easy.perform(), easy.perform()), (Code::Ok, Code::Ok));
    assert_eq!(peer.accepts(), 2);
}

/// CVE-2021-22947: data received in clear with the go-ahead for TLS is not a reply under TLS; and if TLS is
/// required, the password is not sent without it.
#[test]
fn no_words_in_clear_pass_for_protected_ones() {
    for (answer, code) in
        [("+OK begin\r\n+OK\r\n+OK\r\n", Code::WeirdServerReply), ("-ERR no\r\n", Code::UseSslFailed)]
    {
        let script = vec![
            send("+OK ready\r\n"),
            expect("CAPA\r\n"),
            send("+OK\r\nSTLS\r\nUSER\r\nSASL PLAIN\r\n.\r\n"),
            expect("STLS\r\n"),
            send(answer),
            Step::Hold,
        ];
        let peer = RawPeer::start(vec![script]);
        let (easy, _) = mailbox(&peer, "/1");
        long(&easy, O::UseSsl, 3);
        assert_eq!(easy.perform(), code);
        assert_eq!(commands(&peer, 0), "CAPA\r\nSTLS\r\n");
    }
    for (extensions, asked, answer, code) in [
        ("250-STARTTLS\r\n", "EHLO client\r\nSTARTTLS\r\n", "220 go\r\n250 me\r\n", Code::WeirdServerReply),
        ("250-STARTTLS\r\n", "EHLO client\r\nSTARTTLS\r\n", "454 no\r\n", Code::UseSslFailed),
        ("250-AUTH PLAIN\r\n", "EHLO client\r\n", "", Code::UseSslFailed),
    ] {
        let mut script = smtp_hello(extensions);
        script.extend([expect("STARTTLS\r\n"), send(answer), Step::Hold]);
        let peer = RawPeer::start(vec![script]);
        let (easy, _) = mail(&peer, &["you@example.com"]);
        long(&easy, O::UseSsl, 3);
        text(&easy, O::Username, "user");
        text(&easy, O::Password, "secret");
        assert_eq!(easy.perform(), code);
        assert_eq!(commands(&peer, 0), asked);
    }
}

/// CVE-2026-4873: a connection in clear is not reused if TLS is required.
#[test]
fn clear_connections_are_not_reused_for_tls() {
    let mut clear = pop3_login("USER\r\n");
    clear.extend([expect("STAT\r\n"), send("+OK\r\n"), expect("QUIT\r\n")]);
    let second = vec![send("+OK\r\n"), expect("CAPA\r\n"), send("-ERR what?\r\n"), Step::Hold];
    let peer = RawPeer::start(vec![clear, second]);
    let (easy, _) = mailbox(&peer, "/");
    text(&easy, O::CustomRequest, "STAT");
    assert_eq!(easy.perform(), Code::Ok);
    long(&easy, O::UseSsl, 3);
    assert_eq!(easy.perform(), Code::UseSslFailed);
    assert_eq!((peer.accepts(), commands(&peer, 1).as_str()), (2, "CAPA\r\n"));
}

#[test]
fn mails_on_one_connection() {
    let mut script = smtp_hello("250-SIZE 1000\r\n");
    for _ in 0..2 {
        script.extend([
            expect("MAIL FROM:<me@example.com> SIZE=25\r\n"),
            send("250 ok\r\n"),
            expect("RCPT TO:<a@example.com>\r\n"),
            send("250 ok\r\n"),
            expect("RCPT TO:<b@example.com> NOTIFY=NEVER\r\n"),
            send("251 forwarded\r\n"),
            expect("DATA\r\n"),
            send("354 go\r\n"),
            expect("Subject: x\r\n\r\n..dot\r\nend\r\n.\r\n"),
            send("250-queued\r\n250 as 1\r\n"),
        ]);
    }
    script.push(expect("QUIT\r\n"));
    let peer = RawPeer::start(vec![script]);
    let (easy, app) = mail(&peer, &["a@example.com", "<b@example.com> NOTIFY=NEVER"]);
    long(&easy, O::InFileSizeLarge, MAIL.len() as i64);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    app.read_at.set(0);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(peer.accepts(), 1);
}

/// One of three recipients is refused: nothing is delivered, or the mail goes to the others if that is
/// allowed.
#[test]
fn a_refused_recipient() {
    for lenient in [false, true] {
        let mut script = smtp_hello("");
        script.extend([expect("MAIL FROM:<me@example.com>\r\n"), send("250 ok\r\n")]);
        script.extend([expect("RCPT TO:<a@b>\r\n"), send("250 ok\r\n")]);
        script.extend([expect("RCPT TO:<c@d>\r\n"), send("550-no\r\n550 such user\r\n")]);
        if lenient {
            script.extend([expect("RCPT TO:<e@f>\r\n"), send("250 ok\r\n"), expect("DATA\r\n")]);
            script.extend([send("354 go\r\n"), expect("\r\n.\r\n"), send("250 ok\r\n")]);
        }
        script.push(expect("QUIT\r\n"));
        let peer = RawPeer::start(vec![script]);
        let (easy, _) = mail(&peer, &["a@b", "c@d", "e@f"]);
        long(&easy, O::MailRcptAllowFails, i64::from(lenient));
        let code = easy.perform();
        assert_eq!(code, if lenient { Code::Ok } else { Code::SendError });
        easy.close();
        assert_eq!(commands(&peer, 0).contains("DATA\r\n"), lenient);
    }
}

#[test]
fn refusals_have_curls_codes() {
    type Exchange<'a> = &'a [(&'a str, &'a str)];
    let rows: [(Exchange<'_>, Code, i64); 5] = [
        (
            &[("EHLO client\r\n", "500 what\r\n"), ("HELO client\r\n", "550 no\r\n")],
            Code::RemoteAccessDenied,
            550,
        ),
        (
            &[("EHLO client\r\n", "250 ok\r\n"), ("MAIL FROM:<me@example.com>\r\n", "451 later\r\n")],
            Code::SendError,
            451,
        ),
        (
            &[
                ("EHLO client\r\n", "250 ok\r\n"),
                ("MAIL FROM:<me@example.com>\r\n", "250 ok\r\n"),
                ("RCPT TO:<a@b>\r\n", "250 ok\r\n"),
                ("DATA\r\n", "503 no\r\n"),
            ],
            Code::SendError,
            503,
        ),
        (
            &[
                ("EHLO client\r\n", "250 ok\r\n"),
                ("MAIL FROM:<me@example.com>\r\n", "250 ok\r\n"),
                ("RCPT TO:<a@b>\r\n", "250 ok\r\n"),
                ("DATA\r\n", "354 go\r\n"),
                ("\r\n.\r\n", "552 too large\r\n"),
            ],
            Code::WeirdServerReply,
            552,
        ),
        (
            &[("EHLO client\r\n", "250-AUTH PLAIN\r\n250 ok\r\n"), ("AUTH PLAIN\r\n", "535 no\r\n")],
            Code::LoginDenied,
            535,
        ),
    ];
    for (talk, code, response) in rows {
        let mut script = vec![send("220 hi\r\n")];
        talk.iter().for_each(|(asked, answer)| script.extend([expect(asked), send(answer)]));
        script.push(Step::Hold);
        let peer = RawPeer::start(vec![script]);
        let (easy, _) = mail(&peer, &["a@b"]);
        text(&easy, O::Username, "user");
        text(&easy, O::Password, "secret");
        assert_eq!(easy.perform(), code);
        assert_eq!(easy.state().info.borrow().response_code, response);
    }
}

/// No injected command gets into the dialogue, and an endless reply is not waited out.
#[test]
fn bad_input() {
    let mut hello = smtp_hello("");
    hello.extend([expect("\r\n"), send("250 ok\r\n"), Step::Hold]);
    let peer = RawPeer::start(vec![hello]);
    let (easy, _) = mail(&peer, &["a@b>\r\nRCPT TO:<c@d"]);
    assert_eq!(easy.perform(), Code::BadFunctionArgument);
    let (easy, _) = mail(&peer, &["a@b"]);
    text(&easy, O::MailFrom, "a@b\r\nRSET");
    assert_eq!(easy.perform(), Code::BadFunctionArgument);
    for url in ["pop3://h/1%0d%0aDELE%201", "pop3://u%0dx:p@h/1", "smtp://h/a%0ab", "pop3://u;AUTH=NONE@h/"] {
        let (easy, _) = handle(&url.replace("h/", "127.0.0.1:1/"));
        assert_eq!(easy.perform(), Code::UrlMalformat, "{url}");
    }
    let endless =
        vec![send("220 hi\r\n"), expect("EHLO client\r\n"), send(&"250-x\r\n".repeat(2000)), Step::Hold];
    let peer = RawPeer::start(vec![endless]);
    let (easy, _) = mail(&peer, &["a@b"]);
    assert_eq!(easy.perform(), Code::WeirdServerReply);
    let long_line = vec![send(&format!("220 {}", "x".repeat(100_000))), Step::Hold];
    let peer = RawPeer::start(vec![long_line]);
    let (easy, _) = mail(&peer, &["a@b"]);
    assert_eq!(easy.perform(), Code::WeirdServerReply);
}

// covers: CURLOPT_MAIL_FROM, CURLOPT_MAIL_RCPT, CURLOPT_MAIL_AUTH, CURLOPT_MAIL_RCPT_ALLOWFAILS,
// CURLOPT_SASL_IR
// covers: CURLOPT_SASL_AUTHZID, CURLOPT_LOGIN_OPTIONS
#[test]
fn authorization_identities() {
    let mut script = smtp_hello("250-AUTH PLAIN LOGIN\r\n250-SMTPUTF8\r\n");
    script.extend([
        expect("AUTH PLAIN b3RoZXIAdXNlcgBzZWNyZXQ=\r\n"),
        send("235 in\r\n"),
        expect("MAIL FROM:<me@example.com> AUTH=<> SMTPUTF8\r\n"),
        send("250 ok\r\n"),
        expect("RCPT TO:<\u{fc}@example.com>\r\n"),
        send("250 ok\r\n"),
        expect("DATA\r\n"),
        send("354 go\r\n"),
        expect("\r\n.\r\n"),
        send("250 ok\r\n"),
        expect("QUIT\r\n"),
    ]);
    let peer = RawPeer::start(vec![script]);
    let (easy, _) = mail(&peer, &["\u{fc}@example.com"]);
    for (option, value) in [
        (O::Username, "user"),
        (O::Password, "secret"),
        (O::SaslAuthzId, "other"),
        (O::LoginOptions, "AUTH=PLAIN"),
        (O::MailAuth, ""),
    ] {
        text(&easy, option, value);
    }
    long(&easy, O::SaslIr, 1);
    assert_eq!(easy.perform(), Code::Ok, "{}: {}", easy.state().message(), commands(&peer, 0));
}

/// An empty user name counts as a user: such a login is not anonymous, and shares no connection with
/// anonymous ones.
// covers: CURLE_LOGIN_DENIED
#[test]
fn an_empty_name_is_a_name() {
    let refused = vec![send("+OK\r\n"), expect("CAPA\r\n"), send("+OK\r\n.\r\n"), Step::Hold];
    let peer = RawPeer::start(vec![refused]);
    let (easy, _) = handle(&format!("pop3://;AUTH=EXTERNAL@127.0.0.1:{}/1", peer.port()));
    assert_eq!(easy.perform(), Code::LoginDenied);
    assert_eq!(commands(&peer, 0), "CAPA\r\n");

    let hello = |user: &[(&str, &str)]| {
        let mut script = vec![send("+OK\r\n"), expect("CAPA\r\n"), send("+OK\r\nUSER\r\n.\r\n")];
        script.extend(user.iter().flat_map(|(asked, answer)| [expect(asked), send(answer)]));
        script.extend([expect("STAT\r\n"), send("+OK\r\n"), Step::Hold]);
        script
    };
    let named = hello(&[("USER \r\n", "+OK\r\n"), ("PASS \r\n", "+OK\r\n")]);
    let peer = RawPeer::start(vec![named, hello(&[])]);
    let (easy, _) = handle(&format!("pop3://@127.0.0.1:{}/", peer.port()));
    text(&easy, O::CustomRequest, "STAT");
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    text(&easy, O::Url, &format!("pop3://127.0.0.1:{}/", peer.port()));
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(peer.accepts(), 2);
}

/// A token alone logs in; if the server has no mechanism for it, there is no login by another one.
// covers: CURLOPT_XOAUTH2_BEARER
#[test]
fn a_token_needs_no_user() {
    let hello = |capabilities: &str| {
        let answer = format!("+OK\r\n{capabilities}\r\n.\r\n");
        vec![send("+OK <a@b>\r\n"), expect("CAPA\r\n"), send(&answer)]
    };
    let mut knows = hello("SASL XOAUTH2");
    knows.extend([expect("AUTH XOAUTH2 dXNlcj0BYXV0aD1CZWFyZXIgdG9rZW4BAQ==\r\n"), send("+OK\r\n")]);
    knows.extend([expect("STAT\r\n"), send("+OK\r\n"), Step::Hold]);
    let mut knows_not = hello("SASL PLAIN\r\nUSER");
    knows_not.push(Step::Hold);
    for (script, wanted) in [(knows, Code::Ok), (knows_not, Code::LoginDenied)] {
        let peer = RawPeer::start(vec![script]);
        let (easy, _) = handle(&format!("pop3://127.0.0.1:{}/", peer.port()));
        text(&easy, O::CustomRequest, "STAT");
        text(&easy, O::Xoauth2Bearer, "token");
        long(&easy, O::SaslIr, 1);
        assert_eq!(easy.perform(), wanted, "{}", easy.state().message());
        let denied = wanted == Code::LoginDenied;
        assert_eq!(commands(&peer, 0) == "CAPA\r\n", denied, "{}", commands(&peer, 0));
    }
}

#[test]
fn failed_logins_have_curls_messages() {
    let script = vec![
        send("+OK\r\n"),
        expect("CAPA\r\n"),
        send("+OK\r\nSASL CRAM-MD5\r\n.\r\n"),
        expect("AUTH CRAM-MD5\r\n"),
        send("+ ?no base64?\r\n"),
        expect("*\r\n"),
        send("-ERR\r\n"),
        Step::Hold,
    ];
    let peer = RawPeer::start(vec![script]);
    let (easy, _) = mailbox(&peer, "/1");
    assert_eq!(easy.perform(), Code::LoginDenied);
    assert_eq!(easy.state().message(), "Authentication cancelled");
    let (easy, _) = handle("pop3://u%0dx:p@127.0.0.1:1/1");
    assert_eq!(easy.perform(), Code::UrlMalformat);
    assert_eq!(easy.state().message(), "error extracting credentials from URL");
}

/// The rest of a message beyond the limit is not awaited, and the server gets a goodbye.
// covers: CURLOPT_MAXFILESIZE_LARGE
#[test]
fn a_message_that_is_too_large_is_followed_by_a_goodbye() {
    let mut script = pop3_login("USER\r\n");
    script.extend([expect("RETR 1\r\n"), send("+OK\r\nlonger than that\r\n"), expect("QUIT\r\n")]);
    let peer = RawPeer::start(vec![script]);
    let (easy, _) = mailbox(&peer, "/1");
    long(&easy, O::MaxFileSizeLarge, 5);
    assert_eq!(easy.perform(), Code::FilesizeExceeded);
    peer.wait_for_ends(1);
    assert!(commands(&peer, 0).ends_with("QUIT\r\n"), "{}", commands(&peer, 0));
}

/// Other login options make another connection.
#[test]
fn other_login_options_open_another_connection() {
    let logged_in = || {
        let mut script = pop3_login("USER\r\nSASL LOGIN\r\n");
        script.truncate(3);
        script.extend([expect("AUTH LOGIN\r\n"), send("+ \r\n"), expect("dXNlcg==\r\n"), send("+ \r\n")]);
        script.extend([
            expect("c2VjcmV0\r\n"),
            send("+OK\r\n"),
            expect("STAT\r\n"),
            send("+OK\r\n"),
            Step::Hold,
        ]);
        script
    };
    let peer = RawPeer::start(vec![logged_in()]);
    let (easy, _) = mailbox(&peer, "/");
    text(&easy, O::CustomRequest, "STAT");
    assert_eq!(easy.perform(), Code::Ok, "{}", commands(&peer, 0));
    text(&easy, O::LoginOptions, "AUTH=LOGIN");
    assert_eq!(easy.perform(), Code::Ok, "{}", commands(&peer, 1));
    assert_eq!(peer.accepts(), 2);
}

/// CURLOPT_HTTPAUTH selects the corresponding SASL mechanisms: a token is not replaced by an empty password,
/// and login options have precedence.
// covers: CURLOPT_HTTPAUTH
#[test]
fn schemes_of_http_choose_mechanisms() {
    let (basic, digest, bearer, any) = (1, 2, 64, !16);
    for (schemes, options, answer) in [
        (basic, "", Some("AUTH CRAM-MD5\r\n")),
        (basic | digest, "", Some("AUTH PLAIN\r\n")),
        (bearer, "", None),
        (bearer, "AUTH=LOGIN", Some("AUTH LOGIN\r\n")),
        (bearer, "AUTH=*", Some("AUTH CRAM-MD5\r\n")),
        (any, "", Some("AUTH PLAIN\r\n")),
    ] {
        let mut script = smtp_hello("250-AUTH PLAIN LOGIN CRAM-MD5\r\n");
        script.extend([expect(answer.unwrap_or("nothing")), send("535 no\r\n")]);
        let peer = RawPeer::start(vec![script]);
        let (easy, _) = mail(&peer, &["a@b"]);
        text(&easy, O::Username, "user");
        text(&easy, O::Password, "secret");
        text(&easy, O::Xoauth2Bearer, "token");
        text(&easy, O::LoginOptions, options);
        long(&easy, O::HttpAuth, schemes);
        assert_eq!(easy.perform(), Code::LoginDenied, "{schemes} {options}");
        assert_eq!(commands(&peer, 0).contains("AUTH"), answer.is_some(), "{}", commands(&peer, 0));
    }
}

/// CURLOPT_MAIL_AUTH is an address without brackets, which are added.
// covers: CURLOPT_MAIL_AUTH
#[test]
fn an_author_in_brackets() {
    for author in ["x@y", "<x@y>"] {
        let mut script = smtp_hello("250-AUTH PLAIN\r\n");
        script.extend([expect("AUTH PLAIN\r\n"), send("334 \r\n"), expect("\r\n"), send("235 in\r\n")]);
        script.extend([expect("MAIL FROM:<me@example.com> AUTH=<x@y>\r\n"), send("550 no\r\n")]);
        let peer = RawPeer::start(vec![script]);
        let (easy, _) = mail(&peer, &["a@b"]);
        text(&easy, O::Username, "user");
        text(&easy, O::Password, "secret");
        text(&easy, O::MailAuth, author);
        assert_eq!(easy.perform(), Code::SendError, "{}", commands(&peer, 0));
        assert_eq!(easy.state().info.borrow().response_code, 550);
    }
}
