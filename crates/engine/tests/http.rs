//! HTTP through the engine's own interface, against the embedded server.

use std::rc::Rc;

use crate::common::{handle, long, text, until_done};
use tables::{Code, EasyOption as O, MultiCode};
use testkit::http::HttpServer;
use warmwire_engine::Multi;
use warmwire_engine::callbacks::WriteAnswer;

#[test]
fn gets_over_one_kept_connection() {
    let server = HttpServer::plain();
    let (easy, app) = handle(&server.url("/bytes/1000"));
    for _ in 0..20 {
        assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    }
    assert_eq!(app.body.borrow().len(), 20_000);
    assert_eq!(easy.state().info.borrow().response_code, 200);
    assert_eq!(server.accepts(), 1);
    assert!(app.headers.borrow().starts_with(b"HTTP/1.1 200 OK\r\n"));
}

#[test]
fn long_body_is_whole() {
    let server = HttpServer::plain();
    let (easy, app) = handle(&server.url("/bytes/3351140"));
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(app.body.borrow().len(), 3_351_140);
}

#[test]
fn an_idle_connection_that_died_is_replaced() {
    let server = HttpServer::plain();
    let (easy, _app) = handle(&server.url("/bytes/10"));
    assert_eq!(easy.perform(), Code::Ok);
    server.close_connections().unwrap();
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(server.accepts(), 2);
}

#[test]
fn posts_and_puts() {
    let server = HttpServer::plain();
    let (easy, _app) = handle(&server.url("/echo"));
    text(&easy, O::CopyPostFields, "name=value");
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    let request = server.last_request().unwrap();
    assert_eq!(request.body, b"name=value");
    assert_eq!(request.field("Content-Type"), Some("application/x-www-form-urlencoded"));

    let (easy, app) = handle(&server.url("/echo"));
    *app.upload.borrow_mut() = vec![b'x'; 300_000];
    long(&easy, O::Upload, 1);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    let request = server.last_request().unwrap();
    assert_eq!(request.field("Transfer-Encoding"), Some("chunked"));
    assert_eq!(request.body.len(), 300_000);
}

#[test]
fn refused_and_unknown() {
    let (easy, _) = handle("http://127.0.0.1:1/");
    assert_eq!(easy.perform(), Code::CouldntConnect);
    assert!(easy.state().message().starts_with("Failed to connect to 127.0.0.1:1 after "));
    let (easy, _) = handle("http://no.such.host.invalid/");
    assert_eq!(easy.perform(), Code::CouldntResolveHost);
    let (easy, _) = handle("gopherx://h/");
    assert_eq!(easy.perform(), Code::UnsupportedProtocol);
}

#[test]
fn a_pause_gives_the_same_bytes_again() {
    let server = HttpServer::plain();
    let (easy, app) = handle(&server.url("/bytes/200000"));
    *app.answers.borrow_mut() =
        [WriteAnswer::All, WriteAnswer::Pause, WriteAnswer::All, WriteAnswer::Pause].into();
    let multi = Multi::default();
    assert_eq!(multi.add(&easy), MultiCode::Ok);
    let mut resumed = 0;
    let code = loop {
        multi.perform();
        if let Some((message, _)) = multi.next_message() {
            break message.code;
        }
        if easy.state().flow.receive_paused() {
            // There is no wait while the application is not ready.
            assert!(multi.interests().is_empty());
            resumed += 1;
            assert_eq!(easy.pause(0), Code::Ok);
        } else {
            multi.wait(&mut [], std::time::Duration::from_secs(1), false).unwrap();
        }
    };
    assert_eq!((code, resumed), (Code::Ok, 2));
    let expected = {
        let (easy, app) = handle(&server.url("/bytes/200000"));
        easy.perform();
        app
    };
    assert_eq!(*app.body.borrow(), *expected.body.borrow());
}

#[test]
fn removed_half_way() {
    let server = HttpServer::plain();
    let multi = Multi::default();
    let (easy, app) = handle(&server.url("/bytes/50000000"));
    multi.add(&easy);
    while app.body.borrow().is_empty() {
        multi.perform();
        multi.wait(&mut [], std::time::Duration::from_secs(1), false).unwrap();
    }
    assert_eq!(multi.remove(&easy), MultiCode::Ok);
    assert!(multi.interests().is_empty());
    assert_eq!(multi.running(), 0);
    // The handle serves again.
    text(&easy, O::Url, &server.url("/bytes/5"));
    multi.add(&easy);
    assert_eq!(until_done(&multi), Code::Ok);
}

#[test]
fn a_failing_write_callback_ends_the_transfer() {
    let server = HttpServer::plain();
    let (easy, app) = handle(&server.url("/bytes/100"));
    app.answers.borrow_mut().push_back(WriteAnswer::Failed(3));
    assert_eq!(easy.perform(), Code::WriteError);
    assert_eq!(easy.state().message(), "Failure writing output to destination, passed 100 returned 3");
}

#[test]
fn calls_back_into_its_own_handle() {
    let server = HttpServer::plain();
    let (easy, app) = handle(&server.url("/bytes/100"));
    let again = easy.clone();
    let url = server.url("/bytes/7");
    *app.on_write.borrow_mut() = Some(Rc::new(move || {
        assert_eq!(again.state().info.borrow().response_code, 200);
        again.state().settings.borrow_mut().set_long(O::TimeoutMs, 5000).unwrap();
        let (other, inner) = handle(&url);
        assert_eq!(other.perform(), Code::Ok);
        assert_eq!(inner.body.borrow().len(), 7);
        assert_eq!(again.perform(), Code::FailedInit);
    }));
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(app.body.borrow().len(), 100);
}

#[test]
fn follows_redirects() {
    let server = HttpServer::plain();
    let (easy, _) = handle(&server.url("/redirect/3"));
    long(&easy, O::FollowLocation, 1);
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    let info = easy.state().info.borrow();
    assert_eq!((info.response_code, info.redirect_count), (200, 3));
    assert_eq!(server.accepts(), 1);
}

/// However fast a body arrives, the application is called in between, and other events are processed.
// covers: curl_multi_perform
#[test]
fn one_run_moves_no_more_than_is_fair() {
    let path = std::env::temp_dir().join(format!("warmwire-fair-{}", std::process::id()));
    let length = 40 * 1024 * 1024;
    std::fs::File::create(&path).unwrap().set_len(length as u64).unwrap();
    let (easy, app) = handle(&format!("file://{}", path.display()));
    let multi = Multi::default();
    multi.add(&easy);
    let (mut runs, mut most, mut before) = (0, 0, 0);
    while multi.next_message().is_none() {
        assert_eq!(multi.timeout(), Some(std::time::Duration::ZERO), "there is more to do");
        multi.perform();
        let now = app.body.borrow().len();
        (runs, most, before) = (runs + 1, most.max(now - before), now);
    }
    std::fs::remove_file(&path).unwrap();
    assert_eq!(before, length);
    assert!(most <= 5 * 1024 * 1024 && (9..=20).contains(&runs), "{runs} runs, {most} bytes in one");
}
