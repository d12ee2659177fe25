//! As much JSON (RFC 8259) as the cases of others need: read whole, looked up by name.

use std::ops::Index;

#[derive(Debug, PartialEq)]
pub enum Json {
    /// null, true, false and numbers, as written.
    Word(String),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

static NOTHING: Json = Json::List(Vec::new());

impl Json {
    pub fn parse(text: &str) -> Option<Json> {
        let mut rest = text;
        let value = value(&mut rest)?;
        rest.trim().is_empty().then_some(value)
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn items(&self) -> &[Json] {
        match self {
            Json::List(items) => items,
            _ => &[],
        }
    }

    pub fn texts(&self) -> Vec<&str> {
        self.items().iter().filter_map(Json::text).collect()
    }
}

/// A missing member is empty.
impl Index<&str> for Json {
    type Output = Json;

    fn index(&self, name: &str) -> &Json {
        match self {
            Json::Object(members) => members.iter().find(|(n, _)| n == name).map_or(&NOTHING, |(_, v)| v),
            _ => &NOTHING,
        }
    }
}

fn value(rest: &mut &str) -> Option<Json> {
    *rest = rest.trim_start();
    match rest.chars().next()? {
        '"' => string(rest).map(Json::Text),
        '[' => list(rest, ']', value).map(Json::List),
        '{' => list(rest, '}', member).map(Json::Object),
        _ => {
            let end = rest.find([',', ']', '}']).unwrap_or(rest.len());
            let word = rest[..end].trim().to_string();
            *rest = &rest[end..];
            Some(Json::Word(word))
        }
    }
}

fn member(rest: &mut &str) -> Option<(String, Json)> {
    let name = string(rest)?;
    *rest = rest.trim_start().strip_prefix(':')?;
    Some((name, value(rest)?))
}

/// Behind a bracket, to the other one.
fn list<T>(rest: &mut &str, end: char, one: impl Fn(&mut &str) -> Option<T>) -> Option<Vec<T>> {
    let mut out = Vec::new();
    *rest = rest[1..].trim_start();
    while !rest.starts_with(end) {
        out.push(one(rest)?);
        *rest = rest.trim_start();
        *rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    *rest = &rest[1..];
    Some(out)
}

fn string(rest: &mut &str) -> Option<String> {
    let mut units = Vec::new();
    let mut chars = rest.strip_prefix('"')?.chars();
    loop {
        let c = match chars.next()? {
            '"' => break,
            '\\' => match chars.next()? {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'b' => '\u{8}',
                'f' => '\u{c}',
                'u' => {
                    let digits: String = chars.by_ref().take(4).collect();
                    units.push(u16::from_str_radix(&digits, 16).ok()?);
                    continue;
                }
                other => other,
            },
            c => c,
        };
        units.extend(c.encode_utf16(&mut [0; 2]).iter());
    }
    *rest = chars.as_str();
    String::from_utf16(&units).ok()
}
