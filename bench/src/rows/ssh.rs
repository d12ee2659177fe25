//! SFTP and SCP compared with OpenSSH's own program: a large file and a hundred small ones over a link, and
//! the client's CPU time over loopback by cipher. The link is two namespaces, which need root.

use std::io;
use std::path::Path;
use std::process::Command;

use testkit::body::pattern;
use testkit::launch::Sshd;
use testkit::temp::TempDir;

use super::link::{Direction, Link, Plain, SECONDS, SERVER, inside, seconds};
use crate::context::{Bench, Subject, output, target_directory};
use crate::measure::{CPU_PER_GB, Case};

const LARGE: usize = 50_000_000;
const SMALL: usize = 10_240;
const FILES: usize = 100;
const GIGABYTE: usize = 1_000_000_000;
/// Size moved over loopback: large enough to make the login's cost negligible.
const PART: usize = GIGABYTE / 4;
const PORT: u16 = 2222;
/// Some need more than a minute over the link, and always the same time.
const RUNS_OVER_LINK: usize = 1;
const MOST_RUNS: usize = 2;
const CIPHERS: [&str; 3] = ["chacha20-poly1305@openssh.com", "aes128-gcm@openssh.com", "aes128-ctr"];

/// Programs that move files.
#[derive(Clone, Copy)]
enum Runner<'a> {
    /// A tool with curl's flags, and the scheme.
    Tool(&'a Subject, &'static str),
    /// OpenSSH's scp, by SFTP (`-s`) or as before (`-O`).
    Scp(&'static str),
    /// TCP only.
    Raw,
}

impl Runner<'_> {
    fn name(self) -> String {
        match self {
            Runner::Tool(subject, scheme) => format!("{}, {scheme}", subject.name),
            Runner::Scp("-s") => "OpenSSH's scp, sftp".to_owned(),
            Runner::Scp(_) => "OpenSSH's scp, scp".to_owned(),
            Runner::Raw => "the link".to_owned(),
        }
    }
}

pub fn measure(bench: &Bench) -> io::Result<Vec<Case>> {
    let mut cases = over_link(bench)?;
    cases.extend(over_loopback(bench)?);
    Ok(cases)
}

/// A server, and where its clients run.
struct SshSetup {
    near: Option<String>,
    server: Sshd,
    address: &'static str,
    size: usize,
    files: TempDir,
}

impl SshSetup {
    fn new(near: Option<String>, server: Sshd, address: &'static str, size: usize) -> io::Result<SshSetup> {
        let files = TempDir::new("bench")?;
        let large = pattern(size);
        server.write("large", &large)?;
        files.write("large", &large)?;
        for number in 1..=FILES {
            server.write(&format!("small{number}"), &large[..SMALL])?;
        }
        Ok(SshSetup { near, server, address, size, files })
    }

    fn command(&self, program: impl AsRef<Path>) -> Command {
        match &self.near {
            None => Command::new(program.as_ref()),
            Some(namespace) => inside(namespace, program),
        }
    }

    fn url(&self, scheme: &str, name: &str) -> String {
        format!("{scheme}://root@{}:{}{}", self.address, self.server.port, self.server.path(name).display())
    }

    fn file(&self, name: &str) -> String {
        self.files.path().join(name).display().to_string()
    }

    fn key(&self) -> String {
        self.server.path("user_ed25519").display().to_string()
    }

    fn tool(&self, subject: &Subject, words: &[&str]) -> Command {
        let mut command = self.command(subject.tool());
        let key = self.key();
        command.args(["-q", "-s", "-S", "-k", "--key", &key, "--pubkey", &format!("{key}.pub")]).args(words);
        command
    }

