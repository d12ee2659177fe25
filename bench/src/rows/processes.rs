//! Programs that live for one request: with and without the broker of the user, which keeps connections open
//! between them, beside one process with a kept handle.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use testkit::launch::{Nginx, PhpFpm, Vsftpd};
use testkit::link::Link;

use super::cold::anchors;
use super::requests::SMALL;
use crate::context::{Bench, Subject, numbers, output};
use crate::measure::{CPU, Case, Quantity, TIME};

const CALLS: usize = 1_000;
/// Calls over a link, requests of PHP, and files from each FTP server.
const FAR_CALLS: usize = 100;
const PHP_CALLS: usize = 300;
const FTP_FILES: usize = 10;
const FTP_SERVERS: usize = 60;
const PARKED: usize = 256;
const ROUND_TRIP: Duration = Duration::from_millis(20);
const A_CALL: Quantity = Quantity { name: "time a call", unit: "µs" };
const RESIDENT: Quantity = Quantity { name: "resident memory", unit: "KB" };
const IDLE_CPU: Quantity = Quantity { name: "CPU in 5 idle seconds", unit: "µs" };

/// `$1` runs of the remaining words, with the output in a file.
const LOOP: &str =
    "count=$1; shift; while [ $count -gt 0 ]; do \"$@\" || exit 1; count=$((count-1)); done > out";
/// `$1 $2` start the remaining words for each URL, which follow `--`; the results of all are printed.
const FOR_EACH_URL: &str = "starts=$1 count=$2 tool=$3 flag=$4; shift 4; \
    for url in \"$@\"; do \"$starts\" \"$count\" \"$tool\" -q $flag -sS \"$url\" & done; wait";
const PHP: &str = "$easy = curl_init(getenv('URL')); curl_setopt($easy, CURLOPT_CAINFO, getenv('CA')); \
    curl_setopt($easy, CURLOPT_RETURNTRANSFER, true); if (!curl_exec($easy)) exit(1);";

pub fn measure(bench: &Bench) -> io::Result<Vec<Case>> {
    let nginx = Nginx::start(&bench.authority.good(), &[SMALL])?;
    let link = Link::new(ROUND_TRIP)?;
    let door = link.door(SocketAddr::from(([127, 0, 0, 1], nginx.https_port)))?;
    let far = format!("https://localhost:{}/bytes-{SMALL}", door.port());
    let mut cases = vec![near(bench, &nginx)?];
    cases.push(over_link(bench, &far)?);
    cases.extend(takes(bench, &nginx)?);
    cases.extend(php(bench, &far)?);
    cases.extend(ftp(bench)?);
    cases.extend(resident(bench, &nginx)?);
    Ok(cases)
}

/// How a program keeps connections.
#[derive(Clone, Copy, PartialEq)]
enum Keeping {
    /// For its own life.
    Process,
    /// In the broker.
    Broker,
}

/// The tools that are compared; ours twice.
fn tools(bench: &Bench) -> Vec<(&Subject, Keeping)> {
    let subjects = bench.subjects.iter().filter(|subject| subject.has_tool());
    let own = bench.subjects.iter().filter(|subject| subject.ours);
    subjects.map(|s| (s, Keeping::Process)).chain(own.map(|s| (s, Keeping::Broker))).collect()
}

fn name((subject, keeping): (&Subject, Keeping)) -> String {
    match keeping {
        Keeping::Process => subject.name.clone(),
        Keeping::Broker => format!("{} --pool user", subject.name),
    }
}

fn flag(keeping: Keeping) -> &'static str {
    if keeping == Keeping::Broker { "--pool=user" } else { "-q" }
}

/// The folder of the broker; the broker ends with this value.
struct Folder<'a>(&'a Bench);

impl Folder<'_> {
    fn path(&self) -> PathBuf {
        self.0.directory().path().join("pool")
    }

    /// Lets a command find the broker.
    fn show(&self, command: &mut Command, tool: &Path) {
        command.env("WARMWIRE_POOL_DIR", self.path()).env("WARMWIRE_BROKER", tool);
    }
}

