//! Which test covers a name: `covers:`, `refuses:` and `idles:` comments in test code.
//!
//! A comment that begins with one of these words lists names, separated by commas: exports, `CURLOPT_`,
//! `CURLMOPT_` and `CURLINFO_` names, flags with their dashes (`--head` or `-I`), and values
//! (`CURLPROXY_SOCKS4`, `CURLE_GOT_NOTHING`), which the report does not list yet. A comment line that ends in
//! a comma continues on the next. The test is the function that contains the comment or follows it; in a file
//! without functions, the file. mod.rs defines the three words.

use crate::files;
use std::collections::{BTreeMap, BTreeSet};
use tables::flag;

/// Where comments are searched, and the files that can hold tests.
const PLACES: [&str; 6] = ["crates", "tests", "testkit", "conformance", "bindings", "xtask/tests"];
const KINDS: [&str; 10] = [".rs", ".c", ".cc", ".cpp", ".h", ".php", ".py", ".sh", ".pl", ".phpt"];

/// The claim of a test about a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Claim {
    /// It works.
    Covers,
    /// It is refused in curl's own words.
    Refuses,
    /// It is taken, and the protocol that it is about is refused in curl's own words.
    Idles,
}

const CLAIMS: [(&str, Claim); 3] =
    [("covers:", Claim::Covers), ("refuses:", Claim::Refuses), ("idles:", Claim::Idles)];

/// Names, and the tests that say something of them.
#[derive(Default)]
pub struct Evidence {
    tests: BTreeMap<(Claim, String), BTreeSet<String>>,
}

impl Evidence {
    /// Reads all of the checkout's comments; a name that does not exist is an error.
    pub fn collect(known: &BTreeSet<String>) -> Result<Self, String> {
        let mut evidence = Evidence::default();
        for path in PLACES.iter().flat_map(|place| files::below(place)) {
            if KINDS.iter().any(|kind| path.ends_with(kind)) {
                evidence.read(&path, &files::text(&path), known)?;
            }
        }
        Ok(evidence)
    }

    /// A test known from elsewhere.
    pub fn add(&mut self, name: &str, test: String) {
        self.tests.entry((Claim::Covers, name.to_owned())).or_default().insert(test);
    }

    /// The first test that claims this of `name`, and how many others do.
    pub fn test(&self, claim: Claim, name: &str) -> Option<String> {
        let tests = self.tests.get(&(claim, name.to_owned()))?;
        let first = tests.first()?;
        Some(if tests.len() == 1 { first.clone() } else { format!("{first} (+{})", tests.len() - 1) })
    }

    pub fn read(&mut self, path: &str, text: &str, known: &BTreeSet<String>) -> Result<(), String> {
        let lines: Vec<&str> = text.lines().collect();
        let mut at = 0;
        while at < lines.len() {
            let Some((word, claim, first)) = comment(path, lines[at]).and_then(claimed) else {
                at += 1;
                continue;
            };
            let start = at;
            let mut list = first.trim().to_owned();
            while list.ends_with(',') && at + 1 < lines.len() {
                let Some(more) = comment(path, lines[at + 1]) else { break };
                list += more.trim_start_matches(word);
                at += 1;
            }
            at += 1;
            let test = match function(path, &lines, start, at) {
                Some(name) => format!("`{path}` {name}"),
                None => format!("`{path}`"),
            };
            for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
                let name = &long_name(name);
                if !known.contains(name) {
                    return Err(format!("{path}:{}: {word} what? {name}", start + 1));
                }
                self.tests.entry((claim, name.to_owned())).or_default().insert(test.clone());
            }
        }
        Ok(())
    }
}

/// Returns the word that a comment begins with, as its claim, and the text after it.
fn claimed(comment: &str) -> Option<(&'static str, Claim, &str)> {
    CLAIMS.iter().find_map(|(word, claim)| Some((*word, *claim, comment.strip_prefix(word)?)))
}

/// `--head` for `-I`; any other name as it is.
fn long_name(name: &str) -> String {
    let mut letters = name.strip_prefix('-').unwrap_or_default().chars();
    let short = if let (Some(letter), None) = (letters.next(), letters.next()) { Some(letter) } else { None };
    let flag = short.and_then(|letter| flag::FLAGS.iter().find(|flag| flag.short == Some(letter)));
    flag.map_or(name.to_owned(), |flag| format!("--{}", flag.long))
}

/// The text of a line that is a comment in the file's language.
fn comment<'a>(path: &str, line: &'a str) -> Option<&'a str> {
    let line = line.trim();
    let hash = [".py", ".sh", ".pl"].iter().any(|kind| path.ends_with(kind));
    let marks = if hash { &["#"][..] } else { &["///", "//!", "//", "/*", "*"] };
    let rest = marks.iter().find_map(|mark| line.strip_prefix(mark))?;
    Some(rest.trim_end_matches("*/").trim())
}

