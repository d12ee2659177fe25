//! Heads and bodies both ways: interim replies, trailers, replies that overtake an upload, windows that are
//! shut.

use std::cell::Cell;
use std::io;
use std::io::Write;
use std::rc::Rc;
use std::time::Duration;

use tables::constant::CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
use tables::{Code, EasyOption as O};
use testkit::certs::Authority;
use testkit::frames::{FramePeer, Talk, kind};
use testkit::launch::{Http2Kind, Http2Server};
use warmwire_engine::Easy;
use warmwire_engine::why::event::Event;

use super::{handle, long, message, put, status, to};
use crate::common::text;

/// A peer that plays this for the first request, and answers a second one with "hi".
fn peer(act: impl Fn(&mut Talk, u32) -> io::Result<()> + Send + Sync + 'static) -> FramePeer {
    FramePeer::start(move |talk| {
        talk.greet(&[])?;
        let stream = talk.request()?;
        act(talk, stream)?;
        let stream = talk.request()?;
        talk.answer(stream, 200, b"hi")?;
        talk.hold()
    })
}

#[test]
fn interim_replies_heads_and_trailers_are_handed_on() {
    let peer = peer(|talk, stream| {
        talk.head(stream, &[(":status", "103"), ("link", "</a>")], false)?;
        talk.head(stream, &[(":status", "100")], false)?;
        talk.head(stream, &[(":status", "200"), ("x-a", "1"), ("x-a", "2")], false)?;
        talk.data(stream, b"body", false)?;
        talk.head(stream, &[("x-sum", "7")], true)
    });
    let (easy, app) = to(&peer);
    assert_eq!(easy.perform(), Code::Ok, "{}", message(&easy));
    let heads = "HTTP/2 103 \r\nlink: </a>\r\n\r\nHTTP/2 100 \r\n\r\nHTTP/2 200 \r\nx-a: 1\r\nx-a: 2\r\n\r\nx-sum: 7\r\n";
    assert_eq!(String::from_utf8_lossy(&app.headers.borrow()), heads);
    assert_eq!(&app.body.borrow()[..], b"body");
    assert_eq!((easy.perform(), peer.accepts()), (Code::Ok, 1));
}

/// Fields that RFC 9113 §8.2.1 forbids are refused with curl's codes, whichever option sets them, and nothing
/// of the request is sent.
#[test]
fn fields_with_line_breaks_are_refused() {
    let peer = peer(|talk, stream| talk.answer(stream, 200, b""));
    let set = |option: O, value: &str| {
        let (easy, _) = to(&peer);
        match option {
            O::HttpHeader => {
                let line: &[u8] = value.as_bytes();
                easy.state().settings.borrow_mut().set_list(option, Some(vec![line.into()])).unwrap();
            }
            _ => text(&easy, option, value),
        }
        easy
    };
    for value in ["a\nEvil: 1", "a\rb"] {
        for option in [O::UserAgent, O::Referer, O::Cookie, O::Range, O::AcceptEncoding] {
            assert_eq!(set(option, value).perform(), Code::BadFunctionArgument, "{option:?} {value:?}");
        }
        for name in ["X", "Host", "Accept", "Cookie"] {
            let line = format!("{name}: {value}");
            assert_eq!(set(O::HttpHeader, &line).perform(), Code::BadFunctionArgument, "{line:?}");
        }
        assert_eq!(set(O::CustomRequest, value).perform(), Code::UrlMalformat, "{value:?}");
        assert_eq!(set(O::RequestTarget, value).perform(), Code::UrlMalformat, "{value:?}");
    }
    assert!((0..peer.accepts()).all(|at| peer.frames(at).iter().all(|frame| frame.kind != kind::HEADERS)));

    let (easy, app) = to(&peer);
    *app.upload.borrow_mut() = vec![b'x'; 10];
    app.trailers.borrow_mut().push("X-Sum: 7\nEvil: 1");
    long(&easy, O::Upload, 1);
    assert_eq!(easy.perform(), Code::BadFunctionArgument);
}

/// covers: CURLOPT_TRAILERFUNCTION
#[test]
fn trailers_follow_an_upload() {
    let peer = peer(|talk, stream| {
        let length = talk.body(stream)?;
        talk.answer(stream, 200, length.to_string().as_bytes())
    });
    let (easy, app) = to(&peer);
    *app.upload.borrow_mut() = vec![b'x'; 100_000];
    app.trailers.borrow_mut().push("X-Sum: 7");
    long(&easy, O::Upload, 1);
    assert_eq!(easy.perform(), Code::Ok, "{}", message(&easy));
    assert_eq!(&app.body.borrow()[..], b"100000");
    let frames = peer.frames(0);
    let last = frames.iter().rfind(|frame| frame.stream == 1 && frame.kind != kind::RST_STREAM).unwrap();
    assert!(last.is(kind::HEADERS, 1) && last.ends(), "{last:?}");
}

