//! `cargo xtask crates`: checks that the crate `warmwire`, what it is made of, and the crates on it can be
//! published.
//!
//! It compiles nothing: cargo lists the files of each package, and the manifests are read.
//! `cargo publish --dry-run --workspace`, a step of `make test-deep`, also compiles each package alone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::supply::{self, Package};
use crate::{Report, files};

/// Keys that the manifest of each published crate contains, inherited or not.
const KEYS: [&str; 8] =
    ["description", "version", "edition", "rust-version", "license", "authors", "repository", "include"];

/// Published crates with a workspace of their own.
pub const APART: [&str; 1] = ["crates/object-store"];

/// The largest file of a package. Sources are smaller; test data is not.
const LARGEST: u64 = 100_000;

/// Checks all published crates.
pub fn run() -> Report {
    let tree = supply::tree(&["warmwire"], &["--target", "all"])?;
    let ours: Vec<Package> = supply::packages(&tree).into_iter().filter(|p| p.source.is_some()).collect();
    let mut findings = unversioned("Cargo.toml", &files::text("Cargo.toml"), &ours);
    let folders = ours.iter().map(|package| package.source.clone().expect("filtered by it").into());
    let folders: Vec<PathBuf> = folders.chain(APART.map(|folder| files::root().join(folder))).collect();
    for folder in &folders {
        let shown = folder.display();
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml"))
            .map_err(|error| format!("{shown}: {error}"))?;
        let faults = without_keys(&manifest).into_iter().chain(unfit(folder, &listed(folder)?));
        findings.extend(faults.map(|fault| format!("crates: {shown}: {fault}")));
    }
    for folder in APART {
        let path = format!("{folder}/Cargo.toml");
        let required = ours.iter().filter(|package| package.name == "warmwire").cloned();
        findings.extend(unversioned(&path, &files::text(&path), &required.collect::<Vec<_>>()));
    }
    match findings.is_empty() {
        true => Ok(format!("crates: {} crates can be published", folders.len())),
        false => Err(findings.join("\n")),
    }
}

