//! Name constraints (RFC 5280, sections 4.2.1.10 and 6.1.4): which names an authority may certify. Checked as
//! in OpenSSL: a wildcard is compared like any other name, and a common name counts as a host name if there
//! is no alternative name.

use super::checks::Fault;
use super::general_name::{self, GeneralName};
use super::profile::Profile;
use super::verdict::*;
use super::x509;
use wire::der::{self, Reader};

/// Most comparisons between the names of one certificate and the constraints of another.
const MAX_COMPARISONS: usize = 1 << 20;
const COMMON_NAME: &[u8] = &[0x55, 4, 3];
const EMAIL_ADDRESS: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1];

#[derive(Clone, Debug)]
pub struct NameConstraints<'a> {
    permitted: Vec<Subtree<'a>>,
    excluded: Vec<Subtree<'a>>,
}

#[derive(Clone, Debug)]
struct Subtree<'a> {
    base: GeneralName<'a>,
    /// Whether the subtree has depth 0 and no maximum: nothing else is defined.
    whole: bool,
}

/// Checks each certificate of `chain` (its leaf first) against the constraints of all above it. Self-issued
/// ones are exempt unless they are the leaf.
pub fn check(chain: &[Profile<'_>]) -> Result<(), Fault> {
    for (i, cert) in chain.iter().enumerate().rev() {
        if i != 0 && cert.is_self_issued() {
            continue;
        }
        for above in chain[i + 1..].iter().rev() {
            if let Some(constraints) = &above.constraints {
                constraints.hold(cert, i == 0).map_err(|result| Fault::of(i, result))?;
            }
        }
    }
    Ok(())
}

impl<'a> NameConstraints<'a> {
    pub fn parse(value: &'a [u8]) -> Option<NameConstraints<'a>> {
        let mut r = Reader::new(value).sequence()?;
        let permitted = r.optional(der::context(0)).map_or(Some(Vec::new()), subtrees)?;
        let excluded = r.optional(der::context(1)).map_or(Some(Vec::new()), subtrees)?;
        r.is_empty().then_some(NameConstraints { permitted, excluded })
    }

    fn hold(&self, cert: &Profile<'_>, is_leaf: bool) -> Result<(), VerifyResult> {
        let attributes = x509::attributes(cert.cert.subject);
        let alternatives = cert.alt_names.as_deref().unwrap_or_default();
        let constraints = self.permitted.len() + self.excluded.len();
        if (attributes.len() + alternatives.len()).saturating_mul(constraints) > MAX_COMPARISONS {
            return Err(UNSPECIFIED);
        }
        if !attributes.is_empty() {
            self.holds(&GeneralName::Directory(cert.subject.clone()))?;
        }
        for (_, mail) in attributes.iter().filter(|(oid, _)| *oid == EMAIL_ADDRESS) {
            if mail.tag != der::IA5_STRING {
                return Err(NAME_SYNTAX);
            }
            self.holds(&GeneralName::Email(mail.body))?;
        }
        for name in alternatives {
            self.holds(name)?;
        }
        if is_leaf && !alternatives.iter().any(|n| matches!(n, GeneralName::Dns(_))) {
            for (_, name) in attributes.iter().filter(|(oid, _)| *oid == COMMON_NAME) {
                let text = x509::text(*name);
                if let Some(host) = as_host(&text)? {
                    self.holds(&GeneralName::Dns(host.as_bytes()))?;
                }
            }
        }
        Ok(())
    }

    /// Checks that a name is inside a permitted subtree of its kind, if there are any, and outside all
    /// excluded ones.
    fn holds(&self, name: &GeneralName<'_>) -> Result<(), VerifyResult> {
        let mut permitted = None;
        for tree in self.permitted.iter().filter(|t| name.is_same_kind(&t.base)) {
            if !tree.whole {
                return Err(SUBTREE_RANGE);
            }
            if permitted != Some(true) {
                permitted = Some(tree.contains(name)?);
            }
        }
        if permitted == Some(false) {
            return Err(PERMITTED_SUBTREE);
        }
        for tree in self.excluded.iter().filter(|t| name.is_same_kind(&t.base)) {
            if !tree.whole {
                return Err(SUBTREE_RANGE);
            }
            if tree.contains(name)? {
                return Err(EXCLUDED_SUBTREE);
            }
        }
        Ok(())
    }
}

fn subtrees(list: &[u8]) -> Option<Vec<Subtree<'_>>> {
    let mut list = Reader::new(list);
    let mut out = Vec::new();
    while !list.is_empty() {
        let mut r = list.sequence()?;
        let base = general_name::next(&mut r)?;
        let from = r.optional(der::context_primitive(0));
        let until = r.optional(der::context_primitive(1));
        let whole = from.is_none_or(|n| n == [0]) && until.is_none();
        if !r.is_empty() {
            return None;
        }
        out.push(Subtree { base, whole });
    }
    Some(out)
}

impl Subtree<'_> {
    fn contains(&self, name: &GeneralName<'_>) -> Result<bool, VerifyResult> {
        use GeneralName as N;
        match (name, &self.base) {
            (N::Directory(name), N::Directory(base)) => Ok(name.starts_with(base)),
            (N::Dns(name), N::Dns(base)) => Ok(is_below(name, base)),
            (N::Email(name), N::Email(base)) => mail_is_in(name, base),
            (N::Uri(name), N::Uri(base)) => uri_is_in(name, base),
            (N::Ip(name), N::Ip(base)) => address_is_in(name, base),
            (N::Other(_), N::Email(_)) => Err(NAME_SYNTAX),
            _ => Err(CONSTRAINT_TYPE),
        }
    }
}

