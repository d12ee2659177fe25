//! The licence texts of all components, for packages. `cargo xtask supply --licences` prints them as one
//! text. A text that several components share is there once, with their names.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::Report;
use crate::supply::{self, Package};

/// Beginnings of the names of files that contain a licence.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];

pub fn run() -> Report {
    let packages: Vec<_> = supply::all()?.into_iter().filter(|package| package.source.is_none()).collect();
    let folders = registries()?;
    let mut found = Vec::new();
    for package in &packages {
        let name = format!("{}-{}", package.name, package.version);
        let folder = folders.iter().map(|folder| folder.join(&name)).find(|folder| folder.is_dir());
        let folder = folder.ok_or_else(|| format!("licences: no sources of {name}: run cargo fetch"))?;
        found.push((package, texts(&folder)?));
    }
    Ok(page(&found))
}

/// The folders in which cargo keeps the sources of registries.
fn registries() -> Result<Vec<PathBuf>, String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")));
    let folder = home.ok_or("licences: neither CARGO_HOME nor HOME is set")?.join("registry/src");
    let entries = std::fs::read_dir(&folder).map_err(|e| format!("licences: {}: {e}", folder.display()))?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

/// The licence texts in the folder of a component, in the order of their files' names.
fn texts(folder: &Path) -> Result<Vec<String>, String> {
    let failed = |e: std::io::Error| format!("licences: {}: {e}", folder.display());
    let mut files: Vec<_> = std::fs::read_dir(folder).map_err(failed)?.flatten().map(|e| e.path()).collect();
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        file.is_file() && NAMES.iter().any(|start| name.starts_with(start))
    });
    files.sort();
    let read = |file: &PathBuf| std::fs::read(file).map(|text| String::from_utf8_lossy(&text).into_owned());
    files.iter().map(read).collect::<Result<_, _>>().map_err(failed)
}

fn page(found: &[(&Package, Vec<String>)]) -> String {
    let mut page = String::from("Licences of the components of Warmwire\n\n");
    let mut users: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (package, texts) in found {
        let Package { name, version, licence, .. } = package;
        let remark = if texts.is_empty() { " (the package has no text of it)" } else { "" };
        let _ = writeln!(page, "{name} {version}: {licence}{remark}");
        for text in texts {
            users.entry(text.trim()).or_default().push(name);
        }
    }
    for (text, names) in users {
        let _ = write!(page, "\n{}\n{}\n\n{text}\n", "=".repeat(78), names.join(", "));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shared_text_stands_once() {
        let package = |name: &str| Package {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: "MIT".to_owned(),
            source: None,
        };
        let (a, b, c) = (package("a"), package("b"), package("c"));
        let shared = || vec!["Permission\n".to_owned()];
        let text = page(&[(&a, shared()), (&b, shared()), (&c, Vec::new())]);
        assert_eq!(text.matches("Permission").count(), 1);
        assert!(text.contains("\na, b\n\nPermission\n"), "{text}");
        assert!(text.contains("c 1.0.0: MIT (the package has no text of it)\n"), "{text}");
    }
}
