//! Folders of FTP and SFTP servers: what their listings say, and the URLs of their entries.

use super::frontier::Listed;
use crate::bytes::Bytes;
use crate::raw::listings::{Facts, FileInfo, FileType, ListReader};
use crate::text::url_escape;

/// More entries in one folder are refused.
const MOST_ENTRIES: usize = 1 << 20;

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: Bytes,
    pub kind: EntryKind,
    pub listed: Listed,
    /// The identity that the server gives it, by which a circle of links is noticed.
    pub identity: Option<Bytes>,
}

/// A folder as its listing describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folder {
    pub entries: Vec<Entry>,
    pub identity: Option<Bytes>,
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    /// A symbolic link: nobody knows where it leads, and it may lead in a circle.
    Link,
    Other,
}

/// Reads a listing, of MLSD or in the style of `ls -l`. `None` if it is in neither.
pub fn read(text: &[u8], is_mlsd: bool) -> Option<Folder> {
    let mut folder = if is_mlsd { from_facts(text) } else { from_list(text)? };
    // A name with a slash would lead elsewhere, and one with a line end cannot be asked for.
    folder.entries.retain(|entry| {
        let name = &entry.name[..];
        !matches!(name, b"" | b"." | b"..")
            && !name.iter().any(|octet| matches!(octet, b'/' | b'\r' | b'\n' | 0))
    });
    (folder.entries.len() <= MOST_ENTRIES).then_some(folder)
}

fn from_facts(text: &[u8]) -> Folder {
    let lines = text.split(|octet| *octet == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let mut folder = Folder::default();
    for facts in lines.filter_map(Facts::parse) {
        if facts.is_folder_itself {
            folder.identity = facts.unique;
        } else if !facts.is_listed_folder {
            folder.entries.push(Entry {
                kind: facts.file_type.map_or(EntryKind::Other, EntryKind::from),
                listed: Listed { size: facts.size, modified: facts.modified },
                name: facts.name,
                identity: facts.unique,
            });
        }
    }
    folder
}

fn from_list(text: &[u8]) -> Option<Folder> {
    let (mut reader, mut files) = (ListReader::new(), Vec::new());
    reader.push(text, &mut files).ok()?;
    reader.push(b"\n", &mut files).ok()?;
    let entry = |file: FileInfo| Entry {
        kind: file.file_type.into(),
        // Its time has no seconds, and no zone.
        listed: Listed { size: file.size, modified: None },
        name: file.name,
        identity: None,
    };
    Some(Folder { entries: files.into_iter().map(entry).collect(), identity: None })
}

impl From<FileType> for EntryKind {
    fn from(file_type: FileType) -> EntryKind {
        match file_type {
            FileType::File => EntryKind::File,
            FileType::Directory => EntryKind::Folder,
            FileType::Symlink => EntryKind::Link,
            _ => EntryKind::Other,
        }
    }
}

/// Returns the URL of an entry, given that of its folder.
pub fn url_of(folder: &[u8], entry: &Entry) -> Bytes {
    let end: &[u8] = if entry.kind == EntryKind::Folder { b"/" } else { b"" };
    [folder, &url_escape(&entry.name), end].concat()
}

/// Returns whether folders of a URL's scheme have listings.
pub fn is_listed_scheme(url: &[u8]) -> bool {
    ["ftp://", "ftps://", "sftp://"].iter().any(|scheme| url.starts_with(scheme.as_bytes()))
}

/// Returns whether a URL is that of a folder which has a listing.
pub fn is_folder(url: &[u8]) -> bool {
    is_listed_scheme(url) && url.ends_with(b"/")
}

/// Returns whether the server of a URL may know MLSD.
pub fn may_know_mlsd(url: &[u8]) -> bool {
    url.starts_with(b"ftp")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_styles_are_read() {
        let long =
            b"total 8\r\n-rw-r--r-- 1 u g 5 Jan 11 10:00 a b\r\ndrwxr-xr-x 2 u g 4096 Jan 11 10:00 dir\r\n\
            drwxr-xr-x 2 u g 4096 Jan 11 10:00 ..\r\nlrwxrwxrwx 1 u g 1 Jan 11 10:00 link -> .\r\n\
            -rw-r--r-- 1 u g 5 Jan 11 10:00 x/y";
        let facts = b"type=cdir;unique=1g2; .\r\ntype=file;size=5;modify=20260102030405; a b\r\n\
            type=dir;unique=3g4; dir\r\nType=OS.unix=slink:.; link\r\ntype=file; x/y\r\n";
        for (text, is_mlsd, modified) in [(&long[..], false, None), (facts, true, Some(1_767_323_045))] {
            let folder = read(text, is_mlsd).unwrap();
            assert_eq!(folder.identity, is_mlsd.then(|| b"1g2".to_vec()));
            let found = folder.entries;
            let kinds: Vec<_> = found.iter().map(|entry| (&entry.name[..], entry.kind)).collect();
            let expected: [(&[u8], _); 3] =
                [(b"a b", EntryKind::File), (b"dir", EntryKind::Folder), (b"link", EntryKind::Link)];
            assert_eq!(kinds, expected);
            assert_eq!(found[0].listed, Listed { size: Some(5), modified });
            assert_eq!(url_of(b"ftp://h/d/", &found[0]), b"ftp://h/d/a%20b");
            assert_eq!(url_of(b"ftp://h/d/", &found[1]), b"ftp://h/d/dir/");
        }
        assert_eq!(read(b"<html>", false), None);
        assert_eq!(read(b"", false), Some(Folder::default()));
    }

    #[test]
    fn folders_have_listings() {
        for (url, expected) in
            [("ftp://h/", true), ("sftp://h/a/", true), ("ftp://h/a", false), ("http://h/", false)]
        {
            assert_eq!(is_folder(url.as_bytes()), expected, "{url}");
        }
    }
}
