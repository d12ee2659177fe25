//! results.json: a list of {row, case, subject, quantity, unit, median, least, most, ratio, runs}.

use super::ratio;
use crate::measure::{Case, Figure};
use crate::rows::Outcome;

pub fn text(outcomes: &[Outcome]) -> String {
    let mut rows = Vec::new();
    for outcome in outcomes {
        for case in outcome.cases.iter().flatten() {
            for line in &case.lines {
                rows.extend(line.figures.iter().map(|f| object(outcome.row.name, case, &line.subject, f)));
            }
        }
    }
    format!("[\n{}\n]\n", rows.join(",\n"))
}

fn object(row: &str, case: &Case, subject: &str, figure: &Figure) -> String {
    let number = |value: f64| if value.is_finite() { format!("{value:.4}") } else { "null".to_owned() };
    let runs: Vec<String> = figure.runs.iter().map(|value| number(*value)).collect();
    format!(
        "  {{\"row\": {}, \"case\": {}, \"subject\": {}, \"quantity\": {}, \"unit\": {}, \"median\": {}, \
         \"least\": {}, \"most\": {}, \"ratio\": {}, \"runs\": [{}]}}",
        quoted(row),
        quoted(&case.name),
        quoted(subject),
        quoted(figure.quantity.name),
        quoted(figure.quantity.unit),
        number(figure.median()),
        number(figure.least()),
        number(figure.most()),
        number(ratio(case, figure).unwrap_or(f64::NAN)),
        runs.join(", ")
    )
}

fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\u{:04x}", c as u32),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(quoted("a \"b\" \\ \n µs"), "\"a \\\"b\\\" \\\\ \\u000a µs\"");
    }
}