#[test]
fn replies_without_a_body() {
    let peer = FramePeer::start(|talk| {
        talk.greet(&[])?;
        for status in ["200", "304", "204"] {
            let stream = talk.request()?;
            let length = if status == "204" { "0" } else { "12345" };
            talk.head(stream, &[(":status", status), ("content-length", length)], true)?;
        }
        talk.hold()
    });
    let (easy, app) = to(&peer);
    for wanted in [200, 304, 204] {
        long(&easy, O::NoBody, i64::from(wanted == 200));
        assert_eq!((easy.perform(), status(&easy)), (Code::Ok, wanted), "{}", message(&easy));
    }
    assert!(app.body.borrow().is_empty() && peer.accepts() == 1);
}

#[test]
fn ranges_and_codings() {
    let peer = FramePeer::start(|talk| {
        talk.greet(&[])?;
        let stream = talk.request()?;
        talk.head(stream, &[(":status", "206"), ("content-range", "bytes 5-9/10")], false)?;
        talk.data(stream, b"world", true)?;
        let stream = talk.request()?;
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(&[b'z'; 50_000])?;
        let packed = packed.finish()?;
        talk.head(stream, &[(":status", "200"), ("content-encoding", "gzip")], false)?;
        for piece in packed.chunks(7) {
            talk.data(stream, piece, false)?;
        }
        talk.data(stream, b"", true)?;
        talk.hold()
    });
    let (easy, app) = to(&peer);
    long(&easy, O::ResumeFromLarge, 5);
    text(&easy, O::AcceptEncoding, "");
    assert_eq!(easy.perform(), Code::Ok, "{}", message(&easy));
    assert_eq!(&app.body.take()[..], b"world");
    long(&easy, O::ResumeFromLarge, 0);
    assert_eq!((easy.perform(), peer.accepts()), (Code::Ok, 1), "{}", message(&easy));
    assert_eq!(app.body.take(), [b'z'; 50_000]);
}

/// The reply is whole while the body is still on its way: the rest of it stays here, and the connection
/// serves on.
#[test]
fn a_no_that_ends_ends_the_upload() {
    for (with_body, then_reset) in [(false, true), (false, false), (true, true), (true, false)] {
        let peer = peer(move |talk, stream| {
            talk.until(|frame| frame.kind == kind::DATA)?;
            match with_body {
                true => talk.answer(stream, 413, b"no")?,
                false => talk.head(stream, &[(":status", "413")], true)?,
            }
            if then_reset {
                talk.reset(stream, 0)?;
            }
            Ok(())
        });
        let (easy, app) = put(&peer, 10 << 20);
        assert_eq!((easy.perform(), status(&easy)), (Code::Ok, 413), "{}", message(&easy));
        assert_eq!(&app.body.take()[..], if with_body { &b"no"[..] } else { b"" });
        long(&easy, O::Upload, 0);
        assert_eq!((easy.perform(), peer.accepts()), (Code::Ok, 1), "{}", message(&easy));
        assert_eq!(&app.body.take()[..], b"hi");
        if !then_reset {
            super::eventually(|| peer.frames(0).iter().any(|frame| frame.is(kind::RST_STREAM, 1)));
        }
    }
}

/// A success that ends the stream and wants no more stops the upload; otherwise all of it is sent.
#[test]
fn a_yes_that_ends_does_not_end_the_upload_by_itself() {
    for reset in [true, false] {
        let peer = peer(move |talk, stream| {
            talk.until(|frame| frame.kind == kind::DATA)?;
            talk.answer(stream, 200, b"yes")?;
            match reset {
                true => talk.reset(stream, 0),
                false => {
                    talk.give(0, 10 << 20)?;
                    talk.give(stream, 10 << 20)?;
                    talk.body(stream).map(drop)
                }
            }
        });
        let (easy, app) = put(&peer, 1 << 20);
        assert_eq!((easy.perform(), status(&easy)), (Code::Ok, 200), "{}", message(&easy));
        assert_eq!(&app.body.take()[..], b"yes");
        long(&easy, O::Upload, 0);
        assert_eq!((easy.perform(), peer.accepts()), (Code::Ok, 1), "{}", message(&easy));
    }
}

