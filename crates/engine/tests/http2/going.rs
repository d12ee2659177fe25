//! Servers that send GOAWAY (RFC 9113 §6.8): refused requests are sent again, accepted ones never, and the
//! connection is not reused.

use std::io;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};

use tables::Code;
use testkit::frames::{Frame, FramePeer, flag, kind};
use warmwire_engine::{Interest, Multi};

use super::{message, patient, put, to, together};

const ENHANCE_YOUR_CALM: u32 = 11;

#[test]
fn streams_beyond_goaway_are_repeated_and_others_answered() {
    let peer = FramePeer::start(|talk| {
        talk.greet(&[])?;
        let first = talk.request()?;
        if talk.number == 0 {
            let second = talk.request()?;
            talk.go_away(first, 0)?;
            assert_eq!((first, second), (1, 3));
        }
        talk.answer(first, 200, format!("on {}", talk.number).as_bytes())?;
        talk.hold()
    });
    let (one, two) = (to(&peer), to(&peer));
    patient(&[&one.0, &two.0]);
    assert_eq!(together(&Multi::default(), &[&one.0, &two.0]), [Code::Ok, Code::Ok]);
    assert_eq!((&one.1.body.borrow()[..], &two.1.body.borrow()[..]), (&b"on 0"[..], &b"on 1"[..]));
    assert_eq!((peer.accepts(), peer.requests(0), peer.requests(1)), (2, 2, 1));
}

/// A graceful end has two steps: a GOAWAY with the largest number, and then the definite one.
#[test]
fn a_graceful_end_in_two_steps_loses_nothing() {
    let peer = FramePeer::start(|talk| {
        talk.greet(&[])?;
        let first = talk.request()?;
        if talk.number == 0 {
            talk.go_away(0x7fff_ffff, 0)?;
            talk.head(first, &[(":status", "200")], false)?;
            talk.go_away(first, 0)?;
            talk.data(first, b"whole", true)?;
            return talk.hold();
        }
        talk.answer(first, 200, b"whole")?;
        talk.hold()
    });
    let (easy, app) = to(&peer);
    for accepts in 1..=2 {
        assert_eq!((easy.perform(), peer.accepts()), (Code::Ok, accepts), "{}", message(&easy));
    }
    assert_eq!(&app.body.borrow()[..], b"wholewhole");
}

/// The server replies, leaves and reads nothing any more; then a request is written. What it sent by then
/// counts all the same: the reply, and that it never started that request. No event need have reported it.
#[test]
fn replies_of_a_closed_server_are_read_to_the_end() {
    let (go, may_go) = channel();
    let may_go = Mutex::new(may_go);
    let peer = FramePeer::start(move |talk| {
        talk.greet(&[])?;
        let stream = talk.request()?;
        if talk.number == 0 {
            talk.until(acknowledges)?;
            let _ = may_go.lock().unwrap().recv();
            talk.go_away(stream, 0)?;
            talk.answer(stream, 200, b"on 0")?;
            return talk.break_off();
        }
        talk.answer(stream, 200, b"on 1")?;
        talk.hold()
    });
    let (one, two) = (to(&peer), to(&peer));
    patient(&[&one.0, &two.0]);
    let multi = Multi::default();
    multi.set_socket_hook(Some(Arc::new(super::sharing::Log::default())));
    multi.set_timer(Some(Rc::new(|_| true)));
    let drive = || {
        for (fd, interest) in multi.interests() {
            multi.socket_action(Some(fd), interest, false);
        }
        multi.socket_action(None, Interest::NONE, false);
    };
    multi.add(&one.0);
    // The server's first frames have been read, and more has been looked for.
    super::eventually(|| {
        drive();
        peer.accepts() == 1 && peer.frames(0).iter().any(acknowledges)
    });
    drive();
    go.send(()).unwrap();
    super::eventually(|| peer.ended() == 1);
    multi.add(&two.0);
    multi.socket_action(None, Interest::NONE, false);
    super::eventually(|| {
        drive();
        multi.running() == 0
    });
    while let Some((ended, _)) = multi.next_message() {
        assert_eq!(ended.code, Code::Ok, "{}", message(&ended.easy));
    }
    assert_eq!((&one.1.body.borrow()[..], &two.1.body.borrow()[..]), (&b"on 0"[..], &b"on 1"[..]));
    assert_eq!((peer.accepts(), peer.requests(1)), (2, 1));
    multi.remove(&one.0);
    multi.remove(&two.0);
}

