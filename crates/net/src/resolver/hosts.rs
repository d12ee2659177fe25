//! The names of the hosts file (hosts(5)). Their addresses are getaddrinfo's to say; that they stand there is of use.

use std::collections::HashSet;
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

const FILE: &str = "/etc/hosts";
/// More of it is not read: some block a million names by it, and these are names all the same.
const LONGEST: u64 = 64 << 20;

type Names = Arc<HashSet<String>>;
/// As long as the file has this time and length, it is not read again.
type Stamp = (Option<SystemTime>, u64);

/// Whether the file has this name, in whatever case.
pub(super) fn knows(name: &str) -> bool {
    names().contains(&plain(name))
}

fn names() -> Names {
    static KNOWN: Mutex<Option<(Stamp, Names)>> = Mutex::new(None);
    let Ok(about) = fs::metadata(FILE) else { return Arc::default() };
    let stamp = (about.modified().ok(), about.len());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((of, names)) = known.as_ref().filter(|(of, _)| *of == stamp) {
        let _ = of;
        return names.clone();
    }
    let text = if stamp.1 <= LONGEST { fs::read(FILE).unwrap_or_default() } else { Vec::new() };
    let names: Names = Arc::new(read(&String::from_utf8_lossy(&text)).collect());
    *known = Some((stamp, names.clone()));
    names
}

/// Lines of an address and its names, each up to a `#`.
fn read(text: &str) -> impl Iterator<Item = String> {
    let bare = |line: &'_ str| line.split('#').next().unwrap_or_default().to_owned();
    text.lines().map(bare).flat_map(|line| line.split_whitespace().skip(1).map(plain).collect::<Vec<_>>())
}

fn plain(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_but_neither_addresses_nor_remarks() {
        let text = "127.0.0.1 localhost\n# 1.2.3.4 gone\n\n10.0.0.1\tA.example a # b\n::1\n";
        assert_eq!(read(text).collect::<Vec<_>>(), ["localhost", "a.example", "a"]);
    }
}
