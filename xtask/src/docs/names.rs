//! Names in texts that are written by hand: a file, test, flag, option, variable, function or command in
//! code type must exist, and in texts about the code a type or function of Rust, too.

use super::commands::{Commands, is_flag_of_run};
use crate::files;
use std::collections::BTreeSet;
use tables::{EasyOption, Info, MultiOption};

/// The folders of the checkout in which texts name files.
const FOLDERS: [&str; 12] = [
    "bench/",
    "conformance/",
    "crates/",
    "demo/",
    "docs/",
    "fuzz/",
    "include/",
    "packaging/",
    "python/",
    "testkit/",
    "tests/",
    "xtask/",
];

/// Texts whose types and functions are those of the crates.
const ABOUT_THE_CODE: [&str; 2] = ["ARCHITECTURE.md", "docs/guide/src/inside/"];

/// The names of this checkout that are no commands.
pub struct Names {
    header: String,
    /// Files of the crates and of `testkit`.
    sources: BTreeSet<String>,
    /// Types, functions and modules that they define or import, and folders.
    items: BTreeSet<String>,
}

impl Names {
    /// Reads the checkout.
    pub fn read() -> Names {
        let sources: BTreeSet<String> =
            files::below("crates").into_iter().chain(files::below("testkit")).collect();
        let mut items = BTreeSet::new();
        for path in &sources {
            items.extend(path.split('/').map(|part| part.trim_end_matches(".rs").to_owned()));
            if path.ends_with(".rs") {
                items.extend(items_of(&files::text(path)).into_iter().map(str::to_owned));
            }
        }
        Names { header: files::text("include/curl/warmwire.h"), sources, items }
    }

    /// Returns the faults of all names in a text.
    pub fn faults(&self, page: &str, text: &str, commands: &Commands) -> Vec<String> {
        let about_the_code = ABOUT_THE_CODE.iter().any(|start| page.starts_with(start));
        let mut found = Vec::new();
        for (line, span) in spans(text) {
            let fault = check(&span, &self.header, commands).err();
            let fault = fault.or_else(|| about_the_code.then(|| self.fault_of_code(&span)).flatten());
            found.extend(fault.map(|fault| format!("{page}:{line}: {fault}")));
        }
        found
    }

    /// Returns why a name of a text about the code is wrong: `net/tls/mod.rs` is a file of the crate `net`,
    /// `Flow::pump_body` and `Plan` are items of any crate.
    fn fault_of_code(&self, span: &str) -> Option<String> {
        if span.ends_with(".rs") && !span.contains('*') {
            let end = match span.split_once('/') {
                Some((name, rest)) => format!("crates/{name}/src/{rest}"),
                None => format!("/{span}"),
            };
            let has =
                files::root().join(span).exists() || self.sources.iter().any(|path| path.ends_with(&end));
            return (!has).then(|| format!("no such file: {span}"));
        }
        let path = span.trim_end_matches("()");
        let is_item = path.contains("::") || path.starts_with(|first: char| first.is_ascii_uppercase());
        let mut parts = path.split("::");
        let is_name = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let is_constant = !path.bytes().any(|byte| byte.is_ascii_lowercase());
        if !is_item || is_constant || !path.split("::").all(is_name) {
            return None;
        }
        parts.find(|part| !self.items.contains(*part)).map(|part| format!("no crate defines {part}: {span}"))
    }
}

/// Returns the names that a source defines or imports.
fn items_of(source: &str) -> Vec<&str> {
    let words = |text| {
        let is_other = |letter: char| !letter.is_alphanumeric() && letter != '_';
        str::split(text, is_other).filter(|word| !word.is_empty())
    };
    let imports = source.split("\nuse ").skip(1).filter_map(|rest| rest.split(';').next());
    let kinds = ["struct", "enum", "trait", "type", "fn", "mod"];
    let defined =
        source.lines().filter_map(|line| words(line).skip_while(|word| !kinds.contains(word)).nth(1));
    defined.chain(imports.flat_map(words)).collect()
}

/// Returns the spans of code between single backticks, with their lines; a span may continue on the next.
fn spans(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (mut fenced, mut open) = (false, None::<(usize, String)>);
    for (at, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced || line.is_empty() {
            open = None;
            continue;
        }
        for (part, piece) in line.split('`').enumerate() {
            if part > 0 {
                match open.take() {
                    Some(span) => found.push(span),
                    None => open = Some((at + 1, String::new())),
                }
            }
            if let Some((_, span)) = &mut open {
                span.push_str(piece);
            }
        }
        if let Some((_, span)) = &mut open {
            span.push(' ');
        }
    }
    found
}

