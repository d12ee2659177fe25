//! Converts file names so that Windows interprets them as files and nothing else. `NUL`, `COM1.txt` and
//! similar names are devices in every directory, a colon starts a stream of another file, and trailing dots
//! and blanks are ignored, so that `a.` overwrites `a`. Source: "Naming Files, Paths, and Namespaces" of
//! Windows' documentation. The conversion is that of curl's tool: `_` for forbidden characters, `_NUL` for
//! `NUL`, `NUL_txt` for `NUL.txt`.
//!
//! The functions work on bytes, and are the same on every system; `system` decides where they are needed.

use crate::bytes::Bytes;

/// Devices without a number.
const DEVICES: &[&str] = &["CON", "PRN", "AUX", "NUL", "CLOCK$", "CONIN$", "CONOUT$"];
/// Devices with a number, which may be a superscript, too.
const NUMBERED: &[&str] = &["COM", "LPT"];
const NUMBERS: &[&str] = &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "\u{b9}", "\u{b2}", "\u{b3}"];

/// A name without folders.
pub fn plain(name: &[u8]) -> Bytes {
    // Invalid UTF-8 cannot be a name: each invalid sequence becomes one character, so that few names collide.
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

/// Converts a name with directories, which may begin with a drive: each part as by [`plain`].
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

/// Returns the length of a device name at the beginning; a dot or blanks after it do not make it a file.
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
            // Names that only begin like one.
            ("CONSOLE", "CONSOLE"),
            ("COM10", "COM10"),
            ("COM", "COM"),
            ("nul_", "nul_"),
            // Streams, and characters that are special in a shell.
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

    /// For any bytes, the result is a name of one part and not a device, and converting it again does not
    /// change it.
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
