//! The results of many transfers as buffers of Arrow columns (the columnar format's specification, "Buffer
//! Listing for Each Layout"): rows are appended directly to the columns, without a Python object for each.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use warmwire::transfers::Transfers;

use crate::body;
use crate::engine::Engine;
use crate::heads;
use crate::outcome::times;

/// Which rows of a column have a value: a bit each, the lowest first.
#[derive(Default)]
struct Present {
    bits: Vec<u8>,
    rows: usize,
}

impl Present {
    fn push(&mut self, is_there: bool) {
        if self.rows.is_multiple_of(8) {
            self.bits.push(0);
        }
        if let Some(last) = self.bits.last_mut() {
            *last |= u8::from(is_there) << (self.rows % 8);
        }
        self.rows += 1;
    }
}

/// Values of any length: where each ends, and all of them.
#[derive(Default)]
struct Values {
    present: Present,
    ends: Vec<i32>,
    bytes: Vec<u8>,
}

impl Values {
    fn push(&mut self, value: Option<&[u8]>) {
        self.present.push(value.is_some());
        self.bytes.extend_from_slice(value.unwrap_or_default());
        self.end();
    }

    /// Header fields are Latin-1 text, as everywhere else in Python.
    fn push_latin1(&mut self, value: &[u8]) {
        self.present.push(true);
        let mut utf8 = [0; 2];
        for byte in value {
            self.bytes.extend_from_slice(char::from(*byte).encode_utf8(&mut utf8).as_bytes());
        }
        self.end();
    }

    /// Offsets have 32 bits: the caller starts a new batch before they overflow.
    fn end(&mut self) {
        self.ends.push(i32::try_from(self.bytes.len()).unwrap_or(i32::MAX));
    }

    fn hand_over<'py>(&mut self, py: Python<'py>) -> PyResult<Buffers<'py>> {
        let Values { present, ends, bytes } = std::mem::take(self);
        let values = Bound::new(py, Buffer(bytes))?;
        Ok((PyBytes::new(py, &present.bits), offsets(py, &ends), values))
    }
}

/// Which rows have a value, the offsets, the values.
type Buffers<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, Buffer>);

/// Values of a column. An Arrow buffer refers to the memory, and keeps this object alive.
#[pyclass(frozen, module = "warmwire._native")]
pub struct Buffer(Vec<u8>);

#[pymethods]
impl Buffer {
    /// Returns the address of the values. They do not change, and stay there as long as the object lives.
    #[getter]
    fn address(&self) -> usize {
        self.0.as_ptr() as usize
    }

    /// Number of bytes.
    fn __len__(&self) -> usize {
        self.0.len()
    }
}

fn offsets<'py>(py: Python<'py>, ends: &[i32]) -> Bound<'py, PyBytes> {
    let all: Vec<u8> = std::iter::once(&0).chain(ends).flat_map(|end| end.to_ne_bytes()).collect();
    PyBytes::new(py, &all)
}

/// Rows that are on their way into a record batch.
#[pyclass(module = "warmwire._native")]
#[derive(Default)]
pub struct Columns {
    index: Vec<i64>,
    url: Values,
    status: Vec<i32>,
    has_status: Present,
    /// How many fields there are up to each row's end.
    headers: Vec<i32>,
    names: Values,
    values: Values,
    body: Values,
    path: Values,
    code: Vec<i32>,
    error: Values,
    attempts: Vec<i32>,
    times: [Vec<f64>; 6],
}

/// The request of a row: its index in the input, the URL, the number of attempts, the file of its body.
type Row = (i64, String, i32, Option<String>);

impl Columns {
    fn begin(&mut self, (index, url, attempts, path): &Row) {
        self.index.push(*index);
        self.url.push(Some(url.as_bytes()));
        self.attempts.push(*attempts);
        self.path.push(path.as_deref().map(str::as_bytes));
    }

    fn end(&mut self, code: i32, message: &str, status: i64, times: [f64; 6]) {
        self.code.push(code);
        self.error.push((code != 0).then_some(message.as_bytes()));
        self.has_status.push(status != 0);
        self.status.push(i32::try_from(status).unwrap_or(0));
        self.headers.push(i32::try_from(self.names.ends.len()).unwrap_or(i32::MAX));
        for (column, time) in self.times.iter_mut().zip(times) {
            column.push(time);
        }
    }

    fn write(&mut self, transfers: &Transfers, id: usize, row: &Row, held: &[u8]) {
        self.begin(row);
        let (code, message) =
            transfers.take_outcome(id).map_or((-1, String::new()), |o| (o.code.id(), o.message));
        if let Some((.., fields)) = transfers.head(id, heads::parse).pop() {
            for (name, value) in fields {
                self.names.push_latin1(&name);
                self.values.push_latin1(&value);
            }
        }
        let has_body = code == 0 && row.3.is_none();
        if has_body {
            self.body.bytes.extend_from_slice(held);
            body::read(transfers, id, |part| self.body.bytes.extend_from_slice(part));
        }
        self.body.push(has_body.then_some(&[]));
        let (status, times) = transfers.info(id, |info| (info.response_code(), times(info)));
        self.end(code, &message, status, times.into());
    }
}

#[pymethods]
impl Columns {
    #[new]
    fn new() -> Columns {
        Columns::default()
    }

    /// Writes the row of a finished transfer, and releases it; `held` is the part of its body taken before.
    fn take(&mut self, py: Python<'_>, engine: &Engine, id: usize, row: Row, held: &[u8]) -> PyResult<()> {
        engine.with(py, id, |transfers| self.write(transfers, id, &row, held))?;
        engine.release(py, id)
    }

    /// Writes the row of a request that was not started, or that failed because of another one: curl's code
    /// and the reason.
    fn fail(&mut self, row: Row, code: i32, message: &str) {
        self.begin(&row);
        self.body.push(None);
        self.end(code, message, 0, [0.0; 6]);
    }

    /// Returns all buffers by name and starts a new batch.
    fn hand_over<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        let mut given = std::mem::take(self);
        found.set_item("rows", given.index.len())?;
        found.set_item("fields", given.names.ends.len())?;
        for (name, column) in [
            ("url", &mut given.url),
            ("name", &mut given.names),
            ("value", &mut given.values),
            ("body", &mut given.body),
            ("path", &mut given.path),
            ("error", &mut given.error),
        ] {
            found.set_item(name, column.hand_over(py)?)?;
        }
        let numbers = |column: &[i32]| -> Vec<u8> { column.iter().flat_map(|n| n.to_ne_bytes()).collect() };
        let index: Vec<u8> = given.index.iter().flat_map(|n| n.to_ne_bytes()).collect();
        found.set_item("index", PyBytes::new(py, &index))?;
        found.set_item(
            "status",
            [PyBytes::new(py, &given.has_status.bits), PyBytes::new(py, &numbers(&given.status))],
        )?;
        found.set_item("headers", offsets(py, &given.headers))?;
        found.set_item("code", PyBytes::new(py, &numbers(&given.code)))?;
        found.set_item("attempts", PyBytes::new(py, &numbers(&given.attempts)))?;
        let times =
            given.times.map(|column| -> Vec<u8> { column.iter().flat_map(|n| n.to_ne_bytes()).collect() });
        found.set_item("timings", times.map(|column| PyBytes::new(py, &column)))?;
        Ok(found)
    }
}
