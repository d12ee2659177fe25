//! The text of a policy. One statement a line; an unknown word, a value out of range or a pattern that could
//! never match is an error, because a rule that is not understood would not protect.

use std::fmt;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::sync::Arc;

use tables::Scheme;

use super::address::{AddressSet, Network};
use super::{HostPattern, LeastTls, Line, Pin, Rule, UnixName, comparable};
use crate::base64;
use crate::url::Url;

/// Largest policy in bytes.
pub const MAX_SIZE: usize = 1 << 20;
/// The statement that a policy begins with.
const FIRST: &str = "version 1";
/// Most characters of a word that an error shows.
const MAX_SHOWN: usize = 60;

/// The statements of a policy, by kind, in their order.
#[derive(Debug, Default)]
pub(super) struct Statements {
    /// `None` is any scheme.
    pub schemes: Vec<Rule<Option<String>>>,
    pub hosts: Vec<Rule<HostPattern>>,
    pub ports: Vec<Rule<RangeInclusive<u16>>>,
    pub addresses: Vec<Rule<AddressSet>>,
    pub proxies: Vec<Rule<(HostPattern, RangeInclusive<u16>)>>,
    pub lookups: Vec<Rule<HostPattern>>,
    pub unix: Vec<Rule<UnixName>>,
    pub least_tls: Option<LeastTls>,
    pub pins: Vec<Pin>,
}

/// An error in the text of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ParseError {
    /// The line's number; 0 for the whole file.
    pub line: usize,
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "line {line}: {}", self.message),
        }
    }
}

/// Parses a policy.
pub(super) fn statements(text: &[u8]) -> Result<Statements, ParseError> {
    let whole = |message: String| ParseError { line: 0, message };
    if text.len() > MAX_SIZE {
        return Err(whole(format!("it is larger than {MAX_SIZE} bytes")));
    }
    let text = std::str::from_utf8(text).map_err(|_| whole("it is not UTF-8 text".to_owned()))?;
    let mut found = Statements::default();
    let mut begun = false;
    for (line, number) in text.split('\n').zip(1..) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let at = |message: String| ParseError { line: number, message };
        if line.chars().any(|c| c.is_control() && c != '\t') {
            return Err(at("it has a control character".to_owned()));
        }
        let words: Vec<&str> = line
            .split([' ', '\t'])
            .filter(|word| !word.is_empty())
            .take_while(|w| !w.starts_with('#'))
            .collect();
        if words.is_empty() {
            continue;
        }
        let line = words.join(" ");
        if !begun {
            if line != FIRST {
                return Err(at(format!("a policy begins with \"{FIRST}\", not with \"{}\"", shown(&line))));
            }
            begun = true;
            continue;
        }
        let line = Arc::new(Line { number, text: shown(&line) });
        found.add(&line, &words).map_err(at)?;
    }
    match begun {
        true => Ok(found),
        false => Err(whole(format!("it is empty; a policy begins with \"{FIRST}\""))),
    }
}

impl Statements {
    fn add(&mut self, line: &Arc<Line>, words: &[&str]) -> Result<(), String> {
        match *words {
            ["allow" | "deny", _] => Err("it names no value".to_owned()),
            ["allow", kind, ref values @ ..] => self.add_rules(line, true, kind, values),
            ["deny", kind, ref values @ ..] => self.add_rules(line, false, kind, values),
            ["tls", "min", version] => {
                if self.least_tls.is_some() {
                    return Err("\"tls min\" is there twice".to_owned());
                }
                self.least_tls = Some(match version {
                    "1.2" => LeastTls::Tls12,
                    "1.3" => LeastTls::Tls13,
                    other => {
                        return Err(format!("the least TLS version is 1.2 or 1.3, not \"{}\"", shown(other)));
                    }
                });
                Ok(())
            }
            ["pin", host, ref hashes @ ..] if !hashes.is_empty() => {
                let host = host_pattern(host)?;
                let hashes = hashes.iter().map(|word| hash(word)).collect::<Result<_, _>>()?;
                self.pins.push(Pin { host, hashes });
                Ok(())
            }
            _ => Err(format!(
                "\"{}\" is not a statement; a line begins with allow, deny, \"tls min\" or pin",
                shown(&words.join(" "))
            )),
        }
    }

