//! Files and listings over a data connection: RETR, STOR and APPE, LIST and NLST, or only what SIZE
//! and MDTM say.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use net::Filter;
use net::exchange::{BodyError, BodyStep};
use runtime::Direction;
use tables::{Code, EasyOption as O};
use wire::date;
use wire::ftp::reply::Reply;

use super::Place;
use super::ahead::Owed;
use super::control::Control;
use super::data;
use crate::callbacks::DebugKind;
use crate::error::{Error, Result};
use crate::settings::Method;
use crate::transfer::Transfer;
use crate::transfer::body::{BodySource, receive_failed, send_failed};
use crate::transfer::client_reader::ClientReader;

/// CURLOPT_NOBODY: what the server says about the file, as header lines.
pub async fn describe(t: &mut Transfer, control: &mut Control, place: &Place) -> Result<()> {
    if place.location.file.is_some() {
        describe_file(t, control, place).await?;
    }
    // "After the transfer type is set" (CURLOPT_PREQUOTE.md).
    control.quote(t, O::Prequote).await
}

async fn describe_file(t: &mut Transfer, control: &mut Control, place: &Place) -> Result<()> {
    let modified = t.easy.info.borrow().file_time;
    if t.on(O::Filetime) && modified >= 0 {
        line(t, &format!("Last-Modified: {}\r\n", date::http(modified)))?;
    }
    control.set_type(t, place.data_type).await?;
    if let Some(size) = size(t, control, place).await? {
        t.easy.info.borrow_mut().download_total = size as i64;
        line(t, &format!("Content-Length: {size}\r\n"))?;
    }
    if control.command(t, b"REST 0").await?.code == 350 {
        line(t, "Accept-ranges: bytes\r\n")?;
    }
    Ok(())
}

/// A header line that curl makes up; it is output as a body is.
fn line(t: &mut Transfer, text: &str) -> Result<()> {
    t.writer.header(text.as_bytes(), true)
}

async fn size(t: &mut Transfer, control: &mut Control, place: &Place) -> Result<Option<u64>> {
    let reply = control.command(t, &[b"SIZE ", place.file()].concat()).await?;
    match reply.code {
        213 => Ok(reply.size()),
        550 => Err(Error::new(Code::RemoteFileNotFound, "The file does not exist")),
        _ => Ok(None),
    }
}

/// Fetches a file.
pub async fn retrieve(t: &mut Transfer, control: &mut Control, place: &Place) -> Result<()> {
    let data = data::open(t, control, b"RETR", place.file()).await?;
    let span = match Span::of(t) {
        // A range that can't be read: curl ends here, and well (case 1449).
        Err(e) if e.code() == Code::RangeError => return Ok(()),
        span => span?,
    };
    control.set_type(t, place.data_type).await?;
    control.quote(t, O::Prequote).await?;
    // The size of a text file is another one after its line ends are converted.
    let text = place.data_type == b'A';
    let growing = t.on(O::IgnoreContentLength);
    let known = match place.known_size {
        Some(listed) => Some(listed),
        None if text || growing => None,
        None => size(t, control, place).await?,
    };
    let limit = t.long(O::MaxfilesizeLarge);
    if limit > 0 && known.is_some_and(|s| s > limit as u64) {
        return Err(Error::new(Code::FilesizeExceeded, "Maximum file size exceeded"));
    }
    let from = span.start(known)?;
    if from > 0 {
        if known == Some(from) && span.last.is_none() {
            t.easy.info.borrow_mut().download_total = 0;
            t.easy.note(|| "File already completely downloaded".to_owned());
            return Ok(());
        }
        if control.command(t, format!("REST {from}").as_bytes()).await?.code != 350 {
            return Err(Error::new(Code::FtpCouldntUseRest, "Could not use REST"));
        }
    }
    let reply = control.command(t, &[b"RETR ", place.file()].concat()).await?;
    may_begin(&reply)?;
    let whole = known.or_else(|| announced(t, place, &reply));
    let rest = whole.map(|s| s.saturating_sub(from));
    let wanted = match (span.last, rest) {
        (Some(last), rest) => Some((last + 1).saturating_sub(from).min(rest.unwrap_or(u64::MAX))),
        (None, rest) => rest,
    };
    let partial = span.last.is_some() || (span.tail.is_some() && t.text(O::Range).is_some());
    t.easy.info.borrow_mut().download_total = wanted.map_or(-1, |n| n as i64);
    control.dialogue.outstanding += 1;
    // Files of /proc and their like have no size, and content all the same.
    let bytes = wanted.filter(|_| known != Some(0));
    receive(t, control, data, Wanted { bytes, partial, text, late: false }).await
}

