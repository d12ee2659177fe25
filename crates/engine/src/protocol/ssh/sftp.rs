//! One URL by SFTP: commands, the file or folder, commands.

use net::ssh::ChannelSlot;
use ssh::sftp::{Attrs, Request};
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
    let uploads = t.on(O::Upload) || t.method == Method::Put;
    let fetches = !uploads && !path.ends_with(b"/");
    // A download learns the time together with the size.
    if t.on(O::FileTime) && !fetches {
        let known = sftp.ask(&Request::Stat { path: &path }, attrs).await?;
        if let Ok(attrs) = known {
            note_time(t, &attrs);
        }
    }
    if uploads {
        upload::store(t, sftp, &path).await?;
    } else if fetches {
        download::fetch(t, sftp, &path).await?;
    } else {
        list::show(t, sftp, &path).await?;
    }
    // It was requested with the greeting, so there is mostly no wait.
    sftp.home().await?;
    quote::run(t, sftp, O::PostQuote, &path).await
}

/// Stores the time of a file (CURLINFO_FILETIME(3)).
pub fn note_time(t: &Transfer, attrs: &Attrs) {
    if let Some((_, modified)) = attrs.times {
        t.easy.info.borrow_mut().file_time = i64::from(modified);
    }
}
