//! File names as Windows reads them, made to mean a file and nothing else: `NUL`, `COM1.txt` and their like are devices in every
//! folder, a colon begins a stream of another file, and dots and blanks at the end are not seen, so that `a.` overwrites `a`.
//! Source: "Naming Files, Paths, and Namespaces" of Windows' documentation. What becomes of a name is what curl's tool makes of it:
//! `_` in the place of what may not be there, `_NUL` for `NUL`, `NUL_txt` for `NUL.txt`.
//!
//! These are functions of bytes alone, and the same wherever they are built; `system` says where they are needed.

use crate::bytes::Bytes;

/// Devices without a number.
const DEVICES: &[&str] = &["CON", "PRN", "AUX", "NUL", "CLOCK$", "CONIN$", "CONOUT$"];
/// Those with one, which may be written above the line, too.
const NUMBERED: &[&str] = &["COM", "LPT"];
const NUMBERS: &[&str] = &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "\u{b9}", "\u{b2}", "\u{b3}"];

/// A name without folders.
pub fn plain(name: &[u8]) -> Bytes {
    // What is no text cannot be a name: each piece of it becomes one character, and so as few names as possible become one.
    let text = String::from_utf8_lossy(name).replace(char::REPLACEMENT_CHARACTER, "_");
    let replaced: String = text.chars().map(|c| if is_forbidden(c) { '_' } else { c }).collect();
    let seen = replaced.trim_end_matches(['.', ' ']);
    if seen.is_empty() {
        return b"_".to_vec();
    }
    match device(seen) {
        None => seen.to_owned(),
        Some(length) if seen[length..].starts_with('.') => {
            format!("{}_{}", &seen[..length], &seen[length + 1..])
        }
        Some(_) => format!("_{seen}"),
    }
    .into_bytes()
}

/// A name with folders, which may begin with a drive: each of its parts as [`plain`].
pub fn path(name: &[u8]) -> Bytes {
    let drive = match name {
        [letter, b':', ..] if letter.is_ascii_alphabetic() => 2,
        _ => 0,
    };
    let mut out = name[..drive].to_vec();
    for part in name[drive..].split_inclusive(|byte| is_separator(*byte)) {
        let (part, separator) = match part.split_last() {
            Some((last, part)) if is_separator(*last) => (part, Some(*last)),
            _ => (part, None),
        };
        match part {
            b"" | b"." | b".." => out.extend(part),
            _ => out.extend(plain(part)),
        }
        out.extend(separator);
    }
    out
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\')
}

fn is_forbidden(c: char) -> bool {
    c.is_control() || "<>:\"/\\|?*".contains(c)
}

/// How long the name of a device is with which this begins; what follows a dot or blanks does not make a file of it.
fn device(name: &str) -> Option<usize> {
    let length = name.find('.').unwrap_or(name.len());
    let base = name[..length].trim_end_matches(' ').to_uppercase();
    let numbered = |kind: &&str| base.strip_prefix(*kind).is_some_and(|number| NUMBERS.contains(&number));
    (DEVICES.contains(&base.as_str()) || NUMBERED.iter().any(numbered)).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use testkit::dice::Dice;

    fn made(name: &str) -> String {
        String::from_utf8(plain(name.as_bytes())).unwrap()
    }

    /// CVE-2010-3842, on systems where a name can lead elsewhere without a slash.
    #[test]
    fn names_that_mean_something_else() {
        let table = [
            ("file.txt", "file.txt"),
            ("\u{e4}\u{20ac}.txt", "\u{e4}\u{20ac}.txt"),
            (".hidden", ".hidden"),
            // Devices, in any case, with anything behind a dot.
            ("CON", "_CON"),
            ("nul", "_nul"),
            ("Aux.h", "Aux_h"),
            ("PRN.tar.gz", "PRN_tar.gz"),
            ("com1", "_com1"),
            ("COM9.", "_COM9"),
            ("LPT\u{b2}.log", "LPT\u{b2}_log"),
            ("lpt0", "_lpt0"),
            ("CLOCK$", "_CLOCK$"),
            ("conout$", "_conout$"),
            ("nul .txt", "nul _txt"),
            ("NUL ", "_NUL"),
            ("NUL...", "_NUL"),
            // What only begins like one.
            ("CONSOLE", "CONSOLE"),
            ("COM10", "COM10"),
            ("COM", "COM"),
            ("nul_", "nul_"),
            // Streams and what a shell would make more of.
            ("a:b", "a_b"),
            ("a.txt::$DATA", "a.txt__$DATA"),
            ("C:", "C_"),
            ("NUL:", "NUL_"),
            ("a<b>c\"d|e?f*g", "a_b_c_d_e_f_g"),
            // Folders.
            ("..\\..\\x", ".._.._x"),
            ("a/b", "a_b"),
            ("\\\\.\\PhysicalDrive0", "__._PhysicalDrive0"),
            // Ends that are not seen.
            ("a.exe. . ", "a.exe"),
            ("a.", "a"),
            ("...", "_"),
            (" ", "_"),
            ("", "_"),
            ("a\tb\x7f\0\u{9b}", "a_b___"),
        ];
        for (given, expected) in table {
            assert_eq!(made(given), expected, "{given:?}");
        }
        assert_eq!(plain(b"caf\xe9.txt"), b"caf_.txt");
        assert_eq!(plain(b"NUL\xff"), b"NUL_");
    }

    #[test]
    fn names_with_folders() {
        let table = [
            ("a/b.txt", "a/b.txt"),
            ("..\\a\\.\\b", "..\\a\\.\\b"),
            ("C:\\dir\\nul.txt", "C:\\dir\\nul_txt"),
            ("c:nul", "c:_nul"),
            ("/aux/con", "/_aux/_con"),
            ("a:b:c", "a:b_c"),
            ("ab:c", "ab_c"),
            ("d./f ", "d/f"),
            ("dir/", "dir/"),
            ("", ""),
        ];
        for (given, expected) in table {
            assert_eq!(String::from_utf8(path(given.as_bytes())).unwrap(), expected, "{given:?}");
        }
    }

    /// Any bytes: what comes out is a name of one part, no device, and stays as it is when it is made safe again.
    #[test]
    fn any_name_becomes_a_safe_one() {
        const SCRAPS: [&[u8]; 16] = [
            b"CON",
            b"nul",
            b"com",
            b"1",
            b"\xc2\xb9",
            b".",
            b" ",
            b":",
            b"\\",
            b"/",
            b"x",
            b"\xff",
            b"_",
            b"$",
            b"lpt",
            b"\xef\xbf\xbd",
        ];
        let mut dice = Dice::new(0x57_1d_00_95);
        for _ in 0..50_000 {
            let name: Bytes =
                (0..dice.roll(8)).flat_map(|_| SCRAPS[dice.roll(SCRAPS.len())]).copied().collect();
            let safe = plain(&name);
            let text = std::str::from_utf8(&safe).unwrap();
            assert!(
                !text.is_empty() && !text.ends_with(['.', ' ']) && !text.contains(is_forbidden),
                "{name:?}"
            );
            assert_eq!(device(text), None, "{name:?} became {text}");
            assert_eq!(plain(&safe), safe, "{name:?}");
        }
    }
}
