//! Mail with third-party servers, by Debian's curl on either library: Dovecot (IMAP, POP3), Exim and aiosmtpd
//! (SMTP). Logins, TLS, a thousand mails, large ones, and cuts at any place.

use std::net::SocketAddr;
use std::process::Command;

use testkit::cutter::Cutter;
use testkit::launch::{Aiosmtpd, Dovecot, Exim, Kerberos, ScramServer, TOKEN};
use testkit::temp::TempDir;

use super::{case, ours};
use crate::runner::{Case, Context, Output};

pub fn cases() -> Vec<Case> {
    vec![
        case("mail-logins", logins),
        case("mail-tickets", tickets),
        case("mail-certificates", certificates),
        ours("mail-scram-with-a-channel", channel),
        case("mail-tls", tls),
        case("mail-a-thousand", thousand),
        case("mail-large", large),
        case("mail-of-50-mb", huge),
        ours("mail-cut-off", cut_off), // 7.88 takes a mail of POP3 without its end for whole
        case("mail-recipients", recipients),
        case("mail-php-and-python", languages),
    ]
}

/// Lines that begin with dots, one without an end, and bytes that no text contains.
const MAIL: &[u8] = b"Subject: dots\r\n\r\n.one\r\n..two\r\n.\r\nend \xe4\r\n";

fn curl(run: &Context, arguments: &[&str]) -> Output {
    run.run(Command::new("/usr/bin/curl").args(["-q", "-sS", "--max-time", "60"]).args(arguments))
}

fn dovecot(run: &Context) -> Dovecot {
    Dovecot::start(&run.world.authority.good(), &run.world.authority).expect("Dovecot starts")
}

fn exim(run: &Context, logins: Option<&Dovecot>) -> Exim {
    Exim::start(&run.world.authority.good(), logins).expect("Exim starts")
}

fn mail_file(run: &Context, name: &str, content: &[u8]) -> String {
    run.world.directory.write(name, content).expect("a file can be written").display().to_string()
}

/// As a server stores it.
fn with_line_feeds(mail: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(mail).replace("\r\n", "\n").into_bytes()
}

const SENT: [&str; 4] = ["--mail-from", "me@example.com", "--mail-rcpt", "you@example.com"];

/// Which mechanisms Debian's library has none of, or none that Dovecot understands.
const NEWER: [&str; 3] = ["SCRAM-SHA-1", "SCRAM-SHA-256", "DIGEST-MD5"];

