//! A file from a server: which part of it (CURLOPT_RANGE(3), CURLOPT_RESUME_FROM_LARGE(3)), and its bytes, asked for many
//! requests ahead.

use std::task::{Context, Poll};

use net::exchange::{BodyError, BodyStep};
use ssh::sftp::{Answer, Attrs, READ, Reads, Reply, Request};
use tables::{Code, EasyOption as O};

use super::channel::{Sftp, attrs, handle};
use super::refused;
use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::body::BodySource;

/// Fetches a file.
pub async fn fetch(t: &mut Transfer, sftp: &mut Sftp, path: &[u8]) -> Result<()> {
    // The size is asked for behind the handle: one round trip for both.
    let opening = sftp.client.ask(&Request::Open { path, flags: READ, attrs: Attrs::default() });
    let asking = sftp.client.ask(&Request::Stat { path });
    let opened = sftp.reply(opening, handle).await?;
    let known = sftp.reply(asking, attrs).await?;
    let file = opened.map_err(|status| refused("Could not open remote file for reading", status))?;
    // Files of a size of zero may be some that the kernel makes up: they are read to their end.
    let size = known.ok().and_then(|attrs| attrs.size).filter(|size| *size > 0);
    let outcome = body(t, sftp, &file, size).await;
    sftp.client.ask_in_passing(&Request::Close { handle: &file });
    outcome
}

async fn body(t: &mut Transfer, sftp: &mut Sftp, file: &[u8], size: Option<u64>) -> Result<()> {
    let span = span(t, size)?;
    let length = span.1.map(|end| end - span.0);
    t.easy.info.borrow_mut().download_total = length.map_or(-1, |n| n as i64);
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    if t.on(O::Nobody) {
        return Ok(());
    }
    let limit = t.long(O::MaxfilesizeLarge);
    if limit > 0 && length.is_some_and(|n| n > limit as u64) {
        return Err(Error::new(Code::FilesizeExceeded, "Maximum file size exceeded"));
    }
    if length == Some(0) {
        t.easy.note(|| "File already completely downloaded".to_owned());
        return t.writer.body_end();
    }
    sftp.in_step = false;
    let reads = Reads::new(file, span.0, span.1);
    let mut source =
        Source { sftp, reads, left: length, kept: Vec::new(), given: 0, failed: None, widened: 0 };
    t.pump_body(&mut source).await.map_err(|e| source.failed.take().unwrap_or(e))?;
    source.reads.leave(&mut source.sftp.client);
    sftp.in_step = true;
    Ok(())
}

/// From where up to where; the end is not known of a file without a size.
fn span(t: &Transfer, size: Option<u64>) -> Result<(u64, Option<u64>)> {
    let beyond = |from: i64, size: u64| {
        let text = format!("Offset ({from}) was beyond file size ({size})");
        Error::new(Code::BadDownloadResume, text)
    };
    if let (Some(range), Some(size)) = (t.text(O::Range), size) {
        return Span::parse(&range).and_then(|range| range.of(size)).map(|(from, end)| (from, Some(end)));
    }
    match (t.long(O::ResumeFromLarge), size) {
        (0, size) => Ok((0, size)),
        (from, Some(size)) if from < 0 && from.unsigned_abs() <= size => {
            Ok((size - from.unsigned_abs(), Some(size)))
        }
        (from, Some(size)) if from > 0 && from as u64 <= size => Ok((from as u64, Some(size))),
        (from, Some(size)) => Err(beyond(from, size)),
        (from, None) if from > 0 => Ok((from as u64, None)),
        (from, None) => Err(beyond(from, 0)),
    }
}

/// `FIRST-LAST`, `FIRST-` or `-LENGTH`.
#[derive(Debug, PartialEq, Eq)]
struct Span {
    first: Option<u64>,
    last: Option<u64>,
}

