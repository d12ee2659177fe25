//! Effects of flags that do more than set a value, named in the declarations of `flags`.

mod connect;
mod data;
mod files;
mod http;
mod mirror;
mod pool;
mod report;
mod security;

pub use connect::*;
pub use data::*;
pub use files::*;
pub use http::*;
pub use mirror::*;
pub use pool::*;
pub use report::*;
pub use security::*;

use crate::bytes::Bytes;
use crate::message::{os_text, shown};
use crate::parse::{Done, Parser, Wrong};
use crate::request::Method;

/// The most that is read from a file named on the command line, as curl limits it.
const LARGEST_FILE: usize = 16 << 30;

pub fn nothing(_: &mut Parser, _: &str, _: bool) -> Done {
    Ok(())
}

fn not_blank(text: &[u8]) -> Result<&[u8], Wrong> {
    if text.is_empty() { Err(Wrong::Blank) } else { Ok(text) }
}

/// Reads a file that an option names; says so when that fails.
fn read(parser: &mut Parser, name: &[u8]) -> Result<Bytes, Wrong> {
    parser.world.read(name, LARGEST_FILE).map_err(|error| {
        let _ = os_text(&error);
        parser.messages.error(&format!("Failed to open {}", shown(name)));
        Wrong::Unreadable
    })
}

/// The content of a file without line ends and null bytes.
fn without_line_ends(content: &[u8]) -> Bytes {
    content.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n' | 0)).collect()
}

/// Returns the lines of a file, without line ends and trailing blanks; empty lines and comments are skipped.
fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    content
        .split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .filter(|line| !line.is_empty() && line[0] != b'#')
}

/// Chooses the kind of request; only one is allowed.
pub fn choose_method(parser: &mut Parser, wanted: Method) -> Result<(), Wrong> {
    let chosen = parser.request().method;
    if chosen == Method::Unspecified || chosen == wanted {
        parser.request().method = wanted;
        return Ok(());
    }
    let (wanted, chosen) = (wanted.flag(), chosen.flag());
    parser.messages.warn(&format!(
        "You can only select one HTTP request method! You asked for both {wanted} and {chosen}."
    ));
    Err(Wrong::BadUse)
}
