//! The crate parquet reads a file over the connector: its footer, then the pages of the columns in question.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type as Int64;
use bytes::Bytes;
use futures_util::TryStreamExt;
use futures_util::future::BoxFuture;
use object_store::http::HttpStore;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::{AsyncFileReader, ParquetRecordBatchStreamBuilder};
use parquet::data_type::Int64Type;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use testkit::http::{HttpServer, Request, ranged};

use super::store;

const ROWS: i64 = 40_000;

/// Writes a file of four groups of rows: a number, its square, and a column that nobody reads.
fn file() -> Vec<u8> {
    let schema = "message m { required int64 number; required int64 square; required int64 unread; }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut writer =
        SerializedFileWriter::new(Vec::new(), schema, Arc::new(WriterProperties::new())).unwrap();
    for group in 0..4 {
        let numbers = || group * ROWS / 4..(group + 1) * ROWS / 4;
        let columns: [Vec<i64>; 3] = [
            numbers().collect(),
            numbers().map(|number| number * number).collect(),
            numbers().map(|number| number.wrapping_mul(6_364_136_223_846_793_005)).collect(),
        ];
        let mut rows = writer.next_row_group().unwrap();
        for values in columns {
            let mut column = rows.next_column().unwrap().unwrap();
            column.typed::<Int64Type>().write_batch(&values, None, None).unwrap();
            column.close().unwrap();
        }
        rows.close().unwrap();
    }
    writer.into_inner().unwrap()
}

/// Reads an object of a store for parquet.
struct Reader {
    store: HttpStore,
    place: Path,
}

impl AsyncFileReader for Reader {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, Result<Bytes>> {
        Box::pin(async move { self.store.get_range(&self.place, range).await.map_err(failure) })
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, Result<Vec<Bytes>>> {
        Box::pin(async move { self.store.get_ranges(&self.place, &ranges).await.map_err(failure) })
    }

    fn get_metadata<'a>(
        &'a mut self,
        options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, Result<Arc<ParquetMetaData>>> {
        Box::pin(async move {
            let length = self.store.head(&self.place).await.map_err(failure)?.size;
            let reader = ParquetMetaDataReader::new().with_arrow_reader_options(options);
            reader.load_and_finish(self, length).await.map(Arc::new)
        })
    }
}

fn failure(error: object_store::Error) -> ParquetError {
    ParquetError::External(error.into())
}

#[tokio::test]
async fn columns_are_read_by_ranges() {
    let file = file();
    let length = file.len();
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = sent.clone();
    let server = HttpServer::with(move |request: &Request| {
        let answer = ranged(request, file.clone()).with("ETag", "\"1\"");
        if request.method == "GET" {
            counter.fetch_add(answer.body.len(), Ordering::SeqCst);
        }
        Some(answer.with("Last-Modified", "Sun, 29 Nov 2026 10:00:00 GMT"))
    });
    let reader = Reader { store: store(server.url("/")), place: Path::from("squares.parquet") };
    let builder = ParquetRecordBatchStreamBuilder::new(reader).await.unwrap();
    let columns = ProjectionMask::columns(builder.parquet_schema(), ["number", "square"]);
    let batches: Vec<_> = builder.with_projection(columns).build().unwrap().try_collect().await.unwrap();
    let mut sums = [0_i64; 2];
    for batch in &batches {
        for (sum, column) in sums.iter_mut().zip(batch.columns()) {
            *sum += column.as_primitive::<Int64>().values().iter().sum::<i64>();
        }
    }
    assert_eq!(batches.iter().map(|batch| batch.num_rows() as i64).sum::<i64>(), ROWS);
    assert_eq!(sums, [ROWS * (ROWS - 1) / 2, (ROWS - 1) * ROWS * (2 * ROWS - 1) / 6]);
    let sent = sent.load(Ordering::SeqCst);
    assert!(sent < length, "{sent} bytes of a file of {length} were sent");
}
