//! Conversations with a service in memory, interrupted at each request, in one process or in several.

use super::*;
use crate::upload::s3::tag::digest_of_parts;

const PART: u64 = 10;

fn source(size: u64) -> Vec<u8> {
    (0..size).map(|at| (at * 7 % 251) as u8).collect()
}

fn md5(bytes: &[u8]) -> Digest {
    let mut digest = PieceDigest::default();
    digest.update(bytes);
    digest.of_length(bytes.len() as u64).unwrap()
}

fn quoted(digest: &Digest) -> String {
    format!("\"{}\"", hex::encode(digest))
}

/// An answer that owns its values.
#[derive(Default)]
struct Sent {
    status: u16,
    etag: Option<String>,
    length: Option<u64>,
    body: String,
}

fn status(status: u16) -> Sent {
    Sent { status, ..Sent::default() }
}

fn error(number: u16, code: &str) -> Sent {
    let body = format!("<Error><Code>{code}</Code><Message>m</Message></Error>");
    Sent { body, ..status(number) }
}

/// A service with one bucket and one object.
#[derive(Default)]
struct Service {
    uploads: u32,
    /// The parts of the upload that is in progress.
    upload: Option<BTreeMap<u32, Vec<u8>>>,
    object: Option<(Vec<u8>, String)>,
    /// Numbers of the parts that came.
    received: Vec<u32>,
    /// Most parts in one page of a list.
    page: usize,
}

impl Service {
    fn new() -> Service {
        Service { page: 2, ..Service::default() }
    }

    fn id(&self) -> String {
        format!("u/{}&", self.uploads)
    }

    fn parameter<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
        request.query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }

    fn answer(&mut self, request: &Request, source: &[u8]) -> Sent {
        assert!(request.to_resource && request.fields.is_empty());
        let (method, body) = (request.method.unwrap(), body(request, source));
        let parameter = |name| Service::parameter(request, name);
        if parameter("uploads").is_some() {
            assert_eq!((method, request.own_fields), ("POST", OwnFields::OfObject));
            (self.uploads, self.upload) = (self.uploads + 1, Some(BTreeMap::new()));
            let id = self.id().replace('&', "&amp;");
            let body = format!("<r><Key>k</Key><UploadId>{id}</UploadId></r>");
            return Sent { body, ..status(200) };
        }
        let Some(id) = parameter("uploadId") else { return self.of_object(method, body) };
        let is_known = id == self.id().replace('/', "%2F").replace('&', "%26");
        let page = self.page;
        let Some(parts) = self.upload.as_mut().filter(|_| is_known) else {
            return error(404, "NoSuchUpload");
        };
        match method {
            "PUT" => {
                let number = parameter("partNumber").unwrap().parse().unwrap();
                self.received.push(number);
                let etag = Some(quoted(&md5(&body)));
                parts.insert(number, body);
                Sent { etag, ..status(200) }
            }
            "GET" => {
                let marker = parameter("part-number-marker").map_or(0, |marker| marker.parse().unwrap());
                let mut behind = parts.range(marker + 1..);
                let rows: Vec<_> = behind.by_ref().take(page).collect();
                let text: String = rows.iter().map(|(number, part)| row(**number, part)).collect();
                let more = match (behind.next(), rows.last()) {
                    (Some(_), Some((last, _))) => {
                        format!(
                            "<IsTruncated>true</IsTruncated><NextPartNumberMarker>{last}</NextPartNumberMarker>"
                        )
                    }
                    _ => String::new(),
                };
                Sent { body: format!("<ListPartsResult>{more}{text}</ListPartsResult>"), ..status(200) }
            }
            "DELETE" => {
                self.upload = None;
                status(204)
            }
            _ => self.complete(&body),
        }
    }

    fn of_object(&mut self, method: &str, body: Vec<u8>) -> Sent {
        if method == "PUT" {
            let etag = quoted(&md5(&body));
            self.object = Some((body, etag.clone()));
            return Sent { etag: Some(etag), ..status(200) };
        }
        assert_eq!(method, "HEAD");
        match &self.object {
            Some((body, etag)) => {
                Sent { etag: Some(etag.clone()), length: Some(body.len() as u64), ..status(200) }
            }
            None => status(404),
        }
    }

    fn complete(&mut self, body: &[u8]) -> Sent {
        let parts = self.upload.take().unwrap();
        let wanted: String = parts
            .iter()
            .map(|(number, part)| {
                let etag = quoted(&md5(part));
                format!("<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>")
            })
            .collect();
        let body = String::from_utf8(body.to_vec()).unwrap();
        assert_eq!(body, format!("<CompleteMultipartUpload>{wanted}</CompleteMultipartUpload>"));
        let digests: Vec<Digest> = parts.values().map(|part| md5(part)).collect();
        let etag = format!("\"{}-{}\"", hex::encode(&digest_of_parts(digests.iter())), digests.len());
        self.object = Some((parts.into_values().flatten().collect(), etag.clone()));
        let etag = etag.replace('"', "&quot;");
        let body =
            format!("<CompleteMultipartUploadResult><ETag>{etag}</ETag></CompleteMultipartUploadResult>");
        Sent { body: format!("  {body}"), ..status(200) }
    }
}

