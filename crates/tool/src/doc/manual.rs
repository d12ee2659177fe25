//! The manual: as a page for man(1), as text for `--manual`, and the part about one flag.

use crate::doc::pages::{AFTER, BEFORE, Chapter, Piece};
use crate::flags::{self, Arg, Flag, Multi};
use crate::writeout;

/// Columns of the plain text.
const WIDTH: usize = 79;

/// A page in the language of man(7).
pub fn roff() -> String {
    let mut out = String::from(".TH CURL 1 \"\" \"Warmwire\" \"User commands\"\n");
    for chapter in BEFORE {
        chapter_roff(&mut out, chapter);
    }
    out.push_str(".SH OPTIONS\n");
    for flag in flags::sorted() {
        out.push_str(&format!(".TP\n.B {}\n", escaped(flag.usage().trim_start())));
        for paragraph in paragraphs(flag) {
            out.push_str(&format!("{}\n.IP\n", escaped(&paragraph)));
        }
        out.truncate(out.len() - ".IP\n".len());
    }
    out.push_str(".SH WRITE-OUT VARIABLES\n");
    out.push_str(&escaped(&variables()));
    out.push('\n');
    for chapter in AFTER {
        chapter_roff(&mut out, chapter);
    }
    out
}

fn chapter_roff(out: &mut String, chapter: &Chapter) {
    out.push_str(&format!(".SH \"{}\"\n", chapter.title));
    for (at, piece) in chapter.pieces.iter().enumerate() {
        match piece {
            Piece::Text(text) if at == 0 => out.push_str(&format!("{}\n", escaped(text))),
            Piece::Text(text) => out.push_str(&format!(".PP\n{}\n", escaped(text))),
            Piece::Item(term, text) => {
                out.push_str(&format!(".TP\n.B {}\n{}\n", escaped(term), escaped(text)))
            }
            Piece::Example(text) => out.push_str(&format!(".PP\n.nf\n{}\n.fi\n", escaped(text))),
        }
    }
}

/// Escapes dashes and backslashes; a line must not begin like a request.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('"', "\\(dq");
    let lines: Vec<String> = text
        .lines()
        .map(|line| if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line.to_string() })
        .collect();
    lines.join("\n")
}

/// The whole manual as plain text.
pub fn text() -> String {
    let mut out = String::new();
    for chapter in BEFORE {
        chapter_text(&mut out, chapter);
    }
    out.push_str("OPTIONS\n");
    for flag in flags::sorted() {
        out.push_str(&flag_text(flag));
    }
    out.push_str("WRITE-OUT VARIABLES\n");
    out.push_str(&wrapped(&variables(), 7));
    out.push('\n');
    for chapter in AFTER {
        chapter_text(&mut out, chapter);
    }
    out
}

/// The text about a flag named as on the command line.
pub fn one(name: &str) -> Option<String> {
    let flag = match name.strip_prefix("--") {
        Some(long) => {
            let key = long.strip_prefix("no-").unwrap_or(long);
            flags::long(key.as_bytes())?.0
        }
        None => match name.strip_prefix('-')?.as_bytes() {
            [letter] => flags::short(*letter)?,
            _ => return None,
        },
    };
    Some(flag_text(flag))
}

fn chapter_text(out: &mut String, chapter: &Chapter) {
    out.push_str(&format!("{}\n", chapter.title));
    for piece in chapter.pieces {
        match piece {
            Piece::Text(text) => out.push_str(&wrapped(text, 7)),
            Piece::Item(term, text) => out.push_str(&format!("       {term}\n{}", wrapped(text, 14))),
            Piece::Example(text) => out.push_str(&format!("         {text}\n")),
        }
        out.push('\n');
    }
}

fn flag_text(flag: &Flag) -> String {
    let mut out = format!("    {}\n", flag.usage().trim_start());
    for paragraph in paragraphs(flag) {
        out.push_str(&wrapped(&paragraph, 10));
        out.push('\n');
    }
    out
}

/// Returns the description of a flag, and what follows from its declaration.
fn paragraphs(flag: &Flag) -> Vec<String> {
    let mut first = String::new();
    if !flag.protocols.is_empty() {
        first.push_str(&format!("({}) ", flag.protocols));
    }
    first.push_str(&format!("{}. {}", flag.help, flag.about));
    let mut rules = Vec::new();
    match flag.multi {
        Multi::Append => rules.push("Can be given several times.".to_string()),
        Multi::PerUrl => rules.push("Give it once for each URL.".to_string()),
        Multi::Single => rules.push("Given several times, the last one counts.".to_string()),
        _ => {}
    }
    if flag.arg == Arg::Bool {
        let key = flag.key();
        let undo = if flag.is_negated() { format!("--{key}") } else { format!("--no-{key}") };
        rules.push(format!("{undo} undoes it."));
    }
    if flag.in_category("global") {
        rules.push("Holds for the whole command line.".to_string());
    }
    if !flag.since.is_empty() {
        rules.push(format!("Known since curl {}.", flag.since));
    }
    if rules.is_empty() { vec![first] } else { vec![first, rules.join(" ")] }
}

fn variables() -> String {
    let mut names: Vec<&str> = writeout::variable_names().collect();
    names.sort_unstable();
    format!(
        "These names can stand in %{{name}}: {}. Besides there are %header{{name}} for a header of the answer, \
         %output{{file}} to write the rest to a file (or append it, with >> before the name) and %time{{format}} \
         for the time in the letters of strftime.",
        names.join(", ")
    )
}

/// Breaks a text into indented lines.
fn wrapped(text: &str, indent: usize) -> String {
    let margin = " ".repeat(indent);
    let mut out = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && indent + line.len() + 1 + word.len() > WIDTH {
            out.push_str(&format!("{margin}{line}\n"));
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    out.push_str(&format!("{margin}{line}\n"));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_hold_every_flag() {
        let (page, text) = (roff(), text());
        for flag in flags::all() {
            assert!(text.contains(&format!("--{}", flag.name)), "--{}", flag.name);
            assert!(page.contains(&escaped(&format!("--{}", flag.name))), "--{}", flag.name);
        }
        assert!(text.lines().all(|line| line.len() <= WIDTH + 40));
    }

    #[test]
    fn the_lines_that_curls_tests_look_for_come_once() {
        let text = text();
        let found =
            text.lines().filter(|line| line.contains("curl - transfer a URL") || line.contains("AUTHORS"));
        assert_eq!(found.count(), 2);
    }

    #[test]
    fn requests_are_escaped() {
        assert_eq!(escaped(".a-b\\\n'c"), "\\&.a\\-b\\e\n\\&'c");
        assert!(roff().lines().all(|line| !line.starts_with('\'')));
    }
}
