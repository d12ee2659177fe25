//! The claims of ARCHITECTURE.md, "One place per change": every option that a row calls honoured is read
//! somewhere, the tool knows every layer that the engine traces, and the section names files that exist.

use std::collections::{BTreeSet, HashSet};

use tables::easy_option::{NumberRule, Rule, TextRule};
use tables::{EasyOption, Support};

use super::Findings;
use crate::files;

/// The heading of the section, and the file.
const SECTION: &str = "\n## One place per change\n";
const DOCUMENT: &str = "ARCHITECTURE.md";

/// The file with the layers of `--trace-config`.
const LAYERS: &str = "crates/tool/src/trace.rs";

/// Adds a finding for each option without an arm, each traced layer that the tool does not know, and each
/// file of the section that does not exist.
pub fn check(findings: &mut Findings) {
    let sources: Vec<String> = ["crates/engine/src", "crates/capi/src"]
        .into_iter()
        .flat_map(files::below)
        .filter(|path| path.ends_with(".rs"))
        .map(|path| without_tests(&files::text(&path)).to_owned())
        .collect();
    for option in without_arm(&sources) {
        let message = format!("no code of engine or capi names `{option:?}`, which its row calls honoured");
        findings.add("arms", "crates/tables/src/easy_option.rs", 1, &message);
    }
    for layer in unknown_layers(&sources, &files::text(LAYERS)) {
        findings.add(
            "arms",
            LAYERS,
            1,
            &format!("the engine traces the layer `{layer}`, which is not listed"),
        );
    }
    for missing in missing_files(&files::text(DOCUMENT), |path| files::root().join(path).exists()) {
        findings.add("arms", DOCUMENT, 1, &format!("`{missing}` is not there"));
    }
}

/// Layers that a source traces by a literal name and that the tool's table lacks.
fn unknown_layers(sources: &[String], table: &str) -> Vec<String> {
    let traced = sources.iter().flat_map(|text| text.split(".trace(\"").skip(1));
    let names: BTreeSet<&str> = traced.filter_map(|rest| Some(rest.split_once('"')?.0)).collect();
    let missing = names.into_iter().filter(|name| !table.contains(&format!("(\"{name}\", ")));
    missing.map(str::to_owned).collect()
}

/// The part of a source in front of its tests.
fn without_tests(text: &str) -> &str {
    text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text)
}

/// Options that are honoured by their row and named by no source.
fn without_arm(sources: &[String]) -> Vec<EasyOption> {
    let named: HashSet<&str> = sources.iter().flat_map(|text| names(text)).collect();
    let needs_arm = |option: &EasyOption| {
        let honoured = matches!(option.support(), Support::Built | Support::SystemTls | Support::UnixSockets);
        honoured && !acts_by_rule(option.rule())
    };
    let all = EasyOption::ALL.iter().copied().filter(needs_arm);
    // The code that reads an option of the origin reads its twin for a proxy.
    let origin = |twin: EasyOption| EasyOption::ALL.iter().find(|o| o.proxy_twin() == Some(twin)).copied();
    let is_named = |option: EasyOption| named.contains(format!("{option:?}").as_str());
    all.filter(|option| !is_named(*option) && !origin(*option).is_some_and(is_named)).collect()
}

/// Returns whether the rule's arm is complete: it stores the value under another option, acts at once, or
/// keeps a pointer (`capi::pointers` has a test for those).
fn acts_by_rule(rule: Rule) -> bool {
    match rule {
        Rule::Number(rule) => matches!(
            rule,
            NumberRule::Seconds(_)
                | NumberRule::StoredAs(_)
                | NumberRule::Method(_)
                | NumberRule::DefaultModule
        ),
        Rule::Text(rule) => matches!(
            rule,
            TextRule::Login(..)
                | TextRule::StoredAs(_)
                | TextRule::Protocols(_)
                | TextRule::Module
                | TextRule::CookieFile
                | TextRule::CookieCommand
        ),
        Rule::List => false,
        Rule::Pointer(_) => true,
    }
}

/// Names behind `O::` and `EasyOption::`.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("O::").chain(text.match_indices("EasyOption::")).filter_map(|(at, path)| {
        let rest = &text[at + path.len()..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric())?;
        Some(&rest[..end])
    })
}

/// Files and folders that the section names with a slash and that are not below `crates`.
fn missing_files(document: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let Some((_, section)) = document.split_once(SECTION) else { return vec![SECTION.trim().to_owned()] };
    let section = section.split("\n## ").next().unwrap_or(section);
    let paths = section.split('`').skip(1).step_by(2).filter(|code| code.contains('/'));
    let missing = paths.filter(|path| {
        let (root, rest) = path.split_once('/').unwrap_or((path, ""));
        !exists(&format!("crates/{root}/src/{rest}")) && !exists(path)
    });
    missing.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_nobody_names_is_found() {
        let all = EasyOption::ALL.iter().map(|option| format!("s.long(O::{option:?}) "));
        let all: String = all.collect();
        assert_eq!(without_arm(std::slice::from_ref(&all)), []);
        let but_one = all.replace("O::PipeWait)", "");
        assert_eq!(without_arm(&[but_one]), [EasyOption::PipeWait]);
    }

    #[test]
    fn names_end_where_the_identifier_ends() {
        let text = "O::Url, EasyOption::Port; O::Tls13Ciphers)";
        assert_eq!(names(text).collect::<HashSet<_>>(), HashSet::from(["Url", "Port", "Tls13Ciphers"]));
        assert_eq!(without_tests("a\n#[cfg(test)]\nmod tests {O::Url}"), "a");
    }

    #[test]
    fn a_traced_layer_that_the_tool_does_not_list_is_found() {
        let source = "t.easy.trace(\"dns\", || a); t.trace(\"ssl\", || b); t.trace(layer, || c)";
        let table = "[(\"dns\", \"network\")]";
        assert_eq!(unknown_layers(&[source.to_owned()], table), ["ssl"]);
    }

    #[test]
    fn files_of_the_section_must_exist() {
        let text = format!("x `a/b.rs`\n{SECTION}\n- `tables/a.rs` and `Code`, `engine/b.rs`\n## Next `c/d`");
        assert_eq!(missing_files(&text, |path| path == "crates/tables/src/a.rs"), ["engine/b.rs"]);
        assert_eq!(missing_files("nothing", |_| true), ["## One place per change"]);
    }
}
