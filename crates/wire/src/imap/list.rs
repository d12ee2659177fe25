//! The reply to LIST (RFC 9051 §7.3.1): `* LIST (\HasNoChildren) "/" INBOX`.

use super::response::number;

/// A mailbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// With their backslashes.
    pub attributes: Vec<Vec<u8>>,
    /// The separator of names; `None` if names have no levels.
    pub delimiter: Option<u8>,
    /// As the server spells it.
    pub name: Vec<u8>,
}

/// Parses all LIST lines; lines of other kinds are skipped, and so are malformed ones.
pub fn listed(mut lines: &[u8]) -> Vec<Listed> {
    let mut all = Vec::new();
    while !lines.is_empty() {
        let found = parse_line(lines);
        let end = match found {
            Some((_, rest)) => rest,
            None => lines,
        };
        all.extend(found.map(|(listed, _)| listed));
        let next = end.iter().position(|octet| *octet == b'\n').map_or(end.len(), |at| at + 1);
        lines = &end[next..];
    }
    all
}

/// Parses the numbers of all SEARCH lines (RFC 9051 §7.3.4, as IMAP4rev1 has it).
pub fn found(lines: &[u8]) -> Vec<u32> {
    let of_search = lines.split(|octet| *octet == b'\n').filter_map(|line| after(line, b"* SEARCH"));
    let words = of_search.flat_map(|line| line.split(|octet| b" \r".contains(octet)));
    words.filter_map(|word| number(word).and_then(|number| u32::try_from(number).ok())).collect()
}

fn after<'t>(text: &'t [u8], word: &[u8]) -> Option<&'t [u8]> {
    let (front, rest) = text.split_at_checked(word.len())?;
    front.eq_ignore_ascii_case(word).then_some(rest)
}

fn parse_line(line: &[u8]) -> Option<(Listed, &[u8])> {
    let rest = after(line, b"* LIST (")?;
    let close = rest.iter().position(|octet| b")\n".contains(octet)).filter(|at| rest[*at] == b')')?;
    let attributes = rest[..close].split(|octet| *octet == b' ').filter(|word| !word.is_empty());
    let attributes = attributes.map(<[u8]>::to_vec).collect();
    let (delimiter, rest) = string(rest[close + 1..].strip_prefix(b" ")?)?;
    let delimiter = if delimiter.eq_ignore_ascii_case(b"NIL") { None } else { delimiter.first().copied() };
    let (name, rest) = string(rest.strip_prefix(b" ")?)?;
    Some((Listed { attributes, delimiter, name }, rest))
}

/// Returns an atom, a quoted string or a literal, and the rest.
fn string(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    match text {
        [b'"', rest @ ..] => {
            let (mut out, mut octets) = (Vec::new(), rest.iter().enumerate());
            while let Some((at, octet)) = octets.next() {
                match octet {
                    b'"' => return Some((out, &rest[at + 1..])),
                    b'\\' => out.push(*octets.next()?.1),
                    b'\r' | b'\n' => return None,
                    octet => out.push(*octet),
                }
            }
            None
        }
        [b'{', rest @ ..] => {
            let size = usize::try_from(number(rest)?).ok()?;
            let start = rest.iter().position(|octet| *octet == b'\n')? + 1;
            let (literal, rest) = rest[start..].split_at_checked(size)?;
            Some((literal.to_vec(), rest))
        }
        _ => {
            let end = text.iter().position(|octet| b" \r\n".contains(octet)).unwrap_or(text.len());
            (end > 0).then(|| (text[..end].to_vec(), &text[end..]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_atoms_strings_and_literals() {
        let text = b"* LIST (\\HasNoChildren \\Sent) \"/\" \"a \\\"b\\\"\"\r\n* STATUS x\r\n\
                     * list () NIL INBOX\r\n* LIST () \".\" {3}\r\nx\r\n\r\n* LIST () \".\" last\r\n";
        let all = listed(text);
        let names: Vec<&[u8]> = all.iter().map(|listed| &listed.name[..]).collect();
        assert_eq!(names, [&b"a \"b\""[..], b"INBOX", b"x\r\n", b"last"]);
        assert_eq!(all[0].attributes, [&b"\\HasNoChildren"[..], b"\\Sent"]);
        assert_eq!((all[0].delimiter, all[1].delimiter, all[2].delimiter), (Some(b'/'), None, Some(b'.')));
    }

    #[test]
    fn malformed_lines_are_skipped() {
        for bad in [
            &b"* LIST (\r\n"[..],
            b"* LIST () \"/\r\n",
            b"* LIST () \"/\" \r\n",
            b"* LIST () \"/\" {9}\r\nx\r\n",
            b"* LIST () \"/\" {99999999999999999999}\r\n",
            b"* LIST",
        ] {
            assert_eq!(listed(bad), [], "{}", String::from_utf8_lossy(bad));
        }
    }

    #[test]
    fn searches_may_have_several_lines() {
        assert_eq!(
            found(b"* SEARCH 2 84 4294967295\r\n* 3 EXISTS\r\n* search\r\n* SEARCH 7\n"),
            [2, 84, u32::MAX, 7]
        );
        assert_eq!(found(b"* SEARCH 4294967296 x 1\r\n"), [1]);
    }
}
