//! Conversations, as a peer could have them.

use super::*;

fn tus() -> HttpUpload {
    HttpUpload::new(Protocol::Tus, Some(100), b"a b", None)
}

fn draft() -> HttpUpload {
    HttpUpload::new(Protocol::Draft, Some(100), b"a b", None)
}

fn answer(status: u16) -> Answer<'static> {
    Answer { status, ..Answer::default() }
}

fn at(status: u16, offset: &str) -> Answer<'_> {
    Answer { offset: Some(offset.as_bytes()), ..answer(status) }
}

fn created() -> Answer<'static> {
    Answer { location: Some(b"/files/1"), ..answer(201) }
}

/// Returns method, place and first byte of the source of a request.
fn facts(request: &Request) -> (Option<&'static str>, bool, Option<u64>) {
    let from = match request.body {
        Payload::Source { from, length: None } => Some(from),
        _ => None,
    };
    (request.method, request.to_resource, from)
}

/// Returns the facts of the next request.
fn next(upload: &HttpUpload) -> (Option<&'static str>, bool, Option<u64>) {
    facts(&upload.request())
}

#[test]
fn tus_creates_sends_and_continues() {
    let mut upload = tus();
    let create = upload.request();
    assert_eq!(facts(&create), (Some("POST"), false, None));
    assert_eq!(
        create.fields,
        ["Tus-Resumable: 1.0.0", "Upload-Length: 100", "Upload-Metadata: filename YSBi"]
    );
    assert_eq!(upload.answered(&created()), Next::Request);
    assert_eq!(upload.location(), Some(b"/files/1".as_slice()));
    let send = upload.request();
    assert_eq!(facts(&send), (Some("PATCH"), true, Some(0)));
    assert_eq!(
        send.fields,
        ["Tus-Resumable: 1.0.0", "Upload-Offset: 0", "Content-Type: application/offset+octet-stream"]
    );
    upload.interrupted();
    assert_eq!(next(&upload), (Some("HEAD"), true, None));
    assert_eq!(upload.answered(&at(200, "40")), Next::Request);
    assert_eq!(next(&upload), (Some("PATCH"), true, Some(40)));
    // It took a part of the request.
    assert_eq!(upload.answered(&at(204, "60")), Next::Request);
    assert_eq!(next(&upload), (Some("PATCH"), true, Some(60)));
    assert_eq!(upload.answered(&at(204, "100")), Next::End);
}

#[test]
fn the_draft_sends_at_once_and_continues_behind_a_104() {
    let mut upload = draft();
    let create = upload.request();
    assert_eq!(facts(&create), (None, false, Some(0)));
    assert_eq!(create.fields, ["Upload-Draft-Interop-Version: 6", "Upload-Complete: ?1"]);
    let informed = Answer { version: Some(b"6"), location: Some(b"/u/1"), ..answer(104) };
    assert!(upload.informed(&informed));
    assert!(!upload.informed(&informed), "known");
    upload.interrupted();
    assert_eq!(next(&upload), (Some("HEAD"), true, None));
    assert_eq!(upload.answered(&Answer { complete: Some(b"?0"), ..at(204, "40") }), Next::Request);
    let send = upload.request();
    assert_eq!(facts(&send), (Some("PATCH"), true, Some(40)));
    let fields = [
        "Upload-Draft-Interop-Version: 6",
        "Upload-Offset: 40",
        "Upload-Complete: ?1",
        "Content-Type: application/partial-upload",
    ];
    assert_eq!(send.fields, fields);
    assert_eq!(upload.answered(&Answer { complete: Some(b"?1"), ..answer(200) }), Next::End);
}

#[test]
fn all_bytes_of_the_draft_still_need_an_end() {
    let mut upload = HttpUpload::new(Protocol::Draft, Some(100), b"", Some(b"/u/1".to_vec()));
    assert_eq!(upload.answered(&Answer { complete: Some(b"?0"), ..at(204, "100") }), Next::Request);
    assert_eq!(next(&upload), (Some("PATCH"), true, Some(100)));
    let mut upload = HttpUpload::new(Protocol::Draft, Some(100), b"", Some(b"/u/1".to_vec()));
    assert_eq!(upload.answered(&Answer { complete: Some(b"?1"), ..at(204, "100") }), Next::End);
    let short = Answer { complete: Some(b"?1"), ..at(204, "99") };
    let mut upload = HttpUpload::new(Protocol::Draft, Some(100), b"", Some(b"/u/1".to_vec()));
    assert_eq!(upload.answered(&short), Next::Failed("The upload is complete with 99 bytes of 100".into()));
}