impl Drop for Folder<'_> {
    fn drop(&mut self) {
        for subject in self.0.subjects.iter().filter(|subject| subject.ours) {
            let mut stop = Command::new(subject.tool());
            let _ = stop.arg("--pool-stop").env("WARMWIRE_POOL_DIR", self.path()).output();
        }
    }
}

/// A shell loop over loopback, with as many trust anchors as a system has.
fn near(bench: &Bench, nginx: &Nginx) -> io::Result<Case> {
    let (folder, anchors) = (Folder(bench), anchors(bench)?.display().to_string());
    let url = nginx.https(&format!("/bytes-{SMALL}"));
    let (tools, calls) = (tools(bench), bench.count(CALLS));
    let mut names: Vec<String> = tools.iter().copied().map(name).collect();
    names.push("true".to_owned());
    Case::in_turns(format!("{calls} calls"), bench.runs(), &names, &[A_CALL], |at| {
        let (subject, keeping) = tools.get(at).copied().unwrap_or(tools[0]);
        let is_true = at == tools.len();
        let tool = if is_true { Path::new("/bin/true") } else { subject.tool() };
        let mut command = bench.command(Path::new("/bin/sh"), subject);
        folder.show(command.current_dir(bench.directory().path()), tool);
        command.args(["-c", LOOP, "loop", &calls.to_string()]).arg(tool);
        command.args(["-q", flag(keeping), "-sS", "--cacert", &anchors, &url]);
        let started = Instant::now();
        output(&mut command)?;
        let each = started.elapsed().as_secs_f64() * 1e6 / calls as f64;
        let bytes = std::fs::metadata(bench.directory().path().join("out"))?.len();
        let all = if is_true { 0 } else { calls * SMALL };
        if bytes != all as u64 {
            return Err(io::Error::new(ErrorKind::InvalidData, format!("{bytes} bytes instead of {all}")));
        }
        Ok(vec![each])
    })
}

/// Calls over a link, and one process that makes them all.
fn over_link(bench: &Bench, url: &str) -> io::Result<Case> {
    let (folder, starts) = (Folder(bench), bench.program("starts")?);
    let (tools, calls) = (tools(bench), bench.count(FAR_CALLS));
    let mut names: Vec<String> = tools.iter().copied().map(name).collect();
    names.push("one process".to_owned());
    let ca = bench.ca().display().to_string();
    Case::in_turns(format!("{calls} calls over 20 ms"), bench.runs(), &names, &[CPU, TIME], |at| {
        let Some(&(subject, keeping)) = tools.get(at) else {
            let (subject, _) = tools[tools.len() - 1];
            let mut command = bench.command(subject.tool(), subject);
            command.args(["-q", "-sS", "--cacert", &ca, "-o", "/dev/null"]);
            command.args(["-w", "%{time_total}\n", &format!("{url}?[1-{calls}]")]);
            let mut seconds = numbers(&mut command)?;
            seconds.sort_by(f64::total_cmp);
            let middle = seconds.get(seconds.len() / 2).ok_or(ErrorKind::InvalidData)?;
            return Ok(vec![f64::NAN, middle * 1e6]);
        };
        let mut command = bench.command(&starts, subject);
        folder.show(&mut command, subject.tool());
        command.arg(calls.to_string()).arg(subject.tool());
        numbers(command.args(["-q", flag(keeping), "-sS", "--cacert", &ca, url]))
    })
}

