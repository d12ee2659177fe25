//! SFTP and SCP (the crate `ssh` knows the protocols): `login` leads from a connected socket to a session on which somebody is
//! logged in, judging the server's key (`host`) and proving who we are (`keys`). A transfer has a channel of that session:
//! `channel` speaks SFTP on it, `sftp` tells one URL in the order of its requests, with `quote` for commands, `list` for
//! folders, `download` and `upload` for files; `scp` is the other protocol, of a command for each file.

mod channel;
mod download;
mod host;
mod keys;
mod list;
mod login;
mod path;
mod quote;
mod scp;
mod sftp;
mod upload;

use net::ssh::Lost;
use ssh::sftp::Status;
use tables::{Code, EasyOption as O, Scheme};

use crate::error::{Error, Result};
use crate::transfer::Transfer;

pub use login::log_in;

/// So many channels may be refused to one transfer, each on a connection that others use as well.
const MAX_REFUSED: usize = 32;

/// Runs one request.
pub async fn run(t: &mut Transfer) -> Result<()> {
    let mut fresh = false;
    let mut refused = 0;
    loop {
        let link = t.connect(fresh).await?;
        let reused = link.lease.is_reused();
        let mut seat = link.lease.seat().ok_or_else(|| Error::from(Code::FailedInit))?;
        if t.on(O::ForbidReuse) {
            seat.retire();
        }
        t.writer.begin();
        let outcome = match t.scheme() {
            Scheme::Scp => scp::run(t, seat).await,
            _ => sftp::run(t, seat).await,
        };
        match outcome {
            // The server bears no more channels here: another connection, or a place that has become free.
            Err(e) if e.is_stale() && e.code() == Code::FailedInit && refused < MAX_REFUSED => refused += 1,
            // The server closed a kept connection while it was idle.
            Err(e) if e.is_stale() && reused && !fresh => {
                t.easy.note(|| "Connection died, retrying a fresh connect".to_owned());
                fresh = true;
            }
            outcome => return outcome,
        }
    }
}

/// A connection that is lost, in the middle of something.
fn lost(lost: &Lost) -> Error {
    match (lost, lost.io()) {
        (_, Some(e)) => Error::os(Code::Ssh, "Error in the SSH connection", &e),
        (Lost::Ssh(e), _) => Error::new(Code::Ssh, e.to_string()),
        _ => Error::new(Code::Ssh, "the SSH connection was closed"),
    }
}

/// The code for what an SFTP server says.
fn code(status: Status) -> Code {
    match status {
        Status::OK => Code::Ok,
        Status::NO_SUCH_FILE | Status::NO_SUCH_PATH => Code::RemoteFileNotFound,
        Status::PERMISSION_DENIED | Status::WRITE_PROTECT | Status::LOCK_CONFLICT => Code::RemoteAccessDenied,
        Status::NO_SPACE | Status::QUOTA_EXCEEDED => Code::RemoteDiskFull,
        Status::FILE_ALREADY_EXISTS => Code::RemoteFileExists,
        Status::DIR_NOT_EMPTY => Code::QuoteError,
        _ => Code::Ssh,
    }
}

/// What it says, in words.
fn words(status: Status) -> &'static str {
    match status {
        Status::EOF => "End of file",
        Status::NO_SUCH_FILE => "File not found",
        Status::PERMISSION_DENIED => "Permission denied",
        Status::FAILURE => "Operation failed",
        Status::OP_UNSUPPORTED => "Operation not supported by SFTP server",
        Status::NO_SUCH_PATH => "Invalid path",
        Status::FILE_ALREADY_EXISTS => "File already exists",
        Status::WRITE_PROTECT => "File is write protected",
        Status::NO_SPACE => "No space left",
        Status::QUOTA_EXCEEDED => "Disk full",
        Status::LOCK_CONFLICT => "File lock conflict",
        Status::DIR_NOT_EMPTY => "Directory not empty",
        _ => "Unknown error",
    }
}

/// A request that failed.
fn refused(what: &str, status: Status) -> Error {
    Error::new(code(status), format!("{what}: {}", words(status)))
}
