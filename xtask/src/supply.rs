//! The components of library and tool, and of published crates with a workspace of their own: `cargo xtask
//! supply --check` checks that their licences are compatible with ours, that the registry is the only source,
//! that each crate of library and tool has one version, and that no known advisory applies (advisories.tsv).
//! `cargo xtask supply` prints a bill of materials of library and tool (CycloneDX 1.5, JSON). All data is
//! from cargo and Cargo.lock.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::process::Command;

use crate::{Report, crates, files};

/// Licences that ask for no more than to be named (and, of CC0 and Unlicense, not even that).
const ALLOWED: [&str; 11] = [
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Unicode-3.0",
    "Zlib",
    "CC0-1.0",
    "Unlicense",
];

/// Crate, first version without a known fault, advisories.
const ADVISORIES: &str = include_str!("../advisories.tsv");

/// Crates that are there in two versions, and why.
const TWICE: [(&str, &str); 2] =
    [("getrandom", "ring asks for the older one"), ("syn", "for procedural macros: nothing of it is linked")];

/// A crate that the library or the tool is built from, or that their build needs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Package {
    pub name: String,
    pub version: String,
    pub licence: String,
    /// A folder or an address; none for the registry's.
    pub source: Option<String>,
}

/// Targets of a release. The static tool contains crates that the others do not.
const TARGETS: [&str; 4] = [
    "x86_64-unknown-linux-gnu",
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-gnu",
    "aarch64-unknown-linux-musl",
];

/// Returns the components of library and tool for all targets of a release.
pub fn all() -> Result<BTreeSet<Package>, String> {
    let targets = TARGETS.map(|target| ["--target", target]).concat();
    Ok(packages(&tree(&["warmwire-capi", "warmwire-tool"], &targets)?))
}

pub fn run(check: bool) -> Report {
    let packages = all()?;
    if !check {
        return Ok(bill(&packages));
    }
    let mut findings = repeated(&packages);
    // A crate with a workspace of its own may have two versions of a crate: object_store requires them.
    let packages = &packages | &components_apart()?;
    findings.extend(unwelcome(&packages));
    findings.extend(faulty(&packages, ADVISORIES));
    findings.extend(unread(&packages, ADVISORIES));
    match findings.is_empty() {
        true => Ok(format!("supply: {} crates, nothing found", packages.len())),
        false => Err(findings.join("\n")),
    }
}

/// Asks cargo what these crates are built from.
pub fn tree(crates: &[&str], options: &[&str]) -> Result<String, String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["tree", "--locked", "-e", "normal,build"]).args(options);
    for name in crates {
        cargo.args(["-p", name]);
    }
    let output = cargo.args(["--prefix", "none", "--no-dedupe", "--format", "{p}|{l}"]).output();
    let output = output.map_err(|e| format!("cargo tree: {e}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Lines of "name vVERSION (kind or source)|licence", one for each dependency on it.
pub fn packages(tree: &str) -> BTreeSet<Package> {
    let one = |line: &str| {
        let (what, licence) = line.split_once('|')?;
        let mut words = what.split(' ');
        let (name, version) = (words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned());
        let rest = words.filter(|word| *word != "(proc-macro)").collect::<Vec<_>>().join(" ");
        let source = (!rest.is_empty()).then(|| rest.trim_matches(['(', ')']).to_owned());
        Some(Package { name, version, licence: licence.to_owned(), source })
    };
    tree.lines().filter_map(one).collect()
}

/// Returns the components of the published crates with a workspace of their own.
fn components_apart() -> Result<BTreeSet<Package>, String> {
    let mut all = BTreeSet::new();
    for folder in crates::APART {
        let manifest = files::root().join(folder).join("Cargo.toml");
        all.extend(packages(&tree(&[], &["--manifest-path", &manifest.to_string_lossy()])?));
    }
    Ok(all)
}

/// Packages under another licence than those that are allowed, or from elsewhere than the registry.
fn unwelcome(packages: &BTreeSet<Package>) -> Vec<String> {
    let mut found = Vec::new();
    for package in packages {
        let Package { name, version, licence, source } = package;
        if !is_allowed(licence) {
            found.push(format!("supply: {name} {version} is under \"{licence}\""));
        }
        // A folder is this project's own.
        if let Some(source) = source.as_ref().filter(|source| source.contains("://")) {
            found.push(format!("supply: {name} {version} comes from {source}"));
        }
    }
    found
}

/// Crates in several versions without a reason, and reasons that no longer apply.
fn repeated(packages: &BTreeSet<Package>) -> Vec<String> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().insert(&package.version);
    }
    let is_argued = |name: &str| TWICE.iter().any(|(argued, _)| *argued == name);
    let several = versions.iter().filter(|(name, versions)| versions.len() > 1 && !is_argued(name));
    let mut found: Vec<String> =
        several.map(|(name, versions)| format!("supply: {name} is there as {versions:?}")).collect();
    let once = TWICE.iter().filter(|(name, _)| versions.get(name).is_none_or(|all| all.len() < 2));
    found.extend(once.map(|(name, _)| format!("supply: {name} is not there twice any more")));
    found
}

