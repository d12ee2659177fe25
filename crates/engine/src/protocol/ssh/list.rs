//! Directory listings: as the server formats them, or only names (CURLOPT_DIRLISTONLY(3)).

use std::future::poll_fn;

use ssh::sftp::{Name, Reply, Request, Status};
use tables::EasyOption as O;

use super::channel::{Sftp, first_name, handle};
use super::fault::refused;
use crate::error::Result;
use crate::transfer::Transfer;

/// An entry of a folder.
struct Entry {
    line: Vec<u8>,
    /// A symbolic link, whose target is requested.
    link: Option<Vec<u8>>,
}

/// Delivers the contents of the directory.
pub async fn show(t: &mut Transfer, sftp: &mut Sftp, path: &[u8]) -> Result<()> {
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    if t.on(O::NoBody) {
        return Ok(());
    }
    let opened = sftp.ask(&Request::OpenDir { path }, handle).await?;
    let folder = opened.map_err(|status| refused("Could not open directory for reading", status))?;
    sftp.in_step = false;
    let names_only = t.on(O::DirListOnly);
    loop {
        let asked = sftp.client.ask(&Request::ReadDir { handle: &folder });
        let reply_names = sftp.reply(asked, |reply| match reply {
            Reply::Names(names) => {
                Ok(names.iter().map(|name| Entry::of(name, names_only)).collect::<Vec<_>>())
            }
            Reply::Status(status, _) => Err(status),
            _ => Err(Status::FAILURE),
        });
        let entries = match reply_names.await? {
            Ok(entries) if entries.is_empty() => break,
            Ok(entries) => entries,
            Err(Status::EOF) => break,
            Err(status) => return Err(refused("Could not open remote directory for reading", status)),
        };
        write(t, sftp, path, entries).await?;
    }
    sftp.client.ask_in_passing(&Request::Close { handle: &folder });
    sftp.in_step = true;
    t.flow.writer.body_end()
}

async fn write(t: &mut Transfer, sftp: &mut Sftp, path: &[u8], entries: Vec<Entry>) -> Result<()> {
    // The targets of all links in a packet are requested together.
    let mut asked = Vec::new();
    for entry in &entries {
        let link = entry.link.as_ref().map(|name| [path, name].concat());
        asked.push(link.map(|link| sftp.client.ask(&Request::ReadLink { path: &link })));
    }
    let mut targets: Vec<Option<Vec<u8>>> = vec![None; entries.len()];
    let mut missing = asked.iter().flatten().count();
    while missing > 0 {
        let (at, target) = poll_fn(|cx| {
            sftp.poll_reply(cx, |_, number, reply| {
                let at = asked.iter().position(|id| *id == Some(number))?;
                Some((at, first_name(reply).ok()))
            })
        })
        .await?;
        targets[at] = target;
        missing -= 1;
    }
    for (entry, target) in entries.into_iter().zip(targets) {
        let mut line = entry.line;
        if let Some(target) = target {
            line.extend_from_slice(b" -> ");
            line.extend_from_slice(&target);
        }
        line.push(b'\n');
        poll_fn(|cx| t.flow.writer.poll_ready(cx)).await?;
        t.received(line.len());
        t.flow.writer.body(&line)?;
    }
    Ok(())
}

impl Entry {
    fn of(name: &Name, names_only: bool) -> Entry {
        if names_only {
            return Entry { line: name.name.to_vec(), link: None };
        }
        // Servers without an ls format at least report the name.
        let line = if name.long.is_empty() { name.name } else { name.long };
        Entry { line: line.to_vec(), link: name.attrs.is_link().then(|| name.name.to_vec()) }
    }
}
