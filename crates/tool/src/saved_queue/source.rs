//! Transfers of a saved queue: those of the command line are added to it, and each that is not done is
//! started once.

use super::adding::{Addition, records};
use super::handle::{EntryHandle, Shared};
use super::journal::Journal;
use super::record::{Added, Id};
use super::state::Setup;
use crate::bytes::Bytes;
use crate::complete;
use crate::env::Env;
use crate::input_file::{Entry, EntryParser};
use crate::message::{os_text, shown};
use crate::queue::{EntryItems, Item, Next, Queue, Saved, Source};
use crate::system::{self, path};
use std::collections::HashMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

/// CURLE numbers.
const FAILED_INIT: i32 = 2;
const WRITE_ERROR: i32 = 23;

/// A list in a pipe is asked again after this time at the latest; its next entry ends the wait.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// So many bytes of new entries are written together.
const ADDED_TOGETHER: usize = 1 << 20;

/// A queue that is worked on.
pub struct SavedQueue {
    /// As the user named it.
    name: Bytes,
    shared: Rc<Shared>,
    /// Transfers that are still to be added.
    new: Queue,
    has_new: bool,
    present: usize,
    /// The folder of the command line, and that in which the process is.
    home: PathBuf,
    current: PathBuf,
    /// The last entry that was started.
    last: Id,
    setups: HashMap<Id, EntryItems>,
}

impl SavedQueue {
    /// Opens a queue, to which the transfers of the command line are added.
    pub fn open(env: &Env, name: &[u8], new: Queue, has_new: bool) -> Result<SavedQueue, i32> {
        let failed = |why: &str| report(env, name, why);
        let home = std::env::current_dir().map_err(|error| failed(&os_text(&error)))?;
        let journal = Journal::open(&home.join(path(name))).map_err(|why| failed(&why))?;
        Ok(SavedQueue {
            name: name.to_vec(),
            shared: Rc::new(Shared::new(journal)),
            new,
            has_new,
            present: 0,
            current: home.clone(),
            home,
            last: 0,
            setups: HashMap::new(),
        })
    }

    /// Adds what the command line and its lists have now. A list in a pipe may have more later.
    fn add_new(&mut self, env: &Env) -> Result<(), i32> {
        if self.has_new {
            self.enter(&self.home.clone()).map_err(|why| report(env, &self.name, &why))?;
        }
        while self.has_new {
            match self.new.poll_item(env) {
                Poll::Pending if self.new.reads_pipe() => break,
                Poll::Pending => self.new.wait_for_entry(),
                Poll::Ready(Some(item)) => self.add(env, &item?)?,
                Poll::Ready(None) => self.end_adding(env)?,
            }
        }
        let written = self.shared.journal.borrow_mut().write();
        written.map_err(|why| report(env, &self.name, &why))
    }

    fn end_adding(&mut self, env: &Env) -> Result<(), i32> {
        self.has_new = false;
        let mut journal = self.shared.journal.borrow_mut();
        journal.write().and_then(|()| journal.sync()).map_err(|why| report(env, &self.name, &why))?;
        if self.present > 0 {
            let plural = if self.present == 1 { "URL is" } else { "URLs are" };
            let name = shown(&self.name);
            env.warn(&format!("{} {plural} in the queue {name} already, with the same output", self.present));
        }
        Ok(())
    }

    fn add(&mut self, env: &Env, item: &Item) -> Result<(), i32> {
        let refused = |why: &str| {
            env.error(why);
            FAILED_INIT
        };
        let folder = system::name_of(self.home.clone()).ok_or(FAILED_INIT)?;
        let addition = records(&self.shared.journal.borrow().state, item, &folder).map_err(refused)?;
        let Addition::New(records) = addition else {
            self.present += 1;
            env.note(&format!("{} is in the queue already", shown(&item.url)));
            return Ok(());
        };
        let mut journal = self.shared.journal.borrow_mut();
        records.into_iter().for_each(|record| journal.push(record));
        if journal.pending() >= ADDED_TOGETHER {
            journal.write().map_err(|why| report(env, &self.name, &why))?;
        }
        Ok(())
    }

