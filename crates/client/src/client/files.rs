//! Files on a server, by FTP or SFTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use http::Method;
use tables::{Code, EasyOption};
use wire::escape::Reject;
use wire::ftp::facts::Facts;
use wire::ftp::list::{FileInfo, FileType, ListReader};

use super::session::{Session, check_text, done, encode, faces, session_settings};
use crate::{Body, Client, Error, IntoUrl, RequestBuilder, Response};

/// A folder on a server, by FTP or SFTP. [`Client::ftp`] and [`Client::sftp`] return it.
///
/// Paths are relative to the folder of the URL. In an FTP URL that folder is relative to where the login
/// begins; in an SFTP URL it is absolute, and `/~/` is the home folder. Requests share the connections of
/// their client.
///
/// ```no_run
/// # async fn run(client: warmwire::Client) -> Result<(), warmwire::Error> {
/// let files = client.sftp("sftp://server.example/srv/data").login("user", "password");
/// files.put("report.txt", "Nothing new.\n").await?;
/// for entry in files.list("").await? {
///     println!("{} {:?} {:?}", entry.name, entry.kind, entry.size);
/// }
/// let text = files.get("report.txt").await?.text().await?;
/// files.rename("report.txt", "old/report.txt").await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Files {
    pub(crate) session: Session,
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    /// Whether the server has refused MLSD.
    Ftp(Arc<AtomicBool>),
    Sftp,
}

/// An entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The name, without its folder. Octets that are no UTF-8 are replaced.
    pub name: String,
    /// File, folder or link.
    pub kind: EntryKind,
    /// The size in bytes, if the server lists it.
    pub size: Option<u64>,
    /// When it was changed, if the server says so exactly: by FTP with MLSD.
    pub modified: Option<SystemTime>,
    /// Permission bits as of chmod.
    pub permissions: Option<u32>,
    /// The target of a symbolic link.
    pub target: Option<String>,
}

/// The kind of an [`Entry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A device, a pipe or a socket, or something that the server does not describe.
    Other,
}

#[cfg_attr(docsrs, doc(auto_cfg = false))]
impl Client {
    /// Accesses files by FTP, at a URL like `ftp://server.example/folder` or `ftps://…`. An invalid URL is
    /// reported by the first request.
    #[cfg(feature = "ftp")]
    #[cfg_attr(docsrs, doc(cfg(feature = "ftp")))]
    pub fn ftp(&self, url: impl IntoUrl) -> Files {
        let session = Session::new(self, url, &["ftp", "ftps"]);
        Files { session, kind: Kind::Ftp(Arc::default()) }
    }

    /// Accesses files by SFTP, at a URL like `sftp://server.example/folder`. An invalid URL is reported by
    /// the first request.
    ///
    /// The server's key is checked against `known_hosts`; a login without password uses keys of the user's
    /// folder `.ssh` or of an agent.
    #[cfg(feature = "ssh")]
    #[cfg_attr(docsrs, doc(cfg(feature = "ssh")))]
    pub fn sftp(&self, url: impl IntoUrl) -> Files {
        Files { session: Session::new(self, url, &["sftp"]), kind: Kind::Sftp }
    }
}

session_settings!(Files, session);

faces! { Files:
    /// Lists a folder, without the entries for itself and its parent. An empty path is the folder of the URL.
    fn list(&self, path: &str) -> Vec<Entry> {
        let place = match path.strip_suffix('/').unwrap_or(path) {
            "" => String::new(),
            path => format!("{}/", encoded(path)?),
        };
        let request = || self.session.request(Method::GET, &place);
        if let Kind::Ftp(plain) = &self.kind
            && !plain.load(Ordering::Relaxed)
        {
            match request()?.option(EasyOption::CustomRequest, "MLSD").send().await {
                Ok(response) => return facts(response).await,
                // A folder that is missing has another code.
                Err(error) if error.code() != Code::FtpCouldntRetrFile => return Err(error),
                Err(_) => plain.store(true, Ordering::Relaxed),
            }
        }
        listed(request()?).await
    }

    /// Downloads a file. The response streams it.
    fn get(&self, path: &str) -> Response {
        self.session.request(Method::GET, &encoded(path)?)?.send().await
    }

    /// Uploads a file, in place of one of the same name.
    fn put(&self, path: &str, body: impl Into<Body>) -> () {
        done(self.session.request(Method::PUT, &encoded(path)?)?.body(body)).await
    }

    /// Deletes a file.
    fn delete(&self, path: &str) -> () {
        self.command(["DELE", "rm"], &[path]).await
    }

    /// Creates a folder. Its parent must exist.
    fn mkdir(&self, path: &str) -> () {
        self.command(["MKD", "mkdir"], &[path]).await
    }

    /// Deletes an empty folder.
    fn rmdir(&self, path: &str) -> () {
        self.command(["RMD", "rmdir"], &[path]).await
    }

    /// Renames or moves a file or a folder.
    fn rename(&self, from: &str, to: &str) -> () {
        self.command(["RNFR", "rename"], &[from, to]).await
    }
}

