//! What tells requests for one URL apart besides their fields: who asks, and of whom. Options of which nobody has said that a reply
//! can't hang on them count, so that what was had from another server, without a check of its certificate or with another login, is
//! not mistaken for this one's.

use super::folder::digits;
use crate::bytes::Bytes;
use crate::options::Options;
use crate::request::Request;
use crate::settings::{SetTo, Setting};
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::HashMap;

/// Options that say how a reply is had, or what becomes of it; or that Vary speaks of.
const SAY_NOTHING: [&str; 43] = [
    "ALTSVC",
    "AUTOREFERER",
    "BUFFERSIZE",
    "CERTINFO",
    "CONNECTTIMEOUT_MS",
    "COOKIE",
    "COOKIEFILE",
    "COOKIEJAR",
    "COOKIESESSION",
    "EXPECT_100_TIMEOUT_MS",
    "FAILONERROR",
    "FILETIME",
    "FOLLOWLOCATION",
    "HAPPY_EYEBALLS_TIMEOUT_MS",
    "HSTS",
    "HTTPHEADER",
    "HTTP_VERSION",
    "IPRESOLVE",
    "LOCALPORT",
    "LOCALPORTRANGE",
    "LOW_SPEED_LIMIT",
    "LOW_SPEED_TIME",
    "MAXFILESIZE_LARGE",
    "MAXREDIRS",
    "MAX_RECV_SPEED_LARGE",
    "MAX_SEND_SPEED_LARGE",
    "NOBODY",
    "NOPROGRESS",
    "POSTREDIR",
    "PROTOCOLS_STR",
    "REDIR_PROTOCOLS_STR",
    "REFERER",
    "SSL_SESSIONID_CACHE",
    "SUPPRESS_CONNECT_HEADERS",
    "TCP_FASTOPEN",
    "TCP_KEEPALIVE",
    "TCP_KEEPCNT",
    "TCP_KEEPIDLE",
    "TCP_KEEPINTVL",
    "TCP_NODELAY",
    "TIMEOUT_MS",
    "URL",
    "USERAGENT",
];
/// VERBOSE is set by traces alone.
const TRACES: &str = "VERBOSE";

/// Fields that say who asks, or of which of a server's names, whatever Vary says of them.
pub const WHO: [&str; 3] = ["Authorization", "Cookie", "Host"];

/// A sum of something secret takes so many rounds, so that nobody guesses a password by the names of files in no time.
const ROUNDS: usize = 20_000;

/// CURLAUTH_ bits of schemes that prove who a connection is.
const OF_CONNECTIONS: i64 = 4 | 8;

/// Why what a command asks for has nothing to do with what is kept: with parts and conditions of its own, other methods than GET and
/// HEAD, bodies that are not the reply's, and logins that the command line does not tell.
pub fn bypass(request: &Request) -> Option<&'static str> {
    let options: &Options = &request.options;
    let given = |name: &str| options.get(name).is_some();
    let reasons = [
        (given("RANGE"), "--range"),
        (request.resume.is_some(), "--continue-at"),
        (request.retry_resume, "--retry-resume"),
        (given("etag-compare"), "--etag-compare"),
        (given("TIMECONDITION"), "--time-cond"),
        (given("CUSTOMREQUEST"), "--request"),
        (given("REQUEST_TARGET"), "--request-target"),
        (options.is_on("raw"), "--raw"),
        (options.is_on("IGNORE_CONTENT_LENGTH"), "--ignore-content-length"),
        (request.netrc || request.netrc_optional || given("NETRC_FILE"), "--netrc"),
        (options.long("HTTPAUTH").unwrap_or(0) & OF_CONNECTIONS != 0, "--negotiate, --ntlm and --anyauth"),
    ];
    reasons.iter().find(|(is, _)| *is).map(|(_, what)| *what)
}

/// What the options of a transfer come to.
pub fn of_options(list: &[Setting]) -> String {
    let counts = |setting: &&Setting| {
        !matches!(setting.to, SetTo::Function | SetTo::Object)
            && !SAY_NOTHING.contains(&setting.name)
            && setting.name != TRACES
    };
    list.iter().filter(counts).map(|setting| format!("{} {:?}\n", setting.name, setting.to)).collect()
}

/// Sums that were made before: of a thousand transfers most have the same.
#[derive(Default)]
pub struct Sums(RefCell<HashMap<Bytes, String>>);

impl Sums {
    /// The name of a partition.
    pub fn of(&self, text: &[u8]) -> String {
        let mut known = self.0.borrow_mut();
        if let Some(sum) = known.get(text) {
            return sum.clone();
        }
        let mut sum = Sha256::digest(text);
        for _ in 0..ROUNDS {
            sum = Sha256::digest(sum);
        }
        known.entry(text.to_vec()).or_insert_with(|| digits(&sum)).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_has_excepted_counts() {
        let setting = |name, number| Setting { name, to: SetTo::Long(number) };
        let of = |list: &[Setting]| of_options(list);
        assert_eq!(of(&[setting("TIMEOUT_MS", 5), setting("VERBOSE", 1)]), "");
        assert_ne!(of(&[setting("SSL_VERIFYPEER", 0)]), "");
        assert_ne!(of(&[setting("A_NEW_OPTION", 1)]), of(&[setting("A_NEW_OPTION", 2)]));
        let sums = Sums::default();
        assert!(sums.of(b"a") != sums.of(b"b") && sums.of(b"a") == Sums::default().of(b"a"));
    }
}
