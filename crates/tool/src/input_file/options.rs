//! Options of an entry: the tool's own long names as in a config file, and aria2's names for the same things.

use crate::bytes::Bytes;
use crate::config_file;
use crate::flags::{self, Arg};
use crate::parse::Wrong;

/// aria2's names of options that mean the same as one of the tool's.
const ARIA2: &[(&str, &str)] = &[
    ("all-proxy", "proxy"),
    ("allow-overwrite", "clobber"),
    ("ca-certificate", "cacert"),
    ("certificate", "cert"),
    ("check-certificate", "no-insecure"),
    ("dir", "output-dir"),
    ("max-download-limit", "limit-rate"),
    ("no-proxy", "noproxy"),
    ("out", "output"),
    ("private-key", "key"),
    ("retry-wait", "retry-delay"),
    ("save-cookies", "cookie-jar"),
    ("split", "segments"),
];

/// aria2's names for which it creates the folder of the file, too.
const MAKES_FOLDERS: [&str; 2] = ["dir", "out"];

/// An option that identifies an entry in aria2's sessions, and changes nothing.
const IDENTIFIER: &[u8] = b"gid";

const PLACE: Wrong = Wrong::Allowed("is for the whole command line, not for one URL");
const DASHES: Wrong = Wrong::Allowed("is written with its long name and without dashes here");

/// An option of an entry under the tool's name.
#[derive(Debug, PartialEq, Eq)]
pub struct EntryOption {
    pub name: Bytes,
    pub argument: Option<Bytes>,
    /// Whether the folders of the file are created.
    pub makes_folders: bool,
}

/// Parses the line of an option; `None` if it changes nothing. Refuses an option that is not one of a single
/// transfer.
pub fn parse(line: &[u8]) -> Result<Option<EntryOption>, (Bytes, Wrong)> {
    let Some(entry) = config_file::entry_to_end(line) else { return Ok(None) };
    let refused = |wrong: Wrong| Err((entry.option.to_vec(), wrong));
    if entry.option == IDENTIFIER {
        return Ok(None);
    }
    if entry.option.starts_with(b"-") {
        return refused(DASHES);
    }
    let synonym = ARIA2.iter().find(|(name, _)| name.as_bytes() == entry.option);
    let name = synonym.map_or(entry.option, |(_, name)| name.as_bytes());
    let bare = name.strip_prefix(b"no-").or(name.strip_prefix(b"expand-")).unwrap_or(name);
    let Some((flag, _)) = flags::long(bare) else { return refused(Wrong::Unknown) };
    if !flags::is_per_transfer(flag) {
        return refused(PLACE);
    }
    let makes_folders = MAKES_FOLDERS.iter().any(|name| name.as_bytes() == entry.option);
    let (name, argument) = match (&flag.arg, entry.argument) {
        (Arg::Bool | Arg::None, Some(argument)) => {
            (switched(name, &argument).ok_or((entry.option.to_vec(), Wrong::Garbage))?, None)
        }
        (_, argument) => (name.to_vec(), argument),
    };
    Ok(Some(EntryOption { name, argument, makes_folders }))
}

/// Returns the name of a switch that is turned on or off, as in aria2's `check-certificate=false`.
fn switched(name: &[u8], argument: &[u8]) -> Option<Bytes> {
    match argument {
        b"true" => Some(name.to_vec()),
        b"false" => Some(name.strip_prefix(b"no-").map_or_else(|| [b"no-", name].concat(), <[u8]>::to_vec)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_options_under_the_tools_names() {
        for (line, name, argument, makes_folders) in [
            (" output = a b ", "output", Some("a b"), false),
            ("\tout=a b\r", "output", Some("a b"), true),
            (" out = \" a\\tb\" # c", "output", Some(" a\tb"), true),
            (" dir=/x/y=z", "output-dir", Some("/x/y=z"), true),
            (" header=X-A: b: c # d", "header", Some("X-A: b: c # d"), false),
            (" header X-A: b", "header", Some("X-A: b"), false),
            (" split=4", "segments", Some("4"), false),
            (" compressed", "compressed", None, false),
            (" insecure = true", "insecure", None, false),
            (" insecure = false", "no-insecure", None, false),
            (" check-certificate=true", "no-insecure", None, false),
            (" check-certificate=false", "insecure", None, false),
            (" remote-time=true", "remote-time", None, false),
            (" allow-overwrite=false", "no-clobber", None, false),
            (" expand-output={{a}}", "expand-output", Some("{{a}}"), false),
        ] {
            let wanted = EntryOption {
                name: name.into(),
                argument: argument.map(|text| text.as_bytes().to_vec()),
                makes_folders,
            };
            assert_eq!(parse(line.as_bytes()), Ok(Some(wanted)), "{line}");
        }
        assert_eq!(parse(b" gid=d4d8f1"), Ok(None));
    }

    #[test]
    fn other_options_are_refused() {
        for (line, name, wrong) in [
            (" nonsense=1", "nonsense", Wrong::Unknown),
            (" parallel", "parallel", PLACE),
            (" url = http://b/", "url", PLACE),
            (" next", "next", PLACE),
            (" no-silent", "no-silent", PLACE),
            (" -o x", "-o", DASHES),
            (" --output=x", "--output=x", DASHES),
            (" compressed = x", "compressed", Wrong::Garbage),
        ] {
            assert_eq!(parse(line.as_bytes()), Err((name.into(), wrong)), "{line}");
        }
    }

    #[test]
    fn synonyms_name_flags_of_a_single_transfer() {
        for (theirs, ours) in ARIA2 {
            let bare = ours.strip_prefix("no-").filter(|_| *ours != "noproxy").unwrap_or(ours);
            assert!(flags::is_per_transfer(flags::long(bare.as_bytes()).unwrap().0), "{ours}");
            assert!(flags::long(theirs.as_bytes()).is_none(), "{theirs} is a flag itself");
        }
    }
}
