//! Sends a file with PUT and shows how far it is: `cargo run --example upload -- FILE URL`.

use std::error::Error;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::{cell::RefCell, rc::Rc};

use warmwire::callbacks::{ReadAnswer, SeekAnswer};
use warmwire::{EasyOption, Handle};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [name, url] = words.as_slice() else { return Err("usage: upload FILE URL".into()) };
    let file = File::open(name)?;
    let size = i64::try_from(file.metadata()?.len())?;
    let file = Rc::new(RefCell::new(file));

    let mut handle = Handle::new();
    let mut set = |option: EasyOption, value: i64| handle.set(option, value);
    set(EasyOption::Upload, 1)?;
    set(EasyOption::InFileSizeLarge, size)?;
    set(EasyOption::NoProgress, 0)?;
    set(EasyOption::FailOnError, 1)?;
    handle.set(EasyOption::Url, url.as_str())?;

    let source = file.clone();
    handle.on_read(move |buffer| match source.borrow_mut().read(buffer) {
        Ok(count) => ReadAnswer::Bytes(count),
        Err(_) => ReadAnswer::Abort,
    });
    // A server that wants a login first gets the file from its start again.
    handle.on_seek(move |offset| match file.borrow_mut().seek(SeekFrom::Start(offset)) {
        Ok(_) => SeekAnswer::Done,
        Err(_) => SeekAnswer::Failed,
    });
    handle.on_progress(|counts| {
        eprint!("\r{} of {} bytes", counts.upload_now, counts.upload_total);
        true
    });
    handle.perform()?;
    eprintln!();
    Ok(())
}
