//! Our reading of a DNS reply compared with hickory's: if both accept the message, they find the same
//! addresses, services and name at the end of the aliases. Our parser refuses more (limits) and skips
//! malformed records that answer no question, so a message that one of them refuses is not a finding.

use std::net::IpAddr;

use hickory_proto::op::Message;
use hickory_proto::rr::rdata::svcb::{SVCB, SvcParamKey, SvcParamValue};
use hickory_proto::rr::{DNSClass, Name as TheirName, RData, Record};
use wire::dns::{Answer, Binding, Kind, Name, Question, Reply};

/// Aliases that ours follows.
const MOST_ALIASES: usize = 16;

pub fn agrees(input: &[u8]) {
    let (Ok(reply), Ok(message)) = (Reply::parse(input), Message::from_vec(input)) else { return };
    let records: Vec<&Record> = message.answers.iter().filter(|r| r.dns_class == DNSClass::IN).collect();
    for kind in [Kind::A, Kind::Aaaa, Kind::Https] {
        let question = Question { name: Name::parse("a.example").expect("a name"), kind };
        let Ok(answer) = reply.answer(&question) else { continue };
        let Some(end) = end_of_chain(&records) else { panic!("ours found the end of a circle") };
        assert_eq!(lower(answer.name.octets()), octets(&end), "the end of the aliases");
        compare(kind, &answer, records.iter().filter(|record| record.name == end).map(|record| &record.data));
    }
}

fn compare<'a>(kind: Kind, answer: &Answer, theirs: impl Iterator<Item = &'a RData>) {
    let (mut addresses, mut services): (Vec<IpAddr>, Vec<&SVCB>) = (Vec::new(), Vec::new());
    for data in theirs {
        match (kind, data) {
            (Kind::A, RData::A(ip)) => addresses.push(ip.0.into()),
            (Kind::Aaaa, RData::AAAA(ip)) => addresses.push(ip.0.into()),
            (Kind::Https, RData::HTTPS(service)) => services.push(&service.0),
            _ => {}
        }
    }
    addresses.truncate(answer.addresses.len().max(256));
    assert_eq!(answer.addresses, addresses);
    services.retain(|service| is_usable(service));
    services.truncate(answer.bindings.len().max(256));
    services.sort_by_key(|service| service.svc_priority);
    assert_eq!(answer.bindings.len(), services.len(), "{:?}, {services:?}", answer.bindings);
    answer.bindings.iter().zip(services).for_each(|(ours, theirs)| same(ours, theirs));
}

/// Our parser skips a record that requires unknown keys, one that offers nothing, and an alias without a
/// target.
fn is_usable(service: &SVCB) -> bool {
    if service.svc_priority == 0 {
        return !service.target_name.is_root();
    }
    let has = |key| service.svc_params.iter().any(|(one, _)| *one == key);
    let demanded = service.svc_params.iter().find_map(|(_, value)| match value {
        SvcParamValue::Mandatory(keys) => Some(&keys.0),
        _ => None,
    });
    let known = demanded.into_iter().flatten().all(|key| (1..=6).contains(&u16::from(*key)));
    known && (has(SvcParamKey::Alpn) || !has(SvcParamKey::NoDefaultAlpn))
}

fn same(ours: &Binding, theirs: &SVCB) {
    assert_eq!(ours.priority, theirs.svc_priority);
    let target = ours.target.as_ref().map_or(vec![0], |name| lower(name.octets()));
    assert_eq!(target, octets(&theirs.target_name));
    let mut other = Binding { priority: ours.priority, target: ours.target.clone(), ..Binding::default() };
    // Parameters of an alias are ignored (RFC 9460, section 2.4.2).
    for (_, value) in theirs.svc_params.iter().filter(|_| ours.priority != 0) {
        match value {
            SvcParamValue::Alpn(list) => {
                other.alpn = list.0.iter().map(|name| name.clone().into_bytes()).collect()
            }
            SvcParamValue::NoDefaultAlpn => other.no_default_alpn = true,
            SvcParamValue::Port(port) => other.port = Some(*port),
            SvcParamValue::Ipv4Hint(list) => other.v4_hints = list.0.iter().map(|ip| ip.0).collect(),
            SvcParamValue::Ipv6Hint(list) => other.v6_hints = list.0.iter().map(|ip| ip.0).collect(),
            SvcParamValue::EchConfigList(list) => other.ech = Some(list.0.clone()),
            _ => {}
        }
    }
    other.alpn.truncate(32);
    other.v4_hints.truncate(32);
    other.v6_hints.truncate(32);
    let mut ours = ours.clone();
    // hickory converts protocols to text, whatever their octets are.
    for binding in [&mut ours, &mut other] {
        binding.alpn.retain(|name| name.is_ascii());
    }
    assert_eq!(ours, other);
}

/// The end of the aliases of a.example; `None` if the chain is longer than both follow.
fn end_of_chain(records: &[&Record]) -> Option<TheirName> {
    let mut name = TheirName::from_ascii("a.example.").expect("a name");
    for _ in 0..MOST_ALIASES {
        let alias = records.iter().find_map(|record| match &record.data {
            RData::CNAME(target) if record.name == name => Some(target.0.clone()),
            _ => None,
        });
        match alias {
            Some(target) => name = target,
            None => return Some(name),
        }
    }
    None
}

fn octets(name: &TheirName) -> Vec<u8> {
    let labels = name.iter().flat_map(|label| [&[label.len() as u8], label].concat());
    lower(&labels.chain([0]).collect::<Vec<u8>>())
}

fn lower(octets: &[u8]) -> Vec<u8> {
    octets.to_ascii_lowercase()
}
