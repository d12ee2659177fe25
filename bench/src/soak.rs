//! `make soak MINUTES=n`: a long run of the library in three modes (bench/programs/soak.c): ten thousand
//! connections that open and close in one multi handle, 64 threads on the process-wide pool, a million easy
//! handles. Memory, descriptors and latency over time are written to target/soak/WAY.tsv and WAY.svg; growth
//! after the warm-up is an error.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::process::{Command, Stdio};

use testkit::holding::Holding;

use crate::arguments::Arguments;
use crate::context::{program, target_directory};

/// The modes of the program, each with its count of connections, threads or handles.
const WAYS: [(&str, u32); 3] = [("churn", 10_000), ("pool", 64), ("handles", 1_000_000)];
/// Lines of figures in a run.
const LINES: f64 = 120.0;
/// The first part of a run, in which caches and arenas fill: growth there is allowed.
const WARM_UP: f64 = 0.4;
/// Growth of the highest figure from the middle of a run to its end that is no leak: allocators spread, and
/// counts of connections wander.
const MORE: f64 = 1.1;

/// A recorded figure, next to the time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Column {
    name: &'static str,
    /// May grow by so much in any case; none where it may do as it likes.
    slack: Option<f64>,
}

const COLUMNS: [Column; 6] = [
    // As many connections as come and go with each release take so much.
    Column { name: "resident KiB", slack: Some(24_576.0) },
    Column { name: "allocated KiB", slack: Some(24_576.0) },
    Column { name: "descriptors", slack: Some(64.0) },
    Column { name: "done", slack: None },
    Column { name: "median us", slack: None },
    Column { name: "99th percentile us", slack: None },
];

/// Seconds, then the columns.
type Line = Vec<f64>;

/// Runs the selected modes.
pub fn run(arguments: &Arguments) -> io::Result<()> {
    let library = arguments.ours.as_ref().ok_or(io::Error::other("soak wants --ours"))?;
    let seconds = arguments.minutes * 60.0;
    let folder = target_directory().join("soak");
    fs::create_dir_all(&folder)?;
    let program = program("soak")?;
    let mut faults = Vec::new();
    for (way, count) in WAYS.into_iter().filter(|(way, _)| arguments.wants(way)) {
        let server = Holding::plain()?;
        let mut command = Command::new(&program);
        command.args([way, &seconds.to_string(), &(seconds / LINES).to_string()]);
        command.args([&count.to_string(), &server.url("").replace("127.0.0.1", "%s")]);
        // Freed memory in thread caches counts as in use, and with 64 threads they need an hour to fill.
        command.env("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0").env("LD_LIBRARY_PATH", library);
        let lines = watch(&mut command)?;
        fs::write(folder.join(format!("{way}.tsv")), table(&lines))?;
        fs::write(folder.join(format!("{way}.svg")), picture(way, &lines))?;
        println!("{}", summary(way, &lines));
        faults.extend(grown(&lines).into_iter().map(|fault| format!("{way}: {fault}")));
    }
    if faults.is_empty() { Ok(()) } else { Err(io::Error::other(faults.join("\n"))) }
}

/// Reads the program's output while it runs.
fn watch(command: &mut Command) -> io::Result<Vec<Line>> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let pipe = BufReader::new(child.stdout.take().expect("it is piped"));
    let mut lines = Vec::new();
    for text in pipe.lines() {
        let text = text?;
        let line: Line = text.split('\t').filter_map(|word| word.parse().ok()).collect();
        if line.len() != COLUMNS.len() + 1 {
            return Err(io::Error::other(format!("{command:?} said {text}")));
        }
        lines.push(line);
    }
    let status = child.wait()?;
    if status.success() {
        Ok(lines)
    } else {
        Err(io::Error::other(format!("{command:?} ended with {status}")))
    }
}

