//! Where a URL leads on the server. `/~/` is where the user is at home.

use tables::Code;
use wire::escape::{self, Reject};

use super::channel::Sftp;
use crate::error::{Error, Result};
use crate::transfer::Transfer;

fn decoded(t: &Transfer) -> Result<Vec<u8>> {
    escape::decode(t.url.path(), Reject::Zero)
        .map_err(|_| Error::new(Code::UrlMalformat, "NUL byte in the path"))
}

/// Returns the path for SFTP. Waits for the home directory if the path starts there.
pub async fn of(t: &Transfer, sftp: &mut Sftp) -> Result<Vec<u8>> {
    let path = decoded(t)?;
    match path == b"/~" || path.starts_with(b"/~/") {
        true => Ok(at_home(&path, &sftp.home().await?)),
        false => Ok(path),
    }
}

/// Returns the path for SCP, where relative paths start at the user's home directory.
pub fn for_scp(t: &Transfer) -> Result<Vec<u8>> {
    let path = decoded(t)?;
    Ok(path.strip_prefix(b"/~/").filter(|rest| !rest.is_empty()).map(<[u8]>::to_vec).unwrap_or(path))
}

/// Expands `~` as the first segment, and nowhere else (CVE-2023-27534).
pub fn at_home(path: &[u8], home: &[u8]) -> Vec<u8> {
    let rest = match path {
        b"/~" => Some(b"".as_slice()),
        _ => path.strip_prefix(b"/~/"),
    };
    match rest {
        Some(rest) if home.ends_with(b"/") => [home, rest].concat(),
        Some(rest) => [home, b"/", rest].concat(),
        None => path.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CVE-2023-27534
    #[test]
    fn home_is_a_whole_first_segment() {
        for (path, found) in [
            ("/~/a", "/users/u/a"),
            ("/~", "/users/u/"),
            ("/~/", "/users/u/"),
            ("/~2/foo", "/~2/foo"),
            ("/~u/foo", "/~u/foo"),
            ("/a/~/b", "/a/~/b"),
            ("/", "/"),
        ] {
            assert_eq!(at_home(path.as_bytes(), b"/users/u"), found.as_bytes(), "{path}");
        }
        assert_eq!(at_home(b"/~/a", b"/"), b"/a");
    }
}
