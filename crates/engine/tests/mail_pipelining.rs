//! PIPELINING and CHUNKING of SMTP: what is sent together, what never is, and refusals.

use std::rc::Rc;

use crate::common::{App, handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::raw::{RawPeer, Script, Step, expect, send};
use warmwire_engine::{Easy, SmtpPipelining};

const MAIL: &str = "Subject: x\r\n\r\n.dot\r\nend\r\n";
const STUFFED: &str = "Subject: x\r\n\r\n..dot\r\nend\r\n.\r\n";

fn commands(peer: &RawPeer) -> String {
    String::from_utf8_lossy(&peer.received()[0]).into_owned()
}

fn mail(peer: &RawPeer, recipients: &[&str]) -> (Easy, Rc<App>) {
    let (easy, app) = handle(&format!("smtp://127.0.0.1:{}/client", peer.port()));
    let list = recipients.iter().map(|r| r.as_bytes().into()).collect();
    easy.state().settings.borrow_mut().set_list(O::MailRcpt, Some(list)).unwrap();
    text(&easy, O::MailFrom, "me@b");
    long(&easy, O::Upload, 1);
    long(&easy, O::InFileSizeLarge, MAIL.len() as i64);
    long(&easy, O::TimeoutMs, 5000);
    *app.upload.borrow_mut() = MAIL.as_bytes().to_vec();
    (easy, app)
}

fn hello(extensions: &str) -> Script {
    vec![send("220 hi\r\n"), expect("EHLO client\r\n"), send(&format!("250-me\r\n{extensions}250 HELP\r\n"))]
}

/// A turn of the script: the server reads this, then replies.
fn turn(script: &mut Script, asked: &str, answer: &str) {
    script.extend([expect(asked), send(answer)]);
}

/// Two round trips for a mail.
#[test]
fn one_recipient() {
    let mut script = hello("250-PIPELINING\r\n250-CHUNKING\r\n");
    for _ in 0..2 {
        let together = "MAIL FROM:<me@b>\r\nRCPT TO:<a@b>\r\nDATA\r\n";
        turn(&mut script, together, "250 ok\r\n250 ok\r\n354-go\r\n354 on\r\n");
        turn(&mut script, STUFFED, "250 kept\r\n");
    }
    script.push(expect("QUIT\r\n"));
    let peer = RawPeer::start(vec![script]);
    let (easy, app) = mail(&peer, &["a@b"]);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    app.read_at.set(0);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(peer.accepts(), 1);
}

/// With several recipients, a mail waits for the replies about them: as one chunk, in two round trips.
#[test]
fn several_recipients() {
    let together = "MAIL FROM:<me@b>\r\nRCPT TO:<a@b>\r\nRCPT TO:<c@d>\r\n";
    for (extensions, mail_text, lines) in [
        ("250-PIPELINING\r\n250-CHUNKING\r\n", MAIL, true),
        ("250-PIPELINING\r\n250-CHUNKING\r\n", "bare\nline feeds\n", false),
        ("250-PIPELINING\r\n", MAIL, false),
    ] {
        let mut script = hello(extensions);
        turn(&mut script, together, "250 ok\r\n250 ok\r\n250 ok\r\n");
        if lines {
            turn(&mut script, &format!("BDAT {} LAST\r\n{MAIL}", MAIL.len()), "250 kept\r\n");
        } else {
            turn(&mut script, "DATA\r\n", "354 go\r\n");
            turn(&mut script, "\r\n.\r\n", "250 kept\r\n");
        }
        script.push(expect("QUIT\r\n"));
        let peer = RawPeer::start(vec![script]);
        let (easy, app) = mail(&peer, &["a@b", "c@d"]);
        *app.upload.borrow_mut() = mail_text.as_bytes().to_vec();
        long(&easy, O::InFileSizeLarge, mail_text.len() as i64);
        assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
        easy.close();
        assert_eq!(commands(&peer).contains(mail_text), lines || mail_text != MAIL, "{}", commands(&peer));
    }
}

/// One of three is refused: nothing is delivered, whatever the server offers; or the mail goes to the others
/// if that is allowed.
#[test]
fn one_of_three_is_refused() {
    for extensions in ["250-PIPELINING\r\n250-CHUNKING\r\n", "250-PIPELINING\r\n"] {
        for lenient in [false, true] {
            let recipients = "MAIL FROM:<me@b>\r\nRCPT TO:<a@b>\r\nRCPT TO:<c@d>\r\nRCPT TO:<e@f>\r\n";
            let mut script = hello(extensions);
            let (data, go) = if lenient { ("DATA\r\n", "354 go\r\n") } else { ("", "") };
            let answer = format!("250 ok\r\n250 ok\r\n550 none such\r\n250 ok\r\n{go}");
            turn(&mut script, &format!("{recipients}{data}"), &answer);
            if lenient {
                turn(&mut script, STUFFED, "250 kept\r\n");
            }
            script.push(expect("QUIT\r\n"));
            let peer = RawPeer::start(vec![script]);
            let (easy, _) = mail(&peer, &["a@b", "c@d", "e@f"]);
            long(&easy, O::MailRcptAllowFails, i64::from(lenient));
            assert_eq!(easy.perform(), if lenient { Code::Ok } else { Code::SendError });
            assert_eq!(easy.state().info.borrow().response_code, if lenient { 250 } else { 550 });
            easy.close();
            assert_eq!(
                (commands(&peer).contains("DATA"), commands(&peer).contains("BDAT")),
                (lenient, false)
            );
            assert_eq!(commands(&peer).contains("Subject"), lenient);
        }
    }
}

/// A go-ahead although no recipient is left: RFC 2920 section 3.1 requires a single dot, and no mail is sent.
#[test]
fn a_go_ahead_for_nobody() {
    let all = ["a@b", "c@d", "e@f"];
    for (recipients, refusals, lenient) in
        [(&all[..1], "550 no\r\n", false), (&all[..], "550 no\r\n551 no\r\n550 no\r\n", true)]
    {
        let mut script = hello("250-PIPELINING\r\n");
        turn(&mut script, "DATA\r\n", &format!("250 ok\r\n{refusals}354 go\r\n"));
        turn(&mut script, ".\r\n", "554 nobody\r\n");
        script.push(expect("QUIT\r\n"));
        let peer = RawPeer::start(vec![script]);
        let (easy, _) = mail(&peer, recipients);
        long(&easy, O::MailRcptAllowFails, i64::from(lenient));
        assert_eq!(easy.perform(), Code::SendError);
        assert_eq!(easy.state().info.borrow().response_code, 550);
        assert!(
            commands(&peer).contains("DATA\r\n.\r\n") && !commands(&peer).contains("Subject"),
            "{}",
            commands(&peer)
        );
    }
}

/// The sender, a recipient or DATA is refused: curl's codes, and the refusal's number.
#[test]
fn refusals_have_curls_codes() {
    for (answers, response) in [
        ("451 later\r\n503 what\r\n503 what\r\n", 451),
        ("250 ok\r\n450 no\r\n503 what\r\n", 450),
        ("250 ok\r\n250 ok\r\n451 no\r\n", 451),
    ] {
        let mut script = hello("250-PIPELINING\r\n");
        turn(&mut script, "DATA\r\n", answers);
        script.push(expect("QUIT\r\n"));
        let peer = RawPeer::start(vec![script]);
        let (easy, _) = mail(&peer, &["a@b"]);
        assert_eq!(easy.perform(), Code::SendError);
        assert_eq!(easy.state().info.borrow().response_code, response);
    }
}

/// By default where it is offered; one by one where it isn't, or where the application says so.
#[test]
fn one_by_one() {
    for (extensions, level) in
        [("", None), ("250-PIPELINING\r\n250-CHUNKING\r\n", Some(SmtpPipelining::Wait))]
    {
        let mut script = hello(extensions);
        // An unsolicited reply would be taken for the one to the next command.
        turn(&mut script, "MAIL FROM:<me@b>\r\n", "250 ok\r\n");
        turn(&mut script, "RCPT TO:<a@b>\r\n", "250 ok\r\n");
        turn(&mut script, "DATA\r\n", "354 go\r\n");
        turn(&mut script, STUFFED, "250 kept\r\n");
        script.push(expect("QUIT\r\n"));
        let peer = RawPeer::start(vec![script]);
        let (easy, _) = mail(&peer, &["a@b"]);
        easy.state().smtp_pipelining.set(level);
        assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    }
}

/// Hundreds of recipients are sent in groups, so that no buffer has to hold all replies.
#[test]
fn many_recipients() {
    let recipients: Vec<String> = (0..250).map(|n| format!("r{n}@b")).collect();
    let names: Vec<&str> = recipients.iter().map(String::as_str).collect();
    let mut script = hello("250-PIPELINING\r\n");
    turn(&mut script, "RCPT TO:<r98@b>\r\n", &"250 ok\r\n".repeat(100));
    turn(&mut script, "RCPT TO:<r198@b>\r\n", &"250 ok\r\n".repeat(100));
    turn(&mut script, "RCPT TO:<r249@b>\r\n", &"250 ok\r\n".repeat(51));
    turn(&mut script, "DATA\r\n", "354 go\r\n");
    turn(&mut script, STUFFED, "250 kept\r\n");
    script.push(expect("QUIT\r\n"));
    let peer = RawPeer::start(vec![script]);
    let (easy, _) = mail(&peer, &names);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
}

/// A refusal in the middle of a mail ends it, whether the server keeps reading or not; the connection is not
/// reused.
#[test]
fn an_early_refusal() {
    for end in [Step::Hold, Step::Cut] {
        let mut script = hello("");
        for (asked, answer) in [
            ("MAIL FROM:<me@b>\r\n", "250 ok\r\n"),
            ("RCPT TO:<a@b>\r\n", "250 ok\r\n"),
            ("DATA\r\n", "354 go\r\n"),
        ] {
            turn(&mut script, asked, answer);
        }
        script.extend([Step::ExpectBytes(100_000), send("552-too\r\n552 large\r\n"), end]);
        let peer = RawPeer::start(vec![script]);
        let (easy, app) = mail(&peer, &["a@b"]);
        *app.upload.borrow_mut() = b"a line of the mail\r\n".repeat(2_000_000);
        long(&easy, O::InFileSizeLarge, 40_000_000);
        assert_eq!(easy.perform(), Code::WeirdServerReply, "{}", easy.state().message());
        assert_eq!(easy.state().info.borrow().response_code, 552);
        easy.close();
        assert!(!commands(&peer).contains("QUIT"));
    }
}
