//! The two libraries under test, and how a program is made to load one of them.

use std::path::PathBuf;
use std::process::Command;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The library that the system's loader finds.
    Distribution,
    /// The directory with our libcurl.so.4.
    Ours(PathBuf),
    /// Our library, configured to use the system's OpenSSL for TLS.
    OpenSsl(PathBuf),
}

impl Subject {
    pub fn name(&self) -> &'static str {
        match self {
            Subject::Distribution => "distribution",
            Subject::Ours(_) => "ours",
            Subject::OpenSsl(_) => "ours, by OpenSSL",
        }
    }

    pub fn is_ours(&self) -> bool {
        !matches!(self, Subject::Distribution)
    }

    /// Makes `command` load this library.
    pub fn choose(&self, command: &mut Command) {
        match self {
            Subject::Distribution => command.env_remove("LD_LIBRARY_PATH"),
            Subject::Ours(directory) => command.env("LD_LIBRARY_PATH", directory),
            Subject::OpenSsl(directory) => {
                command.env("LD_LIBRARY_PATH", directory).env("CURL_SSL_BACKEND", "openssl")
            }
        };
    }
}
