//! Failures of SSH connections and SFTP requests, in curl's codes.

use net::ssh::SessionError;
use ssh::sftp::Status;
use tables::Code;

use crate::error::{Error, Result};

/// Returns the error of a connection that is lost in the middle of something.
pub fn lost(lost: &SessionError) -> Error {
    match (lost, lost.io()) {
        (_, Some(e)) => Error::os(Code::Ssh, "Error in the SSH connection", &e),
        (SessionError::Ssh(e), _) => Error::new(Code::Ssh, e.to_string()),
        _ => Error::new(Code::Ssh, "the SSH connection was closed"),
    }
}

/// Returns curl's code for the status of an SFTP reply.
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

/// Returns the text of the status of an SFTP reply.
pub fn words(status: Status) -> &'static str {
    match status {
        Status::EOF => "End of file",
        Status::NO_SUCH_FILE | Status::NO_SUCH_PATH => "No such file or directory",
        Status::PERMISSION_DENIED => "Permission denied",
        Status::FAILURE => "Operation failed",
        Status::OP_UNSUPPORTED => "Operation not supported by SFTP server",
        Status::FILE_ALREADY_EXISTS => "File already exists",
        Status::WRITE_PROTECT => "File is write protected",
        Status::NO_SPACE => "Disk full",
        Status::QUOTA_EXCEEDED => "User quota exceeded",
        Status::LOCK_CONFLICT => "File lock conflict",
        Status::DIR_NOT_EMPTY => "Directory not empty",
        _ => "Unknown error",
    }
}

/// Returns the error of a request that failed.
pub fn refused(what: &str, status: Status) -> Error {
    Error::new(code(status), format!("{what}: {}", words(status)))
}

/// Returns the size of a file, if the server reports it; fails for an impossible one.
pub fn size(known: &ssh::sftp::Attrs) -> Result<Option<u64>> {
    match known.size {
        Some(size) if i64::try_from(size).is_err() => {
            Err(Error::new(Code::BadDownloadResume, format!("Bad file size ({size})")))
        }
        size => Ok(size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes() {
        let rows = [
            ("libcurl-errors(3): 78", Status::NO_SUCH_FILE, Code::RemoteFileNotFound),
            ("libcurl-errors(3): 78, of a path", Status::NO_SUCH_PATH, Code::RemoteFileNotFound),
            ("libcurl-errors(3): 9", Status::PERMISSION_DENIED, Code::RemoteAccessDenied),
            ("libcurl-errors(3): 9, of a locked file", Status::LOCK_CONFLICT, Code::RemoteAccessDenied),
            ("libcurl-errors(3): 70", Status::NO_SPACE, Code::RemoteDiskFull),
            ("libcurl-errors(3): 70, of a quota", Status::QUOTA_EXCEEDED, Code::RemoteDiskFull),
            ("libcurl-errors(3): 73", Status::FILE_ALREADY_EXISTS, Code::RemoteFileExists),
            ("libcurl-errors(3): 21", Status::DIR_NOT_EMPTY, Code::QuoteError),
            ("libcurl-errors(3): 79", Status::FAILURE, Code::Ssh),
        ];
        for (name, status, wanted) in rows {
            assert_eq!(refused("request", status).code(), wanted, "{name}");
        }
    }

    #[test]
    fn sizes() {
        let of = |size| size_code(size);
        assert_eq!(of(None), Ok(None));
        assert_eq!(of(Some(5)), Ok(Some(5)));
        assert_eq!(of(Some(u64::MAX)), Err(Code::BadDownloadResume));
    }

    fn size_code(size: Option<u64>) -> Result<Option<u64>, Code> {
        super::size(&ssh::sftp::Attrs { size, ..Default::default() }).map_err(|e| e.code())
    }
}
