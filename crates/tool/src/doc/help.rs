//! `--help`: the important flags, a category, everything, or one flag.

use crate::doc::manual;
use crate::flags::{self, CATEGORIES, Flag};
use crate::system;
use std::io::Write;

/// The column that help lines begin in at the latest, for short names.
const WIDEST: usize = 40;

/// What to print, and whether it belongs on standard error.
#[derive(Debug, PartialEq)]
pub struct Help {
    pub text: String,
    pub error: bool,
}

pub fn help(about: Option<&str>) -> Help {
    let text = match about {
        None => overview(),
        Some("all") => list("", flags::sorted()),
        Some("category") => categories(),
        Some(name) if name.starts_with('-') => match manual::one(name) {
            Some(text) => text,
            None => {
                let text = "Incorrect option name to show help for, see curl -h\n".to_string();
                return Help { text, error: true };
            }
        },
        Some(name) => match CATEGORIES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some((known, about)) => list(&format!("{known}: {about}\n"), in_category(known)),
            None => {
                format!("Unknown category provided, here is a list of all categories:\n\n{}", categories())
            }
        },
    };
    Help { text, error: false }
}

/// Prints what was asked for, to where it belongs.
pub fn print(about: Option<&[u8]>) {
    let about = about.map(String::from_utf8_lossy);
    let Help { text, error } = help(about.as_deref());
    let _ = if error {
        system::stderr().write_all(text.as_bytes())
    } else {
        system::stdout().write_all(text.as_bytes())
    };
}

fn in_category(category: &str) -> Vec<&'static Flag> {
    flags::sorted().into_iter().filter(|flag| flag.in_category(category)).collect()
}

fn overview() -> String {
    let names: Vec<&str> =
        CATEGORIES.iter().map(|(name, _)| *name).filter(|name| *name != "important").collect();
    let mut out = list("Usage: curl [options...] <url>\n", in_category("important"));
    out.push_str("\nThese are the options used most. The others are sorted into categories:\n");
    out.push_str(&filled(&names));
    out.push_str(
        "Show a category with --help NAME, what they hold with --help category,\n\
         every option with --help all, and the text about one with --help --OPTION.\n",
    );
    out
}

/// Words with commas, in lines of a terminal's width.
fn filled(words: &[&str]) -> String {
    let mut out = String::new();
    let mut width = 0;
    for (at, word) in words.iter().enumerate() {
        let end = if at + 1 == words.len() { "" } else { "," };
        if width + word.len() + 2 > 78 {
            out.push('\n');
            width = 0;
        }
        let gap = if width == 0 { "" } else { " " };
        out.push_str(&format!("{gap}{word}{end}"));
        width += gap.len() + word.len() + end.len();
    }
    out.push('\n');
    out
}

fn categories() -> String {
    let rows = CATEGORIES.iter().filter(|(name, _)| *name != "important");
    rows.map(|(name, about)| format!(" {name:<11} {about}\n")).collect()
}

fn list(title: &str, flags: Vec<&'static Flag>) -> String {
    let width = flags.iter().map(|flag| flag.usage().len()).max().unwrap_or(0).min(WIDEST);
    let mut out = title.to_string();
    for flag in flags {
        let usage = flag.usage();
        out.push_str(&format!(" {usage:<width$} {}\n", flag.help));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_lists_every_flag() {
        let text = help(Some("all")).text;
        for flag in flags::all() {
            assert!(
                text.contains(&format!("--{}", flag.name)) && text.contains(flag.help),
                "--{}",
                flag.name
            );
        }
        assert!(text.lines().all(|line| line.len() <= 110));
    }

    #[test]
    fn the_ways_to_ask() {
        assert!(help(None).text.starts_with("Usage: curl [options...] <url>\n"));
        assert!(help(Some("category")).text.contains(" smtp "));
        assert!(help(Some("FTP")).text.contains("--ftp-port"));
        assert!(help(Some("nonsense")).text.starts_with("Unknown category"));
        assert!(help(Some("-o")).text.contains("--output <file>"));
        assert!(help(Some("--no-buffer")).text.contains("-N, --no-buffer"));
        assert!(help(Some("--badone")).error);
    }
}
