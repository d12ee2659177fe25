//! Lists of proxies that are tried in their order: one that a user writes, and the result of a PAC file.
//!
//! There is no standard for PAC. The syntax of results is Netscape's of 1996 with the kinds that browsers
//! have added (`HTTP`, `HTTPS`, `SOCKS4`, `SOCKS5`).

/// An entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProxyEntry {
    /// The host is reached without a proxy.
    Direct,
    /// The URL of a proxy, as in CURLOPT_PROXY.
    Proxy(Vec<u8>),
}

/// Most entries of a list; the rest of a longer one is left out.
pub const MAX_ENTRIES: usize = 32;

impl ProxyEntry {
    /// Returns the entry as the text of CURLOPT_PROXY; empty for none.
    pub fn text(&self) -> &[u8] {
        match self {
            ProxyEntry::Direct => b"",
            ProxyEntry::Proxy(url) => url,
        }
    }

    /// Returns the entry without a login, which names the proxy in messages.
    pub fn name(&self) -> String {
        let text = match self {
            ProxyEntry::Direct => return "direct".to_owned(),
            ProxyEntry::Proxy(url) => String::from_utf8_lossy(url),
        };
        let (scheme, rest) = text.find("://").map_or(("", &*text), |at| text.split_at(at + "://".len()));
        let authority = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let host = rest[..authority].rfind('@').map_or(rest, |at| &rest[at + 1..]);
        format!("{scheme}{host}")
    }
}

/// Parses a list that a user writes: at least two entries with spaces between them, each the URL of a proxy
/// or `direct`. A comma or semicolon may end an entry. Returns `None` for a single entry. curl refuses a
/// proxy with a space, so that no value of curl's is a list.
pub fn parse(text: &[u8]) -> Option<Vec<ProxyEntry>> {
    let entries: Vec<ProxyEntry> = text
        .split(u8::is_ascii_whitespace)
        .map(|entry| entry.strip_suffix(b",").or_else(|| entry.strip_suffix(b";")).unwrap_or(entry))
        .filter(|entry| !entry.is_empty())
        .map(|entry| match entry.eq_ignore_ascii_case(b"direct") {
            true => ProxyEntry::Direct,
            false => ProxyEntry::Proxy(entry.to_vec()),
        })
        .take(MAX_ENTRIES)
        .collect();
    (entries.len() > 1).then_some(entries)
}

/// Parses the result of a PAC file: `PROXY a:1; SOCKS5 b:2; DIRECT`. An empty one is `DIRECT`. Entries of
/// unknown kinds are left out, as browsers do; if nothing else is there, the bad entry is the error.
pub fn parse_pac_result(result: &str) -> Result<Vec<ProxyEntry>, String> {
    let mut entries = Vec::new();
    let mut bad = None;
    for part in result.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        match pac_entry(part) {
            Some(entry) if entries.len() < MAX_ENTRIES => entries.push(entry),
            Some(_) => {}
            None => bad = bad.or(Some(part)),
        }
    }
    match bad {
        Some(part) if entries.is_empty() => Err(part.to_owned()),
        None if entries.is_empty() => Ok(vec![ProxyEntry::Direct]),
        _ => Ok(entries),
    }
}

fn pac_entry(part: &str) -> Option<ProxyEntry> {
    let (kind, place) = part.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((part, ""));
    let place = place.trim();
    // curl's default port of a proxy is 1080; those of browsers differ by kind.
    let (scheme, port) = match kind.to_ascii_uppercase().as_str() {
        "DIRECT" => return place.is_empty().then_some(ProxyEntry::Direct),
        "PROXY" | "HTTP" => ("http", 80),
        "HTTPS" => ("https", 443),
        // Names are looked up here, because a server of version 4 may know no names.
        "SOCKS" | "SOCKS4" => ("socks4", 1080),
        "SOCKS5" => ("socks5h", 1080),
        _ => return None,
    };
    let (host, port) = host_and_port(place, port)?;
    Some(ProxyEntry::Proxy(format!("{scheme}://{host}:{port}").into_bytes()))
}

