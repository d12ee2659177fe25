//! Uploads that are a resource of their own: tus 1.0 (<https://tus.io/protocols/resumable-upload>), and the
//! draft of the HTTP working group (draft-ietf-httpbis-resumable-upload-05, interop version 6). A state
//! machine: it names the next request, and takes its answer.

use super::series::{Next, OwnFields, Payload, Request};
use super::{Facts, Peer, Protocol, Step, decide};
use crate::base64;

/// The interop version of the draft. tusd 2 has 3 to 6.
const INTEROP_VERSION: &[u8] = b"6";
/// How often the server may disagree without having more than before.
const MOST_DISAGREEMENTS: u32 = 3;

/// Which request comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Creates the resource; by the draft it already has the body.
    Create,
    /// Asks for the offset.
    Ask,
    /// Sends the source from this byte on.
    Send(u64),
}

/// The fields of an answer that matter here.
#[derive(Clone, Copy, Debug, Default)]
pub struct Answer<'a> {
    pub status: u16,
    /// Upload-Offset
    pub offset: Option<&'a [u8]>,
    /// Upload-Complete
    pub complete: Option<&'a [u8]>,
    /// Upload-Draft-Interop-Version
    pub version: Option<&'a [u8]>,
    pub location: Option<&'a [u8]>,
}

/// An upload over HTTP.
#[derive(Clone, Debug)]
pub struct HttpUpload {
    protocol: Protocol,
    /// The length of the source; tus wants one.
    size: Option<u64>,
    /// The file's name, for tus; empty if there is none.
    name: Vec<u8>,
    phase: Phase,
    /// The URL of the upload as the server has sent it.
    location: Option<Vec<u8>>,
    confirmed: u64,
    disagreements: u32,
}

impl HttpUpload {
    /// An upload by [`Protocol::Tus`] or [`Protocol::Draft`]; with the URL of one that was begun earlier.
    pub fn new(protocol: Protocol, size: Option<u64>, name: &[u8], location: Option<Vec<u8>>) -> HttpUpload {
        let phase = if location.is_some() { Phase::Ask } else { Phase::Create };
        HttpUpload { protocol, size, name: name.to_vec(), phase, location, confirmed: 0, disagreements: 0 }
    }

    /// Returns the URL of the upload as the server has sent it, perhaps relative.
    pub fn location(&self) -> Option<&[u8]> {
        self.location.as_deref()
    }

    /// Begins anew with a source of another size.
    pub fn restart(&mut self, size: Option<u64>) {
        *self = HttpUpload::new(self.protocol, size, &self.name, None);
    }

    /// Returns the next request.
    pub fn request(&self) -> Request {
        let (tus, version) = ("Tus-Resumable: 1.0.0".to_owned(), String::from_utf8_lossy(INTEROP_VERSION));
        let draft = format!("Upload-Draft-Interop-Version: {version}");
        let request = |method, to_resource, fields, body| Request {
            method,
            to_resource,
            query: String::new(),
            fields,
            own_fields: if to_resource { OwnFields::OfResource } else { OwnFields::All },
            body,
        };
        let rest = |from| Payload::Source { from, length: None };
        match (self.protocol, self.phase) {
            (Protocol::Draft, Phase::Create) => {
                request(None, false, vec![draft, "Upload-Complete: ?1".into()], rest(0))
            }
            (Protocol::Draft, Phase::Ask) => request(Some("HEAD"), true, vec![draft], Payload::Nothing),
            (Protocol::Draft, Phase::Send(from)) => {
                let offset = format!("Upload-Offset: {from}");
                let of_type = "Content-Type: application/partial-upload".into();
                let fields = vec![draft, offset, "Upload-Complete: ?1".into(), of_type];
                request(Some("PATCH"), true, fields, rest(from))
            }
            (_, Phase::Create) => {
                let length = format!("Upload-Length: {}", self.size.unwrap_or(0));
                let metadata = format!("Upload-Metadata: filename {}", base64::encode(&self.name));
                let metadata = (!self.name.is_empty()).then_some(metadata);
                let fields = [tus, length].into_iter().chain(metadata).collect();
                request(Some("POST"), false, fields, Payload::Bytes(Vec::new()))
            }
            (_, Phase::Ask) => request(Some("HEAD"), true, vec![tus], Payload::Nothing),
            (_, Phase::Send(from)) => {
                let offset = format!("Upload-Offset: {from}");
                let of_type = "Content-Type: application/offset+octet-stream".into();
                request(Some("PATCH"), true, vec![tus, offset, of_type], rest(from))
            }
        }
    }

    /// Takes an informational answer (104 of the draft). Returns whether the upload has a URL since.
    pub fn informed(&mut self, answer: &Answer<'_>) -> bool {
        let matches = self.protocol == Protocol::Draft
            && answer.status == 104
            && self.phase == Phase::Create
            && answer.version.is_none_or(|version| version == INTEROP_VERSION);
        let Some(location) = answer.location.filter(|_| matches) else { return false };
        let is_new = self.location.as_deref() != Some(location);
        self.location = Some(location.to_vec());
        is_new
    }

