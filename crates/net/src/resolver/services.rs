//! What HTTPS records make of addresses (RFC 9460 section 3): candidates with a port, protocols and keys of their own.

use std::net::SocketAddr;
use std::sync::Arc;

use wire::dns::Binding;

use super::IpVersion;
use super::candidates::Candidate;

/// What goes without saying (section 7.1.2).
const DEFAULT: &[u8] = b"http/1.1";

/// Candidates at addresses of the host itself: as each service offers them, and as if no record spoke of them.
pub(super) fn spoken(services: &[Binding], list: &[SocketAddr]) -> Vec<Candidate> {
    let mut candidates = Vec::with_capacity(list.len());
    for service in services.iter().filter(|service| service.target.is_none()) {
        candidates.extend(list.iter().map(|address| candidate(service, *address)));
    }
    for address in list {
        if !candidates.iter().any(|known| known.address == *address) {
            candidates.push(Candidate::from(*address));
        }
    }
    candidates
}

/// All that the services offer, the best first: at the host's addresses, and at those that hint at another name's. Where there
/// are no hints the host itself has to do: nobody waits for one more look-up.
pub(super) fn offered(
    services: &[Binding],
    told: &[SocketAddr],
    port: u16,
    ip_version: IpVersion,
) -> Vec<Candidate> {
    let mut candidates = spoken(services, told);
    candidates.retain(|candidate| candidate.priority != u16::MAX);
    for service in services.iter().filter(|service| service.target.is_some() && !service.is_alias()) {
        let six = service.v6_hints.iter().map(|ip| SocketAddr::from((*ip, port)));
        let four = service.v4_hints.iter().map(|ip| SocketAddr::from((*ip, port)));
        let hints = six.chain(four).filter(|a| ip_version.admits(&a.ip()));
        candidates.extend(hints.map(|address| candidate(service, address)));
    }
    candidates.sort_by_key(|candidate| candidate.priority);
    candidates
}

fn candidate(service: &Binding, mut address: SocketAddr) -> Candidate {
    if let Some(port) = service.port {
        address.set_port(port);
    }
    let default = (!service.no_default_alpn).then(|| DEFAULT.to_vec());
    let more = default.filter(|name| !service.alpn.contains(name));
    let protocols: Vec<Vec<u8>> = service.alpn.iter().cloned().chain(more).collect();
    Candidate {
        address,
        priority: service.priority,
        protocols: Some(protocols.into()),
        ech: service.ech.as_deref().map(Arc::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::dns::Name;

    #[test]
    fn services_and_addresses_make_candidates() {
        let own = Binding {
            priority: 2,
            alpn: vec![b"h2".to_vec()],
            port: Some(8443),
            ech: Some(b"config".to_vec()),
            ..Binding::default()
        };
        let elsewhere = Binding {
            priority: 1,
            target: Some(Name::parse("cdn.example").unwrap()),
            alpn: vec![b"h3".to_vec()],
            no_default_alpn: true,
            v4_hints: vec![[10, 0, 0, 9].into()],
            v6_hints: vec![[0xfd; 16].into()],
            ..Binding::default()
        };
        let told = ["10.0.0.1:443".parse().unwrap()];
        let services = [elsewhere, own];
        let shown = |list: &[Candidate]| {
            let one = |c: &Candidate| (c.address.to_string(), c.priority, c.ech.is_some());
            list.iter().map(one).collect::<Vec<_>>()
        };
        let own = ("10.0.0.1:8443".to_owned(), 2, true);
        let plain = ("10.0.0.1:443".to_owned(), u16::MAX, false);
        assert_eq!(shown(&spoken(&services, &told)), [own.clone(), plain.clone()]);
        assert_eq!(shown(&spoken(&[], &told)), [plain]);
        let hint = ("10.0.0.9:443".to_owned(), 1, false);
        let all = offered(&services, &told, 443, IpVersion::V4);
        assert_eq!(shown(&all), [hint, own]);
        let protocols = |at: usize| all[at].protocols.as_ref().unwrap().join(&b' ');
        assert_eq!((protocols(0), protocols(1)), (b"h3".to_vec(), b"h2 http/1.1".to_vec()));
    }
}
