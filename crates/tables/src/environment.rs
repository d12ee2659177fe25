//! The variables of the environment that Warmwire reads beside curl's, each with the values that it allows.
//! `runtime::environment` reads them; the manual and the guide list them.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;

/// A variable of the environment.
#[derive(Debug)]
pub struct Variable {
    pub name: &'static str,
    pub values: Values,
    /// The behaviour without the variable.
    pub default: &'static str,
    /// The processes that read it.
    pub scope: &'static str,
    pub about: &'static str,
}

/// The values that a variable may have. An empty value counts as none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Values {
    /// One of these words.
    Word(&'static [&'static str]),
    /// Some of these words, separated by commas.
    Words(&'static [&'static str]),
    Number {
        least: u64,
        most: u64,
    },
    /// One of these words, a colon, and a text; the field says what the text names.
    Prefixed(&'static [&'static str], &'static str),
    /// An absolute path; the text says of what.
    AbsolutePath(&'static str),
    /// Any text; the field says what it names.
    Any(&'static str),
}

impl Values {
    /// Returns whether a variable may have this value.
    pub fn allow(&self, value: &OsStr) -> bool {
        let text = value.to_str();
        match self {
            Values::Word(words) => text.is_some_and(|text| words.contains(&text)),
            Values::Words(words) => {
                text.is_some_and(|text| text.split(',').all(|word| words.contains(&word.trim())))
            }
            Values::Number { least, most } => text
                .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
                .and_then(|text| text.parse().ok())
                .is_some_and(|number: u64| (*least..=*most).contains(&number)),
            Values::Prefixed(words, _) => words.iter().any(|word| {
                let rest = value.as_encoded_bytes().strip_prefix(word.as_bytes());
                rest.and_then(|rest| rest.strip_prefix(b":")).is_some_and(|rest| !rest.is_empty())
            }),
            Values::AbsolutePath(_) => Path::new(value).is_absolute(),
            Values::Any(_) => true,
        }
    }
}

impl fmt::Display for Values {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Values::Word(words) => f.write_str(&words.join(", ")),
            Values::Words(words) => write!(f, "{}, separated by commas", words.join(", ")),
            Values::Number { least, most } => write!(f, "a number from {least} to {most}"),
            Values::Prefixed(words, what) => write!(f, "{}, a colon, and {what}", words.join(" or ")),
            Values::AbsolutePath(what) => write!(f, "the absolute path of {what}"),
            Values::Any(what) => f.write_str(what),
        }
    }
}

macro_rules! variables {
    ($($const:ident: $values:expr, $default:literal, $scope:expr, $about:literal;)*) => {
        $(pub static $const: Variable = Variable {
            name: concat!("WARMWIRE_", stringify!($const)),
            values: $values,
            default: $default,
            scope: $scope,
            about: $about,
        };)*

        /// All variables, in the order of the manual.
        pub static ALL: &[&Variable] = &[$(&$const,)*];
    };
}

const PROGRAMS: &str = "every program, and the tool";
/// The levels of WARMWIRE_LOG; each includes those before it.
pub const LOG_LEVELS: &[&str] = &["error", "info", "debug"];

const OF_BROKER: &str = "the broker, when a program starts it";

