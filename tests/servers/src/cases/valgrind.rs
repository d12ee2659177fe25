//! Our library under Valgrind: no access out of bounds, no read of uninitialized memory, no leak.
//!
//! A few transfers of each kind in every run; with --deep also every small program of `tests/abi`,
//! `tests/twin` and this directory that is fast enough. (`make sanitize` checks the Rust code itself, faster
//! and more of it.)

use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::body::pattern;
use testkit::ftp::FtpServer;
use testkit::http::HttpServer;
use testkit::launch::{Http2Kind, Http2Server};
use testkit::temp::TempDir;

use super::{deep, ours};
use crate::runner::{Case, Context};
use crate::subject::Subject;

pub fn cases() -> Vec<Case> {
    vec![
        ours("valgrind-clean", clean),
        ours("valgrind-event-loops", loops),
        ours("valgrind-openssl", by_openssl),
        deep(ours("valgrind-programs", programs)),
        deep(ours("valgrind-abi-and-twin", abi_and_twin)),
    ]
}

/// Runs Valgrind with our definition of faults. ring's assembler for AES-GCM works on whole vectors with
/// uninitialized parts, so programs with TLS are not checked for that. glibc's process-wide memory is not
/// freed: if Valgrind frees it while a resolver thread still lives, the thread's share of /etc/resolv.conf
/// (referenced by number, in a table that is then gone) counts as leaked, in any program with a thread that
/// called getaddrinfo.
fn valgrind(run: &Context, program: &Path, speaks_tls: bool) -> Command {
    let mut command = Command::new("valgrind");
    command.args(["-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"]);
    command.arg("--run-libc-freeres=no");
    command.args(speaks_tls.then_some("--undef-value-errors=no")).arg(program).env("CA", run.world.ca());
    command
}

fn clean(run: &Context) {
    let plain = HttpServer::plain();
    let secure = HttpServer::tls(run.world.authority.good().server_config().expect("a usable pair"));
    let ca = format!("CAINFO={}", run.world.ca());
    let (body, chunked, slow) =
        (plain.url("/bytes/100000"), plain.url("/chunked/5000/7"), plain.url("/bytes/200000"));
    let named = format!("http://localhost:{}/cut/60/bytes/100", plain.port());
    let (form, tls) = (plain.url("/sum"), secure.url("/bytes/50000"));
    let programs: [(&str, Vec<&str>); 8] = [
        ("fetch", vec!["-n", "3", &body, &chunked, &named]),
        ("fetch", vec!["-w", "event", "-n", "3", &body, &chunked, &named]),
        ("fetch", vec!["-n", "3", "-o", &ca, &tls]),
        ("fetch", vec!["-w", "event", "-n", "3", "-o", &ca, &body, &tls]),
        ("fetch", vec!["-w", "poll", "-n", "20", &body]),
        ("mime", vec![&form]),
        ("pause", vec![&slow, "outside"]),
        ("share", vec![&body, "2", "5"]),
    ];
    all_clean(run, &programs, &tls);
}

/// TLS by OpenSSL: successful and failing transfers, exported and imported sessions, and modified contexts.
fn by_openssl(run: &Context) {
    let Subject::Ours(library) = run.subject else { panic!("only ours is looked at") };
    let leaf = run.world.authority.good();
    let secure = HttpServer::tls(leaf.server_config().expect("a usable pair"));
    let nginx = Http2Server::start(Http2Kind::Nginx, &leaf, &[1000]).expect("nginx starts");
    let place = TempDir::new("valgrind").expect("a folder is made");
    let (ca, url) = (format!("CAINFO={}", run.world.ca()), secure.url("/bytes/50000"));
    let cut = secure.url("/cut/60/bytes/100");
    let programs: [(&str, Vec<&str>); 5] = [
        ("fetch", vec!["-n", "3", "-o", &ca, &url]),
        ("fetch", vec!["-w", "event", "-n", "3", "-o", &ca, "-o", "FRESH_CONNECT=1", &url]),
        ("fetch", vec!["-o", &ca, "-o", "CERTINFO=1", "-o", "SSL_VERIFYSTATUS=1", &url, &cut]),
        ("fetch", vec!["-n", "2", &url]),
        ("share", vec![&url, "2", "5"]),
    ];
    let mut commands: Vec<Command> = Vec::new();
    for (program, arguments) in programs {
        let mut command = valgrind(run, &run.world.program(program), true);
        command.env("CURL_SSL_BACKEND", "openssl").args(arguments);
        commands.push(command);
    }
    // These choose for themselves, and speak by rustls first.
    for name in ["openssl", "sessions", "engines"] {
        let source = root().join("tests/abi").join(name).with_extension("c");
        let mut command = valgrind(run, &compiled(&source, library, &place), true);
        command.env("NGINX", nginx.https(""));
        commands.push(command);
    }
    for mut command in commands {
        let output = run.run(command.current_dir(place.path()));
        assert_eq!(output.status, Some(0), "{command:?}: {output:?}");
    }
}