/// A request on a connection from the broker, beside one from the pool of the process.
fn takes(bench: &Bench, nginx: &Nginx) -> io::Result<Option<Case>> {
    let Some(ours) = bench.subjects.iter().find(|subject| subject.ours) else { return Ok(None) };
    let (folder, program) = (Folder(bench), bench.program("takes")?);
    let names = ["from the pool of the process", "from the broker"].map(str::to_owned);
    let mut known: Vec<f64> = Vec::new();
    let case = Case::in_turns("a new handle's request", bench.runs(), &names, &[CPU, TIME], |at| {
        // One run of the program measures both, in pairs.
        if known.is_empty() {
            let mut command = bench.command(&program, ours);
            folder.show(command.env("WARMWIRE_POOL", "user"), ours.tool());
            let url = nginx.https(&format!("/bytes-{SMALL}"));
            known = numbers(command.arg(bench.count(CALLS).to_string()).arg(url))?;
            if known.len() != 4 {
                return Err(io::Error::new(ErrorKind::InvalidData, format!("takes printed {known:?}")));
            }
            return Ok(known[2 * at..2 * at + 2].to_vec());
        }
        let all = std::mem::take(&mut known);
        Ok(all[2 * at..2 * at + 2].to_vec())
    });
    case.map(Some)
}

/// Requests of PHP: a process for each, eight workers of a manager, and one process with a kept handle.
fn php(bench: &Bench, url: &str) -> io::Result<Vec<Case>> {
    let starts = bench.program("starts")?;
    let calls = bench.count(PHP_CALLS);
    let libraries: Vec<&Subject> = bench.subjects.iter().filter(|subject| subject.has_library()).collect();
    let own = libraries.iter().filter(|subject| subject.ours);
    let runners: Vec<(&Subject, Keeping)> =
        libraries.iter().map(|s| (*s, Keeping::Process)).chain(own.map(|s| (*s, Keeping::Broker))).collect();
    let names: Vec<String> = runners.iter().copied().map(name).collect();
    let command = |program: &Path, at: usize, folder: &Folder<'_>| {
        let (subject, keeping) = runners[at];
        let mut command = bench.command(program, subject);
        command.env("URL", url);
        if keeping == Keeping::Broker {
            folder.show(command.env("WARMWIRE_POOL", "user"), subject.tool());
        }
        command
    };
    let folder = Folder(bench);
    let short = Case::in_turns(format!("php, {calls} processes"), 1, &names, &[CPU, TIME], |at| {
        let mut command = command(&starts, at, &folder);
        numbers(command.arg(calls.to_string()).args(["php", "-r", PHP]))
    })?;
    let kept = format!(
        "$easy = curl_init(getenv('URL')); curl_setopt($easy, CURLOPT_CAINFO, getenv('CA')); \
         curl_setopt($easy, CURLOPT_RETURNTRANSFER, true); $all = []; for ($i = 0; $i < {calls}; $i++) {{ \
         $start = hrtime(true); if (!curl_exec($easy)) exit(1); $all[] = hrtime(true) - $start; }} \
         sort($all); echo $all[{}] / 1000;",
        calls / 2
    );
    let kept = Case::in_turns(format!("php, one kept handle, {calls} requests"), 1, &names, &[TIME], |at| {
        numbers(command(Path::new("php"), at, &folder).args(["-r", &kept]))
    })?;
    let managed = Case::in_turns(format!("php-fpm, {calls} requests"), 1, &names, &[TIME], |at| {
        let (subject, keeping) = runners[at];
        let mut lines =
            format!("pm.max_children = 8\nenv[URL] = {url}\nenv[CA] = {}\n", bench.ca().display());
        if keeping == Keeping::Broker {
            let (place, tool) = (folder.path(), subject.tool().to_owned());
            lines += &format!(
                "env[WARMWIRE_POOL] = user\nenv[WARMWIRE_POOL_DIR] = {}\nenv[WARMWIRE_BROKER] = {}\n",
                place.display(),
                tool.display()
            );
        }
        let manager = PhpFpm::start(&lines, |command| bench.prepare(command, Some(subject)))?;
        let timed = format!("$start = hrtime(true); {PHP} echo (hrtime(true) - $start) / 1000;");
        let mut all = Vec::new();
        for _ in 0..calls {
            let said = manager.output_of(&timed)?;
            all.push(said.trim().parse::<f64>().map_err(|_| io::Error::other(format!("php-fpm: {said}")))?);
        }
        all.sort_by(f64::total_cmp);
        Ok(vec![all[all.len() / 2]])
    })?;
    Ok(vec![short, kept, managed])
}

