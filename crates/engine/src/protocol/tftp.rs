//! tftp:// (RFC 1350, options by RFC 2347 to 2349, URLs by RFC 3617): one file read or written, a block at a
//! time, each acknowledged before the next. A timer retransmits lost packets. The port that answers first is
//! the server's, and a packet from any other ends the transfer. A duplicate block or acknowledgement is
//! answered once, so that it never doubles the following packets (RFC 1123 section 4.2.3.1, the sorcerer's
//! apprentice).

mod decide;

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::ops::Range;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use net::Datagrams;
use net::exchange::BodyStep;
use runtime::{Direction, Sleep};
use tables::{Code, EasyOption as O};
use wire::escape::{self, Reject};
use wire::policy::Question;
use wire::tftp::{self, DEFAULT_BLOCK, Mode, Packet};

use crate::easy::EasyState;
use crate::error::{Error, Result};
use crate::settings::Method;
use crate::transfer::Transfer;
use crate::transfer::body::{BodySource, check_size};
use crate::transfer::client_reader::ClientReader;
use decide::{Agreed, Answer, Block, refusal, shown, unexpected};

/// Runs one request.
pub async fn run(t: &mut Transfer) -> Result<()> {
    let (path, mode) = tftp::split_mode(t.url.path());
    let mode = mode.unwrap_or(if t.on(O::TransferText) { Mode::Netascii } else { Mode::Octet });
    let name = escape::decode(path.strip_prefix(b"/").unwrap_or(path), Reject::Zero)
        .map_err(|_| Error::new(Code::UrlMalformat, "a NUL in a file's name"))?;
    if name.is_empty() {
        return Err(Error::new(Code::TftpIllegal, "Missing filename"));
    }
    let mut reader = match t.on(O::Upload) || t.method == Method::Put {
        true => Some(ClientReader::open_as(&t.easy, Method::Put, mode == Mode::Netascii)?),
        false => None,
    };
    let outcome = transfer(t, &name, mode, &mut reader).await;
    let number = t.easy.info.borrow().connection_id;
    t.easy.note(|| format!("shutting down connection #{number}"));
    outcome
}

/// Opens the socket and reads or writes the file.
async fn transfer(
    t: &mut Transfer,
    name: &[u8],
    mode: Mode,
    reader: &mut Option<ClientReader>,
) -> Result<()> {
    let mut talk = TftpTransfer::open(t).await?;
    t.begins_to_move();
    // As announced by the application, before line endings are converted.
    let declared = u64::try_from(t.long(O::InFileSizeLarge)).ok().filter(|_| reader.is_some());
    let size = declared.or_else(|| reader.as_ref()?.size).unwrap_or(0);
    let illegal = |text: &str| Err(Error::new(Code::TftpIllegal, text));
    // Before options are agreed on, no packet is longer than a block.
    if tftp::request(reader.is_some(), name, mode, &[]).len() > DEFAULT_BLOCK {
        return illegal("TFTP filename too long");
    }
    let request = tftp::request(reader.is_some(), name, mode, &talk.options(t, size));
    if request.len() > DEFAULT_BLOCK {
        return illegal("TFTP buffer too small for options");
    }
    talk.send(request)?;
    match reader {
        Some(reader) => store(t, &mut talk, reader).await,
        None => fetch(t, talk).await,
    }
}

/// The first answer is the first block, or the options; each block is acknowledged when the application has
/// taken it.
async fn fetch(t: &mut Transfer, mut talk: TftpTransfer) -> Result<()> {
    let mut acknowledge = None;
    match poll_fn(|cx| talk.poll_packet(cx).map_ok(Answer::of)).await? {
        Answer::Options(taken) => {
            let total = talk.agree(&taken)?;
            t.easy.info.borrow_mut().download_total = total.map_or(-1, |n| n as i64);
            if let Err(e) = check_size(t.long(O::MaxFileSizeLarge), total) {
                talk.refuse();
                return Err(e);
            }
            acknowledge = Some(0);
        }
        Answer::Data => talk.again = true,
        Answer::Ack(_) => return Err(unexpected()),
    }
    let mut blocks = Blocks { talk, acknowledge, last: 0, left: 0..0, ended: false, lost: false };
    let outcome = t.flow.pump_body(&mut blocks).await;
    if outcome.is_err() && !blocks.lost {
        blocks.talk.refuse();
    }
    outcome
}

