//! Third-party bindings of other languages: Perl's WWW::Curl, tornado on pycurl, the Rust `curl` crate, R's
//! curl; and CMake, which has its own.

use std::process::Command;

use testkit::http::HttpServer;

use super::case;
use crate::runner::{Case, Context, Output};
use crate::subject::Subject;

pub fn cases() -> Vec<Case> {
    vec![
        case("perl-www-curl", perl),
        case("tornado-curl-httpclient", tornado),
        case("rust-curl-crate", rust_crate),
        case("r-curl", r),
        case("cmake-download-and-upload", cmake),
    ]
}

/// Runs a program that prints facts about a server, given its base URL.
fn facts(run: &Context, command: &mut Command, server: &HttpServer) -> Output {
    let base = server.url("");
    command.arg(base.trim_end_matches('/')).env("CA", run.world.ca());
    let output = run.run(command.env("SECURE", run.world.nginx.https("/bytes-335114")));
    assert_eq!((output.status, output.fact("end")), (Some(0), "1"), "{output:?}");
    output
}

fn expect(output: &Output, expected: &[(&str, &str)]) {
    let wrong: Vec<_> = expected.iter().filter(|(name, value)| output.fact(name) != *value).collect();
    assert!(wrong.is_empty(), "not as expected: {wrong:?}\n{output:?}");
}

fn one_if(ours: bool) -> &'static str {
    if ours { "1" } else { "0" }
}

// covers: curl_formadd, curl_formfree, CURLOPT_HTTPPOST, CURLOPT_PROGRESSFUNCTION, curl_easy_duphandle,
// curl_multi_fdset, CURLINFO_COOKIELIST
fn perl(run: &Context) {
    let server = HttpServer::plain();
    let output = facts(run, Command::new("perl").arg(run.world.script("www_curl.pl")), &server);
    assert_eq!(output.stderr, "", "{output:?}");
    let expected = [
        ("ours", one_if(run.ours())),
        ("easy", "5000,200,0"),
        ("kept", "5000,0"),
        ("post", "a=1&b=two,0"),
        ("copy", "0,a=1&b=two"),
        ("form", "0,1,1,1"),
        ("secure", "335114,0"),
        ("callbacks", "0,4,100000,1"),
        ("upload", "0,one"),
        ("aborted", "23"),
        ("refused", "7"),
        ("name", "Timeout_was_reached"),
        ("multi", "20,20000,0"),
        ("removed", "777,1,quick,0"),
        ("share", "name=value"),
        ("cookielist", "1"),
    ];
    expect(&output, &expected);
    // Older versions write "127.0.0.1 port 1", and "Couldn't".
    let message = output.fact("message").replace(" port ", ":");
    assert!(message.starts_with("Failed to connect to 127.0.0.1:1 after N ms: Could"), "{message}");
    let sent = server.requests().into_iter().find(|request| request.method == "POST").expect("a POST came");
    assert_eq!((sent.field("X-First"), sent.field("X-Second")), (Some("1"), Some("2")));
}

fn tornado(run: &Context) {
    let server = HttpServer::plain();
    let output =
        facts(run, Command::new(run.world.python()).arg(run.world.script("tornado_client.py")), &server);
    let expected = [
        ("ours", one_if(run.ours())),
        ("easy", "5000"),
        ("secure", "335114"),
        ("many", "61770"),
        ("mixed", "100,curl7,http404,curl6,curl18,300"),
        ("timeout", "curl28"),
        ("post", "a=1&b=two"),
        ("put", "100000"),
        ("patched", "PATCH"),
        ("head", "321,0"),
        ("redirected", "/redirect/0/302"),
        ("auth", "8"),
        ("gzip", "9000"),
        ("streamed", "20000,200"),
        ("after", "77"),
    ];
    expect(&output, &expected);
}

fn rust_crate(run: &Context) {
    let server = HttpServer::plain();
    let output = facts(run, &mut Command::new(run.world.curl_crate()), &server);
    let expected = [
        ("ours", one_if(run.ours())),
        ("easy", "100000,200,20"),
        ("secure", "335114"),
        ("post", "a=1&b=two"),
        ("upload", "100000"),
        ("form", "1,1"),
        ("refused", "7"),
        ("timeout", "28"),
        ("partial", "18"),
        ("multi", "30,435,30435"),
    ];
    expect(&output, &expected);
}

fn r(run: &Context) {
    let server = HttpServer::plain();
    let mut rscript = Command::new("Rscript");
    rscript.arg("--vanilla").arg(run.world.script("curl_package.R"));
    if let Subject::Ours(directory) = run.subject {
        // R's start script puts the system's directories before LD_LIBRARY_PATH, but does not change this
        // variable.
        rscript.env("R_LD_LIBRARY_PATH", format!("{}:/usr/lib/R/lib", directory.display()));
    }
    let output = facts(run, &mut rscript, &server);
    let expected = [
        ("ours", one_if(run.ours())),
        ("memory", "5000,200"),
        ("kept", "20000"),
        ("secure", "335114"),
        ("download", "335114"),
        ("text", "arrived"),
        ("stream", "20000"),
        ("post", "a=1&b=two"),
        ("form", "1"),
        ("upload", "335114"),
        ("cookie", "value"),
        ("multi", "60,1,61830,1"),
        ("refused", "1"),
        ("timeout", "1"),
        ("thrown", "1"),
        ("after", "77"),
    ];
    expect(&output, &expected);
}

fn cmake(run: &Context) {
    let server = HttpServer::plain();
    let place = testkit::temp::TempDir::new("cmake").expect("a folder is made");
    let base = server.url("");
    let mut command = Command::new("cmake");
    command.arg(format!("-DBASE={}", base.trim_end_matches('/')));
    command.arg(format!("-DPLACE={}", place.path().display()));
    command.arg(format!("-DSECURE={}", run.world.nginx.https("/bytes-335114")));
    command.arg(format!("-DCA={}", run.world.ca()));
    let output = run.run(command.arg("-P").arg(run.world.script("transfer.cmake")));
    assert_eq!(output.status, Some(0), "{output:?}");
    let expected = [
        ("download", "0,5000"),
        ("hash", "0"),
        ("secure", "0,335114"),
        ("untrusted", "60"),
        ("redirect", "arrived"),
        ("auth", "welcome"),
        ("range", "10"),
        ("refused", "7"),
        ("missing", "22"),
        ("timeout", "28"),
        ("inactive", "28"),
        ("upload", "0,5000"),
        ("end", "1"),
    ];
    expect(&output, &expected);
}
