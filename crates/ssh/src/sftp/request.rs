//! Requests (draft §6).

use super::Attrs;
use crate::bytes::Put;

pub const INIT: u8 = 1;
pub const VERSION: u8 = 2;
const EXTENDED: u8 = 200;

/// How a file is opened.
pub const READ: u32 = 1;
pub const WRITE: u32 = 2;
pub const APPEND: u32 = 4;
pub const CREATE: u32 = 8;
pub const TRUNCATE: u32 = 16;

/// A request.
#[derive(Clone, Copy, Debug)]
pub enum Request<'a> {
    Open {
        path: &'a [u8],
        flags: u32,
        attrs: Attrs,
    },
    Close {
        handle: &'a [u8],
    },
    Read {
        handle: &'a [u8],
        offset: u64,
        length: u32,
    },
    Write {
        handle: &'a [u8],
        offset: u64,
        data: &'a [u8],
    },
    Stat {
        path: &'a [u8],
    },
    SetStat {
        path: &'a [u8],
        attrs: Attrs,
    },
    OpenDir {
        path: &'a [u8],
    },
    ReadDir {
        handle: &'a [u8],
    },
    Remove {
        path: &'a [u8],
    },
    MakeDir {
        path: &'a [u8],
        attrs: Attrs,
    },
    RemoveDir {
        path: &'a [u8],
    },
    RealPath {
        path: &'a [u8],
    },
    Rename {
        from: &'a [u8],
        to: &'a [u8],
    },
    ReadLink {
        path: &'a [u8],
    },
    /// In OpenSSH's order of arguments, which differs from the draft's: the link's target comes first.
    SymLink {
        target: &'a [u8],
        link: &'a [u8],
    },
    /// Renames a file and replaces an existing target.
    PosixRename {
        from: &'a [u8],
        to: &'a [u8],
    },
    Statvfs {
        path: &'a [u8],
    },
    Limits,
    /// Asks for the checksum of a whole file by the first of these functions that the server has
    /// (draft-ietf-secsh-filexfer-13 §9.1.2).
    CheckFile {
        path: &'a [u8],
        functions: &'a str,
    },
}

impl Request<'_> {
    pub(super) fn encode(&self, id: u32, out: &mut Vec<u8>) {
        let start = out.len();
        out.put_u32(0);
        out.push(self.number());
        out.put_u32(id);
        self.body(out);
        let length = (out.len() - start - 4) as u32;
        out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }

    fn number(&self) -> u8 {
        match self {
            Request::Open { .. } => 3,
            Request::Close { .. } => 4,
            Request::Read { .. } => 5,
            Request::Write { .. } => 6,
            Request::SetStat { .. } => 9,
            Request::OpenDir { .. } => 11,
            Request::ReadDir { .. } => 12,
            Request::Remove { .. } => 13,
            Request::MakeDir { .. } => 14,
            Request::RemoveDir { .. } => 15,
            Request::RealPath { .. } => 16,
            Request::Stat { .. } => 17,
            Request::Rename { .. } => 18,
            Request::ReadLink { .. } => 19,
            Request::SymLink { .. } => 20,
            Request::PosixRename { .. }
            | Request::Statvfs { .. }
            | Request::Limits
            | Request::CheckFile { .. } => EXTENDED,
        }
    }

    fn body(&self, out: &mut Vec<u8>) {
        match *self {
            Request::Open { path, flags, attrs } => {
                out.put_string(path);
                out.put_u32(flags);
                attrs.put(out);
            }
            Request::Close { handle } | Request::ReadDir { handle } => out.put_string(handle),
            Request::Read { handle, offset, length } => {
                out.put_string(handle);
                out.put_u64(offset);
                out.put_u32(length);
            }
            Request::Write { handle, offset, data } => {
                out.put_string(handle);
                out.put_u64(offset);
                out.put_string(data);
            }
            Request::SetStat { path, attrs } | Request::MakeDir { path, attrs } => {
                out.put_string(path);
                attrs.put(out);
            }
            Request::Stat { path }
            | Request::OpenDir { path }
            | Request::Remove { path }
            | Request::RemoveDir { path }
            | Request::RealPath { path }
            | Request::ReadLink { path } => out.put_string(path),
            Request::Rename { from, to } => two(out, from, to),
            Request::SymLink { target, link } => two(out, target, link),
            Request::PosixRename { from, to } => {
                out.put_string("posix-rename@openssh.com");
                two(out, from, to);
            }
            Request::Statvfs { path } => {
                out.put_string("statvfs@openssh.com");
                out.put_string(path);
            }
            Request::Limits => out.put_string("limits@openssh.com"),
            Request::CheckFile { path, functions } => {
                out.put_string("check-file-name");
                out.put_string(path);
                out.put_string(functions);
                // From the start to the end, in one block.
                out.put_u64(0);
                out.put_u64(0);
                out.put_u32(0);
            }
        }
    }
}

fn two(out: &mut Vec<u8>, first: &[u8], second: &[u8]) {
    out.put_string(first);
    out.put_string(second);
}
