//! Sends a file as a stream from a task that moves between threads: `cargo run --example async_upload -- FILE
//! URL`.
//!
//! The client's driver has a thread of its own. Each piece of the file is read when the one before has left.

use std::error::Error;
use std::fs::File;
use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use warmwire::{Body, Client};

/// A file in pieces. It is read where the task is polled: from a disk that is slow, one would read on a
/// thread for it.
struct Pieces(File);

impl Stream for Pieces {
    type Item = io::Result<Vec<u8>>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut piece = vec![0; 64 * 1024];
        Poll::Ready(match self.0.read(&mut piece) {
            Ok(0) => None,
            Ok(count) => {
                piece.truncate(count);
                Some(Ok(piece))
            }
            Err(error) => Some(Err(error)),
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [name, url] = words.as_slice() else { return Err("usage: async_upload FILE URL".into()) };
    let file = File::open(name)?;
    let size = file.metadata()?.len();
    let client = Client::new();
    let request = client.put(url).body(Body::wrap_stream(Pieces(file)).with_length(size));
    let sent = tokio::spawn(async move {
        let reply = request.send().await?;
        let status = reply.status();
        Ok::<_, warmwire::Error>((status, reply.text().await?))
    });
    let (status, text) = sent.await??;
    println!("{status} {text}");
    Ok(())
}
