//! The known parts and attributes of a case file. An unknown one makes its case fail: a check that was not
//! made must not pass. The list is that of FILEFORMAT.md; the last rows are oddities of the published files.

use crate::format::Script;

/// Section, part (a `#` stands for an optional number), attributes.
const PARTS: &[(&str, &str, &[&str])] = &[
    ("info", "keywords", &[]),
    ("reply", "data#", &["nocheck", "sendzero", "hex", "base64", "nonewline", "crlf", "mode"]),
    ("reply", "connect#", &["nocheck", "nonewline", "crlf", "mode", "hex"]),
    ("reply", "datacheck#", &["mode", "nonewline", "crlf"]),
    ("reply", "size", &[]),
    ("reply", "mdtm", &[]),
    ("reply", "postcmd", &[]),
    ("reply", "servercmd", &[]),
    ("reply", "dns", &[]),
    ("client", "server", &[]),
    ("client", "features", &[]),
    ("client", "killserver", &[]),
    ("client", "precheck", &[]),
    ("client", "tool", &[]),
    ("client", "name", &[]),
    ("client", "setenv", &[]),
    ("client", "command", &["option", "timeout", "delay", "type"]),
    ("client", "file#", &["name", "nonewline", "crlf", "mode"]),
    ("client", "stdin", &["nonewline", "crlf"]),
    ("client", "disable", &[]),
    ("verify", "errorcode", &[]),
    ("verify", "strip", &[]),
    ("verify", "strippart", &[]),
    ("verify", "postcheck", &[]),
    ("verify", "notexists", &[]),
    ("verify", "protocol", &["nonewline", "crlf", "nocheck"]),
    ("verify", "proxy", &["nonewline", "crlf"]),
    ("verify", "socks", &[]),
    ("verify", "stderr", &["mode", "nonewline", "crlf"]),
    ("verify", "stdout", &["mode", "nonewline", "crlf", "loadfile"]),
    ("verify", "limits", &[]),
    ("verify", "file#", &["name", "mode", "nonewline", "crlf"]),
    ("verify", "stripfile#", &[]),
    ("verify", "upload", &["nonewline", "crlf"]),
    ("verify", "valgrind", &[]),
    ("verify", "dns", &["host"]),
    // in the files, but without a meaning in the format: there is nothing to check
    ("client", "stdout", &[]),
    ("client", "connectport", &[]),
    ("verify", "data", &[]),
];

/// Returns a part or attribute that the runner does not know.
pub fn unknown(script: &Script) -> Option<String> {
    script.parts().iter().find_map(|part| {
        let stem = part.name.trim_end_matches(|c: char| c.is_ascii_digit());
        let row = PARTS.iter().find(|(section, name, _)| {
            *section == part.section && (*name == part.name || name.strip_suffix('#') == Some(stem))
        });
        let Some((_, _, attributes)) = row else {
            return Some(format!("unknown part <{}> in <{}>", part.name, part.section));
        };
        let strange = part.attributes().find(|(name, _)| !attributes.contains(name))?;
        Some(format!("unknown attribute {}=\"{}\" of <{}>", strange.0, strange.1, part.name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown_in(text: &str) -> Option<String> {
        unknown(&Script::parse(text.as_bytes()).unwrap())
    }

    #[test]
    fn unknown_tags_and_attributes_are_reported() {
        assert_eq!(unknown_in("<reply>\n<data12 crlf=\"yes\">\n</data12>\n</reply>\n"), None);
        assert!(unknown_in("<reply>\n<smell>\n</smell>\n</reply>\n").unwrap().contains("<smell>"));
        assert!(unknown_in("<reply>\n<size crlf=\"yes\">\n</size>\n</reply>\n").unwrap().contains("crlf"));
    }
}
