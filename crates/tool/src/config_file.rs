//! Config files: `-K`, and the default file that is read when nothing forbids it.
//!
//! A line is an option, with or without dashes, and its argument after blanks, `=` or `:`. See curl's description
//! of `--config`, and of the places looked at in curl(1).

use crate::bytes::Bytes;
use crate::message::shown;
use crate::parse::{Done, Parser, Stop, Wrong};
use crate::system;
use std::io::ErrorKind;

const LARGEST_FILE: usize = 100 << 20;
/// A longer line fails the file, as in curl.
const LONGEST_LINE: usize = 10 << 20;

/// Reads the file that `-K` names.
pub fn read(parser: &mut Parser, name: &[u8]) -> Done {
    let done = match parser.world.read(name, LARGEST_FILE) {
        Ok(content) => apply(parser, name, &content),
        // Nothing stands in a folder, as with curl.
        Err(error) if error.kind() == ErrorKind::IsADirectory => Ok(()),
        Err(_) => Err(Wrong::Unreadable.into()),
    };
    // What a file names and nobody can read is told of that file, too.
    if done == Err(Wrong::Unreadable.into()) {
        parser.messages.error(&format!("cannot read config from '{}'", shown(name)));
    }
    done
}

/// Reads the first default file that can be opened. Nothing in it can fail the run but a wrong option.
pub fn read_default(parser: &mut Parser) {
    let folder = |parser: &mut Parser, name: &str| parser.world.env(name).filter(|value| !value.is_empty());
    let mut places: Vec<Bytes> = Vec::new();
    for (variable, file) in system::CONFIG_FILES {
        places.extend(folder(parser, variable).map(|folder| [&folder, file.as_bytes()].concat()));
    }
    places.extend(beside_program(system::CONFIG_BESIDE));
    for path in places {
        if let Ok(content) = parser.world.read(&path, LARGEST_FILE) {
            let _ = apply(parser, &path, &content);
            parser.default_config = Some(path);
            return;
        }
    }
}

/// The file of these names that stands in the program's folder.
fn beside_program(names: &[&str]) -> impl Iterator<Item = Bytes> {
    let program = if names.is_empty() { None } else { std::env::current_exe().ok() };
    names.iter().filter_map(move |name| system::name_of(program.as_ref()?.with_file_name(name)))
}

fn apply(parser: &mut Parser, name: &[u8], content: &[u8]) -> Done {
    parser.depth += 1;
    let mut done = Ok(());
    // As curl counts: comments and empty lines are none.
    let mut number = 0;
    for line in content.split(|byte| *byte == b'\n') {
        if line.len() > LONGEST_LINE {
            done = Err(Wrong::Unreadable.into());
            break;
        }
        // A line is text up to its first NUL.
        let text = line.split(|byte| *byte == 0).next().unwrap_or_default();
        let Some(entry) = entry(text) else { continue };
        number += 1;
        if let Err(stop) = one(parser, name, number, &entry) {
            // A file may ask for help, but that does not end the run.
            done =
                if matches!(stop, Stop::Help(_) | Stop::Manual | Stop::Version) { Ok(()) } else { Err(stop) };
            break;
        }
    }
    parser.depth -= 1;
    done
}

fn one(parser: &mut Parser, name: &[u8], number: usize, entry: &Entry) -> Done {
    let place = || {
        let file = if name == b"-" { "<stdin>".to_string() } else { shown(name) };
        (file, shown(entry.option))
    };
    let doubts = [
        (entry.single_quote, "leading single quote. It is probably a mistake."),
        (entry.loose_blank, "unquoted whitespace. This may cause side-effects."),
    ];
    for (_, doubt) in doubts.iter().filter(|(found, _)| *found) {
        let (file, option) = place();
        let text =
            format!("{file}:{number} Option '{option}' uses argument with {doubt} Consider double quotes.");
        parser.messages.warn(&text);
    }
    let used = parser.option(entry.option, entry.argument.as_deref());
    let used = match used.or_else(|stop| parser.begin_next(stop)) {
        Ok(false) if entry.argument.as_ref().is_some_and(|text| !text.is_empty()) => {
            if entry.option.contains(&b'=') { Ok(true) } else { Err(Wrong::Garbage.into()) }
        }
        other => other,
    };
    match used {
        Ok(_) => Ok(()),
        Err(Stop::Help(about)) => {
            crate::doc::help::print(about.as_deref());
            Err(Stop::Help(None))
        }
        Err(Stop::Wrong(wrong)) => {
            let (why, (file, option)) = (wrong.text(), place());
            parser.messages.error(&format!("{file}:{number} config file option '{option}' {why}"));
            Err(if wrong == Wrong::Unknown { Wrong::UnknownInConfig } else { wrong }.into())
        }
        Err(stop) => Err(stop),
    }
}

