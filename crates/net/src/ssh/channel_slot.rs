//! The place of one transfer in a session, and its channel.

use std::rc::Rc;
use std::task::{Context, Poll};

use ssh::sftp::Client;
use ssh::{ChannelId, Session, State};

use super::driver::Hosted;
use super::{IdleChannel, SessionError};

/// A place; dropping it closes its channel.
pub struct ChannelSlot {
    hosted: Rc<Hosted>,
    channel: Option<ChannelId>,
}

impl ChannelSlot {
    pub(super) fn new(hosted: Rc<Hosted>) -> ChannelSlot {
        hosted.state.borrow_mut().slots += 1;
        ChannelSlot { hosted, channel: None }
    }

    /// Takes a channel on which SFTP is spoken already.
    pub fn take_spare(&mut self) -> Option<Client> {
        let spare = self.hosted.state.borrow_mut().spare.pop()?;
        self.channel = Some(spare.channel);
        Some(spare.client)
    }

    /// Leaves the channel open for the next transfer.
    pub fn leave_spare(mut self, client: Client) {
        let mut state = self.hosted.state.borrow_mut();
        if state.lost.is_some() || state.retiring || client.is_littered() {
            return;
        }
        if let Some(channel) = self.channel.take() {
            state.spare.push(IdleChannel { client, channel });
        }
    }

    /// Asks for a channel; a spare one makes room where there is none.
    pub fn open(&mut self) -> Result<(), SessionError> {
        let mut state = self.hosted.state.borrow_mut();
        if let Some(lost) = &state.lost {
            return Err(lost.clone());
        }
        if state.session.count() >= state.most
            && let Some(spare) = state.spare.pop()
        {
            state.session.leave(spare.channel)?;
        }
        self.channel = Some(state.session.open()?);
        state.wake_driver();
        Ok(())
    }

    /// Records that the server accepts no more channels than there are now, so that no more are given.
    /// Returns false if this was the only one ever. OpenSSH counts a channel until the command behind it has
    /// been waited for: if earlier users have just left, the connection accepts no new ones.
    pub fn refused(&self) -> bool {
        let mut state = self.hosted.state.borrow_mut();
        let state = &mut *state;
        state.most = state.slots.saturating_sub(1).max(1);
        let alone = state.slots <= 1;
        state.retiring |= alone;
        !alone || state.served
    }

    /// Refuses new transfers; the session closes after the last one.
    pub fn retire(&mut self) {
        self.hosted.state.borrow_mut().retiring = true;
    }

    /// The server's identification.
    pub fn server(&self) -> String {
        self.hosted.state.borrow_mut().session.transport().server()
    }

    /// Polls the channel until there is a result. Output of the poll is sent soon.
    pub fn poll<T>(
        &mut self,
        cx: &mut Context<'_>,
        look: impl FnOnce(&mut Session, ChannelId) -> Result<Option<T>, ssh::Error>,
    ) -> Poll<Result<T, SessionError>> {
        let mut state = self.hosted.state.borrow_mut();
        let Some(channel) = self.channel else { return Poll::Ready(Err(SessionError::Abandoned)) };
        let found = look(&mut state.session, channel);
        if state.lost.is_none() && !state.session.transport().output().is_empty() {
            state.wake_driver();
        }
        match found {
            Ok(Some(found)) => Poll::Ready(Ok(found)),
            Err(e) => {
                state.lose(e.clone().into());
                Poll::Ready(Err(e.into()))
            }
            Ok(None) => {
                if let Some(lost) = &state.lost {
                    return Poll::Ready(Err(lost.clone()));
                }
                let waits = |(id, waker): &(ChannelId, std::task::Waker)| {
                    *id == channel && waker.will_wake(cx.waker())
                };
                if !state.waiting.iter().any(waits) {
                    state.waiting.retain(|(id, _)| *id != channel);
                    state.waiting.push((channel, cx.waker().clone()));
                }
                Poll::Pending
            }
        }
    }

    /// Whether the channel is open; `None` while the server has not answered.
    pub fn is_open(session: &Session, id: ChannelId) -> Option<Result<(), String>> {
        match session.channel(id).map(ssh::Channel::state) {
            Some(State::Opening) => None,
            Some(State::Open) => Some(Ok(())),
            Some(State::Refused(_, text)) => Some(Err(text.clone())),
            Some(State::Closed) | None => Some(Err("channel closed".to_owned())),
        }
    }
}

impl Drop for ChannelSlot {
    fn drop(&mut self) {
        let mut state = self.hosted.state.borrow_mut();
        state.slots = state.slots.saturating_sub(1);
        state.served |= self.channel.is_some();
        if let Some(channel) = self.channel {
            state.waiting.retain(|(id, _)| *id != channel);
            let left = state.session.leave(channel);
            if let Err(e) = left {
                state.lose(e.into());
            }
        }
        state.wake_driver();
    }
}
