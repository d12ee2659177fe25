//! The table and the JSON file. The table's ratio is the median of the ratios of runs beside each other.

use crate::run::{BARE, OURS, Row};

pub fn table(rows: &[Row]) {
    println!(
        "{:<14} {:<13} {:>10} {:>10} {:>9} {:>9} {:>22}",
        "", "", "CPU µs", "wall µs", "syscalls", "peak KB", "CPU, distribution = 1"
    );
    for row in rows {
        let ratio = row.ratio;
        let peak = row.peak_kb.map(|kb| format!("{kb:.0}")).unwrap_or_default();
        let aim = match row.workload.cpu_aim {
            Some(aim) if row.subject == OURS => format!("{ratio:.2} (aim {aim})"),
            _ => format!("{ratio:.2}"),
        };
        println!(
            "{:<14} {:<13} {:>10.1} {:>10.1} {:>9.1} {:>9} {:>22}",
            row.workload.name, row.subject, row.cpu_us, row.wall_us, row.syscalls, peak, aim
        );
    }
}

/// The rows, and what a pool costs by the number of its idle connections.
pub fn json(rows: &[Row], pools: &[(usize, f64)]) -> String {
    let lines = rows.iter().filter(|row| row.subject != BARE).map(|row| {
        let peak = row.peak_kb.map(|kb| format!(", \"peak_kb\": {kb:.0}")).unwrap_or_default();
        format!(
            "  {{\"workload\": \"{}\", \"subject\": \"{}\", \"cpu_us_per_request\": {:.3}, \
             \"wall_us_per_request\": {:.3}, \"syscalls_per_request\": {:.3}{}}}",
            row.workload.name, row.subject, row.cpu_us, row.wall_us, row.syscalls, peak
        )
    });
    let pools = pools.iter().map(|(idle, us)| {
        format!(
            "  {{\"workload\": \"pool_{idle}_idle\", \"subject\": \"ours\", \"cpu_us_per_request\": {us:.3}}}"
        )
    });
    format!("[\n{}\n]\n", lines.chain(pools).collect::<Vec<_>>().join(",\n"))
}