fn row(number: u32, part: &[u8]) -> String {
    let (size, etag) = (part.len(), quoted(&md5(part)));
    format!("<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag><Size>{size}</Size></Part>")
}

fn body(request: &Request, source: &[u8]) -> Vec<u8> {
    match &request.body {
        Payload::Nothing => Vec::new(),
        Payload::Bytes(bytes) => bytes.clone(),
        Payload::Source { from, length } => {
            let end = length.map_or(source.len(), |length| (from + length) as usize);
            source[*from as usize..end].to_vec()
        }
    }
}

fn upload(size: u64, id: Option<&[u8]>) -> S3Upload {
    S3Upload::in_parts_of(PART, size, id.map(<[u8]>::to_vec))
}

fn answered(upload: &mut S3Upload, request: &Request, source: &[u8], sent: &Sent) -> Next {
    let reply = Reply::read(sent.body.as_bytes());
    let is_source = matches!(request.body, Payload::Source { .. });
    upload.answered(&Answer {
        status: sent.status,
        etag: sent.etag.as_deref().map(str::as_bytes),
        length: sent.length,
        hides_digest: false,
        reply: &reply,
        sent: is_source.then(|| md5(&body(request, source))),
    })
}

/// Runs steps until a request; `None` at the end.
fn request(upload: &mut S3Upload, source: &[u8]) -> Option<Request> {
    loop {
        match upload.step() {
            Step::Request(request) => return Some(request),
            Step::Digest(from, length) => {
                upload.take_digest(md5(&source[from as usize..(from + length) as usize]));
            }
            Step::End => return None,
        }
    }
}

/// Runs an upload to its end, with a service whose answers may be replaced.
fn run(
    upload: &mut S3Upload,
    source: &[u8],
    mut answer: impl FnMut(usize, &Request) -> Sent,
) -> (Next, Vec<&'static str>) {
    let mut methods = Vec::new();
    for count in 0..100 {
        let Some(request) = request(upload, source) else { return (Next::End, methods) };
        methods.push(request.method.unwrap());
        let sent = answer(count, &request);
        match answered(upload, &request, source, &sent) {
            Next::Request => {}
            end => return (end, methods),
        }
    }
    panic!("the upload has no end: {methods:?}");
}

#[test]
fn a_source_of_one_part_is_one_request() {
    for size in [0, 1, PART] {
        let (mut service, mut upload, source) = (Service::new(), upload(size, Some(b"old")), source(size));
        let (next, methods) = run(&mut upload, &source, |_, request| service.answer(request, &source));
        assert_eq!((next, methods), (Next::End, vec!["PUT"]), "{size}");
        assert!(upload.is_compared() && upload.upload_id().is_none());
        assert_eq!(service.object.unwrap().0, source);
    }
}

#[test]
fn parts_become_an_object() {
    for size in [PART + 1, 2 * PART, 5 * PART - 1] {
        let (mut service, mut upload, source) = (Service::new(), upload(size, None), source(size));
        let (next, methods) = run(&mut upload, &source, |_, request| service.answer(request, &source));
        assert_eq!((next, methods.len() as u64), (Next::End, size.div_ceil(PART) + 2));
        assert!(upload.is_compared());
        assert_eq!(service.object.unwrap().0, source);
    }
}

/// Each request is lost on its way, or its answer is; the upload continues in the same process, or in
/// another one that knows the number of the upload alone.
#[test]
fn an_upload_continues_after_any_loss_and_sends_no_part_twice() {
    let source = source(5 * PART - 3);
    for at in 0..7 {
        for arrives in [false, true] {
            for survives in [false, true] {
                let (mut service, mut upload) = (Service::new(), upload(source.len() as u64, None));
                for _ in 0..at {
                    let request = request(&mut upload, &source).unwrap();
                    let sent = service.answer(&request, &source);
                    assert_eq!(answered(&mut upload, &request, &source, &sent), Next::Request);
                }
                let lost = request(&mut upload, &source).unwrap();
                if arrives {
                    service.answer(&lost, &source);
                }
                upload.interrupted();
                if !survives {
                    upload = self::upload(source.len() as u64, upload.upload_id());
                }
                let (next, methods) =
                    run(&mut upload, &source, |_, request| service.answer(request, &source));
                let place = format!("{at} {arrives} {survives}: {methods:?}");
                assert_eq!(next, Next::End, "{place}");
                assert!(upload.is_compared(), "{place}");
                assert_eq!(service.object.as_ref().map(|object| &object.0), Some(&source), "{place}");
                assert_eq!(service.received, [1, 2, 3, 4, 5], "{place}");
            }
        }
    }
}

