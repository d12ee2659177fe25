//! Posts a form with a field and a file: `cargo run --example form -- URL FILE`.

use std::error::Error;
use std::path::Path;
use std::rc::Rc;

use warmwire::mime::{Content, Escape, Part};
use warmwire::{EasyOption, Form, FormSource, Handle};

fn part(name: &str, content: Content<FormSource>) -> Part<FormSource> {
    Part { name: Some(name.as_bytes().to_vec()), content, ..Part::default() }
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, file] = words.as_slice() else { return Err("usage: form URL FILE".into()) };
    let greeting = Content::Memory(Rc::from(b"good day".as_slice()));
    let form = Form::new(
        vec![part("greeting", greeting), part("file", Form::file(Path::new(file))?)],
        Escape::Percent,
    );
    let mut handle = Handle::new();
    handle.set(EasyOption::Url, url.as_str())?;
    handle.set(EasyOption::MimePost, form)?;
    let reply = handle.fetch()?;
    println!("{}\n{}", reply.status, String::from_utf8_lossy(&reply.body));
    Ok(())
}
