//! GETs and PUTs of the same few files: over one kept handle, in parallel, over HTTP/2 and HTTP/3.

use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::process::Command;

use testkit::launch::{Http2Kind, Http2Server, Nginx};

use crate::context::{Bench, OURS, Subject, numbers, output, target_directory};
use crate::measure::{ALLOCATIONS, CALLS, CPU, Case, INSTRUCTIONS, PEAK, Quantity, TIME, Turns};
use crate::valgrind::{allocations, each, instructions, under};

pub const SMALL: usize = 1024;
pub const LARGE: usize = 335_114;
const HUGE: usize = 100_000_000;
/// Size of an upload, and of one through caddy, whose origin stores what arrives.
const UPLOAD: usize = 50_000_000;
const SENT: usize = 20_000_000;

/// A program with its arguments; the count of requests is between the two parts.
pub(super) struct Work {
    program: &'static str,
    before: Vec<String>,
    after: Vec<String>,
    /// The HTTP version with streams: HTTP2 or HTTP3.
    version: Option<&'static str>,
    /// The length of each reply's body, where that is known.
    received: Option<usize>,
}

impl Work {
    pub(super) fn new(program: &'static str, url: String, received: Option<usize>) -> Work {
        Work { program, before: vec![url], after: Vec::new(), version: None, received }
    }

    pub(super) fn at_once(mut self, parallel: usize) -> Work {
        self.after.push(parallel.to_string());
        self
    }

    /// Chooses the HTTP version with streams: HTTP2 or HTTP3.
    pub(super) fn over(mut self, version: Option<&'static str>) -> Work {
        self.version = version;
        self
    }

    fn command(&self, bench: &Bench, subject: &Subject, count: usize) -> io::Result<Command> {
        let program = bench.program(self.program)?;
        let mut command = Command::new(program);
        bench.prepare(&mut command, Some(subject));
        command.args(&self.before).arg(count.to_string()).args(&self.after);
        if let Some(version) = self.version {
            command.env(version, "1");
        }
        Ok(command)
    }

    pub(super) fn run(&self, bench: &Bench, subject: &Subject, count: usize) -> io::Result<Vec<f64>> {
        let figures = numbers(&mut self.command(bench, subject, count)?)?;
        match (figures[..].get(2), self.received) {
            (None, _) => Err(io::Error::other(format!("{} said {figures:?}", self.program))),
            (Some(got), Some(size)) if *got != size as f64 => {
                Err(io::Error::other(format!("{got} bytes a request instead of {size}")))
            }
            _ => Ok([&figures[..2], &figures[3..]].concat()),
        }
    }

    fn case(&self, bench: &Bench, name: &str, count: usize, quantities: &[Quantity]) -> io::Result<Case> {
        let count = bench.count(count);
        Case::in_turns(name, bench.turns(), &bench.names(), quantities, |at| {
            self.run(bench, &bench.subjects[at], count)
        })
    }

    /// Adds the figures that are counted once: two runs of different length, which removes start and end.
    fn count(&self, bench: &Bench, case: &mut Case, lengths: (usize, usize)) -> io::Result<()> {
        let subject = |at: usize| bench.subjects.get(at).unwrap_or(&bench.subjects[0]);
        case.add(CALLS, |at| each(lengths, |count| self.calls(bench, subject(at), count)))?;
        case.add(INSTRUCTIONS, |at| {
            each(lengths, |n| instructions(&self.command(bench, subject(at), n)?))
        })?;
        case.add(ALLOCATIONS, |at| each(lengths, |n| allocations(&self.command(bench, subject(at), n)?)))
    }

    fn calls(&self, bench: &Bench, subject: &Subject, count: usize) -> io::Result<f64> {
        let summary = bench.directory().path().join("strace");
        let file = summary.display().to_string();
        let counter = ["strace", "-f", "-c", "-U", "calls,name", "-o", &file];
        output(&mut under(&self.command(bench, subject, count)?, &counter))?;
        let text = std::fs::read_to_string(&summary)?;
        // Two columns, calls and name; lines of dashes and the total are skipped.
        let calls = text.lines().filter_map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words.get(1).filter(|name| **name != "total")?;
            words[0].parse::<f64>().ok()
        });
        Ok(calls.sum())
    }
}

