//! Uploads to Amazon S3 and services like it in parts, which are an object when the upload is completed
//! (<https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html>). A state machine: it names the
//! next request, and takes its answer. A source of one part is sent in one request.

mod place;
mod reply;
mod tag;

use std::collections::BTreeMap;

pub use place::{place, upload_id_in};
pub use reply::{LONGEST as LONGEST_REPLY, ListedPart, Reply};
pub use tag::{Digest, PieceDigest, hides_digest};

use super::series::{Next, OwnFields, Payload, Request};
use crate::hex;

/// Length of a part: S3 wants 5 MiB at least.
const PART: u64 = 8 << 20;
/// Most parts of an object.
const MOST_PARTS: u64 = 10_000;
/// Parts in one page of a list.
const PAGE: u32 = 1000;
/// How often the server may disagree without having more than before.
const MOST_DISAGREEMENTS: u32 = 3;
/// Words of S3 for failures that pass, whatever the status is.
const BUSY: [&[u8]; 6] = [
    b"InternalError",
    b"RequestTimeout",
    b"ServiceUnavailable",
    b"SlowDown",
    b"Throttling",
    b"ThrottlingException",
];

/// Which request comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    /// Sends a source of one part: PutObject.
    Whole,
    Create,
    /// Asks for the parts behind this one: ListParts.
    List(u32),
    /// Sends the first part that the server does not have, or completes the upload.
    Send,
    /// The upload is gone: asks for the object, HeadObject.
    Look,
    /// Compares this ETag of the object with the source.
    Compare(Digest),
    /// Ends an upload that cannot become an object, for this reason: AbortMultipartUpload.
    Abort(String),
    /// The object was there already.
    Done,
}

/// The next step of an upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Request(Request),
    /// Computes the digest of this piece of the source: first byte and length.
    Digest(u64, u64),
    /// The upload has ended.
    End,
}

/// An answer, as far as it matters here.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    pub status: u16,
    pub etag: Option<&'a [u8]>,
    /// Content-Length
    pub length: Option<u64>,
    /// A field says that ETags are no digests ([`hides_digest`]).
    pub hides_digest: bool,
    pub reply: &'a Reply,
    /// The digest of the piece of the source that was sent; `None` if not all of it was.
    pub sent: Option<Digest>,
}

/// A part that the server has.
#[derive(Clone, Debug)]
struct Part {
    etag: Vec<u8>,
    /// The digest of the source's bytes, if it was computed.
    digest: Option<Digest>,
}

/// A part of the source whose digest is not known, and the one that it must have.
#[derive(Clone, Debug)]
struct Check {
    number: u32,
    wanted: Option<Digest>,
}

/// An upload to S3.
#[derive(Clone, Debug)]
pub struct S3Upload {
    size: u64,
    part_length: u64,
    phase: Phase,
    upload_id: Option<Vec<u8>>,
    parts: BTreeMap<u32, Part>,
    /// Parts of this upload that were known before they are listed again.
    known: BTreeMap<u32, Part>,
    checks: Vec<Check>,
    has_digests: bool,
    is_compared: bool,
    /// The parts were listed.
    is_continued: bool,
    disagreements: u32,
    /// How often the server has forgotten the upload.
    losses: u32,
}

impl S3Upload {
    /// An upload of a source of this size; with the number of one that was begun earlier.
    pub fn new(size: u64, upload_id: Option<Vec<u8>>) -> S3Upload {
        S3Upload::in_parts_of(part_length(size), size, upload_id)
    }

    fn in_parts_of(part_length: u64, size: u64, upload_id: Option<Vec<u8>>) -> S3Upload {
        let upload_id = upload_id.filter(|_| size > part_length);
        let phase = match &upload_id {
            _ if size <= part_length => Phase::Whole,
            Some(_) => Phase::List(0),
            None => Phase::Create,
        };
        S3Upload {
            size,
            part_length,
            phase,
            upload_id,
            parts: BTreeMap::new(),
            known: BTreeMap::new(),
            checks: Vec::new(),
            has_digests: true,
            is_compared: false,
            is_continued: false,
            disagreements: 0,
            losses: 0,
        }
    }

    /// Returns the number of the upload, once there is one.
    pub fn upload_id(&self) -> Option<&[u8]> {
        self.upload_id.as_deref()
    }

