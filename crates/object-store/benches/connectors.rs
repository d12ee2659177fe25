//! object_store over its own connector and over `WarmwireConnector`, in turn, against nginx: `cargo bench
//! --manifest-path crates/object-store/Cargo.toml`. Prints a table; processor time is that of this process.

extern crate object_store_0_14 as object_store;

use std::sync::Arc;
use std::time::Instant;

use futures_util::{StreamExt, stream};
use object_store::client::{HttpConnector, ReqwestConnector};
use object_store::http::{HttpBuilder, HttpStore};
use object_store::path::Path;
use object_store::{ClientOptions, ObjectStoreExt};
use testkit::certs::Authority;
use testkit::launch::Nginx;
use warmwire_object_store::WarmwireConnector;

const SMALL: usize = 1024;
const LARGE: usize = 10 << 20;
const RANGE: u64 = 8192;

/// One kind of reads: how many, and how many at a time.
struct Row {
    name: &'static str,
    count: usize,
    at_a_time: usize,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Small,
    Large,
    Range,
}

const ROWS: [Row; 3] = [
    Row { name: "GETs of 1 KB, 64 at a time", count: 20_000, at_a_time: 64, kind: Kind::Small },
    Row { name: "ranges of 8 KB, 64 at a time", count: 20_000, at_a_time: 64, kind: Kind::Range },
    Row { name: "files of 10 MB, 8 at a time", count: 128, at_a_time: 8, kind: Kind::Large },
];

fn store(url: String, connector: impl HttpConnector) -> HttpStore {
    let options = ClientOptions::new().with_allow_http(true);
    let builder = HttpBuilder::new().with_url(url).with_client_options(options);
    builder.with_http_connector(connector).build().expect("these options are honoured")
}

/// Reads one object or a part of it, and returns the number of bytes.
async fn read(store: &HttpStore, kind: Kind, number: usize) -> object_store::Result<usize> {
    let large = Path::from(format!("bytes-{LARGE}"));
    let start = (number as u64 * 77_777) % (LARGE as u64 - RANGE);
    match kind {
        Kind::Small => store.get(&Path::from(format!("bytes-{SMALL}"))).await?.bytes().await.map(|b| b.len()),
        Kind::Range => store.get_range(&large, start..start + RANGE).await.map(|bytes| bytes.len()),
        Kind::Large => {
            let mut pieces = store.get(&large).await?.into_stream();
            let mut length = 0;
            while let Some(piece) = pieces.next().await {
                length += piece?.len();
            }
            Ok(length)
        }
    }
}

/// Returns the processor time of all threads (proc_pid_stat(5): fields 14 and 15, in hundredths).
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux has this file");
    let (_, behind_name) = stat.rsplit_once(')').expect("the name is in brackets");
    let fields = behind_name.split_whitespace().skip(11).take(2);
    fields.map(|field| field.parse::<f64>().expect("a number of ticks") / 100.0).sum()
}

/// Runs a row, and returns reads in a second and in a second of processor time.
async fn measure(store: Arc<HttpStore>, row: &Row) -> [f64; 2] {
    let (began, cpu_began) = (Instant::now(), cpu_seconds());
    let reads = stream::iter(0..row.count).map(|number| {
        let (store, kind) = (store.clone(), row.kind);
        async move { tokio::spawn(async move { read(&store, kind, number).await }).await }
    });
    let mut lengths = reads.buffer_unordered(row.at_a_time);
    while let Some(length) = lengths.next().await {
        let length = length.expect("no read panics").expect("nginx serves the file");
        assert_eq!(length, [SMALL, LARGE, RANGE as usize][row.kind as usize], "{}", row.name);
    }
    [began.elapsed().as_secs_f64(), cpu_seconds() - cpu_began].map(|seconds| row.count as f64 / seconds)
}

fn main() {
    let _ = rustls::crypto::ring::default_provider().install_default(); // reqwest asks for one
    let nginx = Nginx::start(&Authority::new().good(), &[SMALL, LARGE]).expect("nginx is installed");
    let stores = [
        ("reqwest", store(nginx.http("/"), ReqwestConnector::default())),
        ("warmwire", store(nginx.http("/"), WarmwireConnector::new())),
    ];
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("threads can be started");
    let stores = stores.map(|(name, store)| (name, Arc::new(store)));
    println!("| | connector | a second | a CPU second |\n|---|---|---:|---:|");
    for row in &ROWS {
        for (name, store) in &stores {
            let [per_second, per_cpu] = runtime.block_on(measure(store.clone(), row));
            println!("| {} | {name} | {per_second:.0} | {per_cpu:.0} |", row.name);
        }
    }
}