/// Asks cargo for the files of a package.
fn listed(folder: &Path) -> Result<BTreeSet<String>, String> {
    let output = Command::new("cargo")
        .args(["package", "--quiet", "--list", "--allow-dirty", "--manifest-path"])
        .arg(folder.join("Cargo.toml"))
        .output()
        .map_err(|error| format!("cargo package: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// Dependencies in a manifest on a published crate without its exact version: a registry ignores paths.
fn unversioned(path: &str, manifest: &str, ours: &[Package]) -> Vec<String> {
    let is_exact = |package: &Package| {
        let Package { name, version, .. } = package;
        manifest.lines().any(|line| {
            let is_named =
                line.contains(&format!("package = \"{name}\"")) || line.starts_with(&format!("{name} ="));
            is_named && line.contains(&format!("version = \"={version}\""))
        })
    };
    let finding = |p: &Package| format!("crates: {path} requires {} without `={}`", p.name, p.version);
    ours.iter().filter(|package| !is_exact(package)).map(finding).collect()
}

/// Keys that the section `[package]` lacks.
fn without_keys(manifest: &str) -> Vec<String> {
    let section = manifest.split("\n[").next().unwrap_or_default();
    let has = |key: &str| {
        section.lines().any(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with([' ', '.'])))
    };
    let mut missing: Vec<String> =
        KEYS.iter().filter(|key| !has(key)).map(|key| format!("no `{key}`")).collect();
    missing.extend(has("publish").then(|| "`publish` forbids to publish it".to_owned()));
    missing
}

/// Files that a package lacks, and files that it should not contain.
fn unfit(folder: &Path, list: &BTreeSet<String>) -> Vec<String> {
    let wanted = ["Cargo.toml", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "src/lib.rs"];
    let mut found: Vec<String> =
        wanted.iter().filter(|name| !list.contains(**name)).map(|name| format!("lacks {name}")).collect();
    for file in list {
        let is_made = ["Cargo.lock", "Cargo.toml.orig", ".cargo_vcs_info.json"].contains(&file.as_str());
        if !is_made
            && !wanted.contains(&file.as_str())
            && !file.starts_with("src/")
            && !file.starts_with("examples/")
        {
            found.push(format!("contains {file}"));
        }
        let size = folder.join(file).metadata().map_or(0, |data| data.len());
        if size > LARGEST {
            found.push(format!("{file} has {size} bytes"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Crates that two builds choose different features of, with both lists: cargo compiles such a crate,
    /// and all that depend on it, once for each build. A tree has a line of a crate's name, version and
    /// features for each dependency on it.
    fn differing(trees: [&str; 2]) -> Vec<String> {
        let features = trees.map(|tree| {
            let mut features: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
            for (name, list) in tree.lines().filter_map(|line| line.split_once('|')) {
                features.entry(name).or_default().insert(list.trim_end_matches(" (*)"));
            }
            features
        });
        let [first, second] = &features;
        let shared = first.iter().filter_map(|(name, list)| Some((name, list, second.get(name)?)));
        let finding = |(name, first, second)| format!("{name}: {first:?} and {second:?}");
        shared.filter(|(_, first, second)| first != second).map(finding).collect()
    }

    fn features(package: &str, target: &str) -> String {
        let words = ["tree", "--locked", "-e", "normal,build", "--prefix", "none", "--format", "{p}|{f}"];
        let output = Command::new("cargo").args(words).args(["-p", package, "--target", target]).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// `make lib tool` took a third longer while the engine was compiled once for each of the two.
    #[test]
    fn library_and_tool_share_all_compiled_crates() {
        for target in ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu", "x86_64-pc-windows-gnu"] {
            let trees = ["warmwire-capi", "warmwire-tool"].map(|package| features(package, target));
            assert!(trees.iter().all(|tree| tree.contains("\nwarmwire-engine v")), "{target}");
            assert_eq!(differing([&trees[0], &trees[1]]), Vec::<String>::new(), "{target}");
        }
    }

    #[test]
    fn features_of_one_build_alone_are_found() {
        let first = "a v1|x\nb v2|std\nb v2|std (*)\nc v1|\n";
        assert_eq!(differing([first, "c v1|\na v1|x (*)\nd v1|y\nb v2|std\n"]), Vec::<String>::new());
        assert_eq!(differing([first, "a v1|x,y\n"]), [r#"a v1: {"x"} and {"x,y"}"#]);
    }

    #[test]
    fn the_crate_and_its_parts_can_be_published() {
        let report = run().unwrap_or_else(|findings| panic!("{findings}"));
        assert_eq!(report, "crates: 12 crates can be published");
    }

    #[test]
    fn a_dependency_needs_the_exact_version() {
        let package = |name: &str| Package {
            name: name.to_owned(),
            version: "1.2.3".to_owned(),
            licence: String::new(),
            source: Some("/somewhere".to_owned()),
        };
        let ours = [package("a"), package("p-b"), package("p-c"), package("p-d")];
        let manifest = "a = { path = \"a\", version = \"=1.2.3\" }\n\
                        b = { path = \"b\", version = \"=1.2.3\", package = \"p-b\" }\n\
                        c = { path = \"c\", version = \"=1.2.2\", package = \"p-c\" }\n\
                        d = { path = \"d\", package = \"p-d\" }\n";
        let found = unversioned("Cargo.toml", manifest, &ours);
        assert!(found.len() == 2 && found[0].contains("p-c") && found[1].contains("p-d"), "{found:?}");
    }

    #[test]
    fn missing_keys_and_foreign_files_are_findings() {
        let whole = KEYS
            .iter()
            .fold(String::from("[package]"), |text, key| format!("{text}\n{key}.workspace = true"));
        assert_eq!(without_keys(&whole), Vec::<String>::new());
        let bad = whole.replace("license", "licence") + "\npublish = false\n\n[dependencies]\nlicense = 1\n";
        assert_eq!(without_keys(&bad), ["no `license`", "`publish` forbids to publish it"]);
        let list = ["Cargo.toml", "Cargo.lock", "LICENSE-MIT", "src/lib.rs", "tests/data.bin", "xtask.rs"];
        let found = unfit(Path::new("/nowhere"), &list.map(str::to_owned).into());
        assert_eq!(
            found,
            ["lacks README.md", "lacks LICENSE-APACHE", "contains tests/data.bin", "contains xtask.rs"]
        );
    }
}
