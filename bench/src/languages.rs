//! `make bench-perl` and `make bench-php`: what programs in these languages notice. The same script runs on the
//! distribution's libcurl and on ours, in turn, beside the language's own clients; the median of the runs counts.
//!
//! Seconds of the whole loop, without the start of the interpreter; perl and php count their own CPU.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::certs::Authority;
use testkit::launch::Nginx;
use testkit::temp::TempDir;

use crate::Arguments;
use crate::run::{median, output, output_directory, root};
use crate::workload::SMALL;

/// A run above this many seconds is not repeated: HTTP::Tiny sends head and body apart and waits for the peer's delayed
/// acknowledgement in each POST.
const LONG_S: f64 = 5.0;

/// A language's interpreter, script and what it is asked to do.
pub struct Language {
    pub name: &'static str,
    interpreter: &'static str,
    script: &'static str,
    secure: bool,
    workloads: &'static [Workload],
    note: &'static str,
}

struct Workload {
    name: &'static str,
    count: usize,
    /// What the script is told of the workload, where it knows several.
    word: Option<&'static str>,
    clients: &'static [Client],
}

struct Client {
    name: &'static str,
    word: &'static str,
    /// Runs on both libraries.
    curl: bool,
    /// WARMWIRE_POOL for a row that only ours has.
    pool: Option<&'static str>,
}

const fn curl(name: &'static str, word: &'static str) -> Client {
    Client { name, word, curl: true, pool: None }
}

const fn other(name: &'static str, word: &'static str) -> Client {
    Client { name, word, curl: false, pool: None }
}

const PERL_CLIENTS: [Client; 5] = [
    curl("WWW::Curl", "curl"),
    other("Hijk", "hijk"),
    other("Furl", "furl"),
    other("HTTP::Tiny", "tiny"),
    other("LWP", "lwp"),
];

pub const LANGUAGES: [Language; 2] = [
    Language {
        name: "perl",
        interpreter: "perl",
        script: "clients.pl",
        secure: false,
        workloads: &[
            Workload { name: "GET of 1 KB", count: 2000, word: Some("get"), clients: &PERL_CLIENTS },
            Workload { name: "POST, urlencoded", count: 1000, word: Some("post"), clients: &PERL_CLIENTS },
            Workload {
                name: "POST, multipart form",
                count: 1000,
                word: Some("form"),
                clients: &[curl("WWW::Curl", "curl"), other("LWP", "lwp")],
            },
        ],
        note: "WWW::Curl and LWP keep cookies. HTTP::Tiny, Furl and Hijk offer no multipart form. GHTTP is not in Debian 12.",
    },
    Language {
        name: "php",
        interpreter: "php",
        script: "clients.php",
        secure: true,
        workloads: &[Workload {
            name: "HTTPS GET of 1 KB",
            count: 300,
            word: None,
            clients: &[
                curl("a handle per request", "naive"),
                Client {
                    name: "the same, WARMWIRE_POOL=process",
                    word: "naive",
                    curl: false,
                    pool: Some("process"),
                },
                curl("one easy handle", "kept"),
                curl("one multi handle, in turn", "multi"),
                curl("one multi handle, 8 at once", "parallel"),
                other("file_get_contents", "stream"),
            ],
        }],
        note: "Each row verifies the server's certificate.",
    },
];

/// One client's figures on one workload and library.
struct Row {
    workload: &'static Workload,
    client: &'static str,
    subject: &'static str,
    cpu_s: f64,
    wall_s: f64,
}

/// Measures a language's workloads, prints the table, writes the JSON file and answers its path.
pub fn run(language: &'static Language, arguments: &Arguments) -> io::Result<PathBuf> {
    let authority = Authority::new();
    let nginx = Nginx::start(&authority.good(), &[SMALL])?;
    let directory = TempDir::new("bench")?;
    let ca = directory.write("ca.pem", authority.ca_pem())?;
    let mut rows = Vec::new();
    for workload in language.workloads {
        rows.extend(measure(language, workload, arguments, &nginx, &ca)?);
    }
    table(language, &rows);
    std::fs::create_dir_all(output_directory())?;
    let path = output_directory().join(format!("{}.json", language.name));
    std::fs::write(&path, json(&rows))?;
    Ok(path)
}

