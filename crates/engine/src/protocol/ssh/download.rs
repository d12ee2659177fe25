//! Downloads a file: the part selected (CURLOPT_RANGE(3), CURLOPT_RESUME_FROM_LARGE(3)), and its bytes,
//! requested many at a time.

use std::task::{Context, Poll};

use net::exchange::BodyStep;
use ssh::sftp::{Answer, Attrs, EarlyRead, READ, Reads, Reply, Request};
use tables::{Code, EasyOption as O};

use super::channel::{Sftp, attrs, handle};
use super::fault::{refused, size};
use super::sftp::note_time;
use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::body::{BodySource, check_size, truncated};

/// Fetches a file.
pub async fn fetch(t: &mut Transfer, sftp: &mut Sftp, path: &[u8]) -> Result<()> {
    // Handle, size and, where that can be, the first bytes: one round trip for all.
    let opening = sftp.client.ask(&Request::Open { path, flags: READ, attrs: Attrs::default() });
    let asking = sftp.client.ask(&Request::Stat { path });
    let mut ahead = beginning(t).and_then(|offset| EarlyRead::ask(&mut sftp.client, offset));
    let outcome = opened(t, sftp, [opening, asking], &mut ahead).await;
    if let Some(ahead) = ahead {
        ahead.leave(&mut sftp.client);
    }
    outcome
}

/// Returns the offset of the download, if it does not depend on the file's size.
fn beginning(t: &Transfer) -> Option<u64> {
    let asks = t.text(O::Range).is_some() || t.on(O::NoBody) || t.long(O::MaxFileSizeLarge) > 0;
    u64::try_from(t.long(O::ResumeFromLarge)).ok().filter(|_| !asks)
}

async fn opened(
    t: &mut Transfer,
    sftp: &mut Sftp,
    [opening, asking]: [u32; 2],
    ahead: &mut Option<EarlyRead>,
) -> Result<()> {
    let opened = sftp.reply(opening, handle).await?;
    let known = sftp.reply(asking, attrs).await?;
    if t.on(O::FileTime)
        && let Ok(attrs) = &known
    {
        note_time(t, attrs);
    }
    let file = opened.map_err(|status| refused("Could not open remote file for reading", status))?;
    // Files of a size of zero may be some that the kernel makes up: they are read to their end.
    let size = known.ok().map_or(Ok(None), |known| size(&known)).map(|size| size.filter(|size| *size > 0));
    let outcome = match size {
        Ok(size) => body(t, sftp, &file, size, ahead).await,
        Err(e) => Err(e),
    };
    sftp.client.ask_in_passing(&Request::Close { handle: &file });
    outcome
}

async fn body(
    t: &mut Transfer,
    sftp: &mut Sftp,
    file: &[u8],
    size: Option<u64>,
    ahead: &mut Option<EarlyRead>,
) -> Result<()> {
    let span = span(t, size)?;
    let length = span.1.map(|end| end - span.0);
    t.easy.info.borrow_mut().download_total = length.map_or(-1, |n| n as i64);
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    if t.on(O::NoBody) {
        return Ok(());
    }
    check_size(t.long(O::MaxFileSizeLarge), length)?;
    if length == Some(0) {
        t.easy.note(|| "File already completely downloaded".to_owned());
        return t.flow.writer.body_end();
    }
    sftp.in_step = false;
    let mut reads = Reads::new(file, span.0, span.1);
    if let Some(ahead) = ahead.take() {
        reads.take(&mut sftp.client, ahead);
    }
    let mut source = Source { sftp, reads, left: length, kept: Vec::new(), given: 0, widened: 0 };
    t.flow.pump_body(&mut source).await?;
    source.reads.leave(&mut source.sftp.client);
    sftp.in_step = true;
    Ok(())
}

/// Returns the first and the last position to read; the end of a file without a size is not known.
fn span(t: &Transfer, size: Option<u64>) -> Result<(u64, Option<u64>)> {
    if let (Some(range), Some(size)) = (t.text(O::Range), size) {
        return span_of(&range, size).map(|(from, end)| (from, Some(end)));
    }
    let from = t.long(O::ResumeFromLarge);
    let all = size.unwrap_or_default();
    match from.unsigned_abs() {
        0 => Ok((0, size)),
        last if from < 0 && last <= all => Ok((all - last, Some(all))),
        first if from > 0 && first <= all => Ok((first, Some(all))),
        _ => {
            let text = format!("Offset ({from}) was beyond file size ({all})");
            Err(Error::new(Code::BadDownloadResume, text))
        }
    }
}

/// Parses `FIRST-LAST`, `FIRST-` or `-LENGTH` for a file of this size; returns the offset and the end. Blanks
/// around the dash are allowed.
fn span_of(range: &[u8], size: u64) -> Result<(u64, u64)> {
    let bad = || Error::new(Code::RangeError, "a range that cannot be read");
    let number = |text: &str| -> Result<Option<u64>> {
        let number = text.parse().ok().filter(|n| i64::try_from(*n).is_ok());
        match text {
            "" => Ok(None),
            _ if text.bytes().all(|b| b.is_ascii_digit()) => number.map(Some).ok_or_else(bad),
            _ => Err(bad()),
        }
    };
    let text = std::str::from_utf8(range).map_err(|_| bad())?;
    // As in curl, a number alone is the offset.
    let (first, last) = text.split_once('-').unwrap_or((text, ""));
    let blank = [' ', '\t'];
    match (number(first.trim_end_matches(blank))?, number(last.trim_start_matches(blank))?) {
        (None, None | Some(0)) => Err(bad()),
        (None, Some(length)) => Ok((size.saturating_sub(length), size)),
        (Some(first), _) if first > size => {
            let text = format!("Offset ({first}) was beyond file size ({size})");
            Err(Error::new(Code::RangeError, text))
        }
        (Some(first), last) => {
            let end = last.map_or(size, |last| last.saturating_add(1).min(size));
            let backwards = || Error::new(Code::RangeError, "Bad range: start offset larger than end offset");
            if first < end { Ok((first, end)) } else { Err(backwards()) }
        }
    }
}