    fn add_rules(
        &mut self,
        line: &Arc<Line>,
        allow: bool,
        kind: &str,
        values: &[&str],
    ) -> Result<(), String> {
        fn add<T>(
            to: &mut Vec<Rule<T>>,
            (line, allow): (&Arc<Line>, bool),
            values: &[&str],
            parse: impl Fn(&str) -> Result<T, String>,
        ) -> Result<(), String> {
            for value in values {
                to.push(Rule { line: line.clone(), allow, value: parse(value)? });
            }
            Ok(())
        }
        let head = (line, allow);
        match kind {
            "scheme" => add(&mut self.schemes, head, values, scheme),
            "host" => add(&mut self.hosts, head, values, host_pattern),
            "port" => add(&mut self.ports, head, values, ports),
            "address" => add(&mut self.addresses, head, values, address_set),
            "proxy" => add(&mut self.proxies, head, values, proxy),
            "lookup-by-proxy" => add(&mut self.lookups, head, values, host_pattern),
            // A path has many spellings, of which a rule would refuse one.
            "unix" if !allow => Err("unix sockets can only be allowed; others are refused".to_owned()),
            "unix" => add(&mut self.unix, head, values, unix_name),
            other => Err(format!(
                "\"{}\" is none of scheme, host, port, address, proxy, lookup-by-proxy and unix",
                shown(other)
            )),
        }
    }
}

fn scheme(word: &str) -> Result<Option<String>, String> {
    if word == "*" {
        return Ok(None);
    }
    let name = word.to_ascii_lowercase();
    match Scheme::from_name(&name) {
        Some(_) => Ok(Some(name)),
        None => Err(format!("\"{}\" is not a scheme that URLs may have here", shown(word))),
    }
}

/// Reduces a host to the form that the URL's parser gives: so `0x7f.1` and `127.0.0.1` are one pattern, and
/// `bücher.example` and `xn--bcher-kva.example` are.
fn host_pattern(word: &str) -> Result<HostPattern, String> {
    if word == "*" {
        return Ok(HostPattern::Any);
    }
    let wrong = || format!("\"{}\" is not a host, *.DOMAIN or *", shown(word));
    let (below, rest) = match word.strip_prefix("*.") {
        Some(rest) => (true, rest),
        None => (false, word),
    };
    if rest.is_empty() || rest.contains(['*', '/', '?', '#', '@', '\\', '%']) {
        return Err(wrong());
    }
    // Brackets are the URL's; a bare IPv6 address needs them here, and a port is no part of a host.
    let bare_v6 = rest.parse::<std::net::Ipv6Addr>().is_ok();
    if !bare_v6 && !rest.starts_with('[') && rest.contains(':') {
        return Err(format!("{}; a port has its own line", wrong()));
    }
    let url = if bare_v6 { format!("http://[{rest}]/") } else { format!("http://{rest}/") };
    let url = Url::parse(url.as_bytes(), 0).map_err(|_| wrong())?;
    let host = url.host_ascii().ok().and_then(|host| String::from_utf8(host).ok()).ok_or_else(wrong)?;
    let host = comparable(&host);
    match below {
        true if host.parse::<IpAddr>().is_ok() => Err(wrong()),
        true => Ok(HostPattern::Below(format!(".{host}"))),
        false => Ok(HostPattern::Exact(host)),
    }
}

