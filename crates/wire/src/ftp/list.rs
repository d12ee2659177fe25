//! Directory listings: the output of `ls -l`, and the DOS style of Windows servers, distinguished by the
//! first character of the first line. Each line becomes a `FileInfo`, the value behind `curl_fileinfo`.

/// A longer line is refused.
const LINE_LIMIT: usize = 16 * 1024;

/// `CURLFILETYPE_*`, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileType {
    File,
    Directory,
    Symlink,
    BlockDevice,
    CharacterDevice,
    NamedPipe,
    Socket,
    Door,
}

/// A line of a listing. A field that the style does not have is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    pub name: Vec<u8>,
    pub file_type: FileType,
    /// Permission bits as of chmod.
    pub permissions: Option<u32>,
    pub permissions_text: Option<Vec<u8>>,
    pub hard_links: Option<u64>,
    pub user: Option<Vec<u8>>,
    pub group: Option<Vec<u8>>,
    pub size: Option<u64>,
    /// As the server wrote it.
    pub time: Vec<u8>,
    /// The target of a symbolic link.
    pub target: Option<Vec<u8>>,
}

/// The listing is of no known style (CURLE_FTP_BAD_FILE_LIST).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadList;

/// Reads a listing as it arrives.
#[derive(Clone, Debug, Default)]
pub struct ListReader {
    style: Option<Style>,
    held: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// Only the "total" line may come first, and only once.
    UnixStart,
    Unix,
    Dos,
}

impl ListReader {
    pub fn new() -> ListReader {
        ListReader::default()
    }

    /// Processes input and appends the files of all complete lines.
    pub fn push(&mut self, input: &[u8], files: &mut Vec<FileInfo>) -> Result<(), BadList> {
        let mut rest = input;
        while let Some(end) = rest.iter().position(|&octet| octet == b'\n') {
            self.held.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.held);
            files.extend(self.line(line.strip_suffix(b"\r").unwrap_or(&line))?);
        }
        self.held.extend_from_slice(rest);
        if self.held.len() > LINE_LIMIT { Err(BadList) } else { Ok(()) }
    }

    fn line(&mut self, line: &[u8]) -> Result<Option<FileInfo>, BadList> {
        if line.is_empty() {
            return Ok(None);
        }
        let is_dos = line[0].is_ascii_digit();
        let style = *self.style.get_or_insert(if is_dos { Style::Dos } else { Style::UnixStart });
        if style == Style::Dos {
            return dos_line(line).ok_or(BadList).map(Some);
        }
        self.style = Some(Style::Unix);
        if style == Style::UnixStart && is_total(line) {
            return Ok(None);
        }
        unix_line(line).ok_or(BadList).map(Some)
    }
}

/// "total 8"
fn is_total(line: &[u8]) -> bool {
    let Some(number) = line.strip_prefix(b"total ") else { return false };
    let number = number.trim_ascii();
    !number.is_empty() && number.iter().all(u8::is_ascii_digit)
}

/// `drwxr-xr-x  2 user group 512 Jan 11 10:00 name`
fn unix_line(line: &[u8]) -> Option<FileInfo> {
    let (mode, rest) = line.split_at_checked(10)?;
    let file_type = file_type(mode[0])?;
    let permissions = permissions(&mode[1..])?;
    let rest = rest.strip_prefix(b" ")?;
    let (hard_links, rest) = word(rest)?;
    let (user, rest) = word(rest)?;
    let (group, rest) = word(rest)?;
    let (size, rest) = word(rest)?;
    let time_start = rest.trim_ascii_start();
    let (_month, rest) = word(rest)?;
    let (_day, rest) = word(rest)?;
    let (_clock, rest) = word(rest)?;
    // Blanks other than spaces may make the rest shorter than the words.
    let time = time_start.get(..time_start.len().checked_sub(rest.len())?)?;
    // One blank separates the name, which may start with further blanks.
    let name = rest.strip_prefix(b" ").filter(|name| !name.is_empty())?;
    let (name, target) = if file_type == FileType::Symlink { split_link(name)? } else { (name, None) };
    Some(FileInfo {
        name: name.to_vec(),
        file_type,
        permissions: Some(permissions),
        permissions_text: Some(mode[1..].to_vec()),
        hard_links: Some(number(hard_links)?),
        user: Some(user.to_vec()),
        group: Some(group.to_vec()),
        size: Some(number(size)?),
        time: time.to_vec(),
        target: target.map(<[u8]>::to_vec),
    })
}

/// `01-29-97  11:32PM  <DIR>  name` or a size in place of `<DIR>`.
fn dos_line(line: &[u8]) -> Option<FileInfo> {
    let (date, rest) = word(line)?;
    let is_date = date.len() == 8
        && date
            .iter()
            .enumerate()
            .all(|(at, octet)| if at % 3 == 2 { *octet == b'-' } else { octet.is_ascii_digit() });
    let (clock, rest) = word(rest)?;
    if !is_date || !clock.iter().all(|octet| b"APM0123456789:".contains(octet)) {
        return None;
    }
    let time = &line[..line.len() - rest.len()];
    let (kind, rest) = word(rest)?;
    let name = rest.trim_ascii_start();
    let is_directory = kind == b"<DIR>";
    let size = if is_directory { 0 } else { number(kind)? };
    if name.is_empty() {
        return None;
    }
    Some(FileInfo {
        name: name.to_vec(),
        file_type: if is_directory { FileType::Directory } else { FileType::File },
        permissions: None,
        permissions_text: None,
        hard_links: None,
        user: None,
        group: None,
        size: Some(size),
        time: time.to_vec(),
        target: None,
    })
}

