//! Name servers and how to query them (resolv.conf(5)); lists of servers in the format of
//! CURLOPT_DNS_SERVERS.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

/// Servers and search domains that are looked at; the C library stops at these.
const MOST_SERVERS: usize = 3;
const MOST_DOMAINS: usize = 32;
const MOST_DOTS: usize = 15;
const LONGEST_TIMEOUT_S: u64 = 30;
const MOST_ATTEMPTS: u32 = 5;
const PORT: u16 = 53;

/// The contents of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvConf {
    /// In the order in which they are queried.
    pub servers: Vec<SocketAddr>,
    /// Domains that are put behind a name, without their dots at the end.
    pub search: Vec<String>,
    /// A name with as many dots is first tried as it is.
    pub ndots: usize,
    /// How long one server is waited for.
    pub timeout: Duration,
    /// How often all of them are queried.
    pub attempts: u32,
    /// Start with another server each time.
    pub rotate: bool,
    /// Use only TCP (`use-vc`).
    pub stream: bool,
}

impl Default for ResolvConf {
    fn default() -> ResolvConf {
        ResolvConf {
            servers: vec![(Ipv4Addr::LOCALHOST, PORT).into()],
            search: Vec::new(),
            ndots: 1,
            timeout: Duration::from_secs(5),
            attempts: 2,
            rotate: false,
            stream: false,
        }
    }
}

impl ResolvConf {
    /// Parses the file. Unknown lines are ignored, as in other resolvers.
    pub fn parse(text: &str) -> ResolvConf {
        let mut conf = ResolvConf { servers: Vec::new(), ..ResolvConf::default() };
        for line in text.lines().filter(|line| !line.starts_with(['#', ';'])) {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("nameserver") => conf.servers.extend(words.next().and_then(server)),
                Some("domain") => conf.search = words.take(1).map(domain).collect(),
                Some("search") => conf.search = words.take(MOST_DOMAINS).map(domain).collect(),
                Some("options") => words.for_each(|word| conf.option(word)),
                _ => {}
            }
        }
        conf.search.retain(|domain| !domain.is_empty());
        conf.servers.truncate(MOST_SERVERS);
        if conf.servers.is_empty() {
            conf.servers = ResolvConf::default().servers;
        }
        conf
    }

    fn option(&mut self, word: &str) {
        let (name, value) = word.split_once(':').unwrap_or((word, ""));
        let number = || value.parse::<u32>().ok();
        match name {
            "ndots" => self.ndots = number().map_or(self.ndots, |n| (n as usize).min(MOST_DOTS)),
            "timeout" => {
                let seconds = number().map(|n| Duration::from_secs(u64::from(n).clamp(1, LONGEST_TIMEOUT_S)));
                self.timeout = seconds.unwrap_or(self.timeout);
            }
            "attempts" => self.attempts = number().map_or(self.attempts, |n| n.clamp(1, MOST_ATTEMPTS)),
            "rotate" => self.rotate = true,
            "use-vc" => self.stream = true,
            _ => {}
        }
    }

    /// The names to be tried for one, in their order: as it is, and with each domain behind it.
    pub fn names(&self, name: &str) -> Vec<String> {
        if name.ends_with('.') {
            return vec![name.to_owned()];
        }
        let searched = self.search.iter().map(|domain| format!("{name}.{domain}"));
        let dots = name.bytes().filter(|c| *c == b'.').count();
        let mut names: Vec<String> = searched.collect();
        let at = if dots >= self.ndots { 0 } else { names.len() };
        names.insert(at, name.to_owned());
        names
    }
}

/// Parses `HOST[:PORT][,HOST[:PORT]]...`. Each host is an address; an IPv6 address with a port has brackets.
/// Returns `None` for anything else.
pub fn servers(list: &str) -> Option<Vec<SocketAddr>> {
    list.split(',').map(|entry| server(entry.trim())).collect()
}

fn server(text: &str) -> Option<SocketAddr> {
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Some(address).filter(|address| address.port() != 0);
    }
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    if let Ok(ip) = bare.parse::<IpAddr>() {
        return Some((ip, PORT).into());
    }
    // With a zone by its number; names of interfaces are the system's to know.
    let (ip, zone) = bare.split_once('%')?;
    let (ip, zone) = (ip.parse::<Ipv6Addr>().ok()?, zone.parse().ok()?);
    Some(std::net::SocketAddrV6::new(ip, PORT, 0, zone).into())
}

fn domain(text: &str) -> String {
    text.trim_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_everything() {
        let conf = ResolvConf::parse(
            "# nameserver 9.9.9.9\nnameserver 10.0.0.1\nnameserver fd00::1\nnameserver what\nnameserver fe80::1%3\n\
             nameserver 10.0.0.4\ndomain old.example\nsearch a.example. b.example\n\
             options ndots:99 timeout:0 attempts:9 rotate use-vc edns0\n",
        );
        let servers: Vec<String> = conf.servers.iter().map(|s| s.to_string()).collect();
        assert_eq!(servers, ["10.0.0.1:53", "[fd00::1]:53", "[fe80::1%3]:53"]);
        assert_eq!(conf.search, ["a.example", "b.example"]);
        assert_eq!((conf.ndots, conf.timeout, conf.attempts), (15, Duration::from_secs(1), 5));
        assert!(conf.rotate && conf.stream);
        assert_eq!(ResolvConf::parse("options ndots:x\n"), ResolvConf::default());
    }

    #[test]
    fn names_in_their_order() {
        let conf = ResolvConf { search: vec!["b".into(), "c".into()], ..ResolvConf::default() };
        assert_eq!(conf.names("a"), ["a.b", "a.c", "a"]);
        assert_eq!(conf.names("a.x"), ["a.x", "a.x.b", "a.x.c"]);
        assert_eq!(conf.names("a."), ["a."]);
        assert_eq!(ResolvConf { ndots: 2, ..conf }.names("a.x"), ["a.x.b", "a.x.c", "a.x"]);
    }

    #[test]
    fn lists_of_servers() {
        let texts = |list| servers(list).map(|l| l.iter().map(|s| s.to_string()).collect::<Vec<_>>());
        assert_eq!(texts("1.2.3.4, 1.2.3.4:54").unwrap(), ["1.2.3.4:53", "1.2.3.4:54"]);
        assert_eq!(texts("::1,[::1],[::1]:54").unwrap(), ["[::1]:53", "[::1]:53", "[::1]:54"]);
        for bad in
            ["", "name", "1.2.3.4,", "1.2.3.4:", "1.2.3.4:99999", "1.2.3.4:0", "[::1", "1.2.3.4 5.6.7.8"]
        {
            assert_eq!(texts(bad), None, "{bad}");
        }
    }
}