fn all_clean(run: &Context, programs: &[(&str, Vec<&str>)], tls: &str) {
    for (program, arguments) in programs {
        let mut command = valgrind(run, &run.world.program(program), arguments.contains(&tls));
        let output = run.run(command.args(arguments));
        assert_eq!(output.status, Some(0), "{program} {arguments:?}: {output:?}");
    }
}

fn loops(run: &Context) {
    let server = HttpServer::plain();
    let base = server.url("");
    let named = format!("http://localhost:{}", server.port());
    let arguments = vec![base.trim_end_matches('/'), &named];
    all_clean(run, &[("loop_libevent", arguments.clone()), ("loop_libuv", arguments)], "");
}

fn programs(run: &Context) {
    let server = HttpServer::plain();
    let secure = HttpServer::tls(run.world.authority.good().server_config().expect("a usable pair"));
    let base = server.url("");
    let base = base.trim_end_matches('/');
    let named = format!("http://localhost:{}", server.port());
    let silent = format!("https://127.0.0.1:{}", server.port());
    let (body, large, slow) =
        (server.url("/bytes/1000"), server.url("/bytes/100000"), server.url("/drip/1000/5/bytes/50000"));
    let (paused, upload, form, tls) =
        (server.url("/bytes/200000"), server.url("/sum"), server.url("/sum"), secure.url("/bytes/1000"));
    let mut programs: Vec<(&str, Vec<&str>)> = vec![
        ("values", vec![]),
        ("effects", vec![base]),
        ("stale", vec![]),
        ("remove", vec![&slow, &body]),
        ("states", vec![base, &named, &silent]),
        ("pause", vec![&paused, "inside"]),
        ("pause", vec![&paused, "event"]),
        ("pause", vec![&upload, "upload"]),
        ("mime", vec![&form]),
        ("forking", vec![&body]),
        ("forking", vec![&tls]),
        ("pooled", vec![&body, "50"]),
        ("share", vec![&tls, "4", "25"]),
        ("cutting", vec![base, "/chunked/40/15", "115", &slow, "50"]),
    ];
    for which in [
        "write",
        "write-more",
        "header",
        "read",
        "read-more",
        "read-short",
        "progress",
        "opensocket",
        "sockopt",
        "seek",
        "sockets",
    ] {
        programs.push(("callbacks", vec![&large, which]));
    }
    programs.extend(
        ["write", "header", "progress", "socket", "timer", "notify"]
            .map(|place| ("reentry", vec![&*large, place])),
    );
    all_clean(run, &programs, &tls);
}

/// Compiles a program of another folder of tests against our headers and library.
fn compiled(source: &Path, library: &Path, place: &TempDir) -> PathBuf {
    let plus = source.extension().is_some_and(|extension| extension == "cpp");
    let program = place.path().join(source.file_stem().expect("a program has a name"));
    let mut compiler = Command::new(if plus { "c++" } else { "cc" });
    compiler.args(["-g", "-w", "-o"]).arg(&program).arg(source);
    compiler.arg(format!("-I{}", root().join("include").display())).arg(format!("-L{}", library.display()));
    if std::fs::read_to_string(source).is_ok_and(|text| text.contains("<openssl/")) {
        compiler.args(["-lssl", "-lcrypto"]);
    }
    let output = compiler.args(["-lcurl", "-lpthread", "-lm"]).output().expect("a compiler");
    assert!(output.status.success(), "{}: {}", source.display(), String::from_utf8_lossy(&output.stderr));
    program
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn abi_and_twin(run: &Context) {
    let Subject::Ours(library) = run.subject else { panic!("only ours is looked at") };
    let place = TempDir::new("valgrind").expect("a folder is made");
    let server = HttpServer::plain();
    let ftp = FtpServer::with_file("/dir/file", pattern(2000));
    let nginx =
        Http2Server::start(Http2Kind::Nginx, &run.world.authority.good(), &[1000]).expect("nginx starts");
    let folders = ["abi", "twin"].map(|folder| root().join("tests").join(folder));
    let entries =
        folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("a folder of the checkout"));
    let sources = entries.map(|entry| entry.expect("a readable folder").path());
    let mut wrong = Vec::new();
    for source in sources.filter(|path| path.extension().is_some_and(|kind| kind == "c" || kind == "cpp")) {
        // Frames that are jumped over never return, and what they own is leaked; Valgrind reports a stack
        // that it does not know as a fault; 100 MB strings take minutes here.
        let text = std::fs::read_to_string(&source).expect("a readable source");
        if ["longjmp", "swapcontext", "100 << 20"].iter().any(|word| text.contains(word)) {
            continue;
        }
        let speaks_tls = text.contains("NGINX");
        let mut command = valgrind(run, &compiled(&source, library, &place), speaks_tls);
        command
            .env("NGINX", nginx.https(""))
            .env("SERVER", server.url("").trim_end_matches('/'))
            .env("FTP_SERVER", ftp.url(""));
        let output = run.run(command.current_dir(place.path()));
        if output.status != Some(0) {
            wrong.push(format!("{}: {output:?}", source.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
