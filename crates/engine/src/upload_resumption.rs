//! Uploads of a handle that continue where the server says they ended (docs/decisions/0016).

use std::cell::Cell;

use tables::Code;
use wire::upload::{Facts, Peer, Protocol, Step, decide};

use crate::error::{Error, Result};

/// How the next uploads of a handle begin.
#[derive(Default)]
pub struct UploadResumption {
    on: Cell<bool>,
    /// The largest offset that the server has confirmed.
    confirmed: Cell<u64>,
    /// The server can't continue its part, or its part is wrong.
    is_whole: Cell<bool>,
    /// The server has shown that it writes at an offset.
    is_proven: Cell<bool>,
}

impl UploadResumption {
    /// Sets whether uploads over FTP and SFTP with CURLOPT_RESUME_FROM_LARGE of -1 continue by the rules of
    /// [`wire::upload`], and whether all uploads are counted at their end. Forgets what is known of the last
    /// one.
    pub fn set(&self, on: bool) {
        self.on.set(on);
        self.confirmed.set(0);
        self.is_whole.set(false);
        self.is_proven.set(false);
    }

    pub fn is_on(&self) -> bool {
        self.on.get()
    }

    /// Begins another file, or the same one from its start.
    pub fn restart(&self) {
        self.set(self.on.get());
    }

    /// Takes over the setting of another handle.
    pub(crate) fn copy_from(&self, other: &UploadResumption) {
        self.set(other.on.get());
    }

    /// Decides where the upload of a source of this size continues.
    pub(crate) fn place(&self, protocol: Protocol, peer: Peer, size: Option<u64>) -> Result<Step> {
        if self.is_whole.get() {
            self.confirmed.set(0);
            return Ok(Step::StartAgain);
        }
        let facts = Facts {
            protocol,
            peer,
            size,
            // A reader without seeking reads and drops.
            can_seek: true,
            position: 0,
            confirmed: self.confirmed.get(),
            // The caller counts them.
            attempts_left: 1,
        };
        let step = decide(&facts).map_err(|refusal| Error::new(Code::RangeError, refusal.to_string()))?;
        self.confirmed.set(match (step, peer) {
            (Step::Continue(_) | Step::Complete, Peer::Has(there)) => there,
            _ => 0,
        });
        Ok(step)
    }

    /// Makes the next attempt send the whole file: the server refuses to continue its part.
    pub(crate) fn give_up_part(&self) {
        self.is_whole.set(true);
    }

    /// Returns whether the server has shown that it writes at an offset and keeps what is before it.
    pub(crate) fn is_proven(&self) -> bool {
        self.is_proven.get()
    }

    pub(crate) fn prove(&self) {
        self.is_proven.set(true);
    }

    /// Fails if the server does not have all of the file at its end. Many FTP servers take the end of a cut
    /// connection for the end of the file, and confirm it. The next attempt continues what it has, unless
    /// that can't be a part that ended later than `from`.
    pub(crate) fn count(&self, peer: Peer, from: u64, size: u64) -> Result<()> {
        let text = match peer {
            Peer::Silent => None,
            Peer::Has(there) if there == size => None,
            Peer::Has(there) => {
                if there < from || there > size {
                    self.give_up_part();
                }
                Some(format!("The server has {there} bytes after an upload of {size}"))
            }
            Peer::Missing => {
                self.give_up_part();
                Some("The file is missing after its upload".to_owned())
            }
        };
        match text {
            Some(text) => Err(Error::new(Code::PartialFile, text)),
            None => {
                self.restart();
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_given_up_is_sent_as_a_whole_and_then_continued() {
        let resumption = UploadResumption::default();
        resumption.set(true);
        let place = |peer| resumption.place(Protocol::Ftp, peer, Some(100)).map_err(|e| e.code());
        assert_eq!(place(Peer::Has(40)), Ok(Step::Continue(40)));
        assert_eq!(place(Peer::Has(39)), Err(Code::RangeError));
        resumption.give_up_part();
        assert_eq!(place(Peer::Has(39)), Ok(Step::StartAgain));
        assert!(resumption.count(Peer::Has(100), 0, 100).is_ok());
        assert_eq!(place(Peer::Has(39)), Ok(Step::Continue(39)), "the next file");
    }

    #[test]
    fn an_upload_that_is_too_long_or_short_at_its_end_has_failed() {
        let whole: Result<Step, Code> = Ok(Step::StartAgain);
        for (peer, counted, next) in [
            (Peer::Has(100), Ok(()), Ok(Step::Continue(60))),
            (Peer::Silent, Ok(()), Ok(Step::Continue(60))),
            (Peer::Has(99), Err(Code::PartialFile), Ok(Step::Continue(60))),
            (Peer::Has(50), Err(Code::PartialFile), Ok(Step::Continue(60))),
            (Peer::Has(49), Err(Code::PartialFile), whole),
            (Peer::Has(101), Err(Code::PartialFile), whole),
            (Peer::Missing, Err(Code::PartialFile), whole),
        ] {
            let resumption = UploadResumption::default();
            assert_eq!(resumption.count(peer, 50, 100).map_err(|e| e.code()), counted, "{peer:?}");
            let place = resumption.place(Protocol::Ftp, Peer::Has(60), Some(100));
            assert_eq!(place.map_err(|e| e.code()), next, "{peer:?}");
        }
    }
}
