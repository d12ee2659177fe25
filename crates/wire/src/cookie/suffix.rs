//! Public suffixes ("co.uk"), for which no cookie may be set. The list is compiled in from the crate psl: it
//! changes weekly and has wildcard rules, so it is not maintained here.

/// Whether everybody may register names below this domain. A name that is on no list counts as one if it has
/// no dot; "localhost" does not.
pub(super) fn is_public(domain: &[u8]) -> bool {
    let lower = domain.to_ascii_lowercase();
    let name = lower.strip_suffix(b".").unwrap_or(&lower);
    let dots = name.iter().take_while(|octet| **octet == b'.').count();
    let name = &name[dots..];
    if name == b"localhost" || name.is_empty() {
        return false;
    }
    psl::suffix(name).is_some_and(|suffix| suffix.as_bytes().len() == name.len())
}

#[cfg(test)]
mod tests {
    use super::is_public;

    #[test]
    fn tells_suffixes_from_domains() {
        for domain in ["com", "co.uk", "CO.UK", "github.io", "unlisted", "x.kobe.jp", "..com"] {
            assert!(is_public(domain.as_bytes()), "{domain}");
        }
        for domain in
            ["example.com", "a.co.uk", "www.github.io", "name.unlisted", "localhost", "city.kobe.jp"]
        {
            assert!(!is_public(domain.as_bytes()), "{domain}");
        }
    }
}
