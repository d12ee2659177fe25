//! One URL by SCP: a command on a channel for each file.

use std::future::poll_fn;
use std::task::{Context, Poll};

use net::exchange::BodyStep;
use net::ssh::{ChannelSlot, SessionError};
use ssh::scp::{self, ControlMessage, Head, ScpError};
use tables::{Code, EasyOption as O};

use super::fault::lost;
use super::{channel, path};
use crate::callbacks::DebugKind;
use crate::error::{Error, Result};
use crate::settings::Method;
use crate::transfer::Transfer;
use crate::transfer::body::{BodySource, check_size};
use crate::transfer::client_reader::ClientReader;

/// Runs one request on its own channel.
pub async fn run(t: &mut Transfer, slot: ChannelSlot) -> Result<()> {
    let path = path::for_scp(t)?;
    if t.on(O::Upload) || t.method == Method::Put {
        store(t, &mut Command { slot, fault: Code::UploadFailed }, &path).await
    } else {
        fetch(t, &mut Command { slot, fault: Code::RemoteFileNotFound }, &path).await
    }
}

/// The other side's scp.
struct Command {
    slot: ChannelSlot,
    /// The code for a refusal, which has only a text: it depends on the request.
    fault: Code,
}

/// The result of polling the channel.
enum PollResult<T> {
    Found(T),
    Fault(ScpError),
    Ended,
}

impl Command {
    /// Polls input until there is a result, and consumes the number of bytes that it used.
    fn poll<T>(
        &mut self,
        cx: &mut Context<'_>,
        look: impl FnOnce(&[u8]) -> Result<Option<(usize, T)>, ScpError>,
    ) -> Poll<Result<T>> {
        let polled = self.slot.poll(cx, |session, id| {
            let Some(channel) = session.channel(id) else { return Ok(Some(PollResult::Ended)) };
            if channel.answer() == Some(false) {
                return Ok(Some(PollResult::Fault(ScpError::Server("the server runs no commands".into()))));
            }
            match look(channel.data()) {
                Ok(Some((used, found))) => session.consume(id, used).map(|()| Some(PollResult::Found(found))),
                Ok(None) if channel.has_ended() => {
                    let text = channel.stderr();
                    Ok(Some(if text.is_empty() {
                        PollResult::Ended
                    } else {
                        PollResult::Fault(ScpError::Server(text))
                    }))
                }
                Ok(None) => Ok(None),
                Err(fault) => Ok(Some(PollResult::Fault(fault))),
            }
        });
        polled.map(|polled| match polled {
            Ok(PollResult::Found(found)) => Ok(found),
            Ok(PollResult::Fault(ScpError::Server(text))) => Err(Error::new(self.fault, text)),
            Ok(PollResult::Fault(ScpError::Protocol(text))) => Err(Error::new(self.fault, text)),
            Ok(PollResult::Ended) => Err(Error::new(self.fault, "the server has ended SCP")),
            Err(e) => Err(lost(&e)),
        })
    }

    async fn send(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let sent = poll_fn(|cx| {
                self.slot.poll(cx, |session, id| {
                    let gone = session.channel(id).is_none_or(|channel| channel.has_ended());
                    let sent = session.send(id, bytes)?;
                    Ok((sent > 0 || gone).then_some(sent))
                })
            });
            match sent.await.map_err(|e: SessionError| lost(&e).with_code(Code::SendError))? {
                0 => return Err(Error::new(Code::SendError, "the server has ended SCP")),
                n => bytes = &bytes[n..],
            }
        }
        Ok(())
    }

    async fn answer(&mut self) -> Result<()> {
        poll_fn(|cx| self.poll(cx, |bytes| Ok(scp::answer(bytes)?.map(|used| (used, ()))))).await
    }
}

