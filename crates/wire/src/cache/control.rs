//! Cache-Control (RFC 9111 §5.2, RFC 5861), or Pragma in its place (§5.4), of a request or a response.

use super::Field;

/// Largest delta-seconds. A larger value means forever (RFC 9111 §1.2.2).
const LONGEST_S: i64 = 1 << 31;

/// The directives that matter to a private cache. Others do not: `private`, `s-maxage` and `proxy-revalidate`
/// concern shared caches, `stale-while-revalidate` caches that outlive the response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Control {
    pub no_store: bool,
    pub no_cache: bool,
    pub must_revalidate: bool,
    pub must_understand: bool,
    pub public: bool,
    pub private: bool,
    pub only_if_cached: bool,
    /// Does not change while it is fresh (RFC 8246).
    pub immutable: bool,
    /// In seconds; 0 if it is no number.
    pub max_age: Option<i64>,
    /// In seconds; without a number, any.
    pub max_stale: Option<i64>,
    pub min_fresh: Option<i64>,
    pub stale_if_error: Option<i64>,
}

impl Control {
    /// Parses all fields of a message.
    pub fn of(fields: &[Field]) -> Control {
        let mut control = Control::default();
        let named = |name: &'static str| {
            fields.iter().filter(move |(own, _)| own.eq_ignore_ascii_case(name.as_bytes()))
        };
        for (_, value) in named("Cache-Control") {
            for (name, value) in Directives(value) {
                control.take(&name.to_ascii_lowercase(), value.as_deref());
            }
        }
        if named("Cache-Control").next().is_none() {
            control.no_cache = named("Pragma")
                .any(|(_, value)| Directives(value).any(|(name, _)| name.eq_ignore_ascii_case(b"no-cache")));
        }
        control
    }

    /// Takes a directive. If it occurs twice, the stricter value counts (§4.2.1).
    fn take(&mut self, name: &[u8], value: Option<&[u8]>) {
        let stricter = |slot: &mut Option<i64>, new: i64, least: bool| {
            *slot = Some(slot.map_or(new, |old| if least { old.min(new) } else { old.max(new) }));
        };
        let given = value.map(|value| seconds(value).unwrap_or(0));
        match name {
            b"no-store" => self.no_store = true,
            // With a list of fields only these are meant, and a cache may apply it to the whole response.
            b"no-cache" => self.no_cache = true,
            b"must-revalidate" => self.must_revalidate = true,
            b"must-understand" => self.must_understand = true,
            b"public" => self.public = true,
            b"private" => self.private = true,
            b"immutable" => self.immutable = true,
            b"only-if-cached" => self.only_if_cached = true,
            b"max-age" => stricter(&mut self.max_age, given.unwrap_or(0), true),
            b"min-fresh" => stricter(&mut self.min_fresh, given.unwrap_or(0), false),
            b"stale-if-error" => stricter(&mut self.stale_if_error, given.unwrap_or(0), true),
            b"max-stale" => stricter(&mut self.max_stale, given.unwrap_or(LONGEST_S), true),
            _ => {}
        }
    }
}

/// Parses a delta-seconds. Returns `None` if it is not a number.
pub fn seconds(value: &[u8]) -> Option<i64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let add = |sum: i64, digit: &u8| (sum * 10 + i64::from(digit - b'0')).min(LONGEST_S);
    Some(value.iter().fold(0, add))
}

/// The members of a list: names with optional values, which may be quoted and then contain commas.
struct Directives<'a>(&'a [u8]);

impl Iterator for Directives<'_> {
    type Item = (Vec<u8>, Option<Vec<u8>>);

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.0.iter().position(|byte| !matches!(byte, b',' | b' ' | b'\t'))?;
        let rest = &self.0[start..];
        let end = rest.iter().position(|byte| matches!(byte, b',' | b'=')).unwrap_or(rest.len());
        let name = rest[..end].trim_ascii().to_vec();
        let Some(value) = rest[end..].strip_prefix(b"=") else {
            self.0 = &rest[end..];
            return Some((name, None));
        };
        let value = value.trim_ascii_start();
        if let Some(quoted) = value.strip_prefix(b"\"") {
            let (text, after) = unquoted(quoted);
            let next = after.iter().position(|byte| *byte == b',').unwrap_or(after.len());
            self.0 = &after[next..];
            return Some((name, Some(text)));
        }
        let end = value.iter().position(|byte| *byte == b',').unwrap_or(value.len());
        self.0 = &value[end..];
        Some((name, Some(value[..end].trim_ascii().to_vec())))
    }
}

/// Splits at the closing quote and returns the unescaped text and the rest.
fn unquoted(text: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return (out, &text[at + 1..]),
            b'\\' => {
                at += 1;
                out.extend(text.get(at));
            }
            other => out.push(*other),
        }
        at += 1;
    }
    (out, &[])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: &str) -> Control {
        Control::of(&[(b"cache-control".to_vec(), value.as_bytes().to_vec())])
    }

    #[test]
    fn directives_in_every_spelling() {
        let control = of("No-Store , ,max-age = \"60\",foo=\"a, no-cache\\\", must-revalidate\", MAX-STALE");
        let expected =
            Control { no_store: true, max_age: Some(60), max_stale: Some(LONGEST_S), ..Control::default() };
        assert_eq!(control, expected);
        assert!(of("no-cache=\"Set-Cookie, X\", public").no_cache);
        assert!(of("no-cache=\"unclosed, public").no_cache && !of("no-cache=\"unclosed, public").public);
    }

    #[test]
    fn numbers() {
        for (value, age) in [
            ("max-age=0", 0),
            ("max-age=99999999999999999999999", LONGEST_S),
            ("max-age=-1", 0),
            ("max-age=1.5", 0),
            ("max-age", 0),
            ("max-age=", 0),
            ("max-age=60, max-age=5", 5),
            ("max-age=5, max-age=x", 0),
        ] {
            assert_eq!(of(value).max_age, Some(age), "{value}");
        }
        assert_eq!(of("min-fresh=3, min-fresh=9").min_fresh, Some(9));
        assert_eq!(of("maximum-age=1").max_age, None);
    }

    #[test]
    fn pragma_counts_where_nothing_better_is_there() {
        let pragma = (b"PRAGMA".to_vec(), b"x, No-Cache".to_vec());
        assert!(Control::of(std::slice::from_ref(&pragma)).no_cache);
        let both = [(b"Cache-Control".to_vec(), b"max-age=1".to_vec()), pragma];
        assert!(!Control::of(&both).no_cache);
    }
}
