//! Names in the texts of the guide: a file, flag, option, variable, function or command in code type must
//! exist.

use super::commands::{Commands, is_flag_of_run};
use crate::files;
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

/// Returns the faults of all names in a page.
pub fn faults(page: &str, text: &str, commands: &Commands) -> Vec<String> {
    let header = files::text("include/curl/warmwire.h");
    let mut found = Vec::new();
    for (line, span) in spans(text) {
        if let Err(fault) = check(&span, &header, commands) {
            found.push(format!("{page}:{line}: {fault}"));
        }
    }
    found
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
        return if files::root().join(span).exists() { Ok(()) } else { unknown("file") };
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
        for (text, fault) in [
            ("`crates/tables/src/info.rs` `--output FILE` `CURLOPT_URL` `WARMWIRE_POOL=user` `$x`", ""),
            ("`warmwire_close(0)` `CURLINFO_SCHEME` `CURLMOPT_MAXCONNECTS` `CURLOPT_NAME` `make\ndemo`", ""),
            ("a\n`crates/none.rs`", "p:2: no such file: crates/none.rs"),
            ("`--none`", "p:1: no such flag: --none"),
            ("`WARMWIRE_WHY_JSON` `warmwire-run --report php x.php` `--report`", ""),
            ("`CURLOPT_NONE`", "p:1: no such row: CURLOPT_NONE"),
            ("`CURLINFO_NONE`", "p:1: no such row: CURLINFO_NONE"),
            ("`WARMWIRE_NONE=1`", "p:1: no such variable: WARMWIRE_NONE=1"),
            ("`warmwire_none`", "p:1: no such function: warmwire_none"),
            ("`make none`", "p:1: Makefile has no target none"),
            ("```text\n`--none`\n```", ""),
        ] {
            assert_eq!(faults("p", text, &commands).join("\n"), fault, "{text}");
        }
    }
}