fn ports(word: &str) -> Result<RangeInclusive<u16>, String> {
    let wrong = || format!("\"{}\" is not a port, FROM-TO or *", shown(word));
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u16>().ok().filter(|_| digits).ok_or_else(wrong)
    };
    if word == "*" {
        return Ok(0..=u16::MAX);
    }
    let (from, to) = word.split_once('-').unwrap_or((word, word));
    let (from, to) = (number(from)?, number(to)?);
    if from > to { Err(wrong()) } else { Ok(from..=to) }
}

fn address_set(word: &str) -> Result<AddressSet, String> {
    let wrong = || {
        format!(
            "\"{}\" is not an address, NETWORK/PREFIX, public, loopback, private, link-local or *",
            shown(word)
        )
    };
    Ok(match word {
        "*" => AddressSet::Any,
        "public" => AddressSet::Public,
        "loopback" => AddressSet::Loopback,
        "private" => AddressSet::Private,
        "link-local" => AddressSet::LinkLocal,
        _ => {
            let (address, prefix) = match word.split_once('/') {
                Some((address, prefix)) => (address, Some(prefix)),
                None => (word, None),
            };
            let first: IpAddr = address.parse().map_err(|_| wrong())?;
            let width = if first.is_ipv4() { 32 } else { 128 };
            let digits = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let prefix = match prefix {
                None => width,
                Some(text) => {
                    let number = Some(text).filter(digits).and_then(|text| text.parse().ok());
                    number.filter(|prefix| *prefix <= width).ok_or_else(wrong)?
                }
            };
            let network = Network { first, prefix };
            if !is_first(network) {
                return Err(format!("\"{}\" has bits beyond its prefix", shown(word)));
            }
            if let IpAddr::V6(v6) = first
                && prefix >= 96
                && v6.to_ipv4_mapped().is_some()
            {
                return Err(format!("\"{}\" holds IPv4 addresses: write them as IPv4", shown(word)));
            }
            AddressSet::Network(network)
        }
    })
}

/// Returns whether no bit beyond the prefix is set.
fn is_first(Network { first, prefix }: Network) -> bool {
    let (bits, width) = match first {
        IpAddr::V4(v4) => (u128::from(u32::from(v4)), 32),
        IpAddr::V6(v6) => (u128::from(v6), 128),
    };
    let beyond = width - u32::from(prefix);
    beyond == 0 || bits.trailing_zeros() >= beyond || bits == 0
}

fn proxy(word: &str) -> Result<(HostPattern, RangeInclusive<u16>), String> {
    let wrong = || format!("\"{}\" is not HOST:PORT of a proxy", shown(word));
    if word.contains("://") {
        return Err(format!("{}; it has no scheme", wrong()));
    }
    let (host, port) = word.rsplit_once(':').ok_or_else(wrong)?;
    let bracketed = host.starts_with('[') && host.ends_with(']');
    if host.contains(':') && !bracketed {
        return Err(wrong());
    }
    Ok((host_pattern(host)?, ports(port)?))
}

fn unix_name(word: &str) -> Result<UnixName, String> {
    match word.strip_prefix('@') {
        Some(name) if !name.is_empty() => Ok(UnixName::Abstract(name.to_owned())),
        None if word.starts_with('/') => Ok(UnixName::Path(word.to_owned())),
        _ => Err(format!("\"{}\" is not the absolute path of a socket or @NAME", shown(word))),
    }
}

fn hash(word: &str) -> Result<String, String> {
    let digest = word.strip_prefix("sha256//").and_then(|text| base64::decode(text.as_bytes()));
    match digest.is_some_and(|digest| digest.len() == 32) {
        true => Ok(word.to_owned()),
        false => Err(format!("\"{}\" is not sha256// and the base64 of a SHA-256", shown(word))),
    }
}

/// Returns a text as errors show it.
fn shown(text: &str) -> String {
    let short: String = text.chars().take(MAX_SHOWN).collect();
    let rest = if short.len() < text.len() { "..." } else { "" };
    format!("{}{rest}", short.escape_debug())
}
