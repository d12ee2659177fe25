//! The mails of `make bench`: a thousand small ones sent and a thousand fetched over a link of 20 ms, the same C program on
//! the distribution's libcurl and on ours. Writes target/bench/mail.json, a list of {subject, way, rtt_ms, mails, cpu_us,
//! wall_us, failed} (microseconds for each mail), and prints a table.
//!
//! The servers are Exim and Dovecot, which want root, behind testkit's link.
//!
//! usage: `warmwire-bench-mail --ours DIR [--mails N] [--rtt MS]`

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;

use testkit::certs::Authority;
use testkit::launch::{Dovecot, Exim};
use testkit::link::Link;

/// As long as those that are sent.
const SIZE: usize = 2048;

struct Arguments {
    ours: PathBuf,
    mails: usize,
    rtt_ms: u64,
}

struct Row {
    subject: &'static str,
    way: &'static str,
    cpu_us: f64,
    wall_us: f64,
    failed: usize,
}

fn main() -> ExitCode {
    match parse(std::env::args().skip(1)).and_then(|arguments| run(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench-mail: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut words: impl Iterator<Item = String>) -> io::Result<Arguments> {
    let (mut ours, mut mails, mut rtt_ms) = (None, 1000, 20);
    let bad = |text: String| io::Error::other(text);
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| bad(format!("{word} wants a value")))?;
        let number = || value.parse().map_err(|_| bad(format!("{word} wants a number")));
        match &*word {
            "--ours" => ours = Some(std::fs::canonicalize(&value)?),
            "--mails" => mails = number()?,
            "--rtt" => rtt_ms = number()? as u64,
            _ => return Err(bad(format!("unknown flag {word}"))),
        }
    }
    let ours = ours.ok_or_else(|| bad("--ours DIR is missing".into()))?;
    Ok(Arguments { ours, mails, rtt_ms })
}

fn run(arguments: &Arguments) -> io::Result<()> {
    let directory = output_directory();
    std::fs::create_dir_all(&directory)?;
    let program = directory.join("mail");
    let source = root().join("bench/programs/mail.c");
    let compiler = ["-O2", "-Wall", "-Wextra", "-Werror", "-o"];
    output(Command::new("cc").args(compiler).arg(&program).arg(source).arg("-lcurl"))?;
    let authority = Authority::new();
    let dovecot = Dovecot::start(&authority.good(), &authority)?;
    let exim = Exim::start(&authority.good(), None)?;
    for n in 0..arguments.mails {
        dovecot.deliver("user", &format!("{n:06}"), &message())?;
    }
    let link = Link::new(Duration::from_millis(arguments.rtt_ms))?;
    let door = |port: u16| link.door(SocketAddr::from(([127, 0, 0, 1], port))).map(|address| address.port());
    let ways = [
        ("sent by SMTP", "send", format!("smtp://127.0.0.1:{}/client", door(exim.port)?)),
        ("fetched by IMAP", "fetch", format!("imap://127.0.0.1:{}/INBOX/;MAILINDEX=", door(dovecot.imap)?)),
        ("fetched by POP3", "fetch", format!("pop3://127.0.0.1:{}/", door(dovecot.pop3)?)),
    ];
    let mut rows = Vec::new();
    for (way, how, url) in &ways {
        for subject in ["distribution", "ours"] {
            eprintln!("{subject}, {way}");
            rows.push(measure(arguments, &program, subject, way, how, url)?);
        }
    }
    table(&rows, arguments);
    let path = directory.join("mail.json");
    std::fs::write(&path, json(&rows, arguments))?;
    println!("{}", path.display());
    Ok(())
}

/// A mail of that size.
fn message() -> Vec<u8> {
    let mut mail = b"Subject: a small one\r\n\r\n".to_vec();
    while mail.len() < SIZE {
        let line = (SIZE - mail.len()).min(78);
        // No line is so short that its end is all of it.
        let line = if SIZE - mail.len() - line == 1 { line - 1 } else { line };
        mail.extend(std::iter::repeat_n(b'm', line - 2));
        mail.extend_from_slice(b"\r\n");
    }
    mail
}

fn measure(
    arguments: &Arguments,
    program: &Path,
    subject: &'static str,
    way: &'static str,
    how: &str,
    url: &str,
) -> io::Result<Row> {
    let mut command = Command::new(program);
    command.args([how, &arguments.mails.to_string(), url]);
    command.env_remove("LD_LIBRARY_PATH").env_remove("WARMWIRE_SMTP").env_remove("WARMWIRE_POOL");
    if subject == "ours" {
        command.env("LD_LIBRARY_PATH", &arguments.ours);
    }
    let text = output(&mut command)?;
    let figures: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [cpu_us, wall_us, failed] = figures[..] else {
        return Err(io::Error::other(format!("{command:?} said {text:?}")));
    };
    Ok(Row { subject, way, cpu_us, wall_us, failed: failed as usize })
}

fn table(rows: &[Row], arguments: &Arguments) {
    println!(
        "{} mails of {SIZE} bytes, round trip {} ms; microseconds for each",
        arguments.mails, arguments.rtt_ms
    );
    println!("{:<16} {:<13} {:>9} {:>9} {:>6}", "", "", "CPU", "time", "failed");
    for Row { subject, way, cpu_us, wall_us, failed } in rows {
        println!("{way:<16} {subject:<13} {cpu_us:>9.1} {wall_us:>9.1} {failed:>6}");
    }
}

fn json(rows: &[Row], arguments: &Arguments) -> String {
    let lines = rows.iter().map(|Row { subject, way, cpu_us, wall_us, failed }| {
        format!(
            "  {{\"subject\": \"{subject}\", \"way\": \"{way}\", \"rtt_ms\": {}, \"mails\": {}, \
             \"cpu_us\": {cpu_us:.1}, \"wall_us\": {wall_us:.1}, \"failed\": {failed}}}",
            arguments.rtt_ms, arguments.mails
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
