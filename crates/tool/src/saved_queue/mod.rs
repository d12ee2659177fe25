//! `--queue`: a list of transfers in a file, which survives the process.
//!
//! `record` has the lines of the file, `state` folds them, `journal` reads and writes the file. `adding`
//! makes entries of a command line and its lists, `source` gives them to the loops that transfer, and
//! `handle` records how each goes. `listing` shows and removes entries. Why a text file:
//! docs/decisions/0020-a-queue-is-a-journal.md.

mod adding;
mod command;
mod files;
pub mod handle;
mod journal;
mod listing;
pub mod record;
mod source;
mod state;

pub use command::before_run;
pub use source::SavedQueue;