/// Columns that are higher in the last third than ever in the middle, after the warm-up, by more than is
/// allowed.
fn grown(lines: &[Line]) -> Vec<String> {
    let Some(end) = lines.last().map(|line| line[0]).filter(|_| lines.len() >= 10) else {
        return vec![format!("{} lines are too few to tell anything", lines.len())];
    };
    let highest = |from: f64, to: f64, at: usize| {
        let part = lines.iter().filter(|line| line[0] >= from * end && line[0] <= to * end);
        part.map(|line| line[at]).fold(0.0, f64::max)
    };
    let mut faults = Vec::new();
    for (at, column) in COLUMNS.iter().enumerate() {
        let Some(slack) = column.slack else { continue };
        let (before, after) = (highest(WARM_UP, 0.7, at + 1), highest(0.7, 1.0, at + 1));
        if after > before * MORE + slack {
            faults.push(format!("{} grew from {before} to {after}", column.name));
        }
    }
    faults
}

fn summary(way: &str, lines: &[Line]) -> String {
    let Some(last) = lines.last() else { return format!("{way}: nothing was said") };
    let columns = COLUMNS.iter().zip(&last[1..]).map(|(column, value)| format!("{} {value}", column.name));
    format!("{way}, {:.0} s: {}", last[0], columns.collect::<Vec<_>>().join(", "))
}

fn table(lines: &[Line]) -> String {
    let names = COLUMNS.map(|column| column.name).join("\t");
    let mut text = format!("seconds\t{names}\n");
    for line in lines {
        let words: Vec<String> = line.iter().map(f64::to_string).collect();
        let _ = writeln!(text, "{}", words.join("\t"));
    }
    text
}

/// A curve for each column, one below the other, each from nought to its highest.
fn picture(way: &str, lines: &[Line]) -> String {
    const WIDTH: f64 = 640.0;
    const HEIGHT: f64 = 90.0;
    const LEFT: f64 = 150.0;
    let end = lines.last().map_or(1.0, |line| line[0]);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"10\" y=\"18\" font-size=\"14\">{way}, {end:.0} s</text>\n",
        WIDTH + LEFT + 20.0,
        30.0 + HEIGHT * COLUMNS.len() as f64
    );
    for (at, column) in COLUMNS.iter().enumerate() {
        let most = lines.iter().map(|line| line[at + 1]).fold(1.0, f64::max);
        let bottom = 20.0 + HEIGHT * (at + 1) as f64;
        let point = |line: &Line| {
            let (x, y) = (LEFT + line[0] / end * WIDTH, bottom - line[at + 1] / most * (HEIGHT - 15.0));
            format!("{x:.1},{y:.1}")
        };
        let points: Vec<String> = lines.iter().map(point).collect();
        let _ = write!(
            out,
            "<text x=\"10\" y=\"{0}\">{1}</text><text x=\"10\" y=\"{2}\">up to {most:.0}</text>\n\
             <line x1=\"{LEFT}\" y1=\"{bottom}\" x2=\"{3}\" y2=\"{bottom}\" stroke=\"#9aa5b1\"/>\n\
             <polyline points=\"{4}\" fill=\"none\" stroke=\"#1c7ed6\"/>\n",
            bottom - 30.0,
            column.name,
            bottom - 16.0,
            LEFT + WIDTH,
            points.join(" ")
        );
    }
    out + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines whose column `at` is `value` of the time, for a hundred seconds.
    fn lines(at: usize, value: fn(f64) -> f64) -> Vec<Line> {
        let line = |second: u32| {
            let mut line = vec![1000.0; COLUMNS.len() + 1];
            line[0] = second.into();
            line[at] = value(second.into());
            line
        };
        (1..=100).map(line).collect()
    }

    #[test]
    fn only_steady_growth_is_reported() {
        assert!(grown(&lines(1, |_| 90_000.0)).is_empty());
        assert!(grown(&lines(1, |s| 90_000.0 * s.min(35.0))).is_empty(), "a warm-up");
        assert!(grown(&lines(3, |s| if s % 9.0 < 1.0 { 10_000.0 } else { 9_000.0 })).is_empty(), "wandering");
        assert_eq!(grown(&lines(1, |s| 90_000.0 + s * 3_000.0)).len(), 1);
        assert_eq!(grown(&lines(3, |s| 12.0 + s * 10.0)).len(), 1);
        assert!(grown(&lines(4, |s| s * 1e6)).is_empty(), "more done is no fault");
        assert_eq!(grown(&lines(1, |_| 1.0)[..5]).len(), 1, "too few to tell");
    }
}
