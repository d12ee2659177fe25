//! The hosts file (hosts(5)). The system's resolver reads it itself. Here it decides which names must not be
//! sent to DNS, and answers if the application has set its own name servers.

use std::collections::HashMap;
use std::net::IpAddr;

use super::reread::Reread;
use crate::sys::HOSTS as HOSTS_FILE;

type Names = HashMap<String, Vec<IpAddr>>;

static HOSTS: Reread<Names> = Reread::new(HOSTS_FILE, read);

/// Returns whether the file has this name, ignoring case.
pub fn knows(name: &str) -> bool {
    HOSTS.now().contains_key(&plain(name))
}

/// The addresses that it has for the name.
pub(super) fn addresses(name: &str) -> Option<Vec<IpAddr>> {
    HOSTS.now().get(&plain(name)).cloned()
}

/// Lines of an address and its names, each up to a `#`.
fn read(text: &str) -> Names {
    let mut names = Names::new();
    for line in text.lines() {
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let Some(Ok(ip)) = words.next().map(str::parse::<IpAddr>) else { continue };
        words.for_each(|name| names.entry(plain(name)).or_default().push(ip));
    }
    names
}

fn plain(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_all_their_addresses() {
        let text = "127.0.0.1 localhost\n# 1.2.3.4 gone\n\n10.0.0.1\tA.example a # b\nfd00::1 a\nx y\n::1\n";
        let names = read(text);
        assert_eq!(names["a"], ["10.0.0.1".parse::<IpAddr>().unwrap(), "fd00::1".parse().unwrap()]);
        assert_eq!((names["a.example"].len(), names.len()), (1, 3));
    }
}
