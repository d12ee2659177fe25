//! Checks of text options.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::str::from_utf8;

use net::filter::open::LocalBinding;
use tables::easy_option::TextRule;
use tables::{Code, Scheme};

/// Returns whether a text may be set under this rule. As in a curl with c-ares, addresses are checked when
/// they are set; an empty text is no address, and is not a list of name servers.
// exhaustive: options
pub fn is_accepted(rule: TextRule, value: &[u8]) -> bool {
    match rule {
        TextRule::Interface => LocalBinding::parse(&String::from_utf8_lossy(value)).is_some(),
        TextRule::NameServers => {
            from_utf8(value).is_ok_and(|text| wire::resolv_conf::servers(text).is_some())
        }
        TextRule::Ipv4 => {
            value.is_empty() || from_utf8(value).is_ok_and(|text| text.parse::<Ipv4Addr>().is_ok())
        }
        TextRule::Ipv6 => {
            value.is_empty() || from_utf8(value).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok())
        }
        TextRule::Plain | TextRule::Url | TextRule::Referer | TextRule::Login(..) => true,
        TextRule::StoredAs(_) | TextRule::Protocols(_) | TextRule::Module | TextRule::Ech => true,
        TextRule::Encodings | TextRule::AltsvcFile | TextRule::HstsFile => true,
        TextRule::CookieFile | TextRule::CookieJar | TextRule::CookieCommand => true,
    }
}

/// Converts "http,https" to bits, as far as it can be parsed; "all" alone means every scheme. An unknown name
/// is CURLE_UNSUPPORTED_PROTOCOL.
pub fn protocols(list: &[u8]) -> (u64, Result<(), Code>) {
    if list.eq_ignore_ascii_case(b"all") {
        return (u64::MAX, Ok(()));
    }
    let mut bits = 0;
    for name in list.split(|b| *b == b',').filter(|n| !n.is_empty()) {
        let scheme = from_utf8(name).ok().and_then(Scheme::from_name).filter(|s| s.built());
        match scheme {
            Some(scheme) => bits |= scheme.bit(),
            None => return (bits, Err(Code::UnsupportedProtocol)),
        }
    }
    (bits, if bits == 0 { Err(Code::BadFunctionArgument) } else { Ok(()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked() {
        for (rule, good, bad) in [
            (TextRule::Ipv4, "127.0.0.1", "::1"),
            (TextRule::Ipv6, "::1", "127.0.0.1"),
            (TextRule::NameServers, "192.0.2.1:53", ""),
            (TextRule::Interface, "if!lo", "if!"),
        ] {
            assert!(is_accepted(rule, good.as_bytes()), "{rule:?}");
            assert!(!is_accepted(rule, bad.as_bytes()), "{rule:?}");
        }
        assert!(is_accepted(TextRule::Ipv4, b"") && is_accepted(TextRule::Ipv6, b""));
        assert!(!is_accepted(TextRule::Ipv4, b"\xff"));
    }

    #[test]
    fn a_mistake_ends_the_list_of_protocols() {
        assert_eq!(protocols(b"http,gopherx,ftp"), (Scheme::Http.bit(), Err(Code::UnsupportedProtocol)));
        assert_eq!(protocols(b","), (0, Err(Code::BadFunctionArgument)));
        assert_eq!(protocols(b"ALL"), (u64::MAX, Ok(())));
    }
}
