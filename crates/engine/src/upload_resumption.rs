//! Uploads of a handle that continue where the server says they ended (docs/decisions/0016).

mod series;

use std::cell::{Cell, OnceCell};

use runtime::cell::RefCell;
use tables::Code;
use wire::upload::digest::Digest;
use wire::upload::http::HttpUpload;
use wire::upload::s3::{S3Upload, upload_id_in};
use wire::upload::{Facts, Peer, Protocol, Step, decide};

use crate::error::{Error, Result};
pub(crate) use series::{HttpState, Machine, UploadHead};

/// Whether uploads of a handle continue after a cut, and by which protocol over HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UploadMode {
    /// Uploads are those of curl.
    #[default]
    Plain,
    /// Uploads over FTP and SFTP continue, and are counted at their end.
    Resume,
    /// Like `Resume`; over HTTP by tus 1.0.
    Tus,
    /// Like `Resume`; over HTTP by draft-ietf-httpbis-resumable-upload.
    Draft,
    /// Like `Resume`; over HTTP in parts, to Amazon S3 and services like it.
    S3,
}

impl UploadMode {
    /// Returns the mode of a number in warmwire.h.
    pub fn from_number(number: i64) -> Option<UploadMode> {
        use UploadMode::{Draft, Plain, Resume, S3, Tus};
        [Plain, Resume, Tus, Draft, S3].get(usize::try_from(number).ok()?).copied()
    }

    /// Returns whether uploads over HTTP continue, each as a series of requests.
    pub fn is_series_over_http(self) -> bool {
        matches!(self, UploadMode::Tus | UploadMode::Draft | UploadMode::S3)
    }

    /// Returns the name of a protocol whose uploads over HTTP need the size of their source.
    pub(crate) fn needs_size(self) -> Option<&'static str> {
        match self {
            UploadMode::Plain | UploadMode::Resume | UploadMode::Draft => None,
            UploadMode::Tus => Some("tus"),
            UploadMode::S3 => Some("S3"),
        }
    }
}

/// How the next uploads of a handle begin.
#[derive(Default)]
pub struct UploadResumption {
    mode: Cell<UploadMode>,
    /// Whether to request a checksum from the server at the end.
    asks_digest: Cell<bool>,
    /// Allocated with the first upload that continues: inline, a part takes a twentieth of an idle handle.
    part: OnceCell<Box<Part>>,
}

/// Facts about the part that the server has.
#[derive(Default)]
struct Part {
    /// The largest offset that the server has confirmed.
    confirmed: Cell<u64>,
    /// The server can't continue its part, or its part is wrong.
    is_whole: Cell<bool>,
    /// The server has shown that it writes at an offset.
    is_proven: Cell<bool>,
    /// Whether an earlier attempt may have read the source.
    has_read: Cell<bool>,
    /// Whether the last request of an upload over HTTP was answered by "later".
    is_busy: Cell<bool>,
    /// The URL of the part that the server has, without login.
    place: RefCell<Option<Box<[u8]>>>,
    /// The size of that part's source, as far as this handle knows it.
    source: Cell<Option<u64>>,
    http: RefCell<Option<Box<HttpState>>>,
    digest: RefCell<Option<Box<Digest>>>,
    /// Whether the server's digests were compared while the upload was sent.
    is_compared: Cell<bool>,
}

impl UploadResumption {
    /// Sets whether coming uploads continue, by the rules of [`wire::upload`]. Forgets what is known of the
    /// last one.
    pub fn set(&self, mode: UploadMode) {
        self.mode.set(mode);
        self.end();
        if let Some(part) = self.part.get() {
            part.is_compared.set(false);
        }
    }

    /// Returns the mode.
    pub fn mode(&self) -> UploadMode {
        self.mode.get()
    }

    /// Returns whether uploads continue.
    pub fn is_on(&self) -> bool {
        self.mode.get() != UploadMode::Plain
    }

    /// Returns whether uploads over HTTP are a series of requests.
    pub(crate) fn is_http(&self) -> bool {
        self.mode.get().is_series_over_http()
    }

    fn part(&self) -> &Part {
        self.part.get_or_init(Box::default)
    }

    /// Begins another file, or the same one from its start.
    pub fn restart(&self) {
        let Some(part) = self.part.get() else { return };
        part.confirmed.set(0);
        part.is_whole.set(false);
        part.is_proven.set(false);
        part.is_busy.set(false);
        part.place.take();
        part.source.set(None);
        part.http.take();
        part.digest.take();
    }

