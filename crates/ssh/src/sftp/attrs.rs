//! The attributes of a file (draft §5).

use crate::bytes::{Malformed, Put, Reader};

const SIZE: u32 = 1;
const OWNERS: u32 = 2;
const PERMISSIONS: u32 = 4;
const TIMES: u32 = 8;
const EXTENDED: u32 = 0x8000_0000;
const DIRECTORY: u32 = 0o040_000;
const LINK: u32 = 0o120_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attrs {
    pub size: Option<u64>,
    /// User and group.
    pub owners: Option<(u32, u32)>,
    /// With the file's type.
    pub permissions: Option<u32>,
    /// Of the last access and the last change, in seconds since the epoch.
    pub times: Option<(u32, u32)>,
}

impl Attrs {
    /// Creates attributes with only permissions.
    pub fn mode(permissions: u32) -> Attrs {
        Attrs { permissions: Some(permissions), ..Attrs::default() }
    }

    pub fn is_directory(&self) -> bool {
        self.permissions.is_some_and(|mode| mode & 0o170_000 == DIRECTORY)
    }

    pub fn is_link(&self) -> bool {
        self.permissions.is_some_and(|mode| mode & 0o170_000 == LINK)
    }

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let flag = |known: bool, flag: u32| if known { flag } else { 0 };
        out.put_u32(
            flag(self.size.is_some(), SIZE)
                | flag(self.owners.is_some(), OWNERS)
                | flag(self.permissions.is_some(), PERMISSIONS)
                | flag(self.times.is_some(), TIMES),
        );
        self.size.iter().for_each(|size| out.put_u64(*size));
        for (first, second) in [self.owners, self.permissions.map(|mode| (mode, 0)), self.times]
            .into_iter()
            .enumerate()
            .filter_map(|(i, pair)| pair.map(|(first, second)| (first, (i != 1).then_some(second))))
        {
            out.put_u32(first);
            second.iter().for_each(|second| out.put_u32(*second));
        }
    }

    pub(super) fn read(reader: &mut Reader) -> Result<Attrs, Malformed> {
        let flags = reader.u32()?;
        let mut attrs = Attrs::default();
        if flags & SIZE != 0 {
            attrs.size = Some(reader.u64()?);
        }
        if flags & OWNERS != 0 {
            attrs.owners = Some((reader.u32()?, reader.u32()?));
        }
        if flags & PERMISSIONS != 0 {
            attrs.permissions = Some(reader.u32()?);
        }
        if flags & TIMES != 0 {
            attrs.times = Some((reader.u32()?, reader.u32()?));
        }
        if flags & EXTENDED != 0 {
            for _ in 0..reader.u32()? {
                reader.string()?;
                reader.string()?;
            }
        }
        Ok(attrs)
    }
}
