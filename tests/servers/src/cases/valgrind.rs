//! Our library under Valgrind: no access out of bounds, nothing read that was never written, no block lost.

use std::process::Command;

use testkit::http::HttpServer;

use super::ours;
use crate::runner::{Case, Context};

pub fn cases() -> Vec<Case> {
    vec![ours("valgrind-clean", clean)]
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
    for (program, arguments) in programs {
        let mut command = Command::new("valgrind");
        command.args(["-q", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite"]);
        if arguments.contains(&&*tls) {
            // ring's assembler for AES-GCM works on whole vectors of which a part was never written.
            command.arg("--undef-value-errors=no");
        }
        let output = run.run(command.arg(run.world.program(program)).args(&arguments));
        assert_eq!(output.status, Some(0), "{program} {arguments:?}: {}\n{}", output.stdout, output.stderr);
    }
}
