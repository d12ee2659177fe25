//! Our own settings (curl/warmwire.h): which commands are sent before the reply to the previous one. The
//! environment may set the default of a handle.

use std::sync::atomic::{AtomicU8, Ordering};

use runtime::environment;
use tables::environment::{FTP, SMTP};

/// How FTP commands are pipelined (`warmwire_ftp_pipeline`, WARMWIRE_FTP).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum FtpPipelining {
    /// Every command waits for the reply to the previous one.
    Wait,
    /// curl's commands, sent together if none depends on the reply to another.
    #[default]
    Together,
    /// SIZE is omitted, the next EPSV is sent at the end of a file, 226 is read by the next transfer.
    Ahead,
    /// Like `Ahead`, and up to four control connections to a server take turns.
    InTurn,
}

impl FtpPipelining {
    const ALL: [FtpPipelining; 4] =
        [FtpPipelining::Wait, FtpPipelining::Together, FtpPipelining::Ahead, FtpPipelining::InTurn];

    /// Returns the mode with this number in C.
    pub fn from_number(number: i64) -> Option<FtpPipelining> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// Returns the mode with this name in the environment.
    fn from_name(name: &str) -> Option<FtpPipelining> {
        let names = ["wait", "together", "pipeline", "turns"];
        names.iter().position(|n| *n == name).map(|at| Self::ALL[at])
    }

    /// Returns the default from the environment; read once.
    pub fn of_process() -> FtpPipelining {
        static STATE: AtomicU8 = AtomicU8::new(u8::MAX);
        if let Some(known) = Self::ALL.get(usize::from(STATE.load(Ordering::Relaxed))) {
            return *known;
        }
        let level =
            environment::text(&FTP).and_then(|name| FtpPipelining::from_name(&name)).unwrap_or_default();
        STATE.store(level as u8, Ordering::Relaxed);
        level
    }
}

/// Whether SMTP commands are pipelined (`warmwire_smtp_pipeline`, WARMWIRE_SMTP).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SmtpPipelining {
    /// Every command waits for the reply to the previous one, as in curl.
    Wait,
    /// Commands are sent together if the server supports it.
    #[default]
    Together,
}

impl SmtpPipelining {
    const ALL: [SmtpPipelining; 2] = [SmtpPipelining::Wait, SmtpPipelining::Together];

    /// Returns the mode with this number in C.
    pub fn from_number(number: i64) -> Option<SmtpPipelining> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// Returns the default from the environment; read once.
    pub fn of_process() -> SmtpPipelining {
        static STATE: AtomicU8 = AtomicU8::new(u8::MAX);
        if let Some(known) = Self::ALL.get(usize::from(STATE.load(Ordering::Relaxed))) {
            return *known;
        }
        let level = match environment::text(&SMTP).as_deref() {
            Some("wait") => SmtpPipelining::Wait,
            _ => SmtpPipelining::Together,
        };
        STATE.store(level as u8, Ordering::Relaxed);
        level
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tables::environment::Values;

    #[test]
    fn each_word_of_the_variable_is_a_level() {
        let Values::Word(words) = FTP.values else { panic!("{:?}", FTP.values) };
        let levels: Vec<_> = words.iter().filter_map(|word| FtpPipelining::from_name(word)).collect();
        assert_eq!(levels, FtpPipelining::ALL);
    }
}
