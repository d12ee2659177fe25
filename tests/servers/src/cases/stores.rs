//! Stores that outlive a transfer, seen from C: HSTS through callbacks and shares.

use testkit::http::HttpServer;

use super::case;
use crate::runner::{Case, Context};

pub fn cases() -> Vec<Case> {
    vec![case("hsts-callbacks", hsts_callbacks)]
}

/// An expired entry is not used; a host in the cache is requested over https, which the program forbids.
fn hsts_callbacks(run: &Context) {
    let server = HttpServer::plain();
    let output = run.program("hsts", &[&server.url("/")]);
    let wanted = "code 0\nentries 3\ncode 1\ncode 1\ncode 42\n\
                  entry 0/2 forever.example (15) 0 \"unlimited\"\n\
                  entry 1/2 all.example (11) 1 \"20991231 10:00:00\"\n\
                  share 0 0\ncode 0\ncode 1\nclosed 0\n";
    assert_eq!(output.stdout, wanted);
}
