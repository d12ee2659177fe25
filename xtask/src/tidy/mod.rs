//! `cargo xtask tidy`: rules that neither the compiler nor Cargo's dependency graph can check.
//!
//! Rules are rows: each names what it forbids, where, and why. A finding is fixed, or allowed in
//! xtask/tidy.allow with a reason (`rule path: reason`); an allowance that is no longer needed is a finding
//! itself.

mod arms;
mod imports;
mod length;
mod library;
mod limits;
mod sources;
mod words;

use crate::{Report, files};
use sources::Source;
use std::collections::BTreeSet;
use std::fmt;

const MAX_LINES: usize = 900;
const ALLOWANCES: &str = "xtask/tidy.allow";

/// A word that may not occur in the code of some directory.
struct Ban {
    rule: &'static str,
    within: &'static str,
    /// Paths below `within` that are free to.
    except: &'static [&'static str],
    words: &'static [&'static str],
    why: &'static str,
}

const BANS: &[Ban] = &[
    Ban {
        rule: "wire-io",
        within: "crates/wire/src/",
        except: &[],
        words: &[
            "std::net::Tcp",
            "std::net::Udp",
            "std::fs",
            "io::stdin",
            "io::stdout",
            "ToSocketAddrs",
            "std::os",
            "std::env",
            "std::thread",
        ],
        why: "wire turns bytes into values and does no I/O",
    },
    Ban {
        rule: "wire-clock",
        within: "crates/wire/src/",
        except: &[],
        words: &["Instant", "SystemTime"],
        why: "wire reads no clock; the moment is an argument",
    },
    Ban {
        rule: "runtime-curl",
        within: "crates/runtime/src/",
        except: &[],
        words: &["curl", "CURL", "Curl"],
        why: "the runtime knows nothing of curl",
    },
    Ban {
        rule: "net-options",
        within: "crates/net/src/",
        except: &[],
        words: &["EasyOption", "MultiOption", "CURLOPT_"],
        why: "net knows no option and no transfer",
    },
    Ban {
        rule: "engine-c",
        within: "crates/engine/src/",
        except: &[],
        words: &["libc::", "c_void", "c_char", "c_int", "c_long", "*const ", "*mut "],
        why: "the engine sees no raw pointer and no C type",
    },
    Ban {
        rule: "tool-floor",
        within: "crates/tool/src/",
        except: &[],
        words: &["warmwire_engine", "warmwire_net", "warmwire_runtime", "warmwire_capi"],
        why: "the tool reaches no lower than the client crate",
    },
    Ban {
        rule: "option-names",
        within: "crates/tool/src/",
        except: &[],
        words: &["EasyOption::from_name", "O::from_name"],
        why: "the tool's options have the keys EasyOption and ToolOption, which the compiler checks",
    },
    Ban {
        rule: "client-values",
        within: "crates/client/src/",
        except: &[],
        words: &["EasyState", "pub use engine::settings", "pub use engine::Settings", "pub use engine;"],
        why: "the client has typed get and set of its own",
    },
    Ban {
        rule: "os",
        within: "crates/",
        except: &[
            "crates/runtime/",
            "crates/net/src/filter/",
            "crates/net/src/tls/",
            "crates/net/src/sys/",
            "crates/broker/src/sys/",
            "crates/client/src/segments/system/",
            "crates/engine/src/sys/",
            "crates/sockets/",
            "crates/entry/",
            "crates/capi/",
            "crates/curl-sys/",
            "crates/gss/src/library.rs",
            "crates/openssl/src/library",
            "crates/tool/src/",
        ],
        words: &[
            "std::os::unix",
            "std::os::linux",
            "std::os::fd",
            "std::os::windows",
            "cfg(windows",
            "rustix::",
            "socket2::",
            "libc::",
        ],
        why: "operating-system specifics stay in runtime, net/filter and the modules sys, a file for each system",
    },
    Ban {
        rule: "unsafe",
        within: "crates/",
        except: &[
            "crates/capi/",
            "crates/client/src/client/movable.rs",
            "crates/curl-sys/src/functions.rs",
            "crates/entry/",
            "crates/gss/src/library",
            "crates/openssl/src/library",
            "crates/sockets/",
        ],
        words: &[
            "unsafe {",
            "unsafe fn",
            "unsafe impl",
            "unsafe extern",
            "unsafe trait",
            "allow(unsafe_code",
        ],
        why: "unsafe code stands at the border to C: capi, entry, sockets, one module each of gss and openssl; and where the client's engine changes threads",
    },
    Ban {
        rule: "thread-local",
        within: "crates/",
        except: &[],
        words: &["thread_local!"],
        why: "handles migrate between threads and outlive thread-locals",
    },
];