#[test]
fn an_ordinary_server_answers_an_ordinary_request() {
    let mut upload = draft();
    assert!(!upload.informed(&answer(100)) && !upload.informed(&answer(103)));
    // A 104 of another version, or one without a URL.
    let other = Answer { version: Some(b"3"), location: Some(b"/u/1"), ..answer(104) };
    assert!(!upload.informed(&other) && !upload.informed(&answer(104)));
    upload.interrupted();
    assert_eq!(next(&upload), (None, false, Some(0)), "it begins anew");
    let mut post = upload.clone();
    assert_eq!(post.answered(&Answer { location: Some(b"/made/1"), ..answer(201) }), Next::End);
    assert_eq!(post.location(), None, "the URL of what was made is not that of the upload");
    assert_eq!(upload.answered(&answer(403)), Next::Refused(403));
    assert!(matches!(tus().answered(&answer(200)), Next::Failed(why) if why.contains("answers 200")));
    assert!(matches!(tus().answered(&answer(201)), Next::Failed(why) if why.contains("no URL")));
    assert_eq!(tus().answered(&answer(405)), Next::Refused(405));
}

#[test]
fn an_empty_source_is_complete_when_it_is_created() {
    let mut upload = HttpUpload::new(Protocol::Tus, Some(0), b"", None);
    assert_eq!(upload.answered(&created()), Next::End);
}

#[test]
fn failures_that_pass_are_followed_by_the_question() {
    for status in [408, 423, 429, 500, 502, 503, 504] {
        let mut upload = tus();
        upload.answered(&created());
        assert_eq!(upload.answered(&answer(status)), Next::Later, "{status}");
        assert_eq!(next(&upload), (Some("HEAD"), true, None));
        assert_eq!(upload.answered(&answer(status)), Next::Later, "{status}");
        assert_eq!(upload.answered(&at(200, "7")), Next::Request);
    }
    let mut upload = tus();
    assert_eq!(upload.answered(&answer(503)), Next::Later);
    assert_eq!(next(&upload), (Some("POST"), false, None));
}

#[test]
fn an_upload_that_is_gone_is_created_anew_but_not_forever() {
    for status in [404, 410] {
        let mut upload = HttpUpload::new(Protocol::Tus, Some(100), b"", Some(b"/files/1".to_vec()));
        for _ in 0..MOST_DISAGREEMENTS {
            assert_eq!(upload.answered(&answer(status)), Next::Request, "{status}");
            assert_eq!(next(&upload), (Some("POST"), false, None));
            assert_eq!(upload.answered(&created()), Next::Request);
        }
        assert_eq!(upload.answered(&answer(status)), Next::Failed("The upload makes no progress".into()));
    }
}

#[test]
fn a_server_that_contradicts_itself_is_left() {
    let begun = || {
        let mut upload = tus();
        upload.answered(&created());
        upload
    };
    // It goes back, and beyond the end.
    let mut upload = begun();
    assert_eq!(upload.answered(&at(204, "40")), Next::Request);
    let refused = |next| matches!(next, Next::Failed(_));
    assert!(refused(upload.clone().answered(&at(204, "39"))));
    assert!(refused(upload.clone().answered(&at(204, "101"))));
    // It takes nothing, and says so.
    for _ in 0..MOST_DISAGREEMENTS {
        assert_eq!(upload.answered(&at(204, "40")), Next::Request);
    }
    assert!(refused(upload.answered(&at(204, "40"))));
    // It refuses what it has said.
    let mut upload = begun();
    let mut rounds = 0;
    loop {
        match upload.answered(&answer(409)) {
            Next::Request => assert_eq!(next(&upload), (Some("HEAD"), true, None)),
            end => break assert!(refused(end)),
        }
        if let end @ Next::Failed(_) = upload.answered(&at(200, "0")) {
            break assert!(refused(end));
        }
        rounds += 1;
        assert!(rounds < 10);
    }
    // It answers without an offset.
    let mut upload = begun();
    assert_eq!(upload.answered(&answer(204)), Next::Request);
    assert!(refused(upload.answered(&answer(200))));
    for bad in ["", "-1", "+1", "1.0", "0x1", "1e2", "9999999999999999999", "1, 2"] {
        let mut upload = begun();
        upload.interrupted();
        assert!(refused(upload.answered(&at(200, bad))), "{bad:?}");
    }
}
