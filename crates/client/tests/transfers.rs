//! The Rust API against servers on loopback: requests, results, callbacks, failures.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

use testkit::certs::Authority;
use testkit::ftp::FtpServer;
use testkit::http::HttpServer;
use testkit::raw::RawPeer;
use warmwire::LockData;
use warmwire::callbacks::{DebugKind, ReadAnswer, SeekAnswer, WriteAnswer};
use warmwire::mime::{Content, Escape, Part};
use warmwire::{Code, Easy, EasyOption as O, Form, FormSource, Handle, Multi, Share, Value};

fn handle(url: &str) -> Handle {
    let mut handle = Handle::new();
    handle.set(O::Url, url).unwrap();
    handle
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_reply_has_status_head_and_body() {
    let server = HttpServer::plain();
    let reply = handle(&server.url("/bytes/1000")).fetch().unwrap();
    assert_eq!((reply.status, reply.body), (200, testkit::body::pattern(1000)));
    let head = text(&reply.head);
    assert!(head.starts_with("HTTP/1.1 200 ") && head.ends_with("\r\n\r\n"), "{head}");
    let missing = handle(&server.url("/status/404")).fetch().unwrap();
    assert_eq!(missing.status, 404);
}

#[test]
fn a_handle_keeps_its_connection_and_its_options() {
    let server = HttpServer::plain();
    let mut handle = handle(&server.url("/bytes/1"));
    handle.set(O::HttpHeader, vec![b"X-Kept: yes".to_vec()]).unwrap();
    for _ in 0..3 {
        handle.fetch().unwrap();
        assert_eq!(server.last_request().unwrap().field("X-Kept"), Some("yes"));
    }
    assert_eq!((server.accepts(), server.served()), (1, 3));
    handle.set(O::HttpHeader, Value::Default).unwrap();
    handle.fetch().unwrap();
    assert_eq!(server.last_request().unwrap().field("X-Kept"), None);
}

#[test]
fn a_post_from_memory() {
    let server = HttpServer::plain();
    let mut handle = handle(&server.url("/body"));
    handle.set(O::CopyPostFields, "a=b&c=d").unwrap();
    assert_eq!(text(&handle.fetch().unwrap().body), "a=b&c=d");
    assert_eq!(server.last_request().unwrap().method, "POST");
}

/// Provides a text, a few bytes at a time.
fn source(handle: &mut Handle, content: &'static [u8]) {
    let place = Rc::new(Cell::new(0));
    let sought = place.clone();
    handle.on_read(move |buffer| {
        let rest = &content[place.get()..];
        let count = rest.len().min(buffer.len()).min(7);
        buffer[..count].copy_from_slice(&rest[..count]);
        place.set(place.get() + count);
        ReadAnswer::Bytes(count)
    });
    handle.on_seek(move |offset| {
        sought.set(offset as usize);
        SeekAnswer::Done
    });
}

#[test]
fn an_upload_from_a_closure() {
    let server = HttpServer::plain();
    let mut known = handle(&server.url("/body"));
    known.set(O::Upload, true).unwrap();
    known.set(O::InFileSizeLarge, 16).unwrap();
    source(&mut known, b"sixteen bytes ok");
    assert_eq!(text(&known.fetch().unwrap().body), "sixteen bytes ok");
    let request = server.last_request().unwrap();
    assert_eq!((request.method.as_str(), request.field("Content-Length")), ("PUT", Some("16")));
    assert_eq!(known.info(|info| info.uploaded()), 16);
    let mut unknown = handle(&server.url("/body"));
    unknown.set(O::Upload, true).unwrap();
    source(&mut unknown, b"who knows how long");
    assert_eq!(text(&unknown.fetch().unwrap().body), "who knows how long");
    assert_eq!(server.last_request().unwrap().field("Transfer-Encoding"), Some("chunked"));
}

#[test]
fn an_upload_that_has_to_be_sent_again() {
    let server = HttpServer::plain();
    let mut handle = handle(&server.url("/basic/me/secret"));
    handle.set(O::Upload, true).unwrap();
    handle.set(O::InFileSizeLarge, 10).unwrap();
    handle.set(O::HttpAuth, 0xffff_ffef_i64).unwrap(); // any method
    handle.set(O::UserPwd, "me:secret").unwrap();
    source(&mut handle, b"ten bytes!");
    assert_eq!(handle.fetch().unwrap().status, 200);
    assert_eq!(server.last_request().unwrap().body, b"ten bytes!");
}

#[test]
fn an_upload_to_ftp() {
    let server = FtpServer::with_file("/old", "x");
    let mut handle = handle(&server.url("/new"));
    handle.set(O::Upload, true).unwrap();
    source(&mut handle, b"by ftp");
    handle.perform().unwrap();
    assert_eq!(server.file("/new").unwrap(), b"by ftp");
}

#[test]
fn a_form_of_memory_and_files() {
    let server = HttpServer::plain();
    let file = std::env::temp_dir().join(format!("warmwire-client-{}.txt", std::process::id()));
    std::fs::write(&file, "from a file").unwrap();
    let part = |name: &str, content: Content<FormSource>| Part {
        name: Some(name.as_bytes().to_vec()),
        content,
        ..Part::default()
    };
    let memory = part("field", Content::Memory(Rc::from(b"value".as_slice())));
    let upload = Part { filename: Some(b"n.txt".to_vec()), ..part("file", Form::file(&file).unwrap()) };
    let reader: Rc<RefCell<dyn std::io::Read>> = Rc::new(RefCell::new(b"read once".as_slice()));
    let once = Content::Source { source: FormSource::Reader(reader), size: None, path: None };
    let mut handle = handle(&server.url("/body"));
    handle.set(O::MimePost, Form::new(vec![memory, upload, part("once", once)], Escape::Percent)).unwrap();
    let body = text(&handle.fetch().unwrap().body);
    for piece in
        ["name=\"field\"\r\n\r\nvalue\r\n", "name=\"file\"; filename=\"n.txt\"", "from a file", "read once"]
    {
        assert!(body.contains(piece), "{piece}: {body}");
    }
    assert!(
        server.last_request().unwrap().field("Content-Type").unwrap().starts_with("multipart/form-data; ")
    );
    let _ = std::fs::remove_file(file);
    assert_eq!(handle.set(O::Url, Form::new(Vec::new(), Escape::Percent)), Err(Code::BadFunctionArgument));
}

#[test]
fn progress_is_reported_and_can_abort_the_transfer() {
    let server = HttpServer::plain();
    let mut handle = handle(&server.url("/bytes/300000"));
    handle.set(O::NoProgress, false).unwrap();
    let seen = Rc::new(Cell::new((0, 0)));
    let last = seen.clone();
    handle.on_progress(move |counts| {
        last.set((counts.download_now, counts.download_total));
        true
    });
    handle.fetch().unwrap();
    assert_eq!(seen.get(), (300_000, 300_000));
    handle.on_progress(|counts| counts.download_now == 0);
    let failure = handle.fetch().unwrap_err();
    assert_eq!(failure.code, Code::AbortedByCallback);
    // The handle is as good as before.
    handle.on_progress(|_| true);
    assert_eq!(handle.fetch().unwrap().body.len(), 300_000);
}

#[test]
fn verbose_mode_reports_heads_and_data() {
    let server = HttpServer::plain();
    let mut handle = handle(&server.url("/bytes/5"));
    handle.set(O::Verbose, true).unwrap();
    let debug_output: Rc<RefCell<HashMap<u8, Vec<u8>>>> = Rc::default();
    let log = debug_output.clone();
    handle.on_debug(move |kind, data| {
        let key = match kind {
            DebugKind::HeaderOut => b'>',
            DebugKind::HeaderIn => b'<',
            DebugKind::DataIn => b'{',
            _ => b'*',
        };
        log.borrow_mut().entry(key).or_default().extend_from_slice(data);
    });
    handle.fetch().unwrap();
    let debug_output = debug_output.borrow();
    assert!(
        debug_output[&b'>'].starts_with(b"GET /bytes/5 HTTP/1.1\r\n")
            && debug_output[&b'<'].starts_with(b"HTTP/1.1 200")
    );
    assert_eq!(debug_output[&b'{'], testkit::body::pattern(5));
    assert!(text(&debug_output[&b'*']).contains("Established connection to 127.0.0.1"));
}

#[test]
fn closures_can_end_a_transfer() {
    let server = HttpServer::plain();
    let mut handle = handle(&server.url("/bytes/100"));
    handle.on_write(|_| WriteAnswer::Failed(0));
    assert_eq!(handle.perform().unwrap_err().code, Code::WriteError);
    handle.on_write(|_| WriteAnswer::All);
    handle
        .on_header(|line| if line.starts_with(b"HTTP") { WriteAnswer::Failed(0) } else { WriteAnswer::All });
    assert_eq!(handle.perform().unwrap_err().code, Code::WriteError);
    handle.set(O::Upload, true).unwrap();
    handle.on_header(|_| WriteAnswer::All);
    handle.on_read(|_| ReadAnswer::Abort);
    assert_eq!(handle.perform().unwrap_err().code, Code::AbortedByCallback);
}

#[test]
fn a_closure_may_use_its_own_handle() {
    let server = HttpServer::plain();
    let mut handle = handle(&server.url("/bytes/100"));
    let easy = handle.easy().clone();
    let seen = Rc::new(Cell::new(0));
    let status = seen.clone();
    handle.on_write(move |_| {
        status.set(easy.info(|info| info.response_code()));
        WriteAnswer::All
    });
    handle.perform().unwrap();
    assert_eq!(seen.get(), 200);
    // The closure holds the handle, and the handle the closure: the cycle has to be broken.
    handle.on_write(|_| WriteAnswer::All);
}

/// Runs until all have ended; how each did.
fn run_all(multi: &Multi, handles: &[Handle]) -> Vec<Code> {
    let mut codes = vec![None; handles.len()];
    for handle in handles {
        multi.add(handle.easy());
    }
    while codes.iter().any(Option::is_none) {
        multi.perform();
        while let Some((message, _)) = multi.next_message() {
            let same = |easy: &Easy| *easy == message.easy;
            let at = handles.iter().position(|handle| same(handle.easy())).unwrap();
            codes[at] = Some(message.code);
            multi.remove(&message.easy);
        }
        multi.wait(&mut [], Duration::from_millis(200), true).unwrap();
    }
    codes.into_iter().flatten().collect()
}

#[test]
fn many_transfers_on_one_thread() {
    let server = HttpServer::plain();
    let multi = Multi::default();
    let mut handles: Vec<Handle> =
        (0..8).map(|at| handle(&server.url(&format!("/delay/200/bytes/{}", 1000 + at)))).collect();
    handles.push(handle(&format!("http://127.0.0.1:{}/", RawPeer::refused_port())));
    let began = std::time::Instant::now();
    let codes = run_all(&multi, &handles);
    assert!(began.elapsed() < Duration::from_millis(1400), "one after the other would take longer");
    assert_eq!(codes[..8], [Code::Ok; 8]);
    assert_eq!(codes[8], Code::CouldntConnect);
    for (at, handle) in handles[..8].iter().enumerate() {
        assert_eq!(handle.info(|info| info.downloaded()), 1000 + at as i64);
    }
}

#[test]
fn a_share_holds_cookies_for_several_handles() {
    let server = HttpServer::plain();
    let share = Share::default();
    share.set_kind(LockData::Cookie, true);
    let mut first = handle(&server.url("/cookies/set/name/value"));
    let mut second = handle(&server.url("/cookies"));
    for handle in [&mut first, &mut second] {
        handle.easy().set_share(Some(share.clone()));
        handle.set(O::CookieFile, "").unwrap();
    }
    first.fetch().unwrap();
    assert_eq!(text(&second.fetch().unwrap().body), "name=value");
    let mut apart = handle(&server.url("/cookies"));
    assert_eq!(text(&apart.fetch().unwrap().body), "");
}

#[test]
fn failures_say_what_failed() {
    let server = HttpServer::plain();
    let failed = |handle: &mut Handle| {
        let failure = handle.fetch().unwrap_err();
        (failure.code, failure.message)
    };
    let refused = failed(&mut handle(&format!("http://127.0.0.1:{}/", RawPeer::refused_port())));
    assert_eq!(refused.0, Code::CouldntConnect);
    assert!(refused.1.contains("Could not connect to server"), "{}", refused.1);
    let mut slow = handle(&server.url("/delay/3000/bytes/1"));
    slow.set(O::TimeoutMs, 100).unwrap();
    assert_eq!(failed(&mut slow).0, Code::OperationTimedout);
    let mut strict = handle(&server.url("/status/404"));
    strict.set(O::FailOnError, true).unwrap();
    assert_eq!(
        failed(&mut strict),
        (Code::HttpReturnedError, "The requested URL returned error: 404".into())
    );
    assert_eq!(failed(&mut handle("http://")).0, Code::UrlMalformat);
    assert_eq!(failed(&mut handle("nope://x/")).0, Code::UnsupportedProtocol);
    assert_eq!(failed(&mut handle(&server.url("/cut/500/bytes/1000"))).0, Code::PartialFile);
    let shown = handle("nope://x/").fetch().unwrap_err().to_string();
    assert!(shown.starts_with("(1) "), "{shown}");
}

#[test]
fn certificates_are_judged() {
    let authority = Authority::new();
    let server = HttpServer::tls(authority.good().server_config().unwrap());
    let mut handle = handle(&server.url("/bytes/3"));
    assert_eq!(handle.fetch().unwrap_err().code, Code::PeerFailedVerification);
    handle.set(O::CaInfoBlob, authority.ca_pem().as_bytes().to_vec()).unwrap();
    assert_eq!(handle.fetch().unwrap().body.len(), 3);
    assert_eq!(handle.info(|info| info.verify_result()), 0);
}

#[test]
fn options_refuse_values_of_other_types_and_ranges() {
    let mut handle = Handle::new();
    assert!(handle.set(O::Timeout, -1).is_err());
    assert!(handle.set(O::HttpHeader, "text").is_err());
    assert!(handle.set(O::Url, 1).is_err());
    assert_eq!(handle.set(O::SslEngine, "x"), Err(Code::SslEngineNotfound));
}
