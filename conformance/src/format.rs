//! The parts of a test case file. Format: docs/tests/FILEFORMAT.md of curl's repository.
//!
//! A file is a list of labelled parts inside the sections info, reply, client and verify; every label is on a
//! line of its own, and everything between two labels is content, byte for byte. `known` has the allowed
//! labels and attributes; variables are substituted before (`prepro`).

use crate::{newlines, prepro};

const SECTIONS: [&str; 4] = ["info", "reply", "client", "verify"];

/// A labelled part: its place, its attributes, and its lines with their newlines.
#[derive(Debug, Clone)]
pub struct Part {
    pub section: String,
    pub name: String,
    attributes: Vec<(String, String)>,
    lines: Vec<Vec<u8>>,
}

impl Part {
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    pub fn attributes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.attributes.iter().map(|(n, v)| (n.as_str(), v.as_str()))
    }

    /// Whether the attribute is there and says yes.
    pub fn says(&self, name: &str) -> bool {
        self.attribute(name) == Some("yes")
    }

    /// The content as it is to be sent or compared: decoded, its newlines as the attributes ask.
    pub fn bytes(&self) -> Vec<u8> {
        let mut lines = self.lines.clone();
        if self.says("nonewline")
            && let Some(last) = lines.last_mut()
            && last.ends_with(b"\n")
        {
            last.pop();
        }
        match self.attribute("crlf") {
            Some("yes") => lines.iter_mut().for_each(newlines::force_crlf),
            Some("headers") => newlines::headers_to_crlf(&mut lines),
            _ => {}
        }
        let whole = lines.concat();
        if self.says("hex") {
            return decode_hex(&whole);
        }
        if self.says("base64") {
            return testkit::base64::decode(&whole);
        }
        whole
    }

    /// Returns the lines as text, without newlines, empty lines and comments: for lists such as features.
    pub fn words(&self) -> Vec<String> {
        self.text_lines().into_iter().filter(|l| !l.is_empty() && !l.starts_with('#')).collect()
    }

    /// Every line as text, trimmed of its newline and the blanks around it.
    pub fn text_lines(&self) -> Vec<String> {
        self.lines.iter().map(|l| String::from_utf8_lossy(l).trim().to_owned()).collect()
    }

    /// The lines untouched, newline included.
    pub fn raw_lines(&self) -> &[Vec<u8>] {
        &self.lines
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

/// A whole case file.
#[derive(Debug, Default, Clone)]
pub struct Script {
    parts: Vec<Part>,
}

impl Script {
    /// Parses a file's lines; `Err` describes the first malformed line.
    pub fn parse(text: &[u8]) -> Result<Script, String> {
        let mut reader = Reader::default();
        for (at, line) in text.split_inclusive(|&b| b == b'\n').enumerate() {
            reader.line(line).map_err(|why| format!("line {}: {why}", at + 1))?;
        }
        if let Some((part, _)) = reader.open {
            return Err(format!("<{}> is not closed", part.name));
        }
        Ok(reader.script)
    }

    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    pub fn part(&self, section: &str, name: &str) -> Option<&Part> {
        self.parts.iter().find(|p| p.section == section && p.name == name)
    }

    /// The part unless it is missing or empty.
    pub fn filled(&self, section: &str, name: &str) -> Option<&Part> {
        self.part(section, name).filter(|p| !p.is_empty())
    }

    /// The first line of a part.
    pub fn line(&self, section: &str, name: &str) -> Option<String> {
        self.part(section, name)?.text_lines().into_iter().next()
    }

    /// The words of a part, none where it is missing.
    pub fn words(&self, section: &str, name: &str) -> Vec<String> {
        self.part(section, name).map(Part::words).unwrap_or_default()
    }

    /// The content of a reply part, empty where it is missing.
    pub fn reply(&self, name: &str) -> Vec<u8> {
        self.part("reply", name).map(Part::bytes).unwrap_or_default()
    }
}

#[derive(Default)]
struct Reader {
    script: Script,
    section: Option<String>,
    /// The part being filled, and how often its own label was opened again inside it.
    open: Option<(Part, usize)>,
    in_comment: bool,
}

impl Reader {
    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        let label = Label::of(line);
        if let Some((part, depth)) = &mut self.open {
            match &label {
                Some(l) if l.name == part.name && l.closes && *depth == 0 => {
                    let (part, _) = self.open.take().expect("matched as open just above");
                    return self.keep(part);
                }
                Some(l) if l.name == part.name && l.closes => *depth -= 1,
                Some(l) if l.name == part.name => *depth += 1,
                Some(l) if l.closes && Some(&l.name) == self.section.as_ref() => {
                    return Err(format!("</{}> inside <{}>", l.name, part.name));
                }
                _ => {}
            }
            part.lines.push(line.to_vec());
            return Ok(());
        }
        if self.in_comment || line.trim_ascii_start().starts_with(b"<!--") {
            self.in_comment = prepro::find(line, b"-->").is_none();
            return Ok(());
        }
        match label {
            Some(label) => self.label(label),
            None if is_filler(line) => Ok(()),
            None => Err(format!("text outside a part: {}", String::from_utf8_lossy(line).trim_end())),
        }
    }

    fn label(&mut self, label: Label) -> Result<(), String> {
        if label.name == "testcase" {
            return Ok(());
        }
        match (&self.section, label.closes) {
            (None, false) if SECTIONS.contains(&label.name.as_str()) => self.section = Some(label.name),
            (Some(section), true) if *section == label.name => self.section = None,
            (Some(section), false) => {
                let part = Part {
                    section: section.clone(),
                    name: label.name,
                    attributes: label.attributes,
                    lines: vec![],
                };
                self.open = Some((part, 0));
            }
            (_, true) => return Err(format!("</{}> closes nothing", label.name)),
            (None, false) => return Err(format!("unknown section <{}>", label.name)),
        }
        Ok(())
    }

    /// A part that occurs twice in its section counts as one: its contents follow one another.
    fn keep(&mut self, part: Part) -> Result<(), String> {
        match self.script.parts.iter_mut().find(|p| p.section == part.section && p.name == part.name) {
            Some(first) => first.lines.extend(part.lines),
            None => self.script.parts.push(part),
        }
        Ok(())
    }
}

