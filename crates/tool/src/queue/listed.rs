//! Transfers of the entries of input files.

use super::entry_items::EntryItems;
use super::item::Item;
use crate::bytes::Bytes;
use crate::env::Env;
use crate::input_file::{Entries, Entry, EntryParser, InputError, InputSource, base_of, is_regular};
use crate::request::Request;
use crate::system::path;
use std::fs::File;
use std::sync::Arc;
use std::task::{Poll, ready};

/// CURLE_FAILED_INIT and CURLE_READ_ERROR
const FAILED_INIT: i32 = 2;
const READ_ERROR: i32 = 26;

/// A function to call when an input file has brought another entry.
pub type Wake = Arc<dyn Fn() + Send + Sync>;

/// The input files of a request.
pub struct InputFiles {
    names: Vec<Bytes>,
    /// How many of them have been opened.
    opened: usize,
    /// The number of the next URL, for `%{urlnum}`.
    number: usize,
    source: Option<InputSource>,
    /// An entry that was waited for.
    waited: Option<Option<Result<Entry, InputError>>>,
    items: EntryItems,
}

impl InputFiles {
    /// Returns the input files of a request, if it has any.
    pub fn of(request: &Request) -> Option<InputFiles> {
        if request.input_files.is_empty() {
            return None;
        }
        Some(InputFiles {
            names: request.input_files.clone(),
            opened: 0,
            number: request.url_count(),
            source: None,
            waited: None,
            items: EntryItems::new(base_of(request)),
        })
    }

    /// Checks all entries of those files that can be read again.
    pub fn check(&self, env: &Env, parser: &mut EntryParser) -> Result<(), i32> {
        for name in self.names.iter().filter(|name| is_regular(name)) {
            // A file that can't be opened is reported when its turn comes.
            let Ok(file) = File::open(path(name)) else { continue };
            for entry in Entries::new(file) {
                let checked = entry.and_then(|entry| self.items.check(env, parser, &entry));
                checked.map_err(|error| report(env, name, &error))?;
            }
        }
        Ok(())
    }

    /// Returns the transfer of the next entry.
    pub fn poll(
        &mut self,
        env: &Env,
        parser: &mut EntryParser,
        wake: &Option<Wake>,
    ) -> Poll<Option<Result<Item, i32>>> {
        loop {
            let Some(source) = &self.source else {
                let Some(name) = self.names.get(self.opened) else { return Poll::Ready(None) };
                let wake = wake.clone();
                let opened = InputSource::open(name, move || wake.iter().for_each(|wake| wake()));
                self.source = Some(match opened {
                    Ok(source) => source,
                    Err(error) => return Poll::Ready(Some(Err(report(env, name, &error)))),
                });
                self.opened += 1;
                continue;
            };
            let entry = match self.waited.take() {
                Some(entry) => entry,
                None => ready!(source.poll()),
            };
            let Some(entry) = entry else {
                self.source = None;
                continue;
            };
            let item = entry.and_then(|entry| self.items.item(env, parser, &entry));
            let item = item.map(|mut item| {
                item.target.number = self.number;
                self.number += 1;
                item
            });
            return Poll::Ready(Some(
                item.map_err(|error| report(env, &self.names[self.opened - 1], &error)),
            ));
        }
    }

    /// Waits for the next entry.
    pub fn wait(&mut self) {
        self.waited = self.source.as_ref().map(InputSource::wait);
    }

    /// Returns whether the next entry comes from a pipe.
    pub fn reads_pipe(&self) -> bool {
        let current = self.opened.checked_sub(1).filter(|_| self.source.is_some());
        self.names.get(current.unwrap_or(self.opened)).is_some_and(|name| !is_regular(name))
    }
}

/// Reports an error, and returns the exit code.
fn report(env: &Env, file: &[u8], error: &InputError) -> i32 {
    env.error(&error.text(file));
    if error.line == 0 { READ_ERROR } else { FAILED_INIT }
}
