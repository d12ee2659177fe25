//! Reads the entries of an input file while transfers run.
//!
//! A pipe may bring its next line at any time, so that a thread reads it. The thread is at most
//! [`READ_AHEAD`] entries ahead: a list of any length needs little memory.

use super::entry::{Entries, Entry};
use super::lines::InputError;
use crate::message::os_text;
use crate::real_world::Input;
use crate::system::path;
use std::fs::File;
use std::io::Read;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::task::Poll;
use std::thread::Builder;

/// Entries that wait to be taken.
const READ_AHEAD: usize = 256;

type ReadEntry = Result<Entry, InputError>;

/// The entries of an input file.
pub struct InputSource {
    entries: Receiver<ReadEntry>,
}

impl InputSource {
    /// Begins to read a file, or standard input for `-`. Calls `wake` after each entry and at the end.
    pub fn open(name: &[u8], wake: impl Fn() + Send + 'static) -> Result<InputSource, InputError> {
        let input = open(name)?;
        let (send, entries) = sync_channel(READ_AHEAD);
        let read = move || {
            for entry in Entries::new(input) {
                if send.send(entry).is_err() {
                    return;
                }
                wake();
            }
            drop(send);
            wake();
        };
        let thread = Builder::new().name("input-file".to_owned()).spawn(read);
        thread.map_err(|error| InputError::new(0, format!("can't be read: {}", os_text(&error))))?;
        Ok(InputSource { entries })
    }

    /// Returns the next entry, `None` at the end; pending while the input may bring another one.
    pub fn poll(&self) -> Poll<Option<ReadEntry>> {
        match self.entries.try_recv() {
            Ok(entry) => Poll::Ready(Some(entry)),
            Err(TryRecvError::Empty) => Poll::Pending,
            Err(TryRecvError::Disconnected) => Poll::Ready(None),
        }
    }

    /// Waits for the next entry; `None` at the end.
    pub fn wait(&self) -> Option<ReadEntry> {
        self.entries.recv().ok()
    }
}

fn open(name: &[u8]) -> Result<Box<dyn Read + Send>, InputError> {
    if name == b"-" {
        return Ok(Box::new(Input));
    }
    let failed = |error| InputError::new(0, format!("can't be opened: {}", os_text(&error)));
    Ok(Box::new(File::open(path(name)).map_err(failed)?))
}

/// Returns whether a file can be read twice, so that all of it can be checked before the first transfer.
pub fn is_regular(name: &[u8]) -> bool {
    name != b"-" && std::fs::metadata(path(name)).is_ok_and(|found| found.is_file())
}
