//! A transfer to be made, and the sections of config files that have given it options.

use crate::bytes::Bytes;
use crate::host_section::{self, Matching};
use crate::request::{HostSection, Request, Target};
use crate::saved_queue::handle::EntryHandle;
use crate::saved_queue::record::Part;
use std::collections::HashMap;
use std::rc::Rc;

/// A transfer to be made.
#[derive(Clone)]
pub struct Item {
    pub request: Rc<Request>,
    /// Where the request has options from, if sections of config files are for this URL.
    pub sectioned: Option<Sectioned>,
    pub target: Target,
    pub url: Bytes,
    pub upload: Option<Bytes>,
    /// The name for the output, with globs filled in.
    pub output: Option<Bytes>,
    /// The first of its group.
    pub first: bool,
    /// Whether a failure before its start leaves the transfers after it alone.
    pub stands_alone: bool,
    /// How many of the options that the request was given are those of its group, not of an entry.
    pub shared_options: usize,
    /// The entry of a saved queue.
    pub saved: Option<Saved>,
}

/// An entry of a saved queue that is to be transferred.
#[derive(Clone)]
pub struct Saved {
    pub handle: Rc<EntryHandle>,
    /// The file that an earlier process has begun.
    pub part: Option<Box<Part>>,
}

/// The sections of config files that have given options to a request.
#[derive(Clone)]
pub struct Sectioned {
    pub numbers: Vec<usize>,
    /// The request without them.
    pub without: Rc<Request>,
}

/// Requests with the options of sections of config files: one for each request and set of sections.
#[derive(Default)]
pub(super) struct RequestsBySections(HashMap<(usize, Matching), Rc<Request>>);

impl RequestsBySections {
    /// Returns the request for a URL, with the numbers of its sections and the request without them.
    pub(super) fn find(
        &mut self,
        sections: &[HostSection],
        (number, request): (usize, &Rc<Request>),
        url: &[u8],
    ) -> (Rc<Request>, Option<Sectioned>) {
        let found = host_section::matching(sections, url);
        if found.numbers.is_empty() {
            return (request.clone(), None);
        }
        let sectioned = Sectioned { numbers: found.numbers.clone(), without: request.clone() };
        let merged = || Rc::new(host_section::merged(request, sections, &found));
        (self.0.entry((number, found.clone())).or_insert_with(merged).clone(), Some(sectioned))
    }
}
