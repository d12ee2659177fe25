//! The command line tool: the cost of a start, of one transfer, and of ten thousand in one command.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use testkit::launch::Nginx;

use super::requests::SMALL;
use crate::context::{Bench, Subject, numbers};
use crate::measure::{CPU, Case, TIME};

pub fn measure(bench: &Bench) -> io::Result<Vec<Case>> {
    let nginx = Nginx::start(&bench.authority.good(), &[SMALL])?;
    let file = bench.directory().write("file", testkit::body::pattern(SMALL))?;
    let (file, ca) = (format!("file://{}", file.display()), bench.ca().display().to_string());
    let (http, https) = (nginx.http(&format!("/bytes-{SMALL}")), nginx.https(&format!("/bytes-{SMALL}")));
    let urls = bench.count(10_000);
    let list = bench.directory().write("urls", list(&http, urls))?.display().to_string();
    let starts: [(&str, Vec<&str>, usize); 5] = [
        ("-V", vec!["-V"], 100),
        ("file://, 1 KB", vec!["-s", &file], 100),
        ("http, 1 KB", vec!["-s", &http], 100),
        ("https, 1 KB", vec!["-s", "--cacert", &ca, &https], 100),
        ("-Z with many URLs", vec!["-s", "-Z", "-K", &list], 10),
    ];
    let subjects: Vec<&Subject> = bench.subjects.iter().filter(|subject| subject.has_tool()).collect();
    let mut names: Vec<String> = subjects.iter().map(|subject| subject.name.clone()).collect();
    let program = bench.program("starts")?;
    let mut cases = Vec::new();
    for (name, words, count) in &starts {
        let all =
            if *name == "-Z with many URLs" { format!("-Z with {urls} URLs") } else { (*name).to_owned() };
        let with_true = *name == "-V";
        names.truncate(subjects.len());
        names.extend(with_true.then(|| "true".to_owned()));
        let count = bench.count(*count).to_string();
        cases.push(Case::in_turns(all, bench.turns(), &names, &[CPU, TIME], |at| {
            let tool = subjects.get(at).map_or(Path::new("/bin/true"), |subject| subject.tool());
            let mut command = bench.command(&program, subjects.get(at).unwrap_or(&subjects[0]));
            numbers(command.arg(&count).arg(tool).args(words))
        })?);
    }
    Ok(cases)
}

/// A config file with so many URLs whose bodies are discarded.
fn list(url: &str, count: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        let _ = writeln!(text, "url = \"{url}?{number}\"\noutput = /dev/null");
    }
    text
}