/// An error behind a whole reply is none of the transfer's.
#[test]
fn a_whole_reply_counts_whatever_follows_it() {
    let peer = peer(|talk, stream| {
        talk.answer(stream, 200, b"whole")?;
        talk.reset(stream, 8)
    });
    let (easy, app) = to(&peer);
    assert_eq!(easy.perform(), Code::Ok, "{}", message(&easy));
    assert_eq!(&app.body.borrow()[..], b"whole");
}

#[test]
fn an_expectation_is_waited_for() {
    let peer = peer(|talk, stream| {
        if !talk.is_quiet(Duration::from_millis(100)) {
            // Frames in between may acknowledge SETTINGS, and are not body.
            let frame = talk.frame()?;
            assert_ne!(frame.kind, kind::DATA);
        }
        talk.head(stream, &[(":status", "100")], false)?;
        let length = talk.body(stream)?;
        talk.answer(stream, 200, length.to_string().as_bytes())
    });
    let (easy, app) = put(&peer, 300_000);
    easy.state()
        .settings
        .borrow_mut()
        .set_list(O::HttpHeader, Some(vec![b"Expect: 100-continue".as_slice().into()]))
        .unwrap();
    long(&easy, O::Expect100TimeoutMs, 60_000);
    assert_eq!(easy.perform(), Code::Ok, "{}", message(&easy));
    assert_eq!(&app.body.borrow()[..], b"300000");
}

/// The reasons contain the time for which the window was shut.
#[test]
fn an_upload_waits_for_a_window_that_is_shut() {
    let peer = FramePeer::start(|talk| {
        talk.greet(&[(4, 0)])?;
        let stream = talk.request()?;
        // Bytes sent before our SETTINGS arrived are accounted first.
        let mut ahead = 0;
        talk.until(|frame| {
            ahead += if frame.is(kind::DATA, stream) { frame.payload.len() } else { 0 };
            frame.kind == kind::SETTINGS && frame.flags == 1
        })?;
        talk.give(0, 1 << 20)?;
        assert!(talk.is_quiet(Duration::from_millis(100)), "nothing may come");
        talk.give(stream, ahead as u32 + 1)?;
        assert_eq!(talk.frame()?.payload.len(), 1);
        talk.settings(&[(4, 1000)])?;
        talk.give(stream, 1 << 20)?;
        let length = ahead + 1 + talk.body(stream)?;
        talk.answer(stream, 200, length.to_string().as_bytes())?;
        talk.hold()
    });
    let (easy, app) = put(&peer, 500_000);
    easy.state().why.keep(true.into());
    assert_eq!(easy.perform(), Code::Ok, "{}", message(&easy));
    assert_eq!(&app.body.borrow()[..], b"500000");
    let events = easy.state().why.read(|record| record.events.clone()).expect("the reasons are kept");
    let limited = events.into_iter().find_map(|(_, event)| match event {
        Event::Limited(limits) => Some(limits),
        _ => None,
    });
    let limits = limited.expect("a shut window is a limit");
    assert!(limits.window >= Duration::from_millis(80), "{limits:?}");
    assert_eq!(limits.buffer, Duration::ZERO);
}

/// A limited receive rate also limits the window to the amount of one second.
/// covers: CURLOPT_MAX_RECV_SPEED_LARGE
#[test]
fn a_limited_rate_keeps_the_window_small() {
    let peer = FramePeer::start(|talk| {
        talk.greet(&[])?;
        let stream = talk.request()?;
        talk.head(stream, &[(":status", "200")], false)?;
        let (mut window, mut most) = (65_536i64, 65_536i64);
        let mut left = 1i64 << 20;
        while left > 0 {
            while window > 0 && left > 0 {
                let n = window.min(left).min(16_384);
                talk.data(stream, &vec![b'x'; n as usize], n == left)?;
                (window, left) = (window - n, left - n);
            }
            if left > 0 {
                let more = talk.until(|frame| frame.is(kind::WINDOW_UPDATE, stream))?;
                window += i64::from(more.number(0));
                most = most.max(window);
            }
        }
        assert!(most <= 400_000, "{most}");
        talk.hold()
    });
    let (easy, app) = to(&peer);
    long(&easy, O::MaxRecvSpeedLarge, 400_000);
    let start = std::time::Instant::now();
    assert_eq!(easy.perform(), Code::Ok, "{}", message(&easy));
    assert_eq!(app.body.borrow().len(), 1 << 20);
    assert!(start.elapsed() > Duration::from_secs(1));
}