// covers: CURLOPT_LOGIN_OPTIONS, CURLOPT_XOAUTH2_BEARER, CURLOPT_SASL_IR, --login-options, --oauth2-bearer,
// --sasl-ir
fn logins(run: &Context) {
    let dovecot = dovecot(run);
    let exim = exim(run, Some(&dovecot));
    let aiosmtpd = Aiosmtpd::start(&run.world.authority.good()).expect("aiosmtpd starts");
    let file = mail_file(run, "logins.eml", MAIL);
    dovecot.deliver("user", "1", MAIL).expect("a mail is delivered");
    let (imap, pop3) = (
        format!("imap://127.0.0.1:{}/INBOX/;MAILINDEX=1", dovecot.imap),
        format!("pop3://127.0.0.1:{}/1", dovecot.pop3),
    );
    let send = format!("smtp://127.0.0.1:{}/client", exim.port);
    let names = ["PLAIN", "LOGIN", "CRAM-MD5", "OAUTHBEARER", "XOAUTH2"];
    let newer = NEWER.iter().filter(|_| run.ours());
    let mut sent = 0;
    for name in names.iter().chain(newer) {
        let option = format!("AUTH={name}");
        let who: &[&str] = match name.ends_with("BEARER") || *name == "XOAUTH2" {
            true => &["-u", "user", "--oauth2-bearer", TOKEN],
            false => &["-u", "user:secret"],
        };
        for early in [&[][..], &["--sasl-ir"]] {
            let base = [who, &["--login-options", &option], early].concat();
            for url in [&imap, &pop3] {
                let output = curl(run, &[&base[..], &[url]].concat());
                assert_eq!(
                    (output.status, output.bytes()),
                    (Some(0), MAIL),
                    "{name} {url}: {output:?}\n{}",
                    dovecot.log()
                );
            }
            let output = curl(run, &[&base[..], &SENT, &["-T", &file, &send]].concat());
            sent += 1;
            assert_eq!((output.status, exim.count()), (Some(0), sent), "{name}: {output:?}\n{}", exim.log());
        }
        // A wrong password is reported, and no other mechanism is tried.
        let wrong: &[&str] = match who.len() {
            4 => &["-u", "user", "--oauth2-bearer", "none"],
            _ => &["-u", "user:wrong"],
        };
        for url in [&imap, &pop3] {
            let output = curl(run, &[wrong, &["--login-options", &option, url]].concat());
            assert_eq!(output.status, Some(67), "{name} {url}: {output:?}");
        }
        let output =
            curl(run, &[wrong, &["--login-options", &option], &SENT, &["-T", &file, &send]].concat());
        assert_eq!((output.status, exim.count()), (Some(67), sent), "{name}: {output:?}");
    }
    own_logins(run, &imap, &pop3);
    if run.ours() {
        // An anonymous login gets the anonymous mailbox, and only on request.
        dovecot.deliver("anonymous", "1", MAIL).expect("a mail is delivered");
        for url in [&imap, &pop3] {
            let output = curl(run, &["--login-options", "AUTH=ANONYMOUS", url]);
            assert_eq!(
                (output.status, output.bytes()),
                (Some(0), MAIL),
                "{url}: {output:?}\n{}",
                dovecot.log()
            );
        }
    }
    for name in ["PLAIN", "LOGIN", "*"] {
        let option = format!("AUTH={name}");
        let to = format!("smtp://127.0.0.1:{}/client", aiosmtpd.port);
        let output = curl(
            run,
            &[&["-u", "user:secret", "--login-options", &option], &SENT[..], &["-T", &file, &to]].concat(),
        );
        assert_eq!(
            (output.status, aiosmtpd.mails().last().map(Vec::as_slice)),
            (Some(0), Some(MAIL)),
            "{name}: {output:?}"
        );
        let output = curl(
            run,
            &[&["-u", "user:wrong", "--login-options", &option], &SENT[..], &["-T", &file, &to]].concat(),
        );
        assert_eq!(output.status, Some(67), "{name}: {output:?}");
    }
}

/// APOP and LOGIN, and the best one.
fn own_logins(run: &Context, imap: &str, pop3: &str) {
    let rows = [("AUTH=+APOP", pop3), ("AUTH=PLAIN;AUTH=LOGIN", imap), ("AUTH=+LOGIN", imap)];
    // Debian's library doesn't know the last one.
    for (option, url) in rows.into_iter().take(if run.ours() { 3 } else { 2 }) {
        let output = curl(run, &["-u", "user:secret", "--login-options", option, url]);
        assert_eq!((output.status, output.bytes()), (Some(0), MAIL), "{option}: {output:?}");
        let output = curl(run, &["-u", "user:wrong", "--login-options", option, url]);
        assert_eq!(output.status, Some(67), "{option}: {output:?}");
    }
}

