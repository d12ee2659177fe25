//! Uploads over a slow link with a high delay, which needs root: the fastest client is one that keeps the
//! link full.

use std::io;

use testkit::launch::Nginx;

use super::link::{Direction, Link, Plain, SECONDS, SERVER, inside, seconds};
use crate::context::{Bench, Subject};
use crate::measure::Case;

const LARGE: usize = 50_000_000;
const SMALL: usize = 10_240;
const FILES: usize = 20;
const PORTS: (u16, u16) = (8080, 8443);
/// Five seconds each at best.
const MOST_RUNS: usize = 3;

pub fn measure(bench: &Bench) -> io::Result<Vec<Case>> {
    let link = Link::start(bench.directory().path())?;
    let _nginx = Nginx::start_in(&link.far, SERVER, PORTS, &bench.authority.good())?;
    let size = bench.count(LARGE);
    let plain = Plain::start(&link, size)?;
    let large = bench.directory().write("large", vec![b'u'; size])?.display().to_string();
    let small = bench.directory().write("small", vec![b'u'; SMALL])?.display().to_string();
    let subjects: Vec<&Subject> = bench.subjects.iter().filter(|subject| subject.has_tool()).collect();
    let runs = bench.turns().at_most(MOST_RUNS);
    // The certificate is for a name.
    let (http, https) = PORTS;
    let resolved = ["--resolve".to_owned(), format!("localhost:{https}:{SERVER}")];
    let servers =
        [("http", format!("http://{SERVER}:{http}")), ("https", format!("https://localhost:{https}"))];
    let mut cases = Vec::new();
    for (scheme, server) in &servers {
        let mut names: Vec<String> = subjects.iter().map(|subject| subject.name.clone()).collect();
        let tool = |at: usize| {
            let mut command = inside(&link.near, subjects[at].tool());
            command.args(["-sSf", "--cacert"]).arg(bench.ca()).args(&resolved);
            bench.prepare(&mut command, Some(subjects[at]));
            command
        };
        let files = bench.count(FILES);
        cases.push(Case::in_turns(
            format!("{scheme}, {files} files of 10 KB in turn"),
            runs,
            &names,
            &[SECONDS],
            |at| {
                let mut command = tool(at);
                command.args(["-T", &small, &format!("{server}/put/small[1-{files}]")]);
                seconds(&mut command)
            },
        )?);
        names.push("the link".to_owned());
        let name = format!("{scheme}, {} MB", size / 1_000_000);
        cases.push(Case::in_turns(name, runs, &names, &[SECONDS], |at| match subjects.get(at) {
            Some(_) => seconds(tool(at).args(["-T", &large, &format!("{server}/put/large")])),
            None => seconds(inside(&link.near, "python3").args(Plain::client(SERVER, size, Direction::Up))),
        })?);
    }
    drop(plain);
    Ok(cases)
}