impl Files {
    /// Runs a command, by its names in FTP and SFTP.
    async fn command(&self, [of_ftp, of_sftp]: [&str; 2], paths: &[&str]) -> Result<(), Error> {
        for path in paths {
            encoded(path)?;
        }
        let commands = match self.kind {
            Kind::Ftp(_) => {
                let names = [of_ftp, "RNTO"];
                names.iter().zip(paths).map(|(name, path)| format!("{name} {path}").into_bytes()).collect()
            }
            Kind::Sftp => {
                let base = wire::escape::decode(self.session.base()?.as_bytes(), Reject::Control)
                    .map_err(|_| Error::option("the URL's path has control characters"))?;
                let words = paths.iter().map(|path| quoted(&base, path));
                vec![[of_sftp.as_bytes().to_vec()].into_iter().chain(words).collect::<Vec<_>>().join(&b' ')]
            }
        };
        done(self.session.commands(commands)?).await
    }
}

/// Writes a path as a word of an SFTP command. A path without a slash at its start is below the home folder.
fn quoted(base: &[u8], path: &str) -> Vec<u8> {
    let whole = [base.strip_prefix(b"/~/").unwrap_or(base), path.as_bytes()].concat();
    let mut word = vec![b'"'];
    for octet in whole {
        if matches!(octet, b'"' | b'\\') {
            word.push(b'\\');
        }
        word.push(octet);
    }
    word.push(b'"');
    word
}

/// Percent-encodes a relative path. Dot segments would leave the folder of the URL.
fn encoded(path: &str) -> Result<String, Error> {
    let segments = check_text(path, "path")?.split('/');
    let segments = segments.map(|segment| match segment {
        "" | "." | ".." => Err(Error::option(format!("the path {path:?} is not below the URL's folder"))),
        segment => Ok(encode(segment)),
    });
    Ok(segments.collect::<Result<Vec<_>, _>>()?.join("/"))
}

/// Reads a listing like that of `ls -l`.
async fn listed(request: RequestBuilder) -> Result<Vec<Entry>, Error> {
    let (mut response, mut reader, mut files) = (request.send().await?, ListReader::new(), Vec::new());
    let unknown = |_| Error::of(Code::FtpBadFileList, "the server lists folders in an unknown format");
    while let Some(piece) = response.chunk().await? {
        reader.push(&piece, &mut files).map_err(unknown)?;
    }
    reader.push(b"\n", &mut files).map_err(unknown)?;
    Ok(files.into_iter().map(Entry::from).filter(|entry| !matches!(&*entry.name, "." | "..")).collect())
}

/// Reads a listing of MLSD.
async fn facts(response: Response) -> Result<Vec<Entry>, Error> {
    let body = response.bytes().await?;
    let lines = body.split(|octet| *octet == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    Ok(lines.filter_map(Facts::parse).filter(|facts| !facts.is_listed_folder).map(Entry::from).collect())
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

impl From<FileType> for EntryKind {
    fn from(file_type: FileType) -> EntryKind {
        match file_type {
            FileType::File => EntryKind::File,
            FileType::Directory => EntryKind::Folder,
            FileType::Symlink => EntryKind::Link,
            FileType::BlockDevice
            | FileType::CharacterDevice
            | FileType::NamedPipe
            | FileType::Socket
            | FileType::Door => EntryKind::Other,
        }
    }
}

impl From<FileInfo> for Entry {
    fn from(file: FileInfo) -> Entry {
        Entry {
            name: lossy(&file.name),
            kind: file.file_type.into(),
            size: file.size,
            modified: None,
            permissions: file.permissions,
            target: file.target.as_deref().map(lossy),
        }
    }
}

impl From<Facts> for Entry {
    fn from(facts: Facts) -> Entry {
        let seconds = facts.modified.and_then(|seconds| u64::try_from(seconds).ok());
        Entry {
            name: lossy(&facts.name),
            kind: facts.file_type.map_or(EntryKind::Other, EntryKind::from),
            size: facts.size,
            modified: seconds.map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)),
            permissions: facts.permissions,
            target: facts.target.as_deref().map(lossy),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_below_the_folder_and_within_a_command() {
        assert_eq!(encoded("a b/c;d%#?").unwrap(), "a%20b/c%3Bd%25%23%3F");
        for bad in ["", "/etc", "a/../b", "..", ".", "a//b", "a/", "x\r\nDELE y", "x\0"] {
            assert!(encoded(bad).unwrap_err().is_builder(), "{bad:?}");
        }
        assert_eq!(quoted(b"/srv/", "a \"b\\"), b"\"/srv/a \\\"b\\\\\"");
        assert_eq!(quoted(b"/~/", "x"), b"\"x\"");
    }
}
