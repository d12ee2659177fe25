//! object_store's own tests of S3 stores (its feature `integration`) on moto, by its connector and by ours.
//! `copy_if_not_exists` and `copy_rename_nonexistent_object` are not among them: moto copies over an object
//! in any case, and answers a copy of a missing one by another error than S3.

use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::client::{HttpConnector, ReqwestConnector};
use object_store::integration as suite;
use testkit::launch::Moto;
use warmwire_object_store::WarmwireConnector;

/// Creates a bucket, and returns a store on it.
async fn bucket(moto: &Moto, name: &str, connector: impl HttpConnector) -> AmazonS3 {
    let client = warmwire::Client::new();
    let created = client.put(format!("{}/{name}", moto.url())).send().await.unwrap();
    assert_eq!(created.status(), 200);
    AmazonS3Builder::new()
        .with_endpoint(moto.url())
        .with_allow_http(true)
        .with_bucket_name(name)
        .with_access_key_id("key")
        .with_secret_access_key("secret")
        .with_http_connector(connector)
        .build()
        .unwrap()
}

/// Runs each test on a bucket of its own.
async fn run<C: HttpConnector>(moto: &Moto, who: &str, connector: impl Fn() -> C) {
    let fresh = async |test: &str| {
        println!("{test}");
        bucket(moto, &format!("{who}-{test}"), connector()).await
    };
    suite::put_get_delete_list(&fresh("put-get-delete-list").await).await;
    suite::put_get_attributes(&fresh("put-get-attributes").await).await;
    suite::get_opts(&fresh("get-opts").await).await;
    suite::put_opts(&fresh("put-opts").await, true).await;
    suite::stream_get(&fresh("stream-get").await).await;
    suite::list_uses_directories_correctly(&fresh("list-uses-directories-correctly").await).await;
    suite::list_with_delimiter(&fresh("list-with-delimiter").await).await;
    suite::list_with_offset_exclusivity(&fresh("list-with-offset-exclusivity").await).await;
    let store = fresh("list-paginated").await;
    suite::list_paginated(&store, &store).await;
    suite::rename_and_copy(&fresh("rename-and-copy").await).await;
    let store = fresh("multipart").await;
    suite::multipart(&store, &store).await;
    let store = fresh("multipart-with-opts").await;
    suite::multipart_with_opts(&store, &store).await;
    suite::multipart_out_of_order(&fresh("multipart-out-of-order").await).await;
    suite::multipart_race_condition(&fresh("multipart-race-condition").await, true).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn object_stores_own_tests_pass() {
    let moto = Moto::start().unwrap_or_else(|error| testkit::left_out(error));
    let _ = rustls::crypto::ring::default_provider().install_default(); // reqwest asks for one
    println!("by object_store's own connector, for reference:");
    run(&moto, "reference", ReqwestConnector::default).await;
    println!("by WarmwireConnector:");
    run(&moto, "ours", WarmwireConnector::new).await;
}
