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
use crate::measure::{CPU, Case, Quantity, TIME, Turns};
use crate::quiet::cpu_with_descendants_us;

const CALLS: usize = 1_000;
/// Calls over a link, requests of PHP, and files from each FTP server.
const FAR_CALLS: usize = 100;
const PHP_CALLS: usize = 300;
const FTP_FILES: usize = 5;
const FTP_SERVERS: usize = 60;
const PARKED: usize = 256;
const ROUND_TRIP: Duration = Duration::from_millis(20);
const A_CALL: Quantity = Quantity { name: "time a call", unit: "µs" };
const MEAN: Quantity = Quantity { name: "mean time of a request", unit: "µs" };
const RESIDENT: Quantity = Quantity { name: "resident memory", unit: "KB" };
const IDLE_CPU: Quantity = Quantity { name: "CPU in 5 idle seconds", unit: "µs" };

/// `$1` runs of the remaining words, with the output in a file.
const LOOP: &str =
    "count=$1; shift; while [ $count -gt 0 ]; do \"$@\" || exit 1; count=$((count-1)); done > out";
/// Prints the microseconds of a request with a handle of its own.
const PHP: &str = "$start = hrtime(true); $easy = curl_init(getenv('URL')); \
    curl_setopt($easy, CURLOPT_CAINFO, getenv('CA')); curl_setopt($easy, CURLOPT_RETURNTRANSFER, true); \
    if (!curl_exec($easy)) exit(1); unset($easy); echo (hrtime(true) - $start) / 1000;";
