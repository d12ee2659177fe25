//! Sentences about options and infos: docs/guide/facts has a line `NAME: sentence` for each row of a table.
//!
//! They stand beside the tables and not in them: the library does not need them, and a changed sentence
//! compiles nothing.

use crate::files;
use std::collections::BTreeMap;

/// The sentences of one table, by name.
pub struct Facts(BTreeMap<String, String>);

impl Facts {
    /// Reads a file of docs/guide/facts. Fails unless it has a line for each of these names, and no other.
    pub fn read(file: &str, names: impl Iterator<Item = &'static str>) -> Result<Facts, String> {
        parse(&files::text(&format!("docs/guide/facts/{file}")), names)
            .map_err(|faults| format!("docs/guide/facts/{file}:\n{faults}"))
    }

    /// Returns the sentence about a name of the table.
    pub fn of(&self, name: &str) -> &str {
        &self.0[name]
    }
}

fn parse(text: &str, names: impl Iterator<Item = &'static str>) -> Result<Facts, String> {
    let mut found = BTreeMap::new();
    let mut faults = Vec::new();
    for line in text.lines() {
        let Some((name, sentence)) = line.split_once(": ") else {
            faults.push(format!("not `NAME: sentence`: {line}"));
            continue;
        };
        if !sentence.ends_with('.') || sentence.len() < 20 {
            faults.push(format!("{name}: not a sentence"));
        }
        if found.insert(name.to_owned(), sentence.to_owned()).is_some() {
            faults.push(format!("{name}: two sentences"));
        }
    }
    let names: Vec<&str> = names.collect();
    let missing = names.iter().filter(|name| !found.contains_key(**name));
    faults.extend(missing.map(|name| format!("{name}: no sentence")));
    let unknown = found.keys().filter(|name| !names.contains(&name.as_str()));
    faults.extend(unknown.map(|name| format!("{name}: no such row")));
    if faults.is_empty() { Ok(Facts(found)) } else { Err(faults.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_needs_one_sentence() {
        let fault = |text: &str| parse(text, ["A", "B"].into_iter()).err().unwrap_or_default();
        let (a, b) = ("A: Sets the value of the option.\n", "B: Sets another value of it.\n");
        assert_eq!(fault(&format!("{a}{b}")), "");
        assert_eq!(fault(a), "B: no sentence");
        assert_eq!(fault(&format!("{a}{b}{b}")), "B: two sentences");
        assert_eq!(fault(&format!("{a}{b}C: Sets what no row contains.\n")), "C: no such row");
        assert_eq!(fault(&format!("{a}B: later.\n")), "B: not a sentence");
        assert_eq!(fault(&format!("{a}{b}word\n")), "not `NAME: sentence`: word");
    }
}
