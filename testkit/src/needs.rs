//! Programs and rights that a test needs on its machine.

use std::io::ErrorKind;
use std::process::{Command, Output};

/// Ends a test that needs something this machine lacks. The runner of `make test` counts the test as left
/// out, with this reason (xtask/src/steps/outcome.rs). Under `make test-all` and a plain `cargo test` it
/// fails.
#[track_caller]
pub fn left_out(reason: impl std::fmt::Display) -> ! {
    panic!("left out: {reason}")
}

/// Ends a test that differs from the distribution's library where that one has changed. `make test` and
/// `make test-all` count it as left out.
#[track_caller]
pub fn changed(what: impl std::fmt::Display) -> ! {
    panic!("left out for a change: {what}")
}

/// Runs a command to its end. Leaves the test out if the program is not installed, or if this user may not
/// change what `unshare` or `setpriv` changes.
#[track_caller]
pub fn output(command: &mut Command) -> Output {
    let output = match command.output() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            left_out(format!("{} is not installed", command.get_program().display()))
        }
        result => result.unwrap(),
    };
    let text = String::from_utf8_lossy(&output.stderr);
    let refused = |line: &&str| {
        (line.starts_with("unshare: ") || line.starts_with("setpriv: ")) && line.ends_with("not permitted")
    };
    if let Some(line) = text.lines().find(refused) {
        left_out(line);
    }
    output
}

/// Leaves the test out if the distribution's libcurl can't be compiled against.
#[track_caller]
pub fn libcurl_headers() {
    let header = Command::new("gcc").args(["-E", "-x", "c", "-include", "curl/curl.h", "/dev/null"]).output();
    if !header.is_ok_and(|output| output.status.success()) {
        left_out("libcurl's headers are missing: install the package libcurl4-openssl-dev");
    }
}