    /// Sets whether to request a checksum of the file from the server at the end of an upload over FTP.
    pub fn ask_digest(&self, on: bool) {
        self.asks_digest.set(on);
    }

    pub(crate) fn asks_digest(&self) -> bool {
        self.asks_digest.get()
    }

    pub(crate) fn note_digest(&self, digest: Option<Digest>) {
        self.part().digest.replace(digest.map(Box::new));
    }

    /// Takes the checksum that the server has of the uploaded file.
    pub fn take_digest(&self) -> Option<Digest> {
        self.part.get()?.digest.take().map(|digest| *digest)
    }

    /// Notes that the source is about to be read. Returns whether an earlier attempt may have read it.
    pub(crate) fn reads(&self) -> bool {
        self.part().has_read.replace(true)
    }

    /// The upload is complete. The application places the source of the next one.
    pub(crate) fn end(&self) {
        if let Some(part) = self.part.get() {
            part.has_read.set(false);
        }
        self.restart();
    }

    /// Takes over the setting of another handle.
    pub(crate) fn copy_from(&self, other: &UploadResumption) {
        self.set(other.mode.get());
        self.asks_digest.set(other.asks_digest.get());
    }

    /// Sets the URL of a part that the server has of the next upload's source, as [`Self::place`] returned
    /// it.
    pub fn set_place(&self, place: &[u8]) {
        self.part().place.replace(Some(place.into()));
    }

    /// Returns the URL of the part that the server has, once it has accepted the upload and until the upload
    /// is complete: over FTP and SFTP the URL of the file, over HTTP that of the upload, for S3 with its
    /// number. None has a login.
    pub fn place(&self) -> Option<Vec<u8>> {
        let part = self.part.get()?;
        let http = part.http.borrow();
        match http.as_ref() {
            Some(state) => state.place(),
            None => part.place.borrow().as_ref().map(|place| place.to_vec()),
        }
    }

    /// Notes that the server has accepted the upload of a source of this size.
    pub(crate) fn begin(&self, url: &[u8], size: Option<u64>) {
        self.set_place(url);
        self.part().source.set(size);
    }

    /// Returns whether the server has a part of a source of this size, as the file with this URL.
    pub(crate) fn has_part(&self, url: impl FnOnce() -> Vec<u8>, size: Option<u64>) -> bool {
        let Some(part) = self.part.get() else { return false };
        let is_same = part.source.get().is_none_or(|known| size == Some(known));
        is_same && part.place.borrow().as_ref().is_some_and(|place| **place == *url())
    }

    /// Returns whether the last request over HTTP failed because the server was busy, or had a failure that
    /// passes.
    pub fn is_busy(&self) -> bool {
        self.part.get().is_some_and(|part| part.is_busy.get())
    }

    pub(crate) fn set_busy(&self, busy: bool) {
        self.part().is_busy.set(busy);
    }

    /// Returns the state of an upload over HTTP.
    pub(crate) fn http(&self) -> &RefCell<Option<Box<HttpState>>> {
        &self.part().http
    }

    /// Begins a transfer of an upload over HTTP: continues the last one of this handle if it sends the same
    /// source to the same URL, or else a part that the application knows of.
    pub(crate) fn begin_http(&self, url: &[u8], size: Option<u64>) {
        let part = self.part();
        part.is_busy.set(false);
        part.is_compared.set(false);
        let mut http = part.http.borrow_mut();
        if let Some(state) = http.as_mut()
            && state.url == url
            && state.size == size
        {
            state.interrupted();
            return;
        }
        let place = part.place.take().map(<[u8]>::into_vec);
        let resource = |protocol, place| Machine::Resource(HttpUpload::new(protocol, size, b"", place));
        let machine = match self.mode.get() {
            UploadMode::Plain | UploadMode::Resume => return,
            UploadMode::Tus => resource(Protocol::Tus, place),
            UploadMode::Draft => resource(Protocol::Draft, place),
            UploadMode::S3 => {
                let upload_id = place.and_then(|place| upload_id_in(&place));
                Machine::S3(S3Upload::new(size.unwrap_or(0), upload_id))
            }
        };
        *http = Some(Box::new(HttpState::new(machine, url, size)));
    }