    /// Starts the next entry that is not done; `None` if the folder must not change yet.
    fn start_next(&mut self, env: &Env) -> Next {
        loop {
            let next = self.shared.journal.borrow().state.next_after(self.last);
            let Some(id) = next else {
                return if self.has_new { Next::Later(Some(LONGEST_WAIT)) } else { Next::Drained };
            };
            let (setup_id, setup) = self.setup_of(id);
            let folder = PathBuf::from(path(&setup.folder));
            // Transfers that run have opened relative names, and will open more.
            if folder != self.current && self.shared.running.get() > 0 {
                return Next::Later(None);
            }
            self.last = id;
            let tries = self.shared.journal.borrow().state.entries[&id].tries;
            let part = self.shared.journal.borrow().state.entries[&id].part.clone();
            let handle = Rc::new(EntryHandle::start(&self.shared, id));
            let item = self.enter(&folder).and_then(|()| self.item(env, id, setup_id, &setup));
            match item {
                Ok((item, is_first)) => {
                    let first = is_first && tries == 0;
                    return Next::Item(Box::new(Item { first, saved: Some(Saved { handle, part }), ..item }));
                }
                Err(why) => {
                    env.error(&format!("entry {id} of {}: {why}", shown(&self.name)));
                    handle.end(FAILED_INIT);
                }
            }
        }
    }

    fn setup_of(&self, id: Id) -> (Id, Rc<Setup>) {
        let state = &self.shared.journal.borrow().state;
        let setup = state.entries[&id].setup;
        (setup, state.setups[&setup].clone())
    }

    /// Makes a folder the current one.
    fn enter(&mut self, folder: &PathBuf) -> Result<(), String> {
        if *folder != self.current {
            let entered = std::env::set_current_dir(folder);
            entered.map_err(|error| format!("{} can't be entered: {}", folder.display(), os_text(&error)))?;
            self.current.clone_from(folder);
        }
        Ok(())
    }

    /// Returns the transfer of an entry, and whether it is the first one with its setup in this run.
    fn item(&mut self, env: &Env, id: Id, setup_id: Id, setup: &Setup) -> Result<(Item, bool), String> {
        let Added { urls, options, .. } = self.shared.journal.borrow().added(id)?;
        let parser = self.new.entry_parser();
        let is_first = !self.setups.contains_key(&setup_id);
        if is_first {
            let items = shared_items(env, parser, &setup.options)?;
            self.setups.insert(setup_id, items);
        }
        let items = self.setups.get_mut(&setup_id).expect("it was inserted");
        let entry = Entry { line: 0, urls, options: options.into_iter().map(|line| (0, line)).collect() };
        let item = items.item(env, parser, &entry).map_err(|error| error.why)?;
        Ok((item, is_first))
    }

    /// Ends the work on the queue; returns the exit code, given that of the loop.
    pub fn finish(mut self, env: &Env, code: i32) -> i32 {
        let synced = self.shared.journal.borrow_mut().sync();
        let back = self.enter(&self.home.clone());
        let failed = self.shared.write_error.take().map_or(Ok(()), Err).and(synced).and(back);
        match (failed, code) {
            (Err(why), 0) => report(env, &self.name, &why),
            (_, 0) => self.shared.last_failure.get(),
            (_, code) => code,
        }
    }
}

impl Source for SavedQueue {
    fn next(&mut self, env: &Env) -> Next {
        if let Some(why) = self.shared.write_error.take() {
            return Next::Failed(report(env, &self.name, &why));
        }
        match self.add_new(env) {
            Ok(()) => self.start_next(env),
            Err(code) => Next::Failed(code),
        }
    }

    fn may_be_empty(&self) -> bool {
        true
    }
}

/// Returns what makes items of entries that share these options. Downloads of a queue continue after a cut.
fn shared_items(env: &Env, parser: &mut EntryParser, options: &[Bytes]) -> Result<EntryItems, String> {
    let parsed = parser.parse_shared(options, &mut env.messages.borrow_mut());
    let mut request = parsed.map_err(|error| error.why)?;
    complete::ask_passwords(&mut request, 0, 1);
    request.retry_resume = true;
    Ok(EntryItems::new(request))
}

/// Reports an error of a queue's file, and returns the exit code.
fn report(env: &Env, name: &[u8], why: &str) -> i32 {
    env.error(&format!("the queue {} {why}", shown(name)));
    WRITE_ERROR
}
