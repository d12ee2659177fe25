//! Shows how two texts differ, line by line, with the bytes that one cannot see made visible.

const CONTEXT: usize = 3;
const LONGEST: usize = 200;
const MOST_LINES: usize = 60;

/// The lines that differ, `-` wanted and `+` got, with a little around them.
pub fn show(wanted: &[u8], got: &[u8]) -> String {
    let (wanted, got) = (lines(wanted), lines(got));
    let head = wanted.iter().zip(&got).take_while(|(a, b)| a == b).count();
    let most = wanted.len().min(got.len()) - head;
    let tail = wanted.iter().rev().zip(got.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
    let mut out = vec![];
    let start = head.saturating_sub(CONTEXT);
    if start > 0 {
        out.push(format!("      … {start} lines alike"));
    }
    out.extend(wanted[start..head].iter().map(|l| format!("      {l}")));
    out.extend(wanted[head..wanted.len() - tail].iter().map(|l| format!("    - {l}")));
    out.extend(got[head..got.len() - tail].iter().map(|l| format!("    + {l}")));
    let after = &wanted[wanted.len() - tail..];
    out.extend(after.iter().take(CONTEXT).map(|l| format!("      {l}")));
    if after.len() > CONTEXT {
        out.push(format!("      … {} lines alike", after.len() - CONTEXT));
    }
    if out.len() > MOST_LINES {
        let more = out.len() - MOST_LINES;
        out.truncate(MOST_LINES);
        out.push(format!("      … {more} more"));
    }
    out.join("\n") + "\n"
}

fn lines(text: &[u8]) -> Vec<String> {
    text.split_inclusive(|&b| b == b'\n')
        .map(|line| {
            let open = if line.ends_with(b"\n") { "" } else { " (no newline)" };
            let mut shown = line.strip_suffix(b"\n").unwrap_or(line).escape_ascii().to_string();
            if shown.len() > LONGEST {
                let total = shown.len();
                shown.truncate(LONGEST);
                shown.push_str(&format!("… ({total})"));
            }
            shown + open
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_marked() {
        let shown = show(b"a\nb\nc\n", b"a\nx\r\nc\n");
        assert_eq!(shown, "      a\n    - b\n    + x\\r\n      c\n");
        assert!(show(b"a\n", b"a").contains("+ a"));
        assert!(show(b"", b"new\n").contains("+ new"));
    }
}
