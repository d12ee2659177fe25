//! Files and listings fetched over a data connection: RETR, LIST and NLST, or only what SIZE and MDTM say.

use std::future::poll_fn;

use net::Filter;
use tables::{Code, EasyOption as O};
use wire::date;
use wire::ftp::reply::Reply;

use super::ahead::PendingReply;
use super::control::Control;
use super::data;
use super::decide::body::{self as decide, Begin, DownloadEnd};
use super::decide::directory::{self, list_verb};
use super::ftp_target::FtpTarget;
use super::range::Span;
use super::source::DataSource;
use crate::error::{Error, Result};
use crate::transfer::Transfer;
use crate::transfer::body::{check_size, receive_failed};

/// CURLOPT_NOBODY: outputs the server's data about the file as header lines.
pub async fn describe(t: &mut Transfer, control: &mut Control, target: &FtpTarget) -> Result<()> {
    if target.location.file.is_some() {
        describe_file(t, control, target).await?;
    }
    // "After the transfer type is set" (CURLOPT_PREQUOTE.md).
    control.quote(t, O::PreQuote).await
}

async fn describe_file(t: &mut Transfer, control: &mut Control, target: &FtpTarget) -> Result<()> {
    let modified = t.easy.info.borrow().file_time;
    if t.on(O::FileTime) && modified >= 0 {
        line(t, &format!("Last-Modified: {}\r\n", date::http(modified))).await?;
    }
    control.set_type(t, target.data_type).await?;
    if let Some(size) = size(t, control, target).await? {
        t.easy.info.borrow_mut().download_total = size as i64;
        line(t, &format!("Content-Length: {size}\r\n")).await?;
    }
    if control.command(t, b"REST 0").await?.code == 350 {
        line(t, "Accept-ranges: bytes\r\n").await?;
    }
    Ok(())
}

/// Writes a header line in curl's format, as part of the body. The application may pause at any.
async fn line(t: &mut Transfer, text: &str) -> Result<()> {
    t.note_first_byte();
    t.flow.writer.header(text.as_bytes(), true)?;
    poll_fn(|cx| t.flow.writer.poll_ready(cx)).await
}

async fn size(t: &mut Transfer, control: &mut Control, target: &FtpTarget) -> Result<Option<u64>> {
    decide::size(&control.command(t, &[b"SIZE ", target.file()].concat()).await?)
}

/// Fetches a file.
pub async fn retrieve(t: &mut Transfer, control: &mut Control, target: &FtpTarget) -> Result<()> {
    let data = data::open(t, control, b"RETR", target.file()).await?;
    // Here curl ends successfully (case 1449).
    let Ok(span) = Span::of(t) else { return Ok(()) };
    let fetched = fetch(t, control, target, &span, data).await;
    give_up(t, control, &span, &fetched).await;
    fetched
}

async fn fetch(
    t: &mut Transfer,
    control: &mut Control,
    target: &FtpTarget,
    span: &Span,
    data: data::Data,
) -> Result<()> {
    control.set_type(t, target.data_type).await?;
    control.quote(t, O::PreQuote).await?;
    let known = match target.known_size {
        Some(listed) => Some(listed),
        None if sizes_mean_nothing(t, target) => None,
        None => size(t, control, target).await?,
    };
    check_size(t.long(O::MaxFileSizeLarge), known)?;
    match decide::begin(span, known, sizes_mean_nothing(t, target))? {
        Begin::AtStart => {}
        Begin::Complete => {
            t.easy.info.borrow_mut().download_total = 0;
            t.easy.note(|| "File already completely downloaded".to_owned());
            return Ok(());
        }
        Begin::At(from) => {
            if control.command(t, format!("REST {from}").as_bytes()).await?.code != 350 {
                return Err(Error::new(Code::FtpCouldntUseRest, "Could not use REST"));
            }
        }
    }
    let reply = control.command(t, &[b"RETR ", target.file()].concat()).await?;
    decide::may_begin(&reply)?;
    let rest = known.map(|size| span.rest(size));
    let size = decide::expected(rest, announced(t, target, &reply));
    control.dialogue.outstanding += 1;
    let text = target.data_type == b'A';
    receive(t, control, data, ExpectedData { size, most: span.most, text, late: false }).await
}

/// Stops the server also after a partial transfer that received no data.
async fn give_up(t: &mut Transfer, control: &mut Control, span: &Span, fetched: &Result<()>) {
    let ended = DownloadEnd {
        limited: span.most.is_some(),
        stopped: control.lost || control.dialogue.outstanding == usize::MAX,
        failure: fetched.as_ref().err().map(Error::code),
    };
    if decide::is_aborted(&ended) {
        let code = t.easy.info.borrow().response_code;
        let _ = stop(t, control, None).await;
        t.easy.info.borrow_mut().response_code = code;
    }
}

