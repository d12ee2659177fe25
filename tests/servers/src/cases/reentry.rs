//! Calls from inside callbacks, against the re-entry table.

use tables::reentry::{Entry, Refusal, Where, allowed};
use testkit::http::HttpServer;

use super::ours;
use crate::runner::{Case, Context};

pub fn cases() -> Vec<Case> {
    // The distribution's 7.88 follows an older rule, and crashes on some of these.
    vec![ours("reentry-table", table)]
}

fn table(run: &Context) {
    let places = [
        ("write", Where::AnyCallback),
        ("header", Where::AnyCallback),
        ("progress", Where::AnyCallback),
        ("socket", Where::SocketOrTimer),
        ("timer", Where::SocketOrTimer),
        ("notify", Where::Notify),
    ];
    let mut wrong = Vec::new();
    for (name, place) in places {
        let server = HttpServer::plain();
        let output = run.program("reentry", &[&server.url("/bytes/50000"), name]);
        let last = output.stdout.lines().find(|line| line.starts_with("asked="));
        assert_eq!(last, Some("asked=1 code=0 bytes=50000"), "{name}: {output:?}");
        for entry in Entry::ALL {
            let prefix = format!("{} ", entry.name());
            let Some(answer) = output.stdout.lines().find_map(|line| line.strip_prefix(&prefix)) else {
                continue;
            };
            let refused = match entry.refusal() {
                Refusal::MultiCode => answer == "8",
                Refusal::Code => answer == "93",
                Refusal::Ignored => continue,
                Refusal::Never => answer == "8" || answer == "93",
            };
            if answer == "absent" || refused == allowed(*entry, place) {
                wrong.push(format!("{} in {name}: {answer}", entry.name()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