    /// Returns whether the server's ETags were compared with the source, and were the same.
    pub fn is_compared(&self) -> bool {
        self.is_compared
    }

    /// Returns how many parts the server has, and how many there are, once after they were listed and
    /// compared with the source.
    pub fn take_continued(&mut self) -> Option<(u32, u32)> {
        let is_known = self.checks.is_empty() && std::mem::take(&mut self.is_continued);
        is_known.then(|| (self.parts.len() as u32, self.count()))
    }

    fn count(&self) -> u32 {
        self.size.div_ceil(self.part_length).max(1) as u32
    }

    /// Returns first byte and length of a part.
    fn piece(&self, number: u32) -> (u64, u64) {
        let from = u64::from(number - 1) * self.part_length;
        (from, self.part_length.min(self.size - from))
    }

    /// Returns the first part that the server does not have.
    fn missing(&self) -> Option<u32> {
        (1..=self.count()).find(|number| !self.parts.contains_key(number))
    }

    /// Returns the next step.
    pub fn step(&self) -> Step {
        if let Some(check) = self.checks.last() {
            let (from, length) = self.piece(check.number);
            return Step::Digest(from, length);
        }
        let request = |method, query, own_fields, body| {
            let fields = Vec::new();
            Step::Request(Request {
                method: Some(method),
                to_resource: true,
                query,
                fields,
                own_fields,
                body,
            })
        };
        let id = || place::parameter(self.upload_id.as_deref().unwrap_or_default());
        let empty = || Payload::Bytes(Vec::new());
        match &self.phase {
            Phase::Whole => {
                let body = Payload::Source { from: 0, length: Some(self.size) };
                request("PUT", String::new(), OwnFields::All, body)
            }
            Phase::Create => request("POST", "uploads=".into(), OwnFields::OfObject, empty()),
            Phase::List(marker) => {
                let behind =
                    if *marker > 0 { format!("&part-number-marker={marker}") } else { String::new() };
                let query = format!("max-parts={PAGE}{behind}&{}", id());
                request("GET", query, OwnFields::OfPart, Payload::Nothing)
            }
            Phase::Send => match self.missing() {
                Some(number) => {
                    let (from, length) = self.piece(number);
                    let body = Payload::Source { from, length: Some(length) };
                    request("PUT", format!("partNumber={number}&{}", id()), OwnFields::OfPart, body)
                }
                None => request("POST", id(), OwnFields::OfCompletion, Payload::Bytes(self.completion())),
            },
            Phase::Look => request("HEAD", String::new(), OwnFields::OfPart, Payload::Nothing),
            Phase::Abort(_) => request("DELETE", id(), OwnFields::OfPart, empty()),
            Phase::Compare(_) | Phase::Done => Step::End,
        }
    }

    /// Returns the body of CompleteMultipartUpload.
    fn completion(&self) -> Vec<u8> {
        let mut body = b"<CompleteMultipartUpload>".to_vec();
        for (number, part) in &self.parts {
            body.extend_from_slice(format!("<Part><PartNumber>{number}</PartNumber><ETag>").as_bytes());
            for octet in &part.etag {
                match octet {
                    b'&' => body.extend_from_slice(b"&amp;"),
                    b'<' => body.extend_from_slice(b"&lt;"),
                    b'>' => body.extend_from_slice(b"&gt;"),
                    octet => body.push(*octet),
                }
            }
            body.extend_from_slice(b"</ETag></Part>");
        }
        body.extend_from_slice(b"</CompleteMultipartUpload>");
        body
    }

    /// The request has failed without an answer, or is to be repeated: the server knows which parts it has.
    pub fn interrupted(&mut self) {
        self.checks.clear();
        match (&self.phase, &self.upload_id) {
            (Phase::Whole | Phase::Abort(_), _) => {}
            (_, Some(_)) => self.list(),
            (_, None) => self.phase = Phase::Create,
        }
    }

    /// Asks which parts the server has.
    fn list(&mut self) {
        self.known.append(&mut self.parts);
        self.phase = Phase::List(0);
    }

    /// Takes the digest of the piece of the source that [`Step::Digest`] names.
    pub fn take_digest(&mut self, digest: Digest) {
        let Some(check) = self.checks.pop() else { return };
        if check.wanted.is_none_or(|wanted| wanted == digest) {
            let etag = format!("\"{}\"", hex::encode(&digest)).into_bytes();
            self.parts.insert(check.number, Part { etag, digest: Some(digest) });
        }
        self.conclude_comparison();
    }