fn nginx(bench: &Bench) -> io::Result<Nginx> {
    Nginx::start(&bench.authority.good(), &[SMALL, LARGE])
}

/// One kept handle, with the bare system calls of an http: GET for comparison.
pub fn small(bench: &Bench) -> io::Result<Vec<Case>> {
    let nginx = nginx(bench)?;
    let mut cases = Vec::new();
    for (secure, size, count) in
        [(false, SMALL, 10_000), (false, LARGE, 2_000), (true, SMALL, 5_000), (true, LARGE, 1_000)]
    {
        let path = format!("/bytes-{size}");
        let (scheme, url) = if secure { ("https", nginx.https(&path)) } else { ("http", nginx.http(&path)) };
        let work = Work::new("gets", url.clone(), Some(size));
        let bare = Work::new("bare", url, Some(size));
        let mut names = bench.names();
        names.extend((!secure).then(|| "bare".to_owned()));
        let count = bench.count(count);
        let name = format!("{scheme}, {size} bytes");
        let mut case =
            Case::in_turns(&*name, bench.turns(), &names, &[CPU, TIME], |at| match bench.subjects.get(at) {
                Some(subject) => work.run(bench, subject, count),
                None => bare.run(bench, &bench.subjects[0], count),
            })?;
        // Counted for the libraries only.
        let bare = (!secure).then(|| case.lines.pop()).flatten();
        work.count(bench, &mut case, (20, 80))?;
        case.lines.extend(bare);
        cases.push(case);
    }
    Ok(cases)
}

/// The words of bench/programs/ways.c; the library's own order is the first.
const WAYS: [&str; 6] = [
    "look-send-poll-receive",
    "send-poll-receive",
    "look-send-try",
    "look-send-receive",
    "send-receive",
    "ring",
];

/// The gain by other system calls. io_uring is left out if the kernel does not offer it.
pub fn ways(bench: &Bench) -> io::Result<Vec<Case>> {
    let nginx = nginx(bench)?;
    let (program, url) = (bench.program("ways")?, nginx.http("/taken"));
    let run = |way: &str, count: usize| numbers(Command::new(&program).args([way, &url, &count.to_string()]));
    let names: Vec<String> = WAYS.into_iter().filter(|way| run(way, 1).is_ok()).map(str::to_owned).collect();
    let count = bench.count(10_000);
    let case = Case::in_turns("http, a few bytes", bench.turns(), &names, &[CPU, TIME], |at| {
        run(&names[at], count)
    })?;
    Ok(vec![case])
}

/// A thousand at once.
pub fn multi(bench: &Bench) -> io::Result<Vec<Case>> {
    let nginx = nginx(bench)?;
    let work = Work::new("many", nginx.http(&format!("/bytes-{SMALL}")), Some(SMALL)).at_once(1000);
    let mut case = work.case(bench, "http, 1,000 at once", 20_000, &[CPU, TIME, PEAK])?;
    case.add(CALLS, |at| {
        let subject = &bench.subjects[at];
        each((1000, 5000), |count| work.calls(bench, subject, count))
    })?;
    Ok(vec![case])
}

