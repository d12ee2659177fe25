//! The table and the JSON file. The table's ratio is the median of the ratios of runs beside each other.

use crate::run::{BARE, OURS, Row};

pub fn table(rows: &[Row]) {
    println!(
        "{:<14} {:<13} {:>10} {:>10} {:>9} {:>22}",
        "", "", "CPU µs", "wall µs", "syscalls", "CPU, distribution = 1"
    );
    for row in rows {
        let ratio = row.ratio;
        let aim = match row.workload.cpu_aim {
            Some(aim) if row.subject == OURS => format!("{ratio:.2} (aim {aim})"),
            _ => format!("{ratio:.2}"),
        };
        println!(
            "{:<14} {:<13} {:>10.1} {:>10.1} {:>9.1} {:>22}",
            row.workload.name, row.subject, row.cpu_us, row.wall_us, row.syscalls, aim
        );
    }
}

pub fn json(rows: &[Row]) -> String {
    let lines = rows.iter().filter(|row| row.subject != BARE).map(|row| {
        format!(
            "  {{\"workload\": \"{}\", \"subject\": \"{}\", \"cpu_us_per_request\": {:.3}, \
             \"wall_us_per_request\": {:.3}, \"syscalls_per_request\": {:.3}}}",
            row.workload.name, row.subject, row.cpu_us, row.wall_us, row.syscalls
        )
    });
    format!("[\n{}\n]\n", lines.collect::<Vec<_>>().join(",\n"))
}
