//! The real world: files, environment, standard streams.

use crate::arguments;
use crate::raw;
use crate::sink::path;
use crate::world::World;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::time::UNIX_EPOCH;

/// Columns beyond which a terminal is not believed.
const MOST_COLUMNS: usize = 10_000;

#[derive(Default)]
pub struct Outside {
    schemes: Vec<&'static str>,
}

impl Outside {
    pub fn new() -> Outside {
        Outside { schemes: raw::schemes() }
    }
}

impl World for Outside {
    fn read(&mut self, name: &[u8], limit: usize) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        if name == b"-" {
            io::stdin().lock().take(limit as u64).read_to_end(&mut content)?;
        } else {
            File::open(path(name))?.take(limit as u64).read_to_end(&mut content)?;
        }
        Ok(content)
    }

    fn env(&self, name: &str) -> Option<Vec<u8>> {
        std::env::var_os(name).map(OsStringExt::into_vec)
    }

    fn modified(&self, name: &[u8]) -> Option<i64> {
        let modified = std::fs::metadata(path(name)).ok()?.modified().ok()?;
        modified.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs() as i64)
    }

    fn date(&self, text: &[u8]) -> Option<i64> {
        raw::parse_date(text)
    }

    fn has(&self, feature: &str) -> bool {
        raw::features().contains(&feature)
    }

    fn schemes(&self) -> &[&'static str] {
        &self.schemes
    }

    fn hide(&mut self, word: usize, bytes: usize) {
        // Where /proc is missing, the words stay readable.
        let _ = arguments::hide(word, bytes);
    }

    fn message_file(&mut self, name: &[u8]) -> io::Result<Box<dyn Write>> {
        if name == b"-" {
            return Ok(Box::new(io::stdout()));
        }
        Ok(Box::new(File::create(path(name))?))
    }
}

/// The width of the terminal, as far as COLUMNS or the terminal tells.
pub fn columns() -> Option<usize> {
    let told = std::env::var("COLUMNS").ok().and_then(|text| text.parse::<usize>().ok());
    told.filter(|columns| (21..MOST_COLUMNS).contains(columns)).or_else(|| {
        let size = rustix::termios::tcgetwinsize(io::stdin()).ok()?;
        Some(usize::from(size.ws_col)).filter(|columns| *columns > 20)
    })
}

/// Asks for a password on the terminal, without showing it.
pub fn ask_password(prompt: &str) -> Vec<u8> {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    let terminal = File::options().read(true).write(true).open("/dev/tty");
    eprint!("{prompt}");
    let Ok(mut terminal) = terminal else {
        let mut line = String::new();
        let _ = io::stdin().read_line(&mut line);
        eprintln!();
        return line.trim_end_matches(['\r', '\n']).into();
    };
    let before = tcgetattr(&terminal).ok();
    if let Some(mut quiet) = before.clone() {
        quiet.local_modes.remove(LocalModes::ECHO);
        let _ = tcsetattr(&terminal, OptionalActions::Flush, &quiet);
    }
    let mut line = Vec::new();
    let mut byte = [0];
    while line.len() < 2048 && terminal.read(&mut byte).is_ok_and(|count| count == 1) && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    if let Some(before) = before {
        let _ = tcsetattr(&terminal, OptionalActions::Flush, &before);
        eprintln!();
    }
    line
}

/// Whether a read of standard input would not wait.
pub fn input_is_ready() -> bool {
    use rustix::event::{PollFd, PollFlags, poll};
    let input = io::stdin();
    let mut polled = [PollFd::new(&input, PollFlags::IN)];
    poll(&mut polled, Some(&Default::default())).is_ok_and(|ready| ready > 0)
}

/// Reads standard input without a buffer between, so that [`input_is_ready`] tells the truth.
pub fn read_input(buf: &mut [u8]) -> io::Result<usize> {
    loop {
        match rustix::io::read(io::stdin(), &mut *buf) {
            Err(rustix::io::Errno::INTR) => {}
            other => return Ok(other?),
        }
    }
}

/// `--xattr`: one extended attribute of a file.
pub fn set_attribute(file: &[u8], name: &str, value: &[u8]) -> io::Result<()> {
    rustix::fs::setxattr(path(file), name, value, rustix::fs::XattrFlags::empty())?;
    Ok(())
}
