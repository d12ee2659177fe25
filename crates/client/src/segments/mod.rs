//! One file over several connections and from several places, for [`Download`](crate::Download) and for the
//! command line tool. The program that wants the file is behind [`Host`].

pub mod checksum;
mod fetch;
mod host;
mod journal;
mod marks;
mod part;
mod plan;
mod seal;
mod sources;
pub mod system;
mod worker;

pub use fetch::{End, Fetch, Wanted};
pub use host::{Host, Prepared};
pub use journal::Journal;
pub use marks::{Answer, Marks};
pub use part::Part;
pub use seal::{seal, unseal};
pub use sources::{MOST, has_pieces, may_be_named};
pub use worker::{Abort, Worker};

/// Returns bytes as text for a message.
fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
