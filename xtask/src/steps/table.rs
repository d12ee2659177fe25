//! The steps of `make test` and `make test-all`.

use super::outcome::Output;
use std::time::Duration;

/// A selection of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// `make test`: needs neither root nor packages; leaves out tests whose programs are missing, and names
    /// them.
    Local,
    /// `make test-all`: installs what the tests need; a program that is missing is a failure.
    All,
}

/// One step and its command in each suite; a suite without a command does not run the step.
pub struct Step {
    pub name: &'static str,
    pub about: &'static str,
    local: Option<&'static str>,
    all: Option<&'static str>,
    pub output: Output,
    /// The time limit; the step is killed after it.
    pub minutes: u64,
}

impl Step {
    pub fn command(&self, suite: Suite) -> Option<&'static str> {
        match suite {
            Suite::Local => self.local,
            Suite::All => self.all,
        }
    }

    pub fn limit(&self) -> Duration {
        Duration::from_secs(self.minutes * 60)
    }
}

const fn both(
    name: &'static str,
    about: &'static str,
    command: &'static str,
    output: Output,
    minutes: u64,
) -> Step {
    Step { name, about, local: Some(command), all: Some(command), output, minutes }
}

const fn all(
    name: &'static str,
    about: &'static str,
    command: &'static str,
    output: Output,
    minutes: u64,
) -> Step {
    Step { name, about, local: None, all: Some(command), output, minutes }
}

/// Each command stands after those that build what it needs.
pub const STEPS: &[Step] = &[
    all("deps", "Debian packages and test servers", "sh tests/install.sh", Output::Plain, 20),
    both("format", "rustfmt", "cargo fmt --all --check", Output::Plain, 2),
    both(
        "clippy",
        "lints of all crates",
        "cargo clippy --workspace --all-targets --quiet",
        Output::Plain,
        15,
    ),
    both("tidy", "words, lengths, import circles", "cargo xtask tidy", Output::Plain, 5),
    all("supply", "licences and advisories", "cargo xtask supply --check", Output::Plain, 10),
    both(
        "doc",
        "documentation of the Rust crate",
        "cargo doc --quiet --no-deps -p warmwire && cargo doc --quiet --no-deps -p warmwire --all-features",
        Output::Plain,
        10,
    ),
    both(
        "unit",
        "tests of all crates, C programs on the library",
        "cargo test --workspace --no-fail-fast",
        Output::Libtest,
        40,
    ),
    Step {
        name: "fuzz",
        about: "mutated input for every parser",
        local: Some("sh fuzz/run.sh 10"),
        all: Some("sh fuzz/run.sh 60"),
        output: Output::Plain,
        minutes: 15,
    },
    all(
        "build",
        "library and tool as they are shipped",
        "make --no-print-directory lib tool",
        Output::Plain,
        20,
    ),
    all(
        "servers",
        "foreign programs and servers, on two libraries",
        "make --no-print-directory servers",
        Output::Servers,
        30,
    ),
    both("python", "the Python package in a fresh environment", "sh python/test.sh -rs", Output::Pytest, 20),
    all(
        "judges-ssh",
        "ssh-audit, and SSH servers in Python",
        "sh tests/judges/run.sh -rs test_ssh_audit.py test_ssh_peers.py",
        Output::Pytest,
        10,
    ),
    Step {
        name: "conformance",
        about: "curl's cases on the tool",
        local: Some("make --no-print-directory conformance QUICK=1"),
        all: Some("make --no-print-directory conformance"),
        output: Output::Conformance,
        minutes: 15,
    },
    Step {
        name: "odd-replies",
        about: "mutated replies to the tool",
        local: Some("make --no-print-directory odd-replies QUICK=1"),
        all: Some("make --no-print-directory odd-replies"),
        output: Output::Plain,
        minutes: 10,
    },
    all(
        "sanitize",
        "ThreadSanitizer, AddressSanitizer",
        "make --no-print-directory sanitize-if-possible",
        Output::Plain,
        45,
    ),
    all(
        "windows",
        "the tool and C programs on Wine",
        "make --no-print-directory windows-if-possible",
        Output::Plain,
        30,
    ),
    all("coverage", "COVERAGE.md against what was built", "cargo xtask coverage --check", Output::Plain, 10),
    all(
        "counts",
        "instructions, allocations and sizes",
        "make --no-print-directory counts",
        Output::Plain,
        20,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// A step name is the name of a log file and an argument.
    #[test]
    fn step_names_differ_and_are_plain_words() {
        for (number, step) in STEPS.iter().enumerate() {
            assert!(step.name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", step.name);
            assert!(STEPS[..number].iter().all(|other| other.name != step.name), "{}", step.name);
            assert!(step.command(Suite::All).is_some(), "{} is no step of make test-all", step.name);
        }
    }

    /// The limit of CI is 90 minutes. A hanging step must leave time for the report.
    #[test]
    fn no_step_may_take_half_of_the_time_of_ci_but_the_sanitizers() {
        assert!(STEPS.iter().all(|step| step.minutes <= 45));
    }
}