async fn fetch(t: &mut Transfer, command: &mut Command, path: &[u8]) -> Result<()> {
    if t.long(O::ResumeFromLarge) != 0 {
        // The whole file would be sent, and appended to the existing part.
        return Err(Error::new(Code::BadDownloadResume, "SCP sends whole files alone"));
    }
    let times = t.on(O::FileTime);
    channel::open(&mut command.slot, "exec", &scp::fetch_command(path, times)).await?;
    let limit = t.long(O::MaxFileSizeLarge);
    // The zero byte that starts, and after it those that confirm each line, unless the line may have to be
    // refused.
    let ahead = !t.on(O::NoBody) && limit <= 0;
    command
        .send(if !ahead {
            &[0]
        } else if times {
            &[0; 3]
        } else {
            &[0; 2]
        })
        .await?;
    let mut modified = None;
    let head = loop {
        match poll_fn(|cx| command.poll(cx, scp::head_line)).await? {
            ControlMessage::Times(at) => {
                modified = Some(at);
                if !ahead {
                    command.send(&[0]).await?;
                }
            }
            ControlMessage::File(head) => break head,
        }
    };
    if let (true, Some(at)) = (times, modified) {
        t.easy.info.borrow_mut().file_time = at as i64;
    }
    t.easy.info.borrow_mut().download_total = head.size as i64;
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    check_size(limit, Some(head.size))?;
    if t.on(O::NoBody) {
        return Ok(());
    }
    if !ahead {
        command.send(&[0]).await?;
    }
    command.fault = Code::PartialFile;
    t.flow.pump_body(&mut Source { command, left: head.size }).await?;
    // The zero byte behind the file: whether the server could read it to its end.
    command.answer().await?;
    let _ = command.send(&[0]).await; // the file is complete: a server that has closed needs no confirmation
    Ok(())
}

struct Source<'a> {
    command: &'a mut Command,
    left: u64,
}

impl BodySource for Source<'_> {
    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep>> {
        if self.left == 0 {
            return Poll::Ready(Ok(BodyStep::End));
        }
        let most = usize::try_from(self.left).map_or(buf.len(), |left| left.min(buf.len()));
        let took = self.command.poll(cx, |bytes| {
            let n = bytes.len().min(most);
            buf[..n].copy_from_slice(&bytes[..n]);
            Ok((n > 0).then_some((n, n)))
        });
        match took {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Ok(n)) => {
                self.left -= n as u64;
                Poll::Ready(Ok(BodyStep::Bytes(n)))
            }
            Poll::Ready(Err(e)) => Poll::Ready(Err(e)),
        }
    }

    fn left(&self) -> Option<u64> {
        Some(self.left)
    }

    fn forget_read(&mut self, _: &mut Context<'_>) {}
}

async fn store(t: &mut Transfer, command: &mut Command, path: &[u8]) -> Result<()> {
    let mut reader = ClientReader::open(&t.easy, Method::Put)?;
    let Some(size) = reader.size else {
        return Err(Error::new(Code::UploadFailed, "SCP requires a known file size for upload"));
    };
    let head = Head { mode: t.long(O::NewFilePerms) as u32, size };
    channel::open(&mut command.slot, "exec", &scp::store_command(path)).await?;
    let name = path.rsplit(|b| *b == b'/').next().unwrap_or_default();
    // The line need not wait for the server's start. The file must: a server that refuses it would interpret
    // it as commands.
    command.send(&head.line(name)).await?;
    command.answer().await?;
    command.answer().await?;
    t.easy.info.borrow_mut().upload_total = size as i64;
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    let mut buf = vec![0; (t.long(O::UploadBufferSize) as usize).max(32 << 10)];
    let mut left = size;
    while left > 0 {
        let room =
            t.flow.send_rate.piece(usize::try_from(left).map_or(buf.len(), |left| left.min(buf.len())));
        let n = poll_fn(|cx| reader.poll_read(cx, &mut buf[..room])).await?;
        if n == 0 {
            let text = format!("upload ended with {left} of {size} bytes missing");
            return Err(Error::new(Code::PartialFile, text));
        }
        t.easy.callbacks.debug_if_wanted(DebugKind::DataOut, &buf[..n]);
        command.send(&buf[..n]).await?;
        left -= n as u64;
        t.easy.info.borrow_mut().uploaded += n as i64;
        crate::transfer::sending::keep_pace(t, n).await;
    }
    t.mark(|info, elapsed| info.post_transfer = elapsed);
    command.send(&[0]).await?;
    command.answer().await?;
    let slot = &mut command.slot;
    poll_fn(|cx| slot.poll(cx, |session, id| session.end(id).map(Some))).await.map_err(|e| lost(&e))
}
