//! Describes a file again and again on one control connection: MDTM and SIZE for each wish of the owner of a
//! [`RepeatedQuery`]. The first description is that of any transfer (`body::describe`).

use std::future::poll_fn;
use std::task::{Poll, ready};

use tables::{Code, EasyOption as O};
use wire::ftp::reply::{REPLY_LIMIT, Reply, ReplyReader};

use super::control::Control;
use super::decide::pipeline::is_misunderstood;
use super::decide::repeated as decide;
use super::ftp_target::FtpTarget;
use super::servers::{Stream, level};
use crate::error::{Error, Result};
use crate::repeated_query::{Answer, RepeatedQuery, Wish};
use crate::settings::FtpPipelining;
use crate::transfer::Transfer;

/// Answers the query that has just been asked, and those that follow, until its owner wants no more.
pub async fn repeat(t: &mut Transfer, control: &mut Control, target: &FtpTarget) -> Result<()> {
    let Some(query) = t.easy.repeated.get().cloned().filter(|_| suits(t, control)) else { return Ok(()) };
    let size = u64::try_from(t.easy.info.borrow().download_total).ok();
    let modified = Some(t.easy.info.borrow().file_time).filter(|time| *time >= 0);
    query.deliver(Answer::Present { modified, size });
    let [modified, size] = [[b"MDTM ", target.file()].concat(), [b"SIZE ", target.file()].concat()];
    let mut commands = Commands { modified, size, acknowledges: false };
    while control.next_wish(&query).await? == Wish::Repeat {
        query.deliver(control.describe_again(t, &mut commands).await?);
    }
    Ok(())
}

/// The commands of each query.
struct Commands {
    modified: Vec<u8>,
    size: Vec<u8>,
    /// Whether a second reply came apart from the first: it may wait for an acknowledgement.
    acknowledges: bool,
}

/// Returns whether a transfer may last. Options that count its time or its bytes mean single transfers; a
/// record of reasons would grow without end.
fn suits(t: &Transfer, control: &Control) -> bool {
    let lists = [O::Quote, O::PreQuote, O::PostQuote];
    let limits = [
        O::TimeoutMs,
        O::TimeCondition,
        O::LowSpeedTime,
        O::ServerResponseTimeoutMs,
        O::MaxLifetimeConn,
        O::ForbidReuse,
    ];
    let settings = t.easy.settings.borrow();
    let plain = lists.into_iter().all(|list| settings.list(list).is_empty())
        && limits.into_iter().all(|limit| settings.long(limit) == 0)
        && t.easy.stall_limit.get().is_none();
    plain && !t.easy.why.is_on() && t.multi.recording.get().is_none() && control.is_free()
}

impl Control {
    /// Returns whether every command has been answered.
    fn is_free(&self) -> bool {
        self.dialogue.in_step() && self.flight.sent.is_empty() && self.session.ahead.is_empty()
    }

    /// Waits for a wish. Fails when the server closes the connection, or announces that.
    async fn next_wish(&mut self, query: &RepeatedQuery) -> Result<Wish> {
        let wish = poll_fn(|cx| match query.poll_wish(cx) {
            Poll::Ready(wish) => Poll::Ready(Some(wish)),
            Poll::Pending => {
                ready!(self.dialogue.poll_unrequested(cx));
                Poll::Ready(None)
            }
        });
        let wish = wish.await;
        wish.ok_or_else(|| {
            self.dialogue.outstanding = usize::MAX;
            Error::new(Code::RecvError, "the server has closed the connection")
        })
    }

    /// Sends MDTM and SIZE, together if the server reads a stream of commands, and reads both replies.
    async fn describe_again(&mut self, t: &mut Transfer, commands: &mut Commands) -> Result<Answer> {
        let Commands { modified, size, acknowledges } = commands;
        let reads = matches!(self.session.stream, Stream::Believed | Stream::Proven);
        let replies = if reads && level(t) >= FtpPipelining::Together && !self.is_objected(t) {
            self.dialogue.send_together(t, &[modified, size]).await?;
            if *acknowledges {
                self.dialogue.acknowledge();
            }
            let first = self.short_reply(t).await?;
            *acknowledges |= self.dialogue.held() == 0;
            [first, self.short_reply(t).await?]
        } else {
            self.dialogue.send(t, modified).await?;
            let first = self.short_reply(t).await?;
            self.dialogue.send(t, size).await?;
            [first, self.short_reply(t).await?]
        };
        let answer = decide::answer(&replies);
        if reads && is_misunderstood(replies.map(|reply| reply.code)) {
            self.object(t);
        }
        answer
    }

    /// Reads a reply without a time limit: the owner of the query has one.
    async fn short_reply(&mut self, t: &Transfer) -> Result<Reply> {
        let mut reader = ReplyReader::new(REPLY_LIMIT);
        loop {
            let line = self.dialogue.unseen_line(t).await?;
            let too_long = |_| Error::new(Code::WeirdServerReply, "too long a reply");
            if let Some(reply) = reader.take_line(&line).map_err(too_long)? {
                self.dialogue.answered();
                return Ok(reply);
            }
        }
    }
}
