//! What a control connection is asked before it is needed, when the user allows it (`FtpPipelining::Ahead`): the next
//! passive port (EPSV) at the end of a file, whose own 226 nobody waits for either. Both replies are read by the next
//! transfer on that connection, or when another one to the same server looks at those that are idle; the data connection
//! to the port is opened then, and waits.
//!
//! EPSV is never sent while a file is on its way: there are servers that end the transfer for it (pyftpdlib).

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::Poll;

use net::connect::Endpoints;
use net::filter::SocketFilter;
use net::{Connection, Filter, Key};
use runtime::Socket;
use tables::{Code, EasyOption as O};
use wire::ftp::reply::{REPLY_LIMIT, Reply, ReplyReader};
use wire::http1::LineBuffer;

use super::control::{Control, Session};
use super::pipeline::level;
use crate::error::{Error, Result, Retry};
use crate::settings::FtpPipelining;
use crate::transfer::Transfer;

/// So many control connections to a server take turns (`FtpPipelining::InTurn`): one round trip each for the end of a file,
/// the next port, the data connection, and the file.
const IN_TURN: usize = 4;

/// A reply that is still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owed {
    /// 226 for a file that came whole, by its announced size.
    Confirmation,
    /// 229
    Passive,
}

/// What was asked on a control connection, and what has come of it.
#[derive(Default)]
pub struct Ahead {
    owed: VecDeque<Owed>,
    received: LineBuffer,
    early: Option<Early>,
    /// The server did not like to be asked.
    refused: bool,
}

/// A data connection before it is needed.
pub enum Early {
    /// The server waits there.
    Port(u16),
    /// On its way, without a reactor.
    Opening(Socket),
}

impl Ahead {
    /// A reply that nobody waits for now.
    pub fn owe(&mut self, reply: Owed) {
        self.owed.push_back(reply);
    }

    fn take(&mut self, owed: Owed, reply: &Reply) {
        if owed == Owed::Passive {
            let port = (reply.code == 229).then(|| reply.extended_passive()).flatten().and_then(Result::ok);
            self.refused = port.is_none();
            self.early = port.map(Early::Port);
        }
    }

    /// What it is to the pool.
    fn rank(&self) -> net::Ahead {
        match &self.early {
            _ if !self.owed.is_empty() => net::Ahead::Asked,
            Some(Early::Opening(socket)) if Endpoints::of(socket).remote.is_some() => net::Ahead::Ready,
            Some(_) => net::Ahead::Asked,
            None => net::Ahead::Nothing,
        }
    }
}

impl Control {
    /// Goes on where the last transfer on this connection left.
    pub fn resume(&mut self) {
        let ahead = &mut self.session.ahead;
        self.dialogue.go_on(std::mem::take(&mut ahead.received), ahead.owed.len());
    }

    /// Whether the next transfer can go on: every reply is in, but for those that it will read itself.
    pub fn can_be_kept(&self) -> bool {
        match self.session.ahead.owed.len() {
            0 => self.dialogue.in_step(),
            owed => self.dialogue.outstanding == owed,
        }
    }

    /// Leaves what is needed to go on.
    pub fn suspend(&mut self) {
        self.session.ahead.received = self.dialogue.take_received();
        self.dialogue.whole.connection().ahead = self.session.ahead.rank();
    }

    /// Reads the replies to what was asked ahead. A connection on which they do not come is given up for another.
    pub async fn settle(&mut self, t: &mut Transfer) -> Result<()> {
        while let Some(owed) = self.session.ahead.owed.pop_front() {
            let reply = self.next_reply(t).await.map_err(|e| match e.code() {
                Code::RecvError | Code::SendError | Code::OperationTimedout | Code::WeirdServerReply => {
                    e.with_retry(Retry::NewConnection)
                }
                _ => e,
            })?;
            self.session.ahead.take(owed, &reply);
        }
        Ok(())
    }