/// Whether the reply to RETR lets the file come.
pub fn may_begin(reply: &Reply) -> Result<()> {
    let text = || format!("RETR response: {:03}", reply.code);
    match reply.code {
        125 | 150 => Ok(()),
        550 => Err(Error::new(Code::RemoteFileNotFound, text())),
        _ => Err(Error::new(Code::FtpCouldntRetrFile, text())),
    }
}

/// The size that the reply to RETR tells. That of a text file is another one after its line ends are converted.
pub fn announced(t: &Transfer, place: &Place, reply: &Reply) -> Option<u64> {
    let means_nothing = place.data_type == b'A' || t.on(O::IgnoreContentLength);
    (!means_nothing).then(|| reply.announced_size()).flatten()
}

/// Fetches a listing.
pub async fn list(t: &mut Transfer, control: &mut Control, place: &Place) -> Result<()> {
    let verb = match t.text(O::Customrequest) {
        Some(own) => own.to_vec(),
        None if place.names_only => b"NLST".to_vec(),
        None => b"LIST".to_vec(),
    };
    let data = data::open(t, control, &verb, b"").await?;
    control.set_type(t, place.data_type).await?;
    control.quote(t, O::Prequote).await?;
    let command = match list_argument(place, t) {
        Some(folder) => [&verb[..], b" ", &folder].concat(),
        None => verb,
    };
    let reply = control.command(t, &command).await?;
    match reply.code {
        125 | 150 => {}
        // An empty folder, say some servers.
        450 => return Ok(()),
        code => {
            return Err(Error::new(Code::FtpCouldntRetrFile, format!("RETR response: {code:03}")));
        }
    }
    control.dialogue.outstanding += 1;
    receive(t, control, data, Wanted { bytes: None, partial: false, text: true, late: false }).await
}

/// A listing for ourselves, given to `take` as it comes.
pub async fn list_for_us(
    t: &mut Transfer,
    control: &mut Control,
    place: &Place,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let data = data::open(t, control, b"LIST", b"").await?;
    control.set_type(t, b'A').await?;
    let command = match list_argument(place, t) {
        Some(folder) => [b"LIST ", &folder[..]].concat(),
        None => b"LIST".to_vec(),
    };
    let reply = control.command(t, &command).await?;
    if !matches!(reply.code, 125 | 150) {
        let text = format!("RETR response: {:03}", reply.code);
        return Err(Error::new(Code::FtpCouldntRetrFile, text));
    }
    control.dialogue.outstanding += 1;
    let mut filter = data::ready(t, control, data).await?;
    let mut buf = vec![0; 32 * 1024];
    loop {
        match filter.read(&mut buf).await.map_err(|e| receive_failed(&e))? {
            0 => break,
            n => take(&buf[..n])?,
        }
    }
    filter.retire();
    drop(filter);
    confirmed(&control.reply(t).await?)
}

/// Without CWD the folder goes with the command; with ";type=d" the last name may be one.
fn list_argument(place: &Place, t: &Transfer) -> Option<Vec<u8>> {
    if place.pattern.is_some() {
        return None;
    }
    if place.method != wire::ftp::path::Method::NoCwd {
        return place.location.file.clone();
    }
    let (raw, _) = wire::ftp::path::split_type(t.url.path());
    let path = wire::escape::decode(raw, wire::escape::Reject::Control).ok()?;
    let folder = path.strip_prefix(b"/").unwrap_or(&path);
    let folder = folder.strip_suffix(b"/").filter(|f| !f.is_empty()).unwrap_or(folder);
    (!folder.is_empty()).then(|| folder.to_vec())
}

/// Moves the data to the application, then reads what the server thinks of it.
pub async fn receive(
    t: &mut Transfer,
    control: &mut Control,
    data: data::Data,
    Wanted { bytes: wanted, partial, text, late }: Wanted,
) -> Result<()> {
    let filter = data::ready(t, control, data).await?;
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    let mut source = DataSource { filter, left: wanted, got: 0, lines: text.then(Lines::default) };
    let received = if wanted == Some(0) { Ok(()) } else { t.pump_body(&mut source).await };
    if partial && received.is_ok() {
        // How the server answers this, once or twice, differs; only a new connection is in step again.
        control.dialogue.send(t, b"ABOR").await?;
    }
    source.filter.retire();
    let got = source.got;
    drop(source);
    if partial && received.is_ok() {
        let answered = control.reply(t).await;
        control.dialogue.outstanding = usize::MAX;
        t.easy.note(|| "partial download completed, closing connection".to_owned());
        return answered.map(|_| ());
    }
    if let Err(e) = &received
        && e.code() != Code::PartialFile
    {
        control.dialogue.outstanding = usize::MAX;
        return received;
    }
    control.session.moved = true;
    if late && received.is_ok() && wanted == Some(got) {
        control.session.ahead.owe(Owed::Confirmation);
        return Ok(());
    }
    let reply = control.reply(t).await?;
    if let Some(all) = wanted
        && got != all
    {
        let text = format!("Received only partial file: {got} bytes");
        return Err(Error::new(Code::PartialFile, text));
    }
    received?;
    confirmed(&reply)
}