    /// Decides whether the object is the source, once all digests are known.
    fn conclude_comparison(&mut self) {
        if let (Phase::Compare(object), true) = (&self.phase, self.checks.is_empty()) {
            match self.digest_of_object() == Some(*object) {
                true => (self.phase, self.is_compared) = (Phase::Done, true),
                false => self.begin_anew(),
            }
        }
    }

    /// Returns the digest of the parts' digests, if all of them are known.
    fn digest_of_object(&self) -> Option<Digest> {
        let digests: Option<Vec<&Digest>> = self.parts.values().map(|part| part.digest.as_ref()).collect();
        digests
            .filter(|digests| digests.len() == self.count() as usize)
            .map(|digests| tag::digest_of_parts(digests.into_iter()))
    }

    fn begin_anew(&mut self) {
        (self.phase, self.upload_id) = (Phase::Create, None);
        self.parts.clear();
        self.known.clear();
        self.checks.clear();
    }

    /// Takes the answer to a request.
    pub fn answered(&mut self, answer: &Answer<'_>) -> Next {
        self.has_digests &= !answer.hides_digest;
        let is_done = matches!(answer.status, 200..=299);
        let is_busy = BUSY.contains(&answer.reply.code.as_slice())
            || matches!(answer.status, 408 | 425 | 429 | 500 | 502..=599);
        match self.phase.clone() {
            Phase::Abort(why) => Next::Failed(why),
            _ if is_busy => {
                self.interrupted();
                Next::Later
            }
            Phase::Whole if is_done => self.whole(answer),
            Phase::Create if is_done => self.created(answer),
            Phase::List(marker) if is_done => self.listed(answer.reply, marker),
            Phase::Send if is_done => match self.missing() {
                Some(number) => self.sent(number, answer),
                None => self.completed(answer.reply),
            },
            Phase::Look => self.found(answer, is_done),
            Phase::List(_) | Phase::Send if is_gone(answer) => self.lost(),
            // The parts are not those that the server has, or not as it wants them.
            Phase::Send if self.missing().is_none() && answer.status == 400 => self.incomplete(answer.reply),
            _ => Next::Refused(answer.status),
        }
    }

    /// The server has forgotten the upload.
    fn lost(&mut self) -> Next {
        self.losses += 1;
        if self.losses > MOST_DISAGREEMENTS {
            return Next::Failed("The server forgets the upload again and again".into());
        }
        self.phase = Phase::Look;
        Next::Request
    }

    /// Goes on with another phase, unless that has happened too often.
    fn disagree(&mut self, phase: Phase, why: &str) -> Next {
        self.disagreements += 1;
        match self.disagreements > MOST_DISAGREEMENTS {
            true => self.give_up(why.into()),
            false => {
                self.phase = phase;
                Next::Request
            }
        }
    }

    /// Ends an upload that cannot become an object.
    fn give_up(&mut self, why: String) -> Next {
        if self.upload_id.is_none() {
            return Next::Failed(why);
        }
        self.phase = Phase::Abort(why);
        Next::Request
    }

    /// Compares an ETag with the digest of the bytes that were sent.
    fn compare(&mut self, answer: &Answer<'_>) -> Result<(), String> {
        let there = answer.etag.and_then(tag::digest_in).filter(|_| self.has_digests);
        match (there, answer.sent) {
            (_, None) => Err("The server answers before it has all bytes".into()),
            (Some(there), Some(sent)) if there != sent => {
                let [there, sent] = [there, sent].map(|digest| hex::encode(&digest));
                Err(format!(
                    "The server has other bytes than the source: its ETag is {there}, the MD5 here {sent}"
                ))
            }
            _ => Ok(()),
        }
    }

    fn whole(&mut self, answer: &Answer<'_>) -> Next {
        if let Err(why) = self.compare(answer) {
            return Next::Failed(why);
        }
        self.is_compared = self.has_digests && answer.etag.is_some_and(|etag| tag::digest_in(etag).is_some());
        Next::End
    }

    fn created(&mut self, answer: &Answer<'_>) -> Next {
        if answer.reply.upload_id.is_empty() {
            let status = answer.status;
            return Next::Failed(format!(
                "The server does not begin an upload in parts: it answers {status}"
            ));
        }
        (self.upload_id, self.phase) = (Some(answer.reply.upload_id.clone()), Phase::Send);
        Next::Request
    }

