//! The real world: files, environment, standard streams.

use crate::raw;
use crate::system::{self, Unseen, path};
use crate::world::World;
use std::fs::File;
use std::io::{self, Read, Write};
use std::time::UNIX_EPOCH;

/// Columns beyond which a terminal is not believed.
const MOST_COLUMNS: usize = 10_000;

pub struct RealWorld {
    schemes: Vec<&'static str>,
    /// Whether standard input may be read.
    has_input: bool,
}

impl RealWorld {
    pub fn new() -> RealWorld {
        RealWorld { schemes: raw::schemes(), has_input: true }
    }

    /// Returns the world for options that must not read standard input, because something else does.
    pub fn without_input() -> RealWorld {
        RealWorld { has_input: false, ..RealWorld::new() }
    }
}

impl World for RealWorld {
    fn read(&mut self, name: &[u8], limit: usize) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        if name == b"-" && !self.has_input {
            return Err(io::ErrorKind::Unsupported.into());
        }
        if name == b"-" {
            Input.take(limit as u64).read_to_end(&mut content)?;
        } else {
            File::open(path(name))?.take(limit as u64).read_to_end(&mut content)?;
        }
        Ok(content)
    }

    fn env(&self, name: &str) -> Option<Vec<u8>> {
        system::variable(name)
    }

    fn modified(&self, name: &[u8]) -> io::Result<i64> {
        let modified = std::fs::metadata(path(name))?.modified()?;
        Ok(match modified.duration_since(UNIX_EPOCH) {
            Ok(since) => since.as_secs() as i64,
            Err(before) => -(before.duration().as_secs() as i64),
        })
    }

    fn date(&self, text: &[u8]) -> Option<i64> {
        raw::parse_date(text)
    }

    fn has(&self, feature: &str) -> bool {
        raw::features().contains(&feature)
    }

    fn has_system_tls(&self) -> bool {
        raw::has_system_tls()
    }

    fn schemes(&self) -> &[&'static str] {
        &self.schemes
    }

    fn hide(&mut self, word: usize, bytes: usize) {
        system::hide(word, bytes);
    }

    fn message_file(&mut self, name: &[u8]) -> io::Result<Box<dyn Write>> {
        if name == b"-" {
            return Ok(Box::new(system::stdout()));
        }
        Ok(Box::new(File::create(path(name))?))
    }
}

/// Returns the width in COLUMNS if it is one that curl accepts.
pub fn chosen_columns() -> Option<usize> {
    columns_in(&std::env::var("COLUMNS").ok()?)
}

/// Reads the digits at the beginning, as curl does: `100x` is 100.
fn columns_in(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let columns = text[..digits].parse().ok()?;
    (21..=MOST_COLUMNS).contains(&columns).then_some(columns)
}

/// Columns and rows of the terminal that standard error is.
pub fn screen() -> Option<(usize, usize)> {
    system::screen().filter(|(columns, rows)| *columns > 0 && *rows > 0)
}

/// Whether the terminal knows how to move its cursor.
pub fn terminal_is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|name| name == "dumb")
}

/// Returns the width of the terminal, from COLUMNS or the terminal.
pub fn columns() -> Option<usize> {
    chosen_columns().or_else(|| system::columns().filter(|columns| *columns > 20))
}

/// Asks for a password on the terminal, without showing it.
pub fn ask_password(prompt: &str) -> Vec<u8> {
    let terminal = Unseen::open();
    eprint!("{prompt}");
    let (mut line, hid) = match terminal {
        None => (read_line(&mut Input), true),
        Some(mut terminal) => (read_line(&mut terminal), terminal.hid()),
    };
    if hid {
        eprintln!();
    }
    while line.last().is_some_and(|byte| matches!(byte, b'\r' | b'\n')) {
        line.pop();
    }
    line
}

/// Reads up to the end of the line, and not beyond.
fn read_line(from: &mut impl Read) -> Vec<u8> {
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < 2048 && from.read(&mut byte).is_ok_and(|count| count == 1) && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    line
}

/// Standard input, unbuffered: a buffer would take more than the line that was asked for.
pub struct Input;

impl Read for Input {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        system::read_input(buf)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_from_21_to_10000_are_accepted() {
        let texts = ["20", "21", "10000", "10001", "100x", "", "-5", "99999999999999999999999"];
        let expected = [None, Some(21), Some(10_000), None, Some(100), None, None, None];
        assert_eq!(texts.map(columns_in), expected);
    }
}