/// The layers of the engine, lowest first: a file names modules only of its own layer and of lower ones. A
/// file in another layer than its module has its own row.
const ENGINE: &str = "crates/engine/src/";
const FLOORS: &[&[&str]] = &[
    &[
        "archive",
        "callbacks",
        "error",
        "memories",
        "meter",
        "mime",
        "own_connection",
        "process_pool",
        "rare",
        "recording",
        "repeated_query",
        "scratch",
        "sync",
        "sys",
        "upload_resumption",
    ],
    &["settings", "info", "watched", "why"],
    &["share", "outputs", "stores"],
    &["easy", "multi", "push", "streams", "websocket"],
    &["transfer"],
    &["protocol"],
    &["run", "export", "process_pool/open", "watch"],
];

/// Lists every finding, or says that there is none.
pub fn run() -> Report {
    let (mut findings, sources) = (Findings::default(), sources::below(""));
    let names = protocols(sources.iter().map(|source| source.path.as_str()));
    let of_files = sources::each(&sources, |Source { path, text }| {
        let mut findings = Findings::default();
        machine_paths(path, text, &mut findings);
        json_by_hand(path, text, &mut findings);
        refused_names(path, text, &mut findings);
        if path.ends_with(".rs") {
            opens_with_its_purpose(path, text, &mut findings);
            length(path, text, &mut findings);
            bans(path, text, &mut findings);
            exhaustive(path, text, &mut findings);
            protocols_keep_apart(path, text, &names, &mut findings);
            engine_floors(path, text, &mut findings);
        }
        findings
    });
    of_files.into_iter().for_each(|found| findings.found.extend(found.found));
    arms::check(&mut findings);
    changelog(&mut findings);
    let mut found = findings.but_allowed(&files::text(ALLOWANCES));
    found.extend(limits::check(&sources)?);
    if found.is_empty() { Ok("tidy: nothing found".to_owned()) } else { Err(found.join("\n")) }
}

/// Lowers the limits of what may only fall.
pub fn lower() -> Report {
    limits::lower()
}

/// Lists the circles of a crate (`net`), each file with the files of its circle that it imports.
pub fn circles_of(name: &str) -> Report {
    let source = format!("crates/{name}/src");
    let graph = imports::graph(&source)?;
    if graph.is_empty() {
        return Err(format!("{source}: no such crate"));
    }
    let mut lines = Vec::new();
    for circle in imports::circles(&graph) {
        lines.push(format!("{} files import each other:", circle.len()));
        for file in &circle {
            let targets = graph[*file].iter().map(String::as_str).filter(|target| circle.contains(target));
            lines.push(format!("  {file} -> {}", targets.collect::<Vec<_>>().join(" ")));
        }
    }
    Ok(if lines.is_empty() { format!("{source}: no circle") } else { lines.join("\n") })
}

fn opens_with_its_purpose(path: &str, text: &str, findings: &mut Findings) {
    let first = text.lines().find(|line| !line.starts_with("#!["));
    if !first.is_some_and(|line| line.starts_with("//!")) {
        findings.add(
            "purpose",
            path,
            1,
            "opens without `//!`: what it is, what it follows, what it leaves to others",
        );
    }
}

fn length(path: &str, text: &str, findings: &mut Findings) {
    let lines = text.lines().count();
    if lines > MAX_LINES {
        findings.add("length", path, lines, &format!("has {lines} lines, more than {MAX_LINES}"));
    }
}

fn bans(path: &str, text: &str, findings: &mut Findings) {
    if path.contains("/tests/") {
        return; // what a test uses to look from outside binds nobody
    }
    let binds =
        |ban: &&Ban| path.starts_with(ban.within) && !ban.except.iter().any(|free| path.starts_with(free));
    for ban in BANS.iter().filter(binds) {
        // Most files have none of the words, and the search in the whole text is quick.
        for word in ban.words.iter().filter(|word| text.contains(**word)) {
            for (number, line) in code_lines(text) {
                if without_strings(line).contains(word) {
                    findings.add(ban.rule, path, number, &format!("`{word}`: {}", ban.why));
                }
            }
        }
    }
}