impl Span {
    fn parse(text: &[u8]) -> Result<Span> {
        let bad = || Error::new(Code::RangeError, "a range that cannot be read");
        let text = std::str::from_utf8(text).map_err(|_| bad())?;
        let (first, last) = text.split_once('-').ok_or_else(bad)?;
        let number = |text: &str| match text.trim() {
            "" => Ok(None),
            text => {
                let digits = text.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
                let number = digits.parse::<u64>().ok().filter(|n| i64::try_from(*n).is_ok());
                number.map(Some).ok_or_else(bad)
            }
        };
        Ok(Span { first: number(first)?, last: number(last)? })
    }

    /// What it is of a file of this size.
    fn of(&self, size: u64) -> Result<(u64, u64)> {
        let bad = || Error::new(Code::RangeError, format!("Offset was beyond file size ({size})"));
        match (self.first, self.last) {
            (None, Some(n)) if n > 0 => Ok((size.saturating_sub(n), size)),
            (None, _) => Err(bad()),
            (Some(first), _) if first > size => Err(bad()),
            (Some(first), None) => Ok((first, size)),
            (Some(first), Some(last)) if last < first => Ok((first, first)),
            (Some(first), Some(last)) => Ok((first, last.saturating_add(1).min(size))),
        }
    }
}

/// A file that is being read.
struct Source<'a> {
    sftp: &'a mut Sftp,
    reads: Reads,
    left: Option<u64>,
    /// What came and did not fit into the buffer that was lent, and how much of it was given.
    kept: Vec<u8>,
    given: usize,
    failed: Option<Error>,
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

    fn fail<T>(&mut self, error: Error) -> Poll<Result<T, BodyError>> {
        self.failed = Some(error);
        Poll::Ready(Err(BodyError::Truncated(self.left)))
    }

    fn came(&mut self, n: usize) -> Poll<Result<BodyStep, BodyError>> {
        self.left = self.left.map(|left| left.saturating_sub(n as u64));
        Poll::Ready(Ok(BodyStep::Bytes(n)))
    }
}

/// What a reply has brought.
enum Brought {
    Bytes(usize),
    Nothing,
    Failed(Error),
}

impl BodySource for Source<'_> {
    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep, BodyError>> {
        loop {
            if self.given < self.kept.len() {
                let n = self.give(buf);
                return self.came(n);
            }
            if let Some(kept) = self.reads.kept() {
                self.kept = kept;
                continue;
            }
            if self.reads.is_done() {
                return match self.left {
                    Some(left) if left > 0 => Poll::Ready(Err(BodyError::Truncated(Some(left)))),
                    _ => Poll::Ready(Ok(BodyStep::End)),
                };
            }
            self.reads.ask(&mut self.sftp.client);
            if self.reads.window() > self.widened {
                self.widened = self.reads.window();
                self.sftp.widen(cx, self.widened * 2);
            }
            let Source { sftp, reads, kept, .. } = self;
            let taken = sftp.poll_reply(cx, |client, id, reply| {
                Some(match reply {
                    Reply::Data(bytes) => match reads.data(client, id, bytes) {
                        Ok(Answer::Next) => {
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
                Poll::Ready(Ok(Brought::Bytes(n))) => return self.came(n),
                Poll::Ready(Ok(Brought::Nothing)) => {}
                Poll::Ready(Ok(Brought::Failed(e)) | Err(e)) => return self.fail(e),
            }
        }
    }

    fn left(&self) -> Option<u64> {
        self.left
    }

    fn forget_read(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_a_file_of_ten_bytes() {
        let of = |text: &str| Span::parse(text.as_bytes()).and_then(|span| span.of(10)).ok();
        for (text, found) in [
            ("5-9", Some((5, 10))),
            ("5-99", Some((5, 10))),
            ("-9", Some((1, 10))),
            ("-99", Some((0, 10))),
            ("5-", Some((5, 10))),
            ("0-0", Some((0, 1))),
            ("10-", Some((10, 10))),
            ("99-", None),
            ("-", None),
            ("-0", None),
            ("x-1", None),
            ("7", None),
            ("5-4", Some((5, 5))),
        ] {
            assert_eq!(of(text), found, "{text}");
        }
    }
}
