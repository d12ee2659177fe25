//! robots.txt (RFC 9309): which paths a server wants to be left alone. `Crawl-delay` is read, too, as most
//! crawlers do.

use super::address::with_plain_escapes;
use crate::bytes::Bytes;
use std::time::Duration;

/// The path of the rules on a server.
pub const PATH: &[u8] = b"/robots.txt";
/// RFC 9309 section 2.5: what is beyond may be ignored.
pub const SIZE_LIMIT: usize = 500 * 1024;
/// A longer delay is shortened to this: it would stop the mirror.
const LONGEST_DELAY: Duration = Duration::from_secs(60);
/// A longer pattern never matches: this bounds the time of a comparison.
const LONGEST_PATTERN: usize = 2048;

/// The rules of one server for one program.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Robots {
    rules: Vec<Rule>,
    pub delay: Option<Duration>,
    forbids_all: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Rule {
    pattern: Bytes,
    allows: bool,
}

/// The rules of the groups for one program, or for all.
#[derive(Default)]
struct Rules {
    rules: Vec<Rule>,
    delay: Option<Duration>,
    /// Whether there is such a group.
    is_named: bool,
}

impl Robots {
    /// Returns the rules of a server whose file cannot be had (section 2.3.1): a client error allows all,
    /// any other failure forbids all. `status` is 0 if there was no response.
    pub fn without_file(status: i64) -> Robots {
        Robots { forbids_all: !(400..500).contains(&status), ..Robots::default() }
    }

    /// Reads a file for the program with this product token.
    pub fn parse(text: &[u8], agent: &[u8]) -> Robots {
        let text = &text[..text.len().min(SIZE_LIMIT)];
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let (mut own, mut all) = (Rules::default(), Rules::default());
        // Which of both the current group is for, and whether its rules have begun.
        let (mut for_own, mut for_all, mut has_rules) = (false, false, false);
        for line in text.split(|octet| matches!(octet, b'\r' | b'\n')) {
            let Some((key, value)) = key_and_value(line) else { continue };
            if key == b"user-agent" {
                if std::mem::take(&mut has_rules) {
                    (for_own, for_all) = (false, false);
                }
                let token = product_token(value);
                for_all |= value.starts_with(b"*") && value.get(1).is_none_or(u8::is_ascii_whitespace);
                for_own |= !token.is_empty() && token.eq_ignore_ascii_case(agent);
                own.is_named |= for_own;
                continue;
            }
            let groups = [(&mut own, for_own), (&mut all, for_all)];
            for (group, _) in groups.into_iter().filter(|(_, is_meant)| *is_meant) {
                match &key[..] {
                    b"allow" | b"disallow" => group.add(value, key == b"allow"),
                    b"crawl-delay" => group.delay = delay(value).or(group.delay),
                    _ => {}
                }
            }
            has_rules |= matches!(&key[..], b"allow" | b"disallow" | b"crawl-delay");
        }
        let chosen = if own.is_named { own } else { all };
        Robots { rules: chosen.rules, delay: chosen.delay, forbids_all: false }
    }

    /// Returns whether the file could not be had, so that everything is forbidden.
    pub fn forbids_all(&self) -> bool {
        self.forbids_all
    }

    /// Decides about a path with its query. The longest pattern counts, and of two equally long ones the one
    /// that allows (section 2.2.2).
    pub fn allows(&self, path: &[u8]) -> bool {
        if path == PATH {
            return true;
        }
        let path = with_plain_escapes(path);
        let fitting = self.rules.iter().filter(|rule| fits(&rule.pattern, &path));
        let best = fitting.max_by_key(|rule| (rule.pattern.len(), rule.allows));
        best.map_or(!self.forbids_all, |rule| rule.allows)
    }
}

impl Rules {
    fn add(&mut self, pattern: &[u8], allows: bool) {
        if !pattern.is_empty() && pattern.len() <= LONGEST_PATTERN {
            self.rules.push(Rule { pattern: with_plain_escapes(pattern), allows });
        }
    }
}

/// Returns the product token at the start of a user agent.
pub fn product_token(agent: &[u8]) -> &[u8] {
    let is_of_token = |octet: &u8| octet.is_ascii_alphabetic() || matches!(octet, b'-' | b'_');
    &agent[..agent.iter().take_while(|octet| is_of_token(octet)).count()]
}

