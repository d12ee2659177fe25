//! Files of sums, as sha256sum(1), `md5 -r`, cksum(1) and b3sum(1) write them.

use crate::raw::checksum::{Algorithm, Sum};

/// The sum of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The file name in the list; empty for a line with only a sum.
    name: Vec<u8>,
    sum: Sum,
}

/// Parses all entries of a checksum file. `algorithm` applies to lines without a name of one; by default the
/// length decides. Other lines (comments, a signature around the list) are ignored.
pub fn parse(content: &[u8], algorithm: Option<Algorithm>) -> Vec<Entry> {
    let lines = content.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.filter_map(|line| tagged(line).or_else(|| plain(line, algorithm))).collect()
}

/// Parses `DIGITS  NAME`, or `DIGITS *NAME`, or only digits. A leading backslash means that the name has
/// escapes.
fn plain(line: &[u8], algorithm: Option<Algorithm>) -> Option<Entry> {
    let (line, escaped) = match line.strip_prefix(b"\\") {
        Some(rest) => (rest, true),
        None => (line, false),
    };
    let end = line.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(line.len());
    let (digits, rest) = line.split_at(end);
    let algorithm = algorithm.or_else(|| Algorithm::of_length(digits.len() / 2))?;
    let sum = Sum::of_hex(algorithm, digits)?;
    let name = match rest {
        [] => rest,
        [b' ', b' ' | b'*', name @ ..] | [b' ' | b'\t', name @ ..] => name,
        _ => return None,
    };
    Some(Entry { name: if escaped { unescaped(name) } else { name.to_vec() }, sum })
}

/// `ALGORITHM (NAME) = DIGITS`.
fn tagged(line: &[u8]) -> Option<Entry> {
    let open = find(line, b" (")?;
    let algorithm = Algorithm::from_name(&line[..open])?;
    let rest = &line[open + 2..];
    let close = (0..rest.len()).rev().find(|at| rest[*at..].starts_with(b") = "))?;
    let sum = Sum::of_hex(algorithm, rest[close + 4..].trim_ascii_end())?;
    Some(Entry { name: rest[..close].to_vec(), sum })
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

fn unescaped(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut bytes = name.iter();
    while let Some(&byte) = bytes.next() {
        out.push(match byte {
            b'\\' => match bytes.next() {
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(other) => *other,
                None => b'\\',
            },
            other => other,
        });
    }
    out
}

/// Returns the sums of the file with one of these names, in the order of the names. A list of a single sum
/// without a name applies to any file.
pub fn sums_of(list: &[Entry], names: &[&[u8]]) -> Vec<Sum> {
    for name in names {
        let found: Vec<Sum> = list
            .iter()
            .filter(|entry| last_part(&entry.name) == *name)
            .map(|entry| entry.sum.clone())
            .collect();
        if !found.is_empty() {
            return found;
        }
    }
    match list {
        [Entry { name, sum }] if name.is_empty() => vec![sum.clone()],
        _ => Vec::new(),
    }
}

/// Returns the name without folders.
pub fn last_part(name: &[u8]) -> &[u8] {
    name.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";
    const SHA1: &str = "a9993e364706816aba3e25717850c26c9cd0d89d";

    fn named(text: &str, name: &str) -> Vec<Algorithm> {
        let list = parse(text.as_bytes(), None);
        sums_of(&list, &[name.as_bytes()]).iter().map(|sum| sum.algorithm).collect()
    }

    #[test]
    fn the_ways_to_write_a_list() {
        let text = format!(
            "# sums\n{MD5}  ./a/one\r\n{SHA1} *two\nSHA1 (thr (e) = ee) = {SHA1}\nMD5 (one) = {MD5}\n\\{MD5}  li\\\\ne\\n\n{MD5} md5-r\n"
        );
        assert_eq!(named(&text, "one"), [Algorithm::Md5, Algorithm::Md5]);
        assert_eq!(named(&text, "two"), [Algorithm::Sha1]);
        assert_eq!(named(&text, "thr (e) = ee"), [Algorithm::Sha1]);
        assert_eq!(named(&text, "li\\ne\n"), [Algorithm::Md5]);
        assert_eq!(named(&text, "md5-r"), [Algorithm::Md5]);
        assert!(named(&text, "four").is_empty());
    }

    #[test]
    fn a_sum_without_a_name_is_of_anything() {
        assert_eq!(named(&format!("{SHA1}\n"), "whatever"), [Algorithm::Sha1]);
        assert!(named(&format!("{SHA1}\n{MD5}\n"), "whatever").is_empty());
    }

    #[test]
    fn of_one_length_the_user_says_which() {
        let line = format!("{}  f\n", "0".repeat(64));
        let of = |algorithm| parse(line.as_bytes(), algorithm)[0].sum.algorithm;
        assert_eq!(of(None), Algorithm::Sha256);
        assert_eq!(of(Some(Algorithm::Blake3)), Algorithm::Blake3);
        assert!(parse(line.as_bytes(), Some(Algorithm::Md5)).is_empty());
    }
}
