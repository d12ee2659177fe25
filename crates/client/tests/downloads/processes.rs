//! Downloads of several processes and users: the example `download`, killed at several points, started twice
//! for one file, and run by a user who may not write.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use testkit::body::pattern;
use testkit::http::{HttpServer, Response, ranged};
use testkit::temp::TempDir;

const SIZE: usize = 12_000_001;
const PATIENCE: Duration = Duration::from_secs(60);
const NOBODY: u32 = 65534;

/// Returns the example's program. Cargo builds the examples with the tests.
fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().and_then(Path::parent).unwrap().join("examples/download");
    assert!(
        program.exists(),
        "{} is not built: cargo test builds it, --test alone does not",
        program.display()
    );
    program
}

fn start(program: &Path, url: &str, file: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg(url).arg(file).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A server of a file whose answers take some time.
struct Slow {
    server: HttpServer,
    /// How many requests have arrived.
    arrived: Arc<AtomicU64>,
    /// How many of them are answered; later ones wait until this number is higher.
    answered: Arc<AtomicU64>,
}

fn slow(body: Vec<u8>, pause_ms: u64) -> Slow {
    let answered = Arc::new(AtomicU64::new(u64::MAX));
    let arrived = Arc::<AtomicU64>::default();
    let (limit, count) = (answered.clone(), arrived.clone());
    let server = HttpServer::with(move |request| -> Option<Response> {
        let number = count.fetch_add(1, Ordering::SeqCst);
        eventually("the turn of a request", || number < limit.load(Ordering::SeqCst));
        std::thread::sleep(Duration::from_millis(pause_ms));
        Some(ranged(request, body.clone()).with("ETag", "\"one\""))
    });
    Slow { server, arrived, answered }
}

fn eventually(what: &str, mut is: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < PATIENCE, "{what} never came");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn ended(child: Child) -> Output {
    child.wait_with_output().unwrap()
}

fn text_of(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut all: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    all.sort();
    all
}

/// Before the first answer, after the probe, and in the middle, again and again on the same part.
#[test]
fn a_killed_download_is_continued_by_the_next_one() {
    let body = pattern(SIZE);
    let slow = slow(body.clone(), 0);
    let folder = TempDir::new("download-killed").unwrap();
    let (program, file) = (program(), folder.path().join("f"));
    let url = slow.server.url("/f");
    for requests in [1, 2, 4, 3, 2] {
        let before = slow.arrived.load(Ordering::SeqCst);
        // The last of them is not answered: a busy machine may kill late.
        slow.answered.store(before + requests - 1, Ordering::SeqCst);
        let mut child = start(&program, &url, &file).spawn().unwrap();
        eventually("a request", || slow.arrived.load(Ordering::SeqCst) >= before + requests);
        // The journal follows the file after 200 ms.
        std::thread::sleep(Duration::from_millis(if requests > 2 { 250 } else { 0 }));
        let was_running = child.try_wait().unwrap().is_none();
        child.kill().unwrap();
        ended(child);
        assert!(was_running, "it ended before it was killed, after {requests} requests");
        assert!(!file.exists());
    }
    assert!(folder.path().join("f.part.journal").exists(), "{:?}", names(folder.path()));
    slow.answered.store(u64::MAX, Ordering::SeqCst);
    let output = ended(start(&program, &url, &file).spawn().unwrap());
    let text = text_of(&output);
    assert!(output.status.success(), "{text}");
    let received = text.strip_prefix(&format!("{SIZE} bytes, ")).and_then(|rest| rest.split(' ').next());
    let received: usize = received.unwrap().parse().unwrap();
    assert!((1..SIZE).contains(&received), "{text}");
    assert!(fs::read(&file).unwrap() == body);
    assert_eq!(names(folder.path()), ["f"]);
}

/// Two processes, whose servers have different files of one size: one of them fetches its file, and the other
/// fails without touching it.
#[test]
fn two_processes_do_not_mix_one_file() {
    let bodies = [pattern(SIZE), pattern(SIZE).into_iter().rev().collect::<Vec<u8>>()];
    let servers = bodies.clone().map(|body| slow(body, 60));
    let folder = TempDir::new("download-twice").unwrap();
    let (program, file) = (program(), folder.path().join("f"));
    let children = [&servers[0], &servers[1]]
        .map(|slow| start(&program, &slow.server.url("/f"), &file).spawn().unwrap());
    let outputs = children.map(ended);
    let winners: Vec<usize> = (0..2).filter(|at| outputs[*at].status.success()).collect();
    let [winner] = winners[..] else { panic!("{:?}", outputs.each_ref().map(text_of)) };
    let refused = text_of(&outputs[1 - winner]);
    assert!(refused.contains("f.part is being fetched by another process"), "{refused}");
    assert!(fs::read(&file).unwrap() == bodies[winner]);
    assert_eq!(names(folder.path()), ["f"]);
}

/// The folder of one user, and a program of another; without root, a folder that is closed for its owner.
#[test]
fn a_folder_without_permission_is_named() {
    let slow = slow(pattern(100_000), 0);
    let place = TempDir::new("download-user").unwrap();
    let folder = place.path().join("closed");
    fs::create_dir(&folder).unwrap();
    let copy = place.path().join("download");
    fs::copy(program(), &copy).unwrap();
    for path in [place.path(), &copy] {
        fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
    }
    fs::set_permissions(&folder, Permissions::from_mode(0o555)).unwrap();
    let mut command = start(&copy, &slow.server.url("/f"), &folder.join("f"));
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = ended(command.spawn().unwrap());
    let (part, url) = (folder.join("f.part"), slow.server.url("/f"));
    let expected = format!("(23) Failed to open {}: Permission denied [{url}]", part.display());
    assert_eq!((output.status.code(), text_of(&output).trim()), (Some(1), &*expected));
    assert_eq!(names(&folder), [""; 0]);
    assert_eq!(slow.server.served(), 0, "nothing is fetched that cannot be kept");
}
