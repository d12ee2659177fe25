//! Turns entries of a list, or of a saved queue, into transfers.

use super::item::{Item, RequestsBySections};
use crate::complete;
use crate::env::Env;
use crate::input_file::{Entry, EntryParser, InputError};
use crate::request::Request;
use crate::segments;
use std::rc::Rc;

/// Entries that are based on the same options.
pub struct EntryItems {
    /// Their request, before the environment completes it.
    base: Request,
    /// The request of entries without options of their own.
    plain: Rc<Request>,
    by_sections: RequestsBySections,
}

impl EntryItems {
    /// Creates items on a base ([`base_of`](crate::input_file::base_of)).
    pub fn new(base: Request) -> EntryItems {
        let mut plain = base.clone();
        complete::from_environment(&mut plain);
        EntryItems { base, plain: Rc::new(plain), by_sections: RequestsBySections::default() }
    }

    /// Checks an entry.
    pub fn check(&self, env: &Env, parser: &mut EntryParser, entry: &Entry) -> Result<(), InputError> {
        self.parse(env, parser, entry).map(drop)
    }

    /// Returns the transfer of an entry.
    pub fn item(&mut self, env: &Env, parser: &mut EntryParser, entry: &Entry) -> Result<Item, InputError> {
        let item = self.parse(env, parser, entry)?;
        // Requests with options of their own are not kept: there may be a million.
        let is_plain = Rc::ptr_eq(&item.request, &self.plain);
        let mut own = RequestsBySections::default();
        let by_sections = if is_plain { &mut self.by_sections } else { &mut own };
        let (request, sectioned) = by_sections.find(&env.globals.sections, (0, &item.request), &item.url);
        Ok(Item { request, sectioned, ..item })
    }

    /// Returns the transfer of an entry, without the options of sections.
    fn parse(&self, env: &Env, parser: &mut EntryParser, entry: &Entry) -> Result<Item, InputError> {
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
            shared_options: self.base.own_options.len(),
            saved: None,
        })
    }
}