/// What is to come over a data connection.
pub struct Wanted {
    /// How much; until the end when unknown.
    pub bytes: Option<u64>,
    /// Part of a file, which the server goes on sending.
    pub partial: bool,
    /// Line ends become this system's.
    pub text: bool,
    /// When it came whole, the server's confirmation is left to the next transfer.
    pub late: bool,
}

fn confirmed(reply: &Reply) -> Result<()> {
    match reply.code {
        226 | 250 => Ok(()),
        552 => Err(Error::new(Code::RemoteDiskFull, "Uploaded file exceeds the storage: 552")),
        code => {
            let text = format!("server did not report OK, got {code}");
            Err(Error::new(Code::PartialFile, text))
        }
    }
}

/// Stores a file: STOR, or APPE to add to one.
pub async fn store(t: &mut Transfer, control: &mut Control, place: &Place) -> Result<()> {
    let mut reader = ClientReader::open(&t.easy, Method::Put)?;
    if place.data_type == b'A' {
        reader.send_as_text();
    }
    let data = data::open(t, control, b"STOR", place.file()).await?;
    control.set_type(t, place.data_type).await?;
    control.quote(t, O::Prequote).await?;
    let mut append = t.on(O::Append);
    let from = match t.long(O::ResumeFromLarge) {
        n if n < 0 => {
            // What the server has is skipped.
            let reply = control.command(t, &[b"SIZE ", place.file()].concat()).await?;
            if reply.code == 213 { reply.size().unwrap_or(0) } else { 0 }
        }
        n => n as u64,
    };
    if from > 0 {
        append = true;
        let all = reader.size;
        reader.skip(from)?;
        if all.is_some_and(|all| all <= from) {
            t.easy.note(|| "File already completely uploaded".to_owned());
            return Ok(());
        }
    }
    let verb: &[u8] = if append { b"APPE " } else { b"STOR " };
    let reply = control.command(t, &[verb, place.file()].concat()).await?;
    if reply.code >= 400 {
        return Err(Error::new(Code::UploadFailed, format!("Failed FTP upload: {:03}", reply.code)));
    }
    t.easy.info.borrow_mut().upload_total = reader.size.map_or(-1, |n| n as i64);
    control.dialogue.outstanding += 1;
    let mut filter = data::ready(t, control, data).await?;
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    let sent = send(t, filter.as_mut(), &mut reader).await;
    // Not closed before the server has it all: what it sent that nobody read (TLS session tickets) would reset the connection.
    filter.say_goodbye();
    filter.socket().end_sending();
    if sent.is_err() {
        control.dialogue.outstanding = usize::MAX;
        return sent;
    }
    control.session.moved = true;
    let reply = control.reply(t).await?;
    drop(filter);
    if let Some(all) = reader.size
        && reader.position() != all
    {
        let text = format!("Uploaded unaligned file size ({} out of {all} bytes)", reader.position());
        return Err(Error::new(Code::PartialFile, text));
    }
    confirmed(&reply)
}

async fn send(
    t: &mut Transfer,
    filter: &mut (dyn Filter + 'static),
    reader: &mut ClientReader,
) -> Result<()> {
    let mut buf = vec![0; t.long(O::UploadBuffersize) as usize];
    loop {
        let room = t.send_rate.piece(buf.len());
        let n = poll_fn(|cx| reader.poll_read(cx, &mut buf[..room])).await?;
        if n == 0 {
            return Ok(());
        }
        t.easy.trace("read", || format!("{n} bytes to send"));
        t.easy.callbacks.debug_if_wanted(DebugKind::DataOut, &buf[..n]);
        filter.write_all(&buf[..n]).await.map_err(|e| send_failed(&e))?;
        t.easy.info.borrow_mut().uploaded += n as i64;
        if let Some(at) = t.send_rate.moved(n, t.now()) {
            let mut pace = t.multi.runtime.reactor().sleep_until(at);
            let paced = |cx: &mut Context<'_>| {
                let changed = t.send_rate.adopt(t.long(O::MaxSendSpeedLarge));
                if changed { Poll::Ready(()) } else { Pin::new(&mut pace).poll(cx) }
            };
            poll_fn(paced).await;
        }
    }
}

