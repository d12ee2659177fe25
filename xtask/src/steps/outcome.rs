//! Reads counts, failures and tests that were left out from the output of a step.

/// The program whose output a log holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// Nothing is counted; the exit code decides.
    Plain,
    /// `cargo test`.
    Libtest,
    /// pytest with -rs.
    Pytest,
    /// tests/servers.
    Servers,
    /// Curl's cases (`make conformance`).
    Conformance,
}

/// A failed test and its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub test: String,
    pub text: String,
}

/// A test that did not run and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub test: String,
    pub reason: String,
    /// Whether the machine lacks a program or a right that `make test-all` promises.
    pub lacks: bool,
}

/// The sums of one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub passed: usize,
    pub failures: Vec<Failure>,
    pub left_out: Vec<LeftOut>,
    /// Left out by a list that names them elsewhere.
    pub unnamed: usize,
    /// Of the passed tests, those of programs that were not run again because nothing has changed.
    pub earlier: usize,
    /// Something ended without saying how: a test program that was killed, a compiler error.
    pub incomplete: bool,
}

/// The name of what was left out if it is all of a step.
pub const WHOLE_STEP: &str = "the step";

/// The lines of a failed test's output that are shown.
const LINES: usize = 25;

/// How the line of a test program begins whose output is that of an earlier run (`cargo xtask unit`).
pub const EARLIER: &str = "   Unchanged";

/// A test that lacks a program or a right panics with a text that begins so (`testkit::left_out`).
const MARK: &str = "left out: ";
/// A test that lacks data from outside the checkout panics with a text that begins so.
const NO_DATA: &str = "left out without data: ";
/// A test that differs from another library where that one has changed (`testkit::baseline`).
const CHANGED: &str = "left out for a change: ";
/// The text of a launcher's error for a program that is not installed (testkit/src/launch/mod.rs).
const MISSING: &str = " is missing: ";
/// The text of a launcher's error for a server that only root can start.
const ROOT: &str = " wants root";

impl Counts {
    /// Counts tests that lack a program or a right as failed.
    pub fn refuse_missing(&mut self) {
        let lacking = self.left_out.extract_if(.., |left| left.lacks);
        self.failures.extend(lacking.map(|left| Failure { test: left.test, text: left.reason }));
    }

    /// Returns whether tests that were left out are all that made the command fail.
    pub fn explains_failure(&self) -> bool {
        !self.incomplete && self.failures.is_empty() && !self.left_out.is_empty()
    }

    /// ", 3 passed, 1 failed, 2 left out", or nothing if nothing was counted.
    pub fn in_words(&self) -> String {
        let left = self.left_out.len() + self.unnamed;
        if self.passed + self.failures.len() + left == 0 {
            return String::new();
        }
        let earlier = match self.earlier {
            0 => String::new(),
            count => format!(", {count} of these passed in an earlier run and nothing has changed"),
        };
        format!(": {} passed, {} failed, {left} left out{earlier}", self.passed, self.failures.len())
    }
}

/// Reads a log.
pub fn read(output: Output, log: &str) -> Counts {
    match output {
        Output::Plain => plain(log),
        Output::Libtest => libtest(log),
        Output::Pytest => pytest(log),
        Output::Servers => servers(log),
        Output::Conformance => conformance(log),
    }
}

fn number_before(line: &str, word: &str) -> Option<usize> {
    line.split(word).next()?.trim_end().rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn libtest(log: &str) -> Counts {
    let mut counts = Counts::default();
    let (mut begun, mut ended) = (0, 0);
    let mut section: Option<Failure> = None;
    let mut is_earlier = false;
    for line in log.lines() {
        if line.starts_with(EARLIER) || line.starts_with("     Running ") {
            is_earlier = line.starts_with(EARLIER);
        }
        if let Some(test) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----")) {
            counts.close(section.replace(Failure { test: test.to_owned(), text: String::new() }));
        } else if line == "failures:" || line.starts_with("test result: ") {
            counts.close(section.take());
        } else if let Some(failure) = &mut section {
            failure.text.push_str(line);
            failure.text.push('\n');
        }
        if line.starts_with("running ") && (line.ends_with(" tests") || line.ends_with(" test")) {
            begun += 1;
        }
        if line.starts_with("test result: ") {
            ended += 1;
            let passed = number_before(line, " passed").unwrap_or(0);
            counts.passed += passed;
            counts.earlier += if is_earlier { passed } else { 0 };
        }
        if let Some((test, reason)) =
            line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... ignored"))
        {
            let reason = reason.trim_start_matches([',', ' ']);
            // A test without a reason is a long one, which `make test-deep` runs.
            let reason = if reason.is_empty() { "long: part of make test-deep" } else { reason };
            let reason = reason.strip_prefix(MARK).unwrap_or(reason);
            counts.left_out.push(LeftOut { test: test.to_owned(), reason: reason.to_owned(), lacks: false });
        }
    }
    counts.close(section);
    counts.incomplete = begun != ended || log.contains("error: could not compile");
    counts
}

