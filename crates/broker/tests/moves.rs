//! A broker and its clients in one process: moving connections, limits, records, restarts.

use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use crate::common::{PATIENCE, Running, connection, eventually, give, is_closed, key, parcel, talk};
use broker::{Client, Limits, MAX_RECORD, MAX_STATE, Unavailable};

#[test]
fn a_connection_moves_with_its_state() {
    let running = Running::new(Limits::default());
    let (client, server) = connection();
    let state: Vec<u8> = (0..MAX_STATE).map(|number| number as u8).collect();
    give(&running.client(), 1, client, &state).unwrap();
    let taker = running.client();
    let taken = taker.take(&key(&taker, 1)).unwrap().unwrap();
    assert!(*taken.state == state);
    assert_eq!(taken.uses, 3);
    assert!((9..30).contains(&taken.age.as_secs()) && (1..20).contains(&taken.idle.as_secs()));
    talk(&TcpStream::from(taken.socket), &server);
    assert!(taker.take(&key(&taker, 1)).unwrap().is_none());
}

#[test]
fn keys_are_compared_as_a_whole() {
    let running = Running::new(Limits::default());
    let client = running.client();
    let (socket, _server) = connection();
    let secret = client.secret().unwrap();
    let until = Instant::now() + PATIENCE;
    client.give(&secret.key([5; 32]), &parcel(&socket, b""), until).unwrap();
    for place in 0..32 {
        let mut other = [5; 32];
        other[place] ^= 1;
        assert!(client.take(&secret.key(other)).unwrap().is_none(), "{place}");
    }
    assert!(client.take(&secret.key([5; 32])).unwrap().is_some());
}

/// A server that closes or speaks is not handed to anybody.
#[test]
fn connections_that_end_or_speak_are_dropped() {
    let running = Running::new(Limits::default());
    let client = running.client();
    let ends: [fn(&mut TcpStream); 4] = [
        |server| server.shutdown(Shutdown::Write).unwrap(),
        |server| server.write_all(b"421 Timeout\r\n").unwrap(),
        // A sealed record of TLS 1.3, which may be a KeyUpdate: the broker cannot know.
        |server| server.write_all(&[23, 3, 3, 0, 22, 7]).unwrap(),
        |server| server.shutdown(Shutdown::Both).unwrap(),
    ];
    for end in ends {
        let (socket, mut server) = connection();
        give(&client, 1, socket, b"").unwrap();
        running.wait_for(1);
        end(&mut server);
        running.wait_for(0);
        assert!(is_closed(&server));
    }
    // A connection that has something to read when it arrives is not parked either.
    let (socket, mut server) = connection();
    server.write_all(b"x").unwrap();
    give(&client, 1, socket, b"").unwrap();
    assert!(is_closed(&server));
    running.wait_for(0);
}

#[test]
fn the_oldest_connection_makes_room() {
    let running = Running::new(Limits { connections: 2, ..Limits::default() });
    let client = running.client();
    let mut servers = Vec::new();
    for name in 1..=3 {
        let (socket, server) = connection();
        give(&client, name, socket, b"").unwrap();
        servers.push(server);
    }
    assert!(is_closed(&servers[0]));
    let found: Vec<_> = (1..=3).map(|name| client.take(&key(&client, name)).unwrap().is_some()).collect();
    assert_eq!(found, [false, true, true]);
}

#[test]
fn idle_connections_and_the_idle_broker_end() {
    let second = Duration::from_secs(1);
    let mut running = Running::new(Limits { idle: 3 * second, exit_after: second, ..Limits::default() });
    let client = running.client();
    let (socket, server) = connection();
    let start = Instant::now();
    give(&client, 1, socket, b"").unwrap(); // has been idle for a second
    running.wait();
    assert!(is_closed(&server));
    // The connection, which stays for two seconds more, keeps the broker.
    assert!(start.elapsed() >= 2 * second, "{:?}", start.elapsed());
    assert_eq!(client.secret().map(drop), Ok(()), "the client knows it still");
    let known = client.secret().unwrap().key([1; 32]);
    assert_eq!(client.take(&known).unwrap_err(), Unavailable::NotRunning);
    assert_eq!(client.secret().unwrap_err(), Unavailable::NotRunning);
}

#[test]
fn a_restarted_broker_refuses_keys_of_the_earlier_one() {
    let mut running = Running::new(Limits::default());
    let client = running.client();
    let before = key(&client, 1);
    running.start(Limits::default());
    assert_eq!(client.take(&before).unwrap_err(), Unavailable::Restarted);
    // A give has no reply; the connection is closed.
    let (socket, server) = connection();
    client.give(&before, &parcel(&socket, b""), Instant::now() + PATIENCE).unwrap();
    drop(socket);
    assert!(is_closed(&server));
    let after = key(&client, 1);
    assert_ne!(before, after);
    assert!(client.take(&after).unwrap().is_none());
}

