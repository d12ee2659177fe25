//! Where the data of a transfer comes from, and where it goes.

use std::fs::File;

/// The data to upload.
#[derive(Default)]
pub enum Upload {
    /// Nothing, or the data that the options contain.
    #[default]
    Nothing,
    /// These bytes.
    Memory(Vec<u8>),
    /// Data passed to [`Transfers::feed`](super::Transfers::feed) until
    /// [`Transfers::end_upload`](super::Transfers::end_upload).
    Fed,
}

/// The destination of a body.
#[derive(Default)]
pub enum Sink {
    /// A buffer, emptied by [`Transfers::take_body`](super::Transfers::take_body).
    #[default]
    Memory,
    /// A file, written at its current position.
    File(File),
}
