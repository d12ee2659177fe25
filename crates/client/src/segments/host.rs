//! The seam between a download in pieces and the program that wants the file: the program prepares handles,
//! waits and shows.

use super::worker::Worker;
use crate::{Easy, Multi};
use std::io;
use std::rc::Rc;
use std::time::Duration;

/// The program that a download belongs to.
pub trait Host {
    /// The program's own part of a handle.
    type Handle;

    /// Creates a handle for a source. Nothing that identifies the user may be sent to a foreign one. The body
    /// goes to the worker ([`Worker::take`]); an error there ends the transfer.
    fn prepare(
        &self,
        url: &[u8],
        foreign: bool,
        worker: &Rc<Worker>,
    ) -> Result<Prepared<Self::Handle>, String>;

    /// Runs the handles.
    fn multi(&self) -> &Multi;

    /// Waits for the network, at most so long. An error ends the download.
    fn wait(&self, pause: Duration) -> io::Result<()>;

    /// Learns that a handle is about to send a request.
    fn begin_piece(&self, handle: &Self::Handle);

    /// Learns that a request has ended.
    fn ended(&self, handle: &Self::Handle, easy: &Easy, code: i32);

    /// Takes a handle back that is not used any more.
    fn released(&self, handle: Self::Handle);

    fn note(&self, text: &str);

    fn warn(&self, text: &str);

    /// Shows how many bytes have come, of how many.
    fn show(&self, received: u64, size: u64);
}

/// A handle for one source.
pub struct Prepared<H> {
    pub handle: H,
    pub easy: Easy,
    /// Headers of every request.
    pub headers: Vec<Vec<u8>>,
}
