//! Sends the application's file or mail, at the requested rate. The socket is that of the file (FTP) or that
//! of the commands (SMTP, IMAP).

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use net::Filter;
use tables::EasyOption as O;

use super::Transfer;
use super::body::send_failed;
use super::client_reader::ClientReader;
use crate::callbacks::DebugKind;
use crate::error::Result;

/// A protocol's encoding of what it sends: input and output. The last piece is marked.
pub type Coder<'a> = &'a mut dyn FnMut(&[u8], bool, &mut Vec<u8>);

/// Reads replies while a body is sent: a server may refuse it before the end.
pub struct ReplyListener {
    heard: Vec<u8>,
    /// Whether this is a reason to say no more.
    is_enough: fn(&[u8]) -> bool,
}

impl ReplyListener {
    /// Maximum amount of such replies that is kept.
    const LIMIT: usize = 4096;

    /// Listens until `is_enough` returns true.
    pub fn new(is_enough: fn(&[u8]) -> bool) -> ReplyListener {
        ReplyListener { heard: Vec::new(), is_enough }
    }

    /// Whether there is no use in sending more.
    pub fn has_enough(&self) -> bool {
        (self.is_enough)(&self.heard)
    }

    /// Returns the received bytes, for the reader of replies.
    pub fn into_heard(self) -> Vec<u8> {
        self.heard
    }

    /// Reads what is available. The next read or write notices an end.
    fn listen(&mut self, mut read: impl FnMut(&mut [u8]) -> Poll<io::Result<usize>>) {
        let mut buf = [0; 1024];
        while self.heard.len() < ReplyListener::LIMIT
            && let Poll::Ready(Ok(n @ 1..)) = read(&mut buf)
        {
            self.heard.extend_from_slice(&buf[..n]);
        }
    }
}

/// Sends all that the reader has, or up to where the listener has heard enough.
pub async fn send_body(
    t: &mut Transfer,
    filter: &mut (dyn Filter + 'static),
    reader: &mut ClientReader,
    mut coder: Option<Coder<'_>>,
    mut listener: Option<&mut ReplyListener>,
) -> Result<()> {
    let mut buf = vec![0; t.long(O::UploadBufferSize) as usize];
    let mut coded = Vec::new();
    loop {
        let room = t.flow.send_rate.piece(buf.len());
        let n = poll_fn(|cx| reader.poll_read(cx, &mut buf[..room])).await?;
        let last = n == 0 || reader.ended();
        let bytes = match &mut coder {
            None => &buf[..n],
            Some(coder) => {
                coded.clear();
                coder(&buf[..n], last, &mut coded);
                &coded[..]
            }
        };
        send_piece(t, filter, bytes, listener.as_deref_mut()).await?;
        if last || listener.as_ref().is_some_and(|listener| listener.has_enough()) {
            t.mark(|info, elapsed| info.post_transfer = elapsed);
            return Ok(());
        }
    }
}

/// Sends one piece, and waits as long as CURLOPT_MAX_SEND_SPEED_LARGE(3) asks for.
pub async fn send_piece(
    t: &mut Transfer,
    filter: &mut (dyn Filter + 'static),
    bytes: &[u8],
    listener: Option<&mut ReplyListener>,
) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    t.easy.trace("read", || format!("{} bytes to send", bytes.len()));
    t.easy.callbacks.debug_if_wanted(DebugKind::DataOut, bytes);
    let n = match listener {
        None => filter.write_all(bytes).await.map(|()| bytes.len()),
        Some(listener) => write_listening(filter, bytes, listener).await,
    };
    let n = n.map_err(|e| send_failed(&e))?;
    t.easy.info.borrow_mut().uploaded += n as i64;
    keep_pace(t, n).await;
    Ok(())
}

/// So many bytes have been sent: waits as long as CURLOPT_MAX_SEND_SPEED_LARGE(3) asks for.
pub async fn keep_pace(t: &mut Transfer, n: usize) {
    if let Some(at) = t.flow.send_rate.moved(n, t.now()) {
        let mut pace = t.multi.runtime.reactor().sleep_until(at);
        let paced = |cx: &mut Context<'_>| {
            let changed = t.flow.send_rate.adopt(t.long(O::MaxSendSpeedLarge));
            if changed { Poll::Ready(()) } else { Pin::new(&mut pace).poll(cx) }
        };
        poll_fn(paced).await;
    }
}

/// Writes everything, unless enough is heard before; how much it was.
async fn write_listening(
    filter: &mut (dyn Filter + 'static),
    bytes: &[u8],
    listener: &mut ReplyListener,
) -> io::Result<usize> {
    let mut written = 0;
    let all = poll_fn(|cx| {
        loop {
            listener.listen(|buf| filter.poll_read(cx, buf));
            if listener.has_enough() {
                return Poll::Ready(Ok(()));
            }
            match ready!(filter.poll_write(cx, &bytes[written..]))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                n => written += n,
            }
            if written == bytes.len() {
                return filter.poll_flush(cx);
            }
        }
    })
    .await;
    if all.is_err() {
        // A server that closed may have sent a reason, and the reactor may not have reported it yet.
        listener.listen(|buf| filter.try_read(buf));
    }
    all.map(|()| written)
}
