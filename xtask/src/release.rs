//! `cargo xtask release X.Y.Z`: raises the version of all crates and packages, and gives the entries below
//! *Unreleased* in CHANGELOG.md this version and the date of today.
//!
//! The version is in Cargo.toml; packages, the wheel, the tool and the library read it there. Each
//! Cargo.lock repeats it for the crates that inherit it.

use crate::{Report, files};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Raises the version of the checkout.
pub fn run(version: &str) -> Report {
    let output =
        Command::new("date").args(["-u", "+%F"]).output().map_err(|error| format!("date: {error}"))?;
    let today = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    let changed = raise(&files::root(), &files::below(""), version, &today)?;
    Ok(format!(
        "release: {version} in {}\nNext: `cargo xtask semver`, read the state in README.md and SECURITY.md, \
         commit, `git tag v{version}`, `make dist`.",
        changed.join(", ")
    ))
}

/// Raises the version in the files of a checkout, and returns those that changed. Writes nothing on error.
fn raise(root: &Path, paths: &[String], version: &str, today: &str) -> Result<Vec<String>, String> {
    let read = |path: &str| fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"));
    let new = numbers(version).ok_or(format!("release: `{version}` is not X.Y.Z"))?;
    let manifest = read("Cargo.toml")?;
    let old = version_of(&manifest).ok_or("Cargo.toml has no version in [workspace.package]")?;
    if numbers(old).is_none_or(|old| new < old) {
        return Err(format!("release: {version} is older than {old}"));
    }
    let mut written = vec![("CHANGELOG.md".to_owned(), cut(&read("CHANGELOG.md")?, version, today)?)];
    let [before, after] = [old, version].map(|version| format!("\nversion = \"{version}\"\n"));
    // Crates of the workspace require each other in the exact version.
    let [required, wanted] = [old, version].map(|version| format!(", version = \"={version}\""));
    let raised = manifest.replacen(&before, &after, 1).replace(&required, &wanted);
    written.push(("Cargo.toml".to_owned(), raised));
    let mut names = Vec::new();
    for path in paths.iter().filter(|path| path.ends_with("/Cargo.toml")) {
        let text = read(path)?;
        let inherits = text.contains("\nversion.workspace = true\n");
        // A published crate with a workspace of its own.
        let requires = text.contains(&required);
        names.extend((inherits || requires).then(|| name_of(&text).map(str::to_owned)).flatten());
        if requires {
            let raised = text.replacen(&before, &after, 1).replace(&required, &wanted);
            written.push((path.clone(), raised));
        }
    }
    for path in paths.iter().filter(|path| path.ends_with("Cargo.lock")) {
        written.push((path.clone(), locked(&read(path)?, &names, version)));
    }
    let mut changed = Vec::new();
    for (path, text) in written {
        if read(&path)? != text {
            fs::write(root.join(&path), text).map_err(|error| format!("{path}: {error}"))?;
            changed.push(path);
        }
    }
    Ok(changed)
}

/// Reads `X.Y.Z`, as cargo does: without leading zeros.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let parts: Vec<u64> = version.split('.').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    let numbers: [u64; 3] = parts.try_into().ok()?;
    (numbers.map(|number| number.to_string()).join(".") == version).then_some(numbers)
}

fn version_of(manifest: &str) -> Option<&str> {
    let (_, package) = manifest.split_once("[workspace.package]\n")?;
    package.lines().find_map(|line| line.strip_prefix("version = \""))?.strip_suffix('"')
}

fn name_of(manifest: &str) -> Option<&str> {
    manifest.lines().find_map(|line| line.strip_prefix("name = \""))?.strip_suffix('"')
}

/// Returns a Cargo.lock in which these crates have the version. A crate of a registry has a source.
fn locked(lock: &str, names: &[String], version: &str) -> String {
    let package = |block: &str| {
        let is_ours = name_of(block).is_some_and(|name| names.iter().any(|ours| ours == name));
        let has_source = block.lines().any(|line| line.starts_with("source = "));
        let line = |line: &str| match is_ours && !has_source && line.starts_with("version = ") {
            true => format!("version = \"{version}\""),
            false => line.to_owned(),
        };
        block.split('\n').map(line).collect::<Vec<_>>().join("\n")
    };
    lock.split("[[package]]").map(package).collect::<Vec<_>>().join("[[package]]")
}

