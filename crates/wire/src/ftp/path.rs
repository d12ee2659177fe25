//! From a URL's path to directories and file name, in the three ways of CURLOPT_FTP_FILEMETHOD.

/// How the directory is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// One CWD for each directory, as RFC 1738 says.
    MultiCwd,
    /// No CWD: each command has the whole path.
    NoCwd,
    /// One for all.
    SingleCwd,
}

/// The location of a file. The directory "/" alone is the root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    pub directories: Vec<Vec<u8>>,
    /// None for a directory.
    pub file: Option<Vec<u8>>,
}

/// More directories than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooDeep;

const DEPTH_LIMIT: usize = 1000;

/// Splits a decoded path; the slash that separates it from the host is not part of it.
pub fn split(path: &[u8], method: Method) -> Result<Location, TooDeep> {
    let slash = path.iter().rposition(|&octet| octet == b'/');
    let (directory, file) = match slash {
        Some(at) => (Some(&path[..at]), &path[at + 1..]),
        None => (None, path),
    };
    let root_if_empty =
        |directory: &[u8]| if directory.is_empty() { b"/".to_vec() } else { directory.to_vec() };
    let directories = match (method, directory) {
        (_, None) | (Method::NoCwd, _) => Vec::new(),
        (Method::SingleCwd, Some(directory)) => vec![root_if_empty(directory)],
        (Method::MultiCwd, Some(directory)) => {
            let mut names = directory.split(|&octet| octet == b'/');
            let first = names.next().map(root_if_empty);
            first.into_iter().chain(names.filter(|name| !name.is_empty()).map(<[u8]>::to_vec)).collect()
        }
    };
    if directories.len() > DEPTH_LIMIT {
        return Err(TooDeep);
    }
    let file = if file.is_empty() {
        None
    } else if method == Method::NoCwd {
        Some(path.to_vec())
    } else {
        Some(file.to_vec())
    };
    Ok(Location { directories, file })
}

/// Returns the directory part of a decoded path, up to its last slash, by which a server's working directory
/// is remembered. Returns `None` if every command names the whole path from the root, whatever the working
/// directory.
pub fn folder(path: &[u8], method: Method) -> Option<Vec<u8>> {
    let end = path.iter().rposition(|&octet| octet == b'/').map_or(0, |at| at + 1);
    match method {
        Method::NoCwd if path.starts_with(b"/") => None,
        Method::NoCwd => Some(Vec::new()),
        _ => Some(path[..end].to_vec()),
    }
}

/// Removes `;type=a` from the end of an encoded path (RFC 1738 section 3.2.2) and returns the letter in upper
/// case. If more follows the letter, it is part of the file name; without a letter it has no meaning.
pub fn split_type(path: &[u8]) -> (&[u8], Option<u8>) {
    const MARK: &[u8] = b";type=";
    if let Some(path) = path.strip_suffix(MARK) {
        return (path, None);
    }
    match path.split_last() {
        Some((letter, rest)) if rest.ends_with(MARK) => {
            (&rest[..rest.len() - MARK.len()], Some(letter.to_ascii_uppercase()))
        }
        _ => (path, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str, method: Method) -> String {
        let location = split(path.as_bytes(), method).unwrap();
        let mut parts: Vec<String> = Vec::new();
        for directory in &location.directories {
            parts.push(format!("[{}]", String::from_utf8_lossy(directory)));
        }
        parts.push(location.file.map_or("-".into(), |file| String::from_utf8_lossy(&file).into_owned()));
        parts.join(" ")
    }

    #[test]
    fn the_three_methods() {
        let rows = [
            ("", "-", "-", "-"),
            ("file", "file", "file", "file"),
            ("a/b/file", "[a] [b] file", "a/b/file", "[a/b] file"),
            ("a/b/", "[a] [b] -", "-", "[a/b] -"),
            ("/a/file", "[/] [a] file", "/a/file", "[/a] file"),
            ("/file", "[/] file", "/file", "[/] file"),
            ("/", "[/] -", "-", "[/] -"),
            ("//a//file", "[/] [a] file", "//a//file", "[//a/] file"),
        ];
        for (path, multi, none, single) in rows {
            assert_eq!(shown(path, Method::MultiCwd), multi, "{path}");
            assert_eq!(shown(path, Method::NoCwd), none, "{path}");
            assert_eq!(shown(path, Method::SingleCwd), single, "{path}");
        }
        assert_eq!(split(&b"a/".repeat(2000), Method::MultiCwd), Err(TooDeep));
    }

    #[test]
    fn folders() {
        let rows = [("", Some("")), ("file", Some("")), ("a/b/file", Some("a/b/")), ("/file", Some("/"))];
        for (path, multi) in rows {
            let folder = |method| folder(path.as_bytes(), method);
            assert_eq!(folder(Method::MultiCwd).as_deref(), multi.map(str::as_bytes), "{path}");
            assert_eq!(folder(Method::SingleCwd).as_deref(), multi.map(str::as_bytes), "{path}");
            assert_eq!(folder(Method::NoCwd).is_none(), path.starts_with('/'), "{path}");
        }
    }

    #[test]
    fn types() {
        assert_eq!(split_type(b"a/b;type=i"), (&b"a/b"[..], Some(b'I')));
        assert_eq!(split_type(b"a/b;type=a"), (&b"a/b"[..], Some(b'A')));
        assert_eq!(split_type(b"a/b;TYPE=a"), (&b"a/b;TYPE=a"[..], None));
        assert_eq!(split_type(b"a/b;type="), (&b"a/b"[..], None));
        assert_eq!(split_type(b"a/b;type=a2"), (&b"a/b;type=a2"[..], None));
        assert_eq!(split_type(b"a/b;type=a/c"), (&b"a/b;type=a/c"[..], None));
        assert_eq!(split_type(b"a;t"), (&b"a;t"[..], None));
    }
}