/// GSSAPI, in a private realm.
fn tickets(run: &Context) {
    let realm = Kerberos::start().expect("the KDC starts");
    realm.login("alice").expect("alice logs in");
    let (leaf, authority) = (run.world.authority.good(), &run.world.authority);
    let dovecot = Dovecot::start_in(&realm, &leaf, authority).expect("Dovecot starts");
    let exim = exim(run, Some(&dovecot));
    let file = mail_file(run, "tickets.eml", MAIL);
    dovecot.deliver("alice", "1", MAIL).expect("a mail is delivered");
    let as_user = |user: &str, arguments: &[&str]| {
        let mut command = Command::new("/usr/bin/curl");
        command.args([
            "-q",
            "-sS",
            "--max-time",
            "60",
            "-u",
            "alice@WARMWIRE.TEST:",
            "--login-options",
            "AUTH=GSSAPI",
        ]);
        realm.user(&mut command, user);
        run.run(command.args(arguments))
    };
    let urls = [
        format!("imap://localhost:{}/INBOX/;MAILINDEX=1", dovecot.imap),
        format!("pop3://localhost:{}/1", dovecot.pop3),
    ];
    for url in &urls {
        // Debian's library loses its way where a token is too long to go with the command.
        for early in [&[][..], &["--sasl-ir"]].into_iter().take(if run.ours() { 2 } else { 1 }) {
            let output = as_user("alice", &[early, &[url]].concat());
            assert_eq!(
                (output.status, output.bytes()),
                (Some(0), MAIL),
                "{url}: {output:?}\n{}",
                dovecot.log()
            );
        }
        let output = as_user("nobody", &[url]);
        assert_eq!(output.status, Some(94), "{url}: {output:?}");
    }
    let to = format!("smtp://localhost:{}/client", exim.port);
    let output = as_user("alice", &[&SENT[..], &["-T", &file, &to]].concat());
    assert_eq!((output.status, exim.count()), (Some(0), 1), "{output:?}\n{}", exim.log());
    let output = as_user("alice", &[&SENT[..], &["--service-name", "unheard-of", "-T", &file, &to]].concat());
    assert_eq!(output.status, Some(94), "{output:?}");
}

/// EXTERNAL: the user in the certificate, and no other; it needs no password, and one does not help.
// covers: CURLOPT_SSLCERT, CURLOPT_SSLKEY, --cert, --key
fn certificates(run: &Context) {
    let dovecot = dovecot(run);
    dovecot.deliver("user", "1", MAIL).expect("a mail is delivered");
    let (ca, mut files) = (run.world.ca(), Vec::new());
    for name in ["user", "stranger"] {
        let leaf = run.world.authority.client(name);
        files.push(mail_file(run, &format!("{name}.pem"), (leaf.cert_pem + &leaf.key_pem).as_bytes()));
    }
    let [user, stranger] = &files[..] else { unreachable!("there are two") };
    let urls = [
        format!("imap://localhost:{}/INBOX/;MAILINDEX=1", dovecot.imap),
        format!("imaps://localhost:{}/INBOX/;MAILINDEX=1", dovecot.imaps),
        format!("pop3://localhost:{}/1", dovecot.pop3),
        format!("pop3s://localhost:{}/1", dovecot.pop3s),
    ];
    for url in &urls {
        let ask = |more: &[&str]| {
            let fixed = ["--cacert", &ca, "--ssl-reqd", "--login-options", "AUTH=EXTERNAL"];
            curl(run, &[&fixed[..], more, &[url]].concat())
        };
        for early in [&[][..], &["--sasl-ir"]] {
            for who in [&["-u", "user:"][..], &[]] {
                // Debian's library does not express an empty authorization identity (RFC 4422 appendix A).
                if who.is_empty() && early.is_empty() && url.starts_with("pop3") && !run.ours() {
                    continue;
                }
                let output = ask(&[&["--cert", user][..], who, early].concat());
                let got = (output.status, output.bytes());
                assert_eq!(got, (Some(0), MAIL), "{url} {who:?} {early:?}: {output:?}\n{}", dovecot.log());
            }
        }
        for bad in [&["--cert", stranger, "-u", "user:"][..], &["-u", "user:"]] {
            let output = ask(bad);
            assert_eq!(output.status, Some(67), "{url} {bad:?}: {output:?}\n{}", dovecot.log());
        }
        // With a password EXTERNAL is not chosen, and nothing else is allowed.
        let output = ask(&["--cert", user, "-u", "user:secret"]);
        assert_eq!(output.status, Some(67), "{url}: {output:?}");
    }
}

