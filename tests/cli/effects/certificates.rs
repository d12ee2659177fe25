//! `--explain-cert`, and what `--why` says about certificates that end soon. The chains are made and judged
//! by openssl(1).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::tls::{Judge, openssl};
use super::{Ran, curl_in, empty_folder, folder_with, ran, write};
use crate::{run, tool};
use testkit::certs::{Authority, Leaf};
use testkit::http::HttpServer;
use testkit::launch::{Ftpd, FtpdKind, Http2Kind, Http2Server, Nginx};

/// Writes a chain of a root, an intermediate and a server's certificate. The two below the root are valid
/// since 2020, and end in so many days.
fn chain(folder: &Path, [inter, leaf]: [u32; 2], extension: &str) {
    let root = "req -x509 -newkey rsa:2048 -nodes -keyout root.key -out root.pem -subj /CN=root -days 4000";
    openssl(folder, root);
    write(folder, "index", "");
    let rules = "database=index\nnew_certs_dir=.\ndefault_md=sha256\npolicy=any\nrand_serial=yes";
    write(folder, "ca.cnf", &format!("[ca]\ndefault_ca=own\n[own]\n{rules}\n[any]\ncommonName=supplied\n"));
    write(folder, "inter.ext", "basicConstraints=critical,CA:TRUE\nkeyUsage=keyCertSign,cRLSign\n");
    write(folder, "cert.ext", &format!("subjectAltName=IP:127.0.0.1\n{extension}\n"));
    for (name, key, by, days) in [("inter", "inter.key", "root", inter), ("cert", "key.pem", "inter", leaf)] {
        let subject = format!("-keyout {key} -out {name}.csr -subj /CN={name}");
        openssl(folder, &format!("req -new -newkey rsa:2048 -nodes {subject}"));
        let end = run("date", &["-u", "-d", &format!("+{days} days +1 hour"), "+%Y%m%d%H%M%SZ"], folder);
        let end = String::from_utf8(end.stdout).unwrap();
        let dates = format!("-startdate 20200101000000Z -enddate {}", end.trim());
        let files = format!("-in {name}.csr -out {name}.pem -extfile {name}.ext -notext");
        let by = format!("-cert {by}.pem -keyfile {by}.key");
        openssl(folder, &format!("ca -batch -config ca.cnf {by} {files} {dates}"));
    }
}

fn chain_folder(days: [u32; 2]) -> PathBuf {
    let folder = empty_folder();
    chain(&folder, days, "");
    folder
}

/// Runs the tool with each TLS library. What follows the words is the same for both.
fn by_either(folder: &Path, words: &[&str]) -> [Ran; 2] {
    ["rustls", "openssl"].map(|library| {
        let mut command = Command::new(tool());
        ran(command.arg("-sS").args(words).env("CURL_SSL_BACKEND", library), folder.to_path_buf())
    })
}

/// Returns what jq(1) makes of a JSON text.
fn jq(folder: &Path, json: &str, filter: &str) -> String {
    write(folder, "report.json", json);
    let out = run("jq", &["-r", filter, "report.json"], folder);
    assert!(out.status.success(), "{json}");
    String::from_utf8(out.stdout).unwrap()
}

/// Returns the subject of a line such as `depth=1: CN = inter (untrusted)`.
fn subject_of_depth(line: &str) -> Option<String> {
    Some(line.split_once(": ")?.1.replace(" (untrusted)", ""))
}

