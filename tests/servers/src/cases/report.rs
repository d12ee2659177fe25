//! WARMWIRE_REPORT: programs in PHP, Perl and Python that make a mistake, and that make none. On a delayed
//! link the promise of the first finding is compared with what its remedy saves.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use testkit::body::pattern;
use testkit::certs::Leaf;
use testkit::ftp::{Config, FtpServer};
use testkit::http::HttpServer;
use testkit::link::Link;

use super::ours;
use crate::runner::{Case, Context, Output};

const ROUND_TRIP: Duration = Duration::from_millis(40);
/// Requests of a program.
const COUNT: usize = 12;

pub fn cases() -> Vec<Case> {
    vec![
        ours("report-php-https", php),
        ours("report-perl-form", perl),
        ours("report-python-ftp-poller", poller),
        ours("report-python-ftp-files", files),
        ours("report-php-certificate", certificate),
    ]
}

/// Runs a program with a report.
fn reported(run: &Context, command: &mut Command) -> Output {
    command.env("WARMWIRE_REPORT", "stderr").env("CA", run.world.ca());
    let output = run.run(command);
    assert_eq!(output.status, Some(0), "{output:?}");
    assert!(output.stderr.starts_with("warmwire: report on "), "{output:?}");
    output
}

/// The first finding and its promise.
fn promise(output: &Output) -> (&str, Duration) {
    let first = output.stderr.lines().nth(1).unwrap_or_default();
    let lost = first.rsplit_once("; about ").and_then(|(_, rest)| rest.strip_suffix(" lost"));
    let lost = lost.and_then(duration).unwrap_or_else(|| panic!("no time in the first finding: {output:?}"));
    (first, lost)
}

/// Reads a time as the report writes it.
fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_once(' ')?;
    let seconds = match unit {
        "s" => 1.0,
        "ms" => 1e-3,
        "us" => 1e-6,
        _ => return None,
    };
    Some(Duration::from_secs_f64(number.parse::<f64>().ok()? * seconds))
}

/// Compares the promise of a program with what a remedy saved, and requires that they agree within 25 %.
fn keeps_its_promise(naive: &Output, remedied: &Output) {
    let (finding, promised) = promise(naive);
    // Measured by the programs: starting an interpreter is noise.
    let saved = Duration::from_micros((naive.number("micros") - remedied.number("micros")).max(1) as u64);
    let ratio = promised.as_secs_f64() / saved.as_secs_f64();
    println!("{finding}: promised {promised:.2?}, saved {saved:.2?}");
    assert!((0.75..=1.25).contains(&ratio), "promised {promised:?}, saved {saved:?}: {naive:?} {remedied:?}");
}

/// An HTTPS server behind a link, and the URL through it.
fn https(run: &Context, path: &str) -> (HttpServer, Link, String) {
    let server = HttpServer::tls(run.world.authority.good().server_config().expect("a usable pair"));
    let link = Link::new(ROUND_TRIP).expect("a link starts");
    let door = link.door(server.address()).expect("loopback has a free port");
    let url = format!("https://localhost:{}{path}", door.port());
    (server, link, url)
}

/// Runs a program that takes the URL, a count, and `each` or `one`.
fn handles(run: &Context, interpreter: &str, script: &str, path: &str) {
    let (_server, _link, url) = https(run, path);
    let program = |way: &str, pool: &str| {
        let mut command = Command::new(interpreter);
        command.arg(run.world.script(script)).args([&url, &COUNT.to_string(), way]);
        let output = reported(run, command.env("WARMWIRE_POOL", pool));
        assert_eq!(output.number("good"), COUNT as i64, "{output:?}");
        output
    };
    let naive = program("each", "off");
    assert!(promise(&naive).0.contains("a handle for each transfer"), "{naive:?}");
    let remedy = "\n  remedy: set WARMWIRE_POOL=process in the environment, or reuse one handle\n";
    assert!(naive.stderr.contains(remedy), "{naive:?}");
    for remedied in [program("each", "process"), program("one", "off")] {
        keeps_its_promise(&naive, &remedied);
        assert!(!remedied.stderr.contains("a handle for each transfer"), "{remedied:?}");
    }
}

fn php(run: &Context) {
    handles(run, "php", "report.php", "/bytes/2000");
}

fn perl(run: &Context) {
    handles(run, "perl", "report.pl", "/body");
}

/// FTP servers behind a link.
fn ftp_servers(count: usize) -> (Vec<FtpServer>, Vec<String>) {
    let link = Link::new(ROUND_TRIP).expect("a link starts");
    let files = BTreeMap::from([("/state".to_string(), pattern(2000))]);
    let config = Config { files, link: Some(link), ..Config::default() };
    let start = || FtpServer::start(config.clone()).expect("loopback has a free port");
    let servers: Vec<FtpServer> = (0..count).map(|_| start()).collect();
    let urls = servers.iter().map(|server| server.url("/state")).collect();
    (servers, urls)
}

fn polled(run: &Context, way: &str, rounds: usize, urls: &[String], name: &str, value: &str) -> Output {
    let mut command = Command::new(run.world.python());
    command.arg(run.world.script("report.py")).args([way, &rounds.to_string()]).args(urls);
    let output = reported(run, command.env(name, value));
    assert_eq!(output.number("good"), (rounds * urls.len()) as i64, "{output:?}");
    output
}

/// Each server is polled several times, with a handle for each poll.
fn poller(run: &Context) {
    let (_servers, urls) = ftp_servers(4);
    let naive = polled(run, "each", 4, &urls, "WARMWIRE_POOL", "off");
    assert!(promise(&naive).0.contains("a handle for each transfer"), "{naive:?}");
    let remedied = polled(run, "each", 4, &urls, "WARMWIRE_POOL", "process");
    assert!(!remedied.stderr.contains("a handle for each transfer"), "{remedied:?}");
    keeps_its_promise(&naive, &remedied);
}

/// One handle fetches many files from one server.
fn files(run: &Context) {
    let (_servers, urls) = ftp_servers(1);
    let naive = polled(run, "one", 2 * COUNT, &urls, "WARMWIRE_FTP", "wait");
    assert!(promise(&naive).0.contains(" files by FTP took "), "{naive:?}");
    let remedied = polled(run, "one", 2 * COUNT, &urls, "WARMWIRE_FTP", "turns");
    keeps_its_promise(&naive, &remedied);
    assert!(!remedied.stderr.contains(" files by FTP took "), "{remedied:?}");
}

/// The server's certificate ends soon, or it does not.
fn certificate(run: &Context) {
    let requested = |leaf: Leaf| {
        let server = HttpServer::tls(leaf.server_config().expect("a usable pair"));
        let url = format!("https://localhost:{}/bytes/10", server.address().port());
        let mut command = Command::new("php");
        reported(run, command.arg(run.world.script("report.php")).args([&url, "1", "one"]))
    };
    let days = |days: u32| requested(run.world.authority.valid_for(DAY * days + DAY / 2));
    let soon = days(10);
    assert!(first_line(&soon).contains(": the server's certificate expires in 10 days"), "{soon:?}");
    assert!(soon.stderr.contains("\n  remedy: renew it\n"), "{soon:?}");
    let later = days(100);
    assert_eq!(first_line(&later), "No findings.", "{later:?}");
}

const DAY: Duration = Duration::from_secs(24 * 3600);

/// The first finding, or the line in its place.
fn first_line(output: &Output) -> &str {
    output.stderr.lines().nth(1).unwrap_or_default()
}
