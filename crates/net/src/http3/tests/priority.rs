//! Priorities of requests that change (RFC 9218).

use super::peer::{Answer, Habits, Peer};
use super::{body, get, open, request, run, session, until};

/// RFC 9218 §7.2: the frame is one of the control stream, and names the stream of the request.
#[test]
fn a_priority_changes_on_the_control_stream() {
    let answers = vec![Answer::Body(10), Answer::Body(3_000_000)];
    let peer = Peer::start(Habits { answers, ..Habits::default() });
    let peer = run(|rt| async move {
        let connection = open(&rt, &peer).await;
        let (http3, rested) = session(&rt, connection);
        assert_eq!(get(&http3).await.unwrap(), 10);
        let mut second = request(&http3, true).unwrap();
        second.update_priority("u=1, i");
        assert_eq!(body(&mut second).await.unwrap(), 3_000_000);
        drop(second);
        until(&rt, || rested.take().is_some_and(|left| left.session.is_some())).await;
        peer
    });
    let sent = peer.end().unidirectional;
    // The type 0xf0700 in four octets, the length, the stream 4, and the value.
    let frame = [&[0x80, 0x0f, 0x07, 0x00, 7, 4][..], b"u=1, i"].concat();
    assert!(sent.windows(frame.len()).any(|window| window == frame), "{}", sent.escape_ascii());
}
