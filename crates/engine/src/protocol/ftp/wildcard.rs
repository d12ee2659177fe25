//! CURLOPT_WILDCARDMATCH: lists the directory, and fetches each file that matches the last part of the path
//! on the same control connection. The application is notified before and after each
//! (CURLOPT_CHUNK_BGN_FUNCTION(3)).

use tables::{Code, EasyOption as O};
use wire::ftp::list::{FileInfo as Listed, FileType, ListReader};

use super::control::Control;
use super::ftp_target::FtpTarget;
use super::{body, transfer_file};
use crate::callbacks::{ChunkAnswer, FileInfo, MatchAnswer};
use crate::error::{Error, Result};
use crate::transfer::Transfer;

/// A directory with more matching files is refused.
const MOST: usize = 1 << 20;

/// CURLFINFOFLAG_KNOWN_*.
const KNOWN_PERM: u32 = 1 << 3;
const KNOWN_SIZE: u32 = 1 << 6;
const KNOWN_HLINKCOUNT: u32 = 1 << 7;

/// Fetches all files that match.
pub async fn fetch(
    t: &mut Transfer,
    control: &mut Control,
    target: &FtpTarget,
    pattern: &[u8],
) -> Result<()> {
    let files = matching(t, control, target, pattern).await?;
    if files.is_empty() {
        return Err(Error::new(Code::RemoteFileNotFound, "no file matches the pattern"));
    }
    let count = files.len();
    for (index, file) in files.iter().enumerate() {
        let answer = t.easy.callbacks.chunk_begin(&file_info(file), count - index);
        match answer {
            ChunkAnswer::Failed => return Err(refused()),
            ChunkAnswer::Ok if file.file_type == FileType::File => {
                t.easy.note(|| format!("Wildcard - \"{}\" accepted", String::from_utf8_lossy(&file.name)));
                fetch_one(t, control, &target.file_of(file), index).await?;
            }
            ChunkAnswer::Ok | ChunkAnswer::Skip => {}
        }
        if !t.easy.callbacks.chunk_end() {
            return Err(refused());
        }
    }
    Ok(())
}

/// Fetches one file as a separate transfer, with the commands that the application adds.
async fn fetch_one(t: &mut Transfer, control: &mut Control, target: &FtpTarget, index: usize) -> Result<()> {
    if index > 0 {
        control.quote(t, O::Quote).await?;
    }
    transfer_file(t, control, target).await
}

fn refused() -> Error {
    Error::from(Code::ChunkFailed)
}

/// Lists the directory and returns the matching entries.
async fn matching(
    t: &mut Transfer,
    control: &mut Control,
    target: &FtpTarget,
    pattern: &[u8],
) -> Result<Vec<Listed>> {
    let easy = t.easy.clone();
    let mut reader = ListReader::new();
    let mut all = Vec::new();
    let mut found = Vec::new();
    body::list_for_us(t, control, target, |bytes| {
        let read = reader.push(bytes, &mut all);
        read.map_err(|_| Error::new(Code::FtpBadFileList, "the listing can not be read"))?;
        for file in all.drain(..) {
            let matches = match easy.callbacks.fnmatch(pattern, &file.name) {
                Some(answer) => answer == MatchAnswer::Match,
                None => wire::fnmatch::matches(pattern, &file.name),
            };
            // The target of such a link is ambiguous.
            let unclear = file.target.as_ref().is_some_and(|to| to.windows(4).any(|w| w == b" -> "));
            if matches && !unclear {
                found.push(file);
            }
        }
        if found.len() > MOST { Err(Error::from(Code::OutOfMemory)) } else { Ok(()) }
    })
    .await?;
    Ok(found)
}

impl FtpTarget {
    fn file_of(&self, file: &Listed) -> FtpTarget {
        let mut location = self.location.clone();
        location.file = Some(file.name.clone());
        let known_size = file.size.filter(|_| self.data_type == b'I');
        let folder = self.folder.clone();
        FtpTarget { location, folder, pattern: None, known_size, listed: true, ..*self }
    }
}

/// Returns the entry as the application receives it.
fn file_info(file: &Listed) -> FileInfo {
    let known = |is_known: bool, flag: u32| if is_known { flag } else { 0 };
    let text = |text: &Option<Vec<u8>>| text.clone().unwrap_or_default();
    let number = |n: Option<u64>| n.and_then(|n| i64::try_from(n).ok()).unwrap_or(0);
    FileInfo {
        name: file.name.clone(),
        file_type: file.file_type as i32,
        perm: file.permissions.unwrap_or(0),
        size: number(file.size),
        hardlinks: number(file.hard_links),
        strings: [
            file.time.clone(),
            text(&file.permissions_text),
            text(&file.user),
            text(&file.group),
            text(&file.target),
        ],
        // Name and type are always known, and curl sets no flag for them.
        flags: known(file.permissions.is_some(), KNOWN_PERM)
            | known(file.size.is_some(), KNOWN_SIZE)
            | known(file.hard_links.is_some(), KNOWN_HLINKCOUNT),
        ..FileInfo::default()
    }
}