/// Returns the changelog with a section for the version; the section *Unreleased* is empty then.
fn cut(changelog: &str, version: &str, today: &str) -> Result<String, String> {
    if changelog.contains(&format!("\n## [{version}]")) {
        return Err(format!("CHANGELOG.md: {version} has been released"));
    }
    let (head, rest) =
        changelog.split_once("\n## [Unreleased]\n").ok_or("CHANGELOG.md has no `## [Unreleased]`")?;
    let entries = rest.split("\n## [").next().unwrap_or_default();
    if !entries.lines().any(|line| line.starts_with("- ")) {
        return Err("CHANGELOG.md: nothing stands below `## [Unreleased]`".to_owned());
    }
    Ok(format!("{head}\n## [Unreleased]\n\n## [{version}] - {today}\n{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies the files that a release changes or reads.
    fn copy(name: &str) -> (std::path::PathBuf, Vec<String>) {
        let root = std::env::temp_dir().join(format!("release-{name}-{}", std::process::id()));
        let is_part = |path: &String| {
            path.ends_with("Cargo.toml") || path.ends_with("Cargo.lock") || path == "CHANGELOG.md"
        };
        let paths: Vec<String> = files::below("").into_iter().filter(is_part).collect();
        for path in &paths {
            let to = root.join(path);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(files::root().join(path), to).unwrap();
        }
        (root, paths)
    }

    #[test]
    fn a_release_raises_the_version_everywhere() {
        let (root, paths) = copy("everywhere");
        let old = version_of(&files::text("Cargo.toml")).unwrap().to_owned();
        let changed = raise(&root, &paths, "97.0.1", "2030-01-02").unwrap();
        let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
        let locks = [
            "Cargo.lock",
            "bench/programs/crates/Cargo.lock",
            "crates/curl-sys/Cargo.lock",
            "crates/object-store/Cargo.lock",
            "fuzz/oracles/Cargo.lock",
            "tests/datafusion/Cargo.lock",
            "tests/judges/reqwest/Cargo.lock",
        ];
        let manifests = ["CHANGELOG.md", "Cargo.toml", "crates/object-store/Cargo.toml"];
        assert_eq!(changed, [&manifests[..], &locks[..]].concat());
        assert_eq!(version_of(&read("Cargo.toml")), Some("97.0.1"));
        assert_eq!(read("Cargo.toml").replace("97.0.1", &old), files::text("Cargo.toml"));
        assert_eq!(read("Cargo.toml").matches("version = \"=97.0.1\"").count(), 12);
        assert_eq!(read("crates/object-store/Cargo.toml").matches("97.0.1").count(), 2);
        let lock = read("Cargo.lock");
        let ours = |package: &&str| !package.contains("\nsource = ") && package.contains("\nname = ");
        let packages: Vec<&str> = lock.split("[[package]]").filter(ours).collect();
        assert!(packages.len() > 15, "{}", packages.len());
        assert!(packages.iter().all(|package| package.contains("\nversion = \"97.0.1\"\n")));
        let raised = lock.matches("\"97.0.1\"").count();
        let before = files::text("Cargo.lock");
        assert_eq!(lock.replace("97.0.1", &old), before, "only versions change");
        assert_eq!(raised, packages.len());
        let changelog = read("CHANGELOG.md");
        assert!(changelog.contains("\n## [Unreleased]\n\n## [97.0.1] - 2030-01-02\n\n"));
        assert!(raise(&root, &paths, "97.0.2", "2030-01-03").unwrap_err().contains("nothing stands"));
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn a_wrong_version_changes_nothing() {
        let (root, paths) = copy("wrong");
        for (version, fault) in [
            ("", "is not X.Y.Z"),
            ("1.0", "is not X.Y.Z"),
            ("v1.0.0", "is not X.Y.Z"),
            ("1.0.0-rc1", "is not X.Y.Z"),
            ("01.0.0", "is not X.Y.Z"),
            ("0.0.1", "is older than"),
        ] {
            let error = raise(&root, &paths, version, "2030-01-02").unwrap_err();
            assert!(error.contains(fault), "{version}: {error}");
        }
        for path in &paths {
            assert_eq!(fs::read_to_string(root.join(path)).unwrap(), files::text(path), "{path}");
        }
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn the_changelog_is_cut_once() {
        let text =
            "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A line.\n\n## [0.1.0] - 2029-01-01\n\n- Old.\n";
        let once = cut(text, "0.2.0", "2030-01-02").unwrap();
        assert_eq!(
            once,
            "# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2030-01-02\n\n### Added\n\n- A line.\n\n\
             ## [0.1.0] - 2029-01-01\n\n- Old.\n"
        );
        assert!(cut(&once, "0.3.0", "2030-01-02").unwrap_err().contains("nothing stands"));
        assert!(cut(text, "0.1.0", "2030-01-02").unwrap_err().contains("has been released"));
        assert!(cut("# Changelog\n", "0.3.0", "2030-01-02").is_err());
    }
}
