//! Sections of hosts in config files: their first line, and the flags that may stand in them.

use super::Wrong;
use crate::flags;
use crate::host_pattern::HostPattern;
use crate::request::{HostSection, Request};

/// Flags that may stand in a section: all about one server, or the way to it.
pub const FLAGS: &[&str] = &[
    "anyauth",
    "aws-sigv4",
    "basic",
    "cacert",
    "capath",
    "cert",
    "cert-type",
    "ciphers",
    "compressed",
    "connect-timeout",
    "cookie",
    "curves",
    "delegation",
    "digest",
    "header",
    "hostpubmd5",
    "hostpubsha256",
    "http1.0",
    "http1.1",
    "http2",
    "http2-prior-knowledge",
    "http3",
    "http3-only",
    "insecure",
    "interface",
    "ipv4",
    "ipv6",
    "key",
    "key-type",
    "knownhosts",
    "limit-rate",
    "login-options",
    "max-time",
    "negotiate",
    "noproxy",
    "ntlm",
    "oauth2-bearer",
    "pass",
    "pinnedpubkey",
    "proxy",
    "proxy-command",
    "proxy-header",
    "proxy-user",
    "pubkey",
    "referer",
    "retry",
    "retry-delay",
    "retry-max-time",
    "sasl-authzid",
    "sasl-ir",
    "socks4",
    "socks4a",
    "socks5",
    "socks5-hostname",
    "speed-limit",
    "speed-time",
    "ssl",
    "ssl-reqd",
    "tls-max",
    "tls13-ciphers",
    "tlsv1.0",
    "tlsv1.1",
    "tlsv1.2",
    "tlsv1.3",
    "user",
    "user-agent",
];

const FORM: Wrong =
    Wrong::Allowed("has to be the start of a section of hosts: [host example.com *.example.org:8443]");

const PLACE: Wrong = Wrong::Allowed("may not stand in a section of hosts");
const COOKIES: Wrong = Wrong::Allowed("takes NAME=VALUE in a section of hosts, not a file");

/// Parses the first line of a section.
pub fn parse(line: &[u8]) -> Result<HostSection, Wrong> {
    let inside = line.strip_prefix(b"[host").and_then(|rest| rest.strip_suffix(b"]")).ok_or(FORM)?;
    if !inside.first().is_some_and(u8::is_ascii_whitespace) {
        return Err(FORM);
    }
    let words = inside.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let hosts = words.map(HostPattern::parse).collect::<Option<Vec<_>>>().ok_or(FORM)?;
    if hosts.is_empty() {
        return Err(FORM);
    }
    Ok(HostSection { hosts, request: Request::default() })
}

/// Refuses a flag that may not stand in a section. An unknown one is refused elsewhere.
pub fn check_flag(word: &[u8]) -> Result<(), Wrong> {
    let flag = match word {
        [b'-', letter] => flags::short(*letter),
        [b'-', first, ..] if *first != b'-' => return Err(PLACE),
        _ => {
            let name = word.strip_prefix(b"--").unwrap_or(word);
            let name = name.split(|byte| *byte == b'=').next().unwrap_or_default();
            let bare = name.strip_prefix(b"no-").or(name.strip_prefix(b"expand-")).unwrap_or(name);
            flags::long(bare).map(|(flag, _)| flag)
        }
    };
    let may_stand = flag.is_none_or(|flag| FLAGS.contains(&flag.name.as_str()));
    if may_stand { Ok(()) } else { Err(PLACE) }
}

/// Refuses a file of cookies: its cookies go to all hosts that they name.
pub fn check_request(request: &Request) -> Result<(), Wrong> {
    if request.cookie_files.is_empty() { Ok(()) } else { Err(COOKIES) }
}