struct Label {
    name: String,
    closes: bool,
    attributes: Vec<(String, String)>,
}

impl Label {
    fn of(line: &[u8]) -> Option<Label> {
        // the rest of the label's line is ignored, as in curl's harness
        let text = std::str::from_utf8(line).ok()?.trim_start_matches(' ').strip_prefix('<')?;
        let (inner, _) = text.split_once('>')?;
        let (closes, inner) = match inner.strip_prefix('/') {
            Some(rest) => (true, rest),
            None => (false, inner),
        };
        let end = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inner.len());
        let (name, rest) = inner.split_at(end);
        if name.is_empty() || !(rest.is_empty() || rest.starts_with(' ')) {
            return None;
        }
        Some(Label { name: name.to_owned(), closes, attributes: attributes(rest)? })
    }
}

/// Reads ` name="value" name='value'`; `None` where it is not of that form (then the line is no label).
fn attributes(mut text: &str) -> Option<Vec<(String, String)>> {
    let mut found = vec![];
    loop {
        text = text.trim_start();
        if text.is_empty() {
            return Some(found);
        }
        let (name, rest) = text.split_once('=')?;
        let rest = rest.trim_start();
        let quote = rest.chars().next().filter(|c| *c == '"' || *c == '\'')?;
        let (value, after) = rest[1..].split_once(quote)?;
        found.push((name.trim().to_owned(), value.to_owned()));
        text = after;
    }
}

/// Blank lines, comments in the shell's style and the XML prolog may stand between parts.
fn is_filler(line: &[u8]) -> bool {
    let text = line.trim_ascii();
    text.is_empty() || text.starts_with(b"#") || text.starts_with(b"<?xml")
}

fn decode_hex(text: &[u8]) -> Vec<u8> {
    let digits: Vec<u8> =
        text.iter().filter_map(|&b| (b as char).to_digit(16)).map(|d| d.to_le_bytes()[0]).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASE: &str = "<?xml version=\"1.0\"?>\n<testcase>\n<info>\n<keywords>\nHTTP\n</keywords>\n</info>type\n# note\n<!-- more\nof it -->\n\
        <reply>\n<data crlf=\"headers\" nocheck=\"yes\">\nHTTP/1.1 200 OK\nA: b\n\nbody: x y\n</data>\n</reply>\n\
        <verify>\n<file name=\"a b\" nonewline='yes'>\none\n<tag>\n</file>\n</verify>\n</testcase>\n";

    #[test]
    fn parts_attributes_and_content() {
        let script = Script::parse(CASE.as_bytes()).unwrap();
        let data = script.part("reply", "data").unwrap();
        assert_eq!(data.attribute("nocheck"), Some("yes"));
        assert_eq!(data.bytes(), b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nbody: x y\r\n");
        let file = script.part("verify", "file").unwrap();
        assert_eq!(file.attribute("name"), Some("a b"));
        assert_eq!(file.bytes(), b"one\n<tag>");
        assert_eq!(script.words("info", "keywords"), ["HTTP"]);
        assert!(script.part("client", "command").is_none());
    }

    #[test]
    fn malformed_scripts_are_refused() {
        let wrong = |text: &str| Script::parse(text.as_bytes()).unwrap_err();
        assert!(wrong("<testcase>\nstray\n").contains("outside"));
        assert!(wrong("<info>\n<keywords>\nA\n").contains("not closed"));
        assert!(wrong("<reply>\n<data>\nx\n</reply>\n").contains("inside"));
        assert!(wrong("<other>\n").contains("unknown section"));
    }

    #[test]
    fn the_same_label_inside_a_part_is_content() {
        let script = Script::parse(b"<reply>\n<data>\n<data>\nx\n</data>\n</data>\n</reply>\n").unwrap();
        assert_eq!(script.reply("data"), b"<data>\nx\n</data>\n");
    }

    #[test]
    fn repeated_parts_are_joined() {
        let script =
            Script::parse(b"<reply>\n<data hex=\"yes\">\n41 42\n</data>\n<data>\n0a\n</data>\n</reply>\n")
                .unwrap();
        assert_eq!(script.reply("data"), b"AB\n");
    }
}