fn file_type(letter: u8) -> Option<FileType> {
    Some(match letter {
        b'-' => FileType::File,
        b'd' => FileType::Directory,
        b'l' => FileType::Symlink,
        b'p' => FileType::NamedPipe,
        b's' => FileType::Socket,
        b'c' => FileType::CharacterDevice,
        b'b' => FileType::BlockDevice,
        b'D' => FileType::Door,
        _ => return None,
    })
}

/// The bits of "rwxr-sr-t".
fn permissions(text: &[u8]) -> Option<u32> {
    let mut bits = 0;
    for (class, letters) in text.chunks_exact(3).enumerate() {
        let shift = 6 - 3 * class as u32;
        let special = 1 << (11 - class as u32);
        let special_letter = if class == 2 { b't' } else { b's' };
        for (letter, wanted, bit) in [(letters[0], b'r', 4), (letters[1], b'w', 2)] {
            match letter {
                b'-' => {}
                _ if letter == wanted => bits |= bit << shift,
                _ => return None,
            }
        }
        match letters[2] {
            b'-' => {}
            b'x' => bits |= 1 << shift,
            letter if letter == special_letter => bits |= special | (1 << shift),
            letter if letter == special_letter.to_ascii_uppercase() => bits |= special,
            _ => return None,
        }
    }
    Some(bits)
}

/// Name and target of a link, at the first arrow.
fn split_link(name: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    const ARROW: &[u8] = b" -> ";
    let first = name.windows(ARROW.len()).position(|window| window == ARROW).filter(|&at| at > 0)?;
    let target = &name[first + ARROW.len()..];
    if target.is_empty() { None } else { Some((&name[..first], Some(target))) }
}

fn word(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = text.iter().position(|&octet| octet != b' ')?;
    let text = &text[start..];
    Some(text.split_at(text.iter().position(|&octet| octet == b' ').unwrap_or(text.len())))
}

fn number(digits: &[u8]) -> Option<u64> {
    let is_number = digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| is_number)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(listing: &str, step: usize) -> Result<Vec<String>, BadList> {
        let mut reader = ListReader::new();
        let mut files = Vec::new();
        for piece in listing.as_bytes().chunks(step) {
            reader.push(piece, &mut files)?;
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let optional = |bytes: &Option<Vec<u8>>| bytes.as_deref().map(text).unwrap_or_default();
        Ok(files
            .iter()
            .map(|file| {
                format!(
                    "{:?}|{}|{:o}|{}|{}|{}|{}|{}",
                    file.file_type,
                    text(&file.name),
                    file.permissions.unwrap_or_default(),
                    optional(&file.user),
                    optional(&file.group),
                    file.size.unwrap_or_default(),
                    text(&file.time),
                    optional(&file.target)
                )
            })
            .collect())
    }

    #[test]
    fn unix_listings() {
        let listing = "total 20\r\n\
                       drwxr-xr-x   8 98       98           512 Oct 22 13:06 .\r\n\
                       -r-sr-Sr-t   1 0        1             35 Jul 16  1996 README  spaces\r\n\
                       lrwxrwxrwx   1 0        1              7 Dec  9  1999 bin -> usr/bin\r\n\
                       ---x-w-r--   1 user     group 18446744073709551615 Jan  1 00:00  lead\r\n\
                       \r\n\
                       prw-rw-rwT   1 u g 0 Jan  1 00:00 pipe\n\
                       lrwxrwxrwx   1 u g 0 Jan  1 00:00 a -> b -> c\n";
        let wanted = [
            "Directory|.|755|98|98|512|Oct 22 13:06|",
            "File|README  spaces|7545|0|1|35|Jul 16  1996|",
            "Symlink|bin|777|0|1|7|Dec  9  1999|usr/bin",
            "File| lead|124|user|group|18446744073709551615|Jan  1 00:00|",
            "NamedPipe|pipe|1666|u|g|0|Jan  1 00:00|",
            "Symlink|a|777|u|g|0|Jan  1 00:00|b -> c",
        ];
        for step in [1, 7, 1000] {
            assert_eq!(read(listing, step).as_deref(), Ok(&wanted.map(String::from)[..]), "{step}");
        }
    }

    #[test]
    fn dos_listings() {
        let listing = "01-29-97  11:32PM       <DIR>          prog\r\n\
                       01-29-97  11:32PM                 8192 a file.txt\r\n";
        let wanted =
            ["Directory|prog|0|||0|01-29-97  11:32PM|", "File|a file.txt|0|||8192|01-29-97  11:32PM|"];
        assert_eq!(read(listing, 5).as_deref(), Ok(&wanted.map(String::from)[..]));
    }

    #[test]
    fn bad_listings() {
        for listing in [
            "hello there\n",
            "-rwxr-xr-x\n",
            "-rwxr-xr-x 1 u g 5 Jan 1 00:00\n",
            "-rwxr-xr-x 1 u g 5 Jan 1 00:00 \n",
            "-rwzr-xr-x 1 u g 5 Jan 1 00:00 n\n",
            "-rwxr-xr-x 1 u g x Jan 1 00:00 n\n",
            "lrwxr-xr-x 1 u g 5 Jan 1 00:00 a\n",
            "Zrwxr-xr-x 1 u g 5 Jan 1 00:00 n\n",
            "01-29-97 11:32PM <FOO> x\n",
            "01-29-97 11:32PM 5\n",
            "1 x\n",
        ] {
            assert_eq!(read(listing, 100), Err(BadList), "{listing}");
        }
        assert_eq!(read(&"-".repeat(LINE_LIMIT + 1), 100), Err(BadList));
        assert_eq!(read("", 1), Ok(Vec::new()));
    }
}
