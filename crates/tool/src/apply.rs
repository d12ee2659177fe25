//! Sets the options of a request on a handle of the library.

use crate::form::part::{Content, Part};
use crate::names;
use crate::options::Value;
use crate::raw::{self, Code, Easy, Form, FormSource, mime};
use crate::real_world::Input;
use crate::settings::Setting;
use crate::system::path;
use std::io;
use std::rc::Rc;

/// Sets all of them. Form names are escaped as `escape` says.
pub fn apply(easy: &Easy, list: &[Setting], escape: mime::Escape) -> Result<(), Code> {
    for setting in list {
        match apply_one(easy, setting, escape) {
            // The scheme that would need it is not built either, and its own error follows.
            Ok(()) | Err(Code::UnknownOption) => {}
            Err(code) => return Err(code),
        }
    }
    Ok(())
}

fn apply_one(easy: &Easy, setting: &Setting, escape: mime::Escape) -> Result<(), Code> {
    let value: raw::Value = match &setting.value {
        Value::Default => return Ok(()),
        Value::Long(number) => (*number).into(),
        Value::Text(text) => text.clone().into(),
        Value::List(list) => list.clone().into(),
        Value::Form(parts) => {
            let parts = parts.iter().map(laid_out).collect::<Result<Vec<_>, _>>()?;
            Form::new(parts, escape).into()
        }
    };
    easy.set(setting.option, value)
}

/// A part for the library; a file must be there, standard input is read now.
fn laid_out(part: &Part) -> Result<mime::Part<FormSource>, Code> {
    let mut own_name = None;
    let content = match &part.content {
        Content::Data(data) => mime::Content::Memory(Rc::from(data.as_slice())),
        Content::Parts(parts) => mime::Content::Parts(parts.iter().map(laid_out).collect::<Result<_, _>>()?),
        Content::Upload(file) => {
            own_name = Some(names::upload_name(file).to_vec());
            content_of(file)?
        }
        Content::FileData(file) => content_of(file)?,
    };
    let encoder = match &part.encoder {
        None => None,
        Some(name) => Some(mime::Encoder::from_name(name).ok_or(Code::BadFunctionArgument)?),
    };
    Ok(mime::Part {
        name: part.name.clone(),
        filename: part.filename.clone().or(own_name),
        content_type: part.mime_type.clone(),
        headers: part.headers.clone(),
        encoder,
        content,
    })
}

fn content_of(file: &[u8]) -> Result<mime::Content<FormSource>, Code> {
    if file != b"-" {
        return Form::file(path(file)).map_err(|_| Code::ReadError);
    }
    let mut content = Vec::new();
    io::Read::read_to_end(&mut Input, &mut content).map_err(|_| Code::ReadError)?;
    Ok(mime::Content::Memory(content.into()))
}
