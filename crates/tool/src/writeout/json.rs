//! `%{json}` and `%{header_json}`.

use super::outcome::Outcome;
use super::variables;
use crate::bytes::Bytes;
use crate::text::json_escape;

/// Every variable in one object.
pub fn all(outcome: &dyn Outcome) -> Bytes {
    let mut out = b"{".to_vec();
    let extra = variables::EXTRA.iter().filter(|variable| variable.text(outcome).is_some());
    for variable in variables::ALL.iter().chain(extra) {
        out.extend(format!("\"{}\":", variable.name).bytes());
        out.extend(variable.json(outcome));
        out.push(b',');
    }
    out.extend(b"\"curl_version\":\"");
    out.extend(json_escape(&outcome.version(), false));
    out.extend(b"\"}");
    out
}

/// The headers of the last answer: each name once, with all its values.
pub fn headers(outcome: &dyn Outcome) -> Bytes {
    let headers = outcome.headers();
    let last = headers.iter().map(|(.., request)| *request).max().unwrap_or(0);
    let mut merged: Vec<(Bytes, Vec<Bytes>)> = Vec::new();
    for (name, value, _) in headers.into_iter().filter(|(.., request)| *request == last) {
        let name = name.to_ascii_lowercase();
        match merged.iter_mut().find(|(known, _)| *known == name) {
            Some((_, values)) => values.push(value),
            None => merged.push((name, vec![value])),
        }
    }
    let mut out = b"{".to_vec();
    for (at, (name, values)) in merged.iter().enumerate() {
        let start = if at == 0 { "" } else { ",\n" };
        out.extend(start.bytes());
        out.push(b'"');
        out.extend(json_escape(name, false));
        out.extend(b"\":[");
        let quoted: Vec<Bytes> = values
            .iter()
            .map(|value| [b"\"", json_escape(value, false).as_slice(), b"\""].concat())
            .collect();
        out.extend(quoted.join(b",".as_slice()));
        out.push(b']');
    }
    out.extend(b"\n}");
    out
}