/// The first good version of a crate that was looked up, "-" when all are.
fn known<'t>(table: &'t str, name: &str) -> Option<&'t str> {
    let rows = table.lines().filter(|line| !line.starts_with('#'));
    rows.map(|line| line.split('\t')).find_map(|mut row| (row.next()? == name).then(|| row.next()).flatten())
}

/// Packages of versions that are known to be faulty.
fn faulty(packages: &BTreeSet<Package>, table: &str) -> Vec<String> {
    let numbers = |version: &str| -> Vec<u64> {
        let plain = version.split(['-', '+']).next().unwrap_or_default();
        plain.split('.').filter_map(|number| number.parse().ok()).collect()
    };
    let is_faulty = |package: &&Package| {
        known(table, &package.name)
            .is_some_and(|good| good != "-" && numbers(&package.version) < numbers(good))
    };
    let message =
        |p: &Package| format!("supply: {} {} has a known fault (advisories.tsv)", p.name, p.version);
    packages.iter().filter(|p| p.source.is_none()).filter(is_faulty).map(message).collect()
}

/// Crates of the registry for which advisories were not looked up.
fn unread(packages: &BTreeSet<Package>, table: &str) -> Vec<String> {
    let foreign = packages.iter().filter(|p| p.source.is_none() && known(table, &p.name).is_none());
    let names: BTreeSet<&str> = foreign.map(|p| p.name.as_str()).collect();
    let message = |name| format!("supply: nobody has looked up the advisories of {name} (advisories.tsv)");
    names.into_iter().map(message).collect()
}

/// Every part that is joined by AND has one among its alternatives; "/" is an old way to write OR.
fn is_allowed(licence: &str) -> bool {
    let one = |part: &str| {
        let part = part.trim().trim_matches(['(', ')']).replace('/', " OR ");
        part.split(" OR ").any(|licence| ALLOWED.contains(&licence.trim()))
    };
    licence.split(" AND ").all(one)
}

fn bill(packages: &BTreeSet<Package>) -> String {
    let mut text = String::from(
        "{\n  \"bomFormat\": \"CycloneDX\",\n  \"specVersion\": \"1.5\",\n  \"version\": 1,\n  \"components\": [",
    );
    for (at, Package { name, version, licence, source }) in packages.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        let licence = licence.replace('/', " OR ");
        // Crates of this project have no source of their own.
        let address = match source {
            None => format!(", \"purl\": \"pkg:cargo/{name}@{version}\""),
            Some(_) => String::new(),
        };
        let _ = write!(
            text,
            "{comma}\n    {{\"type\": \"library\", \"name\": \"{name}\", \"version\": \"{version}\"{address}, \"licenses\": [{{\"expression\": \"{licence}\"}}]}}"
        );
    }
    text + "\n  ]\n}"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences() {
        for good in
            ["MIT", "MIT/GPL-2.0", "(MIT OR Apache-2.0) AND Unicode-3.0", "Apache-2.0 WITH LLVM-exception"]
        {
            assert!(is_allowed(good), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "Apache-2.0 WITH Something"] {
            assert!(!is_allowed(bad), "{bad}");
        }
    }

    #[test]
    fn forbidden_licences_and_sources_are_findings() {
        let tree = "a v1.0.0|MIT\na v1.0.0|MIT\n\nb v2.0.0 (proc-macro)|GPL-3.0\nc v0.1.0 (https://h.example/c#1)|MIT\n";
        let packages = packages(tree);
        assert_eq!(packages.len(), 3);
        let found = unwelcome(&packages);
        assert!(
            found.len() == 2 && found[0].contains("b 2.0.0") && found[1].contains("h.example"),
            "{found:?}"
        );
        let table = "# no row\na\t1.0.1\tX-1, X-2\nb\t-\n";
        let faults = faulty(&packages, table);
        assert!(faults.len() == 1 && faults[0].contains("a 1.0.0"), "{faults:?}");
        assert!(faulty(&packages, "a\t1.0.0\tX-1\nb\t-\n").is_empty());
        assert!(unread(&packages, table).is_empty(), "c is nobody's of the registry");
        assert!(unread(&packages, "a\t-\n")[0].contains(" b "));
        let bill = bill(&packages);
        assert!(bill.contains("\"purl\": \"pkg:cargo/a@1.0.0\"") && !bill.contains("pkg:cargo/c@"));
    }

    #[test]
    fn repeated_crates_need_a_reason() {
        let crates = |tree: &str| repeated(&packages(tree));
        let argued = "getrandom v0.2.0|MIT\ngetrandom v0.4.0|MIT\nsyn v2.0.0|MIT\nsyn v3.0.0|MIT\n";
        assert!(crates(argued).is_empty());
        assert_eq!(crates(&format!("{argued}a v1.0.0|MIT\na v2.0.0|MIT\n")).len(), 1);
        assert_eq!(crates("a v1.0.0|MIT\n").len(), 2, "reasons that are none any more");
    }
}
