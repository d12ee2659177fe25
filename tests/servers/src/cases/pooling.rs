//! The process-wide pool, and costs that must not grow: many idle transfers, many polls.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use testkit::body::pattern;
use testkit::ftp::{Config, FtpServer};
use testkit::http::HttpServer;
use testkit::launch::{Dovecot, Http2Kind, Http2Server, PhpFpm};
use testkit::raw::SilentPeer;
use testkit::temp::TempDir;

use super::ours;
use crate::runner::{Case, Context, Output};

pub fn cases() -> Vec<Case> {
    vec![
        ours("pool-is-off-unless-asked-for", off),
        ours("pool-http-10000-polls", http),
        ours("pool-tls-and-threads", tls),
        ours("pool-http2-and-threads", http2),
        ours("pool-ftp-polls-and-polite-end", ftp),
        ours("pool-mail", mail),
        ours("pool-php-fpm", php_fpm),
        ours("pool-follows-names-php", |run| moving(run, Path::new("php"), "moving.php")),
        ours("pool-follows-names-pycurl", |run| moving(run, &run.world.python(), "moving.py")),
        ours("10000-idle-transfers-cost-little", idle),
    ]
}

fn pooled(run: &Context, arguments: &[&str]) -> Output {
    let mut command = Command::new(run.world.program("pooled"));
    let output = run.run(command.args(arguments).env("CA", run.world.ca()).env("WARMWIRE_POOL", "process"));
    assert_eq!(output.status, Some(0), "{output:?}");
    assert_eq!(
        (output.fact("child"), output.fact("after")),
        ("0", "1"),
        "fork with pooled connections: {output:?}"
    );
    output
}

fn off(run: &Context) {
    let server = HttpServer::plain();
    run.program("pooled", &[&server.url("/bytes/1000"), "20"]);
    assert!(server.accepts() >= 20, "{} accepts", server.accepts());
}

fn http(run: &Context) {
    let server = HttpServer::plain();
    let output = pooled(run, &[&server.url("/bytes/1000"), "10000", "16"]);
    assert_eq!(
        (output.fact("good"), output.fact("together"), output.fact("of")),
        ("10000", "16000", "16000")
    );
    assert!(output.number("more_fds") <= 0 && output.number("more_kb") < 512, "{output:?}");
    // One for all polls, one or two of the child's, one for each thread that found none free.
    assert!(server.accepts() <= 20, "{} accepts", server.accepts());
}

fn tls(run: &Context) {
    let server = HttpServer::tls(run.world.authority.good().server_config().expect("a usable pair"));
    let output = pooled(run, &[&server.url("/bytes/1000"), "500", "16"]);
    assert_eq!((output.fact("good"), output.fact("together")), ("500", "800"), "{output:?}");
    assert!(server.accepts() <= 20, "{} accepts", server.accepts());
}

/// A session without streams may be used by any thread, also by one that did not open it: sixteen threads
/// need at most one each.
fn http2(run: &Context) {
    const SIZE: usize = 20_000;
    let leaf = run.world.authority.good();
    let server = Http2Server::start(Http2Kind::Nginx, &leaf, &[SIZE]).expect("nginx starts");
    let output = pooled(run, &[&server.https(&format!("/bytes-{SIZE}")), "1000", "16"]);
    assert_eq!((output.fact("good"), output.fact("together")), ("1000", "1600"), "{output:?}");
    assert!(output.number("opened") <= 17, "{output:?}");
    assert!(output.number("more_fds") <= 0 && output.number("more_kb") < 512, "{output:?}");
}

