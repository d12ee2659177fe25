//! URLs compared with the crate url, which follows the URL Standard: if both accept one, they find the same
//! scheme, login, host, port, path, query and fragment, and if both resolve a reference, the result is the
//! same. The classic attack is a URL that two programs read as two hosts: one checks and allows it, the other
//! sends the request. URLs that match the grammar of RFC 3986 both must accept.
//!
//! The part on which curl's rules (docs/URL-SYNTAX.md) and the Standard agree:
//! - printable ASCII without a backslash, which is a slash there and refused here;
//! - http, https, ftp, ws, wss, with two slashes; "http:/x" has a host here and there, but as a reference it
//!   is a path there;
//! - up to one "@" before the path: a second one belongs to the login there, and is refused here;
//! - a number must have digits: "0x" is zero there and a name here;
//! - no "/c:" in a path: the crate keeps what looks like a drive before "..", while the Standard does so only
//!   for file URLs;
//! - paths, queries and fragments except for the encoding of octets that the Standard encodes and curl sends
//!   unchanged.

use std::net::Ipv6Addr;

use arbitrary::Unstructured;
use url::{Host, Url as Theirs};
use wire::escape::{self, Reject};
use wire::url::Url;

use crate::{goes_on, one_of};

const SCHEMES: [&str; 5] = ["http", "https", "ftp", "ws", "wss"];

pub fn agrees(input: &[u8]) {
    let Some((&way, rest)) = input.split_first() else { return };
    if way & 1 == 0 {
        let mut lines =
            rest.split(|octet| *octet == b'\n').map(|line| std::str::from_utf8(line).unwrap_or(""));
        let (base, reference) = (lines.next().unwrap_or(""), lines.next());
        if let Some((ours, theirs)) = both(base)
            && let Some(reference) = reference.filter(|reference| is_common_reference(reference))
        {
            resolve(&ours, &theirs, reference);
        }
        return;
    }
    let mut choices = Unstructured::new(rest);
    let text = by_the_grammar(&mut choices);
    if !is_common(&text) {
        return;
    }
    let (ours, theirs) = both(&text).unwrap_or_else(|| panic!("{text} is a URL for both"));
    let reference = reference_by_the_grammar(&mut choices);
    if is_common_reference(&reference) {
        assert!(resolve(&ours, &theirs, &reference), "{reference} can be resolved");
    }
}

/// The result of both, if both accept the input.
fn both(text: &str) -> Option<(Url, Theirs)> {
    if !is_common(text) {
        return None;
    }
    let (ours, theirs) = (Url::parse(text.as_bytes(), 0).ok()?, Theirs::parse(text).ok()?);
    compare(&ours, &theirs, text);
    Some((ours, theirs))
}

fn resolve(ours: &Url, theirs: &Theirs, reference: &str) -> bool {
    let mut resolved = ours.clone();
    let (Ok(()), Ok(other)) =
        (resolved.set(wire::url::Part::Url, Some(reference.as_bytes()), 0), theirs.join(reference))
    else {
        return false;
    };
    compare(&resolved, &other, &format!("{reference} at {theirs}"));
    true
}

fn is_common(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest[..end].rsplit('@').next().unwrap_or("");
    text.bytes().all(|octet| octet.is_ascii_graphic() && octet != b'\\')
        && SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme))
        && !rest.starts_with('/')
        && rest[..end].matches('@').count() <= 1
        && !host.split(['.', ':']).any(|label| label.eq_ignore_ascii_case("0x"))
        && !names_a_drive(&rest[end..])
}

fn names_a_drive(path: &str) -> bool {
    path.as_bytes()
        .windows(3)
        .any(|part| matches!(part, [b'/', letter, b':' | b'|'] if letter.is_ascii_alphabetic()))
}

/// A complete URL, or no scheme at all.
fn is_common_reference(reference: &str) -> bool {
    let colon = reference.find([':', '/', '?', '#']).is_some_and(|at| reference[at..].starts_with(':'));
    let authority = reference.strip_prefix("//").map(|rest| format!("http://{rest}"));
    is_common(reference)
        || !colon
            && authority.map_or(!names_a_drive(&format!("/{reference}")), |text| is_common(&text))
            && reference.bytes().all(|octet| octet.is_ascii_graphic() && octet != b'\\')
}

fn compare(ours: &Url, theirs: &Theirs, text: &str) {
    let said = |what: &str| format!("{what} of {text}: {ours:?}, {theirs:?}");
    assert_eq!(ours.scheme().as_deref(), Some(theirs.scheme()), "{}", said("scheme"));
    let host = ours.host_ascii().map(|host| String::from_utf8_lossy(&host).into_owned());
    match (theirs.host(), host) {
        (Some(Host::Ipv6(address)), Ok(host)) => {
            let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
            assert_eq!(
                inner.and_then(|host| host.parse::<Ipv6Addr>().ok()),
                Some(address),
                "{}",
                said("host")
            );
        }
        (Some(other), Ok(host)) => assert_eq!(host, other.to_string(), "{}", said("host")),
        (other, host) => panic!("{}: {host:?}, {other:?}", said("host")),
    }
    assert_eq!(ours.port_or_default(), theirs.port_or_known_default(), "{}", said("port"));
    let decoded = |text: &[u8]| escape::decode(text, Reject::Nothing).expect("nothing is rejected");
    let login = |ours: Option<&[u8]>, theirs: &str| {
        assert_eq!(decoded(ours.unwrap_or_default()), decoded(theirs.as_bytes()), "{}", said("login"));
    };
    login(ours.user(), theirs.username());
    login(ours.password(), theirs.password().unwrap_or(""));
    let alike = |ours: Option<&[u8]>, theirs: Option<&str>| {
        assert_eq!(ours.map(encoded), theirs.map(|text| encoded(text.as_bytes())), "{}", said("the rest"));
    };
    alike(Some(ours.path()), Some(theirs.path()));
    alike(ours.query(), theirs.query());
    alike(ours.fragment(), theirs.fragment());
}

