//! Sessions that move between two requests send and accept exactly what those do that stay.

use super::*;

impl Pair {
    /// Moves the session to another process.
    fn moves(&mut self) {
        let snapshot = self.session.snapshot().expect("nothing is in transit");
        let session = Session::restore(&snapshot).unwrap();
        assert_eq!(session.snapshot().as_ref(), Some(&snapshot));
        self.session = session;
    }

    /// Makes a request with that cookie and reads its reply. Returns all that was sent, as bytes and as its
    /// server reads it, and the events.
    fn round(&mut self, cookie: &str) -> (Vec<u8>, Vec<String>, Vec<String>) {
        let id = self.session.open(
            GET.iter().copied().chain([("cookie", cookie), ("x-same", "each time")]).map(|f| field(&f)),
            Opening { end: true, ..Opening::default() },
        );
        let number = id.unwrap().number();
        let mut sent = Vec::new();
        self.session.write_into(&mut sent, 1 << 20);
        let mut reply = self.head(number, 0, &[(":status", "200"), ("set-cookie", cookie), ("server", "s")]);
        reply.extend(bytes(kind::DATA, flag::END_STREAM, number, &[b'x'; 5000]));
        let events = self.feed(&reply).unwrap();
        self.session.write_into(&mut sent, 1 << 20);
        let read = self.read(&sent);
        (sent, read, events)
    }
}

#[test]
fn a_session_that_moves_sends_what_one_sends_that_stays() {
    let config = Config { connection_window: 70_000, ..Config::default() };
    let (mut stays, mut moves) = (Pair::greeted(config.clone()), Pair::greeted(config));
    let settings = [setting(3, 7), setting(1, 1000), setting(4, 99), setting(1, 0), setting(1, 2000)];
    for round in 0..60 {
        let cookie = format!("a cookie that is entered={}", round % 7);
        assert_eq!(moves.round(&cookie), stays.round(&cookie), "round {round}");
        if round % 4 == 1 {
            for pair in [&mut stays, &mut moves] {
                pair.feed(&settings[round / 4 % settings.len()]).unwrap();
                assert_eq!(pair.sent(), ["SETTINGS 1 0"]);
            }
        }
        moves.moves();
    }
    assert_eq!(moves.session.streams.highest, [119, 0]);
}

#[test]
fn windows_and_limits_move() {
    let mut pair = Pair::greeted(Config::default());
    pair.feed(&[setting(4, 10), setting(3, 2)].concat()).unwrap();
    let id = pair.post();
    pair.sent();
    assert_eq!(pair.session.queue(id, &[0; 100]), 10);
    pair.session.end(id);
    pair.sent();
    let reply = pair.head(1, flag::END_STREAM, &[(":status", "204")]);
    pair.feed(&reply).unwrap();
    pair.moves();
    assert_eq!(pair.session.snapshot().unwrap().send_window, 65_535 - 10);
    assert_eq!((pair.session.max_streams(), pair.session.vacancies()), (2, 2));
    let id = pair.post();
    assert_eq!((id.number(), pair.session.room(id)), (3, 10));
}

#[test]
fn a_session_with_something_in_transit_stays() {
    let pair = Pair::new(Config::default());
    assert!(pair.session.snapshot().is_none(), "SETTINGS of the server are missing");
    let changes: [fn(&mut Pair); 6] = [
        |pair| _ = pair.get(),
        |pair| pair.session.ping([1; 8]),
        |pair| drop(pair.feed(&bytes(kind::PING, 0, 0, &[0; 8])[..5])),
        |pair| drop(pair.feed(&bytes(kind::PING, 0, 0, &[0; 8])[..12])),
        |pair| drop(pair.feed(&bytes(kind::GOAWAY, 0, 0, &[0; 8]))),
        |pair| {
            let id = pair.get();
            pair.session.reset(id, ErrorCode::CANCEL);
            pair.sent();
        },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut pair = Pair::greeted(Config::default());
        assert!(pair.session.snapshot().is_some());
        change(&mut pair);
        assert!(pair.session.snapshot().is_none(), "change {number}");
    }
}
