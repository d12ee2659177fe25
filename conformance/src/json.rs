//! The subset of JSON (RFC 8259) that files of recorded cases need: parses a text to a value, or reports the
//! position of the error.

use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Json {
    /// Parses a whole text.
    pub fn parse(text: &str) -> Result<Json, String> {
        let mut reader = Reader { text: text.as_bytes(), at: 0 };
        let value = reader.value(0)?;
        reader.blanks();
        if reader.at < text.len() { reader.wrong("more behind the value") } else { Ok(value) }
    }

    /// A member of an object.
    pub fn member(&self, name: &str) -> Result<&Json, String> {
        match self {
            Json::Object(members) => members.get(name).ok_or_else(|| format!("no member {name}")),
            _ => Err(format!("no object with {name}")),
        }
    }

    pub fn text(&self) -> Result<&str, String> {
        if let Json::Text(text) = self { Ok(text) } else { Err("no string".into()) }
    }

    pub fn list(&self) -> Result<&[Json], String> {
        if let Json::List(list) = self { Ok(list) } else { Err("no array".into()) }
    }
}

/// Deeper than any recorded case.
const DEEPEST: usize = 32;

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn wrong<T>(&self, what: &str) -> Result<T, String> {
        Err(format!("{what} at byte {}", self.at))
    }

    fn blanks(&mut self) {
        while self.text.get(self.at).is_some_and(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// Takes this byte if it comes next.
    fn takes(&mut self, byte: u8) -> bool {
        self.blanks();
        let found = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        self.blanks();
        match self.text.get(self.at) {
            _ if depth > DEEPEST => self.wrong("too deep"),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Json::Text(self.string()?)),
            _ => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, String> {
        let mut members = BTreeMap::new();
        self.at += 1;
        if self.takes(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.blanks();
            let name = self.string()?;
            if !self.takes(b':') {
                return self.wrong("no colon");
            }
            members.insert(name, self.value(depth + 1)?);
            if self.takes(b'}') {
                return Ok(Json::Object(members));
            }
            if !self.takes(b',') {
                return self.wrong("no comma");
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, String> {
        let mut list = vec![];
        self.at += 1;
        if self.takes(b']') {
            return Ok(Json::List(list));
        }
        loop {
            list.push(self.value(depth + 1)?);
            if self.takes(b']') {
                return Ok(Json::List(list));
            }
            if !self.takes(b',') {
                return self.wrong("no comma");
            }
        }
    }

    fn string(&mut self) -> Result<String, String> {
        if !self.takes(b'"') {
            return self.wrong("no string");
        }
        let mut out = vec![];
        loop {
            let Some(&byte) = self.text.get(self.at) else { return self.wrong("a string without end") };
            self.at += 1;
            match byte {
                b'"' => break,
                b'\\' => {
                    let letter = self.escape()?;
                    out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => out.push(byte),
            }
        }
        String::from_utf8(out).or_else(|_| self.wrong("no UTF-8"))
    }

    fn escape(&mut self) -> Result<char, String> {
        let Some(&letter) = self.text.get(self.at) else { return self.wrong("an escape without end") };
        self.at += 1;
        Ok(match letter {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => return self.unicode(),
            other => char::from(other),
        })
    }

    /// Four digits; two such make a letter beyond the basic plane.
    fn unicode(&mut self) -> Result<char, String> {
        let first = self.four_digits()?;
        let both = if (0xd800..0xdc00).contains(&first) && self.text[self.at..].starts_with(b"\\u") {
            self.at += 2;
            0x10000 + (first - 0xd800) * 0x400 + self.four_digits()?.saturating_sub(0xdc00)
        } else {
            first
        };
        char::from_u32(both).map_or_else(|| self.wrong("no letter"), Ok)
    }

    fn four_digits(&mut self) -> Result<u32, String> {
        let digits = self.text.get(self.at..self.at + 4).and_then(|d| std::str::from_utf8(d).ok());
        let Some(value) = digits.and_then(|d| u32::from_str_radix(d, 16).ok()) else {
            return self.wrong("no four digits");
        };
        self.at += 4;
        Ok(value)
    }

    fn word(&mut self) -> Result<Json, String> {
        let rest = &self.text[self.at..];
        let len = rest.iter().position(|b| matches!(b, b',' | b']' | b'}') || b.is_ascii_whitespace());
        let word = std::str::from_utf8(&rest[..len.unwrap_or(rest.len())]).unwrap_or_default();
        let value = match word {
            "null" => Json::Null,
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            number => match number.parse() {
                Ok(number) => Json::Number(number),
                Err(_) => return self.wrong("no value"),
            },
        };
        self.at += word.len();
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        let json = Json::parse(r#" {"a": ["x\n\u00e9\ud83d\ude00", 1, true, null], "b": {}} "#).unwrap();
        let list = json.member("a").unwrap().list().unwrap();
        assert_eq!(list[0].text(), Ok("x\n\u{e9}\u{1f600}"));
        assert_eq!(list[1..], [Json::Number(1.0), Json::Bool(true), Json::Null]);
        assert!(json.member("c").is_err() && json.text().is_err());
    }

    #[test]
    fn malformed_json_is_refused() {
        for text in ["", "{", "[1", "{\"a\" 1}", "\"a", "\"\\u12\"", "[1]x", "nul", &"[".repeat(100)] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
    }
}