/// Lines of code with comments taken off, up to the tests at the end of the file.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .take_while(|(_, line)| !line.starts_with("#[cfg(test)]"))
        .map(|(at, line)| (at + 1, line.split_once("//").map_or(line, |(code, _)| code)))
        .filter(|(_, line)| !line.trim().is_empty())
}

/// A line of code without its string literals: messages may contain names that code may not.
fn without_strings(line: &str) -> String {
    line.split('"').step_by(2).collect::<Vec<_>>().join("\"\"")
}

/// A function under `// exhaustive: options|infos|schemes|codes` has no wildcard arm: the compiler then asks
/// for new rows.
fn exhaustive(path: &str, text: &str, findings: &mut Findings) {
    if !text.contains("// exhaustive:") {
        return;
    }
    let mut inside: Option<usize> = None;
    for (at, line) in text.lines().enumerate() {
        let indent = line.len() - line.trim_start().len();
        if line.trim_start().starts_with("// exhaustive:") {
            inside = Some(indent);
        } else if inside.is_some_and(|depth| line.starts_with('}') || (indent == depth && line.trim() == "}"))
        {
            inside = None;
        } else if inside.is_some() && (line.trim_start().starts_with("_ =>") || line.contains("| _ =>")) {
            findings.add("exhaustive", path, at + 1, "`_ =>` hides rows that are added later");
        }
    }
}

/// The folder of the protocols.
const PROTOCOLS: &str = "crates/engine/src/protocol/";

/// No protocol imports another; they share roots: `http`, `ssh`, `dialogue`.
fn protocols_keep_apart(path: &str, text: &str, names: &BTreeSet<String>, findings: &mut Findings) {
    let Some(rest) = path.strip_prefix(PROTOCOLS) else { return };
    let own = rest.split(['/', '.']).next().unwrap_or_default();
    if own == "mod" {
        return;
    }
    for (number, line) in code_lines(text) {
        for other in imported(line).filter(|other| *other != own && names.contains(*other)) {
            findings.add("protocols", path, number, &format!("`{own}` imports `{other}`"));
        }
    }
}

/// Modules that a line of code names: `protocol::ftp::`, `protocol::ftp;`, `super::ftp::`.
fn imported(line: &str) -> impl Iterator<Item = &str> {
    let behind = |parent: &'static str, ends: &'static [&'static str]| {
        line.split(parent).skip(1).filter_map(move |rest| {
            let (name, _) = rest.split_once(|c: char| !c.is_alphanumeric() && c != '_')?;
            ends.iter().any(|end| rest[name.len()..].starts_with(end)).then_some(name)
        })
    };
    behind("protocol::", &["::", ";"]).chain(behind("super::", &["::"]))
}

/// The protocols that others may not import.
fn protocols<'p>(paths: impl Iterator<Item = &'p str>) -> BTreeSet<String> {
    let names = paths.filter_map(|path| path.strip_prefix(PROTOCOLS)?.split(['/', '.']).next());
    let may_be_imported = ["mod", "http", "ssh", "dialogue"];
    names.filter(|name| !may_be_imported.contains(name)).map(str::to_owned).collect()
}

/// No file in the engine names a module of a higher layer.
fn engine_floors(path: &str, text: &str, findings: &mut Findings) {
    let Some(file) = path.strip_prefix(ENGINE).and_then(|file| file.strip_suffix(".rs")) else { return };
    if file == "lib" {
        return;
    }
    let Some(own) = floor(file) else {
        findings.add("floors", path, 1, "stands on no floor of the engine");
        return;
    };
    for (number, line) in code_lines(text) {
        for named in line.split("crate::").skip(1) {
            let module = named.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            if floor(module).is_some_and(|other| other > own) {
                findings.add("floors", path, number, &format!("`{module}` stands above it"));
            }
        }
    }
}

/// The layer with the longest name that is a prefix of the file's path.
fn floor(file: &str) -> Option<usize> {
    let begins =
        |name: &str| file.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let rows = FLOORS.iter().enumerate().flat_map(|(at, names)| names.iter().map(move |name| (at, *name)));
    rows.filter(|(_, name)| begins(name)).max_by_key(|(_, name)| name.len()).map(|(at, _)| at)
}

