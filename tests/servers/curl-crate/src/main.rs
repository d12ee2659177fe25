//! Easy and multi interfaces of the `curl` crate; prints facts. First argument: the server's base URL.

use std::io::Read;
use std::time::Duration;

use curl::easy::{Easy, Easy2, Form, Handler, List, WriteError};
use curl::multi::Multi;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let base = std::env::args().nth(1).expect("a base URL");
    println!("ours={}", u8::from(curl::Version::get().version().contains("8.22")));
    easy(&base)?;
    bodies(&base)?;
    failures(&base)?;
    multi(&base)?;
    println!("end=1");
    Ok(())
}

fn easy(base: &str) -> Result<(), curl::Error> {
    let mut handle = Easy::new();
    let mut connects = 0;
    let mut length = 0;
    for _ in 0..20 {
        handle.url(&format!("{base}/bytes/5000"))?;
        let mut body = Vec::new();
        let mut transfer = handle.transfer();
        transfer.write_function(|data| {
            body.extend_from_slice(data);
            Ok(data.len())
        })?;
        transfer.perform()?;
        drop(transfer);
        length += body.len();
        connects += usize::from(handle.local_port()? != 0);
    }
    println!("easy={length},{},{connects}", handle.response_code()?);
    let mut secure = Easy2::new(Collector::default());
    secure.url(&std::env::var("SECURE").expect("SECURE is set"))?;
    secure.cainfo(std::env::var("CA").expect("CA is set"))?;
    secure.perform()?;
    println!("secure={}", secure.get_ref().body.len());
    Ok(())
}

#[derive(Default)]
struct Collector {
    body: Vec<u8>,
    lines: usize,
}

impl Handler for Collector {
    fn write(&mut self, data: &[u8]) -> Result<usize, WriteError> {
        self.body.extend_from_slice(data);
        Ok(data.len())
    }

    fn header(&mut self, _line: &[u8]) -> bool {
        self.lines += 1;
        true
    }
}

fn bodies(base: &str) -> Result<(), Box<dyn std::error::Error>> {
    let mut handle = Easy2::new(Collector::default());
    handle.url(&format!("{base}/body"))?;
    handle.post_fields_copy(b"a=1&b=two")?;
    handle.perform()?;
    println!("post={}", String::from_utf8_lossy(&handle.get_ref().body));

    let mut upload = Easy::new();
    upload.url(&format!("{base}/sum"))?;
    upload.upload(true)?;
    upload.in_filesize(100_000)?;
    let (mut source, mut answer) = (std::io::repeat(b'u').take(100_000), Vec::new());
    let mut transfer = upload.transfer();
    transfer.read_function(|into| Ok(source.read(into).unwrap_or(0)))?;
    transfer.write_function(|data| {
        answer.extend_from_slice(data);
        Ok(data.len())
    })?;
    transfer.perform()?;
    drop(transfer);
    println!("upload={}", String::from_utf8_lossy(&answer).split(' ').next().unwrap_or(""));

    let mut form = Form::new();
    form.part("field").contents(b"value").add()?;
    form.part("file").buffer("name.txt", b"content".to_vec()).content_type("text/plain").add()?;
    let mut posted = Easy2::new(Collector::default());
    posted.url(&format!("{base}/body"))?;
    posted.httppost(form)?;
    let mut fields = List::new();
    fields.append("X-Own: 1")?;
    posted.http_headers(fields)?;
    posted.perform()?;
    let text = String::from_utf8_lossy(&posted.get_ref().body).into_owned();
    println!(
        "form={},{}",
        u8::from(text.contains("name=\"field\"\r\n\r\nvalue\r\n")),
        u8::from(text.contains("filename=\"name.txt\""))
    );
    Ok(())
}

fn failures(base: &str) -> Result<(), curl::Error> {
    let outcome = |url: &str, limit_ms: u64| -> Result<i64, curl::Error> {
        let mut handle = Easy2::new(Collector::default());
        handle.url(url)?;
        handle.timeout(Duration::from_millis(limit_ms))?;
        Ok(handle.perform().err().map_or(0, |error| i64::from(error.code())))
    };
    println!("refused={}", outcome("http://127.0.0.1:1/", 5000)?);
    println!("timeout={}", outcome(&format!("{base}/delay/5000/bytes/1"), 300)?);
    println!("partial={}", outcome(&format!("{base}/cut/100/bytes/5000"), 5000)?);
    Ok(())
}

fn multi(base: &str) -> Result<(), Box<dyn std::error::Error>> {
    let multi = Multi::new();
    let mut handles = Vec::new();
    for index in 0..30 {
        let mut easy = Easy2::new(Collector::default());
        easy.url(&format!("{base}/delay/20/bytes/{}", 1000 + index))?;
        let mut handle = multi.add2(easy)?;
        handle.set_token(index)?;
        handles.push(handle);
    }
    let (mut good, mut tokens) = (0, 0);
    while multi.perform()? > 0 {
        multi.messages(|message| {
            good += usize::from(matches!(message.result(), Some(Ok(()))));
            tokens += message.token().unwrap_or(0);
        });
        multi.wait(&mut [], Duration::from_secs(1))?;
    }
    multi.messages(|message| {
        good += usize::from(matches!(message.result(), Some(Ok(()))));
        tokens += message.token().unwrap_or(0);
    });
    let mut total = 0;
    for handle in handles {
        total += multi.remove2(handle)?.get_ref().body.len();
    }
    println!("multi={good},{tokens},{total}");
    Ok(())
}
