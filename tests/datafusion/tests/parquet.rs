//! DataFusion answers a query on a Parquet file of an HTTP server: it reads the footer, and then the columns
//! and groups of rows in question.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use object_store::ClientOptions;
use object_store::http::HttpBuilder;
use testkit::http::{HttpServer, Request, Response, ranged};
use testkit::temp::TempDir;
use url::Url;
use warmwire_object_store::WarmwireConnector;

/// Lets DataFusion write a file of numbers, their squares and a column of texts, in several groups of rows.
async fn file() -> Vec<u8> {
    let directory = TempDir::new("datafusion").unwrap();
    let path = directory.path().join("squares.parquet");
    let command = format!(
        "COPY (SELECT value AS number, value * value AS square, 'row ' || value AS text \
         FROM range(1000000)) TO '{}' STORED AS PARQUET OPTIONS (max_row_group_size 100000)",
        path.display()
    );
    SessionContext::new().sql(&command).await.unwrap().collect().await.unwrap();
    std::fs::read(path).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_reads_the_ranges_that_it_needs() {
    let file = file().await;
    let (length, sent) = (file.len(), Arc::new(AtomicUsize::new(0)));
    let counter = sent.clone();
    let server = HttpServer::with(move |request: &Request| {
        let answer = match request.path() {
            "/squares.parquet" => ranged(request, file.clone()),
            _ => Response::status(404),
        };
        if request.method == "GET" {
            counter.fetch_add(answer.body.len(), Ordering::SeqCst);
        }
        Some(answer.with("ETag", "\"1\"").with("Last-Modified", "Sun, 29 Nov 2026 10:00:00 GMT"))
    });
    let root = Url::parse(&server.url("/")).unwrap();
    let store = HttpBuilder::new()
        .with_url(root.as_str())
        .with_client_options(ClientOptions::new().with_allow_http(true))
        .with_http_connector(WarmwireConnector::new())
        .build()
        .unwrap();
    let context = SessionContext::new();
    context.register_object_store(&root, Arc::new(store));
    let options = ParquetReadOptions::default();
    context.register_parquet("squares", server.url("/squares.parquet"), options).await.unwrap();
    let query = "SELECT count(*) AS rows, sum(square) AS sum FROM squares WHERE number >= 900000";
    let batches = context.sql(query).await.unwrap().collect().await.unwrap();
    let sum = (900_000_i64..1_000_000).map(|number| number * number).sum::<i64>();
    let table = pretty_format_batches(&batches).unwrap().to_string();
    assert!(table.contains(&format!("| 100000 | {sum} |")), "{table}");
    let sent = sent.load(Ordering::SeqCst);
    assert!((1..length / 2).contains(&sent), "{sent} bytes of a file of {length} were sent");
}