#[test]
fn a_stopped_broker_closes_its_connections() {
    let mut running = Running::new(Limits::default());
    let client = running.client();
    let (socket, server) = connection();
    give(&client, 1, socket, b"").unwrap();
    running.wait_for(1);
    client.stop().unwrap();
    running.wait();
    assert!(is_closed(&server));
    assert_eq!(client.status().unwrap_err(), Unavailable::NotRunning);
    assert_eq!(client.stop().unwrap_err(), Unavailable::NotRunning);
}

#[test]
fn records_stay_until_they_expire() {
    let running = Running::new(Limits::default());
    let (client, until) = (running.client(), Instant::now() + PATIENCE);
    let minute = Duration::from_secs(60);
    let (name, long) = (key(&client, 1), key(&client, 2));
    client.put(&name, minute, b"127.0.0.1", until).unwrap();
    client.put(&long, minute, &[7; MAX_RECORD], until).unwrap();
    let reader = running.client();
    for _ in 0..2 {
        let entry = reader.get(&name).unwrap().unwrap();
        assert_eq!(&entry.value[..], b"127.0.0.1");
        assert!(entry.left <= minute && entry.left > Duration::ZERO);
    }
    assert_eq!(&reader.get(&long).unwrap().unwrap().value[..], &[7; MAX_RECORD]);
    assert_eq!(reader.get(&key(&client, 3)).unwrap(), None);
    assert_eq!(reader.status().unwrap().names, 2);
    client.put(&name, Duration::ZERO, b"", until).unwrap();
    assert_eq!(reader.get(&name).unwrap(), None);
}

#[test]
fn values_beyond_the_limits_are_refused_by_the_client() {
    let running = Running::new(Limits::default());
    let (client, until) = (running.client(), Instant::now() + PATIENCE);
    let (socket, _server) = connection();
    let state = vec![0; MAX_STATE + 1];
    let key = key(&client, 1);
    assert_eq!(client.give(&key, &parcel(&socket, &state), until), Err(Unavailable::TooLarge));
    let put = client.put(&key, PATIENCE, &[0; MAX_RECORD + 1], until);
    assert_eq!(put, Err(Unavailable::TooLarge));
}

/// The list has several pages, and each connection once.
#[test]
fn status_lists_all_connections() {
    const COUNT: usize = 700;
    let running = Running::new(Limits { connections: COUNT, ..Limits::default() });
    let client = running.client();
    let key = key(&client, 1);
    let mut servers = Vec::new();
    for number in 0..COUNT {
        let (socket, server) = connection();
        let host = format!("{number}.example.org");
        let mut parcel = parcel(&socket, b"secret");
        parcel.label.host = &host;
        client.give(&key, &parcel, Instant::now() + PATIENCE).unwrap();
        servers.push(server);
    }
    let status = client.status().unwrap();
    assert_eq!(status.process, std::process::id());
    assert_eq!(status.exit_after, Duration::from_secs(120));
    assert_eq!(status.parked.len(), COUNT);
    for (number, parked) in status.parked.iter().enumerate() {
        assert_eq!(parked.host, format!("{number}.example.org"));
        assert_eq!((parked.scheme.as_str(), parked.port, parked.uses), ("https", 443, 3));
    }
}

#[test]
fn threads_share_one_client() {
    let running = Running::new(Limits::default());
    let client = running.client();
    std::thread::scope(|scope| {
        for name in 0..8 {
            let client = &client;
            scope.spawn(move || {
                for round in 0..50_u8 {
                    let (socket, server) = connection();
                    give(client, name, socket, &[round]).unwrap();
                    let taken = client.take(&key(client, name)).unwrap().unwrap();
                    assert_eq!(taken.state[..], [round]);
                    talk(&TcpStream::from(taken.socket), &server);
                }
            });
        }
    });
}

/// A registration in the broker's epoll set follows the open socket. If it outlived the move, the broker
/// would wake for bytes of another process's transfer.
#[test]
fn the_broker_forgets_a_socket_that_it_has_sent() {
    let running = Running::new(Limits::default());
    let client = running.client();
    let (socket, mut server) = connection();
    give(&client, 1, socket, b"").unwrap();
    let taken = client.take(&key(&client, 1)).unwrap().unwrap();
    server.write_all(b"reply").unwrap();
    // A second connection of that key would get the first one's events if numbers were reused.
    let (socket, other) = connection();
    give(&client, 1, socket, b"").unwrap();
    running.wait_for(1);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(running.client().status().unwrap().parked.len(), 1);
    drop((taken, other));
    eventually(|| running.client().status().unwrap().parked.is_empty());
}

#[test]
fn nobody_listens() {
    let place = testkit::temp::TempDir::new("broker-none").unwrap();
    let client = Client::at(&place.path().join("pool"), PATIENCE);
    assert_eq!(client.secret().unwrap_err(), Unavailable::NotRunning);
    assert_eq!(client.status().unwrap_err(), Unavailable::NotRunning);
    assert!(!place.path().join("pool").exists(), "only a start creates the folder");
}
