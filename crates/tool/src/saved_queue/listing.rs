//! `--queue-list` and `--queue-remove`.

use super::journal::{Journal, added, look};
use super::record::{Added, Id, Record};
use super::state::{EntryState, State, Status};
use crate::message::shown;
use crate::raw::json::Writer;
use crate::request::SummaryFormat;
use crate::system::path;
use crate::text::harmless;
use crate::url::without_login;
use std::fs::File;
use std::io::{self, Write};

/// Writes the entries of a queue, as lines of a table or of JSON. Another process may work on it meanwhile.
pub fn list(name: &[u8], format: SummaryFormat, out: &mut impl Write) -> Result<(), String> {
    let (state, file) = look(path(name))?;
    let written = match format {
        SummaryFormat::Json => {
            each(&state, &file, |id, entry, added| writeln!(out, "{}", json(id, entry, added)))
        }
        SummaryFormat::Table => {
            let head = writeln!(out, "{:>6} {:<11} {:>5}  URL", "entry", "state", "tries");
            let rows = each(&state, &file, |id, entry, added| writeln!(out, "{}", row(id, entry, added)));
            let total = rows.map(|rows| rows.and_then(|()| writeln!(out, "{}", totals(&state))));
            total.map(|total| head.and(total))
        }
    };
    // A reader that has seen enough is no error.
    written.map(|_: io::Result<()>| ())
}

/// Calls a function for each entry, until it fails.
fn each(
    state: &State,
    file: &File,
    mut show: impl FnMut(Id, &EntryState, &Added) -> io::Result<()>,
) -> Result<io::Result<()>, String> {
    for (id, entry) in &state.entries {
        if let Err(error) = show(*id, entry, &added(file, entry.place)?) {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}

fn row(id: Id, entry: &EntryState, added: &Added) -> String {
    let status = match entry.status {
        Status::Failed(code) => format!("failed ({code})"),
        other => other.name().to_owned(),
    };
    harmless(&format!("{id:>6} {status:<11} {:>5}  {}", entry.tries, url(added)))
}

fn totals(state: &State) -> String {
    let count = |name: &str| state.entries.values().filter(|entry| entry.status.name() == name).count();
    let counts = ["done", "failed", "running", "waiting"].map(|name| format!("{} {name}", count(name)));
    counts.join(", ")
}

fn json(id: Id, entry: &EntryState, added: &Added) -> String {
    let mut json = Writer::default();
    json.object(|json| {
        json.key("entry").number(id);
        json.key("state").text(entry.status.name());
        if let Status::Failed(code) = entry.status {
            json.key("exitcode").number(code);
        }
        json.key("tries").number(entry.tries);
        json.key("url").text(url(added));
        if let Some(part) = &entry.part {
            json.key("file").text(shown(&part.name));
        }
    });
    json.into_string()
}

/// Returns the URL without user and password.
fn url(added: &Added) -> String {
    shown(&without_login(&added.urls[0]))
}

/// Removes entries: numbers with commas between them, or all in a state. Returns how many.
pub fn remove(name: &[u8], which: &[u8]) -> Result<usize, String> {
    let folder = std::env::current_dir().map_err(|error| error.to_string())?;
    let mut journal = Journal::open(&folder.join(path(name)))?;
    let chosen = chosen(&journal.state, which)?;
    chosen.iter().for_each(|id| journal.push(Record::Removed(*id)));
    journal.write()?;
    journal.compact()?;
    Ok(chosen.len())
}

/// Returns the entries that a text means.
fn chosen(state: &State, which: &[u8]) -> Result<Vec<Id>, String> {
    let in_state = |name: &str| {
        let entries = state.entries.iter();
        let found = entries.filter(|(_, entry)| name == "all" || entry.status.name() == name);
        found.map(|(id, _)| *id).collect()
    };
    let text = shown(which);
    if ["all", "done", "failed", "waiting", "running"].contains(&&*text) {
        return Ok(in_state(&text));
    }
    let mut chosen: Vec<Id> = Vec::new();
    for word in text.split(',') {
        let id = word.trim().parse().ok().filter(|id| state.entries.contains_key(id));
        chosen.push(id.ok_or_else(|| format!("has no entry {}", word.trim()))?);
    }
    chosen.sort_unstable();
    chosen.dedup();
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::super::state::Place;
    use super::*;
    use crate::bytes::Bytes;

    fn state() -> State {
        let mut state = State::default();
        let setup = Record::Setup { id: 1, folder: Bytes::new(), options: Vec::new() };
        let added = |id| {
            Record::Added(Added {
                id,
                setup: 1,
                key: id,
                urls: vec![b"http://u:p@h/".into()],
                options: Vec::new(),
            })
        };
        for record in [setup, added(2), added(3), added(4), Record::Done(2), Record::Failed(3, 22)] {
            state.apply(record, Place::default()).unwrap();
        }
        state
    }

    #[test]
    fn entries_are_chosen_by_number_or_state() {
        for (which, ids) in [
            ("2", Some(vec![2])),
            ("4, 2,2", Some(vec![2, 4])),
            ("done", Some(vec![2])),
            ("failed", Some(vec![3])),
            ("waiting", Some(vec![4])),
            ("running", Some(vec![])),
            ("all", Some(vec![2, 3, 4])),
            ("5", None),
            ("2,x", None),
            ("", None),
        ] {
            assert_eq!(chosen(&state(), which.as_bytes()).ok(), ids, "{which}");
        }
    }

    #[test]
    fn lines_of_a_list() {
        let state = state();
        let added =
            Added { id: 3, setup: 1, key: 3, urls: vec![b"http://u:p@h/\x1b".into()], options: Vec::new() };
        assert_eq!(
            json(3, &state.entries[&3], &Added { urls: vec![b"http://u:p@h/a".into()], ..added.clone() }),
            r#"{"entry":3,"state":"failed","exitcode":22,"tries":0,"url":"http://h/a"}"#
        );
        let line = row(3, &state.entries[&3], &added);
        assert!(
            line.starts_with("     3 failed (22)     0  ") && !line.contains("u:p") && !line.contains('\x1b')
        );
        assert_eq!(totals(&state), "1 done, 1 failed, 0 running, 1 waiting");
    }
}
