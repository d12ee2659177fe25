//! Finding, reading and writing files of the checkout; paths are relative to its root.

use std::fs;
use std::path::{Path, PathBuf};

/// The root of the checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a directory of the checkout").to_owned()
}

/// Where cargo builds.
pub fn target() -> PathBuf {
    let set = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    if set.is_absolute() { set } else { root().join(set) }
}

/// Every file below `dir`, as paths from the root with `/`, sorted, without build output and hidden
/// directories.
pub fn below(dir: &str) -> Vec<String> {
    let mut found = Vec::new();
    walk(&root().join(dir), dir, &mut found);
    found.sort_unstable();
    found
}

fn walk(dir: &Path, name: &str, found: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        if file.starts_with('.') || file == "target" {
            continue;
        }
        let path = if name.is_empty() { file } else { format!("{name}/{file}") };
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&entry.path(), &path, found),
            Ok(kind) if kind.is_file() => found.push(path),
            _ => {}
        }
    }
}

/// The text of a file; empty when it is missing or not text.
pub fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_default()
}

/// Writes a generated file, or with `check` only says whether it is stale.
pub fn generated(path: &str, content: &str, check: bool) -> Result<(), String> {
    if text(path) == content {
        return Ok(());
    }
    if check {
        return Err(format!("{path} is stale"));
    }
    let full = root().join(path);
    fs::create_dir_all(full.parent().expect("a generated file has a directory"))
        .map_err(|e| format!("{path}: {e}"))?;
    fs::write(full, content).map_err(|e| format!("{path}: {e}"))
}
