//! Prepares an entry of a saved queue, of which an earlier process may have received a part.

use super::{Prepare, Stop, WRITE_ERROR};
use crate::message::{os_text, shown};
use crate::raw::Code;
use crate::request::Clobber;
use crate::saved_queue::record::Part;
use crate::sink::Sink;
use crate::system::path;
use crate::transfer::Transfer;
use std::fs::{self, OpenOptions};

impl Prepare<'_> {
    /// Returns the part of the file that an earlier process has received for a saved queue.
    pub(super) fn part(&self) -> Option<&Part> {
        self.item.saved.as_ref()?.part.as_deref()
    }

    /// Opens the file that an earlier process has begun. Its last byte is received again: a file that was
    /// complete already would otherwise be asked for a rest that does not exist.
    pub(super) fn begun_output(&self, part: &Part) -> Result<Sink, Stop> {
        let mut sink = Sink::file(Some(part.name.clone()), Clobber::Always);
        sink.unbuffered = self.request.no_buffer;
        let length =
            fs::metadata(path(&part.name)).ok().filter(fs::Metadata::is_file).map(|found| found.len());
        let Some(kept) = length.and_then(|length| length.checked_sub(1)).filter(|_| part.marks.bind()) else {
            return Ok(sink);
        };
        let opened = OpenOptions::new().write(true).open(path(&part.name));
        let opened = opened.and_then(|file| file.set_len(kept)).and_then(|()| sink.append());
        opened.map(|()| sink).map_err(|_| {
            self.env.error(&format!("cannot open '{}'", shown(&part.name)));
            Stop::Failed(Code::WriteError.id())
        })
    }

    /// Returns whether the server may name the file.
    pub(super) fn honours_name(&self) -> bool {
        self.request.remote_header_name && self.item.target.remote_name && self.part().is_none()
    }

    /// Gives a transfer its entry, and makes its first attempt request what a begun file lacks.
    pub(super) fn begin_saved(&self, transfer: &Transfer) -> Result<(), Stop> {
        let Some(saved) = &self.item.saved else { return Ok(()) };
        transfer.saved.replace(Some(saved.handle.clone()));
        if saved.part.is_none() || self.job.upload || transfer.out.borrow().start == 0 {
            return Ok(());
        }
        transfer.requests_rest().map(drop).map_err(|error| {
            self.env.error(&format!("Failed to continue a file: {}", os_text(&error)));
            Stop::Failed(Code::WriteError.id())
        })
    }

    /// Reports a transfer that was not started.
    pub(super) fn end(&self, stop: &Stop) {
        if let Stop::Failed(code) = stop {
            self.write_out(*code);
        }
        if let Some(saved) = &self.item.saved {
            saved.handle.end(match stop {
                Stop::Failed(code) => *code,
                Stop::LeftOut => WRITE_ERROR,
            });
        }
    }
}