    /// The early data connection, if there is one and it is of use.
    pub async fn take_early(&mut self, t: &mut Transfer) -> Result<Option<Early>> {
        self.settle(t).await?;
        let early = self.session.ahead.early.take();
        Ok(early.filter(|early| match early {
            Early::Opening(socket) => socket.idle_state() != net::Idle::Closed,
            Early::Port(_) => true,
        }))
    }

    /// Asks for the next passive port. To be called at the end of a file.
    pub async fn ask_ahead(&mut self, t: &mut Transfer) {
        let ahead = &self.session.ahead;
        let asked = ahead.early.is_some() || ahead.owed.contains(&Owed::Passive);
        let v6 = self.dialogue.about().endpoints.remote.is_some_and(|a| a.is_ipv6());
        let possible = !self.session.no_epsv && (v6 || t.on(O::FtpUseEpsv)) && t.text(O::Ftpport).is_none();
        let wanted = level(t) >= FtpPipelining::Ahead && self.session.moved > 0 && !t.on(O::FtpUsePret);
        if asked || !possible || !wanted || ahead.refused || t.on(O::ForbidReuse) || self.is_objected(t) {
            return;
        }
        if self.can_be_kept() && self.dialogue.send(t, b"EPSV").await.is_ok() {
            self.session.ahead.owe(Owed::Passive);
        }
    }
}

/// Puts an early data connection to its reactor and waits until it stands.
pub async fn opened(t: &Transfer, mut socket: Socket) -> Result<Box<dyn Filter>> {
    socket.attach(t.multi.runtime.reactor(), t.easy.owner_number());
    let connected = poll_fn(|cx| socket.poll_connected(cx)).await;
    connected.map_err(|e| Error::os(Code::CouldntConnect, "the data connection was refused", &e))?;
    t.easy.info.borrow_mut().connects += 1;
    Ok(Box::new(SocketFilter::new(socket)))
}

/// Looks at the idle connections to this server, so that they make progress while they are not used. Whether one more
/// is to be opened: all are still busy with the end of their last file.
pub fn one_more(t: &Transfer, identity: &Key) -> bool {
    let level = level(t);
    if level < FtpPipelining::Ahead {
        return false;
    }
    let (pool, mut asked, mut ready) = (t.pool(), 0, 0);
    pool.visit_idle(identity, |connection| {
        let stays = look(connection);
        match connection.ahead {
            net::Ahead::Asked if stays => asked += 1,
            net::Ahead::Ready if stays => ready += 1,
            _ => {}
        }
        stays
    });
    let limits = pool.limits();
    let room = limits.per_host == 0 && limits.total == 0 && (limits.kept == 0 || limits.kept >= IN_TURN);
    // Under TLS each further control connection costs two round trips and a handshake of its own.
    let clear = identity.tls.is_none() && t.long(O::UseSsl) == 0;
    level == FtpPipelining::InTurn && ready == 0 && (1..IN_TURN).contains(&asked) && room && clear
}

/// Takes the replies that have come to an idle connection, and opens the data connection. False when it is of no more use.
fn look(connection: &mut Connection) -> bool {
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
        match connection.carrier.filter().try_read(&mut buf) {
            Poll::Pending => break,
            Poll::Ready(Ok(n)) if n > 0 && n <= left => {
                ahead.received.extend(&buf[..n]);
                left -= n;
            }
            _ => return false,
        }
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

/// Begins to connect to the port that was told, where that needs nothing but a socket of ours.
fn open_early(connection: &mut Connection) {
    let identity = &connection.about.identity;
    let local = &identity.socket.local;
    let direct = identity.proxies.is_empty()
        && identity.unix.is_none()
        && identity.haproxy.is_none()
        && !connection.private
        && local.device.is_none()
        && local.interface.is_none()
        && local.host.is_none();
    let Some(session) = connection.state.as_mut().and_then(|s| s.see::<Session>()) else { return };
    if let (Some(Early::Port(port)), Some(mut address), true) =
        (&session.ahead.early, connection.about.endpoints.remote, direct)
    {
        address.set_port(*port);
        session.ahead.early = net::connect::begin(address, &identity.socket).ok().map(Early::Opening);
    }
    connection.ahead = session.ahead.rank();
}