/// Returns whether it is the same host, or one with more labels on the left. An empty base contains every
/// name.
fn is_below(name: &[u8], base: &[u8]) -> bool {
    if base.is_empty() {
        return true;
    }
    let Some(extra) = name.len().checked_sub(base.len()) else {
        return false;
    };
    let (left, right) = name.split_at(extra);
    right.eq_ignore_ascii_case(base) && (left.is_empty() || base[0] == b'.' || left.ends_with(b"."))
}

/// `base` is a mailbox, a host, or all hosts of a domain if it begins with a dot.
fn mail_is_in(name: &[u8], base: &[u8]) -> Result<bool, VerifyResult> {
    let at = name.iter().rposition(|b| *b == b'@').ok_or(NAME_SYNTAX)?;
    let (local, host) = (&name[..at], &name[at + 1..]);
    Ok(match base.iter().rposition(|b| *b == b'@') {
        None if base.starts_with(b".") => ends_with(name, base),
        None => host.eq_ignore_ascii_case(base),
        Some(at) => (at == 0 || base[..at] == *local) && host.eq_ignore_ascii_case(&base[at + 1..]),
    })
}

/// `base` is a host, or all hosts of a domain if it begins with a dot.
fn uri_is_in(name: &[u8], base: &[u8]) -> Result<bool, VerifyResult> {
    let colon = name.iter().position(|b| *b == b':').ok_or(NAME_SYNTAX)?;
    let host = name[colon + 1..].strip_prefix(b"//").ok_or(NAME_SYNTAX)?;
    let end = host.iter().position(|b| *b == b':').or_else(|| host.iter().position(|b| *b == b'/'));
    let host = &host[..end.unwrap_or(host.len())];
    if host.is_empty() {
        return Err(NAME_SYNTAX);
    }
    Ok(if base.starts_with(b".") { ends_with(host, base) } else { host.eq_ignore_ascii_case(base) })
}

/// Returns whether the name is longer than `tail` and ends with it.
fn ends_with(name: &[u8], tail: &[u8]) -> bool {
    name.len() > tail.len() && name[name.len() - tail.len()..].eq_ignore_ascii_case(tail)
}