/// Finds JSON that is put together by `format!`: `wire::json` has the quoting and the commas.
fn json_by_hand(path: &str, text: &str, findings: &mut Findings) {
    if !path.starts_with("crates/") || !path.contains("/src/") || path.ends_with("/tests.rs") {
        return;
    }
    for (number, line) in code_lines(text) {
        if let Some(found) = [r#"{{\""#, r#"\":{"#].iter().find(|piece| line.contains(**piece)) {
            findings.add("json", path, number, &format!("`{found}` is JSON by hand; wire::json writes it"));
        }
    }
}

/// A path of one machine works only there.
fn machine_paths(path: &str, text: &str, findings: &mut Findings) {
    // Put together here, so that this file does not find itself.
    let roots =
        [["/wo", "rk/"].concat(), ["/ro", "ot/"].concat(), ["/ho", "me/"].concat(), ["/tmp/", "ww"].concat()];
    let begins_with_root = |at: usize| roots.iter().any(|root| text[at..].starts_with(root));
    if !text.match_indices('/').any(|(at, _)| begins_with_root(at)) {
        return; // most files
    }
    for (at, line) in text.lines().enumerate() {
        if let Some(found) = roots.iter().find(|root| starts_a_path(line, root)) {
            findings.add("machine-path", path, at + 1, &format!("`{found}` exists on one machine only"));
        }
    }
}

fn starts_a_path(line: &str, root: &str) -> bool {
    line.match_indices(root).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "._-/~}".contains(c))
    })
}

/// Endings of the files whose names are checked.
const LANGUAGES: &[&str] =
    &["rs", "c", "h", "in", "cpp", "hpp", "py", "pyi", "sh", "php", "pl", "R", "js", "mjs", "tcl", "go"];

/// Finds names that say nothing, in code and comments of every language.
fn refused_names(path: &str, text: &str, findings: &mut Findings) {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending);
    if !ending.is_some_and(|ending| LANGUAGES.contains(&ending)) {
        return;
    }
    for (at, line) in text.lines().enumerate() {
        if let Some(word) =
            words::refused_name(line).and_then(|_| words::refused_name(&without_strings(line)))
        {
            let why = format!("`{word}` names nothing: use the term of what it is (output, reply, events)");
            findings.add("names", path, at + 1, &why);
        }
    }
}

fn changelog(findings: &mut Findings) {
    if !files::text("CHANGELOG.md").contains("\n## [Unreleased]\n") {
        findings.add("changelog", "CHANGELOG.md", 1, "has no `## [Unreleased]`");
    }
}

/// A rule that a line of a file breaks.
struct Finding {
    rule: &'static str,
    path: String,
    line: usize,
    what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}: {}", self.path, self.line, self.rule, self.what)
    }
}

#[derive(Default)]
struct Findings {
    found: Vec<Finding>,
}

impl Findings {
    fn add(&mut self, rule: &'static str, path: &str, line: usize, what: &str) {
        self.found.push(Finding { rule, path: path.to_owned(), line, what: what.to_owned() });
    }