    /// Takes a page of the list of parts.
    fn listed(&mut self, reply: &Reply, marker: u32) -> Next {
        if !reply.is("ListPartsResult") {
            return self.give_up("The server does not list the parts of the upload".into());
        }
        for part in &reply.parts {
            if !(1..=self.count()).contains(&part.number) || self.piece(part.number).1 != part.size {
                continue;
            }
            match self.known.remove(&part.number).filter(|known| known.etag == part.etag) {
                Some(known) => drop(self.parts.insert(part.number, known)),
                None => self.checks.extend(
                    tag::digest_in(&part.etag)
                        .map(|digest| Check { number: part.number, wanted: Some(digest) }),
                ),
            }
        }
        match reply.next_part.filter(|_| reply.is_truncated) {
            Some(next) if next <= marker => self.give_up("The server's list of parts has no end".into()),
            Some(next) => {
                self.phase = Phase::List(next);
                Next::Request
            }
            None => {
                self.known.clear();
                // The source is read from its start.
                self.checks.reverse();
                (self.phase, self.is_continued) = (Phase::Send, true);
                Next::Request
            }
        }
    }

    fn sent(&mut self, number: u32, answer: &Answer<'_>) -> Next {
        let Some(etag) = answer.etag else {
            return self.give_up(format!("The server names no ETag for part {number}"));
        };
        if let Err(why) = self.compare(answer) {
            return self.disagree(Phase::Send, &format!("Part {number} of the upload: {why}"));
        }
        let digest = answer.sent.filter(|_| self.has_digests && tag::digest_in(etag).is_some());
        self.parts.insert(number, Part { etag: etag.to_vec(), digest });
        self.disagreements = 0;
        Next::Request
    }

    fn completed(&mut self, reply: &Reply) -> Next {
        if reply.is("Error") {
            return self.incomplete(reply);
        }
        if !reply.is("CompleteMultipartUploadResult") {
            // The reply was lost on its way; the list of parts shows whether there is an object.
            self.list();
            return self.disagree(Phase::List(0), "The server does not say whether the upload is complete");
        }
        let there = tag::of_parts(&reply.etag).filter(|_| self.has_digests);
        match (there, self.digest_of_object()) {
            (Some((there, count)), Some(here)) if (there, count) != (here, self.count()) => {
                let etag = String::from_utf8_lossy(&reply.etag).into_owned();
                let here = format!("{}-{}", hex::encode(&here), self.count());
                Next::Failed(format!(
                    "The server's object differs from the source: its ETag is {etag}, not {here}"
                ))
            }
            (there, here) => {
                self.is_compared = there.is_some() && here.is_some();
                Next::End
            }
        }
    }

    /// The server cannot make an object of the parts.
    fn incomplete(&mut self, reply: &Reply) -> Next {
        if reply.code == b"NoSuchUpload" {
            return self.lost();
        }
        self.give_up(format!("The server cannot complete the upload: {}", reply.error_text()))
    }

    /// Takes the answer to the question for the object: an upload that was completed is gone, too.
    fn found(&mut self, answer: &Answer<'_>, is_done: bool) -> Next {
        let object =
            answer.etag.filter(|_| is_done && answer.length == Some(self.size)).and_then(tag::of_parts);
        match object {
            Some((digest, count)) if count == self.count() && self.has_digests => {
                self.parts.retain(|_, part| part.digest.is_some());
                let unknown = (1..=count).rev().filter(|number| !self.parts.contains_key(number));
                self.checks = unknown.map(|number| Check { number, wanted: None }).collect();
                self.phase = Phase::Compare(digest);
                self.conclude_comparison();
            }
            _ => self.begin_anew(),
        }
        Next::Request
    }
}

/// Returns the length of the parts of a source: longer ones if there would be too many.
fn part_length(size: u64) -> u64 {
    PART.max(size.div_ceil(MOST_PARTS).next_multiple_of(1 << 20))
}

/// Returns whether the server has forgotten the upload, which may have been completed.
fn is_gone(answer: &Answer<'_>) -> bool {
    match answer.reply.code.as_slice() {
        b"NoSuchUpload" => true,
        code => answer.status == 404 && code.is_empty(),
    }
}

#[cfg(test)]
mod tests;
