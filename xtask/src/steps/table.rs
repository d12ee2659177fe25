//! The steps of `make test`, `make test-all` and `make test-deep`.

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
    /// `make test-deep`: what takes from minutes to hours, after all steps of `make test-all`.
    Deep,
}

impl Suite {
    /// The command of the Makefile, and the option of `cargo xtask test` with the blank before it.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Suite::Local => ("make test", ""),
            Suite::All => ("make test-all", " --all"),
            Suite::Deep => ("make test-deep", " --deep"),
        }
    }
}

/// A step and its command in each suite; a suite without a command does not run the step.
pub struct Step {
    pub name: &'static str,
    pub about: &'static str,
    local: Option<&'static str>,
    all: Option<&'static str>,
    deep: Option<&'static str>,
    /// Whether `make test` runs the step beside another one.
    pub beside: bool,
    /// Commands that compile what the step needs, while steps before it wait for servers and timers.
    ahead: &'static [(Suite, &'static str)],
    /// Files that the step runs and reads besides those that all tests share: of the checkout, and in
    /// target/debug those that the step `compile` has built. `make test` repeats the result of the last run
    /// while none of them has changed. Empty for a step that always runs.
    pub noticed: &'static [&'static str],
    pub output: Output,
    /// The time limit; the step is killed after it.
    pub minutes: u64,
}

impl Step {
    pub fn command(&self, suite: Suite) -> Option<&'static str> {
        match suite {
            Suite::Local => self.local,
            Suite::All => self.all,
            Suite::Deep => self.deep,
        }
    }

    /// The command that compiles ahead, without an effect but a quicker step.
    pub fn ahead(&self, suite: Suite) -> Option<&'static str> {
        self.ahead.iter().find(|(of, _)| *of == suite).map(|(_, command)| *command)
    }

    pub fn limit(&self) -> Duration {
        Duration::from_secs(self.minutes * 60)
    }

    const fn beside(self) -> Step {
        Step { beside: true, ..self }
    }

    const fn built_ahead(self, ahead: &'static [(Suite, &'static str)]) -> Step {
        Step { ahead, ..self }
    }
}

const fn step(name: &'static str, about: &'static str, output: Output, minutes: u64) -> Step {
    Step {
        name,
        about,
        local: None,
        all: None,
        deep: None,
        beside: false,
        ahead: &[],
        noticed: &[],
        output,
        minutes,
    }
}

const fn both(
    name: &'static str,
    about: &'static str,
    command: &'static str,
    output: Output,
    minutes: u64,
) -> Step {
    Step { local: Some(command), all: Some(command), ..step(name, about, output, minutes) }
}

const fn all(
    name: &'static str,
    about: &'static str,
    command: &'static str,
    output: Output,
    minutes: u64,
) -> Step {
    Step { all: Some(command), ..step(name, about, output, minutes) }
}

const fn deep(
    name: &'static str,
    about: &'static str,
    command: &'static str,
    output: Output,
    minutes: u64,
) -> Step {
    Step { deep: Some(command), ..step(name, about, output, minutes) }
}

/// The program that curl's cases and odd replies are tried on, and the one that tries them.
const TOOL_AND_RUNNER: &[&str] = &["target/debug/warmwire", "target/debug/warmwire-conformance"];

