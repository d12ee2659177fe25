//! Files stored over a data connection: STOR, or APPE to add to one (RFC 959 §4.1.3). An upload that
//! continues after a cut is [`resumed`].

mod digest;
mod resumed;

use std::future::poll_fn;

use tables::{Code, EasyOption as O};

use super::control::Control;
use super::data;
use super::decide::body::{self as decide, Store};
use super::ftp_target::FtpTarget;
use crate::error::{Error, Result};
use crate::settings::Method;
use crate::transfer::Transfer;
use crate::transfer::client_reader::ClientReader;
use crate::transfer::explained::{explain_limits, limits_before};
use crate::transfer::sending::send_body;

/// Stores a file.
pub async fn store(t: &mut Transfer, control: &mut Control, target: &FtpTarget) -> Result<()> {
    let mut reader = ClientReader::open_as(&t.easy, Method::Put, target.data_type == b'A')?;
    let data = data::open(t, control, b"STOR", target.file()).await?;
    control.set_type(t, target.data_type).await?;
    control.quote(t, O::PreQuote).await?;
    if t.easy.upload_resumption.is_on() && !t.on(O::Append) && target.data_type != b'A' && !t.on(O::Crlf) {
        return resumed::store(t, control, target, data, reader).await;
    }
    let from = already_there(t, control, target).await?;
    if from > 0 {
        reader.skip(from)?;
    }
    let verb: &[u8] = match decide::store(t.on(O::Append), from, t.long(O::InFileSizeLarge)) {
        Store::Complete => {
            t.easy.note(|| "File already completely uploaded".to_owned());
            return Ok(());
        }
        Store::Replace => b"STOR ",
        Store::Append => b"APPE ",
    };
    decide::check_upload(control.command(t, &[verb, target.file()].concat()).await?.code)?;
    t.easy.info.borrow_mut().upload_total = reader.size.map_or(-1, |n| n as i64);
    control.dialogue.outstanding += 1;
    send_all(t, control, data, &mut reader).await
}

/// Returns how much of the file the server has (CURLOPT_RESUME_FROM_LARGE(3), which may ask the server).
async fn already_there(t: &mut Transfer, control: &mut Control, target: &FtpTarget) -> Result<u64> {
    let from = t.long(O::ResumeFromLarge);
    if let Ok(given) = u64::try_from(from) {
        return Ok(given);
    }
    Ok(decide::size_there(&control.command(t, &[b"SIZE ", target.file()].concat()).await?))
}

async fn send_all(
    t: &mut Transfer,
    control: &mut Control,
    data: data::Data,
    reader: &mut ClientReader,
) -> Result<()> {
    let mut filter = data::ready(t, control, data).await?;
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    let limits = limits_before(&t.easy, filter.socket());
    let sent = send_body(t, filter.as_mut(), reader, None, None).await;
    // Closed only after the server has received everything: unread data from it (TLS session tickets) would
    // reset the connection.
    filter.say_goodbye();
    let _ = poll_fn(|cx| filter.poll_end(cx)).await; // the server tells what has arrived
    if sent.is_err() {
        control.lost = true;
        return sent;
    }
    control.session.moved += 1;
    let reply = control.last_reply(t).await?;
    t.note_first_byte();
    if let Some(before) = limits {
        explain_limits(&t.easy, before, filter.socket().send_limits());
    }
    let _ = filter.try_read(&mut [0; 256]); // the tickets: the next data connection resumes by one
    drop(filter);
    decide::confirmed(&reply)?;
    match reader.size {
        Some(all) if reader.position() != all => {
            let text = format!("Uploaded unaligned file size ({} out of {all} bytes)", reader.position());
            Err(Error::new(Code::PartialFile, text))
        }
        _ => Ok(()),
    }
}