/// covers: CURLOPT_STREAM_WEIGHT
#[test]
fn a_weight_goes_with_the_head() {
    let peer = peer(|talk, stream| talk.answer(stream, 200, b"hi"));
    let (easy, _) = to(&peer);
    long(&easy, O::StreamWeight, 200);
    assert_eq!(easy.perform(), Code::Ok);
    let frames = peer.frames(0);
    let head = frames.iter().find(|frame| frame.is(kind::HEADERS, 1)).unwrap();
    assert_eq!((head.flags & 32, &head.payload[..5]), (32, &[0, 0, 0, 0, 199][..]));
    long(&easy, O::StreamWeight, 16);
    assert_eq!(easy.perform(), Code::Ok);
    let frames = peer.frames(0);
    let head = frames.iter().find(|frame| frame.is(kind::HEADERS, 3)).unwrap();
    assert_eq!(head.flags & 32, 0, "the usual weight is not sent");
}

/// Sets the priority of a handle, from within its callbacks, too.
fn prioritise(easy: &Easy, value: &str) {
    easy.state().settings.borrow_mut().set_priority(value.parse().ok());
}

/// RFC 9218 §5, §7.1: the field goes with the head, and a change is a frame of the connection.
#[test]
fn a_priority_goes_with_the_head_and_changes_by_a_frame() {
    const PRIORITY_UPDATE: u8 = 16;
    let peer = peer(|talk, stream| {
        talk.head(stream, &[(":status", "200")], false)?;
        talk.data(stream, b"one", false)?;
        talk.until(|frame| frame.kind == PRIORITY_UPDATE)?;
        talk.data(stream, b"two", true)
    });
    let (easy, app) = to(&peer);
    prioritise(&easy, "u=5, i");
    let (easy, again) = (Rc::new(easy), Cell::new(false));
    let handle = Rc::downgrade(&easy);
    *app.on_write.borrow_mut() = Some(Rc::new(move || {
        // The second write is of the same priority, for which there is no other frame.
        let value = if again.replace(true) { "u=0" } else { "u=0, i=?0" };
        prioritise(&handle.upgrade().unwrap(), value);
    }));
    assert_eq!(easy.perform(), Code::Ok, "{}", message(&easy));
    assert_eq!(&app.body.borrow()[..], b"onetwo");
    let frames = peer.frames(0);
    let updates: Vec<_> = frames.iter().filter(|frame| frame.kind == PRIORITY_UPDATE).collect();
    assert_eq!(updates.len(), 1);
    assert_eq!((updates[0].stream, &updates[0].payload[..]), (0, &b"\0\0\0\x01u=0"[..]));
}

/// nghttpd 1.52 shows the priority that it received, and ignores frames of a type that it does not know.
#[test]
fn nghttpd_reads_the_priority_and_takes_its_change() {
    const SIZE: usize = 20_000_000;
    let authority = Authority::new();
    let server = Http2Server::start(Http2Kind::NghttpdLogging, &authority.good(), &[SIZE]).unwrap();
    let (easy, app) = handle(&server.http(&format!("/bytes-{SIZE}")));
    long(&easy, O::HttpVersion, CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
    prioritise(&easy, "u=6");
    let easy = Rc::new(easy);
    let handle = Rc::downgrade(&easy);
    *app.on_write.borrow_mut() = Some(Rc::new(move || prioritise(&handle.upgrade().unwrap(), "u=2, i")));
    assert_eq!(easy.perform(), Code::Ok, "{}", message(&easy));
    assert_eq!(app.body.borrow().len(), SIZE);
    let log = server.log();
    assert!(log.contains("priority: u=6\n"), "{log}");
}

/// curl 8.22 refuses a head of more than 64 KiB before it opens a stream (a long URL, a large password for
/// Basic).
#[test]
fn a_head_beyond_64_kib_is_not_sent() {
    let peer = FramePeer::start(|talk| {
        talk.greet(&[])?;
        let stream = talk.request()?;
        talk.answer(stream, 200, b"hi")?;
        talk.hold()
    });
    let (easy, _) = to(&peer);
    text(&easy, O::UserAgent, &"v".repeat(66_000));
    assert_eq!(easy.perform(), Code::SendError);
    assert_eq!(message(&easy), "Failed sending data to the peer");
    assert_eq!(status(&easy), 0);
    text(&easy, O::UserAgent, &"v".repeat(60_000));
    assert_eq!(easy.perform(), Code::Ok, "{}", message(&easy));
    assert_eq!(easy.state().info.borrow().connects, 0, "the connection has stayed");
}