/// Sends blocks one by one, each after the acknowledgement of the previous one.
async fn store(t: &mut Transfer, talk: &mut TftpTransfer, reader: &mut ClientReader) -> Result<()> {
    t.easy.info.borrow_mut().upload_total = reader.size.map_or(-1, |n| n as i64);
    match poll_fn(|cx| talk.poll_packet(cx).map_ok(Answer::of)).await? {
        Answer::Options(taken) => drop(talk.agree(&taken)?),
        Answer::Ack(0) => {}
        Answer::Ack(_) | Answer::Data => return Err(unexpected()),
    }
    let mut piece = vec![0; talk.block];
    for number in 1u64.. {
        let length = match read_block(t, reader, &mut piece).await {
            Ok(length) => length,
            Err(e) => {
                talk.refuse();
                return Err(e);
            }
        };
        let block = number as u16; // wraps round, as most servers have it
        let mut packet = Vec::with_capacity(length + 4);
        Packet::Data { block, bytes: &piece[..length] }.write(&mut packet);
        talk.send(packet)?;
        poll_fn(|cx| talk.poll_acknowledged(cx, block)).await?;
        t.easy.info.borrow_mut().uploaded += length as i64;
        pace(t, length).await;
        if length < talk.block {
            break;
        }
    }
    Ok(())
}

/// A whole block, or the last bytes.
async fn read_block(t: &Transfer, reader: &mut ClientReader, piece: &mut [u8]) -> Result<usize> {
    let mut filled = 0;
    while filled < piece.len() {
        match poll_fn(|cx| reader.poll_read(cx, &mut piece[filled..])).await? {
            0 => break,
            n => filled += n,
        }
    }
    t.easy.callbacks.debug_if_wanted(crate::callbacks::DebugKind::DataOut, &piece[..filled]);
    Ok(filled)
}

async fn pace(t: &mut Transfer, length: usize) {
    t.flow.send_rate.adopt(t.long(O::MaxSendSpeedLarge));
    if let Some(at) = t.flow.send_rate.moved(length, t.now()).filter(|_| t.flow.send_rate.limited()) {
        t.multi.runtime.reactor().sleep_until(at).await;
    }
}

/// The exchange: the last packet sent, and the address of the server.
struct TftpTransfer {
    easy: Rc<EasyState>,
    link: Datagrams,
    peer: SocketAddr,
    /// The peer has answered, from the port that it uses for this file.
    pinned: bool,
    sent: Vec<u8>,
    received: Vec<u8>,
    /// The datagram in it, and whether it is to be looked at once more.
    length: usize,
    again: bool,
    /// Time-out of a reply, and the number of retransmissions.
    patience: Duration,
    tries: u32,
    tried: u32,
    timer: Sleep,
    /// The requested block size, and the one in use.
    wanted_block: usize,
    block: usize,
}

impl TftpTransfer {
    async fn open(t: &mut Transfer) -> Result<TftpTransfer> {
        let (link, peer) = t.datagrams().await?;
        let wanted_block = decide::wanted_block(t.long(O::TftpBlkSize));
        let limits = [O::ConnectTimeoutMs, O::TimeoutMs].map(|option| t.long(option));
        let (patience, tries) = decide::patience(limits);
        let reactor = t.multi.runtime.reactor();
        Ok(TftpTransfer {
            easy: t.easy.clone(),
            link,
            peer,
            pinned: false,
            sent: Vec::new(),
            // One more than a block may have: a longer one is seen.
            received: vec![0; wanted_block.max(DEFAULT_BLOCK) + 5],
            length: 0,
            again: false,
            patience,
            tries,
            tried: 0,
            timer: reactor.sleep_until(t.now() + patience),
            wanted_block,
            block: DEFAULT_BLOCK,
        })
    }

    /// The options that a request names, unless CURLOPT_TFTP_NO_OPTIONS forbids them.
    fn options(&self, t: &Transfer, size: u64) -> Vec<(&'static str, u64)> {
        decide::options(t.on(O::TftpNoOptions), size, self.wanted_block, self.patience)
    }

    /// Sends it, and again whenever no answer comes in time.
    fn send(&mut self, packet: Vec<u8>) -> Result<()> {
        self.sent = packet;
        self.tried = 0;
        self.send_again()
    }

    fn send_again(&mut self) -> Result<()> {
        self.timer.reset_after(self.patience);
        let sent = self.link.send_to(&self.sent, self.peer);
        sent.map_err(|e| crate::transfer::body::send_failed(&e))
    }