/// The password is proved together with the channel binding, in the server's normalization (SASLprep). An
/// attacker in the middle learns nothing useful. A server with another channel binding is tried with that,
/// too.
fn channel(run: &Context) {
    let (leaf, other) = (run.world.authority.good(), run.world.authority.good());
    let ca = run.world.ca();
    let (exporter, certificate) = ("tls-exporter", "tls-server-end-point");
    let all = "tls-server-end-point,tls-exporter";
    for (bound, kinds, arguments, wanted) in [
        (&leaf, all, &["AUTH=SCRAM-SHA-256-PLUS"][..], Some(exporter)),
        (&leaf, exporter, &["AUTH=SCRAM-SHA-256-PLUS"], Some(exporter)),
        (&leaf, certificate, &["AUTH=SCRAM-SHA-256-PLUS"], Some(certificate)),
        (&leaf, all, &["AUTH=SCRAM-SHA-256-PLUS", "--tls-max", "1.2"], Some(certificate)),
        (&other, certificate, &["AUTH=SCRAM-SHA-256-PLUS"], None),
        (&leaf, "tls-unique", &["AUTH=SCRAM-SHA-256-PLUS"], None),
        (&leaf, exporter, &["AUTH=SCRAM-SHA-256-PLUS", "--tls-max", "1.2"], None),
        (&leaf, all, &["AUTH=SCRAM-SHA-256"], None),
    ] {
        let server = ScramServer::start(&leaf, bound, kinds).expect("the server starts");
        let url = format!("pop3s://127.0.0.1:{}/", server.port);
        let login =
            ["--cacert", &ca, "-u", "user:p\u{ad}a\u{2168}", "-X", "STAT", "-D", "-", "--login-options"];
        let output = curl(run, &[&login[..], arguments, &[&url]].concat());
        let status = if wanted.is_some() { 0 } else { 67 };
        assert_eq!(output.status, Some(status), "{kinds} {arguments:?}: {output:?}");
        let as_wanted = wanted.is_none_or(|kind| output.stdout.ends_with(&format!("+OK {kind}\r\n")));
        assert!(as_wanted, "{kinds} {arguments:?}: {output:?}");
    }
}

/// TLS on request, and from the beginning; and never without where it is demanded.
// covers: CURLOPT_USE_SSL, --ssl, --ssl-reqd
fn tls(run: &Context) {
    let dovecot = dovecot(run);
    let exim = exim(run, Some(&dovecot));
    let aiosmtpd = Aiosmtpd::start(&run.world.authority.good()).expect("aiosmtpd starts");
    let file = mail_file(run, "tls.eml", MAIL);
    dovecot.deliver("user", "1", MAIL).expect("a mail is delivered");
    let ca = run.world.ca();
    let login = ["--cacert", &ca, "-u", "user:secret"];
    let fetched = [
        ("--ssl-reqd", format!("imap://127.0.0.1:{}/INBOX/;MAILINDEX=1", dovecot.imap)),
        ("--ssl-reqd", format!("pop3://127.0.0.1:{}/1", dovecot.pop3)),
        ("--ssl", format!("imap://localhost:{}/INBOX/;UID=1", dovecot.imap)),
        ("--ssl-reqd", format!("imaps://127.0.0.1:{}/INBOX/;MAILINDEX=1", dovecot.imaps)),
        ("--ssl", format!("pop3s://localhost:{}/1", dovecot.pop3s)),
    ];
    for (flag, url) in &fetched {
        // The second on the same connection.
        let output = curl(run, &[&login[..], &[flag, "-w", "%{num_connects}", url, url]].concat());
        let wanted = [MAIL, b"1", MAIL, b"0"].concat();
        assert_eq!(
            (output.status, output.bytes()),
            (Some(0), &wanted[..]),
            "{url}: {output:?}\n{}",
            dovecot.log()
        );
        let output = curl(run, &["-u", "user:secret", "--ssl-reqd", url]);
        assert_eq!(output.status, Some(60), "{url}: {output:?}");
    }
    let sent = [
        format!("smtp://127.0.0.1:{}/client", exim.port),
        format!("smtps://localhost:{}/client", exim.tls_port),
        format!("smtp://127.0.0.1:{}/client", aiosmtpd.port),
    ];
    for url in &sent {
        let output =
            curl(run, &[&login[..], &SENT, &["--ssl-reqd", "-T", &file, url, "-T", &file, url]].concat());
        assert_eq!(output.status, Some(0), "{url}: {output:?}\n{}", exim.log());
        let output =
            curl(run, &[&["-u", "user:secret", "--ssl-reqd"], &SENT[..], &["-T", &file, url]].concat());
        assert_eq!(output.status, Some(60), "{url}: {output:?}");
    }
    assert_eq!((exim.count(), aiosmtpd.mails()), (4, vec![MAIL.to_vec(); 2]));
}

