//! What library and tool are made of: `cargo xtask supply --check` holds it to licences that ours may stand beside and to
//! the registry as the one source; `cargo xtask supply` prints it as a
//! bill of materials (CycloneDX 1.5, JSON). cargo tells it all, from Cargo.lock.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::Command;

use crate::Report;

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

/// What is linked or built for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    version: String,
    licence: String,
    /// A folder or an address; none for the registry's.
    source: Option<String>,
}

pub fn run(check: bool) -> Report {
    let packages = packages(&tree()?);
    if !check {
        return Ok(bill(&packages));
    }
    let findings = findings(&packages);
    match findings.is_empty() {
        true => Ok(format!("supply: {} crates, nothing found", packages.len())),
        false => Err(findings.join("\n")),
    }
}

fn tree() -> Result<String, String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["tree", "--locked", "-p", "warmwire-capi", "-p", "warmwire-tool", "-e", "normal,build"]);
    let output = cargo.args(["--prefix", "none", "--no-dedupe", "--format", "{p}|{l}"]).output();
    let output = output.map_err(|e| format!("cargo tree: {e}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Lines of "name vVERSION (what it is or where it is from)|licence", each as often as somebody depends on it.
fn packages(tree: &str) -> BTreeSet<Package> {
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

fn findings(packages: &BTreeSet<Package>) -> Vec<String> {
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
        // What is of this project has no address of its own.
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
    fn what_cargo_tells() {
        let tree = "a v1.0.0|MIT\na v1.0.0|MIT\n\nb v2.0.0 (proc-macro)|GPL-3.0\nc v0.1.0 (https://h.example/c#1)|MIT\n";
        let packages = packages(tree);
        assert_eq!(packages.len(), 3);
        let found = findings(&packages);
        assert!(
            found.len() == 2 && found[0].contains("b 2.0.0") && found[1].contains("h.example"),
            "{found:?}"
        );
        let bill = bill(&packages);
        assert!(bill.contains("\"purl\": \"pkg:cargo/a@1.0.0\"") && !bill.contains("pkg:cargo/c@"));
    }
}
