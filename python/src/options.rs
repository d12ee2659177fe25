//! Python's values as values of options.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyList, PyString};
use warmwire::mime::{Content, Escape, Part};
use warmwire::transfers::Choices;
use warmwire::{
    AccessPolicy, Code, EasyOption, Form, FormSource, InvalidPolicy, InvalidPriority, Reasons, Value,
};

/// A part of a form: name, file name, content type, and its bytes or the path of a file.
#[derive(FromPyObject)]
pub struct FormPart(Vec<u8>, Option<Vec<u8>>, Option<Vec<u8>>, Option<Vec<u8>>, Option<String>);

/// The number that stands for the limit on inactivity in milliseconds, which is not an option of libcurl.
pub const STALL_LIMIT_MS: i32 = -1;

/// The number that stands for keeping the reasons of the transfer.
pub const EXPLAIN: i32 = -2;

/// The number that stands for the file of a policy.
pub const ACCESS_POLICY: i32 = -3;

/// The number that stands for leaving a connection when the name of its host has moved.
pub const FOLLOW_NAMES: i32 = -4;

/// The number that stands for the priority of a request.
pub const PRIORITY: i32 = -5;

/// The options of a list.
pub struct Options {
    pub list: Vec<(EasyOption, Value)>,
    /// How long a transfer may move no byte.
    pub stall_limit: Option<Duration>,
    /// Whether its reasons are kept.
    pub explain: Reasons,
    /// The policy that it must satisfy.
    pub access_policy: Option<AccessPolicy>,
    /// Whether it leaves a connection when the name of its host has moved, and its importance among others.
    pub choices: Choices,
}

/// Reads options as (number, value), and the five that libcurl does not have.
pub fn read(list: &Bound<'_, PyList>) -> PyResult<Options> {
    let (mut stall_limit, mut explain, mut access_policy) = (None, Reasons::Off, None);
    let mut choices = Choices::default();
    let mut options = Vec::with_capacity(list.len());
    for row in list.iter() {
        let (number, given): (i32, Bound<'_, PyAny>) = row.extract()?;
        if number == STALL_LIMIT_MS {
            stall_limit = Some(Duration::from_millis(given.extract()?));
            continue;
        }
        if number == EXPLAIN {
            let certificates: bool = given.extract()?;
            explain = if certificates { Reasons::Certificates } else { Reasons::Decisions };
            continue;
        }
        if number == ACCESS_POLICY {
            let file: PathBuf = given.extract()?;
            access_policy = Some(AccessPolicy::read(file).map_err(invalid_policy)?);
            continue;
        }
        if number == FOLLOW_NAMES {
            choices.follow_names = Some(given.extract()?);
            continue;
        }
        if number == PRIORITY {
            let text: String = given.extract()?;
            let invalid = |error: InvalidPriority| PyValueError::new_err(format!("{text:?}: {error}"));
            choices.priority = Some(text.parse().map_err(invalid)?);
            continue;
        }
        let option = EasyOption::from_id(number)
            .ok_or_else(|| PyValueError::new_err(format!("{number} is no option")))?;
        options.push((option, value(option, &given)?));
    }
    Ok(Options { list: options, stall_limit, explain, access_policy, choices })
}

/// An error in the form of those of a transfer that could not start: curl's code and a message.
fn invalid_policy(error: InvalidPolicy) -> PyErr {
    PyRuntimeError::new_err((Code::BadFunctionArgument.id(), error.to_string()))
}

/// A number, a switch, a text, a list of texts, the parts of a form; None is the default.
pub fn value(option: EasyOption, given: &Bound<'_, PyAny>) -> PyResult<Value> {
    if given.is_none() {
        Ok(Value::Default)
    } else if let Ok(on) = given.cast::<PyBool>() {
        Ok(Value::from(on.is_true()))
    } else if let Ok(text) = given.cast::<PyString>() {
        Ok(Value::from(text.to_cow()?.as_ref()))
    } else if let Ok(bytes) = given.cast::<PyBytes>() {
        Ok(Value::from(bytes.as_bytes().to_vec()))
    } else if let Ok(number) = given.extract::<i64>() {
        Ok(Value::from(number))
    } else if option == EasyOption::MimePost {
        let parts: Vec<FormPart> = given.extract()?;
        Ok(Value::from(Form::new(parts.into_iter().map(part).collect::<PyResult<_>>()?, Escape::Percent)))
    } else if let Ok(list) = given.cast::<PyList>() {
        Ok(Value::from(list.iter().map(|text| bytes(&text)).collect::<PyResult<Vec<_>>>()?))
    } else {
        Err(PyTypeError::new_err(format!("{} takes no {}", option.name(), given.get_type().name()?)))
    }
}

fn bytes(text: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    match text.cast::<PyString>() {
        Ok(text) => Ok(text.to_cow()?.as_bytes().to_vec()),
        Err(_) => Ok(text.cast::<PyBytes>()?.as_bytes().to_vec()),
    }
}

fn part(FormPart(name, filename, content_type, content, path): FormPart) -> PyResult<Part<FormSource>> {
    let content = match (content, path) {
        (Some(bytes), _) => Content::Memory(Rc::from(bytes)),
        (None, Some(path)) => Form::file(Path::new(&path))?,
        (None, None) => Content::Nothing,
    };
    Ok(Part { name: Some(name), filename, content_type, headers: Vec::new(), encoder: None, content })
}