    /// The next packet of the server. An error that it reports is ours.
    fn poll_packet(&mut self, cx: &mut Context<'_>) -> Poll<Result<Packet<'_>>> {
        if !std::mem::take(&mut self.again) {
            self.length = ready!(self.poll_datagram(cx))?;
        }
        Poll::Ready(match Packet::parse(&self.received[..self.length]) {
            Ok(Packet::Error { code, text }) => {
                self.easy.note(|| format!("TFTP error: {}", shown(text)));
                Err(refusal(code))
            }
            Ok(packet) => Ok(packet),
            Err(tftp::Malformed) => Err(unexpected()),
        })
    }

    fn poll_datagram(&mut self, cx: &mut Context<'_>) -> Poll<Result<usize>> {
        loop {
            if let Poll::Ready(got) = self.link.poll_recv_from(cx, &mut self.received) {
                let (length, from) = got.map_err(|e| crate::transfer::body::receive_failed(&e))?;
                let Some(from) = from else { continue };
                if self.pinned && from != self.peer {
                    let text = "Data received from another address";
                    return Poll::Ready(Err(Error::new(Code::RecvError, text)));
                }
                // Too short to be valid: treated as lost.
                if length >= 4 {
                    if !self.pinned {
                        let guard = self.easy.settings.borrow().guard();
                        guard.judge(Question::Address(from.ip()))?;
                    }
                    (self.peer, self.pinned) = (from, true);
                    return Poll::Ready(Ok(length));
                }
                continue;
            }
            ready!(Pin::new(&mut self.timer).poll(cx));
            self.tried += 1;
            if self.tried > self.tries {
                let text = "TFTP: the server does not answer";
                return Poll::Ready(Err(Error::new(Code::OperationTimedout, text)));
            }
            self.send_again()?;
        }
    }

    /// Waits for the acknowledgement of the block. Duplicates are ignored: answering them with the next block
    /// again would double everything that follows.
    fn poll_acknowledged(&mut self, cx: &mut Context<'_>, block: u16) -> Poll<Result<()>> {
        loop {
            if decide::is_acknowledged(&ready!(self.poll_packet(cx))?, block)? {
                return Poll::Ready(Ok(()));
            }
        }
    }

    /// Applies the server's size and block size; returns the file's size if it is reported.
    fn agree(&mut self, taken: &Agreed) -> Result<Option<u64>> {
        self.block = taken.block(self.wanted_block)?;
        taken.size()
    }

    /// The server need not go on.
    fn refuse(&mut self) {
        Packet::Error { code: 0, text: b"" }.write(&mut self.sent);
        let _ = self.link.send_to(&self.sent, self.peer);
    }
}

/// A file's blocks as a body.
struct Blocks {
    talk: TftpTransfer,
    /// This block is being handed out, and the server does not know yet.
    acknowledge: Option<u16>,
    last: u16,
    /// The undelivered part of the block, in `talk.received`.
    left: Range<usize>,
    ended: bool,
    /// Whether the exchange failed, so that there is no peer to notify.
    lost: bool,
}

impl Blocks {
    /// Acknowledges the last block and waits for the next one; false after the end.
    fn poll_block(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool>> {
        if let Some(block) = self.acknowledge.take() {
            self.acknowledge(block)?;
        }
        while !self.ended {
            let limit = self.talk.block;
            let Packet::Data { block, bytes } = ready!(self.talk.poll_packet(cx))? else {
                return Poll::Ready(Err(unexpected()));
            };
            let length = bytes.len();
            match decide::received(block, self.last, length, limit)? {
                Block::Next { last } => {
                    (self.last, self.acknowledge, self.ended) = (block, Some(block), last);
                    self.left = self.talk.length - length..self.talk.length;
                    return Poll::Ready(Ok(true));
                }
                Block::Repeated => self.acknowledge(block)?,
                Block::Stale => {}
            }
        }
        Poll::Ready(Ok(false))
    }

    fn acknowledge(&mut self, block: u16) -> Result<()> {
        let mut packet = Vec::with_capacity(4);
        Packet::Ack { block }.write(&mut packet);
        self.talk.send(packet)
    }
}

impl BodySource for Blocks {
    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep>> {
        while self.left.is_empty() {
            let more = ready!(self.poll_block(cx));
            self.lost = more.is_err();
            if !more? {
                return Poll::Ready(Ok(BodyStep::End));
            }
        }
        let n = buf.len().min(self.left.len());
        let from = self.left.start;
        buf[..n].copy_from_slice(&self.talk.received[from..from + n]);
        self.left.start += n;
        Poll::Ready(Ok(BodyStep::Bytes(n)))
    }

    fn forget_read(&mut self, _: &mut Context<'_>) {
        self.talk.link.socket().forget(Direction::Read);
    }
}
