//! HTTPS records (RFC 9460 section 3): querying them, and combining them with addresses to candidates with a
//! port, protocols and keys.

use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use wire::dns::{Binding, Kind, Name, Question};

use super::cache::Lasting;
use super::candidate::Candidate;
use super::family::{Family, NoAnswer};
use super::means::{NameServers, PendingAnswer};
use super::options::IpVersion;

/// Names that an alias leads to, one after the other.
const MOST_ALIASES: usize = 4;
/// Maximum number of target names whose addresses are queried.
const MOST_TARGETS: usize = 2;
/// Where an alias leads to a name of which no record speaks: behind all services, before the host itself
/// (section 3).
const ALIAS_ALONE: u16 = u16::MAX - 1;

/// Returns the services of a host. Aliases are followed (section 2.4.2). If a service has another target name
/// and no address hints, its addresses are queried and used as hints.
pub(super) async fn look_for(
    servers: Rc<dyn NameServers>,
    mut question: Question,
    ip_version: IpVersion,
) -> Result<Lasting<Binding>, NoAnswer> {
    let (mut alias, mut ttl): (Option<Name>, Option<u32>) = (None, None);
    let mut services = Vec::new();
    for _ in 0..=MOST_ALIASES {
        let answer = servers.ask(question, false).await?;
        ttl = [ttl, answer.ttl].into_iter().flatten().min();
        let Some(target) = answer.bindings.first().filter(|first| first.is_alias()) else {
            services = answer.bindings;
            if let Some(alias) = alias.as_ref().filter(|_| services.is_empty()) {
                let target = Some(alias.clone());
                services.push(Binding { priority: ALIAS_ALONE, target, ..Binding::default() });
            }
            break;
        };
        question = Question { name: target.target.clone().ok_or(NoAnswer)?, kind: Kind::Https };
        alias = Some(question.name.clone());
    }
    services.retain(|service| !service.is_alias());
    for service in &mut services {
        service.target = service.target.take().or_else(|| alias.clone());
    }
    let bare = |service: &&mut Binding| service.v4_hints.is_empty() && service.v6_hints.is_empty();
    for service in services.iter_mut().filter(bare).take(MOST_TARGETS) {
        let Some(target) = service.target.clone() else { continue };
        for ip in addresses(&servers, &target, ip_version).await {
            match ip {
                IpAddr::V4(ip) => service.v4_hints.push(ip),
                IpAddr::V6(ip) => service.v6_hints.push(ip),
            }
        }
    }
    Ok((services, ttl.map(|seconds| Duration::from_secs(seconds.into()))))
}

/// Queries the addresses of a name for both families at once.
async fn addresses(servers: &Rc<dyn NameServers>, name: &Name, ip_version: IpVersion) -> Vec<IpAddr> {
    let question = |family: &Family| Question { name: name.clone(), kind: family.kind() };
    let mut out: Vec<PendingAnswer> =
        ip_version.families().map(|family| servers.ask(question(family), false)).collect();
    let mut found = Vec::new();
    poll_fn(|cx| {
        out.retain_mut(|asked| match asked.as_mut().poll(cx) {
            Poll::Ready(answer) => {
                found.extend(answer.into_iter().flat_map(|answer| answer.addresses));
                false
            }
            Poll::Pending => true,
        });
        if out.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    found
}

/// The default ALPN name (section 7.1.2).
const DEFAULT: &[u8] = b"http/1.1";

/// The protocols that are spoken at the services, the best service first, each in the order of its record.
pub(super) fn protocols(services: &[Binding]) -> Vec<Vec<u8>> {
    services.iter().flat_map(spoken_at).collect()
}

/// The set of one service (section 7.1.2).
fn spoken_at(service: &Binding) -> Vec<Vec<u8>> {
    let default = (!service.no_default_alpn).then(|| DEFAULT.to_vec());
    let more = default.filter(|name| !service.alpn.contains(name));
    service.alpn.iter().cloned().chain(more).collect()
}

/// Returns candidates at addresses of the host itself: with the parameters of each service, and without a
/// record, for clients that do not support any of the services' protocols.
pub(super) fn spoken(services: &[Binding], list: &[SocketAddr]) -> Vec<Candidate> {
    let mut candidates = Vec::with_capacity(list.len());
    for service in services.iter().filter(|service| service.target.is_none()) {
        candidates.extend(list.iter().map(|address| candidate(service, *address)));
    }
    candidates.extend(list.iter().map(|address| Candidate::from(*address)));
    candidates
}

/// All that the services offer, the best first: at the host's addresses, and at another name's.
pub(super) fn offered(
    services: &[Binding],
    addresses: &[SocketAddr],
    port: u16,
    ip_version: IpVersion,
) -> Vec<Candidate> {
    let mut candidates = spoken(services, addresses);
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
    Candidate {
        address,
        priority: service.priority,
        protocols: (service.priority != ALIAS_ALONE).then(|| spoken_at(service).into()),
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
        let addresses = ["10.0.0.1:443".parse().unwrap()];
        let services = [elsewhere, own];
        let shown = |list: &[Candidate]| {
            let one = |c: &Candidate| (c.address.to_string(), c.priority, c.ech.is_some());
            list.iter().map(one).collect::<Vec<_>>()
        };
        let own = ("10.0.0.1:8443".to_owned(), 2, true);
        let plain = ("10.0.0.1:443".to_owned(), u16::MAX, false);
        assert_eq!(shown(&spoken(&services, &addresses)), [own.clone(), plain.clone()]);
        assert_eq!(shown(&spoken(&[], &addresses)), [plain]);
        let hint = ("10.0.0.9:443".to_owned(), 1, false);
        let all = offered(&services, &addresses, 443, IpVersion::V4);
        assert_eq!(shown(&all), [hint, own]);
        let protocols = |at: usize| all[at].protocols.as_ref().unwrap().join(&b' ');
        assert_eq!((protocols(0), protocols(1)), (b"h3".to_vec(), b"h2 http/1.1".to_vec()));
    }
}
