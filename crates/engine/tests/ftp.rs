//! FTP through the engine, against the embedded server.

use crate::common::{handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::body::pattern;
use testkit::ftp::{Faults, FtpServer};

#[test]
fn fetches_over_one_kept_control_connection() {
    let server = FtpServer::with_file("/dir/file", pattern(2048));
    let (easy, app) = handle(&server.url("/dir/file"));
    *app.notes.borrow_mut() = Some(String::new());
    for _ in 0..5 {
        assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    }
    assert_eq!(app.body.borrow().len(), 5 * 2048);
    let kept = format!("Connection #0 to host 127.0.0.1:{} left intact", server.address().port());
    let notes = app.notes.borrow().clone().unwrap();
    assert_eq!(notes.matches(&kept).count(), 5, "{notes}");
    assert_eq!((server.accepts(), server.logins()), (1, 1));
    let commands = server.commands();
    assert_eq!(
        commands[..9],
        [
            "USER anonymous",
            "PASS ftp@example.com",
            "PWD",
            "CWD dir",
            "EPSV",
            "TYPE I",
            "SIZE file",
            "RETR file",
            "EPSV"
        ]
    );
    assert_eq!(commands.iter().filter(|c| c.starts_with("CWD")).count(), 1);
    easy.close();
    for _ in 0..100 {
        if server.quits() == 1 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("no QUIT");
}

#[test]
fn stores_and_lists() {
    let server = FtpServer::with_file("/dir/file", pattern(10));
    let (easy, app) = handle(&server.url("/dir/new"));
    *app.upload.borrow_mut() = pattern(300_000);
    long(&easy, O::Upload, 1);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(server.file("/dir/new").unwrap(), pattern(300_000));

    let (easy, app) = handle(&server.url("/dir/"));
    long(&easy, O::DirListOnly, 1);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(app.body.borrow().as_slice(), b"file\nnew\n");
}

/// CURLINFO_HEADER_SIZE.md: all bytes of headers. curl 7.88 counts a reply twice that it has read together
/// with the one before it.
#[test]
fn each_reply_is_counted_once() {
    for announce_late in [false, true] {
        let faults = Faults { announce_late, ..Faults::default() };
        let server = FtpServer::with_faults("/file", pattern(10), faults);
        let (easy, app) = handle(&server.url("/"));
        assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
        let replies = app.headers.borrow();
        assert!(replies.ends_with(b"bytes)\r\n226 done\r\n"), "{}", replies.escape_ascii());
        assert_eq!(easy.state().info.borrow().header_size, replies.len() as i64);
    }
}

#[test]
fn resumes_and_cuts_ranges() {
    let server = FtpServer::with_file("/file", pattern(1000));
    let (easy, app) = handle(&server.url("/file"));
    long(&easy, O::ResumeFromLarge, 900);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(app.body.borrow().as_slice(), &pattern(1000)[900..]);
    app.body.borrow_mut().clear();
    long(&easy, O::ResumeFromLarge, 0);
    text(&easy, O::Range, "10-19");
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(app.body.borrow().as_slice(), &pattern(1000)[10..20]);
}

#[test]
fn missing_files_are_errors_and_the_connection_stays() {
    let server = FtpServer::with_file("/file", pattern(10));
    let (easy, _) = handle(&server.url("/none"));
    assert_eq!(easy.perform(), Code::RemoteFileNotFound);
    text(&easy, O::Url, &server.url("/file"));
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(server.accepts(), 1);
    text(&easy, O::Url, &server.url("/nowhere/file"));
    assert_eq!(easy.perform(), Code::RemoteAccessDenied);
}

#[test]
fn a_server_without_active_mode() {
    let server = FtpServer::with_file("/file", pattern(5000));
    let (easy, _) = handle(&server.url("/file"));
    text(&easy, O::FtpPort, "-");
    assert_eq!(easy.perform(), Code::FtpPortFailed, "{}", easy.state().message());
    let tried: Vec<String> = server.commands().into_iter().skip(3).take(2).collect();
    assert!(
        tried[0].starts_with("EPRT |1|127.0.0.1|") && tried[1].starts_with("PORT 127,0,0,1,"),
        "{tried:?}"
    );
}

#[test]
fn a_control_connection_cut_after_each_reply_is_an_error() {
    for after in 0..9 {
        let faults = Faults { cut_after_lines: Some(after), ..Faults::default() };
        let server = FtpServer::with_faults("/file", pattern(2048), faults);
        let (easy, app) = handle(&server.url("/file"));
        long(&easy, O::TimeoutMs, 20_000);
        let code = easy.perform();
        let whole = app.body.borrow().len() == 2048;
        assert!(code != Code::Ok || whole, "after {after}: a short file called whole");
        if after < 8 {
            assert_ne!(code, Code::Ok, "after {after}");
        }
    }
}

#[test]
fn a_data_connection_cut_at_each_byte_is_a_partial_file() {
    for at in [0, 1, 2, 100, 1023] {
        let faults = Faults { cut_data_at: Some(at), ..Faults::default() };
        let server = FtpServer::with_faults("/file", pattern(1024), faults);
        let (easy, app) = handle(&server.url("/file"));
        assert_eq!(easy.perform(), Code::PartialFile, "cut at {at}: {}", easy.state().message());
        assert!(app.body.borrow().len() <= at);
    }
}

#[test]
fn nonsense_for_epsv() {
    for (address, words) in
        [("(nonsense)", "Weirdly formatted EPSV reply"), ("(|||65536|)", "Illegal port number in EPSV reply")]
    {
        let faults = Faults { epsv_reply: Some(format!("229 Entering {address}")), ..Faults::default() };
        let server = FtpServer::with_faults("/file", pattern(10), faults);
        let (easy, _) = handle(&server.url("/file"));
        assert_eq!(easy.perform(), Code::FtpWeirdPasvReply);
        assert_eq!(easy.state().message(), words);
    }
}

/// Only a transfer without a user is anonymous.
#[test]
fn an_empty_user_is_said_as_it_is() {
    let rows: [(&str, &str, [&str; 2]); 5] = [
        ("", "", ["USER anonymous", "PASS ftp@example.com"]),
        ("@", "", ["USER", "PASS"]),
        (":@", "", ["USER", "PASS"]),
        (":pw@", "", ["USER", "PASS pw"]),
        ("", "pw", ["USER anonymous", "PASS pw"]),
    ];
    for (login, password, wanted) in rows {
        let server = FtpServer::with_file("/file", pattern(10));
        let (easy, _) = handle(&server.url("/file").replace("://", &format!("://{login}")));
        if !password.is_empty() {
            text(&easy, O::Password, password);
        }
        easy.perform();
        assert_eq!(server.commands()[..2], wanted, "{login:?} {password:?}");
    }
}

/// It has precedence over the host's entry in .netrc.
#[test]
fn a_file_goes_before_an_empty_user() {
    let folder = testkit::temp::TempDir::new("netrc").unwrap();
    let file = folder.path().join("netrc");
    std::fs::write(&file, "machine 127.0.0.1 login filed password secret\n").unwrap();
    for (login, wanted) in [("@", "USER filed"), (":@", "USER filed"), ("named@", "USER named")] {
        let server = FtpServer::with_file("/file", pattern(10));
        let (easy, _) = handle(&server.url("/file").replace("://", &format!("://{login}")));
        text(&easy, O::NetrcFile, file.to_str().unwrap());
        long(&easy, O::Netrc, 1);
        easy.perform();
        assert_eq!(server.commands()[0], wanted, "{login}");
    }
}

#[test]
fn logins_that_no_line_can_hold_are_refused_in_curls_words() {
    let (easy, _) = handle("ftp://us%0aer:p@127.0.0.1:1/file");
    assert_eq!(easy.perform(), Code::UrlMalformat);
    assert_eq!(easy.state().message(), "error extracting credentials from URL");
    let (easy, _) = handle("ftp://127.0.0.1:1/file");
    text(&easy, O::Username, "us\ner");
    assert_eq!(easy.perform(), Code::BadFunctionArgument);
    assert_eq!(easy.state().message(), "control code detected in credentials");
}

#[test]
fn the_process_pool_keeps_connections_of_handles_that_are_gone() {
    warmwire_engine::process_pool::enable(true);
    let server = FtpServer::with_file("/file", pattern(2048));
    for _ in 0..10 {
        let (easy, app) = handle(&server.url("/file"));
        assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
        assert_eq!(app.body.borrow().len(), 2048);
        easy.close();
    }
    assert_eq!((server.accepts(), server.logins()), (1, 1));
    let port = server.address().port();
    assert!(warmwire_engine::process_pool::list().iter().any(|c| c.origin.port == port && c.uses == 10));
    // Another user is another connection.
    let (easy, _) = handle(&server.url("/file"));
    text(&easy, O::Username, "somebody");
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(server.accepts(), 2);
}