/// Splits `host:port`. An IPv6 address has brackets. There is neither a login nor a path.
fn host_and_port(place: &str, default: u16) -> Option<(&str, u16)> {
    let end = match place.starts_with('[') {
        true => place.find(']')? + 1,
        false => place.find(':').unwrap_or(place.len()),
    };
    let (host, port) = place.split_at(end);
    let is_foreign = |c: char| c.is_whitespace() || c.is_control() || "/@?#\\%".contains(c);
    if host.is_empty() || host.contains(is_foreign) {
        return None;
    }
    match port.strip_prefix(':') {
        None => port.is_empty().then_some((host, default)),
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().ok().filter(|port| *port > 0).map(|port| (host, port))
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(entries: &[ProxyEntry]) -> String {
        let texts = entries.iter().map(|entry| match entry {
            ProxyEntry::Direct => "direct".into(),
            ProxyEntry::Proxy(url) => String::from_utf8_lossy(url),
        });
        texts.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn lists_of_a_user() {
        let rows = [
            ("", None),
            ("http://a:1", None),
            (" http://a:1 ", None),
            ("http://u:p,w@a:1", None),
            ("http://a:1 b:2", Some("http://a:1 b:2")),
            ("http://a:1, socks5h://b:2;\tDIRECT", Some("http://a:1 socks5h://b:2 direct")),
            ("direct http://a:1", Some("direct http://a:1")),
        ];
        for (text, wanted) in rows {
            assert_eq!(parse(text.as_bytes()).as_deref().map(shown).as_deref(), wanted, "{text}");
        }
        assert_eq!(parse("a ".repeat(100).as_bytes()).map(|list| list.len()), Some(MAX_ENTRIES));
    }

    #[test]
    fn results_of_pac_files() {
        let rows = [
            ("", Ok("direct")),
            (" ; ;", Ok("direct")),
            ("DIRECT", Ok("direct")),
            ("PROXY a:1; SOCKS5 b:2; HTTPS c:3; DIRECT", Ok("http://a:1 socks5h://b:2 https://c:3 direct")),
            ("proxy a:1;direct", Ok("http://a:1 direct")),
            ("PROXY a", Ok("http://a:80")),
            ("HTTP a:8080", Ok("http://a:8080")),
            ("HTTPS a", Ok("https://a:443")),
            ("SOCKS a", Ok("socks4://a:1080")),
            ("SOCKS4 a:1", Ok("socks4://a:1")),
            ("PROXY\t [::1]:8080 ", Ok("http://[::1]:8080")),
            ("PROXY [::1]", Ok("http://[::1]:80")),
            ("QUIC a:1; PROXY b:1", Ok("http://b:1")),
            ("QUIC a:1", Err("QUIC a:1")),
            ("PROXY", Err("PROXY")),
            ("PROXY a:0", Err("PROXY a:0")),
            ("PROXY a:65536", Err("PROXY a:65536")),
            ("PROXY a:1x", Err("PROXY a:1x")),
            ("PROXY ::1", Err("PROXY ::1")),
            ("PROXY [::1", Err("PROXY [::1")),
            ("PROXY u:p@a:1", Err("PROXY u:p@a:1")),
            ("PROXY a/b:1", Err("PROXY a/b:1")),
            ("PROXY a:1 b:2", Err("PROXY a:1 b:2")),
            ("DIRECT now", Err("DIRECT now")),
        ];
        for (result, wanted) in rows {
            let found = parse_pac_result(result);
            assert_eq!(
                found.as_deref().map(shown).as_deref().map_err(|bad| bad.as_str()),
                wanted,
                "{result}"
            );
        }
        assert_eq!(parse_pac_result(&"PROXY a:1;".repeat(100)).map(|list| list.len()), Ok(MAX_ENTRIES));
    }

    #[test]
    fn names_have_no_login() {
        let rows = [
            ("http://u:p@a:1", "http://a:1"),
            ("u:p@w@a:1", "a:1"),
            ("socks5h://u@localhost/run/x@y", "socks5h://localhost/run/x@y"),
            ("a", "a"),
        ];
        for (url, wanted) in rows {
            assert_eq!(ProxyEntry::Proxy(url.into()).name(), wanted);
        }
        assert_eq!(ProxyEntry::Direct.name(), "direct");
    }
}
