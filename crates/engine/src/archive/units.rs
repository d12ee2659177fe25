//! Counts, times and sizes as people read them.

use std::time::Duration;

pub fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

pub fn time(time: Duration) -> String {
    let millis = time.as_secs_f64() * 1000.0;
    match millis {
        0.0 => "0".to_string(),
        ..10.0 => format!("{} ms", (millis * 100.0).round() / 100.0),
        ..1000.0 => format!("{} ms", (millis * 10.0).round() / 10.0),
        _ => format!("{} s", (millis / 10.0).round() / 100.0),
    }
}

pub fn size(bytes: i64) -> String {
    const UNITS: [&str; 5] = ["B", "KB", "MB", "GB", "TB"];
    let mut value = bytes.max(0) as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let value = if unit == 0 || value >= 100.0 { value.round() } else { (value * 10.0).round() / 10.0 };
    format!("{value} {}", UNITS[unit])
}
