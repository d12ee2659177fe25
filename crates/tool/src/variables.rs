//! `--variable` and the `{{name:function}}` expansion of `--expand-` options.

use crate::bytes::Bytes;
use crate::message::{Messages, os_text, shown};
use crate::numbers;
use crate::parse::Wrong;
use crate::raw::{base64, json};
use crate::text::url_escape;
use crate::world::World;

const LONGEST_NAME: usize = 127;
const LARGEST_FILE: usize = 10 << 20;
/// The most that one argument may grow to.
const LARGEST_EXPANSION: usize = 10_000_000;

/// The variables set so far; a later one hides an earlier one of that name.
#[derive(Clone, Debug, Default)]
pub struct Variables(Vec<(Bytes, Bytes)>);

impl Variables {
    /// `--variable [%]name[[from-to]][=text|@file]`.
    pub fn define(
        &mut self,
        input: &[u8],
        world: &mut dyn World,
        messages: &mut Messages,
    ) -> Result<(), Wrong> {
        let import = input.first() == Some(&b'%');
        let text = &input[usize::from(import)..];
        let length = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        if length == 0 || length > LONGEST_NAME {
            messages.warn(&format!("Bad variable name length ({length}), skipping"));
            return Ok(());
        }
        let (name, rest) = text.split_at(length);
        let Some(value) = value_of(world, messages, name, rest, import)? else {
            messages.warn(&format!("Bad --variable syntax, skipping: {}", shown(input)));
            return Ok(());
        };
        if self.get(name).is_some() {
            messages.note(&format!("Overwriting variable '{}'", shown(name)));
        }
        self.0.push((name.to_vec(), value));
        Ok(())
    }

    /// Replaces `{{name}}` in an argument; returns `None` if there was nothing to replace: then a backslash
    /// before braces stays, too.
    pub fn expand(&self, input: &[u8], messages: &mut Messages) -> Result<Option<Bytes>, Wrong> {
        let mut out = Bytes::new();
        let mut rest = input;
        let mut replaced = false;
        while let Some(open) = find(rest, b"{{") {
            if open > 0 && rest[open - 1] == b'\\' {
                out.extend(&rest[..open - 1]);
                out.extend(b"{{");
                rest = &rest[open + 2..];
                continue;
            }
            let Some(length) = find(&rest[open..], b"}}") else {
                messages.warn(&format!("missing close '}}}}' in '{}'", shown(input)));
                break;
            };
            let close = open + length;
            out.extend(&rest[..open]);
            match self.expansion(&rest[open + 2..close], input, messages)? {
                Some(value) => {
                    out.extend(value);
                    replaced = true;
                }
                None => out.extend(&rest[open..close + 2]),
            }
            rest = &rest[close + 2..];
            if out.len() > LARGEST_EXPANSION {
                return Err(Wrong::Expansion);
            }
        }
        out.extend(rest);
        Ok(replaced.then_some(out))
    }

    /// The value of `name:function:function`; none when that is no proper name.
    fn expansion(
        &self,
        inside: &[u8],
        input: &[u8],
        messages: &mut Messages,
    ) -> Result<Option<Bytes>, Wrong> {
        let mut pieces = inside.split(|byte| *byte == b':');
        let name = pieces.next().unwrap_or_default();
        if name.is_empty() || name.len() > LONGEST_NAME {
            messages.warn(&format!("bad variable name length '{}'", shown(input)));
            return Ok(None);
        }
        if !name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_') {
            messages.warn(&format!("bad variable name: {}", shown(name)));
            return Ok(None);
        }
        let mut value = self.get(name).unwrap_or_default().to_vec();
        for function in pieces {
            value = apply(function, &value).ok_or_else(|| {
                let functions = shown(&inside[name.len()..]);
                messages.error(&format!("unknown variable function in '{functions}'"));
                Wrong::Expansion
            })?;
        }
        if value.contains(&0) {
            messages.error("variable contains null byte");
            return Err(Wrong::Expansion);
        }
        Ok(Some(value))
    }

    fn get(&self, name: &[u8]) -> Option<&[u8]> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_slice())
    }
}

/// Returns the value of a variable; `None` for a syntax error. A variable of the environment is used whole: a
/// range applies only to an explicit value.
fn value_of(
    world: &mut dyn World,
    messages: &mut Messages,
    name: &[u8],
    rest: &[u8],
    import: bool,
) -> Result<Option<Bytes>, Wrong> {
    if import {
        let found = world.env(&shown(name));
        if found.is_some() {
            return Ok(found);
        }
        if rest.is_empty() {
            let name = shown(name);
            messages.error(&format!("Variable '{name}' import fail, not set"));
            return Err(Wrong::Expansion);
        }
    }
    let (range, rest) = byte_range(rest)?;
    let mut value = match rest.split_first() {
        Some((b'=', text)) => text.to_vec(),
        Some((b'@', file)) => from_file(world, messages, file)?,
        _ => return Ok(None),
    };
    if let Some((from, to)) = range {
        value.truncate(to.saturating_add(1));
        value.drain(..from.min(value.len()));
    }
    Ok(Some(value))
}

