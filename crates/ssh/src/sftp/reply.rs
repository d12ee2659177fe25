//! Replies (draft §7).

use super::Attrs;
use crate::bytes::{Malformed, Reader};
use crate::error::{Error, printable};

/// What a server says of how a request went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub u32);

impl Status {
    pub const OK: Status = Status(0);
    pub const EOF: Status = Status(1);
    pub const NO_SUCH_FILE: Status = Status(2);
    pub const PERMISSION_DENIED: Status = Status(3);
    pub const FAILURE: Status = Status(4);
    pub const OP_UNSUPPORTED: Status = Status(8);
    // Those of later drafts, which some servers send all the same.
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

/// What statvfs@openssh.com tells: the numbers of statvfs(3) in their order there.
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

/// Behind the length: the number of the request, and what is said.
pub fn parse(packet: &[u8]) -> Result<(u32, Reply<'_>), Error> {
    let mut reader = Reader::new(packet);
    let (kind, id) = (reader.u8()?, reader.u32()?);
    let reply = match kind {
        101 => {
            let status = Status(reader.u32()?);
            // Old servers leave the words away.
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
    // No entry has less than twelve bytes: a count that lies makes nothing grow.
    let mut names = Vec::with_capacity((count as usize).min(reader.rest().len() / 12));
    for _ in 0..count {
        names.push(Name { name: reader.string()?, long: reader.string()?, attrs: Attrs::read(reader)? });
    }
    Ok(names)
}