/// Which bytes of a file are asked for.
struct Span {
    first: u64,
    last: Option<u64>,
    /// So many from the end.
    tail: Option<u64>,
}

impl Span {
    fn of(t: &Transfer) -> Result<Span> {
        let bad = || Error::from(Code::RangeError);
        if let Some(range) = t.text(O::Range) {
            let text = String::from_utf8_lossy(&range).into_owned();
            let (first, last) = text.split_once('-').ok_or_else(bad)?;
            let number = |s: &str| s.trim().parse::<u64>().map_err(|_| bad());
            return Ok(match (first.trim(), last.trim()) {
                ("", tail) => Span { first: 0, last: None, tail: Some(number(tail)?) },
                (first, "") => Span { first: number(first)?, last: None, tail: None },
                (first, last) => {
                    let (first, last) = (number(first)?, number(last)?);
                    if first > last {
                        return Err(bad());
                    }
                    Span { first, last: Some(last), tail: None }
                }
            });
        }
        let from = t.long(O::ResumeFromLarge);
        Ok(match from {
            n if n < 0 => Span { first: 0, last: None, tail: Some(n.unsigned_abs()) },
            n => Span { first: n as u64, last: None, tail: None },
        })
    }

    fn start(&self, size: Option<u64>) -> Result<u64> {
        let beyond = |from: u64, size: u64| {
            let text = format!("Offset ({from}) was beyond file size ({size})");
            Error::new(Code::BadDownloadResume, text)
        };
        match (self.tail, size) {
            (Some(tail), Some(size)) if tail > size => Err(beyond(tail, size)),
            (Some(tail), Some(size)) => Ok(size - tail),
            (Some(_), None) => Err(Error::from(Code::BadDownloadResume)),
            (None, Some(size)) if self.first > size => Err(beyond(self.first, size)),
            (None, _) => Ok(self.first),
        }
    }
}

/// The receiving end of a data connection.
struct DataSource {
    filter: Box<dyn Filter>,
    left: Option<u64>,
    got: u64,
    /// Converts the lines of a text.
    lines: Option<Lines>,
}

/// CR LF and a lone CR become LF, across the borders of what is read at a time.
#[derive(Default)]
struct Lines {
    after_cr: bool,
}

impl Lines {
    /// Converts in place; how much is left.
    fn convert(&mut self, buf: &mut [u8]) -> usize {
        let mut kept = 0;
        for at in 0..buf.len() {
            let octet = buf[at];
            let second = octet == b'\n' && self.after_cr;
            self.after_cr = octet == b'\r';
            if !second {
                buf[kept] = if octet == b'\r' { b'\n' } else { octet };
                kept += 1;
            }
        }
        kept
    }
}

impl BodySource for DataSource {
    fn poll_body(&mut self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<Result<BodyStep, BodyError>> {
        if self.left == Some(0) && self.got > 0 {
            return Poll::Ready(Ok(BodyStep::End));
        }
        let n = match ready!(self.filter.poll_read(cx, buf)) {
            Ok(n) => n,
            // Without close_notify the end may be an attacker's; the size or the reply tells.
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof && self.left.is_some_and(|l| l == 0) => 0,
            Err(e) => return Poll::Ready(Err(BodyError::Io(e))),
        };
        if n == 0 {
            return Poll::Ready(match self.left {
                Some(left) if left > 0 => Err(BodyError::Truncated(Some(left))),
                _ => Ok(BodyStep::End),
            });
        }
        let taken = self.left.map_or(n, |l| n.min(usize::try_from(l).unwrap_or(usize::MAX)));
        self.left = self.left.map(|l| l - taken as u64);
        self.got += taken as u64;
        match self.lines.as_mut().map_or(taken, |lines| lines.convert(&mut buf[..taken])) {
            // Nothing but the second half of a line end.
            0 => self.poll_body(cx, buf),
            n => Poll::Ready(Ok(BodyStep::Bytes(n))),
        }
    }

    fn forget_read(&mut self) {
        self.filter.socket().forget(Direction::Read);
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    #[test]
    fn line_ends_across_reads() {
        let mut lines = Lines::default();
        let mut out = Vec::new();
        for piece in ["a\r\nb\r", "\n", "\nc\rd\n", "e"] {
            let mut buf = piece.as_bytes().to_vec();
            let n = lines.convert(&mut buf);
            out.extend_from_slice(&buf[..n]);
        }
        assert_eq!(out, b"a\nb\n\nc\nd\ne");
    }
}
