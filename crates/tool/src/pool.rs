//! The broker of idle connections: its state, its end, and the hidden command that starts it.

use std::ffi::OsStr;

use crate::bytes::Bytes;

use warmwire::process_pool::{self, Broker, Parked, Pool, Status};

/// The kind of the pool that a value of `--pool` names.
pub fn named(text: &[u8]) -> Option<Pool> {
    Pool::named(OsStr::new(std::str::from_utf8(text).ok()?))
}

/// Returns the list of parked connections and the exit code, which is 1 without a broker.
pub fn status() -> (String, i32) {
    match Broker::new().status() {
        Ok(status) => (describe(&status), 0),
        Err(reason) => (format!("{reason}\n"), 1),
    }
}

/// Ends the broker. Returns the text and the exit code, which is 1 without a broker.
pub fn stop() -> (String, i32) {
    match Broker::new().stop() {
        Ok(()) => (String::new(), 0),
        Err(reason) => (format!("{reason}\n"), 1),
    }
}

/// Returns whether the words are the hidden command that starts the broker.
pub fn is_broker(words: &[Bytes]) -> bool {
    matches!(words, [word] if word == b"--pool-broker")
}

/// Runs the broker, or starts it in the background.
pub fn run_broker() -> i32 {
    match process_pool::run_broker() {
        Ok(()) => 0,
        Err(reason) => {
            eprintln!("curl: --pool-broker: {reason}");
            2
        }
    }
}

fn describe(status: &Status) -> String {
    let Status { process, exit_after, names, parked } = status;
    let (count, wait) = (parked.len(), exit_after.as_secs());
    let mut text =
        format!("broker {process}: connections {count}, names {names}, exits after {wait} idle s\n");
    for Parked { scheme, host, port, age, idle, uses } in parked {
        let host = crate::text::harmless(host);
        let (age, idle) = (age.as_secs(), idle.as_secs());
        text += &format!("{scheme}://{host}:{port} age {age} s, idle {idle} s, transfers {uses}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_list_has_a_line_for_each_connection() {
        let parked = Parked {
            scheme: "https".to_owned(),
            host: "example.org".to_owned(),
            port: 443,
            age: Duration::from_millis(90_400),
            idle: Duration::from_secs(3),
            uses: 7,
        };
        let status = Status {
            process: 4711,
            exit_after: Duration::from_secs(120),
            names: 1,
            parked: vec![parked.clone(), Parked { host: "a\u{1b}[m".to_owned(), ..parked }],
        };
        let text = describe(&status);
        let lines: Vec<_> = text.lines().collect();
        let head = "broker 4711: connections 2, names 1, exits after 120 idle s";
        assert_eq!(lines[..2], [head, "https://example.org:443 age 90 s, idle 3 s, transfers 7"]);
        assert!(lines.len() == 3 && !text.contains('\u{1b}'), "{text:?}");
    }

    #[test]
    fn values_of_the_flag() {
        assert_eq!(named(b"user"), Some(Pool::User));
        assert_eq!(named(b"process"), Some(Pool::Process));
        assert_eq!(named(b"off"), Some(Pool::Off));
        assert_eq!(named(b"yes"), None);
        assert_eq!(named(b"\xff"), None);
    }
}
