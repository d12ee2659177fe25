//! Pages about the parts of the code (docs/guide/src/inside): short, with a diagram and a reading order.
//! The check of names finds a file that does not exist.

use crate::files;

const FOLDER: &str = "docs/guide/src/inside";

/// Lines of a page.
const MOST: usize = 120;

/// Returns the faults of all pages, and crates without a page.
pub fn faults() -> Vec<String> {
    let pages: Vec<(String, String)> =
        files::below(FOLDER).into_iter().map(|path| (path.clone(), files::text(&path))).collect();
    let mut found: Vec<String> = pages.iter().filter_map(|(path, text)| fault(path, text)).collect();
    let whole: String = pages.iter().map(|(_, text)| text.as_str()).collect();
    let crates = files::below("crates").into_iter().filter(|path| path.ends_with("/Cargo.toml"));
    let unnamed = crates.filter(|path| !whole.contains(&format!("`{}", folder_of(path))));
    found.extend(unnamed.map(|path| format!("{FOLDER}: no page names a file of {}", folder_of(&path))));
    found
}

fn folder_of(manifest: &str) -> &str {
    manifest.trim_end_matches("Cargo.toml")
}

fn fault(path: &str, text: &str) -> Option<String> {
    let lines = text.lines().count();
    if lines > MOST {
        return Some(format!("{path}: {lines} lines, more than {MOST}"));
    }
    if ["tour.md", "tests.md"].iter().any(|name| path.ends_with(name)) {
        return None;
    }
    let has = |part: &str| text.contains(part);
    (!has("```text\n") || !has("## Read in this order\n\n1. `"))
        .then(|| format!("{path}: needs a diagram and `Read in this order`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_short_and_has_a_diagram_and_an_order() {
        assert_eq!(faults(), [""; 0]);
        let page = "# a\n\n```text\nx\n```\n\n## Read in this order\n\n1. `crates/a`\n";
        assert_eq!(fault("a.md", page), None);
        assert!(fault("a.md", "# a\n").is_some());
        assert!(fault("a.md", &format!("{page}{}", "x\n".repeat(MOST))).is_some());
    }
}