impl Counts {
    /// Files a failed test's output under failures, or under left out if the output says that something is
    /// missing.
    fn close(&mut self, section: Option<Failure>) {
        let Some(mut failure) = section else { return };
        match failure.text.lines().find_map(missing) {
            Some((reason, lacks)) => self.left_out.push(LeftOut { test: failure.test, reason, lacks }),
            None => {
                failure.text = failure.text.trim().lines().take(LINES).collect::<Vec<_>>().join("\n");
                self.failures.push(failure);
            }
        }
    }
}

/// The reason in a line that says that a test was left out, and whether the machine lacks a program or a
/// right.
fn missing(line: &str) -> Option<(String, bool)> {
    let reason = |text: &str| text.trim_end_matches(['"', '}', ' ']).to_owned();
    if let Some((_, text)) = line.split_once(NO_DATA).or_else(|| line.split_once(CHANGED)) {
        return Some((reason(text), false));
    }
    if let Some((_, text)) = line.split_once(MARK) {
        return Some((reason(text), true));
    }
    if let Some((before, _)) = line.split_once(ROOT) {
        return Some((format!("{}{ROOT}", before.rsplit([' ', '"']).next()?), true));
    }
    let (before, remedy) = line.split_once(MISSING)?;
    let program = before.rsplit([' ', '"']).next()?;
    let remedy = remedy.split('"').next().unwrap_or(remedy);
    Some((format!("{program}{MISSING}{remedy}"), true))
}

fn pytest(log: &str) -> Counts {
    let mut counts = Counts::default();
    let mut sums = false;
    for line in log.lines() {
        if let Some((count, reason)) = line.strip_prefix("SKIPPED [").and_then(|rest| rest.split_once("] ")) {
            let (test, reason) = reason.split_once(": ").unwrap_or((reason, ""));
            for _ in 0..count.parse().unwrap_or(1) {
                counts.left_out.push(LeftOut {
                    test: test.to_owned(),
                    reason: reason.to_owned(),
                    lacks: reason.contains(MISSING.trim_start()),
                });
            }
        }
        for word in ["FAILED ", "ERROR "] {
            if let Some((test, text)) = line.strip_prefix(word).and_then(|rest| rest.split_once(" - ")) {
                counts.failures.push(Failure { test: test.to_owned(), text: text.to_owned() });
            }
        }
        if line.contains(" passed") && line.contains(" in ") {
            counts.passed += number_before(line, " passed").unwrap_or(0);
            sums = true;
        }
    }
    counts.incomplete = !sums;
    counts
}

fn servers(log: &str) -> Counts {
    let mut counts = Counts { incomplete: true, ..Counts::default() };
    let mut lines = log.lines().peekable();
    while let Some(line) = lines.next() {
        if line.contains(" held, in ") {
            counts.passed = number_before(line, " of ").unwrap_or(0);
            counts.incomplete = false;
        }
        if let Some(test) = line.strip_prefix("FAIL  ") {
            let mut text = Vec::new();
            while let Some(more) = lines.next_if(|more| more.starts_with("      ")) {
                text.push(more.trim_start().to_owned());
            }
            text.truncate(LINES);
            let test = test.split(" (").next().unwrap_or(test).to_owned();
            counts.failures.retain(|failure| failure.test != test);
            counts.failures.push(Failure { test, text: text.join("\n") });
        }
        if let Some(test) =
            line.strip_prefix("AGAIN ").and_then(|rest| rest.strip_suffix(" held alone, 3 times in a row"))
        {
            counts.failures.retain(|failure| !alike(&failure.test, test));
        }
    }
    counts
}

