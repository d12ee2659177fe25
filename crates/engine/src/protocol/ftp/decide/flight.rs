//! A flight: the commands of a transfer that are sent together because no usual reply changes them.

use std::collections::VecDeque;
use std::ops::ControlFlow;

/// Most commands of a flight, and most bytes: both are far below what servers buffer.
const MOST_COMMANDS: usize = 16;
const MOST_BYTES: usize = 1024;

/// The next commands of a transfer, as far as they are known.
#[derive(Clone, Debug)]
pub struct Prospect<'a> {
    /// Whether PWD asks for the entry path: the connection is new.
    pub asks_entry: bool,
    /// Whether there are commands of CURLOPT_QUOTE.
    pub quotes: bool,
    /// The directories to enter.
    pub folders: Vec<&'a [u8]>,
    /// CURLOPT_FTP_CREATE_MISSING_DIRS.
    pub creates: bool,
    /// Whether MDTM asks for the file's time.
    pub asks_time: bool,
    /// CURLOPT_TIMECONDITION: the time decides whether the file is transferred.
    pub compares_time: bool,
    /// How the passive data connection is asked for; `None` without one.
    pub passive: Option<Passive>,
    /// TYPE, if it changes.
    pub data_type: Option<u8>,
    /// Whether there are commands of CURLOPT_PREQUOTE.
    pub prequotes: bool,
    /// Whether SIZE is sent.
    pub asks_size: bool,
    /// CURLOPT_NOBODY: the file is described, and not transferred.
    pub describes: bool,
    /// Name of the file.
    pub file: &'a [u8],
}

/// The command for a passive data connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passive {
    /// RFC 2428 §3
    Epsv,
    /// RFC 959 §4.1.2
    Pasv,
    /// EPSV was sent at the end of the last file.
    Asked,
}

/// Returns the commands of the flight, in curl's order. A flight of one command is none.
pub fn commands(p: &Prospect<'_>) -> Vec<Vec<u8>> {
    let mut lines = Lines::default();
    let _ = add(p, &mut lines);
    if lines.commands.len() > 1 { lines.commands } else { Vec::new() }
}

fn add(p: &Prospect<'_>, lines: &mut Lines) -> ControlFlow<()> {
    if p.asks_entry {
        lines.add(&[b"PWD"])?;
    }
    // MKD depends on the reply to CWD.
    if p.quotes || p.creates && !p.folders.is_empty() {
        return ControlFlow::Break(());
    }
    for folder in &p.folders {
        lines.add(&[b"CWD ", folder])?;
    }
    if p.asks_time {
        lines.add(&[b"MDTM ", p.file])?;
    }
    if p.describes && !p.compares_time {
        return describe(p, lines);
    }
    let Some(passive) = p.passive.filter(|_| !p.compares_time) else { return ControlFlow::Break(()) };
    match passive {
        Passive::Epsv => lines.add(&[b"EPSV"])?,
        Passive::Pasv => lines.add(&[b"PASV"])?,
        Passive::Asked => {}
    }
    if let Some(data_type) = p.data_type {
        lines.add(&[b"TYPE ", &[data_type]])?;
    }
    if p.asks_size && !p.prequotes {
        lines.add(&[b"SIZE ", p.file])?;
    }
    ControlFlow::Continue(())
}

/// Adds the commands that describe a file. Each is sent whatever the replies to those before it are.
fn describe(p: &Prospect<'_>, lines: &mut Lines) -> ControlFlow<()> {
    if let Some(data_type) = p.data_type {
        lines.add(&[b"TYPE ", &[data_type]])?;
    }
    lines.add(&[b"SIZE ", p.file])?;
    lines.add(&[b"REST 0"])
}

/// Commands that have left, whose replies have not been read.
#[derive(Default)]
pub struct Flight {
    /// The commands, in order.
    pub sent: VecDeque<Vec<u8>>,
    /// Whether one reply has arrived.
    pub answered: bool,
    /// Whether the server did not understand a command.
    pub misunderstood: bool,
}

#[derive(Default)]
struct Lines {
    commands: Vec<Vec<u8>>,
    bytes: usize,
}

impl Lines {
    /// Adds a command. Stops before the limits, and before a name that no command can carry: the command
    /// alone reports that.
    fn add(&mut self, parts: &[&[u8]]) -> ControlFlow<()> {
        let command = parts.concat();
        self.bytes += command.len() + 2;
        let fits = self.commands.len() < MOST_COMMANDS && self.bytes <= MOST_BYTES;
        if !fits || command.contains(&b'\r') || command.contains(&b'\n') {
            return ControlFlow::Break(());
        }
        self.commands.push(command);
        ControlFlow::Continue(())
    }
}