/// Stops a server that continues to send. It replies once or twice, so that the connection cannot be used
/// again.
async fn stop(t: &mut Transfer, control: &mut Control, data: Option<Box<dyn Filter>>) -> Result<()> {
    control.dialogue.send(t, b"ABOR").await?;
    data.into_iter().for_each(|mut data| data.retire());
    let answered = control.last_reply(t).await;
    control.dialogue.outstanding = usize::MAX;
    t.easy.note(|| "partial download completed, closing connection".to_owned());
    answered.map(|_| ())
}

fn sizes_mean_nothing(t: &Transfer, target: &FtpTarget) -> bool {
    decide::sizes_mean_nothing(target.data_type, t.on(O::IgnoreContentLength))
}

/// Returns the size in the reply to RETR.
pub fn announced(t: &Transfer, target: &FtpTarget, reply: &Reply) -> Option<u64> {
    (!sizes_mean_nothing(t, target)).then(|| reply.announced_size()).flatten()
}

/// Fetches a listing.
pub async fn list(t: &mut Transfer, control: &mut Control, target: &FtpTarget) -> Result<()> {
    let verb = list_verb(t.text(O::CustomRequest).as_deref(), target.names_only);
    // Like curl, sends PRET for a named file even if its directory is listed.
    let data = match target.file() {
        b"" => data::open(t, control, &verb, b"").await?,
        file => data::open(t, control, b"RETR", file).await?,
    };
    let Ok(span) = Span::of(t) else { return Ok(()) };
    let fetched = fetch_list(t, control, target, (verb, &span), data).await;
    give_up(t, control, &span, &fetched).await;
    fetched
}

async fn fetch_list(
    t: &mut Transfer,
    control: &mut Control,
    target: &FtpTarget,
    (verb, span): (Vec<u8>, &Span),
    data: data::Data,
) -> Result<()> {
    control.set_type(t, target.data_type).await?;
    control.quote(t, O::PreQuote).await?;
    let command = match list_argument(target, t) {
        Some(folder) => [&verb[..], b" ", &folder].concat(),
        None => verb,
    };
    let reply = control.command(t, &command).await?;
    if !decide::list_begins(reply.code)? {
        return Ok(());
    }
    control.dialogue.outstanding += 1;
    receive(t, control, data, ExpectedData { size: None, most: span.most, text: true, late: false }).await
}

/// Lists a directory for internal use and passes the data to `take`.
pub async fn list_for_us(
    t: &mut Transfer,
    control: &mut Control,
    target: &FtpTarget,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let data = data::open(t, control, b"LIST", b"").await?;
    control.set_type(t, b'A').await?;
    let command = match list_argument(target, t) {
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
    decide::confirmed(&control.last_reply(t).await?)
}

fn list_argument(target: &FtpTarget, t: &Transfer) -> Option<Vec<u8>> {
    let (raw, _) = wire::ftp::path::split_type(t.url.path());
    let path = wire::escape::decode(raw, wire::escape::Reject::Control).ok()?;
    directory::list_argument(target.method, target.pattern.is_some(), &path)
}

/// Moves the data to the application, then reads the server's confirmation.
pub async fn receive(
    t: &mut Transfer,
    control: &mut Control,
    data: data::Data,
    ExpectedData { size, most, text, late }: ExpectedData,
) -> Result<()> {
    let filter = data::ready(t, control, data).await?;
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    let mut source = DataSource::new(filter, size, most, text);
    let total = size.map(|size| size.min(most.unwrap_or(size)));
    t.easy.info.borrow_mut().download_total = total.map_or(-1, |n| n as i64);
    let received = t.flow.pump_body(&mut source).await;
    if received.is_err() {
        control.lost = true;
        return received;
    }
    control.session.moved += 1;
    if most.is_some() {
        return stop(t, control, Some(source.filter)).await;
    }
    source.filter.retire();
    drop(source);
    if late && size.is_some() {
        control.session.ahead.owe(PendingReply::Confirmation);
        return Ok(());
    }
    let asked = control.ask_behind_data(t).await;
    let reply = control.last_reply(t).await;
    if asked {
        control.session.ahead.owe(PendingReply::Passive);
    }
    decide::confirmed(&reply?)
}

/// The expected data of a data connection.
pub struct ExpectedData {
    /// Its size; `None` if it ends with the connection.
    pub size: Option<u64>,
    /// Most of it that is read; the server does not know this limit.
    pub most: Option<u64>,
    /// Whether line ends are converted to this system's.
    pub text: bool,
    /// Whether the next transfer reads the confirmation of complete data.
    pub late: bool,
}
