//! Requests beyond the number of streams that the peer permits.

use super::*;

/// More requests than the peer allows at once: each starts when another has ended.
#[test]
fn requests_wait_for_room() {
    let peer = Peer::start(Habits { streams: Some(3), ..Habits::default() });
    run(|rt| async move {
        let connection = open(&rt, &peer).await;
        let (http3, _rested) = session(&rt, connection);
        let _stays = Reservation::promised(http3.clone());
        let done = Rc::new(Cell::new(0));
        for _ in 0..40 {
            let (http3, done) = (http3.clone(), done.clone());
            rt.spawn(Box::pin(async move {
                let mut stream = None;
                while stream.is_none() {
                    poll_fn(|cx| http3.poll_vacancy(cx)).await;
                    stream = request(&http3, true);
                }
                assert_eq!(body(&mut stream.unwrap()).await.unwrap(), 10);
                done.set(done.get() + 1);
            }));
        }
        until(&rt, || done.get() == 40).await;
    });
}

/// The permission for a stream returns after another has ended: a request waits for it, and opens no
/// connection. A peer that has never renewed one is not waited for.
#[test]
fn an_expected_stream_is_a_vacancy() {
    let silence = || Answer::Silence;
    let answers = vec![Answer::Body(10), silence(), silence(), silence()];
    let peer = Peer::start(Habits { streams: Some(3), answers, ..Habits::default() });
    run(|rt| async move {
        let connection = open(&rt, &peer).await;
        let (http3, _rested) = session(&rt, connection);
        let [mut first, second, third] = [(); 3].map(|()| request(&http3, true).unwrap());
        assert_eq!(http3.vacancies(), 0, "all are in use");
        assert_eq!(body(&mut first).await.unwrap(), 10);
        drop(first);
        assert_eq!(http3.vacancies(), 0, "nothing shows that the peer renews its permissions");
        poll_fn(|cx| http3.poll_vacancy(cx)).await;
        let fourth = request(&http3, true).unwrap();
        assert_eq!(http3.vacancies(), 0, "all are in use again");
        drop(fourth);
        assert_eq!((http3.vacancies(), request(&http3, true).is_none()), (1, true), "one is expected");
        drop((second, third));
        assert_eq!(http3.vacancies(), 0, "no stream runs whose end could bring one");
    });
}
