//! Threads, fork, unloading, the end of the process.

use std::process::Command;

use testkit::http::HttpServer;

use super::case;
use crate::runner::{Case, Context};

pub fn cases() -> Vec<Case> {
    vec![
        case("share-8-threads-1000-requests", share),
        case("share-8-threads-tls", share_tls),
        case("fork-with-live-connections", fork),
        case("fork-with-live-tls-connections", fork_tls),
        case("dlopen-get-dlclose-200-times", loading),
        case("static-object-cleans-at-exit", at_exit),
        case("multi-taken-down-in-any-state", states),
    ]
}

// covers: curl_share_init, curl_share_setopt, CURLOPT_SHARE
fn share(run: &Context) {
    let server = HttpServer::plain();
    let output = run.program("share", &[&server.url("/bytes/1000"), "8", "1000"]);
    assert_eq!(
        (output.fact("ok"), output.fact("wrong"), output.fact("cleanup")),
        ("8000", "0", "0"),
        "{output:?}"
    );
    // The distribution's version opens thousands here.
    assert!(server.accepts() <= 8 || !run.ours(), "{} accepts", server.accepts());
}

fn share_tls(run: &Context) {
    let server = HttpServer::tls(run.world.authority.good().server_config().expect("a usable pair"));
    let mut command = Command::new(run.world.program("share"));
    command.args([&*server.url("/bytes/1000"), "8", "100"]).env("CA", run.world.ca());
    let output = run.run(&mut command);
    assert_eq!((output.fact("ok"), output.fact("wrong")), ("800", "0"), "{output:?}");
    // The distribution's version opens thousands here.
    assert!(server.accepts() <= 8 || !run.ours(), "{} accepts", server.accepts());
}

fn forked(run: &Context, url: &str) {
    let mut command = Command::new(run.world.program("forking"));
    let output = run.run(command.arg(url).env("CA", run.world.ca()));
    let parent: Vec<&str> = output.stdout.lines().filter(|line| line.starts_with("parent")).collect();
    let child: Vec<&str> = output.stdout.lines().filter(|line| line.starts_with("child")).collect();
    assert_eq!(parent[0], "parent code=0 bytes=1000 connects=1", "{output:?}");
    assert_eq!(parent.len(), 4, "{output:?}");
    assert_eq!(child, ["child code=0 bytes=1000 connects=1"; 3], "{output:?}");
    for line in &parent[1..] {
        // When the child cleans its copy of a handle the distribution's library says goodbye on the shared
        // TLS connection; ours does not.
        let connects = if run.ours() { line.ends_with("connects=0") } else { true };
        assert!(line.starts_with("parent code=0 bytes=1000") && connects, "{output:?}");
    }
}

fn fork(run: &Context) {
    let server = HttpServer::plain();
    forked(run, &format!("http://localhost:{}/bytes/1000", server.port()));
}

fn fork_tls(run: &Context) {
    let server = HttpServer::tls(run.world.authority.good().server_config().expect("a usable pair"));
    forked(run, &server.url("/bytes/1000"));
}

// covers: curl_global_cleanup
fn loading(run: &Context) {
    let server = HttpServer::plain();
    let url = format!("http://localhost:{}/bytes/1000", server.port());
    let mut command = Command::new(run.world.program("loading"));
    let output = run.run(command.args([&*url, "200"]));
    assert_eq!((output.status, output.fact("good")), (Some(0), "200"), "{output:?}");
    assert!(output.number("more_fds") <= 0 && output.number("more_threads") <= 0, "{output:?}");
    assert!(output.number("more_kb") < 4096 || !run.ours(), "{output:?}");
}

fn at_exit(run: &Context) {
    for arguments in [&[][..], &["twice"]] {
        let server = HttpServer::plain();
        let quick = server.url("/bytes/1000");
        let output = run.run(Command::new(run.world.program("at_exit")).arg(&quick).args(arguments));
        assert_eq!(output.status, Some(0), "{output:?}");
        assert_eq!((output.fact("code"), output.fact("running")), ("0", "1"), "{output:?}");
        assert!(output.stdout.ends_with("destroyed\n"), "{output:?}");
    }
}

// covers: curl_multi_cleanup, curl_easy_cleanup, curl_multi_remove_handle
fn states(run: &Context) {
    let server = HttpServer::plain();
    let base = server.url("");
    let (port, base) = (server.port(), base.trim_end_matches('/'));
    // The plain server takes a ClientHello for a request that never ends.
    let secure = format!("https://127.0.0.1:{port}");
    let output = run.program("states", &[base, &format!("http://localhost:{port}"), &secure]);
    let good = "removed=0 cleaned=0 watched=0 bytes=777";
    let wrong: Vec<_> = output.stdout.lines().filter(|line| !line.ends_with(good)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(output.stdout.lines().count(), 8 * 3 * 2, "{output:?}");
}