    /// Moves the large file.
    fn large(&self, bench: &Bench, runner: Runner, way: Direction, cipher: Option<&str>) -> Command {
        let (local, large) = (self.file("out"), self.file("large"));
        let mut command = match (runner, way) {
            (Runner::Tool(subject, scheme), Direction::Down) => {
                self.tool(subject, &["-o", &local, &self.url(scheme, "large")])
            }
            (Runner::Tool(subject, scheme), Direction::Up) => {
                self.tool(subject, &["-T", &large, &self.url(scheme, "stored")])
            }
            (Runner::Scp(flag), _) => {
                let mut command = self.command("scp");
                command.args([flag, "-q", "-P", &self.server.port.to_string(), "-i", &self.key()]);
                command.args(["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]);
                command.args(cipher.map(|cipher| format!("-oCiphers={cipher}")));
                let remote =
                    |name: &str| format!("root@{}:{}", self.address, self.server.path(name).display());
                match way {
                    Direction::Down => command.args([remote("large"), local]),
                    Direction::Up => command.args([large, remote("stored")]),
                };
                command
            }
            (Runner::Raw, way) => {
                let mut command = self.command("python3");
                command.args(Plain::client(self.address, self.size, way));
                command
            }
        };
        bench.prepare(&mut command, None);
        command
    }
}

fn tools(bench: &Bench) -> impl Iterator<Item = &Subject> {
    bench.subjects.iter().filter(|subject| subject.has_tool())
}

fn over_link(bench: &Bench) -> io::Result<Vec<Case>> {
    let directory = target_directory().join("bench");
    std::fs::create_dir_all(&directory)?;
    let link = Link::start(&directory)?;
    let server = Sshd::start_in(&link.far, SERVER, PORT, "")?;
    let place = SshSetup::new(Some(link.near.clone()), server, SERVER, bench.count(LARGE))?;
    let _plain = Plain::start(&link, place.size)?;
    let runs = bench.turns().at_most(RUNS_OVER_LINK);
    let mut cases = Vec::new();
    for (way, name) in [(Direction::Down, "down"), (Direction::Up, "up")] {
        let by = tools(bench).flat_map(|subject| ["sftp", "scp"].map(|scheme| Runner::Tool(subject, scheme)));
        let runners: Vec<Runner> = by.chain([Runner::Scp("-s"), Runner::Scp("-O"), Runner::Raw]).collect();
        let names: Vec<String> = runners.iter().map(|runner| runner.name()).collect();
        let name = format!("{} MB {name}", place.size / 1_000_000);
        cases.push(Case::in_turns(name, runs, &names, &[SECONDS], |at| {
            seconds(&mut place.large(bench, runners[at], way, None))
        })?);
    }
    let subjects: Vec<&Subject> = tools(bench).collect();
    let names: Vec<String> = subjects.iter().map(|subject| format!("{}, sftp", subject.name)).collect();
    let files = bench.count(FILES);
    let (url, into) = (place.url("sftp", &format!("small[1-{files}]")), place.file("small#1"));
    for (flags, how) in [(&["-Z"][..], "at once"), (&[], "in turn")] {
        let name = format!("{files} files of 10 KB {how}");
        cases.push(Case::in_turns(name, runs, &names, &[SECONDS], |at| {
            let words = [flags, &["-o", &into, &url]].concat();
            let mut command = place.tool(subjects[at], &words);
            bench.prepare(&mut command, None);
            seconds(&mut command)
        })?);
    }
    Ok(cases)
}

fn over_loopback(bench: &Bench) -> io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    for cipher in CIPHERS {
        let server = Sshd::start(&format!("Ciphers {cipher}"))?;
        let place = SshSetup::new(None, server, "127.0.0.1", bench.count(PART))?;
        for (way, name) in [(Direction::Down, "down"), (Direction::Up, "up")] {
            // By SFTP the system's takes minutes to store a gigabyte.
            let by = tools(bench).filter(|subject| subject.ours);
            let by = by.flat_map(|subject| ["sftp", "scp"].map(|scheme| Runner::Tool(subject, scheme)));
            let runners: Vec<Runner> = by.chain([Runner::Scp("-s"), Runner::Scp("-O")]).collect();
            let names: Vec<String> = runners.iter().map(|runner| runner.name()).collect();
            let runs = bench.turns().at_most(MOST_RUNS);
            cases.push(Case::in_turns(format!("{cipher} {name}"), runs, &names, &[CPU_PER_GB], |at| {
                let spent = cpu_ms(&place.large(bench, runners[at], way, Some(cipher)))?;
                Ok(vec![spent * (GIGABYTE / place.size) as f64])
            })?);
        }
    }
    Ok(cases)
}

/// CPU time of a command and its children: measured by a shell.
fn cpu_ms(command: &Command) -> io::Result<f64> {
    let mut shell = Command::new("bash");
    shell.args(["-c", "\"$@\" > /dev/null && times", "bash"]).arg(command.get_program());
    shell.args(command.get_args());
    let text = output(shell.env_remove("LD_LIBRARY_PATH"))?;
    let seconds = |word: &str| {
        let (minutes, seconds) = word.strip_suffix('s')?.split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    let children = text.lines().nth(1).unwrap_or_default();
    Ok(children.split_whitespace().filter_map(seconds).sum::<f64>() * 1000.0)
}
