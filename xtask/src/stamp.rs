//! A value that changes if something changes that a test program or a step could notice: files, installed
//! programs, the user, and variables of the environment. Files are compared by size and time, as cargo does.

use crate::files;
use std::fmt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// Variables that change what tests do.
const VARIABLES: [&str; 9] = [
    "PATH",
    "RUST_TEST_THREADS",
    "SEEDS",
    "INTERLEAVINGS",
    "MUTATION_ROUNDS",
    "ODD_LINES",
    "FAULT_DEPTH",
    "STATIC",
    "WARMWIRE_SHARED",
];

/// Folders with sources that are compiled into test programs.
const SOURCES: [&str; 8] =
    ["bench/", "conformance/", "crates/", "demo/", "testkit/", "tests/cli/", "tests/servers/src/", "xtask/"];

/// A sum over what was added: FNV-1a of 64 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp(u64);

impl Default for Stamp {
    fn default() -> Stamp {
        Stamp(0xcbf2_9ce4_8422_2325)
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}", self.0)
    }
}

impl Stamp {
    pub fn add(&mut self, bytes: &[u8]) {
        // The length keeps two values apart that follow each other.
        for byte in bytes.iter().copied().chain(bytes.len().to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// Adds a file's name, size and time of modification.
    pub fn add_file(&mut self, path: &Path) {
        self.add(path.as_os_str().as_encoded_bytes());
        let Ok(data) = std::fs::metadata(path) else { return self.add(b"none") };
        let modified = data.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        self.add(&data.len().to_le_bytes());
        self.add(&modified.map_or(0, |since| since.as_nanos()).to_le_bytes());
    }
}

/// The stamp of what all test programs share: the files that tests read, the programs that are installed, the
/// user, and the variables.
pub fn of_machine() -> Stamp {
    let mut stamp = Stamp::default();
    let root = files::root();
    for file in files::below("").iter().filter(|file| is_read(file)) {
        stamp.add_file(&root.join(file));
    }
    let shared = std::env::var_os("WARMWIRE_SHARED").map_or_else(|| root.join("../shared"), Into::into);
    for folder in std::fs::read_dir(shared).into_iter().flatten().flatten() {
        for file in std::fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            stamp.add_file(&file.path());
        }
    }
    // Installing a program changes the time of its folder.
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).for_each(|folder| stamp.add_file(&folder));
    for folder in
        ["servers", "pycurl", "aioquic", "pyftpdlib", "quic-go", "ech-go", "ssh-go", "tusd-go", "s3-go"]
    {
        stamp.add_file(&files::target().join(folder));
    }
    for name in VARIABLES {
        stamp.add(std::env::var_os(name).unwrap_or_default().as_encoded_bytes());
    }
    // The owner of this process's folder in /proc is its user.
    stamp.add(&std::fs::metadata("/proc/self").map_or(0, |data| data.uid()).to_le_bytes());
    stamp
}

/// Returns whether tests may read a file of the checkout while they run. Sources of crates are in the test
/// programs, and the texts beside README.md concern the tests of xtask alone, which run always.
fn is_read(file: &str) -> bool {
    let is_source = SOURCES.iter().any(|folder| file.starts_with(folder));
    let is_text = file.ends_with(".md") && !file.contains('/');
    !(is_text || is_source && file.ends_with(".rs"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_time_and_absence_of_a_file_count() {
        let file = std::env::temp_dir().join(format!("warmwire-stamp-{}", std::process::id()));
        let of = || {
            let mut stamp = Stamp::default();
            stamp.add_file(&file);
            stamp
        };
        let absent = of();
        std::fs::write(&file, "a").unwrap();
        let one = of();
        assert_eq!(one, of());
        std::fs::write(&file, "ab").unwrap();
        assert!(absent != one && one != of());
        std::fs::remove_file(&file).unwrap();
        assert_eq!(absent, of());
    }

    #[test]
    fn sources_of_crates_are_in_the_programs_and_other_files_are_read() {
        for (file, expected) in [
            ("crates/net/src/lib.rs", false),
            ("README.md", false),
            ("docs/guide/src/start/c.md", true),
            ("tests/abi/share.c", true),
            ("crates/capi/link.sh", true),
            ("docs/guide/examples/get.rs", true),
        ] {
            assert_eq!(is_read(file), expected, "{file}");
        }
    }
}