/// Returns whether two names of a case agree but for blanks.
fn alike(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

/// A step that reports itself as left out.
fn plain(log: &str) -> Counts {
    let reasons = log.lines().filter_map(|line| line.strip_prefix(MARK));
    let left_out = reasons.map(|reason| LeftOut {
        test: WHOLE_STEP.to_owned(),
        reason: reason.to_owned(),
        lacks: false,
    });
    Counts { left_out: left_out.collect(), ..Counts::default() }
}

fn conformance(log: &str) -> Counts {
    let whole = plain(log);
    if !whole.left_out.is_empty() {
        return whole;
    }
    let sums = log.lines().rev().find(|line| line.contains(" passed, ") && line.contains(" skipped"));
    let Some(sums) = sums else { return Counts { incomplete: true, ..Counts::default() } };
    Counts {
        passed: number_before(sums, " passed").unwrap_or(0),
        unnamed: number_before(sums, " skipped").unwrap_or(0),
        ..Counts::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(test: &str, reason: &str) -> LeftOut {
        LeftOut { test: test.to_owned(), reason: reason.to_owned(), lacks: false }
    }

    const LOG: &str = "\
running 6 tests
test a::one ... ok
test a::two ... ignored, left out: it takes two users, and so root
test a::three ... FAILED
test a::four ... FAILED
test a::five ... ignored
test a::six ... FAILED

failures:

---- a::three stdout ----
thread 'a::three' panicked at x.rs:1:1:
called `Result::unwrap()`: Custom { error: \"nginx is missing: install the package nginx-light\" }

---- a::four stdout ----
thread 'a::four' panicked at x.rs:2:2:
1 is not 2

---- a::six stdout ----
thread 'a::six' panicked at x.rs:3:3:
called `Result::unwrap()`: Custom { kind: PermissionDenied, error: \"vsftpd wants root\" }

failures:
    a::four
    a::three

test result: FAILED. 1 passed; 2 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.1s
";

    #[test]
    fn missing_programs_are_no_failures_of_libtest() {
        let counts = libtest(LOG);
        assert_eq!(counts.passed, 1);
        let text = "thread 'a::four' panicked at x.rs:2:2:\n1 is not 2".to_owned();
        assert_eq!(counts.failures, [Failure { test: "a::four".to_owned(), text }]);
        let missing = "nginx is missing: install the package nginx-light";
        assert_eq!(
            counts.left_out,
            [
                left("a::two", "it takes two users, and so root"),
                left("a::five", "long: part of make test-deep"),
                LeftOut { lacks: true, ..left("a::three", missing) },
                LeftOut { lacks: true, ..left("a::six", "vsftpd wants root") }
            ]
        );
        assert!(!counts.incomplete && !counts.explains_failure());
    }

    #[test]
    fn only_missing_programs_explain_a_failure() {
        let without = LOG.replace("1 is not 2", "left out: no user namespaces");
        assert!(libtest(&without).explains_failure());
        let data = LOG.replace("1 is not 2", "left out without data: no facts");
        assert!(libtest(&data).left_out.contains(&left("a::four", "no facts")));
        assert!(!libtest(&without.replace("test result", "killed")).explains_failure());
        assert!(!libtest(&format!("{without}error: could not compile `x`")).explains_failure());
    }

    #[test]
    fn tests_of_an_earlier_run_are_counted_apart() {
        let one = "running 1 test\ntest result: ok. 1 passed; 0 failed\n";
        let counts = libtest(&format!("{EARLIER} a\n{one}     Running b\n{one}{one}{EARLIER} c\n{one}"));
        assert_eq!((counts.passed, counts.earlier), (4, 2));
        assert!(counts.in_words().ends_with(", 2 of these passed in an earlier run and nothing has changed"));
    }

    #[test]
    fn test_all_counts_missing_programs_as_failures() {
        let mut counts = libtest(LOG);
        counts.refuse_missing();
        let names: Vec<&str> = counts.failures.iter().map(|failure| failure.test.as_str()).collect();
        assert_eq!(names, ["a::four", "a::three", "a::six"]);
        assert_eq!(counts.left_out.len(), 2);
    }

    #[test]
    fn pytest_names_skipped_and_failed_tests() {
        let log = "FAILED tests/a.py::x - assert 1\nSKIPPED [2] tests/b.py:7: needs dask\n\
                   1 failed, 30 passed, 2 skipped in 3.1s\n";
        let counts = pytest(log);
        assert_eq!((counts.passed, counts.failures.len()), (30, 1));
        assert_eq!(counts.left_out, [left("tests/b.py:7", "needs dask"), left("tests/b.py:7", "needs dask")]);
        assert!(counts.left_out.iter().all(|left| !left.lacks));
        let lacking =
            pytest("SKIPPED [1] conftest.py:37: is missing: pandas\n30 passed, 1 skipped in 3.1s\n");
        assert!(lacking.left_out[0].lacks);
        assert!(pytest("no module named pytest").incomplete);
    }

    #[test]
    fn a_server_case_that_held_alone_is_no_failure() {
        let log = "ok    ours a (0.1 s)\nFAIL  ours         b (1.0 s)\n      text\n      more\n\
                   FAIL  ours c (1.0 s)\n      bad\n\
                   AGAIN ours         b held alone, 3 times in a row\n2 of 3 held, in 9 s\n";
        let counts = servers(log);
        assert_eq!(counts.failures, [Failure { test: "ours c".to_owned(), text: "bad".to_owned() }]);
        assert_eq!((counts.passed, counts.incomplete), (2, false));
    }

    #[test]
    fn conformance_sums_stand_in_one_line() {
        let counts = conformance("x\n1085 passed, 0 failed, 92 skipped\n12 seconds\n");
        assert_eq!((counts.passed, counts.unnamed, counts.incomplete), (1085, 92, false));
        assert!(conformance("killed").incomplete);
        let none = "left out: no test cases of curl at x";
        assert_eq!(conformance(none).left_out, [left("the step", "no test cases of curl at x")]);
    }
}
