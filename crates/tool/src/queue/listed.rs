//! Transfers of the entries of input files.

use super::item::{Item, RequestsBySections};
use crate::bytes::Bytes;
use crate::complete;
use crate::env::Env;
use crate::input_file::{Entries, Entry, EntryParser, InputError, InputSource, base_of, is_regular};
use crate::request::Request;
use crate::segments;
use crate::system::path;
use std::fs::File;
use std::rc::Rc;
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
    /// The request on which entries are based, before the environment completes it.
    base: Request,
    /// The request of entries without options of their own.
    plain: Rc<Request>,
    by_sections: RequestsBySections,
}

impl InputFiles {
    /// Returns the input files of a request, if it has any.
    pub fn of(request: &Request) -> Option<InputFiles> {
        if request.input_files.is_empty() {
            return None;
        }
        let base = base_of(request);
        let mut plain = base.clone();
        complete::from_environment(&mut plain);
        Some(InputFiles {
            names: request.input_files.clone(),
            opened: 0,
            number: request.url_count(),
            source: None,
            waited: None,
            base,
            plain: Rc::new(plain),
            by_sections: RequestsBySections::default(),
        })
    }

    /// Checks all entries of those files that can be read again.
    pub fn check(&self, env: &Env, parser: &mut EntryParser) -> Result<(), i32> {
        for name in self.names.iter().filter(|name| is_regular(name)) {
            // A file that can't be opened is reported when its turn comes.
            let Ok(file) = File::open(path(name)) else { continue };
            for entry in Entries::new(file) {
                let checked = entry.and_then(|entry| self.item(env, parser, &entry).map(drop));
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
            let item = entry.and_then(|entry| self.item_of(env, parser, &entry));
            return Poll::Ready(Some(
                item.map_err(|error| report(env, &self.names[self.opened - 1], &error)),
            ));
        }
    }

    /// Waits for the next entry.
    pub fn wait(&mut self) {
        self.waited = self.source.as_ref().map(InputSource::wait);
    }

    fn item_of(&mut self, env: &Env, parser: &mut EntryParser, entry: &Entry) -> Result<Item, InputError> {
        let mut item = self.item(env, parser, entry)?;
        item.target.number = self.number;
        self.number += 1;
        // Requests with options of their own are not kept: there may be a million.
        let is_plain = Rc::ptr_eq(&item.request, &self.plain);
        let mut own = RequestsBySections::default();
        let by_sections = if is_plain { &mut self.by_sections } else { &mut own };
        let (request, sectioned) = by_sections.find(&env.globals.sections, (0, &item.request), &item.url);
        Ok(Item { request, sectioned, ..item })
    }

    /// Returns the transfer of an entry, without the options of sections.
    fn item(&self, env: &Env, parser: &mut EntryParser, entry: &Entry) -> Result<Item, InputError> {
        let parsed = parser.parse(&self.base, entry, &mut env.messages.borrow_mut())?;
        let request = parsed.request.map_or_else(|| self.plain.clone(), Rc::new);
        if env.globals.parallel && segments::wanted(&request, &parsed.target).is_some() {
            let why = "several URLs of one file, and segments, can't be combined with --parallel";
            return Err(InputError::new(entry.line, why));
        }
        Ok(Item {
            request,
            sectioned: None,
            url: entry.urls[0].clone(),
            upload: parsed.target.upload.clone(),
            output: parsed.target.output.clone(),
            target: parsed.target,
            first: false,
            stands_alone: true,
        })
    }
}

/// Reports an error, and returns the exit code.
fn report(env: &Env, file: &[u8], error: &InputError) -> i32 {
    env.error(&error.text(file));
    if error.line == 0 { READ_ERROR } else { FAILED_INIT }
}
