//! Servers: how each handles commands that do not wait for each other, by its greeting and its behaviour.

use std::collections::VecDeque;
use std::hint::cold_path;

use net::connection_key::Origin;

use crate::settings::FtpPipelining;
use crate::transfer::Transfer;

/// Number of servers whose objections a multi handle stores.
const MOST_SERVERS: usize = 64;

/// Returns how far commands of this transfer may be pipelined.
pub fn level(t: &Transfer) -> FtpPipelining {
    if t.multi.recording.get().is_some() {
        cold_path();
        return FtpPipelining::Wait;
    }
    t.easy.ftp_pipelining.get().unwrap_or_else(FtpPipelining::of_process)
}

/// Servers that have objected.
#[derive(Default)]
pub struct Servers(VecDeque<(Origin, Experience)>);

#[derive(Clone, Copy, Default)]
struct Experience {
    /// How often it failed with pipelining but not without.
    objections: u8,
    /// Whether it refuses more connections.
    crowded: bool,
}

impl Servers {
    fn of(&self, origin: &Origin) -> Experience {
        self.0.iter().find(|(known, _)| known == origin).map(|(_, e)| *e).unwrap_or_default()
    }

    fn change(&mut self, origin: &Origin, change: impl FnOnce(&mut Experience)) {
        let mut experience = self.of(origin);
        change(&mut experience);
        self.0.retain(|(known, _)| known != origin);
        self.0.push_back((origin.clone(), experience));
        if self.0.len() > MOST_SERVERS {
            self.0.pop_front();
        }
    }

    /// Returns whether one more connection may be tried.
    pub fn is_crowded(&self, origin: &Origin) -> bool {
        self.of(origin).crowded
    }

    /// Records that it refused one more connection.
    pub fn note_crowded(&mut self, origin: &Origin) {
        self.change(origin, |e| e.crowded = true);
    }

    /// Records a failure that a retry without pipelining repaired. Certain if it had answered some of the
    /// commands; otherwise it may only have closed an idle connection, and the second time counts.
    pub fn note_objection(&mut self, origin: &Origin, certain: bool) {
        self.change(origin, |e| e.objections = e.objections.saturating_add(if certain { 2 } else { 1 }));
    }

    /// Records a success with several commands at once.
    pub fn note_success(&mut self, origin: &Origin) {
        // Most servers have no record.
        if self.of(origin).objections == 1 {
            self.change(origin, |e| e.objections = 0);
        }
    }

    /// Returns whether the server needs one command at a time.
    pub fn objects(&self, origin: &Origin) -> bool {
        self.of(origin).objections > 1
    }
}

/// How a server handles commands that arrive together, according to one of its connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stream {
    #[default]
    Unknown,
    /// According to its greeting.
    Believed,
    /// It has answered all of them.
    Proven,
    /// It lost some, or refused them.
    Objected,
}
