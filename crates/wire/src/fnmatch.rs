//! File name patterns: POSIX fnmatch(3) without flags, which curl uses for FTP listings on systems with that
//! function. Slashes and leading dots are not special. Works on octets, in time pattern × name.

/// Whether the whole name fits the pattern.
pub fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut pattern_at, mut name_at) = (0, 0);
    // Where to continue after a mismatch: after the last star, with one more octet of the name matched by it.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let step = match pattern.get(pattern_at) {
            Some(b'*') => {
                retry = Some((pattern_at + 1, name_at));
                pattern_at += 1;
                continue;
            }
            Some(_) => name.get(name_at).and_then(|&octet| match_one(&pattern[pattern_at..], octet)),
            None if name_at == name.len() => return true,
            None => None,
        };
        match (step, retry) {
            (Some(used), _) => {
                pattern_at += used;
                name_at += 1;
            }
            (None, Some((star_end, given))) if given < name.len() => {
                pattern_at = star_end;
                name_at = given + 1;
                retry = Some((star_end, name_at));
            }
            _ => return false,
        }
    }
}

/// How much of the pattern the octet used up; `None` if it does not fit.
fn match_one(pattern: &[u8], octet: u8) -> Option<usize> {
    let (used, fits) = match pattern {
        [b'?', ..] => (1, true),
        [b'\\', escaped, ..] => (2, *escaped == octet),
        [b'\\'] => return None,
        [b'[', rest @ ..] => match match_set(rest, octet) {
            Some((used, fits)) => (used + 1, fits),
            None => (1, octet == b'['), // a set without an end is no set
        },
        [literal, ..] => (1, *literal == octet),
        [] => return None,
    };
    if fits { Some(used) } else { None }
}

/// The set after the bracket: its length and whether the octet is in it. `None` if it has no end.
fn match_set(set: &[u8], octet: u8) -> Option<(usize, bool)> {
    let is_negated = matches!(set.first(), Some(b'!' | b'^'));
    let start = usize::from(is_negated);
    let mut at = start;
    let mut is_in = false;
    loop {
        let first = *set.get(at)?;
        if first == b']' && at > start {
            return Some((at + 1, is_in != is_negated));
        }
        if let Some((used, class)) = class(&set[at..]) {
            is_in |= class(&octet);
            at += used;
            continue;
        }
        let (low, low_used) = member(&set[at..])?;
        at += low_used;
        let is_range = set.get(at) == Some(&b'-') && !matches!(set.get(at + 1), None | Some(b']'));
        if is_range {
            let (high, high_used) = member(&set[at + 1..])?;
            at += 1 + high_used;
            is_in |= (low..=high).contains(&octet);
        } else {
            is_in |= low == octet;
        }
    }
}

fn member(set: &[u8]) -> Option<(u8, usize)> {
    match set {
        [b'\\', escaped, ..] => Some((*escaped, 2)),
        [plain, ..] => Some((*plain, 1)),
        [] => None,
    }
}

type Class = fn(&u8) -> bool;

/// `[:name:]` and its length.
fn class(set: &[u8]) -> Option<(usize, Class)> {
    const CLASSES: [(&str, Class); 12] = [
        ("alnum", u8::is_ascii_alphanumeric),
        ("alpha", u8::is_ascii_alphabetic),
        ("blank", |octet| matches!(octet, b' ' | b'\t')),
        ("cntrl", u8::is_ascii_control),
        ("digit", u8::is_ascii_digit),
        ("graph", u8::is_ascii_graphic),
        ("lower", u8::is_ascii_lowercase),
        ("print", |octet| octet.is_ascii_graphic() || *octet == b' '),
        ("punct", u8::is_ascii_punctuation),
        ("space", |octet| matches!(octet, b' ' | 9..=13)),
        ("upper", u8::is_ascii_uppercase),
        ("xdigit", u8::is_ascii_hexdigit),
    ];
    let rest = set.strip_prefix(b"[:")?;
    CLASSES.into_iter().find_map(|(name, class)| {
        let tail = rest.strip_prefix(name.as_bytes())?;
        tail.starts_with(b":]").then_some((name.len() + 4, class))
    })
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns() {
        let rows = [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*.txt", "a.txt", true),
            ("*.txt", ".txt", true),
            ("*.txt", "a.txt.gz", false),
            ("a*b*c*d", "aXbXcXd", true),
            ("a*b*c*d", "aXbXcX", false),
            ("**a", "ba", true),
            ("?", "a", true),
            ("?", "", false),
            ("*", "a/b", true),
            ("[abc]x", "bx", true),
            ("[!abc]", "b", false),
            ("[^abc]", "d", true),
            ("[a-c]", "b", true),
            ("[a-c]", "d", false),
            ("[a-]", "-", true),
            ("[]]", "]", true),
            ("[]-a]", "^", true),
            ("[!]]", "]", false),
            ("[[:digit:]]*", "7up", true),
            ("[[:alpha:][:digit:]_]", "_", true),
            ("[[:nothing:]]", ":]", true),
            ("[[:upper:]]", "a", false),
            ("[abc", "[abc", true),
            ("[abc", "a", false),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("a\\", "a", false),
            ("[\\]]", "]", true),
            ("[\\-z]", "-", true),
        ];
        for (pattern, name, wanted) in rows {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), wanted, "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_take_no_long_time() {
        assert!(!matches(&b"*a".repeat(500), &b"a".repeat(400)));
    }
}
