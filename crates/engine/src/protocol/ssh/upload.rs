//! A file to a server: new, resumed or appended to (CURLOPT_RESUME_FROM_LARGE(3), CURLOPT_APPEND(3)), in a
//! folder that may have to be made (CURLOPT_FTP_CREATE_MISSING_DIRS(3)).

use std::future::poll_fn;
use std::task::Poll;

use ssh::sftp::{APPEND, Attrs, CREATE, Reply, Request, Status, TRUNCATE, WRITE, Writes};
use tables::{Code, EasyOption as O};
use wire::upload::{Peer, Protocol, Step, digest};

use super::channel::{Sftp, attrs, handle, status};
use super::fault::{refused, size};
use crate::callbacks::DebugKind;
use crate::error::{Error, Result};
use crate::settings::Method;
use crate::transfer::Transfer;
use crate::transfer::client_reader::ClientReader;

/// Stores a file.
pub async fn store(t: &mut Transfer, sftp: &mut Sftp, path: &[u8]) -> Result<()> {
    let mut reader = ClientReader::open(&t.easy, Method::Put)?;
    let (all, resumes) = (reader.size, t.easy.upload_resumption.is_on() && !t.on(O::Append));
    let from = match resumes && t.has_begun_upload(all) {
        true => match t.easy.upload_resumption.decide(Protocol::Sftp, peer(sftp, path).await?, all)? {
            Step::Complete => {
                t.easy.note(|| "The server has all of the file".to_owned());
                t.easy.upload_resumption.end();
                return ask_digest(t, sftp, path).await;
            }
            Step::Continue(from) => from,
            Step::StartAgain => 0,
        },
        false => already_there(t, sftp, path).await?,
    };
    let flags = match (t.on(O::Append), from) {
        (true, _) => WRITE | CREATE | APPEND,
        // Without CREATE a missing file would be an error; with TRUNCATE existing data would be lost.
        (false, 1..) => WRITE,
        (false, 0) => WRITE | CREATE | TRUNCATE,
    };
    let file = open(t, sftp, path, flags).await?;
    if resumes {
        t.note_upload_place(all);
    }
    // Appending sends everything, whatever the offset.
    let from = if t.on(O::Append) { 0 } else { from };
    if resumes {
        reader.start_at(from).map_err(|e| e.with_code(Code::FtpCouldntUseRest))?;
    } else if from > 0 {
        reader.skip(from).map_err(|e| e.with_code(Code::FtpCouldntUseRest))?;
    }
    t.easy.info.borrow_mut().upload_total = reader.size.map_or(-1, |n| n as i64);
    t.mark(|info, elapsed| info.pre_transfer = elapsed);
    sftp.in_step = false;
    let closing = send(t, sftp, &mut reader, &file, from).await?;
    let closed = sftp.reply(closing, status).await?;
    sftp.in_step = true;
    closed.map_err(|status| refused("Could not close the file", status))?;
    t.mark(|info, elapsed| info.post_transfer = elapsed);
    match reader.size {
        Some(all) if reader.position() != all => {
            let text = format!("upload ended with {} of {all} bytes", reader.position());
            Err(Error::new(Code::PartialFile, text))
        }
        _ if resumes => {
            let sent = all.unwrap_or(from + reader.position());
            t.easy.upload_resumption.count(peer(sftp, path).await?, from, sent)?;
            ask_digest(t, sftp, path).await
        }
        _ => Ok(()),
    }
}

/// Asks how much the server has, for an upload that continues after a cut (docs/decisions/0016).
async fn peer(sftp: &mut Sftp, path: &[u8]) -> Result<Peer> {
    Ok(match sftp.ask(&Request::Stat { path }, attrs).await? {
        Ok(known) => size(&known)?.map_or(Peer::Silent, Peer::Has),
        Err(Status::NO_SUCH_FILE | Status::NO_SUCH_PATH) => Peer::Missing,
        Err(_) => Peer::Silent,
    })
}

/// Asks for the checksum of the file, if the application wants to compare it. ProFTPD answers, although it
/// does not list the extension in version 3; a server that does not know it refuses.
async fn ask_digest(t: &mut Transfer, sftp: &mut Sftp, path: &[u8]) -> Result<()> {
    if !t.easy.upload_resumption.asks_digest() {
        return Ok(());
    }
    let request = Request::CheckFile { path, functions: digest::SFTP_NAMES };
    let found = |reply: Reply<'_>| reply.check_file().and_then(|(name, value)| digest::of_sftp(name, value));
    sftp.in_step = false;
    match sftp.ask(&request, found).await {
        Ok(digest) => {
            sftp.in_step = true;
            t.easy.upload_resumption.note_digest(digest);
        }
        // All of the file is there.
        Err(error) => t.easy.note(|| format!("The server gives no checksum of the file: {error}")),
    }
    Ok(())
}