/// Prints the microseconds of each of `COUNT` requests with one handle.
const PHP_KEPT: &str = "$easy = curl_init(getenv('URL')); curl_setopt($easy, CURLOPT_CAINFO, getenv('CA')); \
    curl_setopt($easy, CURLOPT_RETURNTRANSFER, true); for ($i = 0; $i < getenv('COUNT'); $i++) { \
    $start = hrtime(true); if (!curl_exec($easy)) exit(1); echo (hrtime(true) - $start) / 1000, ' '; }";

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
    Case::in_turns(format!("{calls} calls"), bench.turns(), &names, &[A_CALL], |at| {
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
    Case::in_turns(format!("{calls} calls over 20 ms"), bench.turns(), &names, &[CPU, TIME], |at| {
        let Some(&(subject, keeping)) = tools.get(at) else {
            let (subject, _) = tools[tools.len() - 1];
            let mut command = bench.command(subject.tool(), subject);
            command.args(["-q", "-sS", "--cacert", &ca, "-o", "/dev/null"]);
            command.args(["-w", "%{time_total}\n", &format!("{url}?[1-{calls}]")]);
            return Ok(vec![f64::NAN, 1e6 * middle(numbers(&mut command)?)]);
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
    let case = Case::in_turns("a new handle's request", bench.turns(), &names, &[CPU, TIME], |at| {
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

/// How PHP makes its requests.
#[derive(Clone, Copy)]
enum Php {
    /// One process with one handle.
    Kept,
    /// A process for each request.
    Processes,
    /// Eight workers of a manager.
    Workers,
}

/// Requests of PHP. A mean has the first, cold requests in it.
fn php(bench: &Bench, url: &str) -> io::Result<Vec<Case>> {
    let libraries: Vec<&Subject> = bench.subjects.iter().filter(|subject| subject.has_library()).collect();
    let own = libraries.iter().filter(|subject| subject.ours);
    let runners: Vec<(&Subject, Keeping)> =
        libraries.iter().map(|s| (*s, Keeping::Process)).chain(own.map(|s| (*s, Keeping::Broker))).collect();
    let names: Vec<String> = runners.iter().copied().map(name).collect();
    let calls = bench.count(PHP_CALLS);
    let ways = [
        (Php::Kept, "php, one kept handle"),
        (Php::Processes, "php, a process for each request"),
        (Php::Workers, "php-fpm, 8 workers"),
    ];
    let case = |(way, title): (Php, &str)| {
        let title = format!("{title}, {calls} requests over 20 ms");
        // Each has a broker of its own, so that its first request is cold.
        Case::in_turns(title, Turns::ONCE, &names, &[MEAN], |at| {
            let times = php_times(bench, way, runners[at], url, calls)?;
            if times.len() != calls {
                return Err(io::Error::new(ErrorKind::InvalidData, format!("PHP printed {times:?}")));
            }
            Ok(vec![times.iter().sum::<f64>() / calls as f64])
        })
    };
    ways.into_iter().map(case).collect()
}

/// Returns the microseconds of each request.
fn php_times(
    bench: &Bench,
    way: Php,
    (subject, keeping): (&Subject, Keeping),
    url: &str,
    calls: usize,
) -> io::Result<Vec<f64>> {
    let folder = Folder(bench);
    let (pool, tool) = (folder.path().display().to_string(), subject.tool().display().to_string());
    let mut variables = vec![("URL", url.to_owned()), ("CA", bench.ca().display().to_string())];
    if keeping == Keeping::Broker {
        let user = "user".to_owned();
        variables.extend([("WARMWIRE_POOL", user), ("WARMWIRE_POOL_DIR", pool), ("WARMWIRE_BROKER", tool)]);
    }
    let php = |code: &str| {
        let mut command = bench.command(Path::new("php"), subject);
        numbers(command.envs(variables.iter().cloned()).env("COUNT", calls.to_string()).args(["-r", code]))
    };
    match way {
        Php::Kept => php(PHP_KEPT),
        Php::Processes => (0..calls).map(|_| Ok(php(PHP)?[0])).collect(),
        Php::Workers => {
            let lines = variables.iter().map(|(name, value)| format!("env[{name}] = {value}\n"));
            let lines = lines.collect::<String>() + "pm.max_children = 8\n";
            let manager = PhpFpm::start(&lines, |command| bench.prepare(command, Some(subject)))?;
            let one = |_| {
                let status_text = manager.output_of(PHP)?;
                status_text
                    .trim()
                    .parse::<f64>()
                    .map_err(|_| io::Error::other(format!("php-fpm: {status_text}")))
            };
            (0..calls).map(one).collect()
        }
    }
}

/// A poller that starts a process for each file, from one server after the other; beside it a program that
/// keeps a handle for each server.
fn ftp(bench: &Bench) -> io::Result<Option<Case>> {
    let (starts, kept) = (bench.program("starts")?, bench.program("ftp")?);
    let link = Link::new(ROUND_TRIP)?;
    let servers: io::Result<Vec<Vsftpd>> =
        (0..FTP_SERVERS).map(|_| Vsftpd::start_behind(&link, &[SMALL])).collect();
    let servers = match servers {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(None),
        servers => servers?,
    };
    let urls: Vec<String> = servers.iter().map(|server| server.url(&format!("/bytes-{SMALL}"))).collect();
    let files = bench.count(FTP_FILES).max(3);
    let tools = tools(bench);
    let libraries: Vec<&Subject> = bench.subjects.iter().filter(|subject| subject.has_library()).collect();
    let mut names: Vec<String> = tools.iter().copied().map(name).collect();
    names.extend(libraries.iter().map(|subject| format!("{}, kept handles", subject.name)));
    let title = format!("FTP, {FTP_SERVERS} servers, {files} files of each over 20 ms");
    let case = Case::in_turns(title, Turns::ONCE, &names, &[CPU, TIME], |at| {
        let Some(&(subject, keeping)) = tools.get(at) else {
            let mut command = bench.command(&kept, libraries[at - tools.len()]);
            command.args(["kept", "-", &files.to_string(), &SMALL.to_string()]).args(&urls);
            return Ok(vec![f64::NAN, 1000.0 * middle(numbers(&mut command)?)]);
        };
        let folder = Folder(bench);
        let (mut cpu, mut wall) = (Vec::new(), Vec::new());
        for url in (0..files).flat_map(|_| &urls) {
            let mut command = bench.command(&starts, subject);
            folder.show(&mut command, subject.tool());
            command.arg("1").arg(subject.tool()).args(["-q", flag(keeping), "-sS", url]);
            let values = numbers(&mut command)?;
            cpu.push(values[0]);
            wall.push(values[1]);
        }
        Ok(vec![middle(cpu), middle(wall)])
    });
    case.map(Some)
}

/// Returns the number of connections in a list of the broker, which begins with a line about the broker.
fn parked(list: &str) -> usize {
    list.lines().count().saturating_sub(1)
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
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
    let (mut status_text, mut run) = (String::new(), 0);
    while parked(&status_text) < PARKED {
        if Instant::now() > until {
            let text = format!("the broker has {} connections", parked(&status_text));
            return Err(io::Error::new(ErrorKind::TimedOut, text));
        }
        // Each process opens some at once, from an address of its own, so that it takes none from the broker.
        run += 1;
        let url = format!("{}?[1-40]", nginx.https(&format!("/bytes-{SMALL}")));
        let mut command = bench.command(ours.tool(), ours);
        folder.show(&mut command, ours.tool());
        command.args(["-q", "-sS", "--pool=user", "--http1.1", "--cacert", &ca, "-o", "/dev/null"]);
        command.args(["--interface", &format!("127.0.0.{}", 1 + run % 250)]);
        output(command.args(["--parallel", "--parallel-immediate", "--parallel-max", "40", &url]))?;
        status_text = status()?;
    }
    let process =
        status_text.strip_prefix("broker ").and_then(|rest| rest.split(':').next()).unwrap_or_default();
    let process: u32 = process.parse().map_err(io::Error::other)?;
    let names = [format!("broker with {PARKED} connections")];
    let case = Case::in_turns("the broker", Turns::ONCE, &names, &[RESIDENT, IDLE_CPU], |_| {
        let memory = std::fs::read_to_string(format!("/proc/{process}/status"))?;
        let line =
            memory.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or(ErrorKind::InvalidData)?;
        let resident = line.trim().trim_end_matches(" kB").parse().map_err(io::Error::other)?;
        let before = cpu_with_descendants_us(process)?;
        std::thread::sleep(Duration::from_secs(5));
        Ok(vec![resident, cpu_with_descendants_us(process)? - before])
    });
    case.map(Some)
}
