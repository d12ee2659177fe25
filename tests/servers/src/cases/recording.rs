//! Record and replay: other people's programs are recorded against real servers and replayed when the servers
//! are gone. Their output is the same, byte for byte.

use std::path::Path;
use std::process::Command;

use testkit::body::pattern;
use testkit::launch::{GitServer, Http2Kind, Http2Server, Nginx, QuicKind, QuicServer, Vsftpd};
use testkit::temp::TempDir;

use super::ours;
use crate::runner::{Case, Context, Output};

const SIZES: [usize; 2] = [1000, 335_114];
/// CURL_HTTP_VERSION_3ONLY.
const HTTP3_ONLY: &str = "31";

pub fn cases() -> Vec<Case> {
    vec![
        ours("recording-php", php),
        ours("recording-http3", http3),
        ours("recording-pycurl", pycurl),
        ours("recording-perl", perl),
        ours("recording-git", git),
        ours("recording-ftp", ftp),
        ours("recording-many-processes", processes),
    ]
}

/// The servers of one case, and the URLs that a program is given.
struct Servers {
    _nginx: Nginx,
    _http2: Http2Server,
    urls: Vec<String>,
}

impl Servers {
    fn start(run: &Context) -> Servers {
        let leaf = run.world.authority.good();
        let nginx = Nginx::start(&leaf, &SIZES).expect("nginx starts");
        let http2 = Http2Server::start(Http2Kind::Nginx, &leaf, &SIZES).expect("nginx with HTTP/2 starts");
        let urls = vec![
            nginx.http("/bytes-1000"),
            nginx.http("/moved"),
            nginx.https("/bytes-335114"),
            http2.https("/bytes-335114"),
        ];
        Servers { _nginx: nginx, _http2: http2, urls }
    }
}

/// Runs a program twice: recorded, and replayed without its servers.
fn twice<T>(run: &Context, servers: T, make: impl Fn() -> Command) -> Output {
    let dir = TempDir::new("recording").expect("a folder is made");
    let recorded = run.run(make().env("WARMWIRE_RECORD", dir.path()).env("CA", run.world.ca()));
    assert_eq!((recorded.status, &*recorded.stderr), (Some(0), ""), "{recorded:?}");
    drop(servers);
    let replayed = run.run(make().env("WARMWIRE_REPLAY", dir.path()).env("CA", run.world.ca()));
    assert_eq!(replayed.stdout, recorded.stdout, "{replayed:?}");
    assert_eq!((replayed.status, &*replayed.stderr), (Some(0), ""));
    recorded
}

/// Runs a script of `programs/` twice. It gets the URLs as arguments.
fn script(run: &Context, interpreter: &Path, name: &str) -> Output {
    let servers = Servers::start(run);
    let urls = servers.urls.clone();
    let make = || {
        let mut command = Command::new(interpreter);
        command.arg(run.world.script(name)).args(&urls);
        command
    };
    twice(run, servers, make)
}

fn php(run: &Context) {
    let output = script(run, Path::new("php"), "recorded.php");
    assert!(output.stdout.contains("HTTP/2 200"), "{output:?}");
    assert_eq!(output.stdout.matches("\n335114 ").count(), 4, "{output:?}");
}

fn http3(run: &Context) {
    let leaf = run.world.authority.good();
    let server = QuicServer::start(QuicKind::Aioquic, &run.world.aioquic(), &leaf, &SIZES);
    let server = server.expect("aioquic starts");
    let urls = ["/bytes-1000", "/bytes-335114"].map(|path| server.https(path));
    let make = || {
        let mut command = Command::new("php");
        command.arg(run.world.script("recorded.php")).args(&urls).env("HTTP_VERSION", HTTP3_ONLY);
        command
    };
    let output = twice(run, server, make);
    assert_eq!(output.stdout.matches("\n335114 ").count(), 2, "{output:?}");
    assert!(output.stdout.contains("HTTP/3 200"), "{output:?}");
}

fn pycurl(run: &Context) {
    let output = script(run, &run.world.python(), "recorded.py");
    assert!(output.stdout.contains("HTTP/1.1 206"), "{output:?}");
}

