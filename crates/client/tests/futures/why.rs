//! The reasons of a request come with its response, or with its error.

use testkit::http::HttpServer;
use warmwire::{AccessPolicy, Client};

use super::everywhere;

async fn to_the_end(mut response: warmwire::Response) -> warmwire::Response {
    while response.chunk().await.unwrap().is_some() {}
    response
}

#[test]
fn a_response_has_reasons_only_if_enabled() {
    everywhere(Client::builder, |client| async move {
        let server = HttpServer::plain();
        let url = server.url("/bytes/10");
        let plain = to_the_end(client.get(&url).send().await.unwrap()).await;
        assert!(plain.why().is_none());
        let response = client.get(&url).explain(true).send().await.unwrap();
        assert!(response.why().is_none(), "the body has not ended");
        let response = to_the_end(response).await;
        let why = response.why().expect("the body has ended");
        let text = why.to_string();
        assert!(text.starts_with(&format!("GET {url}: 200 by HTTP/1.1, 10 bytes received\n")), "{text}");
        assert!(text.contains(" reused: "), "{text}");
        assert!(why.json().contains("\"event\":\"connection-reused\""), "{}", why.json());
    });
}

#[test]
fn an_error_contains_the_reasons_of_its_transfer() {
    everywhere(
        || Client::builder().explain(true),
        |client| async move {
            let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
            let error = client.get(format!("http://{free}/")).send().await.unwrap_err();
            let text = error.why().expect("asked for").to_string();
            assert!(text.contains(&format!("  address     {free} failed after ")), "{text}");
        },
    );
}

#[test]
fn the_reasons_name_the_rule_of_a_policy_that_refuses() {
    let public = || AccessPolicy::parse("version 1").unwrap();
    everywhere(
        move || Client::builder().explain(true).access_policy(public()),
        |client| async move {
            let server = HttpServer::plain();
            let why = client.get(server.url("/")).send().await.unwrap_err().why().expect("asked for").clone();
            let line =
                "refuses address 127.0.0.1 (check: address): it is not public, and no \"allow address\"";
            assert!(why.to_string().contains(line), "{why}");
            assert!(why.json().contains(r#""event":"policy-refused","check":"address""#), "{}", why.json());
            assert_eq!(server.accepts(), 0);
        },
    );
}
