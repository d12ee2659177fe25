//! The record of one exchange while it is written: a hidden folder that gets its name when it is complete. A
//! process that is killed leaves a hidden folder, which no replay reads.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use runtime::fork_generation;

use super::facts::{End, Facts};
use super::remarks::Remarks;
use crate::sys::{private_folder, with_mode};

/// The name of the text with the facts.
pub const FACTS: &str = "exchange.txt";

/// An exchange that is being recorded.
pub struct Draft {
    remarks: Arc<Remarks>,
    temporary: PathBuf,
    complete: PathBuf,
    /// A forked child leaves the parent's records alone.
    generation: u64,
    files: BTreeMap<String, File>,
    failure: Option<io::Error>,
    ended: bool,
    started: Instant,
    /// The facts, completed as the exchange continues.
    pub facts: Facts,
}

impl Draft {
    /// Creates the hidden folder. Names sort by the time at which their exchanges began.
    pub(super) fn new(remarks: Arc<Remarks>, folder: &Path, number: u64) -> io::Result<Draft> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let name = format!("{:016}-{}-{number:06}", now.as_micros(), std::process::id());
        let temporary = folder.join(format!(".{name}.part"));
        private_folder(&temporary)?;
        let started = i64::try_from(now.as_secs()).unwrap_or_default();
        Ok(Draft {
            remarks,
            temporary,
            complete: folder.join(name),
            generation: fork_generation(),
            files: BTreeMap::new(),
            failure: None,
            ended: false,
            started: Instant::now(),
            facts: Facts { started, ..Facts::default() },
        })
    }

    /// Adds bytes to a file of the record.
    pub fn append(&mut self, name: &str, bytes: &[u8]) {
        if self.failure.is_some() || self.ended || bytes.is_empty() || self.is_inherited() {
            return;
        }
        if let Err(e) = self.write(name, bytes) {
            self.failure = Some(e);
        }
    }

    fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        if let Some(file) = self.files.get_mut(name) {
            return file.write_all(bytes);
        }
        let mut options = OpenOptions::new();
        let mut file =
            with_mode(options.write(true).create_new(true), 0o600).open(self.temporary.join(name))?;
        file.write_all(bytes)?;
        self.files.insert(name.to_owned(), file);
        Ok(())
    }

    /// Records that the first byte of the reply has arrived.
    pub fn note_first_byte(&mut self) {
        if self.facts.first_byte_us.is_none() {
            self.facts.first_byte_us = Some(self.elapsed_us());
        }
    }

    /// Completes the record.
    pub fn finish(&mut self, end: End) {
        if self.ended || self.is_inherited() {
            self.ended = true;
            return;
        }
        self.facts.end = end;
        self.facts.total_us = self.elapsed_us();
        let text = self.facts.text();
        self.append(FACTS, text.as_bytes());
        self.ended = true;
        self.files.clear();
        let done = match self.failure.take() {
            Some(e) => Err(e),
            None => fs::rename(&self.temporary, &self.complete),
        };
        if let Err(e) = done {
            self.remarks.report_failure(&e);
            let _ = fs::remove_dir_all(&self.temporary);
        }
    }

    /// Forgets the exchange.
    pub fn discard(&mut self) {
        if !std::mem::replace(&mut self.ended, true) && !self.is_inherited() {
            self.files.clear();
            let _ = fs::remove_dir_all(&self.temporary);
        }
    }

    fn is_inherited(&self) -> bool {
        self.generation != fork_generation()
    }

    fn elapsed_us(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        self.finish(End::Stopped);
    }
}
