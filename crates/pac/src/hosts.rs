//! The functions of PAC files about host names and patterns. None looks up a name.

/// `isPlainHostName`: returns whether the name has no dots.
pub fn is_plain_host_name(host: &str) -> bool {
    !host.contains('.') && !host.contains(':')
}

/// `dnsDomainIs`: returns whether the host ends with the domain.
pub fn dns_domain_is(host: &str, domain: &str) -> bool {
    let (host, domain) = (host.to_ascii_lowercase(), domain.to_ascii_lowercase());
    host.ends_with(&domain)
}

/// `localHostOrDomainIs`: returns whether the host is that one, or its name without the domain.
pub fn local_host_or_domain_is(host: &str, full: &str) -> bool {
    let (host, full) = (host.to_ascii_lowercase(), full.to_ascii_lowercase());
    host == full || !host.contains('.') && full.strip_prefix(&host).is_some_and(|rest| rest.starts_with('.'))
}

/// `dnsDomainLevels`: returns the number of dots.
pub fn dns_domain_levels(host: &str) -> usize {
    host.matches('.').count()
}

/// `shExpMatch`: returns whether a text matches a pattern with `*` and `?`, as a whole and with the case of
/// its letters.
///
/// The time is bounded by the product of both lengths: after a mismatch only the last `*` is tried again.
pub fn sh_exp_match(text: &str, pattern: &str) -> bool {
    let (text, pattern): (Vec<char>, Vec<char>) = (text.chars().collect(), pattern.chars().collect());
    let (mut at, mut place) = (0, 0);
    let mut star = None;
    while at < text.len() {
        match pattern.get(place) {
            Some('*') => {
                star = Some((place + 1, at));
                place += 1;
            }
            Some(&one) if one == '?' || one == text[at] => {
                at += 1;
                place += 1;
            }
            _ => {
                let Some((after, from)) = star else { return false };
                star = Some((after, from + 1));
                (place, at) = (after, from + 1);
            }
        }
    }
    pattern[place..].iter().all(|one| *one == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names() {
        for (host, plain) in
            [("www", true), ("www.example.com", false), ("", true), ("::1", false), ("1.2.3.4", false)]
        {
            assert_eq!(is_plain_host_name(host), plain, "{host}");
        }
    }

    #[test]
    fn domains() {
        for (host, domain, wanted) in [
            ("www.example.com", ".example.com", true),
            ("www", ".example.com", false),
            ("www.other.com", ".example.com", false),
            ("WWW.Example.com", ".example.COM", true),
            ("example.com", ".example.com", false),
            ("badexample.com", "example.com", true),
            ("a", "", true),
        ] {
            assert_eq!(dns_domain_is(host, domain), wanted, "{host} {domain}");
        }
    }

    #[test]
    fn hosts_with_and_without_their_domain() {
        for (host, full, wanted) in [
            ("www.example.com", "www.example.com", true),
            ("www", "www.example.com", true),
            ("www.other.com", "www.example.com", false),
            ("home.example.com", "www.example.com", false),
            ("ww", "www.example.com", false),
            ("www.example", "www.example.com", false),
            ("WWW", "www.Example.com", true),
            ("", "www.example.com", false),
        ] {
            assert_eq!(local_host_or_domain_is(host, full), wanted, "{host} {full}");
        }
    }

    #[test]
    fn levels() {
        for (host, levels) in [("www", 0), ("www.example.com", 2), ("", 0)] {
            assert_eq!(dns_domain_levels(host), levels);
        }
    }

    #[test]
    fn patterns() {
        for (text, pattern, wanted) in [
            ("http://example.com/people/ari/index.html", "*/ari/*", true),
            ("http://example.com/people/montulli/index.html", "*/ari/*", false),
            ("www.example.com", "*.example.com", true),
            ("www.example.com", "*.example.?om", true),
            ("www.example.com", "example.com", false),
            ("a", "?", true),
            ("", "?", false),
            ("", "*", true),
            ("", "", true),
            ("abc", "a*b*c*", true),
            ("abc", "*b", false),
            ("aXbXc", "a*X*c", true),
            ("A", "a", false),
            ("a.c", "a.c", true),
            ("abc", "a.c", false),
            ("[x]", "[x]", true),
        ] {
            assert_eq!(sh_exp_match(text, pattern), wanted, "{text} {pattern}");
        }
        let (text, pattern) = ("a".repeat(20_000), "*a".repeat(20) + "b");
        assert!(!sh_exp_match(&text, &pattern), "it ends soon");
    }
}
