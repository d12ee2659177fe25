//! A channel of a session, with SFTP on it: requests, one or many under way, and the replies to them.

use std::future::poll_fn;
use std::task::{Context, Poll};

use net::ssh::{ChannelSlot, SessionError};
use ssh::sftp::{Client, Reply, Request, Status};
use tables::{Code, EasyOption as O};

use super::fault::{lost, refused};
use crate::error::{Error, Result, Retry};
use crate::transfer::Transfer;

/// Opens a channel and requests its protocol, without waiting for the reply. A kept connection that was lost,
/// or accepts no more channels, is stale.
pub async fn open(slot: &mut ChannelSlot, kind: &str, argument: &[u8]) -> Result<()> {
    let stale = |e: SessionError| lost(&e).with_retry(Retry::NewConnection);
    slot.open().map_err(stale)?;
    let opened = poll_fn(|cx| {
        slot.poll(cx, |session, id| {
            let opened = ChannelSlot::is_open(session, id);
            if let Some(Ok(())) = opened {
                session.request(id, kind, argument)?;
            }
            Ok(opened)
        })
    });
    match opened.await.map_err(stale)? {
        Ok(()) => Ok(()),
        Err(text) => {
            let error = Error::new(Code::FailedInit, format!("the server opens no channel: {text}"));
            Err(if slot.refused() { error.with_retry(Retry::NewConnection) } else { error })
        }
    }
}

/// SFTP on a channel.
pub struct Sftp {
    slot: ChannelSlot,
    pub client: Client,
    /// Whether no relevant reply is outstanding.
    pub in_step: bool,
}

/// The channel has ended.
struct ChannelEnded;

impl Sftp {
    /// Opens a channel with SFTP: an unused one of an earlier transfer, or a new one.
    pub async fn open(t: &Transfer, mut slot: ChannelSlot) -> Result<Sftp> {
        if let Some(client) = slot.take_spare() {
            return Ok(Sftp { slot, client, in_step: true });
        }
        open(&mut slot, "subsystem", b"sftp").await?;
        t.easy.note(|| "SFTP session is ready".to_owned());
        let mut client = Client::new();
        if slot.server().starts_with("SSH-2.0-OpenSSH") {
            client.expect_handle(&[0; 4]); // its server numbers open files, from zero
        }
        Ok(Sftp { slot, client, in_step: true })
    }

    /// Returns the user's home folder on the server.
    pub async fn home(&mut self) -> Result<Vec<u8>> {
        let home = poll_fn(|cx| {
            let polled = self.poll_reply(cx, |_, _, _| None::<()>);
            match (self.client.home(), polled) {
                (Some(home), _) => Poll::Ready(Ok(home.clone())),
                (None, Poll::Ready(Err(e))) => Poll::Ready(Err(e)),
                (None, _) => Poll::Pending,
            }
        });
        home.await?.map_err(|status| refused("realpath failed", status))
    }

    /// Sends output and processes replies until one is relevant.
    pub fn poll_reply<T>(
        &mut self,
        cx: &mut Context<'_>,
        mut look: impl FnMut(&mut Client, u32, Reply<'_>) -> Option<T>,
    ) -> Poll<Result<T>> {
        let Sftp { slot, client, .. } = self;
        let polled = slot.poll(cx, |session, id| {
            loop {
                let sent = session.send(id, client.output())?;
                client.sent(sent);
                let Some(channel) = session.channel(id) else { return Ok(Some(Err(ChannelEnded))) };
                let taken = match client.reply(channel.data()) {
                    Ok(Some(taken)) => taken,
                    Ok(None) => {
                        let refused = !client.is_greeted() && channel.answer() == Some(false);
                        return Ok((refused || channel.has_ended()).then_some(Err(ChannelEnded)));
                    }
                    Err(_) if !client.is_greeted() => return Ok(Some(Err(ChannelEnded))),
                    Err(e) => return Err(e),
                };
                let length = taken.length;
                let mut found = None;
                if let Some((number, reply)) = taken.wanted {
                    found = look(client, number, reply);
                    if found.is_none() {
                        client.keep(number, &channel.data()[..length])?;
                    }
                }
                session.consume(id, length)?;
                if let Some(found) = found {
                    return Ok(Some(Ok(found)));
                }
            }
        });
        let greeted = client.is_greeted();
        polled.map(|polled| match polled {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(ChannelEnded)) if !greeted => {
                Err(Error::new(Code::FailedInit, "Failure initializing sftp session"))
            }
            Ok(Err(ChannelEnded)) => Err(Error::new(Code::Ssh, "the server has ended SFTP")),
            Err(e) if !greeted => Err(lost(&e).with_retry(Retry::NewConnection)),
            Err(e) => Err(lost(&e)),
        })
    }

    /// The reply to a request that was sent.
    pub async fn reply<T>(&mut self, id: u32, mut look: impl FnMut(Reply<'_>) -> T) -> Result<T> {
        if let Some(kept) = self.client.kept(id, &mut look) {
            return Ok(kept);
        }
        poll_fn(|cx| self.poll_reply(cx, |_, number, reply| (number == id).then(|| look(reply)))).await
    }

    /// Sends a request, and waits for its reply.
    pub async fn ask<T>(&mut self, request: &Request<'_>, look: impl FnMut(Reply<'_>) -> T) -> Result<T> {
        let id = self.client.ask(request);
        self.reply(id, look).await
    }

    /// Asks for something that is done or not.
    pub async fn done(&mut self, request: &Request<'_>) -> Result<Result<(), Status>> {
        self.ask(request, status).await
    }

    /// The server may send so much ahead.
    pub fn widen(&mut self, cx: &mut Context<'_>, window: u64) {
        let window = u32::try_from(window).unwrap_or(u32::MAX);
        // Ready at once: there is no wait.
        let _ = self.slot.poll(cx, |session, id| session.widen(id, window).map(Some));
    }

    /// The transfer is over: the channel is for who comes next.
    pub fn leave(self, t: &Transfer) {
        if !t.on(O::ForbidReuse) {
            self.slot.leave_spare(self.client);
        }
    }
}

/// Whether it was done.
pub fn status(reply: Reply<'_>) -> Result<(), Status> {
    match reply {
        Reply::Status(Status::OK, _) => Ok(()),
        Reply::Status(status, _) => Err(status),
        _ => Err(Status::FAILURE),
    }
}

/// The name that a path really has.
pub fn first_name(reply: Reply<'_>) -> Result<Vec<u8>, Status> {
    match reply {
        Reply::Names(names) => names.first().map(|name| name.name.to_vec()).ok_or(Status::FAILURE),
        Reply::Status(status, _) => Err(status),
        _ => Err(Status::FAILURE),
    }
}

/// Returns the handle in a reply.
pub fn handle(reply: Reply<'_>) -> Result<Vec<u8>, Status> {
    match reply {
        Reply::Handle(handle) => Ok(handle.to_vec()),
        Reply::Status(status, _) => Err(status),
        _ => Err(Status::FAILURE),
    }
}

/// Returns the attributes in a reply.
pub fn attrs(reply: Reply<'_>) -> Result<ssh::sftp::Attrs, Status> {
    match reply {
        Reply::Attrs(attrs) => Ok(attrs),
        Reply::Status(status, _) => Err(status),
        _ => Err(Status::FAILURE),
    }
}
