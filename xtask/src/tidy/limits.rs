//! Measures that may only fall: circles of imports, words that language.md refuses, long lines, files and
//! functions, files that name OpenSSL.
//!
//! `xtask/tidy.limits` lists what is left, one line each: `rule path count`. A count above its limit is a
//! finding, and so is one below it, because a limit that is not lowered lets the fault come back. `cargo
//! xtask tidy --lower` writes the file anew with every count that fell; it never raises one.

use std::collections::BTreeMap;

use crate::files;

use super::imports::{self, Import, Imports, Modules};
use super::sources::{self, Source};
use super::{length, library, words};

const LIMITS: &str = "xtask/tidy.limits";

/// Crates whose circles are measured. A circle is a set of files that import each other.
const CRATES: &[&str] =
    &["tables", "wire", "ssh", "pac", "runtime", "gss", "openssl", "net", "engine", "client", "capi", "tool"];

/// Longest lines, in columns.
const RUST_COLUMNS: usize = 110;
const MARKDOWN_COLUMNS: usize = 100;

/// Rule and path, with what was counted there.
type Counts = BTreeMap<(String, String), usize>;

/// Lists every count that differs from its limit.
pub fn check(sources: &[Source]) -> Result<Vec<String>, String> {
    let (measured, limits) = (measure(sources)?, limits()?);
    let keys: std::collections::BTreeSet<_> = measured.keys().chain(limits.keys()).collect();
    let compare = |key: &&(String, String)| {
        let (rule, path) = *key;
        let count = |counts: &Counts| counts.get(*key).copied().unwrap_or_default();
        let (is, may) = (count(&measured), count(&limits));
        match is.cmp(&may) {
            std::cmp::Ordering::Greater => Some(format!("{path}: {rule}: {is}, at most {may}{}", hint(rule))),
            std::cmp::Ordering::Less => {
                Some(format!("{path}: {rule}: {is}, fewer than its limit {may}: `cargo xtask tidy --lower`"))
            }
            std::cmp::Ordering::Equal => None,
        }
    };
    Ok(keys.iter().filter_map(compare).collect())
}

/// Writes the limits anew with every count that fell.
pub fn lower() -> Result<String, String> {
    let (measured, mut limits) = (measure(&sources::below(""))?, limits()?);
    let before: usize = limits.values().sum();
    for (key, limit) in &mut limits {
        *limit = (*limit).min(measured.get(key).copied().unwrap_or_default());
    }
    limits.retain(|_, limit| *limit > 0);
    files::generated(LIMITS, &written(&limits), false)?;
    Ok(format!("{LIMITS}: {before} before, {} now", limits.values().sum::<usize>()))
}

fn hint(rule: &str) -> &'static str {
    match rule {
        "circle" => " files import each other",
        "words" => " comments (CONTRIBUTING.md, \"Words\")",
        "columns" => " long lines",
        "functions" => " functions of more than 60 lines",
        "openssl" => " files name OpenSSL (xtask/src/tidy/library.rs)",
        _ => "",
    }
}

const HEADER: &str =
    "# What `cargo xtask tidy` still finds, one line each: `rule path count`. Counts may only fall:
# `cargo xtask tidy --lower` writes them anew.
";

fn written(limits: &Counts) -> String {
    let rows = limits.iter().map(|((rule, path), count)| format!("{rule} {path} {count}\n"));
    HEADER.to_owned() + &rows.collect::<String>()
}

fn limits() -> Result<Counts, String> {
    parse(&files::text(LIMITS))
}

fn parse(text: &str) -> Result<Counts, String> {
    let mut limits = Counts::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
    {
        let fields: Vec<&str> = line.split(' ').collect();
        let row = match fields[..] {
            [rule, path, count] => {
                count.parse().ok().map(|count| ((rule.to_owned(), path.to_owned()), count))
            }
            _ => None,
        };
        let (key, count) = row.ok_or_else(|| format!("{LIMITS}:{}: not `rule path count`", at + 1))?;
        limits.insert(key, count);
    }
    Ok(limits)
}

