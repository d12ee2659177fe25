//! Small files by FTP over a link that delays each packet: from one server, and from 60 at a time. The
//! servers are vsftpd, which needs root, each a separate process.

use std::io;
use std::path::Path;
use std::time::Duration;

use testkit::launch::Vsftpd;

use super::link::{Link, SERVER, inside};
use crate::context::{Bench, Subject, output};
use crate::measure::{Case, FAILED, Quantity, Turns};

/// Bytes of the file.
const SIZE: usize = 2048;
const PARALLEL: usize = 60;
/// Files from one server, and from each of many: in total no more connections than the kernel has ports,
/// which it reuses after a minute.
const FILES: [usize; 2] = [60, 10];
const ROUND_TRIPS_MS: [u64; 3] = [0, 10, 20];
const MIDDLE: Quantity = Quantity { name: "median of a file", unit: "ms" };
const LATE: Quantity = Quantity { name: "99th percentile", unit: "ms" };

/// How a program uses the library.
struct Mode {
    name: &'static str,
    /// A handle for each file, or one kept.
    how: &'static str,
    /// warmwire_ftp_pipeline(), "-" for a program that does not know of it.
    level: &'static str,
    process_pool: bool,
}

const KEPT: Mode = Mode { name: "kept handle", how: "kept", level: "-", process_pool: false };
/// The modes of every libcurl.
const COMMON: [Mode; 2] =
    [KEPT, Mode { name: "a handle each", how: "naive", level: "-", process_pool: false }];
/// The modes of our library only.
const OWN: [Mode; 4] = [
    Mode { name: "a handle each, process pool", how: "naive", level: "-", process_pool: true },
    Mode { name: "kept, waiting as curl", how: "kept", level: "0", process_pool: false },
    Mode { name: "kept, pipelined", how: "kept", level: "2", process_pool: false },
    Mode { name: "kept, pipelined in turn", how: "kept", level: "3", process_pool: false },
];

pub fn measure(bench: &Bench) -> io::Result<Vec<Case>> {
    let program = bench.program("ftp")?;
    let mut cases = Vec::new();
    for round_trip_ms in ROUND_TRIPS_MS {
        let link = Link::of(bench.directory().path(), Duration::from_millis(round_trip_ms))?;
        let address = SERVER.parse().map_err(io::Error::other)?;
        let start = |_| Vsftpd::start_inside(&link.far, address, &[SIZE]);
        let servers: Vec<Vsftpd> = (0..PARALLEL).map(start).collect::<io::Result<_>>()?;
        let urls: Vec<String> = servers.iter().map(|server| server.url(&format!("/bytes-{SIZE}"))).collect();
        for count in [1, PARALLEL] {
            let name = format!("{round_trip_ms} ms, servers: {count}");
            let runners = runners(bench);
            let names: Vec<String> =
                runners.iter().map(|(subject, mode)| format!("{}, {}", subject.name, mode.name)).collect();
            cases.push(Case::in_turns(name, Turns::ONCE, &names, &[MIDDLE, LATE, FAILED], |at| {
                let (subject, mode) = runners[at];
                times(bench, subject, (&link, &program), mode, &urls[..count])
            })?);
        }
    }
    Ok(cases)
}

fn runners(bench: &Bench) -> Vec<(&Subject, &'static Mode)> {
    let modes = |subject: &Subject| COMMON.iter().chain(if subject.ours { &OWN[..] } else { &[] });
    let libraries = bench.subjects.iter().filter(|subject| subject.has_library());
    libraries.flat_map(|subject| modes(subject).map(move |mode| (subject, mode))).collect()
}

fn times(
    bench: &Bench,
    subject: &Subject,
    (link, program): (&Link, &Path),
    mode: &Mode,
    urls: &[String],
) -> io::Result<Vec<f64>> {
    let mut command = inside(&link.near, program);
    bench.prepare(&mut command, Some(subject));
    let files = bench.count(FILES[usize::from(urls.len() > 1)]);
    command.args([mode.how, mode.level, &files.to_string(), &SIZE.to_string()]).args(urls);
    if mode.process_pool {
        command.env("WARMWIRE_POOL", "process");
    }
    let mut times: Vec<f64> = output(&mut command)?.lines().filter_map(|line| line.parse().ok()).collect();
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times.get((times.len() as f64 * share) as usize).copied().unwrap_or(f64::NAN);
    Ok(vec![at(0.5), at(0.99), (urls.len() * files - times.len()) as f64])
}