#[derive(Debug, PartialEq)]
struct Entry<'l> {
    option: &'l [u8],
    argument: Option<Bytes>,
    /// The argument begins with a quote that means nothing here.
    single_quote: bool,
    /// Something follows an argument without quotes.
    loose_blank: bool,
}

/// Takes a line apart; none for blank lines and comments. One that begins with `/` or `*` is no comment any more.
fn entry(line: &[u8]) -> Option<Entry<'_>> {
    let line = line.trim_ascii_start();
    if line.is_empty() || matches!(line[0], b'#' | 0) {
        return None;
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
    let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
    let after = rest[length..].trim_ascii_start();
    Some(Entry {
        option: &line[..end],
        argument: (length > 0).then(|| rest[..length].to_vec()),
        single_quote: rest.starts_with(b"'"),
        loose_blank: !after.is_empty() && after[0] != b'#',
    })
}

/// What stands before the closing quote, with its escapes undone.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Messages;
    use crate::world::fake::Fake;
    use testkit::dice::Dice;

    fn read(line: &str) -> (String, Option<String>, bool) {
        let entry = entry(line.as_bytes()).unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (text(entry.option), entry.argument.as_deref().map(text), entry.loose_blank)
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
        assert!(entry(b"  # nothing").is_none());
        assert!(entry(b"").is_none());
    }

    fn parsed(content: &str) -> Result<usize, Stop> {
        let mut world = Fake::with(&[("c", content)]);
        let mut parser = Parser::new(&mut world, Messages::new(Box::new(std::io::sink()), None));
        super::read(&mut parser, b"c")?;
        Ok(parser.requests.len())
    }

    #[test]
    fn files_are_applied() {
        assert_eq!(parsed("url = a\nnext\nurl = b\n"), Ok(2));
        assert_eq!(parsed("--next\nurl = b\n"), Ok(1));
        assert_eq!(parsed("--url=a\n"), Ok(1));
        assert_eq!(parsed("nonsense\n"), Err(Wrong::UnknownInConfig.into()));
        assert_eq!(parsed("/ no comment\n"), Err(Wrong::UnknownInConfig.into()));
        assert_eq!(parsed("silent yes\n"), Err(Wrong::Garbage.into()));
        assert_eq!(parsed("config = c\n"), Err(Wrong::BadUse.into()));
        assert_eq!(parsed("config = none\n"), Err(Wrong::Unreadable.into()));
        assert_eq!(parsed("url = a\0b\n\0nonsense\n"), Ok(1));
    }

    /// Files that nobody would write: they are read to their end or refused with a code of curl's.
    #[test]
    fn odd_files() {
        const SCRAPS: [&str; 26] = [
            "\n",
            "\r\n",
            " ",
            "\t",
            "=",
            ":",
            "\"",
            "\\",
            "\\t",
            "#",
            "-",
            "--",
            "url",
            "data",
            "-o",
            "config",
            "c",
            "next",
            "form",
            "a=b;type=",
            "referer",
            "expand-url",
            "{{x:url}}",
            "variable",
            "%HOME=1",
            "\u{e4}\0",
        ];
        let mut dice = Dice::new(0x2545_F491_4F6C_DD1D);
        for _ in 0..20_000 {
            let content: String = (0..dice.roll(24)).map(|_| SCRAPS[dice.roll(SCRAPS.len())]).collect();
            if let Err(Stop::Wrong(wrong)) = parsed(&content) {
                assert!([1, 2, 26].contains(&wrong.exit_code()), "{content:?}");
            }
        }
    }
}