#[test]
fn parts_of_another_source_are_sent_again() {
    let (old, new) = (source(4 * PART), source(4 * PART).into_iter().rev().collect::<Vec<_>>());
    let (mut service, mut first) = (Service::new(), upload(4 * PART, None));
    for _ in 0..4 {
        let request = request(&mut first, &old).unwrap();
        let sent = service.answer(&request, &old);
        answered(&mut first, &request, &old, &sent);
    }
    assert_eq!(service.received, [1, 2, 3]);
    let mut second = upload(4 * PART, first.upload_id());
    let (next, _) = run(&mut second, &new, |_, request| service.answer(request, &new));
    assert_eq!((next, service.received), (Next::End, vec![1, 2, 3, 1, 2, 3, 4]));
    assert_eq!(service.object.unwrap().0, new);
}

/// The service forgets the upload after each part.
#[test]
fn an_upload_that_is_forgotten_begins_anew_but_not_forever() {
    let source = source(3 * PART);
    let (mut service, mut upload) = (Service::new(), upload(3 * PART, Some(b"gone")));
    let (next, methods) = run(&mut upload, &source, |_, request| service.answer(request, &source));
    assert_eq!((next, &methods[..3]), (Next::End, &["GET", "HEAD", "POST"][..]));
    assert_eq!(service.object.as_ref().unwrap().0, source);
    let (mut service, mut upload) = (Service::new(), self::upload(3 * PART, None));
    let (next, methods) = run(&mut upload, &source, |_, request| {
        let sent = service.answer(request, &source);
        if request.method == Some("PUT") {
            service.upload = None;
        }
        sent
    });
    assert!(matches!(next, Next::Failed(why) if why.contains("forgets")), "{methods:?}");
}

/// An object of the same size and number of parts is not taken for the source.
#[test]
fn another_object_does_not_end_an_upload() {
    let (old, new) = (source(3 * PART), vec![9; 3 * PART as usize]);
    let (mut service, mut first) = (Service::new(), upload(3 * PART, None));
    run(&mut first, &old, |_, request| service.answer(request, &old));
    let mut second = upload(3 * PART, first.upload_id());
    let (next, methods) = run(&mut second, &new, |_, request| service.answer(request, &new));
    assert_eq!((next, methods.len()), (Next::End, 2 + 5));
    assert_eq!(service.object.as_ref().unwrap().0, new);
    // The right one does, without a part.
    let mut third = upload(3 * PART, second.upload_id());
    let (next, methods) = run(&mut third, &new, |_, request| service.answer(request, &new));
    assert_eq!((next, methods), (Next::End, vec!["GET", "HEAD"]));
}

#[test]
fn a_part_with_another_etag_is_sent_again_and_then_given_up() {
    let source = source(3 * PART);
    for (wrong, count) in [(1, 6), (3, 8)] {
        let (mut service, mut upload) = (Service::new(), upload(3 * PART, None));
        let (next, methods) = run(&mut upload, &source, |count, request| {
            let sent = service.answer(request, &source);
            match count {
                1.. if count <= wrong => Sent { etag: Some(quoted(&[7; 16])), ..sent },
                _ => sent,
            }
        });
        assert_eq!((next, methods.len()), (Next::End, count));
    }
    let (mut service, mut upload) = (Service::new(), upload(3 * PART, None));
    let (next, methods) = run(&mut upload, &source, |_, request| {
        let sent = service.answer(request, &source);
        if request.method == Some("PUT") { Sent { etag: Some(quoted(&[7; 16])), ..sent } } else { sent }
    });
    assert!(matches!(&next, Next::Failed(why) if why.contains("its ETag is 0707")), "{next:?}");
    assert_eq!((methods.last(), service.upload), (Some(&"DELETE"), None), "nothing is left there");
}

/// Encrypted by a key of its own, an object has ETags that are no digests.
#[test]
fn etags_that_are_no_digests_are_not_compared() {
    let source = source(2 * PART);
    let mut upload = upload(2 * PART, None);
    let mut service = Service::new();
    loop {
        let request = request(&mut upload, &source).unwrap();
        let is_completion = request.own_fields == OwnFields::OfCompletion;
        let sent = match is_completion {
            true => {
                let body =
                    "<CompleteMultipartUploadResult><ETag>\"00000000000000000000000000000000-2\"</ETag>";
                Sent { body: format!("{body}</CompleteMultipartUploadResult>"), ..status(200) }
            }
            false => service.answer(&request, &source),
        };
        let reply = Reply::read(sent.body.as_bytes());
        let etag = quoted(&[8; 16]);
        let next = upload.answered(&Answer {
            status: sent.status,
            etag: Some(etag.as_bytes()),
            length: None,
            hides_digest: !is_completion,
            reply: &reply,
            sent: Some([1; 16]),
        });
        if next != Next::Request {
            assert_eq!((next, upload.is_compared()), (Next::End, false));
            return;
        }
    }
}