fn perl(run: &Context) {
    let output = script(run, Path::new("perl"), "recorded.pl");
    assert_eq!(output.stdout.matches("\n335114 ").count(), 4, "{output:?}");
}

/// ls-remote and clone; the files that are cloned are the same.
fn git(run: &Context) {
    let server = GitServer::start(&run.world.authority.good()).expect("git's service starts");
    let place = TempDir::new("git-recording").expect("a folder is made");
    let bare = server.root().join("one.git");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(arguments).env("HOME", place.path()).env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "Tester").env(format!("GIT_{who}_EMAIL"), "t@localhost");
        }
        command.env("GIT_SSL_CAINFO", run.world.ca());
        command
    };
    let must = |command: &mut Command| {
        let output = run.run(command);
        assert_eq!(output.status, Some(0), "{output:?}");
        output
    };
    let seed = place.path().join("seed");
    let (seed, bare) = (seed.display().to_string(), bare.display().to_string());
    must(&mut git(&["init", "-q", "--bare", "-b", "main", &bare]));
    must(&mut git(&["init", "-q", "-b", "main", &seed]));
    place.write("seed/first", pattern(300_000)).expect("a file is written");
    must(&mut git(&["-C", &seed, "add", "first"]));
    must(&mut git(&["-C", &seed, "commit", "-q", "-m", "first"]));
    must(&mut git(&["-C", &seed, "push", "-q", &bare, "main"]));
    let url = server.https("one.git");
    // Both commands post to one URL. In a replay each process begins with the whole record, and takes the
    // exchange with its request's body.
    let record = TempDir::new("recording").expect("a folder is made");
    let round = |variable: &str, name: &str| {
        let copy = place.path().join(name);
        let listed = must(git(&["ls-remote", &url]).env(variable, record.path()));
        let clone = ["clone", "-q", &url, &copy.display().to_string()];
        must(git(&clone).env(variable, record.path()));
        (listed.stdout, std::fs::read(copy.join("first")).expect("the file is cloned"))
    };
    let recorded = round("WARMWIRE_RECORD", "one");
    drop(server);
    assert_eq!(recorded.1, pattern(300_000));
    assert!(recorded.0.contains("refs/heads/main"), "{}", recorded.0);
    assert_eq!(round("WARMWIRE_REPLAY", "two"), recorded);
}

fn ftp(run: &Context) {
    let server = match Vsftpd::start(&SIZES) {
        Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
            testkit::left_out("vsftpd's anonymous login needs root")
        }
        server => server.expect("vsftpd starts"),
    };
    let (file, folder) = (server.url("/bytes-335114"), server.url("/"));
    let make = || {
        let mut command = Command::new("php");
        command.arg(run.world.script("recorded_ftp.php")).args([&file, &folder]);
        command
    };
    let output = twice(run, server, make);
    assert_eq!(output.stdout.matches("\n335114 ").count(), 3, "{output:?}");
}

/// Eight processes record into one folder at once; a replay finds the exchanges of all.
fn processes(run: &Context) {
    let nginx = Nginx::start(&run.world.authority.good(), &SIZES).expect("nginx starts");
    let dir = TempDir::new("recording").expect("a folder is made");
    let url = nginx.http("/bytes-1000");
    let fetch = |number: usize, variable: &str| {
        let mut command = Command::new("php");
        command.args(["-r", "echo curl_exec(curl_init($argv[1])) ? '' : curl_error();", "--"]);
        command.arg(format!("{url}?{number}")).env(variable, dir.path());
        run.run(&mut command)
    };
    let fetch = &fetch;
    let recorded: Vec<Output> = std::thread::scope(|scope| {
        let started = (0..8).map(|number| scope.spawn(move || fetch(number, "WARMWIRE_RECORD")));
        let started: Vec<_> = started.collect();
        started.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    drop(nginx);
    for (number, recorded) in recorded.iter().enumerate() {
        assert_eq!((recorded.status, recorded.stdout.len()), (Some(0), 1000), "{recorded:?}");
        let replayed = fetch(number, "WARMWIRE_REPLAY");
        assert_eq!(replayed.stdout, recorded.stdout, "{replayed:?}");
    }
}
