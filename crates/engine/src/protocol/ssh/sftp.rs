//! One URL by SFTP: commands, the file or folder, commands.

use net::ssh::ChannelSlot;
use ssh::sftp::Request;
use tables::EasyOption as O;

use super::channel::{Sftp, attrs};
use super::{download, list, path, quote, upload};
use crate::error::Result;
use crate::settings::{Method, Text};
use crate::transfer::Transfer;

/// Runs one request on its own channel.
pub async fn run(t: &mut Transfer, slot: ChannelSlot) -> Result<()> {
    let mut sftp = Sftp::open(t, slot).await?;
    let outcome = exchange(t, &mut sftp).await;
    if let Some(Ok(home)) = sftp.client.home() {
        t.easy.info.borrow_mut().rare.ftp_entry_path = Some(Text::from(home.as_slice()));
    }
    // A failure between two replies leaves the channel usable; one in the middle of a file does not.
    if sftp.in_step {
        sftp.leave(t);
    }
    outcome
}

async fn exchange(t: &mut Transfer, sftp: &mut Sftp) -> Result<()> {
    let path = path::of(t, sftp).await?;
    quote::run(t, sftp, O::Quote, &path).await?;
    if t.on(O::FileTime) {
        let known = sftp.ask(&Request::Stat { path: &path }, attrs).await?;
        if let Ok(Some((_, modified))) = known.map(|attrs| attrs.times) {
            t.easy.info.borrow_mut().file_time = i64::from(modified);
        }
    }
    if t.on(O::Upload) || t.method == Method::Put {
        upload::store(t, sftp, &path).await?;
    } else if path.ends_with(b"/") {
        list::show(t, sftp, &path).await?;
    } else {
        download::fetch(t, sftp, &path).await?;
    }
    // It was requested with the greeting, so there is mostly no wait.
    sftp.home().await?;
    quote::run(t, sftp, O::PostQuote, &path).await
}
