//! Keeps the options of a request as lines, so that a saved queue can give them again.

use super::Reader;
use crate::bytes::Bytes;
use crate::config_file::quoted;
use crate::flags::{self, Flag};

/// Flags whose effect is in the targets of a request.
const IN_TARGETS: [&str; 6] = ["checksum", "mirror", "out-null", "output", "remote-name", "upload-file"];

impl Reader<'_> {
    /// Keeps an option with an argument.
    pub(super) fn keep_argument(&mut self, flag: &Flag, argument: &[u8]) {
        self.keep_option(flag, || quoted(flag.key(), argument));
    }

    /// Keeps a switch.
    pub(super) fn keep_switch(&mut self, flag: &Flag, on: bool) {
        let name = flag.key();
        self.keep_option(flag, || if on { name.into() } else { [b"no-", name.as_bytes()].concat() });
    }

    /// Keeps an option of a single transfer. Options of the default config file, and of sections, are read
    /// again by each command.
    fn keep_option(&mut self, flag: &Flag, line: impl FnOnce() -> Bytes) {
        let is_kept = !self.reads_default && self.section.is_none();
        if is_kept && flags::is_per_transfer(flag) && !IN_TARGETS.contains(&flag.name.as_str()) {
            self.parser.request().own_options.push(line());
        }
    }
}