/// A process for each file, from many servers at once.
fn ftp(bench: &Bench) -> io::Result<Option<Case>> {
    let (starts, folder) = (bench.program("starts")?, Folder(bench));
    let link = Link::new(ROUND_TRIP)?;
    let servers: io::Result<Vec<Vsftpd>> =
        (0..FTP_SERVERS).map(|_| Vsftpd::start_behind(&link, &[SMALL])).collect();
    let servers = match servers {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(None),
        servers => servers?,
    };
    let urls: Vec<String> = servers.iter().map(|server| server.url(&format!("/bytes-{SMALL}"))).collect();
    let (tools, files) = (tools(bench), bench.count(FTP_FILES).max(4));
    let names: Vec<String> = tools.iter().copied().map(name).collect();
    let title = format!("FTP, {FTP_SERVERS} servers, a process for each file");
    let case = Case::in_turns(title, 1, &names, &[CPU, TIME], |at| {
        let (subject, keeping) = tools[at];
        let mut command = bench.command(Path::new("/bin/sh"), subject);
        folder.show(&mut command, subject.tool());
        command.args(["-c", FOR_EACH_URL, "loop"]).arg(&starts).arg(files.to_string());
        let values = numbers(command.arg(subject.tool()).arg(flag(keeping)).args(&urls))?;
        // Each server's loop prints its medians of CPU and time, and a zero.
        let middle = |which: usize| {
            let mut column: Vec<f64> = values.chunks_exact(3).map(|line| line[which]).collect();
            column.sort_by(f64::total_cmp);
            column.get(column.len() / 2).copied().unwrap_or(f64::NAN)
        };
        Ok(vec![middle(0), middle(1)])
    });
    case.map(Some)
}

/// The broker with as many connections as it keeps.
fn resident(bench: &Bench, nginx: &Nginx) -> io::Result<Option<Case>> {
    let Some(ours) = bench.subjects.iter().find(|subject| subject.ours) else { return Ok(None) };
    let folder = Folder(bench);
    let status = || {
        let mut command = bench.command(ours.tool(), ours);
        folder.show(command.arg("--pool-status"), ours.tool());
        command.output().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let until = Instant::now() + Duration::from_secs(60);
    let ca = bench.ca().display().to_string();
    let mut said = String::new();
    while said.matches("https://").count() < PARKED {
        if Instant::now() > until {
            return Err(io::Error::new(ErrorKind::TimedOut, format!("the broker has too few: {said}")));
        }
        // Each process opens and gives some at once: a user agent of its own changes nothing in the key.
        let url = format!("{}?[1-40]", nginx.https(&format!("/bytes-{SMALL}")));
        let mut command = bench.command(ours.tool(), ours);
        folder.show(&mut command, ours.tool());
        command.args(["-q", "-sS", "--pool=user", "--http1.1", "--cacert", &ca, "-o", "/dev/null"]);
        command.args(["--interface", &format!("127.0.0.{}", 2 + said.matches("https://").count() / 8 % 200)]);
        output(command.args(["--parallel", "--parallel-immediate", "--parallel-max", "40", &url]))?;
        said = status()?;
    }
    let process = said.strip_prefix("broker ").and_then(|rest| rest.split(':').next()).unwrap_or_default();
    let of_broker = |file: &str| std::fs::read_to_string(format!("/proc/{process}/{file}"));
    let used = || -> io::Result<f64> {
        let words = of_broker("schedstat")?;
        let nanoseconds = words.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
        Ok(nanoseconds.ok_or(ErrorKind::InvalidData)? / 1000.0)
    };
    let names = [format!("broker with {PARKED} connections")];
    let case = Case::in_turns("the broker", 1, &names, &[RESIDENT, IDLE_CPU], |_| {
        let memory = of_broker("status")?;
        let line =
            memory.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or(ErrorKind::InvalidData)?;
        let resident = line.trim().trim_end_matches(" kB").parse().map_err(io::Error::other)?;
        let before = used()?;
        std::thread::sleep(Duration::from_secs(5));
        Ok(vec![resident, used()? - before])
    });
    case.map(Some)
}
