//! Cookies that a response sets.

use std::time::Duration;

use http::HeaderMap;
use http::header::SET_COOKIE;

/// A cookie of a response, as the server wrote it: whether a jar accepts it is another question.
#[derive(Clone, Copy, Debug)]
pub struct Cookie<'a> {
    line: &'a str,
}

impl<'a> Cookie<'a> {
    /// Returns the cookies of a head. A field that is not text is left out.
    pub(crate) fn all(headers: &'a HeaderMap) -> impl Iterator<Item = Cookie<'a>> {
        let lines = headers.get_all(SET_COOKIE).into_iter();
        lines.filter_map(|value| std::str::from_utf8(value.as_bytes()).ok()).map(|line| Cookie { line })
    }

    /// Returns the name.
    pub fn name(&self) -> &'a str {
        self.pair().0
    }

    /// Returns the value.
    pub fn value(&self) -> &'a str {
        self.pair().1
    }

    /// Returns whether scripts may not read the cookie.
    pub fn http_only(&self) -> bool {
        self.attribute("httponly").is_some()
    }

    /// Returns whether the cookie is sent over TLS only.
    pub fn secure(&self) -> bool {
        self.attribute("secure").is_some()
    }

    /// Returns whether SameSite is Lax.
    pub fn same_site_lax(&self) -> bool {
        self.attribute("samesite").is_some_and(|value| value.eq_ignore_ascii_case("lax"))
    }

    /// Returns whether SameSite is Strict.
    pub fn same_site_strict(&self) -> bool {
        self.attribute("samesite").is_some_and(|value| value.eq_ignore_ascii_case("strict"))
    }

    /// Returns the path.
    pub fn path(&self) -> Option<&'a str> {
        self.attribute("path").filter(|path| !path.is_empty())
    }

    /// Returns the domain, without a leading dot.
    pub fn domain(&self) -> Option<&'a str> {
        let domain = self.attribute("domain")?;
        Some(domain.strip_prefix('.').unwrap_or(domain)).filter(|domain| !domain.is_empty())
    }

    /// Returns Max-Age.
    pub fn max_age(&self) -> Option<Duration> {
        self.attribute("max-age")?.parse().ok().map(Duration::from_secs)
    }

    fn pair(&self) -> (&'a str, &'a str) {
        split(self.line.split(';').next().unwrap_or_default())
    }

    /// Returns the last attribute of a name (RFC 6265, 5.3).
    fn attribute(&self, name: &str) -> Option<&'a str> {
        let attributes = self.line.split(';').skip(1).map(split);
        attributes.filter(|(known, _)| known.eq_ignore_ascii_case(name)).last().map(|(_, value)| value)
    }
}

fn split(text: &str) -> (&str, &str) {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    (name.trim(), value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_in_any_case() {
        let mut headers = HeaderMap::new();
        headers
            .append(SET_COOKIE, "a=b=c; Path=/x; DOMAIN=.h.example; HttpOnly; Max-Age=60".parse().unwrap());
        headers.append(SET_COOKIE, "d=; SameSite=Lax; Secure; Max-Age=soon".parse().unwrap());
        let cookies: Vec<_> = Cookie::all(&headers).collect();
        let [first, second] = &cookies[..] else { panic!("{cookies:?}") };
        assert_eq!((first.name(), first.value(), first.path()), ("a", "b=c", Some("/x")));
        assert_eq!((first.domain(), first.max_age()), (Some("h.example"), Some(Duration::from_secs(60))));
        assert!(first.http_only() && !first.secure() && !first.same_site_lax());
        assert_eq!((second.name(), second.value(), second.max_age()), ("d", "", None));
        assert!(second.same_site_lax() && second.secure() && !second.same_site_strict());
    }
}
