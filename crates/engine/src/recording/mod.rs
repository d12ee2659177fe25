//! Record and replay: the exchanges of a program are kept in a folder, and a later run is answered from it
//! without a network. WARMWIRE_RECORD and WARMWIRE_REPLAY name the folder; the guide's page "Record and
//! replay" describes the format.
//!
//! `draft` writes one exchange, `player` finds one again, `choice` chooses by the request's body, `facts` is
//! the text that describes one, `secrets` replaces what must not be kept, `remarks` goes to standard error.
//! The handlers of HTTP and FTP decide what crosses their exchange.

pub mod choice;
pub mod draft;
pub mod facts;
pub mod player;
mod remarks;
pub mod secrets;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use runtime::{LockFreeOnce, environment};
use tables::environment::{RECORD, REPLAY, REPLAY_HEADERS};

use crate::sys::private_folder;
use draft::Draft;
use player::Player;
use remarks::{Remarks, warn};

/// The fate of the exchanges of a multi handle.
pub enum Recording {
    /// They are kept.
    Record(Arc<Recorder>),
    /// They are answered from a record.
    Replay(Arc<Player>),
}

/// The folder that exchanges are written to.
pub struct Recorder {
    folder: PathBuf,
    next: AtomicU64,
    remarks: Arc<Remarks>,
}

impl Recorder {
    /// Creates the folder where it is missing, readable by its user alone.
    pub fn new(folder: &Path) -> io::Result<Recorder> {
        let folder = std::path::absolute(folder)?;
        if !folder.is_dir() {
            private_folder(&folder)?;
        }
        Ok(Recorder { remarks: Arc::new(Remarks::new(&folder)), folder, next: AtomicU64::new(1) })
    }

    /// Begins the record of one exchange. A failure is reported once, and the exchange is not recorded.
    pub fn begin(&self) -> Option<Draft> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        match Draft::new(self.remarks.clone(), &self.folder, number) {
            Ok(draft) => Some(draft),
            Err(e) => {
                self.remarks.report_failure(&e);
                None
            }
        }
    }

    /// Reports once that a protocol is not recorded.
    pub fn report_protocol(&self, what: &str) {
        self.remarks.report_protocol(what);
    }
}

impl Recording {
    /// Records to this folder.
    pub fn to(folder: &Path) -> io::Result<Recording> {
        Ok(Recording::Record(Arc::new(Recorder::new(folder)?)))
    }

    /// Replays from this folder. A request must equal the recorded one in the fields of these names, too. A
    /// folder that cannot be read fails each transfer: the network is never used instead.
    pub fn from(folder: &Path, headers: Vec<String>) -> Recording {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        Recording::Replay(Arc::new(Player::new(folder, headers)))
    }

    /// Returns the player, if exchanges are replayed.
    pub fn player(&self) -> Option<&Arc<Player>> {
        match self {
            Recording::Replay(player) => Some(player),
            Recording::Record(_) => None,
        }
    }

    /// Returns the recorder, if exchanges are recorded.
    pub fn recorder(&self) -> Option<&Arc<Recorder>> {
        match self {
            Recording::Record(recorder) => Some(recorder),
            Recording::Replay(_) => None,
        }
    }
}

/// Whether the process records or replays, for multi handles that are created: decided by the first one.
static OF_PROCESS: LockFreeOnce<Option<Arc<Recording>>> = LockFreeOnce::new();

/// Returns the recording of the process, if there is one.
pub fn of_process() -> Option<Arc<Recording>> {
    OF_PROCESS.get(from_environment).clone()
}

/// Returns whether the process replays: it then uses no connection of another process.
pub fn replays() -> bool {
    of_process().is_some_and(|recording| recording.player().is_some())
}

/// Chooses the recording of the process, instead of the environment. Has no effect after the first multi
/// handle; returns whether it had one.
pub fn choose(recording: Recording) -> bool {
    let recording = Arc::new(recording);
    let chosen = OF_PROCESS.get(|| Some(recording.clone()));
    chosen.as_ref().is_some_and(|chosen| Arc::ptr_eq(chosen, &recording))
}

fn from_environment() -> Option<Arc<Recording>> {
    let record = environment::value(&RECORD);
    if let Some(folder) = environment::value(&REPLAY) {
        if record.is_some() {
            warn(&format!("{} is set, so {} has no effect", REPLAY.name, RECORD.name));
        }
        return Some(Arc::new(Recording::from(Path::new(&folder), header_names())));
    }
    let folder = record?;
    match Recording::to(Path::new(&folder)) {
        Ok(recording) => Some(Arc::new(recording)),
        Err(e) => {
            let (name, folder) = (RECORD.name, folder.display());
            warn(&format!("{name}={folder} is no folder to write to, nothing is recorded: {e}"));
            None
        }
    }
}

/// Returns the request fields that WARMWIRE_REPLAY_HEADERS names.
pub fn header_names() -> Vec<String> {
    let list = environment::text(&REPLAY_HEADERS).unwrap_or_default();
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}