/// Returns whether a reply can belong to this command. Some codes belong to one command only (RFC 959 §4.2,
/// RFC 2428 §3, RFC 3659 §3 and §4).
pub fn can_answer(command: &[u8], code: u16) -> bool {
    match code {
        257 => command == b"PWD",
        229 => command == b"EPSV",
        227 => command == b"PASV",
        213 => command.starts_with(b"SIZE ") || command.starts_with(b"MDTM "),
        350 => command == b"REST 0",
        _ => code >= 200,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEPT: Prospect<'_> = Prospect {
        asks_entry: false,
        quotes: false,
        folders: Vec::new(),
        creates: false,
        asks_time: false,
        compares_time: false,
        passive: Some(Passive::Epsv),
        data_type: None,
        prequotes: false,
        asks_size: true,
        describes: false,
        file: b"f",
    };

    fn sent(p: &Prospect<'_>) -> String {
        String::from_utf8(commands(p).join(&b", "[..])).unwrap()
    }

    #[test]
    fn commands_leave_together_up_to_the_first_that_depends_on_a_reply() {
        let new = Prospect { asks_entry: true, data_type: Some(b'I'), folders: vec![b"a", b"b"], ..KEPT };
        let rows = [
            ("RFC 2428 §3: kept, in the folder", KEPT, "EPSV, SIZE f"),
            ("RFC 959 §4.1.2: PASV", Prospect { passive: Some(Passive::Pasv), ..KEPT }, "PASV, SIZE f"),
            ("RFC 2428 §3: asked", Prospect { passive: Some(Passive::Asked), ..KEPT }, ""),
            (
                "RFC 2428 §3: asked, another folder",
                Prospect { passive: Some(Passive::Asked), folders: vec![b"a"], ..KEPT },
                "CWD a, SIZE f",
            ),
            ("RFC 959 §5.3: new", new.clone(), "PWD, CWD a, CWD b, EPSV, TYPE I, SIZE f"),
            ("CURLOPT_QUOTE(3)", Prospect { quotes: true, ..new.clone() }, ""),
            ("CURLOPT_FTP_CREATE_MISSING_DIRS(3)", Prospect { creates: true, ..new.clone() }, ""),
            ("CURLOPT_FTP_CREATE_MISSING_DIRS(3): none", Prospect { creates: true, ..KEPT }, "EPSV, SIZE f"),
            ("CURLOPT_FILETIME(3)", Prospect { asks_time: true, ..KEPT }, "MDTM f, EPSV, SIZE f"),
            (
                "CURLOPT_TIMECONDITION(3)",
                Prospect { asks_time: true, compares_time: true, ..new.clone() },
                "PWD, CWD a, CWD b, MDTM f",
            ),
            ("CURLOPT_FTPPORT(3)", Prospect { passive: None, ..new.clone() }, "PWD, CWD a, CWD b"),
            ("CURLOPT_PREQUOTE(3)", Prospect { prequotes: true, ..new }, "PWD, CWD a, CWD b, EPSV, TYPE I"),
            (
                "CURLOPT_NOBODY(3)",
                Prospect { describes: true, asks_time: true, data_type: Some(b'I'), passive: None, ..KEPT },
                "MDTM f, TYPE I, SIZE f, REST 0",
            ),
            (
                "CURLOPT_NOBODY(3) with CURLOPT_TIMECONDITION(3)",
                Prospect { describes: true, asks_time: true, compares_time: true, passive: None, ..KEPT },
                "",
            ),
            ("RFC 3659 §4: no size of a text", Prospect { asks_size: false, ..KEPT }, ""),
        ];
        for (name, prospect, wanted) in rows {
            assert_eq!(sent(&prospect), wanted, "{name}");
        }
    }

    #[test]
    fn flights_are_bounded() {
        let deep = Prospect { folders: vec![b"d"; 100], ..KEPT };
        assert_eq!(commands(&deep).len(), MOST_COMMANDS);
        let long = [b'x'; MOST_BYTES];
        assert_eq!(sent(&Prospect { file: &long, data_type: Some(b'I'), ..KEPT }), "EPSV, TYPE I");
        assert_eq!(sent(&Prospect { file: b"f\r\nDELE f", data_type: Some(b'I'), ..KEPT }), "EPSV, TYPE I");
    }

    #[test]
    fn a_reply_of_another_command_is_recognized() {
        let rows: [(&str, &[u8], u16, bool); 14] = [
            ("RFC 959 §4.2: PWD", b"PWD", 257, true),
            ("RFC 959 §4.2: CWD", b"CWD a", 250, true),
            ("RFC 959 §4.2: CWD refused", b"CWD a", 550, true),
            ("RFC 2428 §3: EPSV in place of CWD", b"CWD a", 229, false),
            ("RFC 2428 §3: EPSV", b"EPSV", 229, true),
            ("RFC 2428 §3: EPSV refused", b"EPSV", 500, true),
            ("RFC 3659 §4: SIZE", b"SIZE f", 213, true),
            ("RFC 3659 §3: MDTM", b"MDTM f", 213, true),
            ("RFC 3659 §4: SIZE in place of TYPE", b"TYPE I", 213, false),
            ("RFC 959 §4.2: 150 of RETR in place of SIZE", b"SIZE f", 150, false),
            ("RFC 959 §4.2: 257 in place of EPSV", b"EPSV", 257, false),
            ("RFC 3659 §5: REST", b"REST 0", 350, true),
            ("RFC 3659 §5: REST refused", b"REST 0", 502, true),
            ("RFC 3659 §5: 350 in place of SIZE", b"SIZE f", 350, false),
        ];
        for (name, command, code, wanted) in rows {
            assert_eq!(can_answer(command, code), wanted, "{name}");
        }
    }
}
