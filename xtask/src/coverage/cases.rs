//! Flags that curl's published test cases cover: those in the command lines of the cases that our tool
//! passes.
//!
//! conformance/covers.txt holds the first such case for each flag. It is rewritten after a conformance run,
//! which leaves its list of passed cases in target/conformance/passed.txt, if the cases are available;
//! otherwise it stays.

use crate::files;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tables::flag;

const COVERS: &str = "conformance/covers.txt";
const HEAD: &str = "# For each flag the first of curl's test cases that has it and that our tool passes. Made by \
                    `cargo xtask coverage` after a\n# conformance run with --write-passed target/conformance/passed.txt.\n";

/// Returns flags and cases from the checked-in list, which is first rewritten if possible.
pub fn covered(check: bool) -> Result<Vec<(String, u64)>, String> {
    let passed = passed();
    if let (Some(passed), Some(cases), false) = (&passed, cases(), check) {
        files::generated(COVERS, &from_run(passed, &cases)?, false)?;
    }
    let text = files::text(COVERS);
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let parse = |line: &str| {
        let (flag, case) = line.split_once(' ').ok_or(format!("{COVERS}: {line}"))?;
        Ok((flag.to_owned(), case.parse().map_err(|_| format!("{COVERS}: {line}"))?))
    };
    let covered: Vec<(String, u64)> = lines.map(parse).collect::<Result<_, String>>()?;
    match passed {
        // The cases in the list must still pass; a list that could be longer is not an error.
        Some(passed) => match covered.iter().find(|(_, case)| !passed.contains(case)) {
            Some((flag, case)) => Err(format!("{COVERS}: case {case} ({flag}) does not pass any more")),
            None => Ok(covered),
        },
        None => Ok(covered),
    }
}

fn passed() -> Option<BTreeSet<u64>> {
    let text = std::fs::read_to_string(files::target().join("conformance/passed.txt")).ok()?;
    Some(text.lines().filter_map(|line| line.parse().ok()).collect())
}

fn from_run(passed: &BTreeSet<u64>, cases: &Path) -> Result<String, String> {
    let mut first: BTreeMap<String, u64> = BTreeMap::new();
    for &number in passed {
        let path = cases.join(format!("test{number}"));
        let text = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        for flag in flags(&command(&String::from_utf8_lossy(&text))) {
            first.entry(flag).or_insert(number);
        }
    }
    let lines: String = first.iter().map(|(flag, number)| format!("{flag} {number}\n")).collect();
    Ok(format!("{HEAD}{lines}"))
}

fn cases() -> Option<PathBuf> {
    let shared =
        std::env::var_os("WARMWIRE_SHARED").map_or_else(|| files::root().join("../shared"), PathBuf::from);
    let cases = std::env::var_os("CURL_TESTS").map_or_else(|| shared.join("curl-tests"), PathBuf::from);
    let data = cases.join("data");
    Path::new(&data).is_dir().then_some(data)
}

/// Returns the text between `<command ...>` and `</command>`.
fn command(case: &str) -> String {
    let Some((_, rest)) = case.split_once("<command") else { return String::new() };
    let Some((_, rest)) = rest.split_once('>') else { return String::new() };
    rest.split_once("</command>").map_or(rest, |(command, _)| command).to_owned()
}

/// The long names of the flags of a command line.
fn flags(command: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut words = words(command).into_iter();
    while let Some(word) = words.next() {
        if let Some(long) = word.strip_prefix("--") {
            let name = |name: &str| flag::FLAGS.iter().find(|flag| flag.long == name);
            let Some(flag) = name(long).or_else(|| name(long.strip_prefix("no-")?)) else { continue };
            found.push(format!("--{}", flag.long));
            if flag.argument && !long.starts_with("no-") {
                words.next();
            }
        } else if let Some(letters) = word.strip_prefix('-') {
            for (at, letter) in letters.char_indices() {
                let Some(flag) = flag::FLAGS.iter().find(|flag| flag.short == Some(letter)) else { break };
                found.push(format!("--{}", flag.long));
                if flag.argument {
                    if at + letter.len_utf8() == letters.len() {
                        words.next();
                    }
                    break;
                }
            }
        }
    }
    found
}

/// Words as a shell parts them, quotes taken off.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut begun, mut quote) = (String::new(), false, None);
    for c in line.chars() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), c) => word.push(c),
            (None, '"' | '\'') => (quote, begun) = (Some(c), true),
            (None, c) if c.is_whitespace() => {
                if begun {
                    words.push(std::mem::take(&mut word));
                }
                begun = false;
            }
            (None, c) => {
                word.push(c);
                begun = true;
            }
        }
    }
    if begun {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_read_and_their_values_are_not() {
        let case = "<client>\n<command option=\"no-include\">\n-sSd '--head' http://h/ --no-alpn -ofile -H \"X: -I\"\n</command>";
        let expected = ["--silent", "--show-error", "--data", "--no-alpn", "--output", "--header"];
        assert_eq!(flags(&command(case)), expected);
        assert!(flags("--nosuch -").is_empty());
    }
}
