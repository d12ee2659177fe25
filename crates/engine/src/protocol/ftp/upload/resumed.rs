//! Uploads that continue where the server says they ended, and are counted at their end
//! (docs/decisions/0016).

use tables::Code;
use wire::upload::{Peer, Protocol, Step};

use super::super::control::Control;
use super::super::data::{self, Data};
use super::super::decide::body as decide;
use super::super::ftp_target::FtpTarget;
use super::{digest, send_all};
use crate::error::Result;
use crate::transfer::Transfer;
use crate::transfer::client_reader::ClientReader;

/// Stores a file. Stores the rest of one if CURLOPT_RESUME_FROM_LARGE is -1, or if this handle has begun it.
pub async fn store(
    t: &mut Transfer,
    control: &mut Control,
    target: &FtpTarget,
    mut data: Data,
    mut reader: ClientReader,
) -> Result<()> {
    let all = reader.size;
    let mut step = Step::StartAgain;
    if t.has_begun_upload(all) {
        step = place(t, control, target, all).await?;
        if let (Step::Continue(from), false) = (step, t.easy.upload_resumption.is_proven()) {
            step = prove(t, control, target, data, from, all).await?;
            data = data::open(t, control, b"STOR", target.file()).await?;
        }
    }
    let from = match step {
        Step::Complete => {
            t.easy.note(|| "The server has all of the file".to_owned());
            t.easy.upload_resumption.end();
            return digest::ask(t, control, target).await;
        }
        Step::Continue(from) => begin_at(t, control, from).await?,
        Step::StartAgain => 0,
    };
    open(t, control, target, from).await?;
    t.note_upload_place(all);
    if from > 0 {
        t.easy.note(|| format!("The upload continues at byte {from}"));
    }
    reader.start_at(from)?;
    t.easy.info.borrow_mut().upload_total = reader.size.map_or(-1, |n| n as i64);
    control.dialogue.outstanding += 1;
    send_all(t, control, data, &mut reader).await?;
    let sent = from + reader.position();
    let there = size(t, control, target).await?;
    t.easy.upload_resumption.count(there, from, all.unwrap_or(sent))?;
    digest::ask(t, control, target).await
}

async fn place(
    t: &mut Transfer,
    control: &mut Control,
    target: &FtpTarget,
    all: Option<u64>,
) -> Result<Step> {
    let there = size(t, control, target).await?;
    t.easy.upload_resumption.decide(Protocol::Ftp, there, all)
}

/// Sends STOR, perhaps behind REST.
async fn open(t: &mut Transfer, control: &mut Control, target: &FtpTarget, from: u64) -> Result<()> {
    let code = control.command(t, &[b"STOR ", target.file()].concat()).await?.code;
    decide::check_upload(code).map_err(|refused| match from {
        0 => refused,
        // ProFTPD without AllowStoreRestart.
        _ => {
            t.easy.upload_resumption.give_up_part();
            refused.with_code(Code::FtpCouldntUseRest)
        }
    })
}

/// Stores nothing at an offset, and looks whether all before it is still there. A server that takes REST for
/// downloads alone begins the file anew without a word. Its file would later have a plausible length.
async fn prove(
    t: &mut Transfer,
    control: &mut Control,
    target: &FtpTarget,
    data: Data,
    from: u64,
    all: Option<u64>,
) -> Result<Step> {
    if begin_at(t, control, from).await? == 0 {
        // Nothing is stored, and the server still waits on that port: its file stays as it is.
        drop(data);
        return Ok(Step::StartAgain);
    }
    open(t, control, target, from).await?;
    control.dialogue.outstanding += 1;
    send_all(t, control, data, &mut ClientReader::empty(&t.easy)).await?;
    match size(t, control, target).await? {
        // The first connection may have brought more meanwhile.
        there @ Peer::Has(size) if size >= from => {
            t.easy.upload_resumption.prove();
            t.easy.upload_resumption.decide(Protocol::Ftp, there, all)
        }
        _ => {
            t.easy.note(|| "The server begins the file anew behind REST".to_owned());
            t.easy.upload_resumption.give_up_part();
            Ok(Step::StartAgain)
        }
    }
}

/// Makes the next command begin at an offset. Returns 0 if the server can't: then all of the file is sent.
async fn begin_at(t: &mut Transfer, control: &mut Control, from: u64) -> Result<u64> {
    let code = control.command(t, format!("REST {from}").as_bytes()).await?.code;
    if code == 350 {
        return Ok(from);
    }
    t.easy.upload_resumption.restart();
    t.easy.note(|| format!("The server refuses REST: {code:03}"));
    Ok(0)
}

async fn size(t: &mut Transfer, control: &mut Control, target: &FtpTarget) -> Result<Peer> {
    let reply = control.command(t, &[b"SIZE ", target.file()].concat()).await?;
    Ok(match decide::size(&reply) {
        Ok(Some(there)) => Peer::Has(there),
        Ok(None) => Peer::Silent,
        Err(error) if error.code() == Code::RemoteFileNotFound => Peer::Missing,
        Err(error) => return Err(error),
    })
}