fn from_file(world: &mut dyn World, messages: &mut Messages, file: &[u8]) -> Result<Bytes, Wrong> {
    world.read(file, LARGEST_FILE).map_err(|error| {
        let why = os_text(&error);
        messages.error(&format!("Failed to open {}: {why}", shown(file)));
        Wrong::Unreadable
    })
}

/// First and last byte.
type Range = Option<(usize, usize)>;

/// Parses `[from-to]` or `[from-]` after the name, and returns the rest. A bracket before anything but a
/// digit does not start a range.
fn byte_range(text: &[u8]) -> Result<(Range, &[u8]), Wrong> {
    let [b'[', inside @ ..] = text else { return Ok((None, text)) };
    if !inside.first().is_some_and(u8::is_ascii_digit) {
        return Ok((None, text));
    }
    let (from, rest) = numbers::leading(inside, i64::MAX).ok_or(Wrong::VariableSyntax)?;
    let rest = rest.strip_prefix(b"-").ok_or(Wrong::VariableSyntax)?;
    let (to, rest) = numbers::leading(rest, i64::MAX).unwrap_or((i64::MAX, rest));
    let rest = rest.strip_prefix(b"]").ok_or(Wrong::VariableSyntax)?;
    if from > to {
        return Err(Wrong::VariableSyntax);
    }
    Ok((Some((from as usize, to as usize)), rest))
}

fn apply(function: &[u8], value: &[u8]) -> Option<Bytes> {
    Some(match function {
        b"trim" => value.trim_ascii().to_vec(),
        b"json" => json::escape(value),
        b"url" => url_escape(value),
        b"b64" => base64::encode(value).into_bytes(),
        b"64dec" if value.is_empty() => Bytes::new(),
        b"64dec" => base64::decode(value).unwrap_or_else(|| b"[64dec-fail]".to_vec()),
        _ => return None,
    })
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::fake::Fake;

    fn expanded(defined: &[&str], text: &str) -> Result<String, Wrong> {
        let mut world = Fake::with(&[("file", " from file\n")]);
        world.vars.insert("HOME".into(), b"/home".to_vec());
        let (mut variables, mut messages) =
            (Variables::default(), Messages::new(Box::new(std::io::sink()), None));
        for input in defined {
            variables.define(input.as_bytes(), &mut world, &mut messages)?;
        }
        let out = variables.expand(text.as_bytes(), &mut messages)?;
        Ok(String::from_utf8(out.unwrap_or(text.into())).unwrap())
    }

    #[test]
    fn names_and_functions() {
        assert_eq!(expanded(&["a=x y"], "1{{a}}2{{a:url}}").unwrap(), "1x y2x%20y");
        assert_eq!(expanded(&["a@file"], "{{a:trim:b64}}").unwrap(), "ZnJvbSBmaWxl");
        assert_eq!(expanded(&["a=Zm9v"], "{{a:64dec}}").unwrap(), "foo");
        assert_eq!(expanded(&["a=*"], "{{a:64dec}}").unwrap(), "[64dec-fail]");
        assert_eq!(expanded(&["a=\"\t"], "{{a:json}}").unwrap(), "\\\"\\t");
        assert_eq!(expanded(&["%HOME"], "{{HOME}}").unwrap(), "/home");
        assert_eq!(expanded(&["%NONE=d"], "{{NONE}}").unwrap(), "d");
        assert_eq!(expanded(&["a[1-4]@file"], "{{a}}").unwrap(), "from");
        assert_eq!(expanded(&["a[6-]=0123456789"], "{{a}}").unwrap(), "6789");
        assert_eq!(expanded(&["%HOME[1-2]=d"], "{{HOME}}").unwrap(), "/home", "a range is for what is given");
        assert_eq!(expanded(&["%NONE[1-2]=default"], "{{NONE}}").unwrap(), "ef");
    }

    #[test]
    fn escaped_braces_stay_and_unset_variables_are_empty() {
        assert_eq!(expanded(&["a=1"], "\\{{a}} {{a}}").unwrap(), "{{a}} 1");
        assert_eq!(expanded(&["a=1"], "\\{{a}} {a}").unwrap(), "\\{{a}} {a}");
        assert_eq!(expanded(&["a=1"], "{{a}} {{b b}} {{").unwrap(), "1 {{b b}} {{");
        assert_eq!(expanded(&[], "{{unset}}!").unwrap(), "!");
    }

    #[test]
    fn invalid_variables_are_refused() {
        assert_eq!(expanded(&["%NONE"], ""), Err(Wrong::Expansion));
        assert_eq!(expanded(&["a=1"], "{{a:nope}}"), Err(Wrong::Expansion));
        assert_eq!(expanded(&["a[5-1]@file"], ""), Err(Wrong::VariableSyntax));
        assert_eq!(
            expanded(&["a[-2]=skipped", "a[x]=skipped", "%NONE[0-1]"], "[{{a}}{{NONE}}]").unwrap(),
            "[]"
        );
        assert_eq!(expanded(&["a@none"], ""), Err(Wrong::Unreadable));
        assert_eq!(expanded(&["a=AAAA"], "{{a:64dec}}"), Err(Wrong::Expansion));
    }
}
