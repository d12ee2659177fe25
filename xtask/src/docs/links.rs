//! Links between the pages of the guide: each leads to a file, each page is in the summary, and each
//! included file exists.

use crate::files;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Checks all pages below `source`; the error lists each broken link.
pub fn check(source: &Path) -> Result<(), String> {
    let mut pages = Vec::new();
    walk(source, &mut pages);
    let mut broken = Vec::new();
    let summary = fs::read_to_string(source.join("SUMMARY.md")).unwrap_or_default();
    let listed: BTreeSet<&str> = targets(&summary).collect();
    for page in &pages {
        let text = fs::read_to_string(page).unwrap_or_default();
        let folder = page.parent().expect("a page has a folder");
        for target in targets(&text).chain(included(&text)) {
            if !target.is_empty() && !folder.join(target).is_file() {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
        let name = page.strip_prefix(source).expect("pages are below the source").display().to_string();
        if name != "SUMMARY.md" && !listed.contains(name.as_str()) {
            broken.push(format!("{name}: is not in SUMMARY.md"));
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(format!("broken links of the guide:\n{}", broken.join("\n"))) }
}

/// Returns the broken links of a text outside of the guide.
pub fn faults(page: &str, text: &str) -> Vec<String> {
    let path = files::root().join(page);
    let folder = path.parent().expect("a text has a folder");
    let broken = targets(text).filter(|target| !target.is_empty() && !folder.join(target).exists());
    broken.map(|target| format!("{page}: the link to {target} leads nowhere")).collect()
}

fn walk(folder: &Path, pages: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, pages);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
}

/// Returns the files that links lead to, without their anchors; links to other sites are not checked.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let files = links.map(|(target, _)| target.split('#').next().unwrap_or_default());
    files.filter(|target| !target.contains("://") && !target.contains(' '))
}

/// Returns the files that are included, without their anchors.
fn included(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("{{#include ").skip(1).filter_map(|rest| rest.split_once("}}"));
    targets.map(|(target, _)| target.split(':').next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_of_a_text_leads_to_a_file_or_folder() {
        let text = "[a](../../README.md#x) [b](../../crates) [c](https://example.com/) [d](#here)";
        assert_eq!(faults("docs/decisions/README.md", text), [""; 0]);
        assert_eq!(faults("docs/decisions/README.md", "[a](README)").len(), 1);
    }

    #[test]
    fn a_broken_link_is_found() {
        let folder = std::env::temp_dir().join(format!("guide-links-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let page = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
        page("SUMMARY.md", "- [One](one.md)\n");
        page("one.md", "[up](SUMMARY.md#x) [out](https://example.com/)\n");
        assert_eq!(check(&folder), Ok(()));
        page("one.md", "[gone](none.md) {{#include none.c}}\n");
        page("two.md", "");
        let error = check(&folder).unwrap_err();
        fs::remove_dir_all(&folder).unwrap();
        assert!(error.contains("one.md: none.md") && error.contains("one.md: none.c"), "{error}");
        assert!(error.contains("two.md: is not in SUMMARY.md"), "{error}");
    }
}