/// Each command stands after those that build what it needs.
pub const STEPS: &[Step] = &[
    all("deps", "Debian packages and test servers", "sh tests/install.sh", Output::Plain, 20),
    // Beside the compiler, which keeps two processors busy for half of its time.
    both("format", "rustfmt", "cargo fmt --all --check", Output::Plain, 2).beside(),
    both("clippy", "lints of all crates; compiles all tests", "cargo xtask clippy", Output::Plain, 20)
        .beside(),
    // Not by cargo, which waits for the compiler.
    both("tidy", "words, lengths, import circles", "\"$XTASK\" tidy", Output::Plain, 5).beside(),
    all(
        "clippy-curl-sys",
        "lints of the stand-in for curl-sys, a workspace of its own",
        "cargo clippy --quiet --locked --all-targets --manifest-path crates/curl-sys/Cargo.toml \
         --target-dir ${CARGO_TARGET_DIR:-target} -- -D warnings",
        Output::Plain,
        15,
    ),
    all(
        "object-store",
        "the connector of object_store, a workspace of its own",
        // By clippy as the compiler: one pass has lints and tests.
        "cargo --config \"build.rustc-workspace-wrapper = 'clippy-driver'\" test --locked --no-fail-fast \
         --manifest-path crates/object-store/Cargo.toml --target-dir ${CARGO_TARGET_DIR:-target}",
        Output::Libtest,
        20,
    ),
    all("supply", "licences and advisories", "cargo xtask supply --check", Output::Plain, 10),
    all(
        "workflows",
        "the workflow files, by actionlint",
        "sh tests/install.sh actionlint && \
         ${CARGO_TARGET_DIR:-target}/tools/bin/actionlint .github/workflows/*.yml",
        Output::Plain,
        5,
    ),
    all("manifests", "the manifests of vcpkg and winget", "sh tests/packages/manifests.sh", Output::Plain, 5),
    // Not part of `make test`: for one crate cargo compiles most others again, with fewer features.
    all(
        "doc",
        "documentation of the Rust crate",
        "cargo doc --quiet --no-deps -p warmwire && \
         cargo doc --quiet --no-deps -p warmwire --all-features && \
         cargo doc --quiet --no-deps -p warmwire --no-default-features",
        Output::Plain,
        10,
    ),
    all(
        "api",
        "the public items of the Rust crate, and lints of the program that lists them",
        "cargo test --quiet --locked --manifest-path xtask/api/Cargo.toml \
         --target-dir ${CARGO_TARGET_DIR:-target}/api-listing && \
         cargo clippy --quiet --locked --all-targets --manifest-path xtask/api/Cargo.toml \
         --target-dir ${CARGO_TARGET_DIR:-target}/api-listing -- -D warnings && cargo xtask api --check",
        Output::Libtest,
        10,
    ),
    all(
        "client",
        "the Rust crate alone, as its user tests it",
        "cargo check --quiet -p warmwire --lib && cargo test -p warmwire --no-fail-fast",
        Output::Libtest,
        15,
    ),
    // Each feature is on in one of the three and off in the others.
    all(
        "features",
        "the Rust crate with HTTP alone, and with some protocols",
        "cargo test --quiet -p warmwire --no-default-features --test features && \
         cargo check --quiet -p warmwire --lib --no-default-features \
         --features file,ftp,http3,ldap,mail && \
         cargo check --quiet -p warmwire --lib --no-default-features \
         --features dict,gopher,mqtt,rtsp,ssh,telnet,tftp",
        Output::Libtest,
        15,
    ),
    both(
        "compile",
        "all tests and their programs",
        // `clippy` has compiled them; where that step has findings, this one says whether all compiles.
        "sh tests/cargo.sh test --workspace --no-run --quiet && \
         sh tests/cargo.sh build --workspace --lib --bin warmwire --bin warmwire-conformance \
         --test launchers --quiet",
        Output::Plain,
        20,
    ),
    both("guide", "pages and links of the guide", "cargo xtask docs --check", Output::Plain, 10),
    Step {
        name: "unit",
        about: "tests of all crates, C programs on the library",
        // Random input, failing system calls and the static library take processor time alone: `make
        // test-all` tries more, and the step `fuzz` mutates.
        local: Some(
            "SEEDS=300 INTERLEAVINGS=100 MUTATION_ROUNDS=200 ODD_LINES=300 FAULT_DEPTH=1 STATIC=no \
             cargo xtask unit --changed",
        ),
        // One program after another: tests of servers have time-outs, and all must hold in CI.
        all: Some("sh tests/cargo.sh test --workspace --no-fail-fast"),
        deep: None,
        beside: true,
        ahead: &[],
        noticed: &[],
        output: Output::Libtest,
        minutes: 40,
    },
    Step {
        name: "fuzz",
        about: "mutated input for every parser",
        local: Some("sh fuzz/run.sh 10"),
        all: Some("sh fuzz/run.sh 60"),
        deep: None,
        beside: true,
        ahead: &[(Suite::All, "sh fuzz/run.sh --build-oracles")],
        noticed: &[],
        output: Output::Plain,
        minutes: 15,
    },
    all(
        "build",
        "library and tool as they are shipped",
        "make --no-print-directory lib tool",
        Output::Plain,
        20,
    )
    .built_ahead(&[(Suite::All, "make --no-print-directory lib tool")]),
    all(
        "servers",
        "foreign programs and servers, on two libraries",
        "make --no-print-directory servers",
        Output::Servers,
        30,
    ),
    Step {
        name: "python",
        about: "the Python package in a fresh environment",
        // The shipped profile takes ten minutes of processor time; the step `wheels` tries wheels of that.
        local: Some("WHEEL=workspace PACKAGES=few sh python/test.sh -rfEs"),
        all: Some("WHEEL=workspace sh python/test.sh -rfEs"),
        deep: None,
        beside: true,
        ahead: &[(Suite::All, "sh tests/install.sh python_tools")],
        noticed: &["README.md", "target/debug/lib_native.so", "target/debug/testkit-serve"],
        output: Output::Pytest,
        minutes: 20,
    },
    all(
        "judges-ssh",
        "ssh-audit, and SSH servers in Python",
        "sh tests/judges/run.sh -rfEs test_ssh_audit.py test_ssh_peers.py",
        Output::Pytest,
        10,
    ),
    Step {
        name: "conformance",
        about: "curl's cases on the tool",
        local: Some("make --no-print-directory conformance QUICK=1"),
        all: Some("make --no-print-directory conformance"),
        deep: None,
        beside: true,
        ahead: &[],
        noticed: TOOL_AND_RUNNER,
        output: Output::Conformance,
        minutes: 15,
    },
    Step {
        name: "odd-replies",
        about: "mutated replies to the tool",
        local: Some("make --no-print-directory odd-replies QUICK=1"),
        all: Some("make --no-print-directory odd-replies"),
        deep: None,
        beside: true,
        ahead: &[],
        noticed: TOOL_AND_RUNNER,
        output: Output::Plain,
        minutes: 10,
    },
    all(
        "sanitize",
        "ThreadSanitizer, AddressSanitizer",
        "make --no-print-directory sanitize-if-possible",
        Output::Plain,
        45,
    )
    .built_ahead(&[(
        Suite::All,
        "for kind in thread address; do sh crates/capi/link.sh --sanitize $kind; done",
    )]),
    all(
        "windows",
        "the tool and C programs on Wine",
        "make --no-print-directory windows-if-possible",
        Output::Plain,
        30,
    )
    .built_ahead(&[(
        Suite::All,
        "sh tests/install.sh windows; cargo build --quiet --target x86_64-pc-windows-gnu -p warmwire-tool; \
         sh crates/capi/link-windows.sh --debug",
    )]),
    all(
        "coverage",
        "COVERAGE.md against what was built",
        "make --no-print-directory coverage",
        Output::Plain,
        20,
    ),
    all(
        "counts",
        "instructions, allocations and sizes",
        "make --no-print-directory counts",
        Output::Plain,
        20,
    ),
    deep(
        "packages",
        "Debian packages in a fresh root",
        "make --no-print-directory try-packages",
        Output::Plain,
        90,
    ),
    deep(
        "static",
        "the static tool in an empty root and under qemu",
        "make --no-print-directory try-static",
        Output::Plain,
        60,
    ),
    deep(
        "wheels",
        "wheels in fresh roots of three Debian releases",
        "make --no-print-directory try-wheels",
        Output::Plain,
        90,
    ),
    deep(
        "crates",
        "each crate compiled as it is published",
        "cargo publish --quiet --dry-run --workspace",
        Output::Plain,
        30,
    ),
    deep(
        "datafusion",
        "DataFusion reads through the connector of object_store",
        "cargo test --locked --manifest-path tests/datafusion/Cargo.toml \
         --target-dir ${CARGO_TARGET_DIR:-target}/datafusion",
        Output::Libtest,
        60,
    ),
    deep("semver", "the Rust crate beside its last release", "cargo xtask semver", Output::Plain, 60),
    deep("install", "the suite h2spec is installed", "sh tests/install.sh h2spec", Output::Plain, 10),
    deep(
        "judges",
        "suites of other projects on the tool",
        "make --no-print-directory judges",
        Output::Pytest,
        60,
    ),
    deep(
        "library",
        "curl's cases on the library",
        "make --no-print-directory conformance-lib",
        Output::Conformance,
        30,
    ),
    deep(
        "wine",
        "all tests for Windows on Wine",
        "make --no-print-directory test-windows",
        Output::Plain,
        90,
    ),
    deep(
        "wine-cases",
        "curl's cases on the tool for Windows",
        "make --no-print-directory conformance-windows",
        Output::Conformance,
        60,
    ),
    deep(
        "watch",
        "60 servers watched for an hour",
        "make --no-print-directory watch-pace",
        Output::Libtest,
        90,
    ),
    deep(
        "simulation",
        "100,000 seeds of simulated worlds",
        "make --no-print-directory simulate SEEDS=100000",
        Output::Plain,
        120,
    ),
    deep(
        "chains",
        "5,000 certificate chains beside OpenSSL",
        "WARMWIRE_CHAINS=5000 cargo test -p warmwire-net --test all x509_oracle",
        Output::Libtest,
        30,
    ),
    deep(
        "wake-ups",
        "interleavings of the executor",
        "INTERLEAVINGS=20000 cargo test -p warmwire-runtime --test interleavings",
        Output::Libtest,
        30,
    ),
    deep(
        "look-ups",
        "interleavings of the resolver",
        "INTERLEAVINGS=5000 cargo test -p warmwire-net --test resolver_interleavings",
        Output::Libtest,
        30,
    ),
    deep(
        "pools",
        "interleavings of pools and caches",
        "INTERLEAVINGS=20000 cargo test -p warmwire-net --test pool_interleavings --test kept_interleavings \
         --test process_interleavings",
        Output::Libtest,
        60,
    ),
    deep(
        "shares",
        "interleavings of share handles",
        "INTERLEAVINGS=20000 cargo test -p warmwire-engine --test share_interleavings",
        Output::Libtest,
        30,
    ),
    deep(
        "globals",
        "interleavings of curl_global_init",
        "INTERLEAVINGS=20000 cargo test -p warmwire-capi --test global_interleavings",
        Output::Libtest,
        30,
    ),
    deep(
        "soak",
        "memory and descriptors under load",
        "make --no-print-directory soak MINUTES=4",
        Output::Plain,
        30,
    ),
    deep(
        "broker-soak",
        "100,000 processes on one broker",
        "PROCESSES=100000 cargo test -p warmwire-tool --test cli many_processes_share",
        Output::Libtest,
        60,
    ),
    deep(
        "broker-kills",
        "processes killed while connections move",
        "KILLS=500 cargo test -p warmwire-tool --test pool killed_processes",
        Output::Libtest,
        10,
    ),
    deep(
        "miri",
        "aliasing and leaks at the border to C",
        "make --no-print-directory miri-if-possible",
        Output::Plain,
        90,
    ),
    deep(
        "careful",
        "unit tests with assertions in std",
        "make --no-print-directory careful-if-possible",
        Output::Plain,
        60,
    ),
    deep(
        "faults",
        "failing system calls, 100 deep",
        "FAULT_DEPTH=100 cargo test -p warmwire-capi --test abi faults",
        Output::Libtest,
        60,
    ),
    deep(
        "servers-deep",
        "long cases with foreign servers",
        "make --no-print-directory servers DEEP=1",
        Output::Servers,
        90,
    ),
    deep(
        "killed",
        "the tool killed at each step",
        "cargo test -p warmwire-tool --test cli killed_at -- --ignored",
        Output::Libtest,
        60,
    ),
    deep(
        "python-deep",
        "long tests of the Python package",
        "sh python/test.sh -rfEs -m deep",
        Output::Pytest,
        60,
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
            let is_local = step.command(Suite::Local).is_some();
            assert!(!is_local || step.command(Suite::All).is_some(), "make test-all lacks {}", step.name);
        }
    }

    /// Steps of `make test` run side by side while the compiler works, and when all is compiled.
    #[test]
    fn steps_beside_others_come_with_the_compiler_or_behind_it() {
        let local: Vec<&Step> = STEPS.iter().filter(|step| step.command(Suite::Local).is_some()).collect();
        let groups: Vec<Vec<&str>> = local
            .chunk_by(|step, next| step.beside == next.beside)
            .map(|group| group.iter().map(|step| step.name).collect())
            .collect();
        assert_eq!(groups[..2], [["format", "clippy", "tidy"].to_vec(), ["compile", "guide"].to_vec()]);
        assert_eq!(groups.len(), 3, "{groups:?}");
    }

    /// The limit of CI is 90 minutes. A hanging step must leave time for the report.
    #[test]
    fn no_step_may_take_half_of_the_time_of_ci_but_the_sanitizers() {
        let mut of_ci = STEPS.iter().filter(|step| step.command(Suite::All).is_some());
        assert!(of_ci.all(|step| step.minutes <= 45));
    }
}
