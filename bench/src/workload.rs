//! What is measured.

/// The sizes of the two files.
pub const SMALL: usize = 1024;
pub const LARGE: usize = 335_114;

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
    /// The tool, started with these arguments; FILE stands for a file of 1 KB.
    Starts(&'static [&'static str]),
}

pub const WORKLOADS: [Workload; 7] = [
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
    Workload { name: "start-version", kind: Kind::Starts(&["-V"]), count: 100, cpu_aim: None },
    Workload { name: "start-file-1k", kind: Kind::Starts(&["-s", "FILE"]), count: 100, cpu_aim: None },
];
