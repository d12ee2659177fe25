//! Commands that are sent before they are needed, if the user allows it (`FtpPipelining::Ahead`): at the end
//! of a file EPSV asks for the next passive port, and the transfer ends without waiting for its own 226. The
//! next transfer on that connection reads both replies, or another one to the same server when it checks the
//! idle connections; the data connection to the port is then opened and kept.
//!
//! By default EPSV leaves while the transfer waits for its 226, if the server confirms late and one file
//! follows the other ([`FileEnd`](super::decide::pipeline::FileEnd)): the next transfer saves a round trip.
//!
//! EPSV is never sent during a transfer: some servers abort the transfer (pyftpdlib).

use std::collections::VecDeque;

use net::connect::Endpoints;
use runtime::Socket;
use wire::ftp::reply::Reply;
use wire::http1::LineBuffer;

/// A reply that has not arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingReply {
    /// 226 for a file that is complete by its announced size.
    Confirmation,
    /// 229
    Passive,
}

/// Commands sent ahead on a control connection, and their replies.
#[derive(Default)]
pub struct Ahead {
    /// Replies that have not arrived, in order.
    pub owed: VecDeque<PendingReply>,
    /// Received bytes of the replies.
    pub received: LineBuffer,
    /// The data connection from the replies.
    pub early: Option<EarlyConnection>,
    /// Whether the server refused the command.
    pub refused: bool,
    /// Whether the port in the reply to come is too old to be used.
    pub expired: bool,
}

/// A data connection before it is needed.
pub enum EarlyConnection {
    /// The server listens on this port.
    Port(u16),
    /// A socket that connects, without a reactor.
    Opening(Socket),
}

impl Ahead {
    /// Records a reply that the next transfer will read.
    pub fn owe(&mut self, reply: PendingReply) {
        self.owed.push_back(reply);
    }

    /// Returns whether no reply is pending and no data connection is open.
    pub fn is_empty(&self) -> bool {
        self.owed.is_empty() && self.received.rest().is_empty() && self.early.is_none()
    }

    /// Returns whether the next data connection needs no EPSV.
    pub fn has_port(&self) -> bool {
        self.early.is_some() || self.owed.contains(&PendingReply::Passive) && !self.expired
    }

    /// Gives the port up, whether it is known or still to come.
    pub fn expire(&mut self) {
        self.early = None;
        self.expired = self.owed.contains(&PendingReply::Passive);
    }

    /// Processes a received reply.
    pub fn take(&mut self, owed: PendingReply, reply: &Reply) {
        if owed == PendingReply::Passive {
            let port = (reply.code == 229).then(|| reply.extended_passive()).flatten().and_then(Result::ok);
            self.refused = port.is_none();
            let expired = std::mem::take(&mut self.expired);
            self.early = port.filter(|_| !expired).map(EarlyConnection::Port);
        }
    }

    /// Returns the connection's state for the pool.
    pub fn rank(&self) -> net::Ahead {
        match &self.early {
            _ if !self.owed.is_empty() => net::Ahead::Asked,
            Some(EarlyConnection::Opening(socket)) if Endpoints::of(socket).remote.is_some() => {
                net::Ahead::Ready
            }
            Some(_) => net::Ahead::Asked,
            None => net::Ahead::Nothing,
        }
    }
}