/// Returns the function directly after the comment (attributes and comments may stand between), otherwise the
/// one around it.
fn function(path: &str, lines: &[&str], start: usize, end: usize) -> Option<String> {
    let below = lines[end..].iter().find(|line| {
        let line = line.trim();
        !(line.starts_with("#[") || comment(path, line).is_some() || line == "*/")
    });
    if let Some(name) = below.and_then(|line| named(line)) {
        return Some(name);
    }
    lines[..start]
        .iter()
        .rev()
        .filter(|line| !line.starts_with(' ') || line.contains("fn "))
        .find_map(|line| named(line))
}

/// Returns the name of the function that a line begins, in Rust, Python, PHP, shell or C.
fn named(line: &str) -> Option<String> {
    let line = line.trim_end();
    for word in ["fn ", "def ", "function "] {
        if let Some((before, rest)) = line.split_once(word)
            && before.chars().all(|c| c.is_alphabetic() || " ()".contains(c))
        {
            return identifier(rest);
        }
    }
    let (head, rest) = line.split_once('(')?;
    let starts_body = line.ends_with('{') || line.ends_with(')') || rest.ends_with(',');
    let is_c = !line.starts_with(' ') && head.contains(' ') && starts_body && !head.contains(['=', '#', '"']);
    let name = head.rsplit([' ', '*']).next()?;
    if is_c && !["if", "while", "for", "switch", "return"].contains(&name) { identifier(name) } else { None }
}

fn identifier(text: &str) -> Option<String> {
    let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Evidence, String> {
        read_as("t", text)
    }

    fn read_as(path: &str, text: &str) -> Result<Evidence, String> {
        let known = ["CURLOPT_URL", "CURLOPT_PORT", "curl_easy_init", "--head"].map(str::to_owned).into();
        let mut evidence = Evidence::default();
        evidence.read(path, text, &known).map(|()| evidence)
    }

    #[test]
    fn the_test_is_the_function_below_or_around() {
        let rust = "// covers: CURLOPT_URL,\n// CURLOPT_PORT\n#[test]\nfn one() {\n}\nfn two() {\n    // covers: --head\n    a();\n}\n";
        let evidence = read(rust).expect("names are known");
        assert_eq!(evidence.test(Claim::Covers, "CURLOPT_URL").as_deref(), Some("`t` one"));
        assert_eq!(evidence.test(Claim::Covers, "CURLOPT_PORT").as_deref(), Some("`t` one"));
        assert_eq!(evidence.test(Claim::Covers, "--head").as_deref(), Some("`t` two"));
        let c = "/* covers: curl_easy_init */\nstatic int walks(void)\n{\n  return 1;\n}\n";
        assert_eq!(
            read(c).expect("known").test(Claim::Covers, "curl_easy_init").as_deref(),
            Some("`t` walks")
        );
        let python = "x = 1\n# covers: curl_easy_init\n";
        let evidence = read_as("t.py", python).expect("known");
        assert_eq!(evidence.test(Claim::Covers, "curl_easy_init").as_deref(), Some("`t.py`"));
        let top = "/* covers: CURLOPT_URL,\n * covers: CURLOPT_PORT */\n#include <x.h>\nint main(void) {\n";
        assert_eq!(read(top).expect("known").test(Claim::Covers, "CURLOPT_PORT").as_deref(), Some("`t`"));
    }

    #[test]
    fn claims_of_different_kinds_are_separate() {
        let text = "// covers: CURLOPT_URL\n// refuses: CURLOPT_PORT,\n// --head\n#[test]\nfn one() {\n}\n";
        let evidence = read(text).expect("names are known");
        assert!(evidence.test(Claim::Covers, "CURLOPT_PORT").is_none());
        assert_eq!(evidence.test(Claim::Refuses, "CURLOPT_PORT").as_deref(), Some("`t` one"));
        assert!(evidence.test(Claim::Refuses, "--head").is_some());
        assert!(evidence.test(Claim::Idles, "--head").is_none());
    }

    #[test]
    fn a_misspelt_name_is_an_error() {
        assert!(read("// covers: CURLOPT_UROL\n").is_err());
        assert!(read("let covers: u8 = 1;\n").is_ok());
    }

    #[test]
    fn several_tests_are_counted() {
        let evidence =
            read("// covers: --head\nfn a() {\n}\n// covers: --head\nfn b() {\n}\n").expect("known");
        assert_eq!(evidence.test(Claim::Covers, "--head").as_deref(), Some("`t` a (+1)"));
    }
}
