//! Commands on a control connection before they are needed, when the user allows it (`FtpPipelining::Ahead`):
//! the next passive port (EPSV) at the end of a file, whose own 226 nobody waits for either. Both replies are
//! read by the next transfer on that connection, or when another one to the same server looks at those that
//! are idle; the data connection to the port is opened then, and waits.
//!
//! EPSV is never sent while a file is on its way: there are servers that end the transfer for it (pyftpdlib).

use std::collections::VecDeque;

use net::connect::Endpoints;
use runtime::Socket;
use wire::ftp::reply::Reply;
use wire::http1::LineBuffer;

/// A reply that is still to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owed {
    /// 226 for a file that came whole, by its announced size.
    Confirmation,
    /// 229
    Passive,
}

/// Commands sent ahead on a control connection, and their replies.
#[derive(Default)]
pub struct Ahead {
    /// Replies that are still to come, in their order.
    pub owed: VecDeque<Owed>,
    /// Bytes of them that have come.
    pub received: LineBuffer,
    /// The data connection that they lead to.
    pub early: Option<Early>,
    /// The server did not like to be asked.
    pub refused: bool,
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

    /// Takes a reply that has come.
    pub fn take(&mut self, owed: Owed, reply: &Reply) {
        if owed == Owed::Passive {
            let port = (reply.code == 229).then(|| reply.extended_passive()).flatten().and_then(Result::ok);
            self.refused = port.is_none();
            self.early = port.map(Early::Port);
        }
    }

    /// Returns how far the connection is, for the pool.
    pub fn rank(&self) -> net::Ahead {
        match &self.early {
            _ if !self.owed.is_empty() => net::Ahead::Asked,
            Some(Early::Opening(socket)) if Endpoints::of(socket).remote.is_some() => net::Ahead::Ready,
            Some(_) => net::Ahead::Asked,
            None => net::Ahead::Nothing,
        }
    }
}
