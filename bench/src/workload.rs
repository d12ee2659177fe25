//! What is measured.

/// The sizes of the files.
pub const SMALL: usize = 1024;
pub const LARGE: usize = 335_114;
pub const HUGE: usize = 100_000_000;
/// What an upload sends.
pub const UPLOAD: usize = 50_000_000;

/// One thing to measure on each subject.
pub struct Workload {
    pub name: &'static str,
    pub kind: Kind,
    /// Requests, or starts, in a run.
    pub count: usize,
    /// Ours must use at most this share of the distribution's CPU, if a share is set.
    pub cpu_aim: Option<f64>,
}

pub enum Kind {
    /// GETs over one kept handle.
    Gets { secure: bool, size: usize },
    /// GETs of the small file, so many at once on one multi handle.
    Many { parallel: usize },
    /// GETs over TLS and HTTP/2, so many at once, each on a stream of one connection.
    Streams { parallel: usize, size: usize },
    /// PUTs over TLS, one after the other.
    Uploads { http2: bool },
    /// The tool, started with these arguments; FILE stands for a file of 1 KB.
    Starts(&'static [&'static str]),
}

impl Kind {
    /// What is done once, because each run takes long: fifty streams of the largest file are looked at for their memory.
    pub fn is_long(&self) -> bool {
        matches!(self, Kind::Streams { size: HUGE, .. })
    }

    /// The length of each reply's body, where that is known.
    pub fn received(&self) -> Option<usize> {
        match self {
            Kind::Gets { size, .. } | Kind::Streams { size, .. } => Some(*size),
            Kind::Many { .. } => Some(SMALL),
            Kind::Uploads { .. } | Kind::Starts(_) => None,
        }
    }
}

const fn streams(
    name: &'static str,
    parallel: usize,
    size: usize,
    count: usize,
    cpu_aim: Option<f64>,
) -> Workload {
    Workload { name, kind: Kind::Streams { parallel, size }, count, cpu_aim }
}

pub const WORKLOADS: [Workload; 16] = [
    Workload {
        name: "http-1k",
        kind: Kind::Gets { secure: false, size: SMALL },
        count: 10_000,
        cpu_aim: Some(0.45),
    },
    Workload {
        name: "http-335114",
        kind: Kind::Gets { secure: false, size: LARGE },
        count: 2_000,
        cpu_aim: Some(0.65),
    },
    Workload {
        name: "https-1k",
        kind: Kind::Gets { secure: true, size: SMALL },
        count: 5_000,
        cpu_aim: None,
    },
    Workload {
        name: "https-335114",
        kind: Kind::Gets { secure: true, size: LARGE },
        count: 1_000,
        cpu_aim: None,
    },
    Workload { name: "multi-1000-1k", kind: Kind::Many { parallel: 1000 }, count: 20_000, cpu_aim: None },
    streams("h2-1-1k", 1, SMALL, 5_000, None),
    streams("h2-10-1k", 10, SMALL, 10_000, None),
    streams("h2-100-1k", 100, SMALL, 20_000, Some(0.4)),
    streams("h2-1-335114", 1, LARGE, 1_000, None),
    streams("h2-10-335114", 10, LARGE, 1_000, None),
    streams("h2-100-335114", 100, LARGE, 2_000, Some(0.8)),
    streams("h2-50-100m", 50, HUGE, 50, None),
    Workload { name: "h1-upload-50m", kind: Kind::Uploads { http2: false }, count: 4, cpu_aim: None },
    Workload { name: "h2-upload-50m", kind: Kind::Uploads { http2: true }, count: 4, cpu_aim: None },
    Workload { name: "start-version", kind: Kind::Starts(&["-V"]), count: 100, cpu_aim: None },
    Workload { name: "start-file-1k", kind: Kind::Starts(&["-s", "FILE"]), count: 100, cpu_aim: None },
];