/// The chain of an accepted server is the one that `openssl verify` shows.
#[test]
fn the_chain_is_the_one_that_openssl_builds() {
    let folder = chain_folder([100, 100]);
    let judge = Judge::of_folder(folder.clone(), &["-cert_chain", "inter.pem"]);
    let url = judge.url();
    let words = ["verify", "-show_chain", "-CAfile", "root.pem", "-untrusted", "inter.pem", "cert.pem"];
    let shown = String::from_utf8(run("openssl", &words, &folder).stdout).unwrap();
    let openssl: Vec<String> =
        shown.lines().filter(|line| line.starts_with("depth=")).filter_map(subject_of_depth).collect();
    assert_eq!(openssl.len(), 3, "{shown}");
    for got in by_either(&folder, &["--explain-cert=json", "--cacert", "root.pem", "-o", "page", &url]) {
        assert_eq!(got.code, 0, "{}", got.stderr);
        let chain = jq(&folder, &got.stderr, ".[0].chain[].subject");
        assert_eq!(chain.lines().collect::<Vec<_>>(), openssl, "{}", got.stderr);
        let states = jq(&folder, &got.stderr, ".[0].chain[].signature");
        assert_eq!(states, "verified\nverified\ntrusted\n");
        let unhappy = ".[0].checks[] | select(.outcome != \"passed\" and .outcome != \"not-asked\")";
        assert_eq!(jq(&folder, &got.stderr, unhappy), "", "{}", got.stderr);
    }
    for got in by_either(&folder, &["--explain-cert", "--cacert", "root.pem", "-o", "page", &url]) {
        assert!(got.stderr.starts_with("  certificate 127.0.0.1 is accepted\n"), "{}", got.stderr);
        assert!(got.stderr.contains("\n  server      CN = cert; serial number "), "{}", got.stderr);
    }
}

/// The exit code stays, and each failed check is named. Without verification, the checks fail and are
/// ignored.
#[test]
fn the_failed_check_is_named() {
    let folder = chain_folder([100, 100]);
    let complete = Judge::of_folder(folder.clone(), &["-cert_chain", "inter.pem"]);
    let incomplete = Judge::of_folder(folder.clone(), &[]);
    let other_name = complete.url().replace("127.0.0.1", "localhost");
    let pin = ["--pinnedpubkey", "sha256//AAAA"];
    for (url, more, code, failed) in [
        (incomplete.url(), &[][..], 60, "trust-anchor 20\n"),
        (other_name, &[], 60, "host-name null\n"),
        (complete.url(), &pin, 90, "pinned-key null\n"),
        (
            incomplete.url().replace("127.0.0.1", "localhost"),
            &pin,
            60,
            "trust-anchor 20\nhost-name null\npinned-key null\n",
        ),
    ] {
        let words = [&["--explain-cert=json", "--cacert", "root.pem", "-o", "page", &url], more].concat();
        for got in by_either(&folder, &words) {
            let report = got.stderr.lines().find(|line| line.starts_with('[')).expect(&got.stderr);
            let filter = ".[0].checks[] | select(.outcome == \"failed\") | \"\\(.check) \\(.result)\"";
            assert_eq!((got.code, jq(&folder, report, filter)), (code, failed.to_owned()), "{report}");
            assert_eq!(jq(&folder, report, ".[0].accepted"), "false\n", "{report}");
        }
    }
    let url = incomplete.url();
    for got in by_either(&folder, &["--explain-cert", "--cacert", "root.pem", "-k", "-o", "page", &url]) {
        let ignored = "\n  ignored     trust anchor: unable to get local issuer certificate (20) ";
        assert_eq!(got.code, 0, "{}", got.stderr);
        assert!(got.stderr.contains(ignored) && !got.stderr.contains("\n  failed "), "{}", got.stderr);
    }
}

/// An HTTPS proxy has a report of its own, before that of the server. With `--why`, reports are events.
#[test]
fn a_proxy_has_a_report_too() {
    let (own, of_proxy) = (chain_folder([100, 100]), chain_folder([100, 100]));
    let (server, proxy) = (
        Judge::of_folder(own.clone(), &["-cert_chain", "inter.pem"]),
        Judge::of_folder(of_proxy.clone(), &[]),
    );
    std::fs::copy(of_proxy.join("root.pem"), own.join("proxy.pem")).unwrap();
    let words = ["--explain-cert=json", "--cacert", "root.pem", "--proxy-cacert", "proxy.pem"];
    let got = curl_in(own.clone(), &[&words[..], &["-x", &proxy.url(), &server.url()]].concat());
    let report = got.stderr.lines().find(|line| line.starts_with('[')).expect(&got.stderr);
    let found = jq(&own, report, ".[] | \"\\(.accepted) \\(.chain[0].subject)\"");
    assert_eq!((got.code, &*found), (60, "false CN = cert\n"), "{report}");
    let got = curl_in(
        own.clone(),
        &["--why=json", "--explain-cert", "--cacert", "root.pem", "-o", "page", &server.url()],
    );
    let filter = "[.requests[].events[].event] | map(select(startswith(\"cert\"))) | join(\" \")";
    assert_eq!(jq(&own, &got.stderr, filter), "certificate-checks\n", "{}", got.stderr);
}

