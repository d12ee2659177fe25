//! FTP against the embedded server and vsftpd: successes, and each fault.

use testkit::body::pattern;
use testkit::ftp::{Faults, FtpServer};
use testkit::launch::Vsftpd;

use super::{case, sum};
use crate::runner::{Case, Context};

pub fn cases() -> Vec<Case> {
    vec![
        case("ftp-get-and-keep", get),
        case("ftp-vsftpd", vsftpd),
        case("ftp-control-cut-after-each-line", control_cut),
        case("ftp-data-cut-at-each-byte", data_cut),
        case("ftp-data-refused-and-nonsense", data_faults),
    ]
}

fn get(run: &Context) {
    let server = FtpServer::with_file("/dir/file", pattern(100_000));
    for way in ["easy", "poll", "event"] {
        let output = run.program("fetch", &["-w", way, "-n", "3", &server.url("/dir/file")]);
        assert_eq!(output.facts("sum"), [&*sum(100_000); 3], "{way}: {output:?}");
    }
    let kept = FtpServer::with_file("/file", pattern(2000));
    let output = run.program("fetch", &["-n", "20", &kept.url("/file")]);
    assert_eq!(output.facts("sum"), [&*sum(2000); 20], "{output:?}");
    assert_eq!((kept.accepts(), kept.quits()), (1, 1));
    let output = run.program("fetch", &[&kept.url("/none"), &kept.url("/no/file")]);
    assert_eq!(output.facts("code"), ["78", "9"], "{output:?}");
}

// covers: CURLOPT_DIRLISTONLY
fn vsftpd(run: &Context) {
    let server = Vsftpd::start(&[5000]).expect("vsftpd starts");
    let output = run.program("fetch", &["-n", "3", &server.url("/bytes-5000")]);
    assert_eq!(output.facts("sum"), [&*sum(5000); 3], "{output:?}");
    let output = run.program("fetch", &["-o", "DIRLISTONLY=1", &server.url("/")]);
    assert_eq!(output.fact("code"), "0", "{output:?}");
}

fn control_cut(run: &Context) {
    // Greeting, USER, PASS, PWD, EPSV, TYPE, SIZE, 150, 226: nine lines; after the last one all is well.
    for lines in 0..9 {
        let faults = Faults { cut_after_lines: Some(lines), ..Faults::default() };
        let server = FtpServer::with_faults("/file", pattern(2000), faults);
        for way in ["easy", "poll"] {
            let output = run.program("fetch", &["-w", way, &server.url("/file")]);
            assert_ne!(output.fact("code"), "0", "cut after {lines} lines, {way}: {output:?}");
            assert!(output.elapsed.as_secs() < 10, "cut after {lines} lines, {way}: {output:?}");
        }
    }
}

fn data_cut(run: &Context) {
    for claim_success in [false, true] {
        for cut in 0..40 {
            let faults = Faults { cut_data_at: Some(cut), claim_success, ..Faults::default() };
            let server = FtpServer::with_faults("/file", pattern(40), faults);
            let output = run.program("fetch", &[&server.url("/file")]);
            assert_eq!(output.fact("code"), "18", "cut at {cut}: {output:?}");
        }
    }
}

fn data_faults(run: &Context) {
    let start = |faults| FtpServer::with_faults("/file", pattern(40), faults);
    let refuse = start(Faults { refuse_data: true, ..Faults::default() });
    let output = run.program("fetch", &[&refuse.url("/file")]);
    assert_ne!(output.fact("code"), "0", "{output:?}");
    let texts =
        ["229 nonsense", "229 Entering (|||0|)", "229 Entering (|||99999|)", "229 (a|b|c|d|)", "229 "];
    for text in texts {
        let server = start(Faults { epsv_reply: Some(text.into()), ..Faults::default() });
        let output = run.program("fetch", &[&server.url("/file")]);
        // A port that can't be used may be made good by PASV.
        let whole = output.fact("code") == "0" && output.fact("sum") == sum(40) && text.contains('|');
        assert!(output.fact("code") == "13" || whole, "{text}: {output:?}");
    }
    let plain = start(Faults { epsv_reply: Some("500 what".into()), ..Faults::default() });
    assert_eq!(
        run.program("fetch", &[&plain.url("/file")]).fact("sum"),
        sum(40),
        "PASV after EPSV is refused"
    );
    let neither = start(Faults {
        epsv_reply: Some("500 what".into()),
        pasv_reply: Some("227 nothing here".into()),
        ..Faults::default()
    });
    assert_eq!(run.program("fetch", &[&neither.url("/file")]).fact("code"), "14");
}
