//! Which flags are about a single transfer, and which about the whole command line.

use super::flag::Set;
use super::table::Flag;

/// Flags beside the global ones that are no option of a single transfer.
const ELSEWHERE: &[&str] = &[
    "config",
    "disable",
    "dry-run",
    "dump-ca-embed",
    "generate",
    "har",
    "help",
    "input-file",
    "manual",
    "metalink4",
    "next",
    "progress",
    "timeline",
    "url",
    "variable",
    "version",
];

/// Returns whether the flag is an option of a single transfer.
pub fn is_per_transfer(flag: &Flag) -> bool {
    let is_global = matches!(flag.set(), Set::Global(_) | Set::NotGlobal(_)) || flag.in_category("global");
    !is_global && !ELSEWHERE.contains(&flag.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_names_are_flags() {
        assert!(ELSEWHERE.iter().all(|name| super::super::all().any(|flag| flag.name == *name)));
    }
}
