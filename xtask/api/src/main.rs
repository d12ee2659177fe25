//! Lists the public items of a Rust crate from rustdoc's JSON: `api-listing CRATE.json [PART.json ...]`.
//!
//! A part is a crate of ours from which the first one re-exports. Its re-exported items are listed, too, by
//! the path of the part; all others of the part are its own affair.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use public_api::{Builder, PublicItem};
use rustdoc_types::{Crate, Item, ItemEnum};

/// Automatic traits that are not listed: the compiler's own, and those about panics, which come and go with a
/// private field. Send, Sync and Unpin are listed.
const AUTOMATIC: [&str; 3] =
    ["core::marker::Freeze", "core::marker::UnsafeUnpin", "core::panic::unwind_safe::"];

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let crates = files.iter().map(|file| Listing::read(file)).collect::<Result<Vec<_>, _>>()?;
    let [whole, parts @ ..] = &crates[..] else {
        return Err("api-listing CRATE.json [PART.json ...]".into());
    };
    print!("{}", listing(whole, parts));
    Ok(())
}

/// The items of one crate.
struct Listing {
    name: String,
    rows: Vec<Row>,
}

/// An item as it is written, and what a re-export of another crate's item names.
struct Row {
    text: String,
    source: Option<String>,
}

impl Listing {
    fn read(file: &str) -> Result<Listing, Box<dyn Error>> {
        let json: Crate = serde_json::from_str(&std::fs::read_to_string(file)?)?;
        let name = json.index.get(&json.root).and_then(|root| root.name.clone());
        let api = Builder::from_rustdoc_json(file).omit_blanket_impls(true).build()?;
        let row = |item: &PublicItem| Row {
            text: item.to_string(),
            source: json.index.get(&item.id()).and_then(source),
        };
        Ok(Listing {
            name: name.ok_or("a crate without a name")?,
            rows: api.items().map(row).filter(|row| is_listed(&row.text)).collect(),
        })
    }
}

/// Returns the path that a re-export names.
fn source(item: &Item) -> Option<String> {
    match &item.inner {
        ItemEnum::Use(import) => Some(import.source.clone()),
        _ => None,
    }
}

fn is_listed(text: &str) -> bool {
    let of = text.split(" for ").next().filter(|of| of.starts_with("impl"));
    !of.is_some_and(|of| AUTOMATIC.iter().any(|name| of.contains(name)))
}

/// Returns the first path of the crate in a row: that of its item, or of the type of an implementation.
fn subject<'t>(text: &'t str, name: &str) -> &'t str {
    let text = match text.split_once(" for ") {
        Some((implementation, of)) if implementation.starts_with("impl") => of,
        _ => text,
    };
    let start = format!("{name}::");
    let Some(at) = text.find(&start) else { return "" };
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let end = text[at..].find(|c| !is_path(c)).map_or(text.len(), |length| at + length);
    text[at..end].trim_end_matches(':')
}

fn is_within(path: &str, of: &str) -> bool {
    path.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// The rows of the crate, then those of the parts that it re-exports, directly or by another part.
fn listing(whole: &Listing, parts: &[Listing]) -> String {
    let mut text = String::new();
    let mut of_parts: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    let mut open: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    // A type with two paths is there twice, with all its members.
    for row in whole.rows.iter().filter(|row| seen.insert(&row.text)) {
        text.push_str(&row.text);
        if let Some(source) = &row.source {
            text.push_str(&format!(" = {source}"));
            open.push(source.clone());
        }
        text.push('\n');
    }
    while let Some(source) = open.pop() {
        let Some((part, path)) = parts.iter().find_map(|part| Some((part, path_in(part, &source)?))) else {
            continue; // another project's
        };
        let seen = of_parts.entry(&part.name).or_default();
        for (number, row) in part.rows.iter().enumerate() {
            if is_within(subject(&row.text, &part.name), &path) && seen.insert(number) {
                open.extend(row.source.clone());
            }
        }
    }
    for part in parts {
        let Some(rows) = of_parts.get(&*part.name) else { continue };
        text.push_str(&format!("\nRe-exported from {}:\n", part.name));
        rows.iter().for_each(|row| text.push_str(&format!("{}\n", part.rows[*row].text)));
    }
    text
}

/// Returns the path within a part of what `engine::Easy` names: crates call the part by the end of its name.
fn path_in(part: &Listing, source: &str) -> Option<String> {
    let (first, rest) = source.split_once("::")?;
    let is_name = part.name == first || part.name.ends_with(&format!("_{first}"));
    is_name.then(|| format!("{}::{rest}", part.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing_of(name: &str, rows: &[(&str, Option<&str>)]) -> Listing {
        let row = |(text, source): &(&str, Option<&str>)| Row {
            text: (*text).to_owned(),
            source: source.map(str::to_owned),
        };
        Listing { name: name.to_owned(), rows: rows.iter().map(row).collect() }
    }

    #[test]
    fn the_subject_of_a_row_is_its_item() {
        for (row, path) in [
            ("pub fn ours_a::X::f(&self, ours_a::Y) -> ours_a::Z", "ours_a::X::f"),
            ("impl core::convert::From<ours_a::Y> for ours_a::X<'_>", "ours_a::X"),
            ("impl ours_a::X", "ours_a::X"),
            ("pub ours_a::X::field: u8", "ours_a::X::field"),
            ("impl core::convert::From<ours_a::Y> for alloc::string::String", ""),
        ] {
            assert_eq!(subject(row, "ours_a"), path, "{row}");
        }
    }

    #[test]
    fn re_exported_items_are_followed_through_the_parts() {
        let whole = listing_of(
            "w",
            &[("pub mod w", None), ("pub use w::X", Some("a::X")), ("pub use w::M", Some("http::M"))],
        );
        let a = listing_of(
            "ours_a",
            &[
                ("pub use ours_a::X", Some("b::m::X")),
                ("pub struct ours_a::XY", None),
                ("pub fn ours_a::own()", None),
            ],
        );
        let b =
            listing_of("ours_b", &[("pub struct ours_b::m::X", None), ("pub fn ours_b::m::X::f()", None)]);
        assert_eq!(
            listing(&whole, &[a, b]),
            "pub mod w\npub use w::X = a::X\npub use w::M = http::M\n\
             \nRe-exported from ours_a:\npub use ours_a::X\n\
             \nRe-exported from ours_b:\npub struct ours_b::m::X\npub fn ours_b::m::X::f()\n"
        );
    }

    #[test]
    fn automatic_traits_of_programs_are_listed() {
        for (row, is) in [
            ("impl core::marker::Send for w::X", true),
            ("impl !core::marker::Send for w::X", true),
            ("impl core::marker::Copy for w::X", true),
            ("impl<F> core::marker::Freeze for w::X<F>", false),
            ("impl !core::panic::unwind_safe::UnwindSafe for w::X", false),
            ("pub fn w::f(core::panic::unwind_safe::AssertUnwindSafe<u8>)", true),
        ] {
            assert_eq!(is_listed(row), is, "{row}");
        }
    }
}
