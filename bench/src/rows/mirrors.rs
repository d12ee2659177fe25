//! One large file from two mirrors of limited speed: by our tool, and by other downloaders. A tool that
//! fetches from both, and keeps both busy to the end, takes half the time.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::launch::Nginx;
use testkit::throttle::Throttle;

use super::link::{SECONDS, seconds};
use super::peers::found;
use crate::context::{Bench, Subject};
use crate::measure::Case;

/// Bytes a second of a mirror.
const RATE: u64 = 20_000_000;
const SIZE: u64 = 1_000_000_000;
/// Half a minute each at best.
const MOST_RUNS: usize = 3;

/// The tool that fetches the file, and its mode.
enum Fetcher<'a> {
    /// Ours, from both.
    Segments(&'a Subject),
    /// From the first mirror.
    Tool(&'a Subject),
    Aria2(PathBuf),
    /// It fetches pieces only from the first mirror, even if a Metalink names both.
    Wget2(PathBuf),
}

pub fn measure(bench: &Bench) -> io::Result<Vec<Case>> {
    let size = if bench.arguments.quick { SIZE / 10 } else { SIZE };
    // One server, so that both have the same file with the same ETag.
    let nginx = Nginx::start(&bench.authority.good(), &[])?;
    nginx.sparse("large", size)?;
    let server: SocketAddr = address(&nginx)?;
    let mirrors = [Throttle::start(server, RATE)?, Throttle::start(server, RATE)?];
    let urls = mirrors.each_ref().map(|mirror| format!("http://{}/large", mirror.address()));
    let mut all: Vec<(String, Fetcher)> = Vec::new();
    for subject in bench.subjects.iter().filter(|subject| subject.has_tool()) {
        match subject.ours {
            true => all.push((format!("{} --segments 4 --mirror", subject.name), Fetcher::Segments(subject))),
            false => all.push((format!("{}, from one", subject.name), Fetcher::Tool(subject))),
        }
    }
    all.extend(found("aria2c").map(|file| ("aria2".to_owned(), Fetcher::Aria2(file))));
    all.extend(found("wget2").map(|file| ("wget2, which uses one".to_owned(), Fetcher::Wget2(file))));
    let names: Vec<String> = all.iter().map(|(name, _)| name.clone()).collect();
    let (megabytes, rate) = (size / 1_000_000, RATE / 1_000_000);
    let name = format!("{megabytes} MB from two mirrors of {rate} MB/s each, {} s at best", size / RATE / 2);
    let folder = bench.directory().path().join("mirrors");
    let case = Case::in_turns(name, bench.turns().at_most(MOST_RUNS), &names, &[SECONDS], |at| {
        std::fs::create_dir_all(&folder)?;
        let figures = seconds(&mut fetching(bench, &all[at].1, &urls, &folder))?;
        let length = std::fs::metadata(folder.join("large"))?.len();
        std::fs::remove_dir_all(&folder)?;
        match length == size {
            true => Ok(figures),
            false => Err(io::Error::other(format!("{}: {length} bytes of {size}", names[at]))),
        }
    })?;
    Ok(vec![case])
}

fn address(nginx: &Nginx) -> io::Result<SocketAddr> {
    let url = nginx.http("");
    url.trim_start_matches("http://").parse().map_err(io::Error::other)
}

/// The command that fetches it as `large` into a folder.
fn fetching(bench: &Bench, way: &Fetcher, urls: &[String; 2], folder: &Path) -> Command {
    let [one, two] = urls;
    let (program, subject) = match way {
        Fetcher::Segments(subject) | Fetcher::Tool(subject) => (subject.tool(), Some(*subject)),
        Fetcher::Aria2(file) | Fetcher::Wget2(file) => (file.as_path(), None),
    };
    let mut command = Command::new(program);
    bench.prepare(&mut command, subject);
    command.current_dir(folder);
    match way {
        Fetcher::Segments(_) => command.args(["-sS", "--segments", "4", "--mirror", two, "-o", "large", one]),
        Fetcher::Tool(_) => command.args(["-sS", "-o", "large", one]),
        Fetcher::Aria2(_) => command.args([
            "-q",
            "--no-conf",
            "--file-allocation=none",
            "-s4",
            "-x2",
            "-k1M",
            "-o",
            "large",
            one,
            two,
        ]),
        Fetcher::Wget2(_) => command.args(["-q", "--chunk-size=10M", "--max-threads=4", "-O", "large", one]),
    };
    command
}