    /// Returns the findings that no row (`rule path: reason`) allows, and a text for each row that is
    /// malformed or allows nothing.
    fn but_allowed(&self, allowances: &str) -> Vec<String> {
        let mut faults = Vec::new();
        let mut allowed = BTreeSet::new();
        let rows = allowances.lines().enumerate().filter(|(_, row)| !row.is_empty() && !row.starts_with('#'));
        for (at, row) in rows {
            let parts = row.split_once(": ").and_then(|(key, reason)| Some((key.split_once(' ')?, reason)));
            match parts {
                Some((key, reason)) if !reason.trim().is_empty() => _ = allowed.insert(key),
                _ => faults.push(format!("{ALLOWANCES}:{}: not `rule path: reason`", at + 1)),
            }
        }
        let key = |finding: &'_ Finding| (finding.rule, finding.path.clone());
        let found: BTreeSet<(&str, String)> = self.found.iter().map(key).collect();
        let is_idle = |(rule, path): &&(&str, &str)| !found.contains(&(*rule, (*path).to_owned()));
        for (rule, path) in allowed.iter().filter(is_idle) {
            faults.push(format!("{ALLOWANCES}: `{rule} {path}` is needed no more"));
        }
        let is_allowed = |finding: &&Finding| allowed.contains(&(finding.rule, finding.path.as_str()));
        let refused = self.found.iter().filter(|finding| !is_allowed(finding)).map(Finding::to_string);
        refused.chain(faults).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wildcard_is_found_inside_a_marked_function_only() {
        let text = "// exhaustive: options\nfn a() {\n    match x {\n        _ => 1,\n    }\n}\nfn b() {\n    _ => 2\n}\n";
        let mut f = Findings::default();
        exhaustive("a.rs", text, &mut f);
        assert_eq!(f.found.len(), 1);
        assert!(f.found[0].to_string().starts_with("a.rs:4: exhaustive"));
    }

    #[test]
    fn a_ban_reads_code_and_not_comments_or_tests() {
        let text = "//! x\n// std::fs is not used\nuse std::fs;\n#[cfg(test)]\nuse std::fs;\n";
        let mut f = Findings::default();
        bans("crates/wire/src/a.rs", text, &mut f);
        assert_eq!(f.found.len(), 1);
        assert!(f.found[0].to_string().starts_with("crates/wire/src/a.rs:3: wire-io"));
    }

    #[test]
    fn the_engine_names_nothing_above() {
        let found = |path: &str, text: &str| {
            let mut f = Findings::default();
            engine_floors(&[ENGINE, path].concat(), text, &mut f);
            f.found.len()
        };
        assert_eq!(found("settings/mod.rs", "use crate::mime::M;\nuse crate::settings::S;\n"), 0);
        assert_eq!(found("settings/mod.rs", "fn a() -> crate::transfer::T {}\n"), 1);
        assert_eq!(found("transfer/plan.rs", "use crate::protocol;\n"), 1);
        assert_eq!(found("process_pool.rs", "use crate::easy::Easy;\n"), 1);
        assert_eq!(found("process_pool/open.rs", "use crate::easy::Easy;\n"), 0);
        assert_eq!(found("elsewhere.rs", ""), 1);
    }

    #[test]
    fn json_by_hand_is_found() {
        let found = |path: &str| {
            let mut f = Findings::default();
            let text = r#"let a = "{{\"a\":1}}"; let b = format!("\"b\":{}", 1);"#;
            json_by_hand(path, &text.replace("; ", ";\n"), &mut f);
            f.found.len()
        };
        assert_eq!(found("crates/net/src/a.rs"), 2);
        assert_eq!(found("crates/net/tests/a.rs") + found("crates/net/src/a/tests.rs"), 0);
    }

    #[test]
    fn a_name_that_says_nothing_is_found() {
        let found = |path: &str| {
            let mut f = Findings::default();
            refused_names(path, "let a = 1;\nlet told = 1;\n", &mut f);
            f.found.iter().map(|finding| finding.line).collect::<Vec<_>>()
        };
        assert_eq!((found("a.rs"), found("a/b.py"), found("a.md")), (vec![2], vec![2], vec![]));
    }

    #[test]
    fn a_path_of_one_machine_is_found() {
        let mut f = Findings::default();
        let line = ["see /wo", "rk/x and https://example/ho", "me/x"].concat();
        machine_paths("a.md", &line, &mut f);
        assert_eq!(f.found.len(), 1);
    }

    #[test]
    fn protocols_import_roots_alone() {
        let folder = |name: &str| format!("{PROTOCOLS}{name}");
        let paths = ["mod.rs", "ftp/mod.rs", "imap.rs", "http/mod.rs", "imap_list.rs"].map(folder);
        let names = protocols(paths.iter().map(String::as_str));
        assert_eq!(names, ["ftp", "imap", "imap_list"].map(str::to_owned).into());
        let found = |text: &str| {
            let mut f = Findings::default();
            protocols_keep_apart(&folder("ftp/list.rs"), text, &names, &mut f);
            f.found.len()
        };
        assert_eq!(found("use crate::protocol::http::Head;\nuse super::ftp::list;\n"), 0);
        assert_eq!(found("use crate::protocol::imap;\nuse super::imap::list;\n"), 2);
        assert_eq!(found("use super::imap_lists::a;\n// super::imap::a\n"), 0);
    }

    #[test]
    fn an_allowance_has_a_reason_and_must_be_needed() {
        let mut f = Findings::default();
        f.add("length", "a.rs", 1, "is long");
        f.add("length", "b.rs", 2, "is long");
        let rows = "# comment\n\nlength a.rs: a table\njson a.rs: idle\nlength b.rs:\n";
        let found = f.but_allowed(rows);
        assert_eq!(found.len(), 3, "{found:?}");
        assert_eq!(found[0], "b.rs:2: length: is long");
        assert!(found[1].ends_with(":5: not `rule path: reason`"), "{found:?}");
        assert!(found[2].ends_with("`json a.rs` is needed no more"), "{found:?}");
    }
}
