//! DataFusion reads Parquet files on an HTTP server through `WarmwireConnector` (tests/parquet.rs).