/// A thousand mails out and a thousand in, by each protocol over one connection.
fn thousand(run: &Context) {
    const COUNT: usize = 1000;
    let dovecot = dovecot(run);
    let exim = exim(run, None);
    let aiosmtpd = Aiosmtpd::start(&run.world.authority.good()).expect("aiosmtpd starts");
    let file = mail_file(run, "thousand.eml", MAIL);
    for n in 0..COUNT {
        let mail = format!("Subject: {n}\r\n\r\n.number {n}\r\n");
        dovecot.deliver("user", &format!("{n:04}"), mail.as_bytes()).expect("a mail is delivered");
    }
    for (port, name) in [(exim.port, "exim"), (aiosmtpd.port, "aiosmtpd")] {
        let to = format!("smtp://127.0.0.1:{port}/client[1-{COUNT}]");
        let output = curl(run, &[&SENT[..], &["-w", "%{num_connects}", "-T", &file, &to]].concat());
        let connects = output.stdout.bytes().filter(|b| *b == b'1').count();
        assert_eq!((output.status, output.stdout.len(), connects), (Some(0), COUNT, 1), "{name}: {output:?}");
    }
    assert_eq!((exim.count(), aiosmtpd.mails()), (COUNT, vec![MAIL.to_vec(); COUNT]));
    let body = with_line_feeds(&MAIL[17..]);
    assert!(exim.bodies().iter().all(|kept| String::from_utf8_lossy(kept).into_owned().into_bytes() == body));
    for url in [
        format!("imap://127.0.0.1:{}/INBOX/;MAILINDEX=[1-{COUNT}]", dovecot.imap),
        format!("pop3://127.0.0.1:{}/[1-{COUNT}]", dovecot.pop3),
    ] {
        let output = curl(run, &["-u", "user:secret", "-w", "connects %{num_connects}\n", &url]);
        assert_eq!(output.status, Some(0), "{url}: {}", output.stderr);
        let count = |text: &str| output.stdout.matches(text).count();
        assert_eq!((count("connects 1\n"), count("connects 0\n")), (1, COUNT - 1), "{url}");
        let numbers: std::collections::BTreeSet<_> =
            output.stdout.lines().filter_map(|line| line.strip_prefix(".number ")).collect();
        assert_eq!(numbers.len(), COUNT, "{url}");
    }
}

