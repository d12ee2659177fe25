//! Small programs of the kinds that reqwest's repository shows, written for this test: simple requests with
//! and without futures, forms, JSON with and without types, bodies both ways. main.rs compiles this file
//! twice.

use std::collections::HashMap;
use std::io::Read;

use super::reqwest;
use testkit::http::HttpServer;

type Program = fn() -> String;

/// All programs: name, and its output.
pub const PROGRAMS: &[(&str, Program)] = &[
    ("simple", || output(simple)),
    ("waiting", || output(waiting)),
    ("form", || output(form)),
    ("json_dynamic", || output(json_dynamic)),
    ("json_typed", || output(json_typed)),
    ("download", || output(download)),
    ("upload", || output(upload)),
];

type Outcome = Result<String, Box<dyn std::error::Error>>;

fn output(program: fn(&HttpServer) -> Outcome) -> String {
    let server = HttpServer::plain();
    match program(&server) {
        Ok(text) => text.replace(&server.address().to_string(), "SERVER"),
        Err(error) => format!("failed: {error}"),
    }
}

/// Runs a future as `#[tokio::main]` does.
fn tokio_main<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Runtime::new().expect("tokio has threads").block_on(future)
}

fn simple(server: &HttpServer) -> Outcome {
    let url = server.url("/text/20");
    tokio_main(async {
        let response = reqwest::get(&url).await?;
        let status = response.status();
        let kind = response.headers().get(reqwest::header::CONTENT_TYPE).cloned();
        let body = response.text().await?;
        Ok(format!("{url} {status} {kind:?} {body}"))
    })
}

fn waiting(server: &HttpServer) -> Outcome {
    let mut response = reqwest::blocking::get(server.url("/text/20"))?;
    let mut text = format!("{} {} ", response.status(), response.url());
    response.read_to_string(&mut text)?;
    Ok(text)
}

fn form(server: &HttpServer) -> Outcome {
    let url = server.url("/echo");
    tokio_main(async {
        let fields = HashMap::from([("one", "1 + 1")]);
        let response = reqwest::Client::new().post(&url).form(&fields).send().await?.error_for_status()?;
        let echoed = response.text().await?.to_lowercase();
        Ok(format!("{}", echoed.contains("one=1+%2b+1")))
    })
}

fn json_dynamic(server: &HttpServer) -> Outcome {
    let url = server.url("/body");
    tokio_main(async {
        let sent = serde_json::json!({"title": "t", "number": 1});
        let echoed: serde_json::Value =
            reqwest::Client::new().post(&url).json(&sent).send().await?.json().await?;
        Ok(echoed.to_string())
    })
}

fn json_typed(server: &HttpServer) -> Outcome {
    #[derive(Debug, serde::Serialize, serde::Deserialize)]
    struct Post {
        id: Option<i32>,
        title: String,
    }
    let post = Post { id: None, title: "a title".into() };
    let client = reqwest::blocking::Client::builder().user_agent("judge").build()?;
    let echoed: Post = client.put(server.url("/body")).json(&post).send()?.json()?;
    Ok(format!("{echoed:?}"))
}

fn download(server: &HttpServer) -> Outcome {
    let mut response =
        reqwest::blocking::Client::new().get(server.url("/bytes/200000")).send()?.error_for_status()?;
    let mut saved = Vec::new();
    let length = response.copy_to(&mut saved)?;
    Ok(format!("{length} {}", saved.len()))
}

fn upload(server: &HttpServer) -> Outcome {
    let body = reqwest::blocking::Body::new(std::io::Cursor::new(vec![b'x'; 100_000]));
    let answer = reqwest::blocking::Client::new().post(server.url("/sum")).body(body).send()?.text()?;
    let form = reqwest::blocking::multipart::Form::new().text("key", "value");
    let parts = reqwest::blocking::Client::new().post(server.url("/sum")).multipart(form).send()?;
    Ok(format!("{answer} {}", parts.status()))
}
