//! Preprocesses a case file: conditional lines, variables and instructions, line by line and in the order of
//! docs/tests/FILEFORMAT.md in curl's repository (variables before instructions, `%SP` and similar ones
//! last).

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use testkit::base64;

/// The variables of one case, `%NAME` to value.
#[derive(Default, Clone)]
pub struct Variables(Vec<(String, Vec<u8>)>);

impl Variables {
    pub fn set(&mut self, name: &str, value: impl Into<Vec<u8>>) {
        self.0.retain(|(n, _)| n != name);
        self.0.push((name.to_owned(), value.into()));
        // the longest name is tried first: CLIENT6IP-NB before CLIENT6IP
        self.0.sort_by_key(|(n, _)| std::cmp::Reverse(n.len()));
    }

    /// A value that is text.
    pub fn text(&self, name: &str) -> Option<&str> {
        let (_, value) = self.0.iter().find(|(known, _)| known == name)?;
        std::str::from_utf8(value).ok()
    }

    fn substitute(&self, line: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(line.len());
        let mut rest = line;
        while let Some(at) = rest.iter().position(|&b| b == b'%') {
            out.extend_from_slice(&rest[..at]);
            rest = &rest[at + 1..];
            match self.0.iter().find(|(name, _)| rest.starts_with(name.as_bytes())) {
                Some((name, value)) => {
                    out.extend_from_slice(value);
                    rest = &rest[name.len()..];
                }
                None => out.push(b'%'),
            }
        }
        out.extend_from_slice(rest);
        out
    }
}

/// Turns the file as written into the file as run. `has` answers `%if`; relative names in includes are taken
/// from `folder`. `Err` names an instruction that cannot be followed.
pub fn preprocess(
    text: &[u8],
    variables: &Variables,
    has: &dyn Fn(&str) -> bool,
    folder: &Path,
) -> Result<Vec<u8>, String> {
    let mut out = vec![];
    let mut conditions = Conditions::default();
    for line in text.split_inclusive(|&b| b == b'\n') {
        if conditions.takes(line, has)? || conditions.hidden() {
            continue;
        }
        let mut line = variables.substitute(line);
        if let Some(text) = included_text(&line, folder)? {
            // an included file is preprocessed like the case, with its own variables and instructions
            out.extend(preprocess(&text, variables, has, folder)?);
            continue;
        }
        line = between(&line, b"%b64[", b"]b64%", |d| Ok(base64::encode(&percent_decode(d)).into_bytes()))?;
        line = between(&line, b"%hex[", b"]hex%", |d| Ok(percent_decode(d)))?;
        line = between(&line, b"%repeat[", b"]%", repeated)?;
        line = between(&line, b"%days[", b"]", days)?;
        line = between(&line, b"%sha256b64file[", b"]sha256b64file%", |d| sha256_of(folder, d))?;
        line = between(&line, b"%strippemfile[", b"]strippemfile%", |d| pem_of(folder, d))?;
        for (name, value) in CHARACTERS {
            line = replaced(&line, name, value);
        }
        out.extend_from_slice(&included(&line, folder)?);
    }
    if conditions.0.is_empty() { Ok(out) } else { Err("%if without %endif".into()) }
}

const CHARACTERS: [(&[u8], &[u8]); 6] =
    [(b"%SP", b" "), (b"%TAB", b"\t"), (b"%CR", b"\r"), (b"%LT", b"<"), (b"%GT", b">"), (b"%AMP", b"&")];

/// The open `%if`s: whether the lines are shown now, and whether they were outside it.
#[derive(Default)]
struct Conditions(Vec<(bool, bool)>);

impl Conditions {
    fn hidden(&self) -> bool {
        self.0.last().is_some_and(|(shown, _)| !shown)
    }

