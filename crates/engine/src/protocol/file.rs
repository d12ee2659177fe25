//! file:// (RFC 8089): reads a local file, or writes one. There is no connection; bytes go through the
//! same client reader and writer as everywhere.

use std::fs::{File, OpenOptions};
use std::future::poll_fn;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::task::{Context, Poll};
use std::time::UNIX_EPOCH;

use net::exchange::BodyStep;
use tables::constant::{CURL_TIMECOND_IFUNMODSINCE, CURL_TIMECOND_NONE};
use tables::{Code, EasyOption as O};
use wire::date;
use wire::escape::{self, Reject};

use crate::error::{Error, Result};
use crate::info::Nanos;
use crate::settings::Method;
use crate::sys;
use crate::transfer::Transfer;
use crate::transfer::body::{BodySource, receive_failed, truncated};
use crate::transfer::client_reader::ClientReader;

/// Runs one file:// request.
pub async fn run(t: &mut Transfer) -> Result<()> {
    let path = path_of(t)?;
    let (number, outcome) = if t.on(O::Upload) || t.method == Method::Put {
        (t.count_connection(), upload(t, &path).await)
    } else {
        let file = File::open(&path).map_err(|e| unreadable(&path, &e))?;
        (t.count_connection(), download(t, &path, file).await)
    };
    t.easy.note(|| format!("shutting down connection #{number}"));
    outcome
}

fn unreadable(path: &Path, e: &std::io::Error) -> Error {
    Error::os(Code::FileCouldntReadFile, format!("Could not open file {}", path.display()), e)
}

/// Records that the file is open, in place of the times of resolution and connection.
fn note_opened(t: &Transfer) {
    t.mark(|info, elapsed| {
        (info.queued, info.name_lookup) = (elapsed.max(Nanos::LEAST), elapsed.max(Nanos::LEAST))
    });
}

fn path_of(t: &Transfer) -> Result<PathBuf> {
    let bytes = escape::decode(t.url.path(), Reject::Zero)
        .map_err(|_| Error::new(Code::UrlMalformat, "NUL byte in file path"))?;
    sys::path_of_url(bytes).ok_or_else(|| Error::new(Code::UrlMalformat, "no path of this machine"))
}

async fn download(t: &mut Transfer, path: &Path, mut file: File) -> Result<()> {
    note_opened(t);
    let meta = file.metadata().map_err(|e| unreadable(path, &e))?;
    let modified = meta.modified().ok().and_then(|m| m.duration_since(UNIX_EPOCH).ok());
    let modified = modified.map_or(0, |d| d.as_secs() as i64);
    if t.on(O::FileTime) {
        t.easy.info.borrow_mut().file_time = modified;
    }
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    if is_unmet(t.long(O::TimeCondition), modified, t.long(O::TimeValueLarge)) {
        t.easy.info.borrow_mut().condition_unmet = true;
        return Ok(());
    }
    if meta.is_dir() {
        heads(t, None, modified)?;
        if t.on(O::NoBody) {
            return Ok(());
        }
        t.note_first_byte();
        return list(t, path).await;
    }
    let size = if meta.is_file() { Some(meta.len()) } else { None };
    heads(t, Some(meta.len()), modified)?;
    let (from, length) = span(t.text(O::Range).as_deref(), t.long(O::ResumeFromLarge), size)?;
    t.easy.info.borrow_mut().download_total = length.map_or(-1, |n| n as i64);
    if t.on(O::NoBody) {
        return Ok(());
    }
    if from > 0 {
        file.seek(SeekFrom::Start(from)).map_err(|e| unreadable(path, &e))?;
    }
    t.note_first_byte();
    t.flow.pump_body(&mut FileSource { file, left: length }).await
}

/// Lists the names in a directory, one per line, without hidden ones.
async fn list(t: &mut Transfer, path: &Path) -> Result<()> {
    let unreadable = |e: std::io::Error| Error::os(Code::ReadError, "Could not read the folder", &e);
    for entry in std::fs::read_dir(path).map_err(unreadable)? {
        let mut name = sys::name_of(&entry.map_err(unreadable)?.file_name()).into_owned();
        if !name.starts_with(b".") {
            name.push(b'\n');
            poll_fn(|cx| t.flow.writer.poll_ready(cx)).await?;
            t.easy.info.borrow_mut().downloaded += name.len() as i64;
            t.flow.writer.body(&name)?;
        }
    }
    Ok(())
}

