//! Dot segments (RFC 3986 section 5.2.4), also when their dots are percent-encoded (section 6.2.2.3).

/// Whether a path has no "." and no ".." segment.
pub(super) fn has_no_dot_segments(path: &[u8]) -> bool {
    path.starts_with(b"/") && path[1..].split(|&octet| octet == b'/').all(|segment| dots(segment) == 0)
}

/// Removes "." and ".." segments from a path without its query.
pub fn remove_dot_segments(path: &[u8]) -> Vec<u8> {
    if path.is_empty() {
        return Vec::new();
    }
    if !path.starts_with(b"/") {
        return without_leading_dots(path);
    }
    if has_no_dot_segments(path) {
        return path.to_vec();
    }
    let mut kept: Vec<&[u8]> = Vec::new();
    let mut segments = path[1..].split(|&octet| octet == b'/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match dots(segment) {
            0 => kept.push(segment),
            count => {
                if count == 2 {
                    kept.pop();
                }
                if is_last {
                    kept.push(b"");
                }
            }
        }
    }
    let mut out = Vec::with_capacity(path.len());
    for segment in kept {
        out.push(b'/');
        out.extend_from_slice(segment);
    }
    out
}

/// A path without a leading slash: dot segments before the first real one vanish, the rest is as above.
fn without_leading_dots(path: &[u8]) -> Vec<u8> {
    let first_end = path.iter().position(|&octet| octet == b'/').unwrap_or(path.len());
    let (first, rest) = path.split_at(first_end);
    if dots(first) > 0 {
        return match rest.strip_prefix(b"/") {
            Some(tail) if !tail.starts_with(b"/") => without_leading_dots(tail),
            Some(tail) => remove_dot_segments(tail),
            None => Vec::new(),
        };
    }
    let mut rooted = Vec::with_capacity(path.len() + 1);
    rooted.push(b'/');
    rooted.extend_from_slice(path);
    let mut out = remove_dot_segments(&rooted);
    out.remove(0); // the slash added above; the path is not empty, so there is one
    out
}

/// 1 for ".", 2 for "..", 0 for any other segment.
fn dots(segment: &[u8]) -> usize {
    let mut count = 0;
    let mut rest = segment;
    while !rest.is_empty() {
        let Some(tail) = strip_dot(rest) else { return 0 };
        rest = tail;
        count += 1;
    }
    if count > 2 { 0 } else { count }
}

fn strip_dot(segment: &[u8]) -> Option<&[u8]> {
    match segment {
        [b'.', tail @ ..] | [b'%', b'2', b'e' | b'E', tail @ ..] => Some(tail),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_dot_segments() {
        let rows = [
            ("/a/b/c/./../../g", "/a/g"),
            ("mid/content=5/../6", "mid/6"),
            ("/hello/1/./../moo", "/hello/moo"),
            ("/1/./../2", "/2"),
            ("/..", "/"),
            ("/.", "/"),
            ("/...", "/..."),
            ("/test/this/.././../moo", "/moo"),
            ("/moo/..", "/"),
            ("/moo/../", "/"),
            ("//a/../b", "//b"),
            ("/a//../b", "/a/b"),
            ("../moo", "moo"),
            ("./moo", "moo"),
            ("..", ""),
            (".", ""),
            ("/", "/"),
            ("", ""),
            ("/%2e%2E/x/.%2e/y", "/y"),
            ("/a%2f..%2fb", "/a%2f..%2fb"),
            ("/a/b/../../..", "/"),
            ("/123/", "/123/"),
        ];
        for (input, wanted) in rows {
            let got = remove_dot_segments(input.as_bytes());
            assert_eq!(String::from_utf8_lossy(&got), wanted, "{input}");
        }
    }
}