/// A client on one library, or on none, with the CPU and wall seconds of its runs.
struct Runner {
    client: &'static Client,
    subject: &'static str,
    figures: Vec<(f64, f64)>,
}

/// Who runs: what uses libcurl on the distribution's and on ours, the pool on ours alone, the others once.
fn runners(workload: &'static Workload, ours: bool) -> Vec<Runner> {
    let subjects = |client: &Client| match (client.curl, client.pool) {
        (true, _) => vec!["distribution", "ours"],
        (false, Some(_)) => vec!["ours"],
        (false, None) => vec!["-"],
    };
    let runner = |client, subject| Runner { client, subject, figures: Vec::new() };
    let all = workload
        .clients
        .iter()
        .flat_map(|client| subjects(client).into_iter().map(move |subject| runner(client, subject)));
    all.filter(|runner| ours || runner.subject != "ours").collect()
}

fn measure(
    language: &Language,
    workload: &'static Workload,
    arguments: &Arguments,
    nginx: &Nginx,
    ca: &Path,
) -> io::Result<Vec<Row>> {
    let mut runners = runners(workload, arguments.ours.is_some());
    let count = if arguments.quick { workload.count / 10 } else { workload.count };
    for turn in 0..arguments.runs {
        eprintln!("{} {}/{}", workload.name, turn + 1, arguments.runs);
        for Runner { client, subject, figures } in &mut runners {
            if figures.first().is_some_and(|(_, wall)| *wall > LONG_S) {
                continue;
            }
            let mut command = command(language, workload, client, count, nginx);
            command.env("CA", ca);
            choose(&mut command, subject, client, arguments);
            let text = output(&mut command)?;
            let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
            let [cpu, wall] = numbers[..] else { return Err(io::Error::other(format!("what is {text}"))) };
            figures.push((cpu, wall));
        }
    }
    let row = |runner: Runner| Row {
        workload,
        client: runner.client.name,
        subject: runner.subject,
        cpu_s: median(runner.figures.iter().map(|(cpu, _)| *cpu)),
        wall_s: median(runner.figures.iter().map(|(_, wall)| *wall)),
    };
    Ok(runners.into_iter().map(row).collect())
}

fn command(
    language: &Language,
    workload: &Workload,
    client: &Client,
    count: usize,
    nginx: &Nginx,
) -> Command {
    let mut command = Command::new(language.interpreter);
    command.arg(root().join("bench/programs").join(language.script)).arg(client.word).args(workload.word);
    command.arg(count.to_string());
    match language.secure {
        true => command.arg(nginx.https(&format!("/bytes-{SMALL}"))),
        false => command.arg(nginx.http("")),
    };
    command
}

fn choose(command: &mut Command, subject: &str, client: &Client, arguments: &Arguments) {
    match (subject, &arguments.ours) {
        ("ours", Some(directory)) => command.env("LD_LIBRARY_PATH", directory),
        _ => command.env_remove("LD_LIBRARY_PATH"),
    };
    match client.pool {
        Some(pool) => command.env("WARMWIRE_POOL", pool),
        None => command.env_remove("WARMWIRE_POOL"),
    };
}

fn table(language: &Language, rows: &[Row]) {
    for workload in language.workloads {
        println!("{} × {}: seconds", workload.count, workload.name);
        println!("  {:<33} {:<13} {:>8} {:>8}", "", "libcurl", "wall", "CPU");
        for row in rows.iter().filter(|row| row.workload.name == workload.name) {
            println!("  {:<33} {:<13} {:>8.4} {:>8.4}", row.client, row.subject, row.wall_s, row.cpu_s);
        }
    }
    println!("{}", language.note);
}

fn json(rows: &[Row]) -> String {
    let lines = rows.iter().map(|row| {
        format!(
            "  {{\"workload\": \"{}\", \"requests\": {}, \"client\": \"{}\", \"subject\": \"{}\", \"wall_s\": {:.4}, \
             \"cpu_s\": {:.4}}}",
            row.workload.name, row.workload.count, row.client, row.subject, row.wall_s, row.cpu_s
        )
    });
    format!("[\n{}\n]\n", lines.collect::<Vec<_>>().join(",\n"))
}
