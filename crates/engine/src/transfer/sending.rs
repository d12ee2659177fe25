//! Sends what the application gives for a file or a mail, at the pace that it asks for. The socket is the file's own
//! (FTP) or that of the commands (SMTP, IMAP).

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use net::Filter;
use tables::EasyOption as O;

use super::Transfer;
use super::body::send_failed;
use super::client_reader::ClientReader;
use crate::callbacks::DebugKind;
use crate::error::Result;

/// What a protocol makes of the bytes that it sends: a piece, and what stands for it. The last piece is told as such.
pub type Coder<'a> = &'a mut dyn FnMut(&[u8], bool, &mut Vec<u8>);

/// Sends all that the reader has.
pub async fn send_body(
    t: &mut Transfer,
    filter: &mut (dyn Filter + 'static),
    reader: &mut ClientReader,
    mut coder: Option<Coder<'_>>,
) -> Result<()> {
    let mut buf = vec![0; t.long(O::UploadBuffersize) as usize];
    let mut coded = Vec::new();
    loop {
        let room = t.send_rate.piece(buf.len());
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
        send_piece(t, filter, bytes).await?;
        if last {
            t.mark(|info, elapsed| info.post_transfer = elapsed);
            return Ok(());
        }
    }
}

/// Sends one piece, and waits as long as CURLOPT_MAX_SEND_SPEED_LARGE(3) asks for.
async fn send_piece(t: &mut Transfer, filter: &mut (dyn Filter + 'static), bytes: &[u8]) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    let n = bytes.len();
    t.easy.trace("read", || format!("{n} bytes to send"));
    t.easy.callbacks.debug_if_wanted(DebugKind::DataOut, bytes);
    filter.write_all(bytes).await.map_err(|e| send_failed(&e))?;
    t.easy.info.borrow_mut().uploaded += n as i64;
    if let Some(at) = t.send_rate.moved(n, t.now()) {
        let mut pace = t.multi.runtime.reactor().sleep_until(at);
        let paced = |cx: &mut Context<'_>| {
            let changed = t.send_rate.adopt(t.long(O::MaxSendSpeedLarge));
            if changed { Poll::Ready(()) } else { Pin::new(&mut pace).poll(cx) }
        };
        poll_fn(paced).await;
    }
    Ok(())
}
