//! The manual: as a page for man(1), as text for `--manual`, and the part about one flag.

use crate::doc::examples::EXAMPLES;
use crate::doc::failures::FAILURES;
use crate::doc::pages::{AFTER, BEFORE, Chapter, LAST, Piece};
use crate::flags::{self, Arg, Flag, Multi};
use crate::writeout;
use warmwire::environment::{self, Variable};

/// Columns of the plain text.
const WIDTH: usize = 79;

/// A chapter whose text is complete.
pub struct Section {
    pub title: &'static str,
    pub pieces: Vec<Piece<String>>,
}

impl From<&Chapter> for Section {
    fn from(chapter: &Chapter) -> Section {
        let pieces = chapter.pieces.iter().map(|piece| match *piece {
            Piece::Text(text) => Piece::Text(text.to_owned()),
            Piece::Item(term, text) => Piece::Item(term.to_owned(), text.to_owned()),
            Piece::Example(text) => Piece::Example(text.to_owned()),
        });
        Section { title: chapter.title, pieces: pieces.collect() }
    }
}

/// Returns the chapters before OPTIONS.
pub fn before() -> Vec<Section> {
    BEFORE.iter().map(Section::from).collect()
}

/// Returns the chapters after OPTIONS; three of them are generated from tables, and part of ENVIRONMENT.
pub fn after() -> Vec<Section> {
    let mut all = vec![variables()];
    all.extend(AFTER.iter().map(Section::from));
    all.iter_mut().filter(|section| section.title == "ENVIRONMENT").for_each(add_environment);
    all.extend([exit_status(), examples()]);
    all.extend(LAST.iter().map(Section::from));
    all
}

/// A page in the language of man(7).
pub fn roff() -> String {
    let mut out = String::from(".TH CURL 1 \"\" \"Warmwire\" \"User commands\"\n");
    before().iter().for_each(|section| section_roff(&mut out, section));
    out.push_str(".SH OPTIONS\n");
    for flag in flags::sorted() {
        out.push_str(&format!(".TP\n.B {}\n", escaped(flag.usage().trim_start())));
        for paragraph in paragraphs(flag) {
            out.push_str(&format!("{}\n.IP\n", escaped(&paragraph)));
        }
        out.truncate(out.len() - ".IP\n".len());
    }
    after().iter().for_each(|section| section_roff(&mut out, section));
    out
}

fn section_roff(out: &mut String, section: &Section) {
    out.push_str(&format!(".SH \"{}\"\n", section.title));
    for (at, piece) in section.pieces.iter().enumerate() {
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
    let mut out: String = before().iter().map(section_text).collect();
    out.push_str("OPTIONS\n");
    out.extend(flags::sorted().into_iter().map(flag_text));
    out.extend(after().iter().map(section_text));
    out
}

/// The text about a flag named as on the command line.
pub fn named_flag_text(name: &str) -> Option<String> {
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

fn section_text(section: &Section) -> String {
    let mut out = format!("{}\n", section.title);
    for piece in &section.pieces {
        match piece {
            Piece::Text(text) => out.push_str(&wrapped(text, 7)),
            Piece::Item(term, text) => out.push_str(&format!("       {term}\n{}", wrapped(text, 14))),
            Piece::Example(text) => out.push_str(&format!("         {text}\n")),
        }
        out.push('\n');
    }
    out
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
pub fn paragraphs(flag: &Flag) -> Vec<String> {
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

fn variables() -> Section {
    let mut described: Vec<(String, &str)> =
        writeout::described_variables().map(|(name, about)| (format!("%{{{name}}}"), about)).collect();
    described.sort_unstable();
    let first = "--write-out writes a text after each transfer, in which these variables are replaced. \
                 Times are in seconds with six decimals. %% is a percent sign; \\n, \\r and \\t are line \
                 feed, carriage return and tab. A format that begins with @ is read from that file, or from \
                 standard input for @-.";
    let mut pieces = vec![Piece::Text(first.to_owned())];
    pieces.extend(described.into_iter().map(|(name, about)| Piece::Item(name, about.to_owned())));
    pieces.extend(FORMS.iter().map(|(form, about)| Piece::Item((*form).to_owned(), (*about).to_owned())));
    Section { title: "WRITE-OUT VARIABLES", pieces }
}

/// Adds the variables that curl does not have.
fn add_environment(section: &mut Section) {
    let rules = "The following variables are Warmwire's own. A value that is not allowed is reported once on \
                 standard error and counts as unset. A program with more rights than its user (AT_SECURE) \
                 ignores all of them.";
    section.pieces.push(Piece::Text(rules.to_owned()));
    section.pieces.extend(environment::ALL.iter().map(|variable| {
        let Variable { name, values, default, scope, about } = variable;
        let text = format!("{about} Values: {values}. Default: {default}. It counts in {scope}.");
        Piece::Item((*name).to_owned(), text)
    }));
}

/// Forms of `--write-out` that take an argument.
const FORMS: [(&str, &str); 4] = [
    ("%header{NAME}", "The last value of this header field of the reply."),
    ("%header{NAME:all:SEPARATOR}", "All values of this header field, with the separator between them."),
    (
        "%output{FILE}",
        "The rest of the format is written to this file; with >> before the name it is appended.",
    ),
    ("%time{FORMAT}", "The current time in UTC, in the letters of strftime."),
];

fn exit_status() -> Section {
    let first = "0 if all transfers succeeded, otherwise the code of the last failure, or of the first \
                 one with --fail-early.";
    let mut pieces = vec![Piece::Text(first.to_owned())];
    pieces.extend(FAILURES.iter().map(|failure| {
        Piece::Item(
            format!("{} {}", failure.code, failure.name),
            format!("{} {}", failure.cause, failure.remedy),
        )
    }));
    Section { title: "EXIT STATUS", pieces }
}

fn examples() -> Section {
    let pieces = EXAMPLES
        .iter()
        .flat_map(|(task, command)| [Piece::Text(format!("{task}:")), Piece::Example((*command).to_owned())]);
    Section { title: "EXAMPLES", pieces: pieces.collect() }
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