    /// Takes the final answer to a request.
    pub fn answered(&mut self, answer: &Answer<'_>) -> Next {
        match (self.phase, answer.status) {
            (Phase::Create, 200..=299) if self.protocol == Protocol::Draft => self.draft_created(answer),
            (Phase::Create, 201) => self.tus_created(answer),
            (Phase::Create, 200..=299) => {
                let status = answer.status;
                Next::Failed(format!("The server does not create a tus upload: it answers {status}"))
            }
            (Phase::Ask, 200..=299) => self.take_offset(answer),
            (Phase::Send(_), 200..=299) => self.sent(answer),
            (Phase::Ask | Phase::Send(_), 404 | 410) => self.settle(Peer::Missing),
            // The checksum of a part did not match: it was thrown away.
            (Phase::Send(_), 409 | 460) => self.ask_again(answer.status),
            (Phase::Create, status) if self.location.is_none() => match status {
                408 | 425 | 429 | 500.. => Next::Later,
                _ => Next::Refused(status),
            },
            // 423: the server has not noticed the end of the last connection yet.
            (_, 408 | 423 | 425 | 429 | 500..) => {
                self.interrupted();
                Next::Later
            }
            (_, status) => Next::Refused(status),
        }
    }

    /// The request has failed without an answer, or is to be repeated: the server knows how much it has.
    pub fn interrupted(&mut self) {
        self.phase = if self.location.is_some() { Phase::Ask } else { Phase::Create };
    }

    fn draft_created(&mut self, answer: &Answer<'_>) -> Next {
        if let Some(location) = answer.location.filter(|_| answer.complete.is_some()) {
            self.location = Some(location.to_vec());
        }
        match answer.complete {
            Some(b"?0") if self.location.is_some() => self.take_offset(answer),
            Some(b"?0") => Next::Failed("The server names no URL for the upload".into()),
            // A server that does not know the draft has got an ordinary request.
            _ => Next::End,
        }
    }

    fn tus_created(&mut self, answer: &Answer<'_>) -> Next {
        let Some(location) = answer.location else {
            return Next::Failed("The server names no URL for the upload".into());
        };
        self.location = Some(location.to_vec());
        match self.size {
            Some(0) => Next::End,
            _ => {
                self.phase = Phase::Send(0);
                Next::Request
            }
        }
    }

    /// Takes the offset of an answer to HEAD, or of another one that has it.
    fn take_offset(&mut self, answer: &Answer<'_>) -> Next {
        if self.protocol == Protocol::Draft && answer.complete == Some(b"?1") {
            return match (number(answer.offset), self.size) {
                (Some(there), Some(size)) if there != size => {
                    Next::Failed(format!("The upload is complete with {there} bytes of {size}"))
                }
                _ => Next::End,
            };
        }
        self.settle(number(answer.offset).map_or(Peer::Silent, Peer::Has))
    }

    fn sent(&mut self, answer: &Answer<'_>) -> Next {
        match self.protocol {
            // The answer is that of the whole request, which need not repeat the offset.
            Protocol::Draft if answer.complete != Some(b"?0") => Next::End,
            _ if answer.offset.is_none() => self.ask_again(answer.status),
            _ => self.take_offset(answer),
        }
    }

    fn ask_again(&mut self, status: u16) -> Next {
        self.disagreements += 1;
        if self.disagreements > MOST_DISAGREEMENTS {
            return Next::Failed(format!("The server refuses its own offset: it answers {status}"));
        }
        self.phase = Phase::Ask;
        Next::Request
    }

    /// Chooses the next request by what the server has.
    fn settle(&mut self, peer: Peer) -> Next {
        let facts = Facts { protocol: self.protocol, peer, size: self.size, confirmed: self.confirmed };
        let step = match decide(&facts) {
            Ok(step) => step,
            Err(refusal) => return Next::Failed(refusal.to_string()),
        };
        if let Step::Continue(there) = step
            && there > self.confirmed
        {
            (self.confirmed, self.disagreements) = (there, 0);
        } else {
            self.disagreements += 1;
            if self.disagreements > MOST_DISAGREEMENTS {
                return Next::Failed("The upload makes no progress".into());
            }
        }
        match step {
            Step::Complete => return Next::End,
            Step::Continue(there) => self.phase = Phase::Send(there),
            Step::StartAgain => {
                (self.location, self.confirmed) = (None, 0);
                self.phase = Phase::Create;
            }
        }
        Next::Request
    }
}

/// Parses an integer as of tus and of RFC 9651 §3.3.1, not negative.
fn number(text: Option<&[u8]>) -> Option<u64> {
    let text = text?.trim_ascii();
    let digits = (1..=18).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    digits.then(|| text.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests;
