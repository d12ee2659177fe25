//! `--retry-resume` on an upload of a file: what is kept of it, so that a killed command can be started
//! again.

use super::{Transfer, Upload};
use crate::bytes::Bytes;
use crate::env::Env;
use crate::message::{os_text, shown};
use crate::raw::uploads::{Held, Record, Stamp, key};
use crate::system::{self, make_folders, path};
use std::cell::{Cell, RefCell};
use std::fs;
use std::io;

/// CURLE_RANGE_ERROR
const RANGE_ERROR: i32 = 33;
/// Below the user's folder of states.
const FOLDER: &str = "/warmwire/uploads";

/// An upload of a file.
pub struct Uploading {
    name: Bytes,
    key: String,
    stamp: Cell<Stamp>,
    /// The place of its record; none if there is no folder for it.
    held: RefCell<Option<Held>>,
    /// Whether the server has accepted the upload, in this process or in an earlier one.
    begun: Cell<bool>,
    /// The URL in its record.
    resource_kept: RefCell<Option<Bytes>>,
}

/// The reason why a file is not uploaded.
pub struct InUse;

impl Uploading {
    /// Prepares the upload of a file to a URL, and reads what an earlier command has left of it.
    /// `protocol` is that of an upload over HTTP: its URL is of no use by another one.
    pub fn new(
        env: &Env,
        upload: &Upload,
        name: &[u8],
        (url, protocol): (&[u8], &str),
    ) -> Result<Option<Uploading>, InUse> {
        let Upload::File(file) = upload else { return Ok(None) };
        let Some(stamp) =
            file.metadata().ok().filter(fs::Metadata::is_file).and_then(|metadata| Stamp::of(&metadata).ok())
        else {
            return Ok(None);
        };
        let whole = fs::canonicalize(path(name)).ok().and_then(system::name_of);
        let key = key(url, &[whole.as_deref().unwrap_or(name), b"\0", protocol.as_bytes()].concat());
        let held = match take(&key) {
            Ok(Some(None)) => return Err(InUse),
            Ok(held) => held.flatten(),
            Err((folder, error)) => {
                let (folder, why) = (shown(&folder), os_text(&error));
                env.warn(&format!("{folder} can't be used, so this upload ends with the command: {why}"));
                None
            }
        };
        let this = Uploading {
            name: name.to_vec(),
            key,
            stamp: Cell::new(stamp),
            held: RefCell::new(held),
            begun: Cell::new(false),
            resource_kept: RefCell::default(),
        };
        this.recall(env);
        Ok(Some(this))
    }

    /// Looks for the record of an earlier command.
    fn recall(&self, env: &Env) {
        let held = self.held.borrow();
        let Some(record) = held.as_ref().and_then(Held::read).filter(|record| record.key == self.key) else {
            return;
        };
        self.begun.set(record.stamp == self.stamp.get());
        match self.begun.get() {
            true => env.note(&format!("Continues the upload of {}", shown(&self.name))),
            false => self.say_changed(env),
        }
    }

    fn say_changed(&self, env: &Env) {
        env.note(&format!("{} has changed: its upload starts again", shown(&self.name)));
        if let Some(held) = self.held.borrow().as_ref() {
            held.forget();
        }
    }

    /// Returns the URL of an upload over HTTP that an earlier command has begun.
    pub fn resource(&self) -> Option<Bytes> {
        let held = self.held.borrow();
        held.as_ref().filter(|_| self.begun.get()).and_then(Held::read).and_then(|record| record.resource)
    }

    /// Returns whether the server may have a part of this source.
    pub fn has_begun(&self) -> bool {
        self.begun.get()
    }

    /// The server has accepted the upload, and its file is this one from now on.
    pub(super) fn begin(&self, env: &Env) {
        if !self.begun.replace(true) {
            self.write(env, None);
        }
    }

    /// Keeps the URL of an upload over HTTP.
    pub(super) fn keep(&self, env: &Env, resource: &[u8]) {
        let is_new = self.resource_kept.borrow().as_deref() != Some(resource);
        if is_new {
            self.resource_kept.replace(Some(resource.to_vec()));
            self.begun.set(true);
            self.write(env, Some(resource.to_vec()));
        }
    }

    fn write(&self, env: &Env, resource: Option<Bytes>) {
        let record = Record { key: self.key.clone(), stamp: self.stamp.get(), resource };
        let written = self.held.borrow().as_ref().map_or(Ok(()), |held| held.write(&record));
        if let Err(error) = written {
            env.warn(&format!("The state of the upload can't be written: {}", os_text(&error)));
        }
    }

    /// Returns the new size of a source that has changed since the last attempt.
    fn changed(&self, env: &Env, upload: &Upload) -> Option<u64> {
        let Upload::File(file) = upload else { return None };
        let stamp = file.metadata().and_then(|found| Stamp::of(&found)).ok()?;
        if stamp == self.stamp.replace(stamp) {
            return None;
        }
        self.begun.set(false);
        self.say_changed(env);
        Some(stamp.size)
    }

    /// The upload is complete, or can't be continued.
    fn end(&self) {
        if let Some(held) = self.held.take() {
            held.forget();
        }
    }
}

/// Takes the place of a record: none if there is no folder, `Some(None)` if another process has it.
fn take(key: &str) -> Result<Option<Option<Held>>, (Bytes, io::Error)> {
    let Some(folder) = folder() else { return Ok(None) };
    let opened = make_folders(path(&folder), 0o700).and_then(|()| Held::take(path(&folder), key));
    opened.map(Some).map_err(|error| (folder, error))
}

/// Returns the folder of records: below XDG_STATE_HOME, or .local/state in the user's folder.
fn folder() -> Option<Bytes> {
    let is_absolute = |folder: &Bytes| path(folder).is_absolute();
    let state = system::variable("XDG_STATE_HOME").filter(is_absolute).or_else(|| {
        let home = system::HOMES.iter().find_map(|name| system::variable(name)).filter(is_absolute)?;
        Some([home.as_slice(), b"/.local/state"].concat())
    })?;
    Some([state.as_slice(), FOLDER.as_bytes()].concat())
}

impl Transfer {
    pub(super) fn with_uploading<R>(&self, run: impl FnOnce(&Uploading) -> R) -> Option<R> {
        let resuming = self.resuming.borrow();
        resuming.as_ref().and_then(|resuming| resuming.uploading.as_ref()).map(run)
    }

    /// Returns the new size of an upload's source that has changed since the last attempt.
    pub(super) fn changed_source(&self) -> Option<u64> {
        self.with_uploading(|uploading| uploading.changed(&self.env, &self.upload.borrow())).flatten()
    }

    /// Ends the record of an upload if nothing is left to be continued.
    pub fn finish_upload(&self, code: i32) {
        // An upload over HTTP that can't be used any more has this code, too.
        if matches!(code, 0 | RANGE_ERROR) {
            self.with_uploading(Uploading::end);
        }
    }
}