/// Some megabytes, in and out, of each kind.
fn large(run: &Context) {
    let dovecot = dovecot(run);
    let exim = exim(run, None);
    let aiosmtpd = Aiosmtpd::start(&run.world.authority.good()).expect("aiosmtpd starts");
    let text: String = (0..200_000).map(|n| format!("{}line {n}\r\n", ".".repeat(n % 3))).collect();
    let mail = format!("Subject: large\r\n\r\n{text}").into_bytes();
    let file = mail_file(run, "large.eml", &mail);
    let mailbox = format!("imap://127.0.0.1:{}/INBOX", dovecot.imap);
    let login = ["-u", "user:secret"];
    let output = curl(run, &[&login[..], &["-T", &file, &mailbox, "-T", &file, &mailbox]].concat());
    assert_eq!(output.status, Some(0), "{output:?}\n{}", dovecot.log());
    for url in [
        format!("{mailbox}/;MAILINDEX=1"),
        format!("{mailbox}/;UID=2"),
        format!("pop3://127.0.0.1:{}/2", dovecot.pop3),
    ] {
        let output = curl(run, &[&login[..], &[&url]].concat());
        assert!(output.status == Some(0) && output.bytes() == mail, "{url}: {} bytes", output.bytes().len());
    }
    let output = curl(
        run,
        &[&login[..], &[&format!("{mailbox}/;UID=1/;SECTION=TEXT/;PARTIAL=100000.70000")]].concat(),
    );
    assert!(output.status == Some(0) && output.bytes() == &text.as_bytes()[100_000..170_000]);
    // Octets that are not lines: a line ending is added, and nothing else.
    for (port, chunked) in
        [(exim.port, false), (aiosmtpd.port, false), (exim.port, true), (aiosmtpd.port, true)]
    {
        let to = format!("smtp://127.0.0.1:{port}/client");
        let output = match chunked {
            false => curl(run, &[&SENT[..], &["-T", &file, &to]].concat()),
            true => {
                let mut command = Command::new("sh");
                let script = "cat \"$0\" | exec /usr/bin/curl -q -sS --max-time 60 -T - \"$@\"";
                command.args(["-c", script, &file]).args(SENT).arg(&to);
                run.run(&mut command)
            }
        };
        assert_eq!(output.status, Some(0), "{output:?}\n{}", exim.log());
    }
    assert_eq!(aiosmtpd.mails(), [&mail[..], &mail]);
    assert!(exim.bodies() == vec![with_line_feeds(text.as_bytes()); 2]);
}

/// Fifty megabytes as one literal, out and in, by each protocol, in memory that doesn't grow with it.
fn huge(run: &Context) {
    const SIZE: usize = 50_000_000;
    let (dovecot, exim) = (dovecot(run), exim(run, None));
    let line = format!("{}\r\n", ".and much of the same ".repeat(3));
    let mail = format!("Subject: huge\r\n\r\n{}", line.repeat(SIZE / line.len())).into_bytes();
    let directory = TempDir::new("huge").expect("a folder can be made");
    let file = directory.write("sent", &mail).expect("a file can be written").display().to_string();
    let got = directory.path().join("got");
    let mailbox = format!("imap://127.0.0.1:{}/INBOX", dovecot.imap);
    let measured = |arguments: &[&str]| {
        let mut command = Command::new("/usr/bin/python3");
        command.args(["-c", PEAK, "/usr/bin/curl", "-q", "-sS", "--max-time", "100", "-u", "user:secret"]);
        let output = run.run(command.args(arguments));
        assert_eq!(output.status, Some(0), "{arguments:?}: {output:?}\n{}", dovecot.log());
        output.number("peak_kib")
    };
    let little = measured(&[&mailbox]);
    let smtp = format!("smtp://127.0.0.1:{}/client", exim.port);
    let folder = got.display().to_string();
    let upload = measured(&["-T", &file, &mailbox]);
    let fetched = [format!("{mailbox}/;MAILINDEX=1"), format!("pop3://127.0.0.1:{}/1", dovecot.pop3)];
    let downloads = fetched.map(|url| {
        let peak = measured(&["-o", &folder, &url]);
        assert!(std::fs::read(&got).expect("it was written") == mail, "{url}");
        peak
    });
    let sent = measured(&[&SENT[..], &["-T", &file, &smtp]].concat());
    assert_eq!(exim.count(), 1, "{}", exim.log());
    for peak in downloads.into_iter().chain([upload, sent]) {
        assert!(peak < little + 8 * 1024, "{peak} KiB, and {little} without a mail");
    }
}

/// Runs a command, and prints its peak memory.
const PEAK: &str = "import resource, subprocess, sys
status = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(f'peak_kib={resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss}')
sys.exit(status)";

