//! GETs while other processes want the processors. What gives up the processor, or sleeps more often than it
//! has to, waits for the others each time.

use std::io;
use std::process::{Child, Command, Stdio};

use testkit::launch::Nginx;

use super::requests::{LARGE, SMALL, Work};
use crate::context::Bench;
use crate::measure::{CPU, Case, TIME};

/// Processes that never wait, for each processor.
const FOR_EACH: usize = 2;

/// Processes that are killed at the end of the row.
struct Others(Vec<Child>);

impl Others {
    fn start() -> io::Result<Others> {
        let mut others = Others(Vec::new());
        for _ in 0..FOR_EACH * std::thread::available_parallelism()?.get() {
            let mut shell = Command::new("sh");
            others.0.push(shell.args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn()?);
        }
        Ok(others)
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        for other in &mut self.0 {
            let _ = other.kill();
            let _ = other.wait();
        }
    }
}

pub fn measure(bench: &Bench) -> io::Result<Vec<Case>> {
    let nginx = Nginx::start(&bench.authority.good(), &[SMALL, LARGE])?;
    let _others = Others::start()?;
    let mut cases = Vec::new();
    for (size, count) in [(SMALL, 400), (LARGE, 200)] {
        let path = format!("/bytes-{size}");
        for (name, url, version) in [
            ("http", nginx.http(&path), None),
            ("https", nginx.https(&path), None),
            ("HTTP/2", nginx.https(&path), Some("HTTP2")),
        ] {
            let work = Work::new("many", url, Some(size)).at_once(1).over(version);
            let (name, count) = (format!("{name}, {size} bytes"), bench.count(count));
            cases.push(Case::in_turns(name, bench.turns(), &bench.names(), &[TIME, CPU], |at| {
                let figures = work.run(bench, &bench.subjects[at], count)?;
                Ok(vec![figures[1], figures[0]])
            })?);
        }
    }
    Ok(cases)
}