    /// Takes bytes of the source that are about to be sent in a part.
    pub(crate) fn take_sent(&self, bytes: &[u8]) {
        if let Some(state) = self.part().http.borrow_mut().as_mut() {
            state.take_sent(bytes);
        }
    }

    /// Takes bytes of a reply that is the engine's own.
    pub(crate) fn take_reply(&self, bytes: &[u8]) -> Result<()> {
        self.part().http.borrow_mut().as_mut().map_or(Ok(()), |state| state.take_reply(bytes))
    }

    /// Returns whether the server's digests of the last upload were compared with the source as it was sent.
    pub fn is_compared(&self) -> bool {
        self.part.get().is_some_and(|part| part.is_compared.get())
    }

    pub(crate) fn note_compared(&self) {
        self.part().is_compared.set(true);
    }

    /// Decides where the upload of a source of this size continues.
    pub(crate) fn decide(&self, protocol: Protocol, peer: Peer, size: Option<u64>) -> Result<Step> {
        let part = self.part();
        if part.is_whole.get() {
            part.confirmed.set(0);
            return Ok(Step::StartAgain);
        }
        let facts = Facts { protocol, peer, size, confirmed: part.confirmed.get() };
        let step = decide(&facts).map_err(|refusal| {
            // The part at the server is none of this source.
            part.place.take();
            Error::new(Code::RangeError, refusal.to_string())
        })?;
        part.confirmed.set(match (step, peer) {
            (Step::Continue(_) | Step::Complete, Peer::Has(there)) => there,
            _ => 0,
        });
        Ok(step)
    }

    /// Makes the next attempt send the whole file: the server refuses to continue its part.
    pub(crate) fn give_up_part(&self) {
        self.part().is_whole.set(true);
    }

    /// Returns whether the server has shown that it writes at an offset and keeps what is before it.
    pub(crate) fn is_proven(&self) -> bool {
        self.part.get().is_some_and(|part| part.is_proven.get())
    }

    pub(crate) fn prove(&self) {
        self.part().is_proven.set(true);
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
                self.end();
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
        resumption.set(UploadMode::Resume);
        let place = |peer| resumption.decide(Protocol::Ftp, peer, Some(100)).map_err(|e| e.code());
        assert_eq!(place(Peer::Has(40)), Ok(Step::Continue(40)));
        assert_eq!(place(Peer::Has(39)), Err(Code::RangeError));
        resumption.give_up_part();
        assert_eq!(place(Peer::Has(39)), Ok(Step::StartAgain));
        assert!(resumption.count(Peer::Has(100), 0, 100).is_ok());
        assert_eq!(place(Peer::Has(39)), Ok(Step::Continue(39)), "the next file");
    }

    #[test]
    fn an_upload_in_parts_continues_by_its_number_and_ends_compared_once() {
        let resumption = UploadResumption::default();
        resumption.set(UploadMode::S3);
        let place = b"http://h/b/k?uploadId=u%2F1";
        let size = Some(100 << 20);
        for (begun, known) in [(place.as_slice(), Some(place.to_vec())), (b"http://h/u/1", None)] {
            resumption.set_place(begun);
            resumption.begin_http(b"http://h/b/k", size);
            assert_eq!(resumption.place(), known);
            resumption.end();
            assert_eq!(resumption.place(), None);
        }
        resumption.note_compared();
        assert!(resumption.is_compared());
        resumption.set(UploadMode::Resume);
        assert!(!resumption.is_compared(), "that was another upload");
    }

    #[test]
    fn a_source_is_placed_again_until_its_upload_is_complete() {
        let resumption = UploadResumption::default();
        resumption.set(UploadMode::Resume);
        assert!(!resumption.reads(), "the application has placed it");
        assert!(resumption.reads());
        // Nothing has arrived, or the part is none of this source: it is sent from its start.
        assert!(resumption.decide(Protocol::Sftp, Peer::Has(101), Some(100)).is_err());
        assert!(resumption.count(Peer::Has(0), 0, 100).is_err() && resumption.reads());
        assert!(resumption.count(Peer::Has(100), 0, 100).is_ok() && !resumption.reads());
        resumption.set(UploadMode::Resume);
        assert!(!resumption.reads(), "another source");
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
            let place = resumption.decide(Protocol::Ftp, Peer::Has(60), Some(100));
            assert_eq!(place.map_err(|e| e.code()), next, "{peer:?}");
        }
    }
}