/// A connection that was open, and a transfer without TLS, have none.
#[test]
fn what_was_not_checked_is_said() {
    let (authority, plain) = (Authority::new(), HttpServer::plain());
    let server = HttpServer::tls(authority.good().server_config().unwrap());
    let folder = folder_with("ca.pem", authority.ca_pem());
    let url = format!("https://localhost:{}/bytes/10", server.address().port());
    let words = ["--explain-cert", "--cacert", "ca.pem", "-o", "a", "-o", "b", "-o", "c"];
    let got = curl_in(folder, &[&words[..], &[&url, &url, &plain.url("/bytes/1")]].concat());
    assert_eq!(got.stderr.matches("localhost is accepted").count(), 1, "{}", got.stderr);
    let none = "  certificate none was checked: the transfer used no TLS, or a connection that was open\n";
    assert_eq!(got.stderr.matches(none).count(), 2, "{}", got.stderr);
}

/// Over QUIC the verifier is the same, and so are its reports: accepted, refused, and without a resumed
/// session.
#[test]
fn quic_has_reports_too() {
    let (authority, stranger) = (Authority::new(), Authority::new());
    let server = Http2Server::start(Http2Kind::CaddyQuic, &authority.good(), &[10]).unwrap();
    let folder = folder_with("ca.pem", authority.ca_pem());
    write(&folder, "other.pem", stranger.ca_pem());
    let url = server.https("/bytes-10");
    for (ca, code, accepted) in
        [("ca.pem", 0, "true\n"), ("ca.pem", 0, "true\n"), ("other.pem", 60, "false\n")]
    {
        let words =
            ["--explain-cert=json", "--http3-only", "--cacert", ca, "-o", "page", "--ssl-sessions", "kept"];
        let got = curl_in(folder.clone(), &[&words[..], &[&url]].concat());
        let report = got.stderr.lines().find(|line| line.starts_with('[')).expect(&got.stderr);
        assert_eq!((got.code, &*jq(&folder, report, ".[0].accepted")), (code, accepted), "{report}");
    }
}

/// vsftpd requires that a data connection resumes the session of its control connection, whose certificates
/// are explained.
#[test]
fn a_data_connection_still_resumes_its_session() {
    let authority = Authority::new();
    let server = Ftpd::start(FtpdKind::Vsftpd, &authority.good(), &[]).unwrap();
    server.put("/f", b"text").unwrap();
    let folder = folder_with("ca.pem", authority.ca_pem());
    for got in by_either(&folder, &["--explain-cert", "--ssl-reqd", "--cacert", "ca.pem", &server.url("/f")])
    {
        assert_eq!((got.code, &*got.stdout), (0, "text"), "{}", got.stderr);
        assert_eq!(got.stderr.matches(" is accepted\n").count(), 1, "{}", got.stderr);
    }
}