/// Wherever a server falls silent, there is an error, soon, and no partial mail is reported as complete.
fn cut_off(run: &Context) {
    let dovecot = dovecot(run);
    let exim = exim(run, None);
    let file = mail_file(run, "cut.eml", MAIL);
    dovecot.deliver("user", "1", MAIL).expect("a mail is delivered");
    let local = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
    for length in (0..700).step_by(37) {
        let cutters = [dovecot.imap, dovecot.pop3, exim.port].map(|port| Cutter::start(local(port), length));
        let imap = format!("imap://127.0.0.1:{}/INBOX/;MAILINDEX=1", cutters[0].port());
        let pop3 = format!("pop3://127.0.0.1:{}/1", cutters[1].port());
        for url in [imap, pop3] {
            let output = curl(run, &["-u", "user:secret", "--login-options", "AUTH=PLAIN", &url]);
            assert!(output.status.is_some() && output.elapsed.as_secs() < 20, "{url} {length}: {output:?}");
            assert!(output.status != Some(0) || output.bytes() == MAIL, "{url} {length}: {output:?}");
        }
        let to = format!("smtp://127.0.0.1:{}/client", cutters[2].port());
        let before = exim.count();
        let output = curl(run, &[&SENT[..], &["-T", &file, &to]].concat());
        assert!(output.status.is_some() && output.elapsed.as_secs() < 20, "{length}: {output:?}");
        assert!(output.status != Some(0) || exim.count() == before + 1, "{length}: {output:?}");
    }
}

/// One refused recipient among others: nobody receives the mail, unless that is allowed.
// covers: CURLOPT_MAIL_RCPT_ALLOWFAILS, --mail-rcpt-allowfails
fn recipients(run: &Context) {
    let exim = exim(run, None);
    let aiosmtpd = Aiosmtpd::start(&run.world.authority.good()).expect("aiosmtpd starts");
    let file = mail_file(run, "recipients.eml", MAIL);
    let three =
        ["--mail-rcpt", "a@example.com", "--mail-rcpt", "nobody@example.com", "--mail-rcpt", "b@example.com"];
    let from = ["--mail-from", "me@example.com"];
    for port in [exim.port, aiosmtpd.port] {
        let to = format!("smtp://127.0.0.1:{port}/client");
        let taken = || if port == exim.port { exim.count() } else { aiosmtpd.mails().len() };
        let output = curl(run, &[&from[..], &three, &["-T", &file, &to]].concat());
        assert_eq!((output.status, taken()), (Some(55), 0), "{output:?}");
        let output = curl(run, &[&from[..], &three, &["--mail-rcpt-allowfails", "-T", &file, &to]].concat());
        assert_eq!((output.status, taken()), (Some(0), 1), "{output:?}");
        let none = ["--mail-rcpt", "nobody@example.com", "--mail-rcpt-allowfails", "-T", &file, &to];
        let output = curl(run, &[&from[..], &none].concat());
        assert_eq!((output.status, taken()), (Some(55), 1), "{output:?}");
    }
}

/// PHP's curl and pycurl send a mail and read one.
fn languages(run: &Context) {
    let dovecot = dovecot(run);
    let exim = exim(run, Some(&dovecot));
    dovecot.deliver("user", "1", MAIL).expect("a mail is delivered");
    let imap = format!("imap://127.0.0.1:{}/INBOX/;MAILINDEX=1", dovecot.imap);
    let pop3 = format!("pop3://127.0.0.1:{}/1", dovecot.pop3);
    let smtp = format!("smtp://127.0.0.1:{}/client", exim.port);
    let php = (std::path::PathBuf::from("php"), "mail.php");
    for (count, (program, script)) in [php, (run.world.python(), "mail.py")].into_iter().enumerate() {
        let mut command = Command::new(program);
        command.arg(run.world.script(script)).args([&imap, &pop3, &smtp]).arg(run.world.ca());
        let output = run.run(&mut command);
        let ours = if run.ours() { "1" } else { "0" };
        assert_eq!(
            (output.status, output.fact("end"), output.fact("ours")),
            (Some(0), "1", ours),
            "{output:?}"
        );
        for name in ["imap", "pop3", "smtp"] {
            assert_eq!(output.fact(name), "0", "{script}: {output:?}");
        }
        for name in ["imap_same", "pop3_same"] {
            assert_eq!(output.fact(name), "1", "{script}: {output:?}");
        }
        assert_eq!(exim.count(), [2, 3][count], "{script}: {output:?}\n{}", exim.log());
    }
}
