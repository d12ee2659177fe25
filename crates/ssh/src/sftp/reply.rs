//! Replies (draft §7).

use super::Attrs;
use crate::bytes::{Malformed, Reader};
use crate::error::{Error, printable};

/// The status of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub u32);

impl Status {
    pub const OK: Status = Status(0);
    pub const EOF: Status = Status(1);
    pub const NO_SUCH_FILE: Status = Status(2);
    pub const PERMISSION_DENIED: Status = Status(3);
    pub const FAILURE: Status = Status(4);
    pub const OP_UNSUPPORTED: Status = Status(8);
    // Codes of later drafts, which some servers send nevertheless.
    pub const NO_SUCH_PATH: Status = Status(10);
    pub const FILE_ALREADY_EXISTS: Status = Status(11);
    pub const WRITE_PROTECT: Status = Status(12);
    pub const NO_SPACE: Status = Status(14);
    pub const QUOTA_EXCEEDED: Status = Status(15);
    pub const LOCK_CONFLICT: Status = Status(17);
    pub const DIR_NOT_EMPTY: Status = Status(18);
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    pub name: &'a [u8],
    /// As `ls -l` shows it.
    pub long: &'a [u8],
    pub attrs: Attrs,
}

/// The reply of statvfs@openssh.com: the fields of statvfs(3), in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statvfs(pub [u64; 11]);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    Status(Status, String),
    Handle(&'a [u8]),
    Data(&'a [u8]),
    Names(Vec<Name<'a>>),
    Attrs(Attrs),
    Extended(&'a [u8]),
}

impl Reply<'_> {
    /// Returns function and digest of a reply to [`Request::CheckFile`](super::Request::CheckFile). Earlier
    /// drafts repeat the name of the extension, and servers send the digest as a string, too.
    pub fn check_file(&self) -> Option<(&[u8], &[u8])> {
        let Reply::Extended(body) = self else { return None };
        let mut reader = Reader::new(body);
        let function = match reader.string().ok()? {
            b"check-file" => reader.string().ok()?,
            function => function,
        };
        let digest = reader.rest();
        let prefixed = digest
            .split_first_chunk()
            .filter(|(length, rest)| u32::from_be_bytes(**length) as usize == rest.len());
        Some((function, prefixed.map_or(digest, |(_, rest)| rest)))
    }

    /// The numbers of a file system.
    pub fn statvfs(&self) -> Option<Statvfs> {
        let Reply::Extended(body) = self else { return None };
        let mut reader = Reader::new(body);
        let mut numbers = [0; 11];
        for number in &mut numbers {
            *number = reader.u64().ok()?;
        }
        Some(Statvfs(numbers))
    }
}

/// Parses a packet after its length: the number of the request, and the contents.
pub fn parse(packet: &[u8]) -> Result<(u32, Reply<'_>), Error> {
    let mut reader = Reader::new(packet);
    let (kind, id) = (reader.u8()?, reader.u32()?);
    let reply = match kind {
        101 => {
            let status = Status(reader.u32()?);
            // Old servers omit the text.
            Reply::Status(status, reader.string().map(printable).unwrap_or_default())
        }
        102 => {
            let handle = reader.string()?;
            if handle.len() > 256 {
                return Err(Error::Protocol("SFTP handle longer than 256 bytes"));
            }
            Reply::Handle(handle)
        }
        103 => Reply::Data(reader.string()?),
        104 => Reply::Names(names(&mut reader)?),
        105 => Reply::Attrs(Attrs::read(&mut reader)?),
        201 => Reply::Extended(reader.rest()),
        _ => return Err(Error::Protocol("SFTP packet that is not known")),
    };
    Ok((id, reply))
}

fn names<'a>(reader: &mut Reader<'a>) -> Result<Vec<Name<'a>>, Malformed> {
    let count = reader.u32()?;
    // An entry has at least twelve bytes, so a false count allocates nothing.
    let mut names = Vec::with_capacity((count as usize).min(reader.rest().len() / 12));
    for _ in 0..count {
        names.push(Name { name: reader.string()?, long: reader.string()?, attrs: Attrs::read(reader)? });
    }
    Ok(names)
}