/// The first certificate of the chain that ends counts: also an authority's, and also without verification.
/// The doctor mentions the same end.
#[test]
fn a_certificate_that_ends_soon_is_mentioned() {
    for (days, wanted) in [
        ([100, 5], ", it expires in 5 days"),
        ([12, 100], ", that of its authority (CN = inter) expires in 12 days"),
        ([200, 200], ""),
    ] {
        let folder = chain_folder(days);
        let judge = Judge::of_folder(folder.clone(), &["-cert_chain", "inter.pem"]);
        let url = judge.url();
        for verified in [&["--cacert", "root.pem"][..], &["-k"]] {
            for got in by_either(&folder, &[&["--why", "-o", "page", &url], verified].concat()) {
                let line = got.stderr.lines().find(|line| line.starts_with("  tls ")).expect(&got.stderr);
                assert_eq!(line.contains("expires"), !wanted.is_empty(), "{line}");
                assert!(line.ends_with(wanted), "{line}");
            }
        }
    }
    let authority = Authority::new();
    let server =
        HttpServer::tls(authority.valid_for(Duration::from_secs(86_400 * 5 + 3600)).server_config().unwrap());
    let folder = folder_with("ca.pem", authority.ca_pem());
    let url = format!("https://localhost:{}/bytes/10", server.address().port());
    let mut command = Command::new(tool());
    command.args(["-sS", "--why", "--cacert", "ca.pem", "-o", "page", &url]).env("WARMWIRE_REPORT", "report");
    let got = ran(&mut command, folder);
    assert!(got.stderr.contains("against ca.pem, it expires in 5 days\n"), "{}", got.stderr);
    let report = got.file("report");
    assert!(report.contains("the server's certificate expires in 5 days"), "{report}");
}

/// Writes the authority's answer about the server's certificate, as listed in its index.
fn answer(folder: &Path) {
    openssl(folder, "ocsp -issuer inter.pem -cert cert.pem -no_nonce -reqout asked.der");
    let line =
        "ocsp -index index -CA inter.pem -reqin asked.der -respout answer.der -ndays 1 -rsigner inter.pem";
    openssl(folder, &format!("{line} -rkey inter.key"));
}

/// A revoked certificate is refused although nobody has asked for its status, as nginx staples it.
#[test]
fn nginx_staples_that_a_certificate_is_revoked() {
    let folder = chain_folder([100, 100]);
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let leaf = Leaf { cert_pem: text("cert.pem") + &text("inter.pem"), key_pem: text("key.pem") };
    let words = ["--explain-cert=json", "--cacert", "root.pem", "-o", "page"];
    for (revoked, code, state) in [(false, 0, "good\n"), (true, 91, "revoked\n")] {
        if revoked {
            let by = "-cert inter.pem -keyfile inter.key";
            openssl(&folder, &format!("ca -config ca.cnf {by} -revoke cert.pem -crl_reason superseded"));
        }
        answer(&folder);
        let nginx = Nginx::stapling(&leaf, &std::fs::read(folder.join("answer.der")).unwrap()).unwrap();
        let url = format!("https://127.0.0.1:{}/", nginx.https_port);
        for got in by_either(&folder, &[&words[..], &[&url]].concat()) {
            let report = got.stderr.lines().find(|line| line.starts_with('[')).expect(&got.stderr);
            assert_eq!((got.code, &*jq(&folder, report, ".[0].stapled")), (code, state), "{report}");
            assert_eq!(got.stderr.contains("superseded (4)"), revoked, "{}", got.stderr);
        }
        assert_eq!(curl_in(folder.clone(), &["-k", "-o", "page", &url]).code, 0);
    }
}

/// RFC 7633, and a stapled answer that nobody asked for.
#[test]
fn stapled_answers_are_explained() {
    let folder = empty_folder();
    chain(&folder, [100, 100], "tlsfeature=status_request");
    answer(&folder);
    let words = ["--explain-cert", "--cacert", "root.pem", "-o", "page"];
    let stapling =
        Judge::of_folder(folder.clone(), &["-cert_chain", "inter.pem", "-status_file", "answer.der"]);
    for got in by_either(&folder, &[&words[..], &[&stapling.url()]].concat()) {
        assert_eq!(got.code, 0, "{}", got.stderr);
        assert!(got.stderr.contains("; requires a stapled OCSP response\n"), "{}", got.stderr);
        assert!(got.stderr.contains(", host name, stapled OCSP\n"), "{}", got.stderr);
    }
    let silent = Judge::of_folder(folder.clone(), &["-cert_chain", "inter.pem"]);
    for got in by_either(&folder, &[&words[..], &[&silent.url()]].concat()) {
        let failed =
            "\n  failed      stapled OCSP: No OCSP response received, and the certificate requires one ";
        assert_eq!(got.code, 91, "{}", got.stderr);
        assert!(got.stderr.contains(failed), "{}", got.stderr);
    }
}