/// Returns which bytes are wanted: offset, and how many when that is known. `range` is CURLOPT_RANGE,
/// `resume` CURLOPT_RESUME_FROM_LARGE; `size` is that of a regular file.
fn span(range: Option<&[u8]>, resume: i64, size: Option<u64>) -> Result<(u64, Option<u64>)> {
    let cannot = || Error::new(Code::BadDownloadResume, "failed to resume file:// transfer");
    if let Some(range) = range {
        return part(range, size.ok_or_else(cannot)?)?.ok_or_else(cannot);
    }
    match (resume, size) {
        (0, size) => Ok((0, size)),
        (n, Some(size)) if n < 0 && n.unsigned_abs() <= size => {
            Ok((size - n.unsigned_abs(), Some(n.unsigned_abs())))
        }
        (n, Some(size)) if n > 0 && n as u64 <= size => Ok((n as u64, Some(size - n as u64))),
        (n, None) if n > 0 => Ok((n as u64, None)),
        _ => Err(cannot()),
    }
}

/// Returns the part of a file that the first range names, offset and length; `None` if it begins outside of
/// the file. Further ranges are ignored.
fn part(range: &[u8], size: u64) -> Result<Option<(u64, Option<u64>)>> {
    let bad = || Error::from(Code::RangeError);
    let text = String::from_utf8_lossy(range);
    let (first, rest) = text.split_once('-').ok_or_else(bad)?;
    let digits = rest.trim_start().split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
    let number = |digits: &str| digits.parse::<u64>().map_err(|_| bad());
    let (from, last) = match (first.trim(), digits) {
        ("", count) => match number(count)? {
            0 => return Err(bad()),
            n if n > size => return Ok(None),
            n => (size - n, size),
        },
        (first, "") => (number(first)?, size),
        (first, last) => (number(first)?, number(last)?),
    };
    if !digits.is_empty() && from > last {
        return Err(bad());
    }
    let length = last.saturating_sub(from).saturating_add(1);
    Ok((from <= size).then(|| (from, Some(length.min(size - from)))))
}

/// Generates curl's heads for a file: always for the whole file. A directory has no size.
fn heads(t: &mut Transfer, size: Option<u64>, modified: i64) -> Result<()> {
    let show = t.on(O::Header);
    t.note_first_byte();
    if let Some(size) = size {
        t.flow.writer.header(format!("Content-Length: {size}\r\n").as_bytes(), show)?;
        t.flow.writer.header(b"Accept-ranges: bytes\r\n", show)?;
    }
    t.flow.writer.header(format!("Last-Modified: {}\r\n", date::http(modified)).as_bytes(), show)?;
    t.flow.writer.header(b"\r\n", show)?;
    Ok(())
}

/// Returns whether the file's time does not meet CURLOPT_TIMECONDITION with this CURLOPT_TIMEVALUE.
fn is_unmet(condition: i64, modified: i64, limit: i64) -> bool {
    match condition {
        CURL_TIMECOND_NONE => false,
        CURL_TIMECOND_IFUNMODSINCE => modified >= limit,
        _ => limit > 0 && modified <= limit,
    }
}

struct FileSource {
    file: File,
    left: Option<u64>,
}

