//! The cases that may differ, with the reason: a number, `words` where only the text on stderr differs, and
//! why.

use std::collections::BTreeMap;
use std::path::Path;

use super::case::Difference;

#[derive(Default)]
pub struct List {
    rows: BTreeMap<usize, Row>,
}

struct Row {
    words_alone: bool,
}

impl List {
    pub fn read(path: &Path) -> Result<List, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        List::parse(&text)
    }

    fn parse(text: &str) -> Result<List, String> {
        let mut rows = BTreeMap::new();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (number, reason) = line.split_once(' ').ok_or_else(|| format!("no reason: {line}"))?;
            let number = number.parse().map_err(|_| format!("no number: {line}"))?;
            rows.insert(number, Row { words_alone: reason.starts_with("words: ") });
        }
        Ok(List { rows })
    }

    /// Returns a complaint if the list is wrong about the case.
    pub fn complaint(&self, number: usize, difference: &Difference, verbose: bool) -> Option<String> {
        let texts = [&difference.acts, &difference.words];
        let differences: String = texts.into_iter().flatten().cloned().collect();
        match self.rows.get(&number) {
            None => (!differences.is_empty()).then_some(differences),
            Some(_) if differences.is_empty() => Some("    listed, and does as curl\n".into()),
            Some(row) if row.words_alone && difference.acts.is_some() => Some(differences),
            Some(_) if verbose => {
                println!("{number}: listed\n{differences}");
                None
            }
            Some(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints() {
        let list = List::parse("# why\n1 words: others\n2 better\n").unwrap();
        let acts = || Difference { acts: Some("a".into()), words: None };
        let words = || Difference { acts: None, words: Some("w".into()) };
        let complains = |number, difference: Difference| list.complaint(number, &difference, false).is_some();
        assert!(complains(1, acts()) && complains(1, Difference::default()) && !complains(1, words()));
        assert!(!complains(2, acts()) && !complains(2, words()) && complains(2, Difference::default()));
        assert!(complains(3, acts()) && complains(3, words()) && !complains(3, Difference::default()));
        assert!(List::parse("1\n").is_err() && List::parse("x because\n").is_err());
    }
}