/// A request that the server may have started is lost with it: it must not be repeated.
#[test]
fn started_requests_are_not_repeated() {
    let peer = FramePeer::start(|talk| {
        talk.greet(&[])?;
        let first = talk.request()?;
        talk.answer(first, 200, b"hi")?;
        let second = talk.request()?;
        if talk.number == 0 {
            talk.go_away(second, 0)?;
            return Err(io::ErrorKind::Other.into());
        }
        talk.answer(second, 200, b"again")?;
        talk.hold()
    });
    let (easy, _) = to(&peer);
    assert_eq!(easy.perform(), Code::Ok);
    assert_eq!((easy.perform(), peer.accepts()), (Code::Http2, 1), "{}", message(&easy));
}

/// Without a GOAWAY: a connection that served before died in between, and the request is sent again.
#[test]
fn a_kept_connection_that_dies_with_the_request_is_tried_anew() {
    let peer = FramePeer::start(|talk| {
        talk.greet(&[])?;
        let first = talk.request()?;
        talk.answer(first, 200, b"hi")?;
        talk.request()?;
        Err(io::ErrorKind::Other.into())
    });
    let (easy, _) = to(&peer);
    for accepts in 1..=2 {
        assert_eq!((easy.perform(), peer.accepts()), (Code::Ok, accepts), "{}", message(&easy));
    }
}

fn acknowledges(frame: &Frame) -> bool {
    frame.is(kind::SETTINGS, 0) && frame.flags == flag::ACK
}

/// A GOAWAY or a close by the peer of an idle connection.
fn idle(
    act: impl Fn(&mut testkit::frames::Talk) -> io::Result<()> + Send + Sync + 'static,
) -> (FramePeer, Receiver<()>) {
    let (sender, acted) = channel();
    let sender = Arc::new(Mutex::new(sender));
    let peer = FramePeer::start(move |talk| {
        talk.greet(&[])?;
        let stream = talk.request()?;
        talk.answer(stream, 200, b"hi")?;
        if talk.number == 0 {
            // The client has acknowledged our SETTINGS and has nothing more to send: it is idle.
            talk.until(acknowledges)?;
            let result = act(talk);
            let _ = sender.lock().unwrap().send(());
            result?;
        }
        talk.hold()
    });
    (peer, acted)
}

#[test]
fn an_idle_connection_whose_server_leaves_is_not_used_again() {
    for code in [0, ENHANCE_YOUR_CALM] {
        let (peer, acted) = idle(move |talk| talk.go_away(1, code));
        let (easy, _) = to(&peer);
        assert_eq!(easy.perform(), Code::Ok);
        acted.recv().unwrap();
        assert_eq!((easy.perform(), peer.accepts()), (Code::Ok, 2), "{}", message(&easy));
        assert_eq!(peer.requests(0), 1);
    }
}

#[test]
fn a_peer_that_talks_to_itself_keeps_its_connection() {
    let (peer, acted) = idle(|talk| {
        talk.send(testkit::frames::kind::PING, 0, 0, b"anybody?")?;
        talk.settings(&[(3, 50)])?;
        talk.give(0, 1000)
    });
    let (easy, _) = to(&peer);
    assert_eq!(easy.perform(), Code::Ok);
    acted.recv().unwrap();
    let put = put(&peer, 10);
    drop(put);
    // The second request is never answered here; only its destination matters.
    super::long(&easy, tables::EasyOption::TimeoutMs, 300);
    assert_eq!((easy.perform(), peer.accepts()), (Code::OperationTimedout, 1));
    let answered =
        |frame: &testkit::frames::Frame| frame.kind == testkit::frames::kind::PING && frame.flags == 1;
    super::eventually(|| peer.frames(0).iter().any(answered));
}

/// A client that is asked for calm does not retry by itself.
#[test]
fn a_goodbye_for_calm_ends_what_it_leaves_out() {
    let peer = FramePeer::start(|talk| {
        talk.greet(&[])?;
        talk.request()?;
        talk.go_away(0, ENHANCE_YOUR_CALM)?;
        talk.hold()
    });
    let (easy, _) = to(&peer);
    assert_eq!((easy.perform(), peer.accepts()), (Code::Http2Stream, 1));
    assert_eq!(message(&easy), "HTTP/2 stream 1 was not closed cleanly: ENHANCE_YOUR_CALM (err 11)");
}
