//! Config files: `-K`, and the default file that is read unless disabled.
//!
//! A line is an option, with or without dashes, and its argument after blanks, `=` or `:`. See curl's
//! description of `--config`, and of the searched locations in curl(1). A line in brackets starts a section
//! (host_section.rs); curl knows no option that begins with a bracket.

use crate::bytes::Bytes;
use crate::parse::Wrong;
use crate::system;
use crate::world::World;

pub const LARGEST_FILE: usize = 100 << 20;
/// A longer line fails the file, as in curl.
const LONGEST_LINE: usize = 10 << 20;

/// The places of the default file, in the order in which they are looked at.
pub fn places(world: &dyn World) -> Vec<Bytes> {
    let folder = |name: &str| world.env(name).filter(|value| !value.is_empty());
    let mut places: Vec<Bytes> = Vec::new();
    for (variable, file) in system::CONFIG_FILES {
        places.extend(folder(variable).map(|folder| [&folder, file.as_bytes()].concat()));
    }
    places.extend(beside_program(system::CONFIG_BESIDE));
    places
}

/// Returns the first of these files in the program's directory.
fn beside_program(names: &[&str]) -> impl Iterator<Item = Bytes> {
    let program = if names.is_empty() { None } else { std::env::current_exe().ok() };
    names.iter().filter_map(move |name| system::name_of(program.as_ref()?.with_file_name(name)))
}

#[derive(Debug, PartialEq)]
pub struct Entry<'l> {
    /// The option, or the whole first line of a section.
    pub option: &'l [u8],
    pub argument: Option<Bytes>,
    /// Whether the argument begins with a single quote, which has no meaning here.
    pub single_quote: bool,
    /// Something follows an argument without quotes.
    pub loose_blank: bool,
}

/// The entries of a file with their numbers, as curl counts them: comments and empty lines are none.
pub fn entries(content: &[u8]) -> impl Iterator<Item = (usize, Result<Entry<'_>, Wrong>)> {
    let mut number = 0;
    content.split(|byte| *byte == b'\n').filter_map(move |line| {
        if line.len() > LONGEST_LINE {
            return Some((number, Err(Wrong::Unreadable)));
        }
        // A line is text up to its first NUL.
        let text = line.split(|byte| *byte == 0).next().unwrap_or_default();
        let entry = entry(text)?;
        number += 1;
        Some((number, Ok(entry)))
    })
}

/// Where an argument without quotes ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unquoted {
    AtBlank,
    AtLineEnd,
}

/// Parses a line; `None` for blank lines and comments. A line that begins with `/` or `*` is no longer a
/// comment.
fn entry(line: &[u8]) -> Option<Entry<'_>> {
    parse(line, Unquoted::AtBlank)
}

/// Parses a line whose argument may have blanks without quotes, as in input files.
pub fn entry_to_end(line: &[u8]) -> Option<Entry<'_>> {
    parse(line, Unquoted::AtLineEnd)
}

fn parse(line: &[u8], unquoted: Unquoted) -> Option<Entry<'_>> {
    let line = line.trim_ascii_start();
    if line.is_empty() || matches!(line[0], b'#' | 0) {
        return None;
    }
    if line[0] == b'[' {
        let comment = line.iter().position(|byte| *byte == b'#').unwrap_or(line.len());
        let option = line[..comment].trim_ascii_end();
        return Some(Entry { option, argument: None, single_quote: false, loose_blank: false });
    }
    let dashed = line[0] == b'-';
    let separates = |byte: &u8| !dashed && matches!(byte, b'=' | b':');
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || separates(byte);
    let end = line.iter().position(is_end).unwrap_or(line.len());
    let rest = &line[end..];
    let rest = &rest[rest.iter().take_while(|byte| is_end(byte)).count()..];
    if let Some(quoted) = rest.strip_prefix(b"\"") {
        let argument = Some(unquote(quoted));
        return Some(Entry { option: &line[..end], argument, single_quote: false, loose_blank: false });
    }
    let length = match unquoted {
        Unquoted::AtBlank => rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len()),
        Unquoted::AtLineEnd => rest.trim_ascii_end().len(),
    };
    let after = rest[length..].trim_ascii_start();
    Some(Entry {
        option: &line[..end],
        argument: (length > 0).then(|| rest[..length].to_vec()),
        single_quote: rest.starts_with(b"'"),
        loose_blank: !after.is_empty() && after[0] != b'#',
    })
}

/// Returns the text up to the closing quote, with escapes resolved.
fn unquote(text: &[u8]) -> Bytes {
    let mut out = Bytes::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
        out.extend_from_slice(&rest[..at]);
        let escaped = match (rest[at], rest.get(at + 1)) {
            (b'"', _) | (_, None) => return out,
            (_, Some(b't')) => b'\t',
            (_, Some(b'n')) => b'\n',
            (_, Some(b'r')) => b'\r',
            (_, Some(b'v')) => 0x0b,
            (_, Some(other)) => *other,
        };
        out.push(escaped);
        rest = &rest[at + 2..];
    }
    out.extend_from_slice(rest);
    out
}

/// Returns the line of an option with its argument in quotes, so that any text can be one.
pub fn quoted(name: &str, argument: &[u8]) -> Bytes {
    let mut line = [name.as_bytes(), b" = \""].concat();
    for byte in argument {
        match byte {
            b'\t' => line.extend(b"\\t"),
            b'\n' => line.extend(b"\\n"),
            b'\r' => line.extend(b"\\r"),
            0x0b => line.extend(b"\\v"),
            b'"' | b'\\' => line.extend([b'\\', *byte]),
            other => line.push(*other),
        }
    }
    line.push(b'"');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> (String, Option<String>, bool) {
        let entry = entry(line.as_bytes()).unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (text(entry.option), entry.argument.as_deref().map(text), entry.loose_blank)
    }

    #[test]
    fn any_argument_can_be_quoted() {
        for text in ["", "a b", " \t\n\r\u{b}\\ \"x\" # ü = : "] {
            let line = String::from_utf8(quoted("name", text.as_bytes())).unwrap();
            assert_eq!(read(&line), ("name".into(), Some(text.into()), false), "{line}");
        }
    }

    #[test]
    fn lines_are_taken_apart() {
        assert_eq!(read("url = \"http://x/a b\" # c"), ("url".into(), Some("http://x/a b".into()), false));
        assert_eq!(read(" -o  file"), ("-o".into(), Some("file".into()), false));
        assert_eq!(read("--url=http://x"), ("--url=http://x".into(), None, false));
        assert_eq!(read("user-agent: me"), ("user-agent".into(), Some("me".into()), false));
        assert_eq!(read("data = a b"), ("data".into(), Some("a".into()), true));
        assert_eq!(read("data = a # b"), ("data".into(), Some("a".into()), false));
        assert_eq!(read(r#"d="\t\"\\\x""#), ("d".into(), Some("\t\"\\x".into()), false));
        assert_eq!(read("silent\r"), ("silent".into(), None, false));
        assert_eq!(read(" [host a.test b:1] # c\r"), ("[host a.test b:1]".into(), None, false));
        assert!(entry(b"  # nothing").is_none());
        assert!(entry(b"").is_none());
    }
}
