//! `--help`: the important flags, a category, everything, or one flag.

use crate::doc::manual;
use crate::flags::{self, CATEGORIES, Flag};
use crate::real_world::columns;
use crate::system;
use std::io::{IsTerminal, Write};

/// Columns assumed when neither COLUMNS nor a terminal says.
const COLUMNS: usize = 79;
/// The categories that curl's list of categories does not have. Programs read that list, so it stays as it
/// is.
const UNLISTED: [&str; 2] = ["extra", "important"];

/// Where the flags are that curl does not have.
const EXTRA: &str = "Use \"--help extra\" to list the options that curl does not have\n";

/// A text to print, on standard output or standard error.
#[derive(Debug, PartialEq)]
pub struct Help {
    pub text: String,
    pub error: bool,
}

pub fn help(about: Option<&str>, columns: usize) -> Help {
    let text = match about {
        None => overview(columns),
        Some(name) if name.eq_ignore_ascii_case("all") => list("", flags::sorted(), columns),
        Some(name) if name.eq_ignore_ascii_case("category") => categories(),
        Some(name) if name.starts_with('-') => match manual::named_flag_text(name) {
            Some(text) => text,
            None => {
                let text = "Incorrect option name to show help for, see curl -h\n".to_string();
                return Help { text, error: true };
            }
        },
        Some(name) => match CATEGORIES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some((known, about)) => list(&format!("{known}: {about}\n"), in_category(known), columns),
            None => {
                format!("Unknown category provided, here is a list of all categories:\n\n{}", categories())
            }
        },
    };
    Help { text, error: false }
}

/// Prints what was asked for, to where it belongs. A terminal gets a line besides, which programs that
/// compare the text with curl's do not see.
pub fn print(about: Option<&[u8]>) {
    let about = about.map(String::from_utf8_lossy);
    let Help { mut text, error } = help(about.as_deref(), columns().unwrap_or(COLUMNS));
    if about.is_none() && std::io::stdout().is_terminal() {
        text.push_str(EXTRA);
    }
    let _ = if error {
        system::stderr().write_all(text.as_bytes())
    } else {
        system::stdout().write_all(text.as_bytes())
    };
}

fn in_category(category: &str) -> Vec<&'static Flag> {
    flags::sorted().into_iter().filter(|flag| flag.in_category(category)).collect()
}

fn overview(columns: usize) -> String {
    let names: Vec<&str> = listed().map(|(name, _)| *name).collect();
    let mut out = list("Usage: curl [options...] <url>\n", in_category("important"), columns);
    out.push_str(
        "\nThis is not the full help; this menu is split into categories.\n\
         Use \"--help category\" to get an overview of all categories, which are:\n",
    );
    out.push_str(&filled(&names, columns));
    out.push_str(
        "Use \"--help all\" to list all options\n\
         Use \"--help [option]\" to view documentation for a given option\n",
    );
    out
}

/// Joins words with commas, and breaks lines where curl does: after a comma and a space.
fn filled(words: &[&str], columns: usize) -> String {
    let (mut out, mut width) = (String::new(), 0);
    for (at, word) in words.iter().enumerate() {
        let last = at + 1 == words.len();
        if width > 0 && width + word.len() + 2 >= columns {
            out.push('\n');
            width = 0;
        }
        out.push_str(word);
        out.push_str(if last { ".\n" } else { ", " });
        width += word.len() + 2;
    }
    out
}

/// Returns the categories that curl lists.
fn listed() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    CATEGORIES.iter().filter(|(name, _)| !UNLISTED.contains(name))
}

fn categories() -> String {
    listed().map(|(name, about)| format!(" {name:<11} {about}\n")).collect()
}

/// Lists flags in curl's form: at least two spaces part the usage from the text, by which programs find it.
/// The text begins in one column, but further left where the line would not fit, and further right where the
/// usage is long.
fn list(title: &str, flags: Vec<&'static Flag>, columns: usize) -> String {
    let widest = flags.iter().map(|flag| flag.usage().len()).max().unwrap_or(0);
    let longest = flags.iter().map(|flag| flag.help.len()).max().unwrap_or(0);
    let column = widest.min(columns.saturating_sub(longest)) + 3;
    let mut out = title.to_string();
    for flag in flags {
        let usage = flag.usage();
        let start = column.min(columns.saturating_sub(flag.help.len())).max(usage.len() + 3);
        out.push_str(&format!(" {usage:<width$}{}\n", flag.help, width = start - 1));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(about: Option<&str>) -> String {
        help(about, COLUMNS).text
    }

    #[test]
    fn all_lists_every_flag() {
        let text = text_of(Some("all"));
        for flag in flags::all() {
            assert!(
                text.contains(&format!("--{}", flag.name)) && text.contains(flag.help.as_str()),
                "--{}",
                flag.name
            );
        }
        assert!(text.lines().all(|line| line.len() <= 110));
    }

    #[test]
    fn the_ways_to_ask() {
        assert!(text_of(None).starts_with("Usage: curl [options...] <url>\n"));
        assert!(text_of(Some("category")).contains(" smtp "));
        assert!(text_of(Some("FTP")).contains("--ftp-port"));
        assert_eq!(text_of(Some("ALL")), text_of(Some("all")));
        assert_eq!(text_of(Some("Category")), text_of(Some("category")));
        assert!(text_of(Some("extra")).contains("--segments"));
        assert!(text_of(Some("nonsense")).starts_with("Unknown category"));
        assert!(text_of(Some("-o")).contains("--output <file>"));
        assert!(text_of(Some("--no-buffer")).contains("-N, --no-buffer"));
        assert!(help(Some("--badone"), COLUMNS).error);
    }

    #[test]
    fn the_list_of_categories_is_curls() {
        // Case 1462: programs read the names, up to the first space.
        let names: Vec<String> = text_of(Some("category"))
            .lines()
            .map(|line| line.split_whitespace().next().unwrap_or_default().to_string())
            .collect();
        assert_eq!(
            names.join(" "),
            "auth connection curl deprecated dns file ftp global http imap ldap mqtt output pop3 post proxy scp \
             sftp smtp ssh telnet tftp timeout tls upload verbose"
        );
    }

    /// Widths and columns as curl 8.22 was seen to print them with COLUMNS set.
    #[test]
    fn lines_break_where_curls_do() {
        let words: Vec<&str> = listed().map(|(name, _)| *name).collect();
        let widths = |columns| -> Vec<usize> { filled(&words, columns).lines().map(str::len).collect() };
        assert_eq!(widths(79), [78, 78, 21]);
        assert_eq!(widths(60), [52, 59, 58, 8]);
        assert_eq!(widths(37), [36, 36, 32, 29, 36, 8]);
        assert_eq!(widths(36), [24, 28, 32, 32, 31, 30]);
        assert_eq!(widths(300), [177]);
    }

    #[test]
    fn two_spaces_at_least_separate_usage_and_text() {
        for columns in [21, 40, 79, 200, 10_000] {
            for flag in flags::all() {
                let line = format!(" {}  ", flag.usage());
                assert!(help(Some("all"), columns).text.contains(&line), "{line:?} at {columns}");
            }
        }
    }

    #[test]
    fn a_text_that_does_not_fit_begins_further_left() {
        let text = help(Some("all"), 79).text;
        let long = flags::all().filter(|flag| flag.usage().len() + flag.help.len() < 76);
        for flag in long {
            let line = text.lines().find(|line| line.starts_with(&format!(" {} ", flag.usage())));
            assert!(line.is_some_and(|line| line.len() <= 79), "{line:?}");
        }
    }
}
