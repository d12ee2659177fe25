//! Posts a form from a future, and reads the answer as text.

use std::time::Duration;

use warmwire::{Client, Error};

/// Sends two fields as a form and returns the server's answer.
pub async fn post(url: &str) -> Result<String, Error> {
    let client = Client::builder().timeout(Duration::from_secs(30)).build()?;
    let request = client.post(url).query(&[("page", 2)]).form(&[("name", "a b"), ("color", "red")]);
    let response = request.send().await?.error_for_status()?;
    println!("{} {:?}", response.status(), response.headers().get("content-type"));
    response.text().await
}