    /// Whether the line was a condition and is dealt with.
    fn takes(&mut self, line: &[u8], has: &dyn Fn(&str) -> bool) -> Result<bool, String> {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_start_matches(' ').trim_end();
        if let Some(feature) = text.strip_prefix("%if ") {
            let (feature, wanted) = feature.strip_prefix('!').map_or((feature, true), |f| (f, false));
            let outer = !self.hidden();
            self.0.push((outer && has(feature.trim()) == wanted, outer));
        } else if text.starts_with("%else") {
            let (shown, outer) = self.0.last_mut().ok_or("%else without %if")?;
            *shown = *outer && !*shown;
        } else if text.starts_with("%endif") {
            self.0.pop().ok_or("%endif without %if")?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }
}

/// Replaces each `open…close` on the line by the output of `make` for its inside.
fn between(
    line: &[u8],
    open: &[u8],
    close: &[u8],
    make: impl Fn(&[u8]) -> Result<Vec<u8>, String>,
) -> Result<Vec<u8>, String> {
    let mut out = vec![];
    let mut rest = line;
    while let Some(start) = find(rest, open) {
        let inside = &rest[start + open.len()..];
        let Some(end) = find(inside, close) else { break };
        out.extend_from_slice(&rest[..start]);
        out.extend(make(&inside[..end])?);
        rest = &inside[end + close.len()..];
    }
    out.extend_from_slice(rest);
    Ok(out)
}

fn repeated(inside: &[u8]) -> Result<Vec<u8>, String> {
    let at = find(inside, b" x ").ok_or("%repeat without a count")?;
    let count: usize = std::str::from_utf8(&inside[..at])
        .ok()
        .and_then(|n| n.parse().ok())
        .filter(|n| *n <= 20_000_000)
        .ok_or("%repeat with a bad count")?;
    Ok(percent_decode(&inside[at + 3..]).repeat(count))
}

/// Two moments a minute apart, for the comparison accepts either: the case may run across the turn of a
/// minute.
fn days(inside: &[u8]) -> Result<Vec<u8>, String> {
    let days: u64 =
        std::str::from_utf8(inside).ok().and_then(|n| n.parse().ok()).ok_or("%days with a bad number")?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let first = (now + days * 86_400 + 30) / 60 * 60;
    Ok(format!("%alternatives[{first},{}]", first + 60).into_bytes())
}

fn sha256_of(folder: &Path, name: &[u8]) -> Result<Vec<u8>, String> {
    let data = read(folder, name)?;
    Ok(base64::encode(crate::peers::tls::sha256(&data).as_ref()).into_bytes())
}

/// A PEM file without the text around its blocks.
fn pem_of(folder: &Path, name: &[u8]) -> Result<Vec<u8>, String> {
    let data = read(folder, name)?;
    let mut inside = false;
    let mut out = vec![];
    for line in data.split_inclusive(|&b| b == b'\n') {
        inside |= line.starts_with(b"-----BEGIN ");
        if inside {
            out.extend(line.iter().filter(|b| **b != b'\r'));
        }
        inside &= !line.starts_with(b"-----END ");
    }
    if out.last() == Some(&b'\n') {
        out.pop();
    }
    Ok(out)
}

/// The text of a `%includetext NAME%` line.
fn included_text(line: &[u8], folder: &Path) -> Result<Option<Vec<u8>>, String> {
    let Some(rest) = line.trim_ascii_start().strip_prefix(b"%includetext ") else { return Ok(None) };
    let Some(end) = rest.iter().position(|&b| b == b'%') else { return Ok(None) };
    read(folder, &rest[..end]).map(|text| Some(replaced(&text, b"\r\n", b"\n")))
}

/// Replaces `%include NAME%` and the line ends after it by the file.
fn included(line: &[u8], folder: &Path) -> Result<Vec<u8>, String> {
    const OPEN: &[u8] = b"%include ";
    let Some(start) = find(line, OPEN) else { return Ok(line.to_vec()) };
    let inside = &line[start + OPEN.len()..];
    let Some(end) = inside.iter().position(|&b| b == b'%') else { return Ok(line.to_vec()) };
    let content = read(folder, &inside[..end])?;
    let rest = &inside[end + 1..];
    let skip = rest.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
    Ok([&line[..start], &content, &rest[skip..]].concat())
}

fn read(folder: &Path, name: &[u8]) -> Result<Vec<u8>, String> {
    let name = String::from_utf8_lossy(&percent_decode(name)).into_owned();
    std::fs::read(folder.join(&name)).map_err(|_| format!("needs an absent file: {name}"))
}

/// Decodes `%XX` and leaves everything else unchanged.
pub fn percent_decode(text: &[u8]) -> Vec<u8> {
    let digit = |b: Option<&u8>| b.and_then(|b| char::from(*b).to_digit(16)).map(|d| d as u8);
    let (mut out, mut at) = (vec![], 0);
    while at < text.len() {
        match (text[at], digit(text.get(at + 1)), digit(text.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push(high << 4 | low);
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

/// Where `needle` first occurs.
pub fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|w| w == needle)
}

fn replaced(line: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = vec![];
    let mut rest = line;
    while let Some(at) = find(rest, from) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str) -> Result<String, String> {
        let mut variables = Variables::default();
        variables.set("HTTPPORT", "8080");
        variables.set("CLIENT6IP", "[::1]");
        variables.set("CLIENT6IP-NB", "::1");
        let out = preprocess(text.as_bytes(), &variables, &|f| f == "http", Path::new("/nonexistent"))?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn variables_and_instructions() {
        assert_eq!(
            run("a %HTTPPORT %CLIENT6IP-NB %CLIENT6IP %OTHER\n").unwrap(),
            "a 8080 ::1 [::1] %OTHER\n"
        );
        assert_eq!(run("%b64[%HTTPPORT %41]b64%|%b64[]b64%\n").unwrap(), "ODA4MCBB|\n");
        assert_eq!(run("%hex[%41b%zz]hex%\n").unwrap(), "Ab%zz\n");
        assert_eq!(run("%repeat[3 x ab%2C]%.\n").unwrap(), "ab,ab,ab,.\n");
        assert_eq!(run("x%SPy%TAB%CR%LT%GT%AMP\n").unwrap(), "x y\t\r<>&\n");
        assert!(run("%days[1]\n").unwrap().starts_with("%alternatives["));
    }

    #[test]
    fn conditions_nest() {
        let text = "%if http\n1\n%if !http\n2\n%else\n3\n%endif\n%else\n4\n%if http\n5\n%endif\n%endif\n6\n";
        assert_eq!(run(text).unwrap(), "1\n3\n6\n");
        assert!(run("%if http\n").is_err());
        assert!(run("%endif\n").is_err());
    }

    #[test]
    fn malformed_repeats_and_missing_files_are_errors() {
        assert!(run("%repeat[x x y]%\n").is_err());
        assert!(run("%includetext nowhere%\n").unwrap_err().contains("absent"));
    }

    #[test]
    fn included_text_is_preprocessed() {
        let path = std::env::temp_dir().join(format!("warmwire-include-{}", std::process::id()));
        std::fs::write(&path, "port %HTTPPORT\r\n%repeat[2 x x]%\n").unwrap();
        let out = run(&format!("a\n%includetext {}%\nb\n", path.display())).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(out, "a\nport 8080\nxx\nb\n");
    }
}
