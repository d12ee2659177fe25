//! The state of an upload over HTTP, which lasts from one transfer of its handle to the next.

use tables::Code;
use wire::upload::http::{self, HttpUpload};
use wire::upload::s3::{self, LONGEST_REPLY, PieceDigest, Reply, S3Upload, hides_digest};
use wire::upload::series::Next;

use crate::error::{Error, Result};

/// An upload over HTTP.
pub(crate) struct HttpState {
    pub machine: Machine,
    /// CURLOPT_URL and size of the source: another one is another upload.
    pub url: Vec<u8>,
    pub size: Option<u64>,
    pub head: UploadHead,
    /// The body of the reply from S3.
    reply_body: Vec<u8>,
    /// The digest of the source's bytes in the request to S3.
    sent: Option<PieceDigest>,
    /// Length of the source's bytes in the request to S3.
    length: u64,
}

/// The state machine that names the requests.
pub(crate) enum Machine {
    /// The upload is a resource of its own.
    Resource(HttpUpload),
    S3(S3Upload),
}

/// Fields of a reply that matter for an upload over HTTP.
#[derive(Default)]
pub(crate) struct UploadHead {
    pub offset: Option<Vec<u8>>,
    pub complete: Option<Vec<u8>>,
    pub version: Option<Vec<u8>>,
    pub location: Option<Vec<u8>>,
    etag: Option<Vec<u8>>,
    length: Option<Vec<u8>>,
    hides_digest: bool,
}

impl UploadHead {
    /// Takes a field.
    pub fn push(&mut self, name: &[u8], value: &[u8]) {
        for (wanted, field) in [
            ("Upload-Offset", &mut self.offset),
            ("Upload-Complete", &mut self.complete),
            ("Upload-Draft-Interop-Version", &mut self.version),
            ("Location", &mut self.location),
            ("ETag", &mut self.etag),
            ("Content-Length", &mut self.length),
        ] {
            if name.eq_ignore_ascii_case(wanted.as_bytes()) {
                *field = Some(value.trim_ascii().to_vec());
            }
        }
        self.hides_digest |= hides_digest(name, value);
    }

    /// Returns the fields as an answer of a resource.
    pub fn answer(&self, status: u16) -> http::Answer<'_> {
        http::Answer {
            status,
            offset: self.offset.as_deref(),
            complete: self.complete.as_deref(),
            version: self.version.as_deref(),
            location: self.location.as_deref(),
        }
    }
}

impl HttpState {
    /// An upload of a source of this size to a URL.
    pub fn new(machine: Machine, url: &[u8], size: Option<u64>) -> HttpState {
        HttpState {
            machine,
            url: url.to_vec(),
            size,
            head: UploadHead::default(),
            reply_body: Vec::new(),
            sent: None,
            length: 0,
        }
    }

    /// Returns the place of the part that the server has.
    pub fn place(&self) -> Option<Vec<u8>> {
        match &self.machine {
            Machine::Resource(upload) => upload.location().map(<[u8]>::to_vec),
            Machine::S3(upload) => upload.upload_id().map(|id| s3::place(&self.url, id)),
        }
    }

    /// Returns the URL of the upload, if it has one of its own.
    pub fn location(&self) -> Option<&[u8]> {
        match &self.machine {
            Machine::Resource(upload) => upload.location(),
            Machine::S3(_) => None,
        }
    }

    /// Returns the next step, before which nothing has been received.
    pub fn step(&mut self) -> s3::Step {
        (self.head, self.reply_body, self.sent) = Default::default();
        match &self.machine {
            Machine::Resource(upload) => s3::Step::Request(upload.request()),
            Machine::S3(upload) => upload.step(),
        }
    }

    /// The request has failed without an answer, or is to be repeated.
    pub fn interrupted(&mut self) {
        match &mut self.machine {
            Machine::Resource(upload) => upload.interrupted(),
            Machine::S3(upload) => upload.interrupted(),
        }
    }

    /// Begins the digest of the source's bytes in a request.
    pub fn begin_digest(&mut self, length: u64) {
        (self.sent, self.length) = (Some(PieceDigest::default()), length);
    }

    /// Takes bytes of the source that are about to be sent.
    pub fn take_sent(&mut self, bytes: &[u8]) {
        if let Some(digest) = &mut self.sent {
            digest.update(bytes);
        }
    }

    /// Takes bytes of a reply.
    pub fn take_reply(&mut self, bytes: &[u8]) -> Result<()> {
        if self.reply_body.len() + bytes.len() > LONGEST_REPLY {
            let text = "The server's reply is longer than any that an upload needs";
            return Err(Error::new(Code::WeirdServerReply, text));
        }
        self.reply_body.extend_from_slice(bytes);
        Ok(())
    }

    /// Takes the final answer to a request, whose fields were collected in a head.
    pub fn answered(&mut self, head: &UploadHead, status: u16) -> Next {
        let upload = match &mut self.machine {
            Machine::Resource(upload) => return upload.answered(&head.answer(status)),
            Machine::S3(upload) => upload,
        };
        let length = head.length.as_ref().and_then(|length| std::str::from_utf8(length).ok()?.parse().ok());
        upload.answered(&s3::Answer {
            status,
            etag: head.etag.as_deref(),
            length,
            hides_digest: head.hides_digest,
            reply: &Reply::read(&self.reply_body),
            sent: self.sent.take().and_then(|digest| digest.of_length(self.length)),
        })
    }

    /// Returns the error in the body of the reply, if it has one.
    pub fn error_text(&self) -> Option<String> {
        Some(Reply::read(&self.reply_body).error_text()).filter(|text| !text.is_empty())
    }
}
