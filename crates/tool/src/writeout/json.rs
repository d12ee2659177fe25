//! `%{json}` and `%{header_json}`.

use super::outcome::Outcome;
use super::variables;
use crate::bytes::Bytes;
use crate::raw::json::Writer;

/// Returns an object of every variable.
pub fn all(outcome: &dyn Outcome) -> Bytes {
    let extra = variables::EXTRA.iter().filter(|variable| variable.text(outcome).is_some());
    let mut json = Writer::default();
    json.object(|json| {
        for variable in variables::ALL.iter().chain(extra) {
            variable.write_json(outcome, json.key(variable.name));
        }
        json.key("curl_version").text(outcome.version());
    });
    json.finish()
}

/// Returns an object of the headers of the last reply: each name once, with all its values.
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
    let mut json = Writer::default();
    json.object(|json| {
        for (name, values) in &merged {
            json.key(name).array(|json| values.iter().for_each(|value| json.text(value)));
            json.line();
        }
        json.line();
    });
    json.finish()
}
