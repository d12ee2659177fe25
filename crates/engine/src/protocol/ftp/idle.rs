//! Idle control connections to a server, which make progress while no transfer uses them.

use std::task::Poll;

use net::{AnyConnection, Connection, HashedKey};
use tables::EasyOption as O;
use wire::ftp::reply::{REPLY_LIMIT, ReplyReader};

use super::ahead::EarlyConnection;
use super::decide::pipeline as decide;
use super::servers::level;
use super::session::Session;
use crate::settings::FtpPipelining;
use crate::transfer::Transfer;

/// Processes the idle connections to this server, so that they make progress. Returns whether one more
/// connection should be opened: all others still wait for the end of their last file.
pub fn one_more(t: &Transfer, key: &HashedKey) -> bool {
    let level = level(t);
    let (pool, mut asked, mut ready) = (t.pool(), 0, 0);
    pool.visit_idle(key, |connection| {
        let AnyConnection::Bytes(connection) = connection else { return true };
        let stays = prepare(connection, level);
        match connection.ahead {
            net::Ahead::Asked if stays => asked += 1,
            net::Ahead::Ready if stays => ready += 1,
            _ => {}
        }
        stays
    });
    let limits = pool.limits();
    decide::opens_one_more(&decide::Idle {
        level,
        asked,
        ready,
        room: decide::has_room(limits.per_host, limits.total, limits.kept),
        clear: key.tls.is_none() && t.long(O::UseSsl) == 0,
    })
}

/// Reads the replies on an idle connection, and opens the data connection. Returns false if it is unusable.
/// By default the next transfer reads the replies, so that the application gets their lines.
fn prepare(connection: &mut Connection, level: FtpPipelining) -> bool {
    if connection.ahead != net::Ahead::Asked || connection.is_inherited() {
        return true;
    }
    let Some(session) = connection.state.as_mut().and_then(|s| s.see::<Session>()) else {
        return true;
    };
    let ahead = &mut session.ahead;
    let mut buf = [0; 4096];
    let mut left = REPLY_LIMIT;
    loop {
        match connection.carrier.try_read(&mut buf) {
            Poll::Pending => break,
            Poll::Ready(Ok(n)) if n > 0 && n <= left => {
                ahead.received.extend(&buf[..n]);
                left -= n;
            }
            _ => return false,
        }
    }
    if level < FtpPipelining::Ahead {
        return decide::stays_open(ahead.received.rest());
    }
    let mut reader = ReplyReader::new(REPLY_LIMIT);
    while let Some(owed) = ahead.owed.front().copied() {
        let Ok(line) = ahead.received.line(REPLY_LIMIT) else { return false };
        let Some(line) = line else { return true };
        match reader.take_line(&line) {
            Ok(Some(reply)) if reply.code == 421 => return false,
            Ok(Some(reply)) => {
                ahead.owed.pop_front();
                ahead.take(owed, &reply);
            }
            Ok(None) => {}
            Err(_) => return false,
        }
    }
    if !ahead.received.rest().is_empty() {
        return false;
    }
    open_early(connection);
    true
}

/// Starts to connect to the port in the server's reply, if that needs only a socket.
fn open_early(connection: &mut Connection) {
    let key = &connection.about.key;
    let direct = key.proxies.is_empty() && key.unix.is_none() && key.haproxy.is_none();
    let direct = decide::is_plain(direct, connection.private, &key.socket.local);
    let Some(session) = connection.state.as_mut().and_then(|s| s.see::<Session>()) else { return };
    if let (Some(EarlyConnection::Port(port)), Some(mut address), true) =
        (&session.ahead.early, connection.about.endpoints.remote, direct)
    {
        address.set_port(*port);
        session.ahead.early =
            net::connect::begin(address, &key.socket.for_data()).ok().map(EarlyConnection::Opening);
    }
    connection.ahead = session.ahead.rank();
}
