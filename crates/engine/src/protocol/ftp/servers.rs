//! Servers: how each takes commands that do not wait for one another, as its greeting says and as it has
//! shown.

use std::collections::VecDeque;

use net::connection_key::Origin;

use crate::settings::FtpPipelining;
use crate::transfer::Transfer;

/// How the greetings of servers begin that read a stream.
const READERS: [&str; 6] = [
    "(vsFTPd",
    "ProFTPD",
    "pyftpdlib",
    "FileZilla Server",
    "Microsoft FTP Service",
    "---------- Welcome to Pure-FTPd",
];

/// So many servers' objections are remembered by a multi handle.
const MOST_SERVERS: usize = 64;

/// Returns how far commands of this transfer may go together.
pub fn level(t: &Transfer) -> FtpPipelining {
    t.easy.ftp_pipelining.get().unwrap_or_else(FtpPipelining::of_process)
}

/// Servers that have objected.
#[derive(Default)]
pub struct Servers(VecDeque<(Origin, Experience)>);

#[derive(Clone, Copy, Default)]
struct Experience {
    /// Times it failed where waiting did not.
    objections: u8,
    /// It wants no more connections.
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

    /// Whether one more connection may be tried.
    pub fn is_crowded(&self, origin: &Origin) -> bool {
        self.of(origin).crowded
    }

    /// It refused one more connection.
    pub fn note_crowded(&mut self, origin: &Origin) {
        self.change(origin, |e| e.crowded = true);
    }

    /// It failed, and waiting for each reply helped. Certain when it had answered some of what it was sent;
    /// otherwise it may only have closed an idle connection, and the second time counts.
    pub fn note_objection(&mut self, origin: &Origin, certain: bool) {
        self.change(origin, |e| e.objections = e.objections.saturating_add(if certain { 2 } else { 1 }));
    }

    /// A transfer of several commands at once has succeeded.
    pub fn note_success(&mut self, origin: &Origin) {
        // Most servers are not worth a word.
        if self.of(origin).objections == 1 {
            self.change(origin, |e| e.objections = 0);
        }
    }

    /// Whether the server wants one command at a time.
    pub fn objects(&self, origin: &Origin) -> bool {
        self.of(origin).objections > 1
    }
}

/// How a server takes commands that come together, as far as one of its connections has shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stream {
    #[default]
    Unknown,
    /// By its greeting.
    Believed,
    /// It has answered all of them.
    Proven,
    /// It lost some, or did not like them.
    Objected,
}

impl Stream {
    /// Reads the greeting of a server.
    pub fn of_greeting(text: &[u8]) -> Stream {
        let known = READERS.iter().any(|start| text.starts_with(start.as_bytes()));
        if known { Stream::Believed } else { Stream::Unknown }
    }
}
