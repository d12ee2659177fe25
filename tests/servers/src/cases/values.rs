//! Programs that check many small facts and print those that fail: the API that needs no transfer (strings,
//! dates, lists, URLs, printf, versions, idle handles), and infos, headers and callbacks of real transfers.

use testkit::http::{HttpServer, Response};

use super::case;
use crate::runner::{Case, Context};

pub fn cases() -> Vec<Case> {
    vec![case("values", values), case("effects", effects)]
}

/// Runs a program that prints `held N` and a line for each fact that fails.
fn holds(run: &Context, program: &str, arguments: &[&str], at_least: usize) {
    let output = run.program(program, arguments);
    let wrong: Vec<_> = output.stdout.lines().filter(|line| !line.starts_with("held ")).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    let held = output.stdout.lines().find_map(|line| line.strip_prefix("held "));
    let held: usize = held.and_then(|count| count.parse().ok()).unwrap_or(0);
    assert!(held >= at_least, "only {held} facts were looked at: {output:?}");
}

fn values(run: &Context) {
    holds(run, "values", &[], 400);
}

fn effects(run: &Context) {
    let server = HttpServer::with(|request| {
        if request.path() != "/dressed" {
            return None;
        }
        let status = if request.field("If-Modified-Since").is_some() { 304 } else { 203 };
        let fields = [
            ("Content-Type", "text/own; x=y"),
            ("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT"),
            ("Retry-After", "12"),
            ("X-Twice", "one"),
            ("X-Twice", "two words"),
        ];
        let response = Response { status, ..Response::ok("dressed") };
        Some(fields.iter().fold(response, |response, (name, value)| response.with(name, *value)))
    });
    let base = server.url("");
    holds(run, "effects", &[base.trim_end_matches('/')], 70);
}
