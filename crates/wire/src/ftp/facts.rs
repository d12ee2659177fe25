//! Machine-readable directory listings (MLSD, RFC 3659 §7): `type=file;size=5;modify=20260102030405; name`.

use super::list::FileType;
use super::reply::moment;

/// A line of a listing. A fact that the server does not send is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    pub name: Vec<u8>,
    pub file_type: Option<FileType>,
    pub size: Option<u64>,
    /// Seconds since the epoch.
    pub modified: Option<i64>,
    /// Permission bits as of chmod.
    pub permissions: Option<u32>,
    /// The target of a symbolic link.
    pub target: Option<Vec<u8>>,
    /// The identity of a file or folder: two names with the same one are the same object.
    pub unique: Option<Vec<u8>>,
    /// Whether the line is about the folder itself or its parent.
    pub is_listed_folder: bool,
    /// Whether the line is about the folder itself.
    pub is_folder_itself: bool,
}

impl Facts {
    /// Parses a line without its end. `None` if it has no name.
    pub fn parse(line: &[u8]) -> Option<Facts> {
        let end = line.iter().position(|octet| *octet == b' ')?;
        let (facts, name) = (&line[..end], &line[end + 1..]);
        let mut parsed = Facts {
            name: name.to_vec(),
            file_type: None,
            size: None,
            modified: None,
            permissions: None,
            target: None,
            unique: None,
            is_listed_folder: false,
            is_folder_itself: false,
        };
        let pairs = facts.split(|octet| *octet == b';').filter_map(|fact| {
            let equals = fact.iter().position(|octet| *octet == b'=')?;
            Some((fact[..equals].to_ascii_lowercase(), &fact[equals + 1..]))
        });
        pairs.for_each(|(fact, value)| parsed.take(&fact, value));
        (!name.is_empty()).then_some(parsed)
    }

    fn take(&mut self, fact: &[u8], value: &[u8]) {
        let text = || std::str::from_utf8(value).ok();
        match fact {
            b"type" => self.take_type(value),
            b"size" => self.size = text().and_then(|text| text.parse().ok()),
            b"unique" => self.unique = Some(value.to_vec()),
            b"modify" => self.modified = moment(value),
            b"unix.mode" => {
                let mode = text().and_then(|text| u32::from_str_radix(text, 8).ok());
                self.permissions = mode.map(|mode| mode & 0o7777);
            }
            _ => {}
        }
    }

    fn take_type(&mut self, value: &[u8]) {
        let lower = value.to_ascii_lowercase();
        self.is_folder_itself = lower == b"cdir";
        self.is_listed_folder = matches!(&lower[..], b"cdir" | b"pdir");
        self.file_type = match &lower[..] {
            b"file" => Some(FileType::File),
            b"dir" | b"cdir" | b"pdir" => Some(FileType::Directory),
            link if link.starts_with(b"os.unix=slink") || link.starts_with(b"os.unix=symlink") => {
                let target = value.iter().position(|octet| *octet == b':');
                self.target = target.map(|at| value[at + 1..].to_vec());
                Some(FileType::Symlink)
            }
            _ => None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_come_in_any_order_and_case() {
        let parsed =
            Facts::parse(b"Size=70;MODIFY=20260102030405.678;unix.mode=0644;Type=file; a b;c").unwrap();
        assert_eq!((&parsed.name[..], parsed.file_type), (&b"a b;c"[..], Some(FileType::File)));
        assert_eq!((parsed.size, parsed.permissions), (Some(70), Some(0o644)));
        assert_eq!(parsed.modified, Some(1_767_323_045));
    }

    #[test]
    fn unknown_and_malformed_facts_are_left_out() {
        let rows: [(&str, &[u8], Option<FileType>); 5] = [
            ("RFC 3659 §7.2: no fact", b" name", None),
            ("RFC 3659 §7.5.1: another system's type", b"type=os.plan9=x; name", None),
            ("RFC 3659 §7.5.1: a link", b"type=OS.unix=slink:/x; name", Some(FileType::Symlink)),
            ("RFC 3659 §7.5.7: no number", b"type=dir;size=many; name", Some(FileType::Directory)),
            ("RFC 3659 §7.5.3: no date", b"type=file;modify=20261340; name", Some(FileType::File)),
        ];
        for (name, line, file_type) in rows {
            let parsed = Facts::parse(line).unwrap();
            assert_eq!((parsed.file_type, parsed.size, parsed.modified), (file_type, None, None), "{name}");
        }
        assert_eq!(Facts::parse(b"type=OS.unix=slink:/x; l").unwrap().target.as_deref(), Some(&b"/x"[..]));
        for (line, unique, is_folder_itself) in
            [(&b"type=cdir;unique=1g2; /home"[..], Some(&b"1g2"[..]), true), (b"type=pdir; ..", None, false)]
        {
            let parsed = Facts::parse(line).unwrap();
            assert_eq!((parsed.unique.as_deref(), parsed.is_folder_itself), (unique, is_folder_itself));
            assert!(parsed.is_listed_folder);
        }
        assert_eq!((Facts::parse(b""), Facts::parse(b"type=file; ")), (None, None));
    }
}
