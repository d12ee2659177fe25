//! The system's resolver, queried for one family: its rules (nsswitch, /etc/hosts, search domains) are
//! getaddrinfo's.
//!
//! Called for both families at once, getaddrinfo stops at the first source, and at the first search domain,
//! that knows either. Called separately, the two could come from different ones: a name of the hosts file
//! with its IPv4 address from there and an IPv6 address from DNS, where the name belongs to somebody else. So
//! where that is possible, it is called for both, and one family is used.

use std::net::SocketAddr;

use dns_lookup::{AddrFamily, AddrInfoHints, LookupErrorKind, SockType, getaddrinfo};

use super::family::{Family, Found, LookupResult, NoAnswer};
use super::hosts;

/// Maximum number of addresses kept of one answer.
const ADDRESSES: usize = 256;
/// AI_CANONNAME, the same everywhere (RFC 3493 names it, netdb.h numbers it).
const CANONICAL_NAME: i32 = 2;
/// glibc's EAI_ADDRFAMILY: there is no address of that family.
const NO_SUCH_FAMILY: i32 = -9;

/// A blocking look-up.
pub(super) fn ask(name: &str, family: Family) -> LookupResult {
    if !name.contains('.') || hosts::knows(name) {
        return of_both(name, family);
    }
    let kind = match family {
        Family::V4 => AddrFamily::Inet,
        Family::V6 => AddrFamily::Inet6,
    };
    match getaddrinfo_of(name, kind.into()) {
        Ok((_, Some(canonical))) if by_search(&canonical, name) => of_both(name, family),
        Ok((found, _)) => Ok(found),
        Err(e) => Err(e),
    }
}

fn of_both(name: &str, family: Family) -> LookupResult {
    let (mut found, _) = getaddrinfo_of(name, 0)?;
    found.retain(|(ip, _)| Family::of(ip) == family);
    Ok(found)
}

/// Whether a search domain was put behind the name.
fn by_search(canonical: &str, name: &str) -> bool {
    let Some((head, tail)) = canonical.split_at_checked(name.len()) else { return false };
    head.eq_ignore_ascii_case(name) && tail.len() > 1 && tail.starts_with('.')
}

fn getaddrinfo_of(name: &str, family: i32) -> Result<(Vec<Found>, Option<String>), NoAnswer> {
    let hints = AddrInfoHints {
        flags: CANONICAL_NAME,
        address: family,
        socktype: SockType::Stream.into(),
        ..AddrInfoHints::default()
    };
    match getaddrinfo(Some(name), None, Some(hints)) {
        Ok(all) => {
            let (mut found, mut canonical) = (Vec::new(), None);
            for one in all.flatten().take(ADDRESSES) {
                canonical = canonical.or(one.canonname);
                found.push(match one.sockaddr {
                    SocketAddr::V4(a) => ((*a.ip()).into(), 0),
                    SocketAddr::V6(a) => ((*a.ip()).into(), a.scope_id()),
                });
            }
            Ok((found, canonical))
        }
        Err(e) if e.error_num() == NO_SUCH_FAMILY => Ok((Vec::new(), None)),
        Err(e) => match e.kind() {
            LookupErrorKind::NoName | LookupErrorKind::NoData => Ok((Vec::new(), None)),
            _ => Err(NoAnswer),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_domain_shows_in_the_canonical_name() {
        assert!(by_search("www.A.example.corp", "www.a.example"));
        assert!(
            !by_search("www.a.example", "www.a.example") && !by_search("www.a.example.", "www.a.example")
        );
        assert!(!by_search("cdn.example", "www.a.example") && !by_search("www.a.examples", "www.a.example"));
    }

    #[test]
    fn the_system_tells_families_apart() {
        let ip = |text: &str| (text.parse().unwrap(), 0);
        assert_eq!(ask("127.0.0.1.", Family::V6).unwrap_or_default(), []);
        assert!(ask("localhost", Family::V4).unwrap().iter().all(|found| *found == ip("127.0.0.1")));
    }
}
