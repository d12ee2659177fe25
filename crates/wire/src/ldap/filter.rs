//! Search filters as text (RFC 4515) and as LDAP has them (RFC 4511 §4.5.1.7).

use super::ber::{OCTETS, SEQUENCE, element};
use crate::hex;

/// Maximum nesting of filters.
const DEPTH: usize = 100;

const AND: u8 = 0xa0;
const OR: u8 = 0xa1;
const NOT: u8 = 0xa2;
const EQUAL: u8 = 0xa3;
const SUBSTRINGS: u8 = 0xa4;
const NOT_LESS: u8 = 0xa5;
const NOT_GREATER: u8 = 0xa6;
const PRESENT: u8 = 0x87;
const APPROXIMATE: u8 = 0xa8;
const EXTENSIBLE: u8 = 0xa9;

/// The text is not a valid filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadFilter;

/// The filter that a text means. The outermost parentheses may be missing.
pub fn parse(text: &[u8]) -> Result<Vec<u8>, BadFilter> {
    let (filter, rest) = match text.first() {
        Some(b'(') => parenthesised(text, DEPTH)?,
        _ => content(text, DEPTH)?,
    };
    if rest.is_empty() { Ok(filter) } else { Err(BadFilter) }
}

/// Parses one filter in parentheses; returns it and the rest.
fn parenthesised(text: &[u8], depth: usize) -> Result<(Vec<u8>, &[u8]), BadFilter> {
    let inner = text.strip_prefix(b"(").ok_or(BadFilter)?;
    let (filter, rest) = content(inner, depth.checked_sub(1).ok_or(BadFilter)?)?;
    Ok((filter, rest.strip_prefix(b")").ok_or(BadFilter)?))
}

fn content(text: &[u8], depth: usize) -> Result<(Vec<u8>, &[u8]), BadFilter> {
    let (tag, mut rest) = match text.first().ok_or(BadFilter)? {
        b'&' => (AND, &text[1..]),
        b'|' => (OR, &text[1..]),
        b'!' => {
            let (filter, rest) = parenthesised(&text[1..], depth)?;
            return Ok((element(NOT, &filter), rest));
        }
        _ => {
            let end = text.iter().position(|byte| matches!(byte, b'(' | b')')).unwrap_or(text.len());
            return Ok((item(&text[..end])?, &text[end..]));
        }
    };
    let mut all = Vec::new();
    while rest.first() == Some(&b'(') {
        let (filter, behind) = parenthesised(rest, depth)?;
        all.extend(filter);
        rest = behind;
    }
    Ok((element(tag, &all), rest))
}

/// Parses an attribute, a comparison operator and a value.
fn item(text: &[u8]) -> Result<Vec<u8>, BadFilter> {
    let at = text.iter().position(|byte| *byte == b'=').filter(|at| *at > 0).ok_or(BadFilter)?;
    let (left, value) = (&text[..at], &text[at + 1..]);
    let (name, tag) = match left[at - 1] {
        b'>' => (&left[..at - 1], NOT_LESS),
        b'<' => (&left[..at - 1], NOT_GREATER),
        b'~' => (&left[..at - 1], APPROXIMATE),
        b':' => return extensible(&left[..at - 1], value),
        _ if value == b"*" => return Ok(element(PRESENT, description(left)?)),
        _ if value.contains(&b'*') => return substrings(left, value),
        _ => (left, EQUAL),
    };
    let assertion = [element(OCTETS, description(name)?), element(OCTETS, &unescape(value)?)];
    Ok(element(tag, &assertion.concat()))
}

/// An attribute's name or number, with options behind semicolons.
fn description(name: &[u8]) -> Result<&[u8], BadFilter> {
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b';' | b'_');
    if !name.is_empty() && name.iter().all(fits) { Ok(name) } else { Err(BadFilter) }
}

fn substrings(name: &[u8], value: &[u8]) -> Result<Vec<u8>, BadFilter> {
    let parts: Vec<&[u8]> = value.split(|byte| *byte == b'*').collect();
    let last = parts.len() - 1;
    let mut all = Vec::new();
    for (i, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
        let tag = if i == 0 {
            0x80
        } else if i == last {
            0x82
        } else {
            0x81
        };
        all.extend(element(tag, &unescape(part)?));
    }
    if all.is_empty() {
        return Err(BadFilter);
    }
    let all = element(SEQUENCE, &all);
    Ok(element(SUBSTRINGS, &[element(OCTETS, description(name)?), all].concat()))
}

/// `name:dn:rule:=value`, of which all but a name or a rule may be missing.
fn extensible(left: &[u8], value: &[u8]) -> Result<Vec<u8>, BadFilter> {
    let mut parts = left.split(|byte| *byte == b':');
    let name = parts.next().filter(|name| !name.is_empty());
    let mut rule = parts.next();
    let dn = rule.is_some_and(|part| part.eq_ignore_ascii_case(b"dn"));
    if dn {
        rule = parts.next();
    }
    if parts.next().is_some() || name.is_none() && rule.is_none() {
        return Err(BadFilter);
    }
    let mut all = Vec::new();
    for (tag, part) in [(0x81, rule), (0x82, name)] {
        if let Some(part) = part {
            all.extend(element(tag, description(part)?));
        }
    }
    all.extend(element(0x83, &unescape(value)?));
    if dn {
        all.extend(element(0x84, &[0xff]));
    }
    Ok(element(EXTENSIBLE, &all))
}

/// `\2a` is an asterisk.
fn unescape(value: &[u8]) -> Result<Vec<u8>, BadFilter> {
    let mut out = Vec::new();
    let mut rest = value;
    while let [byte, behind @ ..] = rest {
        rest = behind;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        let (digits, behind) = behind.split_at_checked(2).ok_or(BadFilter)?;
        out.extend(hex::decode(digits).ok_or(BadFilter)?);
        rest = behind;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters() {
        let rows: [(&str, &[u8]); 9] = [
            ("(a=b)", b"\xa3\x06\x04\x01a\x04\x01b"),
            ("a=b", b"\xa3\x06\x04\x01a\x04\x01b"),
            ("(a=*)", b"\x87\x01a"),
            ("(a=)", b"\xa3\x05\x04\x01a\x04\0"),
            ("(a=\\2a\\28)", b"\xa3\x07\x04\x01a\x04\x02*("),
            ("(a=x*y*z)", b"\xa4\x0e\x04\x01a\x30\x09\x80\x01x\x81\x01y\x82\x01z"),
            ("(&(a>=b)(!(a~=b)))", b"\xa0\x12\xa5\x06\x04\x01a\x04\x01b\xa2\x08\xa8\x06\x04\x01a\x04\x01b"),
            ("(|)", b"\xa1\0"),
            ("(a:dn:r:=b)", b"\xa9\x0c\x81\x01r\x82\x01a\x83\x01b\x84\x01\xff"),
        ];
        for (text, wanted) in rows {
            assert_eq!(parse(text.as_bytes()).as_deref(), Ok(wanted), "{text}");
        }
    }

    #[test]
    fn malformed_filters_are_refused() {
        let deep = [b"(!".repeat(200), b"(a=b)".to_vec(), b")".repeat(200)].concat();
        assert_eq!(parse(&deep), Err(BadFilter));
        for text in [
            "", "(", "()", "(a=b", "(a=b))", "(=b)", "(a b=c)", "(a=\\2)", "(a=\\zz)", "(!a=b)", "(a=**)",
            "(:=b)",
        ] {
            assert_eq!(parse(text.as_bytes()), Err(BadFilter), "{text}");
        }
    }
}
