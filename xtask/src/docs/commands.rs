//! Commands in texts: the target of make, the flag of the tool, the package and the test of cargo must
//! exist. Programs of other projects are only known by name.

use crate::files;
use crate::steps;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Programs of other projects that the texts start.
const FOREIGN: [&str; 10] = ["apt-get", "cc", "dnf", "git", "perl", "php", "pip", "podman", "python3", "tar"];

const MAKEFILES: [&str; 3] = ["Makefile", "conformance/targets.mk", "tests/windows/targets.mk"];

/// The commands of this checkout.
pub struct Commands {
    manual: String,
    flags: BTreeSet<String>,
    makefiles: String,
    /// Packages with their folders.
    packages: BTreeMap<String, String>,
}

/// Returns whether `warmwire-run` has this flag.
pub fn is_flag_of_run(flag: &str) -> bool {
    ["--library", "--report"].contains(&flag)
}

impl Commands {
    /// Reads the checkout; `manual` is the tool's manual as Markdown.
    pub fn of(manual: &str) -> Commands {
        let headings = manual.lines().filter_map(|line| line.strip_prefix("### `"));
        let words = headings.flat_map(|line| line.split([' ', ',', '`', '[']));
        let flags = words.filter(|word| word.starts_with('-')).map(str::to_owned).collect();
        let makefiles = MAKEFILES.iter().map(|path| files::text(path)).collect();
        let manifests = files::below("").into_iter().filter(|path| path.ends_with("Cargo.toml"));
        let package = |path: String| {
            let text = files::text(&path);
            let name = text.lines().find_map(|line| line.strip_prefix("name = \""))?.trim_end_matches('"');
            Some((name.to_owned(), path.trim_end_matches("Cargo.toml").to_owned()))
        };
        Commands {
            manual: manual.replace('\\', ""),
            flags,
            makefiles,
            packages: manifests.filter_map(package).collect(),
        }
    }

    /// Returns whether the line begins with a command.
    pub fn is_command(&self, line: &str) -> bool {
        let words = words(line);
        let first = words.iter().find(|word| !is_assignment(word)).map_or("", String::as_str);
        let own = ["cargo", "curl", "export", "make", "sh", "sudo", "warmwire", "warmwire-run"];
        FOREIGN.contains(&first) || own.contains(&first)
    }

    /// Returns whether the manual describes this variable of the environment.
    pub fn has_variable(&self, name: &str) -> bool {
        self.manual.contains(name)
    }

    /// Returns whether the tool has this flag.
    pub fn has_flag(&self, flag: &str) -> bool {
        let positive = flag.replacen("--no-", "--", 1);
        self.flags.contains(flag) || self.flags.contains(&positive)
    }

    /// Resolves each command of a line; the error names what does not exist.
    pub fn resolve(&self, line: &str) -> Result<(), String> {
        words(line)
            .split(|word| ["&&", "|", ";"].contains(&word.as_str()))
            .try_for_each(|part| self.command(part))
    }

    fn command(&self, words: &[String]) -> Result<(), String> {
        let Some((first, rest)) = words.split_first() else { return Ok(()) };
        if is_assignment(first) {
            let name = first.split('=').next().unwrap_or_default();
            return match name.starts_with("WARMWIRE_") && !self.has_variable(name) {
                true => Err(format!("the manual lacks the variable {name}")),
                false => self.command(rest),
            };
        }
        match first.as_str() {
            "export" | "sudo" => self.command(rest),
            "make" => rest.iter().try_for_each(|word| self.make(word)),
            "cargo" => self.cargo(rest),
            "sh" => rest.first().map_or(Ok(()), |path| exists(path)),
            "warmwire" | "curl" => rest.iter().try_for_each(|word| self.flag(word)),
            "warmwire-run" => match rest.split_first() {
                Some((flag, program)) if is_flag_of_run(flag) => self.command(program),
                _ => self.command(rest),
            },
            name if FOREIGN.contains(&name) || name.starts_with("./") || is_placeholder(name) => Ok(()),
            name => Err(format!("{name} is not known: {}", words.join(" "))),
        }
    }

    fn make(&self, word: &str) -> Result<(), String> {
        if let Some((name, value)) = word.split_once('=') {
            if !self.makefiles.contains(&format!("$({name})"))
                && !self.makefiles.contains(&format!("$(if $({name})"))
            {
                return Err(format!("Makefile has no variable {name}"));
            }
            let named = value.split_whitespace().filter(|step| name == "STEP" && !is_placeholder(step));
            return match named.into_iter().find(|step| !steps::exists(step)) {
                Some(step) => Err(format!("there is no step {step}")),
                None => Ok(()),
            };
        }
        let is_target = |line: &str| {
            line.split_once(':').is_some_and(|(names, _)| names.split_whitespace().any(|name| name == word))
        };
        let has = is_placeholder(word) || self.makefiles.lines().any(is_target);
        if has { Ok(()) } else { Err(format!("Makefile has no target {word}")) }
    }

    fn flag(&self, word: &str) -> Result<(), String> {
        let unknown = |flag: &str| Err(format!("the tool has no flag {flag}"));
        match word.split('=').next().unwrap_or_default() {
            long if long.starts_with("--") => {
                if self.has_flag(long) {
                    Ok(())
                } else {
                    unknown(long)
                }
            }
            short if short.len() > 1 && short.starts_with('-') => {
                let letters = short[1..].chars().map(|letter| format!("-{letter}"));
                letters
                    .into_iter()
                    .find(|flag| !self.flags.contains(flag))
                    .map_or(Ok(()), |flag| unknown(&flag))
            }
            _ => Ok(()),
        }
    }

