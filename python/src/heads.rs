//! Heads of replies as Python sees them.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A head: version ("HTTP/1.1"), status, reason, fields in the order of arrival.
type Head<'py> = (String, u16, String, Vec<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)>);

/// A head before the conversion to Python objects.
pub type Parsed = (String, u16, String, Vec<(Vec<u8>, Vec<u8>)>);

/// [`parse`] for Python.
#[pyfunction]
pub fn parse_heads<'py>(py: Python<'py>, text: &[u8]) -> Vec<Head<'py>> {
    let bytes = |text: Vec<u8>| PyBytes::new(py, &text);
    let field = |(name, value): (Vec<u8>, Vec<u8>)| (bytes(name), bytes(value));
    parse(text)
        .into_iter()
        .map(|(v, s, r, fields)| (v, s, r, fields.into_iter().map(field).collect()))
        .collect()
}

/// Splits the header lines of a transfer into heads: those before the last are interim responses and
/// redirects. Lines that are not fields (of an FTP server) are skipped. A folded line is appended to its
/// field.
pub fn parse(text: &[u8]) -> Vec<Parsed> {
    let mut heads: Vec<Parsed> = Vec::new();
    for line in text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)) {
        if line.starts_with(b"HTTP/") {
            heads.push(status_line(line));
            continue;
        }
        let Some((.., fields)) = heads.last_mut() else { continue };
        match line.iter().position(|byte| *byte == b':') {
            _ if line.is_empty() => {}
            _ if line.starts_with(b" ") || line.starts_with(b"\t") => {
                if let Some((_, value)) = fields.last_mut() {
                    value.push(b' ');
                    value.extend_from_slice(line.trim_ascii());
                }
            }
            Some(colon) if colon > 0 => {
                fields.push((line[..colon].to_vec(), line[colon + 1..].trim_ascii().to_vec()))
            }
            _ => {}
        }
    }
    heads
}

fn status_line(line: &[u8]) -> Parsed {
    let text = String::from_utf8_lossy(line);
    let mut words = text.splitn(3, ' ');
    let mut word = || words.next().unwrap_or_default().to_owned();
    let (version, status, reason) = (word(), word(), word());
    (version, status.parse().unwrap_or(0), reason, Vec::new())
}
