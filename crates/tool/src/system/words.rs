//! Overwrites secrets on the command line in this process's own memory, so that `ps` shows blanks, as curl
//! does.
//!
//! The kernel provides the position of the words (proc(5): `arg_start` in `/proc/self/stat`) and lets a
//! process write to itself through `/proc/self/mem`. The standard library has copied the words before, and
//! nothing reads the originals again.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;

/// The place of `arg_start` among the fields that follow the program's name in `/proc/self/stat`.
const ARG_START: usize = 45;

/// Blanks out the last bytes of a word, the first word after the program's name being number 0.
pub fn hide(word: usize, bytes: usize) -> io::Result<()> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let start = arg_start(&stat).ok_or(io::ErrorKind::InvalidData)?;
    let lengths = std::env::args_os().map(|word| word.as_bytes().len());
    let end = end_of(lengths, word + 1).ok_or(io::ErrorKind::InvalidInput)?;
    let at = (start + end as u64).saturating_sub(bytes as u64);
    File::options().write(true).open("/proc/self/mem")?.write_all_at(&vec![b' '; bytes], at)
}

/// Parses `arg_start`. The program's name may contain blanks and parentheses; it ends at the last
/// parenthesis.
fn arg_start(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(ARG_START)?.parse().ok().filter(|start| *start != 0)
}

/// Returns the end of the word with this number, if a null byte follows each word.
fn end_of(lengths: impl Iterator<Item = usize>, word: usize) -> Option<usize> {
    let mut end = 0;
    for (at, length) in lengths.enumerate() {
        end += length;
        if at == word {
            return Some(end);
        }
        end += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found() {
        assert_eq!(end_of([4, 2, 6].into_iter(), 2), Some(14));
        assert_eq!(end_of([4].into_iter(), 1), None);
        let stat = fs::read_to_string("/proc/self/stat").unwrap();
        let start = arg_start(&stat).unwrap();
        let mut first = [0; 1];
        File::open("/proc/self/mem").unwrap().read_exact_at(&mut first, start).unwrap();
        assert_eq!(first[0], std::env::args_os().next().unwrap().as_bytes()[0]);
    }
}