/// Encodes all octets that any encode set of the Standard contains, and makes all digits after `%` upper
/// case: the Standard leaves those unchanged, ours and curl do not in references.
fn encoded(text: &[u8]) -> String {
    let raw = |octet: &u8| !octet.is_ascii_graphic() || b"\"#<>?`{}'^|".contains(octet);
    let encode = |octet: &u8| if raw(octet) { format!("%{octet:02X}") } else { char::from(*octet).into() };
    let mut all: Vec<u8> = text.iter().map(encode).collect::<String>().into_bytes();
    for at in 0..all.len().saturating_sub(2) {
        if all[at] == b'%' && all[at + 1..at + 3].iter().all(u8::is_ascii_hexdigit) {
            all[at + 1..at + 3].make_ascii_uppercase();
        }
    }
    String::from_utf8(all).expect("ASCII alone")
}

/// RFC 3986, appendix A, with a host that is a name in lower and upper case, an address of either kind.
fn by_the_grammar(choices: &mut Unstructured) -> String {
    let scheme = one_of(choices, &["http", "https", "ftp", "HTTP", "ws", "wSs"]);
    let login = match one_of(choices, &[0, 0, 1, 2]) {
        0 => String::new(),
        1 => format!("{}@", run(choices, "")),
        _ => format!("{}:{}@", run(choices, ""), run(choices, ":")),
    };
    let name =
        ["host.example", "a", "Sub.Host.Example.", "xn--bcher-kva.example", "a-b.c1.example", "1a.example"];
    let host = match one_of(choices, &[0, 0, 0, 1, 1, 2]) {
        0 => one_of(choices, &name).to_owned(),
        1 => {
            let number = choices.arbitrary::<u32>().unwrap_or(0);
            let [a, b, c, d] = number.to_be_bytes();
            match one_of(choices, &[0, 1, 2, 3, 4]) {
                0 => format!("{a}.{b}.{c}.{d}"),
                1 => format!("{number}"),
                2 => format!("{number:#x}"),
                3 => format!("{a:#o}.{}", number & 0xff_ffff).replace("0o", "0"),
                _ => format!("{a}.{b:#X}.{}.", number & 0xffff).replace("0X", "0x"),
            }
        }
        _ => format!("[{}]", Ipv6Addr::from(choices.arbitrary::<u128>().unwrap_or(1))),
    };
    let port = match one_of(choices, &[0, 0, 1, 2]) {
        0 => String::new(),
        1 => ":".to_owned(),
        _ => format!(":{}", choices.arbitrary::<u16>().unwrap_or(80)),
    };
    let path = if one_of(choices, &[true, false]) { path(choices) } else { String::new() };
    format!("{scheme}://{login}{host}{port}{path}{}", tail(choices))
}

fn reference_by_the_grammar(choices: &mut Unstructured) -> String {
    match one_of(choices, &[0, 1, 2, 3, 4]) {
        0 => path(choices) + &tail(choices),
        1 => format!("{}{}", path(choices).trim_start_matches('/'), tail(choices)),
        2 => format!("//{}host.example{}{}", one_of(choices, &["", "u@"]), path(choices), tail(choices)),
        3 => by_the_grammar(choices),
        _ => tail(choices),
    }
}

/// Begins with one slash; the next one follows a segment, so that none of it is a host.
fn path(choices: &mut Unstructured) -> String {
    let mut path = format!("/{}", one_of(choices, &["a", ".", "..", "b", "%2e", "c."]));
    while goes_on(choices) && path.len() < 100 {
        path += "/";
        path += &match one_of(choices, &[0, 1, 2, 3, 4, 5, 6]) {
            0 => ".".to_owned(),
            1 => "..".to_owned(),
            2 => one_of(choices, &["%2e", "%2E.", ".%2e", "...", "%2f"]).to_owned(),
            3 => String::new(),
            _ => run(choices, ":@"),
        };
    }
    path
}

fn tail(choices: &mut Unstructured) -> String {
    let query =
        if one_of(choices, &[true, false]) { format!("?{}", run(choices, ":@/?")) } else { String::new() };
    let fragment =
        if one_of(choices, &[true, false]) { format!("#{}", run(choices, ":@/?")) } else { String::new() };
    query + &fragment
}

/// Unreserved characters, sub-delims, encoded octets, and these.
fn run(choices: &mut Unstructured, also: &str) -> String {
    let mut text = String::new();
    while goes_on(choices) && text.len() < 40 {
        let also = if also.is_empty() { "a" } else { also };
        text += &match one_of(choices, &[0, 1, 2, 3]) {
            0 => char::from(one_of(choices, b"abcXYZ0189-._~")).to_string(),
            1 => char::from(one_of(choices, b"!$&'()*+,;=")).to_string(),
            2 => char::from(one_of(choices, also.as_bytes())).to_string(),
            _ => format!("%{:02X}", choices.int_in_range(1..=255).unwrap_or(0x20)),
        };
    }
    text
}
