//! Words that comments and names do without (CONTRIBUTING.md, "Text and names"): openings that do not name
//! their subject, dialect, and names that do not say what they stand for.

/// Openings of a doc comment that name no subject.
const OPENINGS: &[&str] =
    &["The same", "What", "Whose", "Who", "Whoever", "Whom", "Has it", "Has", "It is what"];

/// Words of a dialect; each has a standard term.
const DIALECT: &[&str] = &["told", "whoever", "heeds", "heed", "bears", "borne"];

/// Words that no name in code consists of or contains. They stand for an output, a reply, an event or a flag:
/// its own term says which.
const RIDDLES: &[&str] = &["told"];

/// Counts the comment lines of a Rust source that language rules refuse.
pub fn refused(text: &str) -> usize {
    let mut previous_is_doc = false;
    let mut count = 0;
    for line in text.lines() {
        let doc = doc_comment(line);
        let opens = doc.is_some_and(|comment| !previous_is_doc && opens_without_subject(comment));
        previous_is_doc = doc.is_some_and(|comment| !comment.is_empty());
        if opens || comment(line).is_some_and(has_dialect) {
            count += 1;
        }
    }
    count
}

fn doc_comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::trim)
}

fn comment(line: &str) -> Option<&str> {
    let start = line.trim_start();
    match start.starts_with("//") {
        true => Some(start),
        false => line.split_once(" // ").map(|(_, comment)| comment),
    }
}

fn opens_without_subject(comment: &str) -> bool {
    OPENINGS.iter().any(|opening| {
        comment.strip_prefix(opening).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
    })
}

fn has_dialect(comment: &str) -> bool {
    comment
        .split(|c: char| !c.is_alphanumeric() && c != '_' && c != '`')
        .any(|word| DIALECT.iter().any(|dialect| dialect.eq_ignore_ascii_case(word)))
}

/// Returns the refused word that is a part of a name in a line of code: of `snake_case`, `camelCase` and
/// `UPPER_CASE`.
pub fn refused_name(line: &str) -> Option<&'static str> {
    let is_part = |riddle: &str| {
        let words = line.split(|c: char| !c.is_ascii_alphanumeric());
        words.flat_map(camel_case_parts).any(|part| part.eq_ignore_ascii_case(riddle))
    };
    RIDDLES.iter().copied().find(|riddle| is_part(riddle))
}

fn camel_case_parts(word: &str) -> impl Iterator<Item = &str> {
    let begins = |at: usize| {
        at > 0 && word.as_bytes()[at - 1].is_ascii_lowercase() && word.as_bytes()[at].is_ascii_uppercase()
    };
    let starts = std::iter::once(0).chain((0..word.len()).filter(move |at| begins(*at)));
    let ends = (0..word.len()).filter(move |at| begins(*at)).chain(std::iter::once(word.len()));
    starts.zip(ends).map(|(start, end)| &word[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_count_at_the_beginning_of_a_doc_comment_alone() {
        assert_eq!(refused("/// The same without making it.\nfn a() {}\n"), 1);
        assert_eq!(refused("//! What comes of it.\n"), 1);
        assert_eq!(refused("/// Returns the jar,\n/// What follows is a second line.\n"), 0);
        assert_eq!(refused("// What a plain comment says is free.\n"), 0);
        assert_eq!(refused("/// Whatever is left.\n/// Hash of it.\n"), 0);
    }

    #[test]
    fn dialect_counts_in_every_comment() {
        assert_eq!(refused(&format!("let a = 1; // as it was {}\n", DIALECT[0])), 1);
        assert_eq!(refused("// heeds the limit\n/// `told` is a name, and untold is no match\n"), 1);
        assert_eq!(refused("let told = 1;\n"), 0);
    }

    #[test]
    fn a_riddle_is_no_part_of_a_name() {
        for line in
            ["let told = 1;", "trailers_told: usize,", "const TOLD: u8", "fn isTold()", "$told", "/* told */"]
        {
            assert_eq!(refused_name(line), Some("told"), "{line}");
        }
        for line in ["untold", "toldo", "let a = b;", "fn retolds()", ""] {
            assert_eq!(refused_name(line), None, "{line}");
        }
    }
}