#[test]
fn refusals_of_the_completion() {
    let source = source(2 * PART);
    let gone = "<CompleteMultipartUploadResult><ETag>&quot;00000000000000000000000000000000-2&quot;</ETag>\
                </CompleteMultipartUploadResult>";
    for (sent, wanted, last) in [
        (error(200, "InternalError"), Next::Later, "POST"),
        (error(503, "SlowDown"), Next::Later, "POST"),
        (error(403, "AccessDenied"), Next::Refused(403), "POST"),
        (error(412, "PreconditionFailed"), Next::Refused(412), "POST"),
        (
            error(400, "EntityTooSmall"),
            Next::Failed("cannot complete the upload: EntityTooSmall: m".into()),
            "DELETE",
        ),
        (
            error(200, "InvalidPart"),
            Next::Failed("cannot complete the upload: InvalidPart: m".into()),
            "DELETE",
        ),
        (Sent { body: gone.into(), ..status(200) }, Next::Failed("object differs".into()), "POST"),
    ] {
        let (mut service, mut upload) = (Service::new(), upload(2 * PART, None));
        let mut sent = Some(sent);
        let (next, methods) = run(&mut upload, &source, |_, request| match request.own_fields {
            OwnFields::OfCompletion => sent.take().unwrap(),
            _ => service.answer(request, &source),
        });
        let is_wanted = match (&next, &wanted) {
            (Next::Failed(why), Next::Failed(part)) => why.contains(part),
            _ => next == wanted,
        };
        assert!(is_wanted && methods.last() == Some(&last), "{next:?} {methods:?}");
    }
}

/// The reply to a completion was cut off: whether there is an object is asked.
#[test]
fn a_completion_without_a_result_is_looked_up() {
    let source = source(2 * PART);
    let (mut service, mut upload) = (Service::new(), upload(2 * PART, None));
    let (next, methods) = run(&mut upload, &source, |_, request| {
        let sent = service.answer(request, &source);
        if request.own_fields == OwnFields::OfCompletion { status(200) } else { sent }
    });
    assert_eq!((next, methods), (Next::End, vec!["POST", "PUT", "PUT", "POST", "GET", "HEAD"]));
}

#[test]
fn answers_that_end_an_upload_or_postpone_it() {
    let source = source(2 * PART);
    for (at, sent, wanted) in [
        (0, error(403, "AccessDenied"), Next::Refused(403)),
        (0, status(501), Next::Refused(501)),
        (0, status(503), Next::Later),
        (0, error(400, "RequestTimeout"), Next::Later),
        (0, status(200), Next::Failed("does not begin an upload in parts: it answers 200".into())),
        (0, status(307), Next::Refused(307)),
        (1, error(404, "NoSuchBucket"), Next::Refused(404)),
        (1, status(429), Next::Later),
        (1, status(200), Next::Failed("no ETag for part 1".into())),
    ] {
        let (mut service, mut upload) = (Service::new(), upload(2 * PART, None));
        let mut sent = Some(sent);
        let (next, _) = run(&mut upload, &source, |count, request| match count {
            _ if count == at => sent.take().unwrap(),
            _ => service.answer(request, &source),
        });
        let is_wanted = match (&next, &wanted) {
            (Next::Failed(why), Next::Failed(part)) => why.contains(part),
            _ => next == wanted,
        };
        assert!(is_wanted, "{next:?} {wanted:?}");
    }
    let endless = "<ListPartsResult><IsTruncated>true</IsTruncated>\
                   <NextPartNumberMarker>1</NextPartNumberMarker></ListPartsResult>";
    for (body, text) in [(endless, "has no end"), ("<html/>", "does not list")] {
        let mut upload = upload(2 * PART, Some(b"x"));
        let answer = |_, _: &Request| Sent { body: body.into(), ..status(200) };
        let (next, _) = run(&mut upload, &source, answer);
        assert!(matches!(&next, Next::Failed(why) if why.contains(text)), "{next:?}");
    }
}

#[test]
fn parts_grow_with_the_source() {
    const MIB: u64 = 1 << 20;
    for (size, wanted) in [
        (0, 8 * MIB),
        (80_000 * MIB, 8 * MIB),
        (80_000 * MIB + 1, 9 * MIB),
        (5 << 40, 525 * MIB),
        (u64::MAX, u64::MAX.div_ceil(10_000).next_multiple_of(MIB)),
    ] {
        assert_eq!(part_length(size), wanted, "{size}");
        assert!(size.div_ceil(part_length(size)) <= MOST_PARTS);
    }
}
