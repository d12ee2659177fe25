//! The entries of CURLOPT_RESOLVE: `[+]HOST:PORT:ADDRESS[,ADDRESS]...` and `-HOST:PORT`.
//!
//! HOST may be `*` for every host, or an IPv6 address in brackets; ADDRESS may be bracketed. With `+` the
//! entry ages as if it had been looked up.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use super::options::Addresses;
use crate::error::{NetError, NetErrorKind};

/// Whether an entry says the addresses of this host, which is in lower case.
pub fn speaks_of(entry: &str, host: &str, port: u16) -> bool {
    match Pin::parse(entry) {
        Ok(Pin::Add { host: named, port: at, .. }) => at == port && (named == host || named == "*"),
        _ => false,
    }
}

#[derive(Debug, PartialEq)]
pub(super) enum Pin {
    Add {
        host: String,
        port: u16,
        addresses: Arc<Addresses>,
        lasting: bool,
    },
    Remove {
        host: String,
        port: u16,
    },
    /// An entry without a host, or a removal without a name: ignored, as in curl.
    Nothing,
}

impl Pin {
    pub(super) fn parse(entry: &str) -> Result<Pin, NetError> {
        Pin::read(entry).ok_or_else(|| {
            let message = format!("Could not parse CURLOPT_RESOLVE entry '{entry}'");
            NetError::new(NetErrorKind::BadFunctionArgument, message)
        })
    }

    fn read(entry: &str) -> Option<Pin> {
        if let Some(rest) = entry.strip_prefix('-') {
            let named = host_and_port(rest).and_then(|(host, port)| Some((host, number(port)?)));
            return Some(named.map_or(Pin::Nothing, |(host, port)| Pin::Remove { host, port }));
        }
        let rest = entry.strip_prefix('+');
        // Without a host it pins nothing.
        if matches!(rest.unwrap_or(entry).as_bytes(), [] | [b':', ..]) {
            return Some(Pin::Nothing);
        }
        let (host, rest_of) = host_and_port(rest.unwrap_or(entry))?;
        let (port, list) = rest_of.split_once(':')?;
        let port = number(port)?;
        let addresses = list.split(',').filter(|a| !a.is_empty()).map(|a| address(a, port));
        let list = addresses.collect::<Option<Vec<SocketAddr>>>()?;
        let addresses = (!list.is_empty()).then(|| Arc::new(Addresses { list }))?;
        Some(Pin::Add { host, port, addresses, lasting: rest.is_none() })
    }
}

/// Returns the host in lower case, and the text after its colon.
fn host_and_port(text: &str) -> Option<(String, &str)> {
    let (host, rest) = match text.strip_prefix('[') {
        Some(inner) => {
            let (host, rest) = inner.split_once(']')?;
            (host, rest.strip_prefix(':')?)
        }
        None => text.split_once(':')?,
    };
    (!host.is_empty()).then(|| (host.to_ascii_lowercase(), rest))
}

/// Parses a port: only digits, without a sign.
fn number(text: &str) -> Option<u16> {
    text.starts_with(|first: char| first.is_ascii_digit()).then(|| text.parse().ok())?
}

fn address(text: &str, port: u16) -> Option<SocketAddr> {
    let bare = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    Some(SocketAddr::new(bare.parse::<IpAddr>().ok()?, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(entry: &str) -> (String, u16, Vec<String>, bool) {
        match Pin::parse(entry).unwrap() {
            Pin::Add { host, port, addresses, lasting } => {
                (host, port, addresses.list.iter().map(|a| a.ip().to_string()).collect(), lasting)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn forms() {
        assert_eq!(add("A.example:80:127.0.0.1"), ("a.example".into(), 80, vec!["127.0.0.1".into()], true));
        assert_eq!(
            add("+a:80:[::1],10.0.0.1"),
            ("a".into(), 80, vec!["::1".into(), "10.0.0.1".into()], false)
        );
        assert_eq!(add("a:80:::1").2, ["::1"]);
        assert_eq!(add("*:443:1.2.3.4").0, "*");
        assert_eq!(add("[fe80::1]:1:1.2.3.4").0, "fe80::1");
        assert_eq!(Pin::parse("-a").unwrap(), Pin::Nothing);
        assert!(Pin::parse("a:+80:1.2.3.4").is_err(), "a port has no sign");
        for entry in ["", "+", ":", ":80:1.2.3.4", "+::1.2.3.4"] {
            assert_eq!(Pin::parse(entry).unwrap(), Pin::Nothing, "{entry}: no host");
        }
        assert_eq!(Pin::parse("-A:80").unwrap(), Pin::Remove { host: "a".into(), port: 80 });
    }

    #[test]
    fn nonsense_is_refused_with_the_entry_in_the_text() {
        for entry in
            ["a", "a:80", "a:80:", "a:port:1.2.3.4", "a:80:name", "a:99999:1.2.3.4", "[::1:80:1.1.1.1"]
        {
            let error = Pin::parse(entry).unwrap_err();
            assert!(error.message.ends_with(&format!("'{entry}'")), "{entry}: {error}");
        }
    }
}