/// `base` is an address and a mask of the same length.
fn address_is_in(name: &[u8], base: &[u8]) -> Result<bool, VerifyResult> {
    if !matches!(name.len(), 4 | 16) || !matches!(base.len(), 8 | 32) {
        return Err(NAME_SYNTAX);
    }
    let (address, mask) = base.split_at(base.len() / 2);
    Ok(name.len() == address.len() && name.iter().zip(address).zip(mask).all(|((n, a), m)| n & m == a & m))
}

/// Returns a common name that may be a host name: labels of letters, digits, hyphens and underscores, at
/// least two of them.
fn as_host(name: &str) -> Result<Option<&str>, VerifyResult> {
    let name = name.trim_end_matches('\0');
    if name.contains('\0') {
        return Err(NAME_SYNTAX);
    }
    let label = |l: &str| {
        let ends = |c: char| c != '-';
        let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        !l.is_empty() && l.chars().all(inside) && l.starts_with(ends) && l.ends_with(ends)
    };
    Ok(Some(name).filter(|n| n.contains('.') && n.split('.').all(label)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        for (name, base) in
            [("a.b", "a.b"), ("A.b", "a.B"), ("x.a.b", "a.b"), ("x.a.b", ".a.b"), ("*.a.b", "a.b"), ("x", "")]
        {
            assert!(is_below(name.as_bytes(), base.as_bytes()), "{name} {base}");
        }
        for (name, base) in [("a.b", ".a.b"), ("xa.b", "a.b"), ("b", "a.b"), ("*.b", "a.b"), ("", "b")] {
            assert!(!is_below(name.as_bytes(), base.as_bytes()), "{name} {base}");
        }
    }

    #[test]
    fn mail_and_uris() {
        let mail = |n: &str, b: &str| mail_is_in(n.as_bytes(), b.as_bytes());
        assert_eq!(mail("me@a.b", "a.b"), Ok(true));
        assert_eq!(mail("me@A.b", "me@a.B"), Ok(true));
        assert_eq!(mail("ME@a.b", "me@a.b"), Ok(false), "the mailbox keeps its case");
        assert_eq!(mail("me@x.a.b", ".a.b"), Ok(true));
        assert_eq!(mail("me@x.a.b", "a.b"), Ok(false));
        assert_eq!(mail("a.b", "a.b"), Err(NAME_SYNTAX));
        let uri = |n: &str, b: &str| uri_is_in(n.as_bytes(), b.as_bytes());
        assert_eq!(uri("http://a.b/x", "a.b"), Ok(true));
        assert_eq!(uri("ldap://x.a.b:1/", ".a.b"), Ok(true));
        assert_eq!(uri("http://a.b", ".a.b"), Ok(false));
        for bad in ["a.b", "http:a.b", "http:///x"] {
            assert_eq!(uri(bad, "a.b"), Err(NAME_SYNTAX), "{bad}");
        }
    }

    #[test]
    fn addresses() {
        assert_eq!(address_is_in(&[10, 1, 2, 3], &[10, 9, 9, 9, 255, 0, 0, 0]), Ok(true));
        assert_eq!(address_is_in(&[11, 1, 2, 3], &[10, 0, 0, 0, 255, 0, 0, 0]), Ok(false));
        assert_eq!(address_is_in(&[0; 16], &[0; 8]), Ok(false));
        assert_eq!(address_is_in(&[0; 5], &[0; 8]), Err(NAME_SYNTAX));
        assert_eq!(address_is_in(&[0; 4], &[0; 5]), Err(NAME_SYNTAX));
    }

    #[test]
    fn common_names_that_are_hosts() {
        assert_eq!(as_host("a.example"), Ok(Some("a.example")));
        for other in ["example", "Some Body", "a..b", "-a.b", "a-.b", "*.a.b", ""] {
            assert_eq!(as_host(other), Ok(None), "{other}");
        }
        assert_eq!(as_host("a.b\0.c"), Err(NAME_SYNTAX));
    }
}
