//! `--input-file`: URLs from a file, a pipe or standard input, with options for each of them in the lines
//! below it.
//!
//! `lines` bounds the lines, `entry` groups them, `options` says which options may stand there and knows
//! aria2's names. `parser` turns an entry into a request, and `source` reads a file that may be a pipe while
//! transfers run.

mod entry;
mod lines;
pub mod options;
mod parser;
mod source;

pub use entry::{Entries, Entry};
pub use lines::InputError;
pub use parser::{EntryParser, base_of};
pub use source::{InputSource, is_regular};