fn measure(sources: &[Source]) -> Result<Counts, String> {
    let paths = || sources.iter().map(|source| source.path.as_str());
    let folders = CRATES.iter().map(|name| format!("crates/{name}/src"));
    let with_modules = |folder: String| (imports::modules(&folder, paths()), folder);
    let crates: Vec<(Modules, String)> = folders.map(with_modules).collect();
    let files = sources::each(sources, |source| File::measure(source, &crates));
    let mut counts = Counts::new();
    let mut graphs: Vec<Imports> = CRATES.iter().map(|_| Imports::new()).collect();
    let mut add = |rule: &str, path: &str, count: usize| {
        if count > 0 {
            counts.insert((rule.to_owned(), path.to_owned()), count);
        }
    };
    let mut naming = 0;
    for (path, file) in paths().zip(files) {
        let file = file?;
        naming += usize::from(file.names_library);
        file.counts.into_iter().for_each(|(rule, count)| add(rule, path, count));
        if let Some((number, module, imports)) = file.imports {
            graphs[number].insert(module, imports);
        }
    }
    for (name, imports) in CRATES.iter().zip(&graphs) {
        let graph = imports::graph_of(imports);
        add("circle", &format!("crates/{name}"), imports::circles(&graph).first().map_or(0, Vec::len));
    }
    add("openssl", "crates", naming);
    Ok(counts)
}

/// The counts of one file.
#[derive(Default)]
struct File {
    counts: Vec<(&'static str, usize)>,
    names_library: bool,
    /// The position of the crate in [`CRATES`], the module, and the names that it uses.
    imports: Option<(usize, Vec<String>, Vec<Import>)>,
}

impl File {
    /// Parses a source at most once.
    fn measure(Source { path, text }: &Source, crates: &[(Modules, String)]) -> Result<File, String> {
        let mut file = File { names_library: library::is_named_outside(path, text), ..File::default() };
        if path.ends_with(".md") {
            file.counts.push(("columns", longer_than(MARKDOWN_COLUMNS, text)));
        }
        if !path.ends_with(".rs") {
            return Ok(file);
        }
        file.counts.extend([("words", words::refused(text)), ("columns", longer_than(RUST_COLUMNS, text))]);
        let module = crates.iter().enumerate().find_map(|(number, (modules, folder))| {
            Some((number, imports::module_of(folder, path)?, modules))
        });
        if product(path) || module.is_some() {
            let syntax = syn::parse_file(text).map_err(|error| format!("{path}: {error}"))?;
            if product(path) {
                let functions = length::long_functions(text, &syntax);
                file.counts.extend([("lines", length::of_file(text)), ("functions", functions)]);
            }
            file.imports = module.map(|(number, module, modules)| {
                (number, module.clone(), imports::of_file(&syntax, module, modules))
            });
        }
        Ok(file)
    }
}

/// Whether a file is part of what ships. Tables of facts are as long as the facts are many.
fn product(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/") && !path.starts_with("crates/tables/")
}

/// Counts lines over the limit. Rows of tables and lines that are one link or path cannot be broken.
fn longer_than(columns: usize, text: &str) -> usize {
    text.lines()
        .filter(|line| line.len() > columns && line.chars().count() > columns)
        .filter(|line| !line.starts_with('|') && line.trim().contains(' '))
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_they_are_written() {
        let limits = parse("# comment\ncircle crates/net 6\n\nwords a/b.rs 2\n").expect("two rows");
        assert_eq!(limits.len(), 2);
        assert_eq!(parse(&written(&limits)), Ok(limits));
        assert!(parse("circle crates/net\n").is_err());
        assert!(parse("circle crates/net x\n").is_err());
    }

    #[test]
    fn tables_and_links_may_be_long() {
        let long = "x".repeat(120);
        assert_eq!(longer_than(110, &format!("| {long} a |\n{long}\n")), 0);
        assert_eq!(longer_than(110, &format!("a {long}\n")), 1);
    }
}