/// How much of the file the server has.
async fn already_there(t: &Transfer, sftp: &mut Sftp, path: &[u8]) -> Result<u64> {
    let from = t.long(O::ResumeFromLarge);
    if let Ok(given) = u64::try_from(from) {
        return Ok(given);
    }
    let known = sftp.ask(&Request::Stat { path }, attrs).await?;
    Ok(known.ok().map_or(Ok(None), |known| size(&known))?.unwrap_or_default())
}

async fn open(t: &Transfer, sftp: &mut Sftp, path: &[u8], flags: u32) -> Result<Vec<u8>> {
    let mode = Attrs::mode(t.long(O::NewFilePerms) as u32);
    let request = Request::Open { path, flags, attrs: mode };
    let mut opened = sftp.ask(&request, handle).await?;
    let mut failed = "Upload failed";
    let missing = matches!(opened, Err(Status::NO_SUCH_FILE | Status::FAILURE | Status::NO_SUCH_PATH));
    if missing && t.long(O::FtpCreateMissingDirs) != 0 && path.iter().skip(1).any(|b| *b == b'/') {
        make_folders(t, sftp, path).await?;
        failed = "Creating the dir/file failed";
        opened = sftp.ask(&request, handle).await?;
    }
    opened.map_err(|status| {
        let failed = refused(failed, status);
        if status == Status::FAILURE { failed.with_code(Code::Ssh) } else { failed }
    })
}

/// Makes every folder on the way; one that is there already is no fault.
async fn make_folders(t: &Transfer, sftp: &mut Sftp, path: &[u8]) -> Result<()> {
    let mode = Attrs::mode(t.long(O::NewDirectoryPerms) as u32);
    for at in (1..path.len()).filter(|at| path[*at] == b'/') {
        let folder = &path[..at];
        t.easy.note(|| format!("Creating directory '{}'", String::from_utf8_lossy(folder)));
        match sftp.done(&Request::MakeDir { path: folder, attrs: mode }).await? {
            Ok(()) | Err(Status::FILE_ALREADY_EXISTS | Status::FAILURE | Status::PERMISSION_DENIED) => {}
            Err(status) => return Err(refused("mkdir failed", status)),
        }
    }
    Ok(())
}

/// Sends the reader's data, with many requests in flight. The last one closes the file, and its number is
/// returned: its reply reports data that could not be written.
async fn send(
    t: &mut Transfer,
    sftp: &mut Sftp,
    reader: &mut ClientReader,
    file: &[u8],
    from: u64,
) -> Result<u32> {
    let mut writes = Writes::new(file, from);
    let most = sftp.client.write_piece() as usize;
    // A piece that is cut is lost as a whole, and a line may break after less than a large one.
    let buffer = if t.easy.upload_resumption.is_on() { 0 } else { t.long(O::UploadBufferSize) as usize };
    let mut buf = vec![0; most.min(buffer.max(32 << 10))];
    let mut closing = None;
    loop {
        let room = if closing.is_some() { 0 } else { writes.room(&sftp.client).min(buf.len()) };
        let room = t.flow.send_rate.piece(room);
        let step = poll_fn(|cx| {
            // Replies are processed first: an error ends the upload.
            let answered = sftp.poll_reply(cx, |_, id, reply| match reply {
                _ if closing == Some(id) => None,
                Reply::Status(status, _) => Some(writes.answered(id, status)),
                _ => Some(Err(ssh::Error::Protocol("an SFTP reply of another kind"))),
            });
            match answered {
                Poll::Ready(Ok(Ok(Ok(())))) => return Poll::Ready(Ok(SendStep::Answered)),
                Poll::Ready(Ok(Ok(Err(status)))) => {
                    return Poll::Ready(Err(refused("Could not write the file", status)));
                }
                Poll::Ready(Ok(Err(e))) => return Poll::Ready(Err(Error::new(Code::Ssh, e.to_string()))),
                Poll::Ready(Err(e)) => return Poll::Ready(Err(e)),
                Poll::Pending => {}
            }
            match room {
                0 => Poll::Pending,
                room => reader.poll_read(cx, &mut buf[..room]).map_ok(SendStep::Read),
            }
        });
        match step.await? {
            SendStep::Answered => {}
            SendStep::Read(0) => closing = Some(sftp.client.ask(&Request::Close { handle: file })),
            SendStep::Read(n) => {
                t.easy.callbacks.debug_if_wanted(DebugKind::DataOut, &buf[..n]);
                writes.write(&mut sftp.client, &buf[..n]);
                t.easy.info.borrow_mut().uploaded += n as i64;
                crate::transfer::sending::keep_pace(t, n).await;
            }
        }
        if let (Some(closing), true) = (closing, writes.is_done()) {
            return Ok(closing);
        }
    }
}

enum SendStep {
    Answered,
    Read(usize),
}
