//! `WARMWIRE_POOL=user`: programs that live for one request each, and workers of PHP-FPM, share connections
//! by the broker, which the first of them starts.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use testkit::http::HttpServer;
use testkit::launch::PhpFpm;
use testkit::temp::TempDir;

use super::ours;
use crate::runner::{Case, Context, Output};

pub fn cases() -> Vec<Case> {
    vec![
        ours("broker-short-processes", processes),
        ours("broker-fork", fork),
        ours("broker-php-fpm", php_fpm),
    ]
}

/// Longer than the broker takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// User and group nobody.
const NOBODY: u32 = 65534;

/// A folder for the broker, which ends with it.
struct BrokerFolder<'a> {
    run: &'a Context<'a>,
    folder: TempDir,
    tool: PathBuf,
    /// Whether broker and clients run as nobody.
    is_of_nobody: bool,
}

impl BrokerFolder<'_> {
    fn new<'a>(run: &'a Context<'a>) -> BrokerFolder<'a> {
        let folder = TempDir::new("broker").expect("a temporary folder");
        BrokerFolder { run, folder, tool: run.world.tool(), is_of_nobody: false }
    }

    /// Returns a folder for a broker of nobody if this is root, who alone can start one.
    fn of_nobody<'a>(run: &'a Context<'a>) -> BrokerFolder<'a> {
        let mut place = BrokerFolder::new(run);
        let path = place.folder.path().to_owned();
        if fs::metadata(&path).expect("it was just made").uid() != 0 {
            return place;
        }
        let (tool, pool) = (path.join("warmwire"), path.join("pool"));
        let make = || {
            fs::create_dir(&pool)?;
            fs::copy(&place.tool, &tool)?;
            for (path, mode) in [(&path, 0o755), (&tool, 0o755), (&pool, 0o700)] {
                fs::set_permissions(path, Permissions::from_mode(mode))?;
            }
            chown(&pool, Some(NOBODY), Some(NOBODY))
        };
        make().expect("root can make files for nobody");
        (place.tool, place.is_of_nobody) = (tool, true);
        place
    }

    /// The variables that a program needs, with their values.
    fn variables(&self) -> [(&'static str, String); 3] {
        let folder = self.folder.path().join("pool").display().to_string();
        let tool = self.tool.display().to_string();
        [("WARMWIRE_POOL", "user".to_owned()), ("WARMWIRE_POOL_DIR", folder), ("WARMWIRE_BROKER", tool)]
    }

    fn run(&self, command: &mut Command) -> Output {
        self.run.run(command.envs(self.variables()))
    }

    fn tool(&self, flag: &str) -> Output {
        let mut command = Command::new(if self.is_of_nobody { "setpriv" } else { "env" });
        if self.is_of_nobody {
            let user = NOBODY.to_string();
            command.args(["--clear-groups", "--regid", &user, "--reuid", &user]);
        }
        self.run(command.arg(&self.tool).arg(flag))
    }

    /// Waits until the broker holds that many connections.
    fn wait_for(&self, parked: usize) {
        let end = Instant::now() + PATIENCE;
        loop {
            let output = self.tool("--pool-status");
            if output.status == Some(0) && output.stdout.matches("http://").count() == parked {
                return;
            }
            assert!(Instant::now() < end, "{parked} parked connections are expected: {output:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for BrokerFolder<'_> {
    fn drop(&mut self) {
        self.tool("--pool-stop");
    }
}

/// Perl, PHP, the tool and Debian's curl in a shell: each process uses the connection of the one
/// before it. Debian's curl keeps its connections in a share handle.
fn processes(run: &Context) {
    const PERL: &str = "use WWW::Curl::Easy; my $out; my $easy = WWW::Curl::Easy->new; \
        $easy->setopt(CURLOPT_URL, $ARGV[0]); $easy->setopt(CURLOPT_WRITEDATA, \\$out); \
        $easy->perform; print length $out;";
    const PHP: &str = "$easy = curl_init($argv[1]); curl_setopt($easy, CURLOPT_RETURNTRANSFER, true); \
        echo strlen(curl_exec($easy));";
    let programs: [&[&str]; 4] = [
        &["perl", "-e", PERL],
        &["php", "-r", PHP],
        &["sh", "-c", "\"$WARMWIRE_BROKER\" -q -sS \"$0\" | wc -c"],
        &["curl", "-q", "-sS", "-o", "/dev/null", "-w", "%{size_download}"],
    ];
    for program in programs {
        let (server, place) = (HttpServer::plain(), BrokerFolder::new(run));
        let url = server.url("/bytes/1000");
        let call = || {
            let output = place.run(Command::new(program[0]).args(&program[1..]).arg(&url));
            assert_eq!((output.status, output.stdout.trim()), (Some(0), "1000"), "{program:?} {output:?}");
        };
        call();
        // The broker has been started, and does not have the connection of the first process.
        let end = Instant::now() + PATIENCE;
        while place.tool("--pool-status").status != Some(0) {
            assert!(Instant::now() < end, "{program:?}: no broker");
            std::thread::sleep(Duration::from_millis(5));
        }
        (0..40).for_each(|_| call());
        // A process for which the broker was too slow works without it.
        assert!(server.accepts() <= 30, "{program:?}: {} connections for 41 processes", server.accepts());
    }
}

/// The child has connections neither of its parent's pool nor of its broker's client, and the parent goes on.
fn fork(run: &Context) {
    let (server, place) = (HttpServer::plain(), BrokerFolder::new(run));
    let url = server.url("/bytes/1000");
    for _ in 0..3 {
        let output = place.run(Command::new(run.world.program("pooled")).args([&url, "50", "4"]));
        assert_eq!(output.status, Some(0), "{output:?}");
        let facts = ["good", "together", "child", "after"].map(|name| output.fact(name));
        assert_eq!(facts, ["50", "20", "0", "1"], "{output:?}");
    }
}

/// Two managers with one worker each, which root's manager starts as another user. The first worker's
/// connection is parked while the worker waits for its next request.
fn php_fpm(run: &Context) {
    let (server, place) = (HttpServer::plain(), BrokerFolder::of_nobody(run));
    let mut lines = place.variables().map(|(name, value)| format!("env[{name}] = {value}\n")).concat();
    if place.is_of_nobody {
        lines += &format!("user = {NOBODY}\ngroup = {NOBODY}\n");
    }
    let start = || PhpFpm::start(&lines, |command| run.choose(command)).expect("php-fpm starts");
    let code = format!(
        "$easy = curl_init('{}');\ncurl_setopt($easy, CURLOPT_RETURNTRANSFER, true);\n\
         echo strlen(curl_exec($easy)), ' ', getmypid();",
        server.url("/bytes/1000")
    );
    let workers = [start(), start()];
    let mut seen = Vec::new();
    for round in 0..6 {
        let output = workers[round % 2].output_of(&code).expect("a reply");
        let (length, worker) = output.split_once(' ').expect("two words");
        assert_eq!(length, "1000");
        seen.push(worker.to_owned());
        place.wait_for(1);
    }
    assert_eq!((&seen[0], &seen[1]), (&seen[2], &seen[3]));
    assert_ne!(seen[0], seen[1]);
    assert!(server.accepts() <= 3, "{} connections of two workers", server.accepts());
}
