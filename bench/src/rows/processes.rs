//! A shell loop that runs the tool once for each URL, over https with as many trust anchors as a system has:
//! with and without the broker that keeps the connection open.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::Instant;

use testkit::launch::Nginx;

use super::cold::anchors;
use super::requests::SMALL;
use crate::context::{Bench, Subject, output};
use crate::measure::{Case, Quantity};

const CALLS: usize = 1_000;
const A_CALL: Quantity = Quantity { name: "time a call", unit: "µs" };

/// `$1` runs of the remaining words, with the output in a file.
const LOOP: &str =
    "count=$1; shift; while [ $count -gt 0 ]; do \"$@\" || exit 1; count=$((count-1)); done > out";

pub fn measure(bench: &Bench) -> io::Result<Vec<Case>> {
    let anchors = anchors(bench)?.display().to_string();
    let nginx = Nginx::start(&bench.authority.good(), &[SMALL])?;
    let url = nginx.https(&format!("/bytes-{SMALL}"));
    let words = ["-sS", "--cacert", &anchors, &url];
    let tools: Vec<&Subject> = bench.subjects.iter().filter(|subject| subject.has_tool()).collect();
    let mut names: Vec<String> = tools.iter().map(|subject| subject.name.clone()).collect();
    let ours = tools.iter().find(|subject| subject.ours);
    names.extend(ours.map(|subject| format!("{} --pool user", subject.name)));
    names.push("true".to_owned());
    let calls = bench.count(CALLS);
    let case = Case::in_turns(format!("{calls} calls"), bench.runs(), &names, &[A_CALL], |at| {
        let (subject, tool, flags) = match tools.get(at) {
            Some(subject) => (*subject, subject.tool(), &words[..0]),
            None if at + 1 < names.len() => {
                let subject = ours.expect("it has a name");
                (*subject, subject.tool(), &["--pool", "user"][..])
            }
            None => (tools[0], Path::new("/bin/true"), &words[..0]),
        };
        let mut command = bench.command(Path::new("/bin/sh"), subject);
        command
            .current_dir(bench.directory().path())
            .env("WARMWIRE_POOL_DIR", bench.directory().path().join("pool"));
        command.args(["-c", LOOP, "loop", &calls.to_string()]).arg(tool).args(flags).args(words);
        let started = Instant::now();
        output(&mut command)?;
        let each = started.elapsed().as_secs_f64() * 1e6 / calls as f64;
        let bytes = std::fs::metadata(bench.directory().path().join("out"))?.len();
        let all = if at + 1 < names.len() { calls * SMALL } else { 0 };
        if bytes != all as u64 {
            return Err(io::Error::new(ErrorKind::InvalidData, format!("{bytes} bytes instead of {all}")));
        }
        Ok(vec![each])
    });
    if let Some(subject) = ours {
        let mut stop = bench.command(subject.tool(), subject);
        output(stop.arg("--pool-stop").env("WARMWIRE_POOL_DIR", bench.directory().path().join("pool")))?;
    }
    Ok(vec![case?])
}
