//! The table and the JSON file.

use crate::run::Row;

pub fn table(rows: &[Row]) {
    println!(
        "{:<14} {:<13} {:>10} {:>10} {:>9} {:>22}",
        "", "", "CPU µs", "wall µs", "syscalls", "CPU, distribution = 1"
    );
    for row in rows {
        let base = rows
            .iter()
            .find(|other| other.workload.name == row.workload.name && other.subject == "distribution");
        let ratio = base.map_or(f64::NAN, |base| row.cpu_us / base.cpu_us);
        let aim = match row.workload.cpu_aim {
            Some(aim) if row.subject == "ours" => format!("{ratio:.2} (aim {aim})"),
            _ => format!("{ratio:.2}"),
        };
        println!(
            "{:<14} {:<13} {:>10.1} {:>10.1} {:>9.1} {:>22}",
            row.workload.name, row.subject, row.cpu_us, row.wall_us, row.syscalls, aim
        );
    }
}

pub fn json(rows: &[Row]) -> String {
    let lines = rows.iter().map(|row| {
        format!(
            "  {{\"workload\": \"{}\", \"subject\": \"{}\", \"cpu_us_per_request\": {:.3}, \
             \"wall_us_per_request\": {:.3}, \"syscalls_per_request\": {:.3}}}",
            row.workload.name, row.subject, row.cpu_us, row.wall_us, row.syscalls
        )
    });
    format!("[\n{}\n]\n", lines.collect::<Vec<_>>().join(",\n"))
}