fn ftp(run: &Context) {
    let files = BTreeMap::from([("/file".to_string(), pattern(2000))]);
    let server = FtpServer::start(Config { files, ..Config::default() }).expect("loopback has a free port");
    let output = pooled(run, &[&server.url("/file"), "1000", "16"]);
    assert_eq!((output.fact("good"), output.fact("together")), ("1000", "1600"), "{output:?}");
    assert!(server.accepts() <= 20, "{} accepts", server.accepts());
    assert!(output.number("more_fds") <= 0 && output.number("more_kb") < 512, "{output:?}");
    // The server hears it a moment after the program's end.
    for _ in 0..100 {
        if server.quits() + 2 < server.accepts() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
    // global_cleanup says goodbye on the parent's connections; the child leaves silently.
    assert!(
        server.quits() + 2 >= server.accepts() && server.quits() >= 1,
        "{} of {}",
        server.quits(),
        server.accepts()
    );
}

/// A program that polls a mailbox with a handle for each time logs in once, as does each thread.
fn mail(run: &Context) {
    let (leaf, authority) = (run.world.authority.good(), &run.world.authority);
    let dovecot = Dovecot::start(&leaf, authority).expect("Dovecot starts");
    dovecot.deliver("user", "1", b"Subject: x\r\n\r\nhello\r\n").expect("a mail is delivered");
    let mut before = 0;
    for url in [
        format!("imap://user:secret@127.0.0.1:{}/INBOX/;MAILINDEX=1", dovecot.imap),
        format!("imaps://user:secret@localhost:{}/INBOX/;MAILINDEX=1", dovecot.imaps),
        format!("pop3://user:secret@127.0.0.1:{}/1", dovecot.pop3),
    ] {
        let output = pooled(run, &[&url, "200", "8"]);
        assert_eq!((output.fact("good"), output.fact("together")), ("200", "160"), "{output:?}");
        let logins = dovecot.log().matches("Info: Login: user=<user>").count();
        assert!(logins - before <= 12, "{url}: {} logins", logins - before);
        before = logins;
    }
}

/// A worker has the pool if its configuration says so, and does without it otherwise, whatever the
/// environment of the manager says: `clear_env` is on unless it is turned off.
fn php_fpm(run: &Context) {
    const ON: &str = "env[WARMWIRE_POOL] = process";
    for (pool, outside, pooled) in [
        ("", "", false),
        ("", "process", false),
        (ON, "", true),
        // As a distribution starts it: root's manager, and a worker of another user.
        ("user = 65534\ngroup = 65534\nenv[WARMWIRE_POOL] = process", "", true),
        ("clear_env = yes\nenv[WARMWIRE_POOL] = process", "", true),
        ("clear_env = no", "process", true),
        ("clear_env = no", "", false),
    ] {
        let server = HttpServer::plain();
        let prepare = |command: &mut Command| {
            run.choose(command);
            command.env_remove("WARMWIRE_POOL");
            if !outside.is_empty() {
                command.env("WARMWIRE_POOL", outside);
            }
        };
        let fpm = PhpFpm::start(pool, prepare).expect("php-fpm starts");
        let code = format!(
            "$easy = curl_init('{}');\ncurl_setopt($easy, CURLOPT_RETURNTRANSFER, true);\n\
             echo stripos(json_encode(curl_version()), 'warmwire') !== false, strlen(curl_exec($easy));",
            server.url("/bytes/1000")
        );
        for _ in 0..5 {
            assert_eq!(fpm.output_of(&code).expect("a reply"), "11000", "{pool:?} {outside:?}");
        }
        let expected = if pooled { 1 } else { 5 };
        assert_eq!(server.accepts(), expected, "{pool:?} {outside:?}");
    }
}

/// A program whose host moves in the hosts file, which glibc reads, leaves its connection for the new
/// address when the look-up is stale. With WARMWIRE_FOLLOW_NAMES=no it stays there. Without the pool each
/// handle looks the name up.
fn moving(run: &Context, interpreter: &Path, script: &str) {
    let (first, second) = HttpServer::twins(None, None);
    let folder = TempDir::new("moving").expect("a folder is made");
    let hosts = |ip: &str| format!("127.0.0.1 localhost\n{ip} moving.test\n");
    let fetch = |pool: &str, follow: &str| {
        let file = folder.write("hosts", hosts("127.0.0.1")).expect("a file is written");
        let mount = format!("mount --bind {} /etc/hosts && exec \"$0\" \"$@\"", file.display());
        let mut command = Command::new("unshare");
        command.args(["-m", "sh", "-c", &mount]).arg(interpreter).arg(run.world.script(script));
        command.arg(format!("http://moving.test:{}/bytes/1000", first.port())).arg(hosts("127.0.0.2"));
        let output = run.run(command.env("WARMWIRE_POOL", pool).env("WARMWIRE_FOLLOW_NAMES", follow));
        assert_eq!(output.status, Some(0), "{output:?}");
        output.stdout
    };
    let (old, new, kept) = ("127.0.0.1 1\n127.0.0.1 0\n", "127.0.0.2 1\n127.0.0.2 0\n", "127.0.0.1 0\n");
    assert_eq!(fetch("process", ""), format!("{old}{kept}{kept}{new}"));
    assert_eq!(fetch("process", "no"), format!("{old}{}", kept.repeat(4)));
    assert_eq!(fetch("off", ""), format!("{}{}", "127.0.0.1 1\n".repeat(2), "127.0.0.2 1\n".repeat(4)));
    assert_eq!((first.accepts(), second.accepts()), (1 + 1 + 2, 1 + 4));
}

fn idle(run: &Context) {
    let busy = HttpServer::plain();
    for way in ["poll", "event"] {
        let mut ratios = Vec::new();
        // Another process's load can spoil a measurement but not make it better: the best of a few counts.
        while ratios.iter().all(|ratio| *ratio > 1.2) {
            assert!(ratios.len() < 4, "{way}: {ratios:?}");
            let silent = SilentPeer::start().expect("loopback has a free port");
            let url = format!("http://{}/", silent.address());
            let output = run.program("idle", &[&url, &busy.url("/bytes/1000"), "10000", way]);
            ratios.push(output.fact("ratio").parse::<f64>().expect("a number"));
        }
    }
}
