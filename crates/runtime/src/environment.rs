//! The one reader of the variables in `tables::environment`. A value that is not allowed is reported once on
//! standard error and counts as unset. A process with more rights than its user reads none of them, because
//! the environment is the user's.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tables::environment::{ALL, Variable};

use crate::secure_execution;

/// Most characters of a value that a report shows.
const MAX_SHOWN: usize = 100;

/// Returns the value of a variable if it is set and allowed.
pub fn value(variable: &Variable) -> Option<OsString> {
    let value = std::env::var_os(variable.name).filter(|value| !value.is_empty())?;
    if secure_execution() {
        return None;
    }
    if variable.values.allow(&value) {
        return Some(value);
    }
    report(variable, &value);
    None
}

/// Returns the value of a variable whose values are texts.
pub fn text(variable: &Variable) -> Option<String> {
    value(variable)?.into_string().ok()
}

/// Reports the values that are not allowed, also of variables that nothing reads: a process that makes no FTP
/// transfer learns that its `WARMWIRE_FTP` is misspelt. Later calls return at once.
pub fn check() {
    static CHECKED: AtomicBool = AtomicBool::new(false);
    if !CHECKED.load(Ordering::Relaxed) && !CHECKED.swap(true, Ordering::Relaxed) {
        ALL.iter().for_each(|variable| drop(value(variable)));
    }
}

/// Writes one line for a variable. No `Once` guards it: a forked child would wait for a thread of its
/// parent's that is in it.
fn report(variable: &Variable, value: &OsStr) {
    static REPORTED: AtomicU64 = AtomicU64::new(0);
    let bit = ALL.iter().position(|one| one.name == variable.name).map_or(0, |at| 1 << (at % 64));
    if REPORTED.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
        // If standard error is closed, the report is lost.
        let _ = io::stderr().write_all(line(variable, value).as_bytes());
    }
}

fn line(variable: &Variable, value: &OsStr) -> String {
    let value = value.to_string_lossy();
    let shown: String = value.chars().take(MAX_SHOWN).collect();
    let rest = if shown.len() < value.len() { "..." } else { "" };
    let shown = shown.escape_debug();
    let Variable { name, values, .. } = variable;
    format!("warmwire: {name}={shown}{rest} is ignored; {name} must be: {values}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tables::environment::{POOL_LIMIT, SMTP};

    #[test]
    fn a_report_names_the_values() {
        assert_eq!(
            line(&SMTP, "wai\u{1b}t".as_ref()),
            "warmwire: WARMWIRE_SMTP=wai\\u{1b}t is ignored; WARMWIRE_SMTP must be: wait, together\n"
        );
        let long = line(&POOL_LIMIT, "9".repeat(1000).as_ref());
        assert!(long.contains("99... is ignored; WARMWIRE_POOL_LIMIT must be: a number from 1 to 4096"));
        assert!(long.len() < 200);
    }

    #[test]
    fn each_variable_has_a_bit_of_its_own() {
        assert!(ALL.len() <= 64);
    }
}
