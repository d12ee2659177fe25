//! The key log for debuggers, in NSS's format: one line per secret, appended to a file.

use rustls::KeyLog;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

/// A file; each line is appended in one write.
#[derive(Debug)]
pub struct LogFile(Mutex<File>);

impl LogFile {
    pub fn open(path: &Path) -> Option<LogFile> {
        Some(LogFile(Mutex::new(open(path)?)))
    }
}

/// Returns `None` if the file can't be opened: key logging never fails a transfer.
pub fn open(path: &Path) -> Option<File> {
    crate::sys::open_secrets(path).ok()
}

impl KeyLog for LogFile {
    fn log(&self, label: &str, client_random: &[u8], secret: &[u8]) {
        let line = format!("{label} {} {}\n", hex(client_random), hex(secret));
        if let Ok(mut file) = self.0.lock() {
            let _ = file.write_all(line.as_bytes()); // nowhere to tell it
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
