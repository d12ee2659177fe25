//! The checksum that a server has of an uploaded file.

use wire::upload::digest::{Digest, choose};

use super::super::control::Control;
use super::super::ftp_target::FtpTarget;
use crate::error::Result;
use crate::transfer::Transfer;

/// Asks for the checksum of the file, if the application wants to compare it. `None` if the server has none.
pub async fn ask(t: &mut Transfer, control: &mut Control, target: &FtpTarget) -> Result<()> {
    if !t.easy.upload_resumption.asks_digest() {
        return Ok(());
    }
    let digest = digest(t, control, target).await?;
    if digest.is_none() {
        t.easy.note(|| "The server has no checksum of the file".to_owned());
    }
    t.easy.upload_resumption.note_digest(digest);
    Ok(())
}

async fn digest(t: &mut Transfer, control: &mut Control, target: &FtpTarget) -> Result<Option<Digest>> {
    control.heard = Some(Vec::new());
    let features = control.command(t, b"FEAT").await;
    let lines = control.heard.take().unwrap_or_default();
    let Some(question) = choose(&lines).filter(|_| features.as_ref().is_ok_and(|reply| reply.code == 211))
    else {
        return features.map(|_| None);
    };
    if question.selects {
        let command = format!("OPTS HASH {}", question.function.name());
        if control.command(t, command.as_bytes()).await?.code / 100 != 2 {
            return Ok(None);
        }
    }
    let command = [question.command.as_bytes(), b" ", target.file()].concat();
    let reply = control.command(t, &command).await?;
    Ok(question.digest(reply.text()).filter(|_| reply.code / 100 == 2))
}
