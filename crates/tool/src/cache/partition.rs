//! What tells requests for one URL apart besides their fields: who asks, and of whom. Options of which nobody has said that a reply
//! can't hang on them count, so that what was had from another server, without a check of its certificate or with another login, is
//! not mistaken for this one's.

use super::folder::{Key, digits};
use crate::bytes::Bytes;
use crate::fields::is_harmless;
use crate::options::Options;
use crate::raw::rules::Field;
use crate::request::Request;
use crate::settings::{SetTo, Setting};
use crate::system;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;

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
    let line = |setting: &Setting| {
        let file = match &setting.to {
            SetTo::Text(text) => of_file(text),
            _ => String::new(),
        };
        format!("{} {:?}{file}\n", setting.name, setting.to)
    };
    list.iter().filter(counts).map(line).collect()
}

/// The absolute path and the state of the file that a text names, empty where there is none. Any option's text may name one: which
/// options name files is not listed here, because one that is forgotten would let two files of one name count as one.
fn of_file(text: &[u8]) -> String {
    if text.is_empty() || text.contains(&0) {
        return String::new();
    }
    let path = system::path(text);
    let Ok(about) = fs::metadata(path) else { return String::new() };
    let place = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut state = format!(" {place:?} {}", system::content_stamp(&about));
    if about.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        let mut inside: Vec<String> = entries
            .filter_map(|entry| {
                let about = fs::metadata(entry.path()).ok()?;
                Some(format!(" {:?} {}", entry.file_name(), system::content_stamp(&about)))
            })
            .collect();
        inside.sort();
        state.extend(inside);
    }
    state
}

/// Variables by which a proxy is found where none is named: what another proxy said is another one's reply.
const PROXY_VARIABLES: [&str; 8] = [
    "http_proxy",
    "HTTP_PROXY",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
];

/// The way to the server that the environment tells.
pub fn of_environment(variable: impl Fn(&str) -> Option<Bytes>) -> String {
    let set = |name: &'static str| Some((name, variable(name).filter(|value| !value.is_empty())?));
    PROXY_VARIABLES.into_iter().filter_map(set).map(|pair| format!("{pair:?}\n")).collect()
}

/// The fields of a request that may say who asks, or of which of a server's names: all that are not known to be harmless.
pub fn of_fields(fields: &[Field]) -> String {
    let counted = fields.iter().filter(|(name, _)| !is_harmless(name));
    let mut counted: Vec<_> = counted.map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
    // The order of the same name's values says something, that of names does not.
    counted.sort_by(|one, other| one.0.cmp(&other.0));
    format!("{counted:?}\n")
}

/// Names of partitions, under the key of a folder. Sums that were made before are kept: of a thousand transfers most have the same.
pub struct Sums {
    key: Key,
    known: RefCell<HashMap<Bytes, String>>,
}

impl Sums {
    pub fn new(key: Key) -> Sums {
        Sums { key, known: RefCell::default() }
    }

    /// The name of a partition.
    pub fn of(&self, text: &[u8]) -> String {
        let mut known = self.known.borrow_mut();
        if let Some(sum) = known.get(text) {
            return sum.clone();
        }
        let mut sum = Sha256::new_with_prefix(self.key).chain_update(text).finalize();
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
        let sums = Sums::new([1; 32]);
        assert!(sums.of(b"a") != sums.of(b"b") && sums.of(b"a") == Sums::new([1; 32]).of(b"a"));
        assert_ne!(sums.of(b"a"), Sums::new([2; 32]).of(b"a"));
    }

    #[test]
    fn fields_that_nobody_knows_count() {
        let of = |fields: &[(&str, &str)]| {
            let fields: Vec<Field> = fields
                .iter()
                .map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()))
                .collect();
            of_fields(&fields)
        };
        assert_eq!(of(&[("Accept", "a"), ("User-Agent", "b")]), of(&[]));
        assert_ne!(of(&[("X-Api-Key", "a")]), of(&[("X-Api-Key", "b")]));
        assert_ne!(of(&[("PRIVATE-TOKEN", "a")]), of(&[]));
        assert_eq!(of(&[("A", "1"), ("B", "2")]), of(&[("b", "2"), ("a", "1")]));
        assert_ne!(of(&[("A", "1"), ("a", "2")]), of(&[("A", "2"), ("a", "1")]));
    }

    #[test]
    fn a_proxy_of_the_environment_counts() {
        let with = |set: &'static str| of_environment(|name| (name == set).then(|| b"http://p".to_vec()));
        assert_ne!(with("http_proxy"), with("none"));
        assert_ne!(with("http_proxy"), with("all_proxy"));
        assert_eq!(of_environment(|_| Some(Bytes::new())), with("none"));
    }
}