/// A file that is being read.
struct Source<'a> {
    sftp: &'a mut Sftp,
    reads: Reads,
    left: Option<u64>,
    /// Received data that did not fit into the caller's buffer, and how much of it was delivered.
    kept: Vec<u8>,
    given: usize,
    widened: u64,
}

impl Source<'_> {
    fn give(&mut self, buf: &mut [u8]) -> usize {
        let rest = &self.kept[self.given..];
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        self.given += n;
        if self.given == self.kept.len() {
            self.kept.clear();
            self.given = 0;
        }
        n
    }

    fn delivered(&mut self, n: usize) -> Poll<Result<BodyStep>> {
        self.left = self.left.map(|left| left.saturating_sub(n as u64));
        Poll::Ready(Ok(BodyStep::Bytes(n)))
    }
}

/// The result of a reply.
enum Brought {
    Bytes(usize),
    Nothing,
    Failed(Error),
}

impl BodySource for Source<'_> {
    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep>> {
        loop {
            if self.given < self.kept.len() {
                let n = self.give(buf);
                return self.delivered(n);
            }
            if let Some(kept) = self.reads.kept() {
                self.kept = kept;
                continue;
            }
            if self.reads.is_done() {
                return match self.left {
                    Some(left) if left > 0 => Poll::Ready(Err(truncated(Some(left)))),
                    _ => Poll::Ready(Ok(BodyStep::End)),
                };
            }
            self.reads.ask(&mut self.sftp.client);
            if self.reads.window() > self.widened {
                self.widened = self.reads.window();
                self.sftp.widen(cx, self.widened * 2);
            }
            let Source { sftp, reads, kept, left, .. } = self;
            let taken = sftp.poll_reply(cx, |client, id, reply| {
                Some(match reply {
                    Reply::Data(bytes) => match reads.data(client, id, bytes) {
                        Ok(Answer::Next) => {
                            // A file that grows may have more than its size at the time of the request.
                            let most = left.and_then(|left| usize::try_from(left).ok()).unwrap_or(usize::MAX);
                            let bytes = &bytes[..bytes.len().min(most)];
                            let n = bytes.len().min(buf.len());
                            buf[..n].copy_from_slice(&bytes[..n]);
                            kept.extend_from_slice(&bytes[n..]);
                            Brought::Bytes(n)
                        }
                        Ok(_) => Brought::Nothing,
                        Err(e) => Brought::Failed(Error::new(Code::Ssh, e.to_string())),
                    },
                    Reply::Status(status, _) => match reads.status(client, id, status) {
                        Ok(Answer::Failed(status)) => {
                            Brought::Failed(refused("Could not read the file", status))
                        }
                        Ok(_) => Brought::Nothing,
                        Err(e) => Brought::Failed(Error::new(Code::Ssh, e.to_string())),
                    },
                    _ => Brought::Failed(Error::new(Code::Ssh, "an SFTP reply of another kind")),
                })
            });
            match taken {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(Brought::Bytes(n))) => return self.delivered(n),
                Poll::Ready(Ok(Brought::Nothing)) => {}
                Poll::Ready(Ok(Brought::Failed(e)) | Err(e)) => return Poll::Ready(Err(e)),
            }
        }
    }

    fn left(&self) -> Option<u64> {
        self.left
    }

    fn forget_read(&mut self, _: &mut Context<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_a_file() {
        const SIZE: u64 = 1_000;
        let span = |text: &str| span_of(text.as_bytes(), SIZE).ok();
        // Both ends are inside; bytes after the end of the file are not requested.
        assert_eq!(span("100-199"), Some((100, 200)));
        assert_eq!(span("999-1500"), Some((999, SIZE)));
        assert_eq!(span("640-"), Some((640, SIZE)));
        assert_eq!(span("44"), Some((44, SIZE)));
        assert_eq!(span("17-17"), Some((17, 18)));
        assert_eq!(span("17\t- 40"), Some((17, 41)));
        // The last bytes: all of them if more are requested.
        assert_eq!(span("-250"), Some((750, SIZE)));
        assert_eq!(span("-4000"), Some((0, SIZE)));
        for nothing in
            ["1000-", "31337-", "300-200", "-0", "-", "", "a", "a-b", "1-2-3", "-5-", "0x1-3", "1e2-"]
        {
            assert_eq!(span(nothing), None, "{nothing}");
        }
        // Numbers have the range of a curl_off_t.
        let most = i64::MAX.unsigned_abs();
        assert_eq!(span(&format!("3-{most}")), Some((3, SIZE)));
        assert_eq!(span(&format!("3-{}", most + 1)), None);
    }
}
