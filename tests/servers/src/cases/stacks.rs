//! How much of a thread's stack `curl_easy_perform` and a multi handle take, in each protocol. The program
//! `stack` paints the stack and looks afterwards how far it was written.

use std::process::Command;

use testkit::http::{After, HttpServer, Request, Response};
use testkit::launch::{Http2Kind, Http2Server, Protocols, Squid, SquidLogin};

use super::ours;
use crate::runner::{Case, Context};

/// The size of the thread's stack, in KiB, including glibc's own part.
const SIZE: &str = "32";
/// Bytes below the frame that calls the library. C curl 8.22 takes up to 13,000 here.
const MOST: u64 = 24 << 10;
/// Bytes below that frame at which a callback runs, at most.
const CALLBACK: u64 = 20 << 10;

pub fn cases() -> Vec<Case> {
    vec![ours("small-stacks", protocols), ours("small-stacks-http", http)]
}

/// Makes a transfer on a small stack, by an easy handle, by a multi handle and in a coroutine, with callbacks
/// of every kind. Where the figures end above the bounds, or the program dies at the guard page, a frame has
/// grown.
fn measure(run: &Context, name: &str, words: &[String]) {
    for kind in ["EASY", "MULTI", "COROUTINE"] {
        let mut command = Command::new(run.world.program("stack"));
        command.arg(SIZE).args(words).env(kind, "1");
        let output = run.run(&mut command);
        assert_eq!((output.status, output.facts("code")), (Some(0), vec!["0", "0"]), "{name}: {output:?}");
        let most = |fact| {
            let figures = output.facts(fact).into_iter().map(|figure| figure.parse::<u64>());
            figures.map(|figure| figure.expect("the program prints numbers")).max().unwrap_or(u64::MAX)
        };
        let (perform, callback, cleanup) = (most("perform"), most("callback"), most("cleanup"));
        println!(
            "  stack of {name}, {}: {perform}, callbacks {callback}, cleanup {cleanup}",
            kind.to_lowercase()
        );
        assert!(perform <= MOST && cleanup <= MOST, "{name} takes more than {MOST}: {output:?}");
        assert!(callback <= CALLBACK, "{name} calls back deeper than {CALLBACK}: {output:?}");
    }
}

fn words<const N: usize>(words: [&str; N]) -> [String; N] {
    words.map(str::to_owned)
}

// covers: curl_easy_perform
fn protocols(run: &Context) {
    let servers = Protocols::start().expect("the servers start");
    for transfer in servers.transfers() {
        measure(run, transfer.name, &transfer.words);
    }
}

/// Measures HTTP beyond plain requests: redirects, logins, codings, HTTP/2, WebSocket.
// covers: curl_easy_perform
fn http(run: &Context) {
    let server = HttpServer::with(answer);
    let url = |path: &str| server.url(path);
    measure(run, "redirect", &words([&url("/redirect/3"), "FOLLOWLOCATION=1"]));
    measure(run, "digest", &words([&url("/digest"), "HTTPAUTH=2", "USERPWD=user:secret"]));
    for coding in ["gzip/100000", "deflate/100000", "br", "zstd"] {
        measure(run, coding, &words([&url(&format!("/{coding}")), "ACCEPT_ENCODING="]));
    }
    measure(run, "websocket", &words([&url("/websocket").replacen("http", "ws", 1)]));
    let squid = Squid::start_with(Some(SquidLogin::Ntlm)).expect("squid starts");
    let (nginx, ca) = (&run.world.nginx, format!("CAINFO={}", run.world.ca()));
    let proxy = format!("PROXY={}", squid.url());
    for (name, url) in [("ntlm", nginx.http("/bytes-1000")), ("ntlm-tunnel", nginx.https("/bytes-1000"))] {
        measure(run, name, &words([&url, &proxy, "PROXYAUTH=8", "PROXYUSERPWD=user:secret", &ca]));
    }
    let leaf = run.world.authority.good();
    let http2 = Http2Server::start(Http2Kind::Nginx, &leaf, &[100_000]).expect("nginx starts");
    measure(run, "http2", &words([&http2.https("/bytes-100000"), &ca, "HTTP_VERSION=4"]));
}

fn answer(request: &Request) -> Option<Response> {
    let coded = |bytes: &[u8], coding: &str| Some(Response::ok(bytes).with("Content-Encoding", coding));
    match request.path() {
        "/digest" if request.field("Authorization").is_some() => Some(Response::ok("welcome\n")),
        "/digest" => {
            let challenge = "Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256";
            Some(Response::status(401).with("WWW-Authenticate", challenge))
        }
        "/br" => coded(include_bytes!("../../../../crates/wire/src/content_encoding/brotli.sample"), "br"),
        // seq 1000 | zstd
        "/zstd" => coded(include_bytes!("seq.zst"), "zstd"),
        // The message "hello", and a goodbye.
        "/websocket" => {
            let head =
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n";
            let frames = b"\x81\x05hello\x88\x02\x03\xe8";
            Some(Response::raw([&head[..], frames].concat(), After::Finish))
        }
        _ => None,
    }
}
