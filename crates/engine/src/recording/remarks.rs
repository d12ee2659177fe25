//! Remarks of a recorder on standard error, each kind once.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use tables::environment::RECORD;

/// The remarks that were made about a folder.
pub struct Remarks {
    folder: PathBuf,
    failure: AtomicBool,
    protocol: AtomicBool,
}

impl Remarks {
    /// Begins without a remark.
    pub fn new(folder: &Path) -> Remarks {
        let (failure, protocol) = (AtomicBool::new(false), AtomicBool::new(false));
        Remarks { folder: folder.to_owned(), failure, protocol }
    }

    /// Reports the first failure to write.
    pub fn report_failure(&self, e: &io::Error) {
        if !self.failure.swap(true, Ordering::Relaxed) {
            let folder = self.folder.display();
            warn(&format!("{}: an exchange cannot be written to {folder}: {e}", RECORD.name));
        }
    }

    /// Reports the first protocol that is not recorded.
    pub fn report_protocol(&self, what: &str) {
        if !self.protocol.swap(true, Ordering::Relaxed) {
            warn(&format!("{}: {what} is not recorded, only HTTP and FTP are", RECORD.name));
        }
    }
}

/// Writes a line. It is lost if standard error is closed.
pub fn warn(text: &str) {
    let _ = writeln!(io::stderr(), "warmwire: {text}");
}