impl BodySource for FileSource {
    fn poll_body(&mut self, _cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep>> {
        let room = self.left.map_or(buf.len(), |l| buf.len().min(usize::try_from(l).unwrap_or(usize::MAX)));
        if room == 0 {
            return Poll::Ready(Ok(BodyStep::End));
        }
        match self.file.read(&mut buf[..room]) {
            Ok(0) => match self.left {
                Some(left) => Poll::Ready(Err(truncated(Some(left)))),
                None => Poll::Ready(Ok(BodyStep::End)),
            },
            Ok(n) => {
                self.left = self.left.map(|l| l - n as u64);
                Poll::Ready(Ok(BodyStep::Bytes(n)))
            }
            Err(e) => Poll::Ready(Err(receive_failed(&e))),
        }
    }

    fn forget_read(&mut self, _: &mut Context<'_>) {}
}

async fn upload(t: &mut Transfer, path: &Path) -> Result<()> {
    let mode = t.long(O::NewFilePerms) as u32;
    let resume = t.long(O::ResumeFromLarge);
    let append = resume != 0; // CURLOPT_APPEND is for FTP and SFTP
    let mut options = OpenOptions::new();
    sys::with_mode(options.write(true).create(true), mode);
    if append {
        options.append(true)
    } else {
        options.truncate(true)
    };
    let mut file = options.open(path).map_err(|e| {
        Error::os(Code::WriteError, format!("cannot open {} for writing", path.display()), &e)
    })?;
    note_opened(t);
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    let mut reader = ClientReader::open(&t.easy, Method::Put)?;
    t.easy.info.borrow_mut().upload_total = reader.size.map_or(-1, |s| s as i64);
    let from = match resume {
        n if n < 0 => file.metadata().map(|m| m.len()).unwrap_or(0),
        n => n as u64,
    };
    if from > 0 {
        reader.skip(from)?;
    }
    let mut buf = vec![0; t.long(O::UploadBufferSize) as usize];
    loop {
        let n = poll_fn(|cx| reader.poll_read(cx, &mut buf)).await?;
        if n == 0 {
            return Ok(());
        }
        file.write_all(&buf[..n]).map_err(|e| Error::os(Code::SendError, "Failed writing the file", &e))?;
        t.easy.info.borrow_mut().uploaded += n as i64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tables::constant::{CURL_TIMECOND_IFMODSINCE, CURL_TIMECOND_LASTMOD};

    #[test]
    fn resumed_downloads_stay_within_the_file() {
        let cannot = Err(Code::BadDownloadResume);
        let rows = [
            ("CURLOPT_RESUME_FROM(3): all of it", 0, Some(9), Ok((0, Some(9)))),
            ("CURLOPT_RESUME_FROM(3): from 4", 4, Some(9), Ok((4, Some(5)))),
            ("CURLOPT_RESUME_FROM(3): nothing is left", 9, Some(9), Ok((9, Some(0)))),
            ("CURLOPT_RESUME_FROM(3): beyond its end", 10, Some(9), cannot),
            ("CURLOPT_RESUME_FROM(3): the last 4", -4, Some(9), Ok((5, Some(4)))),
            ("CURLOPT_RESUME_FROM(3): more than there is", -10, Some(9), cannot),
            ("a device: all of it", 0, None, Ok((0, None))),
            ("a device: from 4", 4, None, Ok((4, None))),
            ("a device has no end", -4, None, cannot),
        ];
        for (name, resume, size, wanted) in rows {
            assert_eq!(span(None, resume, size).map_err(|e| e.code()), wanted, "{name}");
        }
    }

    #[test]
    fn ranges_of_a_file_of_nine_bytes() {
        let bad = Err(Code::RangeError);
        let cannot = Err(Code::BadDownloadResume);
        let rows = [
            ("CURLOPT_RANGE(3): within", "2-4", Ok((2, Some(3)))),
            ("CURLOPT_RANGE(3): open", "2-", Ok((2, Some(7)))),
            ("CURLOPT_RANGE(3): beyond its end", "2-99", Ok((2, Some(7)))),
            ("CURLOPT_RANGE(3): the last", "-3", Ok((6, Some(3)))),
            ("CURLOPT_RANGE(3): more than there is", "-10", cannot),
            ("CURLOPT_RANGE(3): begins beyond its end", "10-11", cannot),
            ("CURLOPT_RANGE(3): several, the first counts", "0-1,5-6", Ok((0, Some(2)))),
            ("CURLOPT_RANGE(3): backwards", "4-2", bad),
            ("CURLOPT_RANGE(3): of nothing", "-0", bad),
            ("CURLOPT_RANGE(3): no number", "a-b", bad),
            ("CURLOPT_RANGE(3): no dash", "4", bad),
            ("CURLOPT_RANGE(3): a number that fits nothing", "99999999999999999999-", bad),
        ];
        for (name, range, wanted) in rows {
            assert_eq!(span(Some(range.as_bytes()), 0, Some(9)).map_err(|e| e.code()), wanted, "{name}");
        }
        let device = span(Some(b"0-1"), 0, None).map_err(|e| e.code());
        assert_eq!(device, cannot, "CURLOPT_RANGE(3): a device");
    }

    #[test]
    fn time_conditions_compare_with_the_file() {
        let rows = [
            ("CURLOPT_TIMECONDITION(3): none", CURL_TIMECOND_NONE, 5, 9, false),
            ("CURLOPT_TIMECONDITION(3): IFMODSINCE, older", CURL_TIMECOND_IFMODSINCE, 8, 9, true),
            ("CURLOPT_TIMECONDITION(3): IFMODSINCE, equal", CURL_TIMECOND_IFMODSINCE, 9, 9, true),
            ("CURLOPT_TIMECONDITION(3): IFMODSINCE, newer", CURL_TIMECOND_IFMODSINCE, 10, 9, false),
            ("CURLOPT_TIMECONDITION(3): IFUNMODSINCE, older", CURL_TIMECOND_IFUNMODSINCE, 8, 9, false),
            ("CURLOPT_TIMECONDITION(3): IFUNMODSINCE, equal", CURL_TIMECOND_IFUNMODSINCE, 9, 9, true),
            ("CURLOPT_TIMECONDITION(3): LASTMOD is IFMODSINCE", CURL_TIMECOND_LASTMOD, 8, 9, true),
            ("CURLOPT_TIMEVALUE(3): 0 is no limit", CURL_TIMECOND_IFMODSINCE, 0, 0, false),
        ];
        for (name, condition, modified, limit, wanted) in rows {
            assert_eq!(is_unmet(condition, modified, limit), wanted, "{name}");
        }
    }
}