/// HTTP/2, with HTTP/1.1 for comparison if something is sent.
pub fn streams(bench: &Bench) -> io::Result<Vec<Case>> {
    let server = Http2Server::start(Http2Kind::Nginx, &bench.authority.good(), &[SMALL, LARGE, HUGE])?;
    let rows = [
        (1, SMALL, 5_000),
        (10, SMALL, 10_000),
        (100, SMALL, 20_000),
        (1, LARGE, 1_000),
        (10, LARGE, 1_000),
        (100, LARGE, 2_000),
    ];
    let mut cases = Vec::new();
    let get = |size: usize, parallel| {
        let url = server.https(&format!("/bytes-{size}"));
        Work { version: Some("HTTP2"), ..Work::new("many", url, Some(size)).at_once(parallel) }
    };
    for (parallel, size, count) in rows {
        let name = format!("{size} bytes, {parallel} at once");
        cases.push(get(size, parallel).case(bench, &name, count, &[CPU, TIME, PEAK])?);
    }
    if !bench.arguments.quick {
        // Long, and looked at for its memory.
        let work = get(HUGE, 50);
        let name = format!("{HUGE} bytes, 50 at once");
        cases.push(Case::in_turns(&*name, Turns::ONCE, &bench.names(), &[CPU, TIME, PEAK], |at| {
            work.run(bench, &bench.subjects[at], 50)
        })?);
    }
    for (name, version) in [("PUT of 50 MB, HTTP/1.1", None), ("PUT of 50 MB, HTTP/2", Some("HTTP2"))] {
        let mut work = Work { version, ..Work::new("many", server.https("/put/file"), None).at_once(1) };
        work.after.push(UPLOAD.to_string());
        cases.push(work.case(bench, name, 4, &[CPU, TIME])?);
    }
    Ok(cases)
}

/// Each version of HTTP with one server (caddy), on our library: the system's has no HTTP/3. quic-go's client
/// for comparison.
pub fn versions(bench: &Bench) -> io::Result<Vec<Case>> {
    let found = bench.subjects.iter().find(|subject| subject.ours);
    let ours = found.ok_or_else(|| io::Error::new(ErrorKind::NotFound, "no library of ours is measured"))?;
    let quic_go = quic_go()?;
    let server = Http2Server::start(Http2Kind::CaddyQuic, &bench.authority.good(), &[SMALL, HUGE])?;
    let versions = [("HTTP/1.1", None), ("HTTP/2", Some("HTTP2")), ("HTTP/3", Some("HTTP3"))];
    let mut names: Vec<String> = versions.iter().map(|(name, _)| format!("{OURS}, {name}")).collect();
    names.push("quic-go's client".to_owned());
    let case = |name: &str, path: &str, received: Option<usize>, (count, parallel): (usize, usize)| {
        let count = bench.count(count);
        let work = |version| {
            let work = Work::new("many", server.https(path), received).at_once(parallel);
            let mut work = Work { version, ..work };
            work.after.extend(received.is_none().then(|| SENT.to_string()));
            work
        };
        Case::in_turns(name, bench.turns(), &names, &[CPU, TIME, PEAK], |at| match versions.get(at) {
            Some((_, version)) => work(*version).run(bench, ours, count),
            None => {
                let Work { before, after, .. } = work(None);
                let mut command = Command::new(&quic_go);
                bench.prepare(&mut command, None);
                let figures = numbers(command.arg("client").args(before).arg(count.to_string()).args(after))?;
                match figures[..] {
                    [cpu, wall, _, peak] => Ok(vec![cpu, wall, peak]),
                    _ => Err(io::Error::other(format!("what is {figures:?}"))),
                }
            }
        })
    };
    let small = format!("/bytes-{SMALL}");
    Ok(vec![
        case("GET of 1 KB, one after the other", &small, Some(SMALL), (5_000, 1))?,
        case("GET of 1 KB, 100 at once", &small, Some(SMALL), (20_000, 100))?,
        case("GET of 100 MB", &format!("/bytes-{HUGE}"), Some(HUGE), (10, 1))?,
        case("PUT of 20 MB", "/sum", None, (10, 1))?,
    ])
}

/// Its program, which tests/install.sh builds.
fn quic_go() -> io::Result<PathBuf> {
    let program = target_directory().join("quic-go/server");
    match program.exists() {
        true => Ok(program),
        false => {
            Err(io::Error::new(ErrorKind::NotFound, "tests/install.sh quic_servers builds quic-go's client"))
        }
    }
}
