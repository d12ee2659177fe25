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
mod words;

use crate::{Report, files};
use std::collections::BTreeSet;

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
        why: "unsafe code stands at the border to C alone: capi, entry, sockets, and one module each of gss and openssl",
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
        "scratch",
        "sync",
        "sys",
    ],
    &["settings", "info", "watched", "why"],
    &["share", "outputs", "stores"],
    &["easy", "multi", "push", "streams", "websocket"],
    &["transfer"],
    &["protocol"],
    &["run", "export", "process_pool/open"],
];

/// Lists every finding, or says that there is none.
pub fn run() -> Report {
    let mut findings = Findings::load();
    for path in files::below("") {
        let text = files::text(&path);
        machine_paths(&path, &text, &mut findings);
        json_by_hand(&path, &text, &mut findings);
        if path.ends_with(".rs") {
            opens_with_its_purpose(&path, &text, &mut findings);
            length(&path, &text, &mut findings);
            bans(&path, &text, &mut findings);
            exhaustive(&path, &text, &mut findings);
            protocols_keep_apart(&path, &text, &mut findings);
            engine_floors(&path, &text, &mut findings);
        }
    }
    arms::check(&mut findings);
    changelog(&mut findings);
    findings.found.extend(limits::check()?);
    findings.report()
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
    for ban in
        BANS.iter().filter(|b| path.starts_with(b.within) && !b.except.iter().any(|e| path.starts_with(e)))
    {
        for (number, line) in code_lines(text) {
            let code = without_strings(line);
            if let Some(word) = ban.words.iter().find(|word| code.contains(**word)) {
                findings.add(ban.rule, path, number, &format!("`{word}`: {}", ban.why));
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

/// No protocol imports another; they share roots: `http`, `ssh`, `dialogue`.
fn protocols_keep_apart(path: &str, text: &str, findings: &mut Findings) {
    const ROOT: &str = "crates/engine/src/protocol/";
    let Some(rest) = path.strip_prefix(ROOT) else { return };
    let own = rest.split(['/', '.']).next().unwrap_or_default();
    if own == "mod" {
        return;
    }
    let all: BTreeSet<String> = files::below(ROOT.trim_end_matches('/'))
        .iter()
        .filter_map(|p| protocol_of(p.strip_prefix(ROOT)?))
        .collect();
    for (number, line) in code_lines(text) {
        for other in all.iter().filter(|o| *o != own && !["http", "ssh", "dialogue"].contains(&o.as_str())) {
            let inner =
                [format!("protocol::{other}::"), format!("protocol::{other};"), format!("super::{other}::")];
            if inner.iter().any(|import| line.contains(import)) {
                findings.add("protocols", path, number, &format!("`{own}` imports `{other}`"));
            }
        }
    }
}

fn protocol_of(rest: &str) -> Option<String> {
    let name = rest.split(['/', '.']).next()?;
    (name != "mod").then(|| name.to_owned())
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

fn changelog(findings: &mut Findings) {
    if !files::text("CHANGELOG.md").contains("\n## [Unreleased]\n") {
        findings.add("changelog", "CHANGELOG.md", 1, "has no `## [Unreleased]`");
    }
}

struct Findings {
    /// rule and path, and whether something was found under it
    allowed: Vec<(String, String, bool)>,
    found: Vec<String>,
}

impl Findings {
    fn load() -> Self {
        let mut findings = Findings { allowed: Vec::new(), found: Vec::new() };
        for (at, line) in files::text(ALLOWANCES).lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match line.split_once(": ").and_then(|(key, reason)| Some((key.split_once(' ')?, reason))) {
                Some(((rule, path), reason)) if !reason.trim().is_empty() => {
                    findings.allowed.push((rule.to_owned(), path.to_owned(), false));
                }
                _ => findings.found.push(format!("{ALLOWANCES}:{}: not `rule path: reason`", at + 1)),
            }
        }
        findings
    }

    fn add(&mut self, rule: &str, path: &str, line: usize, what: &str) {
        let mut allowed = false;
        for (r, p, used) in &mut self.allowed {
            if r == rule && p == path {
                *used = true;
                allowed = true;
            }
        }
        if !allowed {
            self.found.push(format!("{path}:{line}: {rule}: {what}"));
        }
    }

    fn report(mut self) -> Report {
        for (rule, path, used) in &self.allowed {
            if !used {
                self.found.push(format!("{ALLOWANCES}: `{rule} {path}` is needed no more"));
            }
        }
        if self.found.is_empty() { Ok("tidy: nothing found".to_owned()) } else { Err(self.found.join("\n")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings() -> Findings {
        Findings { allowed: Vec::new(), found: Vec::new() }
    }

    #[test]
    fn a_wildcard_is_found_inside_a_marked_function_only() {
        let text = "// exhaustive: options\nfn a() {\n    match x {\n        _ => 1,\n    }\n}\nfn b() {\n    _ => 2\n}\n";
        let mut f = findings();
        exhaustive("a.rs", text, &mut f);
        assert_eq!(f.found.len(), 1, "{:?}", f.found);
        assert!(f.found[0].starts_with("a.rs:4: exhaustive"));
    }

    #[test]
    fn a_ban_reads_code_and_not_comments_or_tests() {
        let text = "//! x\n// std::fs is not used\nuse std::fs;\n#[cfg(test)]\nuse std::fs;\n";
        let mut f = findings();
        bans("crates/wire/src/a.rs", text, &mut f);
        assert_eq!(f.found.len(), 1, "{:?}", f.found);
        assert!(f.found[0].starts_with("crates/wire/src/a.rs:3: wire-io"));
    }

    #[test]
    fn the_engine_names_nothing_above() {
        let found = |path: &str, text: &str| {
            let mut f = findings();
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
            let mut f = findings();
            let text = r#"let a = "{{\"a\":1}}"; let b = format!("\"b\":{}", 1);"#;
            json_by_hand(path, &text.replace("; ", ";\n"), &mut f);
            f.found.len()
        };
        assert_eq!(found("crates/net/src/a.rs"), 2);
        assert_eq!(found("crates/net/tests/a.rs") + found("crates/net/src/a/tests.rs"), 0);
    }

    #[test]
    fn a_path_of_one_machine_is_found() {
        let mut f = findings();
        let line = ["see /wo", "rk/x and https://example/ho", "me/x"].concat();
        machine_paths("a.md", &line, &mut f);
        assert_eq!(f.found.len(), 1, "{:?}", f.found);
    }

    #[test]
    fn an_allowance_must_be_needed() {
        let mut f = findings();
        f.allowed.push(("length".to_owned(), "a.rs".to_owned(), false));
        assert!(f.report().is_err());
    }
}
