//! The manual as Markdown, for the guide: `cargo xtask docs` makes a page of each chapter.

use crate::doc::manual::{self, Section};
use crate::doc::pages::Piece;
use crate::flags;

/// The whole manual; each chapter begins with a heading of the first level.
pub fn text() -> String {
    let mut out: String = manual::before().iter().map(section).collect();
    out.push_str("# OPTIONS\n\n");
    for flag in flags::sorted() {
        out.push_str(&format!("### `{}`\n\n", flag.usage().trim_start()));
        for paragraph in manual::paragraphs(flag) {
            out.push_str(&format!("{}\n\n", escaped(&paragraph)));
        }
    }
    out.extend(manual::after().iter().map(section));
    out
}

fn section(section: &Section) -> String {
    let mut out = format!("# {}\n\n", section.title);
    for piece in &section.pieces {
        match piece {
            Piece::Text(text) => out.push_str(&format!("{}\n\n", escaped(text))),
            Piece::Item(term, text) => out.push_str(&format!("- **`{term}`** — {}\n", escaped(text))),
            Piece::Example(text) => out.push_str(&format!("```sh\n{text}\n```\n\n")),
        }
    }
    out.push('\n');
    out
}

/// Escapes characters that Markdown would take for itself.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '*' | '_' | '<' | '>' | '[' | ']' | '`' | '\\' | '#' | '|') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flag_has_a_heading() {
        let text = text();
        for flag in flags::all() {
            assert!(text.contains(&format!("### `{}`\n", flag.usage().trim_start())), "--{}", flag.name);
        }
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escaped("a_b <c>*"), "a\\_b \\<c\\>\\*");
    }
}
