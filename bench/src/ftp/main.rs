//! `make bench-ftp`: small files by FTP over a slow link, the same C program on the distribution's libcurl and on ours.
//! Writes target/bench/ftp.json, a list of {subject, mode, rtt_ms, servers, p50_ms, p99_ms, failed}, and prints a table
//! of milliseconds per file.
//!
//! The servers are vsftpd, each a process of its own in a namespace behind a round trip of 20 ms; the client is in another.
//! Root only.
//!
//! usage: `warmwire-bench-ftp --ours DIR [--files N] [--rtt MS]`

mod link;

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use link::Link;
use testkit::launch::Vsftpd;

/// Bytes of the file.
const SIZE: usize = 2048;
const PARALLEL: usize = 60;

/// How a program goes about it.
struct Mode {
    subject: &'static str,
    name: &'static str,
    /// A handle for each file, or one kept.
    how: &'static str,
    /// warmwire_ftp_pipeline(), "-" for a program that does not know of it.
    level: &'static str,
    process_pool: bool,
}

const MODES: [Mode; 7] = [
    Mode { subject: "libcurl", name: "naive", how: "naive", level: "-", process_pool: false },
    Mode { subject: "libcurl", name: "kept", how: "kept", level: "-", process_pool: false },
    Mode { subject: "ours", name: "naive, process pool", how: "naive", level: "-", process_pool: true },
    Mode { subject: "ours", name: "kept, waiting as curl", how: "kept", level: "0", process_pool: false },
    Mode { subject: "ours", name: "kept, default", how: "kept", level: "-", process_pool: false },
    Mode { subject: "ours", name: "kept, pipelined", how: "kept", level: "2", process_pool: false },
    Mode { subject: "ours", name: "kept, pipelined in turn", how: "kept", level: "3", process_pool: false },
];

struct Row {
    mode: &'static Mode,
    servers: usize,
    p50_ms: f64,
    p99_ms: f64,
    failed: usize,
}

struct Arguments {
    ours: PathBuf,
    files: usize,
    rtt_ms: u64,
}

fn main() -> ExitCode {
    let result = parse(std::env::args().skip(1)).and_then(|arguments| run(&arguments));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-ftp: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> io::Result<Arguments> {
    let (mut ours, mut files, mut rtt_ms) = (None, 60, 20);
    let bad = |text: String| io::Error::other(text);
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| bad(format!("{word} wants a value")))?;
        let number = || value.parse().map_err(|_| bad(format!("{word} wants a number")));
        match &*word {
            "--ours" => ours = Some(std::fs::canonicalize(&value)?),
            "--files" => files = number()?,
            "--rtt" => rtt_ms = number()? as u64,
            _ => return Err(bad(format!("unknown flag {word}"))),
        }
    }
    let ours = ours.ok_or_else(|| bad("--ours DIR is missing".into()))?;
    Ok(Arguments { ours, files, rtt_ms })
}

fn run(arguments: &Arguments) -> io::Result<()> {
    let directory = output_directory();
    std::fs::create_dir_all(&directory)?;
    let program = directory.join("ftp");
    let source = root().join("bench/programs/ftp.c");
    output(
        Command::new("cc")
            .args(["-O2", "-Wall", "-Wextra", "-Werror", "-o"])
            .arg(&program)
            .arg(source)
            .args(["-lcurl", "-lpthread", "-ldl"]),
    )?;
    let link = Link::start(Duration::from_millis(arguments.rtt_ms), &directory)?;
    let servers: Vec<Vsftpd> = (0..PARALLEL)
        .map(|index| Vsftpd::start_in(&link.far, link::SERVER, 2100 + index as u16, &[SIZE]))
        .collect::<Result<_, _>>()?;
    let urls: Vec<String> = servers.iter().map(|server| server.url(&format!("/bytes-{SIZE}"))).collect();
    let mut rows = Vec::new();
    for count in [1, PARALLEL] {
        for mode in &MODES {
            eprintln!("{} {}, {count} at a time", mode.subject, mode.name);
            rows.push(measure(arguments, &link, &program, mode, &urls[..count])?);
        }
    }
    table(&rows);
    let path = directory.join("ftp.json");
    std::fs::write(&path, json(&rows, arguments.rtt_ms))?;
    println!("{}", path.display());
    Ok(())
}

fn measure(
    arguments: &Arguments,
    link: &Link,
    program: &Path,
    mode: &'static Mode,
    urls: &[String],
) -> io::Result<Row> {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", &link.near]).arg(program);
    command.args([mode.how, mode.level, &arguments.files.to_string(), &SIZE.to_string()]).args(urls);
    command.env_remove("LD_LIBRARY_PATH").env_remove("WARMWIRE_FTP").env_remove("WARMWIRE_POOL");
    if mode.subject == "ours" {
        command.env("LD_LIBRARY_PATH", &arguments.ours);
    }
    if mode.process_pool {
        command.env("WARMWIRE_POOL", "process");
    }
    let text = output(&mut command)?;
    let mut times: Vec<f64> = text.lines().filter_map(|line| line.parse().ok()).collect();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied().unwrap_or(f64::NAN);
    let failed = urls.len() * arguments.files - times.len();
    Ok(Row { mode, servers: urls.len(), p50_ms: at(0.5), p99_ms: at(0.99), failed })
}

fn table(rows: &[Row]) {
    println!("ms per file of {SIZE} bytes; libcurl's kept handle = 1");
    println!("{:<8} {:<24} {:>7} {:>8} {:>8} {:>6} {:>6}", "", "", "servers", "p50", "p99", "failed", "");
    for row in rows {
        let is_base = |other: &&Row| {
            other.servers == row.servers && (other.mode.subject, other.mode.name) == ("libcurl", "kept")
        };
        let ratio = rows.iter().find(is_base).map_or(f64::NAN, |base| row.p50_ms / base.p50_ms);
        let Row { mode, servers, p50_ms, p99_ms, failed } = row;
        println!(
            "{:<8} {:<24} {servers:>7} {p50_ms:>8.1} {p99_ms:>8.1} {failed:>6} {ratio:>6.2}",
            mode.subject, mode.name
        );
    }
}

fn json(rows: &[Row], rtt_ms: u64) -> String {
    let lines = rows.iter().map(|row| {
        let Row { mode, servers, p50_ms, p99_ms, failed } = row;
        format!(
            "  {{\"subject\": \"{}\", \"mode\": \"{}\", \"rtt_ms\": {rtt_ms}, \"servers\": {servers}, \
             \"p50_ms\": {p50_ms:.3}, \"p99_ms\": {p99_ms:.3}, \"failed\": {failed}}}",
            mode.subject, mode.name
        )
    });
    format!("[\n{}\n]\n", lines.collect::<Vec<_>>().join(",\n"))
}

/// What a program prints; how it ended badly otherwise.
fn output(command: &mut Command) -> io::Result<String> {
    let output = command.output().map_err(|error| io::Error::other(format!("{command:?}: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(io::Error::other(format!("{command:?} ended with {}: {said}", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn output_directory() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).unwrap_or_else(|| "target".into());
    root().join(target).join("bench")
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}
