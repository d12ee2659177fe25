//! Use of control connections with commands sent ahead: how a transfer continues on one, and how it leaves
//! one.

use std::time::Instant;

use tables::{Code, EasyOption as O};

use super::ahead::{EarlyConnection, PendingReply};
use super::control::Control;
use super::decide::data::uses_epsv;
use super::decide::pipeline::{self as decide, FileEnd};
use super::servers::level;
use crate::error::{Result, Retry};
use crate::process_pool::Pool;
use crate::transfer::Transfer;

impl Control {
    /// Restores the state that the last transfer left on this connection.
    pub fn resume(&mut self, t: &Transfer) {
        let now = t.now();
        let pause = self.session.left.map(|left| now.saturating_duration_since(left));
        self.follows = decide::follows(pause);
        let ahead = &mut self.session.ahead;
        if !decide::port_is_usable(level(t), pause) {
            ahead.expire();
        }
        self.dialogue.go_on(std::mem::take(&mut ahead.received), ahead.owed.len());
    }

    /// Returns whether the next transfer can continue: all replies were read, except those that it will read
    /// itself.
    pub fn can_be_kept(&self) -> bool {
        match self.session.ahead.owed.len() {
            0 => self.dialogue.in_step(),
            owed => self.dialogue.outstanding == owed,
        }
    }

    /// Stores the state for the next transfer.
    pub fn suspend(&mut self, now: Instant) {
        self.session.left = Some(now);
        self.session.ahead.received = self.dialogue.take_received();
        self.dialogue.whole.connection().ahead = self.session.ahead.rank();
    }

    /// Reads the replies to the commands sent ahead. If they do not arrive, the connection is replaced by
    /// another.
    pub async fn settle(&mut self, t: &mut Transfer) -> Result<()> {
        while let Some(owed) = self.session.ahead.owed.pop_front() {
            let reply = self.next_reply(t).await.map_err(|e| match e.code() {
                Code::RecvError | Code::SendError | Code::OperationTimedout | Code::WeirdServerReply => {
                    e.with_retry(Retry::NewConnection)
                }
                _ => e,
            })?;
            self.session.ahead.take(owed, &reply);
            // These lines answer nothing that this transfer has sent.
            self.dialogue.last_words = self.dialogue.lines;
        }
        Ok(())
    }

    /// Returns the early data connection, if there is a usable one.
    pub async fn take_early(&mut self, t: &mut Transfer) -> Result<Option<EarlyConnection>> {
        self.settle(t).await?;
        let early = self.session.ahead.early.take();
        Ok(early.filter(|early| match early {
            EarlyConnection::Opening(socket) => socket.idle_state() != net::Idle::Closed,
            EarlyConnection::Port(_) => true,
        }))
    }

    /// Asks for the next passive port at the end of a file.
    pub async fn ask_ahead(&mut self, t: &mut Transfer) {
        if !decide::asks_ahead(&self.file_end(t)) {
            return;
        }
        if self.can_be_kept() && self.dialogue.send_ahead(t, b"EPSV").await.is_ok() {
            self.session.ahead.owe(PendingReply::Passive);
        }
    }

    /// Asks for the next passive port while the server has not confirmed a file that is complete. Returns
    /// whether it did: the reply follows the confirmation.
    pub async fn ask_behind_data(&mut self, t: &mut Transfer) -> bool {
        let asks = decide::asks_behind_data(&self.file_end(t));
        self.follows = true;
        asks && self.dialogue.send_ahead(t, b"EPSV").await.is_ok()
    }

    fn file_end(&self, t: &Transfer) -> FileEnd {
        let ahead = &self.session.ahead;
        let v6 = self.dialogue.about().endpoints.remote.is_some_and(|a| a.is_ipv6());
        FileEnd {
            level: level(t),
            asked: ahead.early.is_some() || ahead.owed.contains(&PendingReply::Passive),
            epsv: uses_epsv(t.on(O::FtpUseEpsv), v6, self.session.no_epsv),
            active: t.text(O::FtpPort).is_some(),
            pret: t.on(O::FtpUsePret),
            moved: self.session.moved > 0,
            refused: ahead.refused || self.is_objected(t),
            forbidden: t.on(O::ForbidReuse),
            confirms_late: self.session.confirms_late,
            follows: self.follows,
            leaves_process: t.multi.pool_kind() == Pool::User,
        }
    }
}