variables! {
    POOL: Values::Word(&["process", "user", "off", "no", "none", "0"]), "off", PROGRAMS,
        "The pool of idle connections behind the handles. With process, connections outlive their handles. \
         With user, they outlive the process, as with --pool.";
    FOLLOW_NAMES: Values::Word(&["yes", "no"]), "yes with WARMWIRE_POOL, otherwise no", PROGRAMS,
        "Whether a connection is left when its host's name does not resolve to its address any more. See \
         warmwire_follow_names(3).";
    POLICY: Values::Any("a file"), "no policy", PROGRAMS,
        "The policy that says which schemes, hosts, ports and addresses may be reached, as with --policy. It \
         is read at the first transfer. If it cannot be read or has an error, every transfer fails.";
    PROXY: Values::Any("proxies with spaces between them, auto, or pac+URL"), "the variables of curl",
        PROGRAMS,
        "The proxy of transfers for which the program sets none; http_proxy, https_proxy and all_proxy are \
         not read then. Of several, the next one is tried when one cannot be reached. The word direct is no \
         proxy, auto stands for those of the system, and pac+ precedes the URL of a PAC file (not for \
         programs on libcurl). NO_PROXY still counts.";
    REPORT: Values::Any("stderr, a file or a folder"), "no report", PROGRAMS,
        "A report when the process ends: what it did with its connections, and what it could do better. The \
         report is added to the end of a file. In a folder, each process writes a file of its own.";
    HAR: Values::Any("a file or a folder"), "no archive", PROGRAMS,
        "An HTTP Archive (HAR 1.2) of all transfers, written when the process ends, as by --har, but without \
         bodies. Only this user can read it. Of processes that name one file, the last to end replaces what \
         the others wrote; in a folder, each writes a file of its own. 10,000 transfers at most.";
    HAR_SECRETS: Values::Word(&["yes", "no"]), "no", PROGRAMS,
        "Whether the archives of WARMWIRE_HAR and --har contain logins, cookies and other secrets.";
    TIMELINE: Values::Any("a file or a folder"), "no picture", PROGRAMS,
        "A picture of all transfers over time, written when the process ends, as by --timeline: SVG, or HTML \
         if the file's name ends in .html. Files and folders are those of WARMWIRE_HAR.";
    LOG: Values::Prefixed(LOG_LEVELS, "stderr, a file or a folder"), "no log", PROGRAMS,
        "A log with one JSON object a line: failed transfers (error), all requests and transfers (info), or \
         each decision as it is made (debug). Secrets are omitted. Several processes may name one file.";
    TRACE: Values::Prefixed(&["otlp"], "the URL of a collector (OTLP over HTTP, with JSON)"), "no trace",
        PROGRAMS,
        "A span for each request is exported to an OpenTelemetry collector, and requests carry the field \
         traceparent. A URL without a path means /v1/traces there. The variable TRACEPARENT names the \
         span to which the process belongs.";
    TRACE_HOSTS: Values::Any("host names, separated by commas"),
        "the hosts of the URLs that the application sets", "programs with WARMWIRE_TRACE",
        "The hosts that get the field traceparent, each with the hosts below it. A redirect to another \
         origin never gets it.";
    RECORD: Values::Any("a folder"), "no record", PROGRAMS,
        "The folder that the HTTP and FTP exchanges of the program are recorded to, without secrets, as with \
         --record.";
    REPLAY: Values::Any("a folder"), "no replay", PROGRAMS,
        "The folder that requests are answered from, without a network, as with --replay. It wins over \
         WARMWIRE_RECORD.";
    REPLAY_HEADERS: Values::Any("names, separated by commas"), "none", "programs that replay",
        "Request fields that must be equal to the recorded ones, beside method and URL.";
    FTP: Values::Word(&["wait", "together", "pipeline", "turns"]), "together", PROGRAMS,
        "The pipelining of FTP commands. See warmwire_ftp_pipeline(3).";
    SMTP: Values::Word(&["wait", "together"]), "together", PROGRAMS,
        "The pipelining of SMTP commands. See warmwire_smtp_pipeline(3).";
    WS: Values::Words(&["deflate", "forget", "http2"]), "none of them", PROGRAMS,
        "Extensions of WebSocket. See warmwire_websocket(3).";
    POOL_DIR: Values::AbsolutePath("a folder"),
        "the folder warmwire in XDG_RUNTIME_DIR or in /run/user/UID, or /tmp/warmwire-UID",
        "programs with WARMWIRE_POOL=user, and the broker",
        "The folder of the broker's socket.";
    POOL_LIMIT: Values::Number { least: 1, most: 4096 }, "256", OF_BROKER,
        "Number of connections that the broker keeps.";
    POOL_IDLE: Values::Number { least: 1, most: 86_400 }, "118", OF_BROKER,
        "Seconds for which the broker keeps a connection.";
    POOL_EXIT: Values::Number { least: 1, most: 86_400 }, "120", OF_BROKER,
        "Idle seconds after which the broker exits.";
    BROKER: Values::AbsolutePath("a program"), "../bin/warmwire from the library's folder, or that in PATH",
        "programs with WARMWIRE_POOL=user",
        "The program that is started as the broker.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_allowed_or_not() {
        let root = if cfg!(windows) { "C:\\x" } else { "/x" };
        #[rustfmt::skip]
        let rows: &[(&Variable, &[&str], &[&str])] = &[
            (&POOL, &["process", "user", "off", "0"], &["yes", "1", "on", "Process", "process ", "users"]),
            (&FTP, &["wait", "turns"], &["turn", "wait,turns", " wait"]),
            (&WS, &["deflate", "http2, deflate", "forget,forget"], &["x", "deflate,", "deflate http2"]),
            (&POOL_LIMIT, &["1", "4096", "007"], &["0", "4097", "-1", "+1", "1.5", "18446744073709551616"]),
            (&POOL_DIR, &[root], &["x", "./x"]),
            (&REPORT, &["stderr", "x"], &[]),
            (&LOG, &["info:x", "debug:/a:b"], &["info", "info:", "infos:x", "x", "Info:x"]),
            (&TRACE, &["otlp:http://h:4318"], &["otlp", "http://h:4318", "zipkin:http://h"]),
        ];
        for (variable, good, bad) in rows {
            let allowed = |value: &&&str| variable.values.allow(OsStr::new(value));
            assert_eq!(good.iter().filter(allowed).count(), good.len(), "{}: {good:?}", variable.name);
            assert_eq!(bad.iter().filter(allowed).count(), 0, "{}: {bad:?}", variable.name);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_word_is_text() {
        use std::os::unix::ffi::OsStrExt;
        let value = OsStr::from_bytes(b"/\xff");
        assert!(!POOL.values.allow(value));
        assert!(POOL_DIR.values.allow(value));
    }

    #[test]
    fn values_are_named() {
        assert_eq!(SMTP.values.to_string(), "wait, together");
        assert_eq!(WS.values.to_string(), "deflate, forget, http2, separated by commas");
        assert_eq!(POOL_LIMIT.values.to_string(), "a number from 1 to 4096");
        assert_eq!(LOG.values.to_string(), "error or info or debug, a colon, and stderr, a file or a folder");
        assert_eq!(BROKER.values.to_string(), "the absolute path of a program");
    }
}
