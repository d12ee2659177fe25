//! Delivery of bodies: one chunk at a time, and decoded only as far as the application accepts them
//! (CURLOPT_WRITEFUNCTION.md, curl_easy_pause.md, CURLOPT_MAXFILESIZE_LARGE.md).

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::common::{handle, long, text};
use flate2::Compression;
use flate2::write::GzEncoder;
use tables::{Code, EasyOption as O};
use testkit::raw::{RawPeer, Step, expect};
use warmwire_engine::Multi;
use warmwire_engine::callbacks::WriteAnswer;

fn serve(head: &str, body: &[u8]) -> RawPeer {
    let reply = [format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n").as_bytes(), body].concat();
    RawPeer::start(vec![vec![expect("\r\n\r\n"), Step::Send(reply)]])
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    std::io::Write::write_all(&mut encoder, plain).unwrap();
    encoder.finish().unwrap()
}

/// Zeros, coded twice: a thousand bytes are a gigabyte.
fn bomb(len: usize) -> RawPeer {
    let once = gzip(&vec![0; len]);
    let body = gzip(&once);
    serve(&format!("Content-Encoding: gzip, gzip\r\nContent-Length: {}", body.len()), &body)
}

/// covers: CURLOPT_WRITEFUNCTION
#[test]
fn chunks_are_handed_out_one_by_one() {
    let body = b"5\r\nhello\r\n1\r\n \r\n6;x=y\r\nworld!\r\n0\r\n\r\n";
    for pauses in [false, true] {
        let peer = serve("Transfer-Encoding: chunked", body);
        let (easy, app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
        let pieces = Rc::new(RefCell::new(Vec::new()));
        let (seen, kept) = (pieces.clone(), Rc::downgrade(&app));
        *app.on_write.borrow_mut() = Some(Rc::new(move || {
            seen.borrow_mut().push(kept.upgrade().unwrap().body.borrow().len());
        }));
        if pauses {
            app.answers.borrow_mut().extend([WriteAnswer::All, WriteAnswer::Pause]);
        }
        let multi = Multi::default();
        multi.add(&easy);
        let code = loop {
            multi.perform();
            if let Some((message, _)) = multi.next_message() {
                break message.code;
            }
            if easy.state().flow.receive_paused() {
                easy.pause(0);
            }
            multi.wait(&mut [], Duration::from_millis(10), false).unwrap();
        };
        assert_eq!((code, app.body.borrow().as_slice()), (Code::Ok, &b"hello world!"[..]));
        let wanted: &[usize] = if pauses { &[0, 5, 5, 6] } else { &[0, 5, 6] };
        assert_eq!(*pieces.borrow(), wanted, "what had come before each call");
    }
}

/// covers: CURLOPT_ACCEPT_ENCODING
#[test]
fn a_bomb_leaves_others_their_turn_and_stops_at_a_pause() {
    const LEN: usize = 64 << 20;
    let peer = bomb(LEN);
    let (easy, app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    text(&easy, O::AcceptEncoding, "gzip");
    let multi = Multi::default();
    multi.add(&easy);
    let mut most = 0;
    let mut before = 0;
    while app.body.borrow().len() < LEN / 2 {
        multi.perform();
        let now = app.body.borrow().len();
        most = most.max(now - before);
        before = now;
        multi.wait(&mut [], Duration::from_millis(10), false).unwrap();
    }
    assert!(most <= 5 << 20, "{most} in one run");
    easy.pause(1);
    let paused_at = app.body.borrow().len();
    for _ in 0..10 {
        multi.perform();
        multi.wait(&mut [], Duration::from_millis(1), false).unwrap();
    }
    assert_eq!(app.body.borrow().len(), paused_at);
    easy.pause(0);
    assert_eq!(crate::common::until_done(&multi), Code::Ok, "{}", easy.state().message());
    assert_eq!(app.body.borrow().len(), LEN);
}

/// covers: CURLOPT_MAXFILESIZE_LARGE
#[test]
fn a_bomb_over_the_limit_writes_nothing_beyond_it() {
    let peer = bomb(64 << 20);
    let (easy, app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    text(&easy, O::AcceptEncoding, "gzip");
    long(&easy, O::MaxFileSizeLarge, 5000);
    let begun = Instant::now();
    assert_eq!(easy.perform(), Code::FilesizeExceeded);
    assert_eq!(app.body.borrow().len(), 0);
    assert!(begun.elapsed() < Duration::from_secs(2));
}

#[test]
fn a_field_with_a_blank_before_its_colon_is_none() {
    let peer = serve("Content-Length : 2\r\nTransfer-Encoding : chunked\r\nConnection: close", b"whole body");
    let (easy, app) = handle(&format!("http://127.0.0.1:{}/", peer.port()));
    assert_eq!(easy.perform(), Code::Ok, "{}", easy.state().message());
    assert_eq!(*app.body.borrow(), b"whole body");
}