    fn cargo(&self, words: &[String]) -> Result<(), String> {
        let (verb, rest) = words.split_first().ok_or("cargo without a command")?;
        match verb.as_str() {
            "xtask" => xtask(rest),
            "add" | "clippy" | "doc" | "fmt" | "publish" | "update" => match value(rest, "--path") {
                Some(path) => exists(path.trim_start_matches("../warmwire/")),
                None => Ok(()),
            },
            "run" | "test" => {
                let Some(name) = value(rest, "-p") else { return Err(format!("cargo {verb} without -p")) };
                let folder = self.packages.get(name).ok_or(format!("there is no package {name}"))?;
                if let Some(program) = value(rest, "--bin") {
                    exists(&format!("{folder}src/bin/{program}.rs"))?;
                }
                if verb == "test" { test(folder, rest) } else { Ok(()) }
            }
            _ => Err(format!("cargo {verb} is not known")),
        }
    }
}

/// Checks the program and the filter of `cargo test`: a file or a function has the filter in its name.
fn test(folder: &str, words: &[String]) -> Result<(), String> {
    let mut sources = files::below(folder.trim_end_matches('/'));
    if let Some(program) = value(words, "--test") {
        let manifest = files::text(&format!("{folder}Cargo.toml"));
        let table = manifest.split("[[test]]").find(|table| table.contains(&format!("name = \"{program}\"")));
        let path = table.and_then(|table| table.split("path = \"").nth(1)?.split('"').next());
        match path.map(|path| path.trim_start_matches("../")) {
            Some(path) if path.starts_with("tests/cli/") => sources = files::below("tests/cli"),
            Some(_) => {}
            None => exists(&format!("{folder}tests/{program}.rs"))?,
        }
    }
    let mut valued = false;
    for word in words {
        if !valued && !word.starts_with('-') {
            let parts: Vec<&str> = word.split("::").filter(|part| !part.is_empty()).collect();
            let has = |part: &&str| {
                let in_name = sources.iter().any(|path| path.contains(part));
                let in_text = |path: &String| {
                    files::text(path).lines().any(|line| line.contains("fn ") && line.contains(part))
                };
                in_name || sources.iter().filter(|path| path.ends_with(".rs")).any(in_text)
            };
            if !parts.iter().all(has) {
                return Err(format!("{folder} has no test with {word} in its name"));
            }
        }
        valued = ["-p", "--test", "--bin"].contains(&word.as_str());
    }
    Ok(())
}

fn xtask(words: &[String]) -> Result<(), String> {
    let source = files::text("xtask/src/main.rs") + &files::text("xtask/src/steps/mod.rs");
    let tests = words.first().is_some_and(|word| word == "test");
    for (at, word) in words.iter().enumerate() {
        let known = match at {
            0 => source.contains(&format!("Some(\"{word}\")")),
            _ if word.starts_with("--") => source.contains(&format!("\"{word}\"")),
            _ => is_placeholder(word) || !tests || steps::exists(word),
        };
        if !known {
            return Err(format!("cargo xtask {}: {word} is not known", words.join(" ")));
        }
    }
    Ok(())
}

fn exists(path: &str) -> Result<(), String> {
    let has = Path::new(&files::root().join(path)).exists();
    if has || is_placeholder(path) { Ok(()) } else { Err(format!("{path} does not exist")) }
}

fn value<'w>(words: &'w [String], flag: &str) -> Option<&'w str> {
    let at = words.iter().position(|word| word == flag)?;
    words.get(at + 1).map(String::as_str)
}

/// Returns whether a word stands for others: it has capitals only.
fn is_placeholder(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|letter| letter.is_ascii_uppercase())
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
}

/// Splits a line into words as a shell does, without its comment.
fn words(line: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for letter in line.chars().chain([' ']) {
        match (quote, letter) {
            (Some(mark), _) if mark == letter => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, '#') if word.is_empty() => return found,
            (None, ' ') if word.is_empty() => {}
            (None, ' ') => found.push(std::mem::take(&mut word)),
            (None, ';') => {
                found.push(std::mem::take(&mut word));
                found.push(";".to_owned());
            }
            _ => word.push(letter),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_existing_steps_flags_and_files() {
        let commands = Commands::of("### `-o, --output <file>`\n### `-s, --silent`\n- **`WARMWIRE_POOL`**");
        for (line, fault) in [
            ("make && sudo make install", ""),
            ("make test STEP=unit   # one step", ""),
            ("make test STEP=none", "there is no step none"),
            ("make test NONE=1", "Makefile has no variable NONE"),
            ("warmwire -so file --no-silent https://example.com/", ""),
            ("warmwire -x", "the tool has no flag -x"),
            ("WARMWIRE_POOL=process warmwire-run php script.php", ""),
            ("export WARMWIRE_NONE=1", "the manual lacks the variable WARMWIRE_NONE"),
            ("cargo xtask test --list", ""),
            ("cargo xtask none", "cargo xtask none: none is not known"),
            ("cargo test -p warmwire-wire --lib url::", ""),
            ("cargo test -p warmwire-none", "there is no package warmwire-none"),
            ("cargo test -p xtask no_such_test", "xtask/ has no test with no_such_test in its name"),
            ("cargo test -p xtask --test none", "xtask/tests/none.rs does not exist"),
            ("cargo run -p warmwire-testkit --bin testkit-serve http", ""),
            ("sh tests/install.sh guide", ""),
            ("sh tests/none.sh", "tests/none.sh does not exist"),
        ] {
            assert_eq!(commands.resolve(line).err().unwrap_or_default(), fault, "{line}");
        }
    }

    #[test]
    fn words_are_split_as_by_a_shell() {
        assert_eq!(words("a 'b c' \"d # e\"; f # g"), ["a", "b c", "d # e", ";", "f"]);
    }
}