fn key_and_value(line: &[u8]) -> Option<(Bytes, &[u8])> {
    let line = line.split(|octet| *octet == b'#').next()?;
    let colon = line.iter().position(|octet| *octet == b':')?;
    Some((line[..colon].trim_ascii().to_ascii_lowercase(), line[colon + 1..].trim_ascii()))
}

fn delay(value: &[u8]) -> Option<Duration> {
    let seconds: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
    let delay = Duration::try_from_secs_f64(seconds).ok()?;
    Some(delay.min(LONGEST_DELAY))
}

/// Compares a pattern with the start of a path. `*` fits any text, and `$` at the end the end of the path.
fn fits(pattern: &[u8], path: &[u8]) -> bool {
    let (pattern, is_anchored) = match pattern.strip_suffix(b"$") {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split(|octet| *octet == b'*');
    let Some(mut rest) = path.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return !is_anchored || rest.is_empty();
    }
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        if is_last && is_anchored {
            return rest.ends_with(part);
        }
        match (0..=rest.len()).find(|at| rest[*at..].starts_with(part)) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(file: &str, agent: &str, path: &str) -> bool {
        Robots::parse(file.as_bytes(), agent.as_bytes()).allows(path.as_bytes())
    }

    /// RFC 9309 section 2.2.2: the table of encoded octets, and the examples of special characters.
    #[test]
    fn paths_compare_as_in_the_rfc() {
        for (pattern, path, fits) in [
            ("/foo/bar?baz=quz", "/foo/bar?baz=quz", true),
            ("/foo/bar?baz=http://foo.bar", "/foo/bar?baz=http://foo.bar", true),
            ("/foo/bar/U+E38384", "/foo/bar/U+E38384", true),
            ("/foo/bar/%E3%83%84", "/foo/bar/\u{30c4}", true),
            ("/foo/bar/\u{30c4}", "/foo/bar/%e3%83%84", true),
            ("/foo/bar/%62%61%7A", "/foo/bar/baz", true),
            ("/foo/bar/baz", "/foo/bar/%62%61%7A", true),
            ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html", false),
            ("/path/file-with-a-%2A.html", "/path/file-with-a-%2a.html", true),
            ("/path/foo-%24", "/path/foo-%24", true),
            ("*.gif$", "/a/b.gif", true),
            ("*.gif$", "/a/b.gif?x", false),
            ("/a*/c", "/abb/cd", true),
            ("/a*/c$", "/abb/cd/c", true),
            ("/*$", "/", true),
            ("/$", "/a", false),
        ] {
            let file = format!("user-agent: *\ndisallow: {pattern}\n");
            assert_eq!(!allows(&file, "x", path), fits, "{pattern} {path}");
        }
    }

    /// RFC 9309 section 5.
    #[test]
    fn examples_of_the_rfc() {
        let simple = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n\
             User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n\
             User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\n\
             User-Agent: quxbot\n\nEOF";
        for (agent, path, allowed) in [
            ("other", "/example/x", false),
            ("other", "/a.gif", false),
            ("other", "/publications/a", true),
            ("foobot", "/x", false),
            ("FooBot", "/example/page.html", true),
            ("foobot", "/example/allowed.gif", true),
            ("foobot", "/robots.txt", true),
            ("barbot", "/example/page.html", false),
            ("bazbot", "/example/page.html", false),
            ("bazbot", "/a.gif", true),
            ("quxbot", "/example/page.html", true),
        ] {
            assert_eq!(allows(simple, agent, path), allowed, "{agent} {path}");
        }
        let longest = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n";
        assert!(!allows(longest, "foobot", "/example/page/disallowed.gif"));
        assert!(allows(longest, "foobot", "/example/page/x"));
    }

    #[test]
    fn lines_and_groups() {
        for (file, path, allowed) in [
            ("\u{feff}user-agent: *\r\rdisallow: /a # comment\r\n", "/a", false),
            ("user-agent: *\ndisallow:\n", "/a", true),
            ("disallow: /\nuser-agent: *\n", "/a", true),
            ("user-agent: * x\ndisallow: /\n", "/a", false),
            ("user-agent: bot/1.0\ndisallow: /\n", "/a", false),
            ("user-agent: bots\ndisallow: /\n", "/a", true),
            ("user-agent: a\nuser-agent: bot\nsitemap: x\ndisallow: /\n", "/a", false),
            ("user-agent: bot\ndisallow: /a\nuser-agent: *\nuser-agent: bot\ndisallow: /b\n", "/a", false),
            ("user-agent: bot\ndisallow: /a\nallow: /a\n", "/a", true),
            ("garbage\n\0\n: x\nuser-agent\n", "/a", true),
        ] {
            assert_eq!(allows(file, "bot", path), allowed, "{file:?}");
        }
    }

    /// The cases of Google's parser that are not its own extensions, as facts: rules, paths that they allow,
    /// and paths that they forbid. It also accepts a missing colon and takes `index.html` for its folder.
    #[test]
    fn cases_of_googles_parser() {
        let only = |pattern: &str| format!("user-agent: FooBot\ndisallow: /\nallow: {pattern}\n");
        let groups = "allow: /foo/bar/\n\nuser-agent: FooBot\ndisallow: /\nallow: /x/\nuser-agent: BarBot\n\
            disallow: /\nallow: /y/\n\n\nallow: /w/\nuser-agent: BazBot\n\nuser-agent: FooBot\nallow: /z/\n\
            disallow: /\n";
        let rows: [(String, &[&str], &[&str]); 14] = [
            (groups.into(), &["/x/b", "/z/d"], &["/y/c", "/foo/bar/"]),
            (
                only("/fish"),
                &["/fish", "/fish.html", "/fishheads/y", "/fish.html?id=a"],
                &["/Fish", "/?id=fish"],
            ),
            (only("/fish*"), &["/fish", "/fish.html", "/fish/salmon.html"], &["/bar", "/catfish"]),
            (only("/fish/"), &["/fish/", "/fish/?salmon"], &["/fish", "/fish.html"]),
            (
                only("/*.php"),
                &["/f.php", "/f/f.php?x", "//f/any.php.html", "/i?f=f.php/"],
                &["/php/", "/w.PHP"],
            ),
            (only("/*.php$"), &["/f.php", "/f/f.php"], &["/f.php?x", "/f.php/", "/f.php5"]),
            (only("/fish*.php"), &["/fish.php", "/fishheads/catfish.php?x"], &["/Fish.PHP"]),
            (only("/$"), &["/"], &["/page.html"]),
            (
                "user-agent: FooBot\nallow: /x/page.\ndisallow: /*.html".into(),
                &["/x/page.html"],
                &["/x/y.html"],
            ),
            ("user-agent: FooBot\nallow: /page\ndisallow: /*.html".into(), &["/page"], &["/page.html"]),
            (
                "user-agent: FooBot\ndisallow: /foo/bar$\nallow: /foo/bar/qux".into(),
                &["/foo/bar/"],
                &["/foo/bar"],
            ),
            ("user-agent: FooBot\n# Disallow: /\ndisallow: /q#x\nallow: /".into(), &["/foo"], &["/q"]),
            ("user-agent: *\ndisallow: /x/\nuser-agent: foobot\ndisallow: /y/".into(), &["/x/a"], &["/y/a"]),
            ("user-agent: *\ndisallow: /\nuser-agent: FooBot Bar\nallow: /x/".into(), &["/x/y", "/a"], &[]),
        ];
        for (file, allowed, forbidden) in rows {
            let found = allowed.iter().chain(forbidden).filter(|path| allows(&file, "FooBot", path));
            assert_eq!(found.copied().collect::<Vec<_>>(), allowed, "{file}");
        }
    }

    #[test]
    fn delays_are_bounded() {
        let of =
            |text: &str| Robots::parse(format!("user-agent: *\ncrawl-delay: {text}").as_bytes(), b"x").delay;
        assert_eq!(of("0.5"), Some(Duration::from_millis(500)));
        assert_eq!(of("86400"), Some(LONGEST_DELAY));
        for wrong in ["-1", "nan", "inf", "x", ""] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn large_files_and_long_patterns_have_a_bound() {
        let mut file = "user-agent: *\n".to_owned();
        file.push_str(&"#\n".repeat(SIZE_LIMIT / 2));
        file.push_str("disallow: /\n");
        assert!(allows(&file, "x", "/a"));
        let stars = format!("user-agent: *\ndisallow: /{}b$\n", "*a".repeat(1000));
        assert!(allows(&stars, "x", &format!("/{}", "a".repeat(8000))));
        let long = format!("user-agent: *\ndisallow: /{}\n", "a".repeat(LONGEST_PATTERN));
        assert!(allows(&long, "x", "/a"));
    }

    /// Section 2.3.1.
    #[test]
    fn a_missing_file_allows_and_an_error_forbids() {
        for (status, allowed) in
            [(404, true), (403, true), (429, true), (500, false), (503, false), (0, false)]
        {
            assert_eq!(Robots::without_file(status).allows(b"/a"), allowed, "{status}");
        }
    }
}