fn check(span: &str, header: &str, commands: &Commands) -> Result<(), String> {
    let unknown = |kind: &str| Err(format!("no such {kind}: {span}"));
    let first = span.split([' ', '(', '=']).next().unwrap_or_default();
    let is_name = |name: &str| {
        name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let starts = ["cargo ", "make ", "sh ", "warmwire ", "warmwire-run "];
    if is_flag_of_run(span) {
        return Ok(());
    }
    if starts.iter().any(|start| span.starts_with(start)) {
        return commands.resolve(span);
    }
    if first.starts_with("--") && first.len() > 2 {
        return if commands.has_flag(first) { Ok(()) } else { unknown("flag") };
    }
    if FOLDERS.iter().any(|folder| span.starts_with(folder)) && !span.contains([' ', '*', '<']) {
        let (path, test) = span.split_once('#').unwrap_or((span, ""));
        if !files::root().join(path).exists() {
            return unknown("file");
        }
        let has = test.is_empty() || files::text(path).contains(&format!("fn {test}("));
        return if has { Ok(()) } else { unknown("test") };
    }
    if first.starts_with("WARMWIRE_") && is_name(first) {
        let has = commands.has_variable(first) || header.contains(&format!("#define {first} "));
        return if has { Ok(()) } else { unknown("variable") };
    }
    if first.starts_with("warmwire_") {
        return if header.contains(first) { Ok(()) } else { unknown("function") };
    }
    let has = match first.split_once('_') {
        Some((_, "" | "NAME")) => true,
        Some(("CURLOPT", name)) => EasyOption::from_name(name).is_some(),
        Some(("CURLINFO", name)) => Info::ALL.iter().any(|info| info.name() == name),
        Some(("CURLMOPT", name)) => MultiOption::ALL.iter().any(|option| option.name() == name),
        _ => true,
    };
    if has { Ok(()) } else { unknown("row") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_code_type_must_exist() {
        let commands = Commands::of("### `-o, --output <file>`\n- **`WARMWIRE_POOL`**");
        let names = Names::read();
        for (text, fault) in [
            ("`crates/tables/src/info.rs` `--output FILE` `CURLOPT_URL` `WARMWIRE_POOL=user` `$x`", ""),
            ("`warmwire_close(0)` `CURLINFO_SCHEME` `CURLMOPT_MAXCONNECTS` `CURLOPT_NAME` `make\ndemo`", ""),
            ("a\n`crates/none.rs`", "p:2: no such file: crates/none.rs"),
            ("`--none`", "p:1: no such flag: --none"),
            ("`xtask/tests/security.rs#every_row_is_true`", ""),
            ("`xtask/tests/security.rs#none`", "p:1: no such test: xtask/tests/security.rs#none"),
            ("`WARMWIRE_WHY_JSON` `warmwire-run --report php x.php` `--report`", ""),
            ("`CURLOPT_NONE`", "p:1: no such row: CURLOPT_NONE"),
            ("`CURLINFO_NONE`", "p:1: no such row: CURLINFO_NONE"),
            ("`WARMWIRE_NONE=1`", "p:1: no such variable: WARMWIRE_NONE=1"),
            ("`warmwire_none`", "p:1: no such function: warmwire_none"),
            ("`make none`", "p:1: Makefile has no target none"),
            ("```text\n`--none`\n```", ""),
        ] {
            assert_eq!(names.faults("p", text, &commands).join("\n"), fault, "{text}");
        }
    }

    #[test]
    fn names_of_code_must_be_defined() {
        let names = Names::read();
        for (text, fault) in [
            ("`net/tls/mod.rs` `planning.rs` `xtask/src/main.rs` `Flow::pump_body` `net::process()`", ""),
            ("`runtime::LockFreeOnce` `EasyState` `HTTP` `Expect: x` `file://`", ""),
            ("`net/none.rs`", "no such file: net/none.rs"),
            ("`none.rs`", "no such file: none.rs"),
            ("`Flow::none_such`", "no crate defines none_such: Flow::none_such"),
            ("`NoneSuch`", "no crate defines NoneSuch: NoneSuch"),
        ] {
            let found = names.faults("ARCHITECTURE.md", text, &Commands::of(""));
            let expected =
                if fault.is_empty() { String::new() } else { format!("ARCHITECTURE.md:1: {fault}") };
            assert_eq!(found.join("\n"), expected, "{text}");
        }
        assert_eq!(names.faults("README.md", "`NoneSuch`", &Commands::of("")), [""; 0]);
    }
}
