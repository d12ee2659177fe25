//! Options of the entries of an input file, which are those of a command line.

use super::{Reader, Stop, Wrong};

impl Reader<'_> {
    /// Applies an option of an entry, which has a long name without dashes.
    pub fn entry_option(&mut self, name: &[u8], argument: Option<&[u8]>) -> Result<(), Wrong> {
        // An entry is not visible to other processes, and its arguments are no words of their own.
        self.parser.depth = 1;
        let used = self.option(name, argument).map_err(|stop| match stop {
            Stop::Wrong(wrong) => wrong,
            _ => Wrong::BadUse,
        })?;
        let has_argument = argument.is_some_and(|text| !text.is_empty());
        if has_argument && !used { Err(Wrong::Garbage) } else { Ok(()) }
    }
}
