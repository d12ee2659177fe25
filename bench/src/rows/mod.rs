//! The registry of what can be measured. A row is an entry here and a function that returns its cases; each
//! kind of program has its own file.

mod busy;
mod cipher;
mod cold;
mod crates;
mod crowd;
mod family;
mod ftp;
mod languages;
mod large;
mod link;
pub mod mail;
mod mirrors;
mod peers;
mod pool;
mod processes;
pub mod requests;
mod slow;
mod ssh;
mod threads;
mod tool;

use std::io::{self, ErrorKind};
use std::time::Instant;

use crate::arguments::Arguments;
use crate::context::Bench;
use crate::measure::Case;
use crate::quiet;
use crate::report::Report;

/// A thing to measure.
pub struct Row {
    /// By which it is chosen.
    pub name: &'static str,
    /// The user's task.
    pub about: &'static str,
    /// The limit for comparison: what would be as fast as possible.
    pub limit: &'static str,
    measure: fn(&Bench) -> io::Result<Vec<Case>>,
    /// Client and servers run on a processor each.
    apart: bool,
}

impl Row {
    /// For clients with one thread, whose servers run elsewhere.
    const fn apart(mut self) -> Row {
        self.apart = true;
        self
    }
}

/// A row that was measured, or why it was not.
pub struct Outcome {
    pub row: &'static Row,
    pub cases: Result<Vec<Case>, String>,
}

const fn row(
    name: &'static str,
    about: &'static str,
    limit: &'static str,
    measure: fn(&Bench) -> io::Result<Vec<Case>>,
) -> Row {
    Row { name, about, limit, measure, apart: false }
}

/// All rows, in the order of the report.
pub const ROWS: &[Row] = &[
    row("small", "GETs over one kept handle", "the system calls of such a GET alone (bare)", requests::small)
        .apart(),
    row(
        "ways",
        "one kept request by other system calls, without any library",
        "those that the library makes (look, send, poll, receive)",
        requests::ways,
    )
    .apart(),
    row(
        "multi",
        "GETs of 1 KB, 1,000 at once on one multi handle",
        "three system calls a request",
        requests::multi,
    )
    .apart(),
    row(
        "fresh",
        "a handle for each request, from 1, 4 and 16 threads",
        "a kept handle for each thread",
        threads::measure,
    ),
    row(
        "crowd",
        "many transfers at once in one multi handle, most of which wait; resident memory without the pages \
         of files, which processes share",
        "the same with ten transfers, and a start against its system calls alone (bare)",
        crowd::measure,
    )
    .apart(),
    row(
        "large",
        "one large file, down and up",
        "a process that sends and one that receives, nothing else; TLS against its cipher alone. On loopback \
         the kernel does the receiver's work for a packet in the context of either process: only the sum of \
         both is a figure of the client",
        large::measure,
    ),
    row(
        "busy",
        "GETs over one kept handle, beside two processes for each processor that never wait",
        "the distribution's library",
        busy::measure,
    ),
    row(
        "slow",
        "uploads over a link of 100 Mbit/s and 100 ms",
        "the link's own time, by one connection of TCP's",
        slow::measure,
    ),
    row(
        "cold",
        "the first byte over https on a cold process that trusts 150 anchors",
        "a third of the distribution's CPU from hello to request",
        cold::measure,
    )
    .apart(),
    row(
        "family",
        "connects to a host whose IPv6 address is silent, over a link of 100 ms",
        "its IPv4 address alone",
        family::measure,
    ),
    row("http2", "GETs and PUTs over HTTP/2", "the same over HTTP/1.1", requests::streams).apart(),
    row(
        "http3",
        "GETs and PUTs over each version of HTTP from one server",
        "the same over HTTP/1.1, and quic-go's client",
        requests::versions,
    ),
    row("tool", "the command line tool", "the start of a process (true)", tool::measure).apart(),
    row(
        "mirrors",
        "one file of 1 GB from two mirrors limited to 20 MB/s each",
        "both mirrors' rate together",
        mirrors::measure,
    ),
    row(
        "processes",
        "a process for each request, with and without the broker that keeps the connection",
        "one kept handle, and the start of a process (true)",
        processes::measure,
    ),
    row(
        "ftp",
        "small files by FTP from one server and from 60, over a link",
        "one round trip a file",
        ftp::measure,
    ),
    row(
        "ssh",
        "files by SFTP and SCP over a link of 100 Mbit/s and 100 ms, and their CPU over loopback",
        "the link's own time, and OpenSSH's programs",
        ssh::measure,
    ),
    row("mail", "mails sent and fetched over a link of 20 ms", "one round trip a mail", mail::measure),
    row(
        "perl",
        "what a Perl program notices, beside the language's own clients",
        "Hijk, which parses next to nothing",
        languages::perl,
    )
    .apart(),
    row(
        "php",
        "what a PHP program notices, beside the language's own client",
        "one kept handle",
        languages::php,
    ),
    row("peers", "the same GETs by other people's clients", "the fastest of them", peers::measure),
    row("builds", "a program on each of Rust's HTTP crates, compiled", "the smallest", crates::builds),
    row("crates", "small GETs by these crates", "the fastest of them", crates::measure),
    row(
        "pool",
        "a connection taken from a pool and given back",
        "the same with ten connections",
        pool::measure,
    ),
];

/// Prints what can be measured.
pub fn list() -> io::Result<()> {
    for Row { name, about, limit, .. } in ROWS {
        println!("{name:<8} {about}; held against {limit}");
    }
    Ok(())
}

/// Measures the selected rows, and writes the report after each row, so that an interrupted run keeps its
/// results.
pub fn run(arguments: Arguments) -> io::Result<()> {
    let bench = Bench::new(arguments)?;
    let report = Report::new(bench.arguments.out.clone());
    let chosen: Vec<&Row> = ROWS.iter().filter(|row| bench.arguments.wants(row.name)).collect();
    if chosen.is_empty() {
        return Err(io::Error::other("no row has such a name; --list shows them"));
    }
    let (mut outcomes, mut failed) = (Vec::new(), Vec::new());
    for row in chosen {
        eprintln!("{}: {}", row.name, row.about);
        let started = Instant::now();
        quiet::begin_row(row.apart);
        let cases = match (row.measure)(&bench) {
            Ok(cases) => Ok(cases),
            // A row that needs root or a missing program is left out with a message.
            Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::NotFound) => {
                eprintln!("  left out: {error}");
                Err(error.to_string())
            }
            // A failed row does not stop the others, and is reported at the end.
            Err(error) => {
                eprintln!("  failed: {error}");
                failed.push(row.name);
                Err(format!("failed: {error}"))
            }
        };
        eprintln!("  {} took {:.0} s", row.name, started.elapsed().as_secs_f64());
        outcomes.push(Outcome { row, cases });
        report.write(&outcomes)?;
    }
    if bench.arguments.readme {
        report.write_readme()?;
    }
    report.print(&outcomes);
    match failed.is_empty() {
        true => Ok(()),
        false => Err(io::Error::other(format!("failed: {}", failed.join(", ")))),
    }
}
