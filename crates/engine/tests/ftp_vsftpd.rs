//! FTP through the engine against vsftpd, a common server.

use std::io::ErrorKind;

use crate::common::{handle, long, text};
use tables::{Code, EasyOption as O};
use testkit::body::pattern;
use testkit::launch::Vsftpd;
use warmwire_engine::Easy;

/// Starts vsftpd, whose anonymous login needs root; leaves the test out without it.
fn server(sizes: &[usize]) -> Vsftpd {
    match Vsftpd::start(sizes) {
        Ok(server) => server,
        Err(e) if e.kind() == ErrorKind::PermissionDenied => testkit::left_out("vsftpd needs root"),
        Err(e) => panic!("{e}"),
    }
}

fn perform(easy: &Easy) {
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
}

#[test]
fn a_thousand_files_over_one_control_connection() {
    let server = server(&[2000, 300]);
    let (easy, app) = handle(&server.url("/bytes-2000"));
    let mut connects = 0; // one for each file, and the control connection
    for round in 0..1000 {
        let size = if round % 2 == 0 { 2000 } else { 300 };
        text(&easy, O::Url, &server.url(&format!("/bytes-{size}")));
        perform(&easy);
        connects += easy.state().info.borrow().connects;
        assert!(app.body.borrow().as_slice() == pattern(size), "round {round}");
        app.body.borrow_mut().clear();
    }
    assert_eq!(connects, 1001);
}

#[test]
fn stored_resumed_and_fetched_again() {
    let server = server(&[]);
    let content = pattern(300_000);
    let (easy, app) = handle(&server.url("/up/file"));
    long(&easy, O::Upload, 1);
    *app.upload.borrow_mut() = content[..100_000].to_vec();
    perform(&easy);
    assert!(server.file("/up/file").unwrap() == content[..100_000]);

    // The server says how much it has; the rest is appended.
    *app.upload.borrow_mut() = content.clone();
    app.read_at.set(0);
    long(&easy, O::ResumeFromLarge, -1);
    perform(&easy);
    assert!(server.file("/up/file").unwrap() == content);

    let (easy, app) = handle(&server.url("/up/file"));
    long(&easy, O::ResumeFromLarge, 250_000);
    perform(&easy);
    assert!(app.body.borrow().as_slice() == &content[250_000..]);
    app.body.borrow_mut().clear();
    long(&easy, O::ResumeFromLarge, 300_000);
    perform(&easy);
    assert!(app.body.borrow().is_empty());
    long(&easy, O::ResumeFromLarge, 300_001);
    assert_eq!(easy.perform(), Code::BadDownloadResume);
    long(&easy, O::ResumeFromLarge, 0);
    text(&easy, O::Range, "1000-1999");
    perform(&easy);
    assert!(app.body.borrow().as_slice() == &content[1000..2000]);
}

#[test]
fn folders_are_made_on_the_way() {
    let server = server(&[]);
    let (easy, app) = handle(&server.url("/up/new/deep/file"));
    long(&easy, O::Upload, 1);
    *app.upload.borrow_mut() = pattern(10);
    assert_eq!(easy.perform(), Code::RemoteAccessDenied);
    long(&easy, O::FtpCreateMissingDirs, 1);
    app.read_at.set(0);
    perform(&easy);
    assert_eq!(server.file("/up/new/deep/file").unwrap(), pattern(10));
}

#[test]
fn listings_and_wildcards() {
    let server = server(&[10, 20, 3000]);
    let (easy, app) = handle(&server.url("/"));
    long(&easy, O::DirListOnly, 1);
    perform(&easy);
    let text_of = |body: &[u8]| String::from_utf8_lossy(body).into_owned();
    let names = text_of(&app.body.borrow());
    let mut names: Vec<&str> = names.lines().collect();
    names.sort_unstable();
    assert_eq!(names, ["bytes-10", "bytes-20", "bytes-3000", "up"]);
    app.body.borrow_mut().clear();
    long(&easy, O::DirListOnly, 0);
    perform(&easy);
    assert_eq!(text_of(&app.body.borrow()).lines().filter(|l| l.contains("bytes-")).count(), 3);

    let (easy, app) = handle(&server.url("/bytes-[12]0"));
    long(&easy, O::WildcardMatch, 1);
    perform(&easy);
    assert_eq!(app.body.borrow().len(), 30);
    text(&easy, O::Url, &server.url("/nothing-*"));
    assert_eq!(easy.perform(), Code::RemoteFileNotFound);
}

#[test]
fn active_mode() {
    let server = server(&[100_000]);
    let (easy, app) = handle(&server.url("/bytes-100000"));
    text(&easy, O::FtpPort, "-");
    for eprt in [1, 0] {
        long(&easy, O::FtpUseEprt, eprt);
        for _ in 0..5 {
            perform(&easy);
            assert!(app.body.borrow().as_slice() == pattern(100_000));
            app.body.borrow_mut().clear();
        }
    }
    long(&easy, O::Upload, 1);
    text(&easy, O::Url, &server.url("/up/file"));
    *app.upload.borrow_mut() = pattern(5000);
    perform(&easy);
    assert_eq!(server.file("/up/file").unwrap(), pattern(5000));
}
