//! The transfers of a command line, one after the other: groups, targets, globs, and files of URLs.

mod entry_items;
mod item;
mod listed;

pub use entry_items::EntryItems;
pub use item::{Item, Saved, Sectioned};

use crate::bytes::Bytes;
use crate::complete;
use crate::devices;
use crate::env::Env;
use crate::glob::{self, Glob, GlobError};
use crate::input_file::EntryParser;
use crate::names;
use crate::raw::Easy;
use crate::request::{Request, Target};
use crate::transfer::Transfer;
use item::RequestsBySections;
use listed::{InputFiles, Wake};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

/// An answer of a [`Source`].
pub enum Next {
    Item(Box<Item>),
    /// An error, which has been reported, ends the run with this code.
    Failed(i32),
    /// There may be more after this time, or when a transfer has ended.
    Later(Option<Duration>),
    Drained,
}

/// A producer of transfers.
pub trait Source {
    fn next(&mut self, env: &Env) -> Next;

    /// Takes note of a transfer that is about to start.
    fn begins(&mut self, _transfer: &Transfer) {}

    /// Takes note of a transfer that has ended with this code. Returns the code that counts for the run.
    fn ended(&mut self, _transfer: &Transfer, _easy: &Easy, code: i32) -> i32 {
        code
    }

    /// Returns whether it is no error if there is nothing to transfer.
    fn may_be_empty(&self) -> bool {
        false
    }

    /// Returns the total number of transfers, if it is known.
    fn count(&self) -> Option<usize> {
        None
    }
}

/// Creates items on demand; a glob can represent millions.
pub struct Queue {
    requests: Vec<Rc<Request>>,
    request: usize,
    target: usize,
    place: Option<GlobPositions>,
    first: bool,
    by_sections: RequestsBySections,
    /// For each request that has them, its files of URLs.
    input_files: Vec<Option<InputFiles>>,
    entries: EntryParser,
    wake: Option<Wake>,
}

/// The current positions of a target's globs.
struct GlobPositions {
    upload: Option<Glob>,
    upload_name: Option<Bytes>,
    url: Option<Glob>,
    /// Without a glob the URL comes once for each upload.
    plain_given: bool,
}

/// CURLE numbers.
const NO_URL: i32 = 2;
/// An input file is asked again after this time at the latest; its next entry ends the wait.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

impl Queue {
    pub fn new(requests: Vec<Request>, entries: EntryParser) -> Queue {
        let input_files = requests.iter().map(InputFiles::of).collect();
        let completed = |mut request: Request| {
            complete::from_environment(&mut request);
            Rc::new(request)
        };
        Queue {
            requests: requests.into_iter().map(completed).collect(),
            request: 0,
            target: 0,
            place: None,
            first: true,
            by_sections: RequestsBySections::default(),
            input_files,
            entries,
            wake: None,
        }
    }

    /// Sets the function to call when an input file has brought another entry.
    pub fn set_wake(&mut self, wake: Wake) {
        self.wake = Some(wake);
    }

    /// Returns the total number of transfers, unless it is too large, or an error will end them.
    fn total(&self) -> Option<usize> {
        let globbed = |text: &Bytes, globs: bool| match globs && glob::may_be_one(text) {
            true => Glob::parse(text).ok().map(|glob| glob.count),
            false => Some(1),
        };
        let of_target = |request: &Request, target: &Target| {
            let urls = globbed(target.url.as_ref()?, !request.globoff && !target.no_glob)?;
            let uploads = target.upload.as_ref().map_or(Some(1), |file| globbed(file, !request.globoff))?;
            urls.checked_mul(uploads)
        };
        if self.input_files.iter().any(Option::is_some) {
            return None;
        }
        let mut targets =
            self.requests.iter().flat_map(|request| request.targets.iter().map(move |t| (request, t)));
        let all =
            targets.try_fold(0_i64, |all, (request, target)| all.checked_add(of_target(request, target)?))?;
        usize::try_from(all).ok()
    }

    /// Returns the next transfer, and waits for it if an input file is slow. An error, which has been
    /// reported, ends the run.
    pub fn next_item(&mut self, env: &Env) -> Option<Result<Item, i32>> {
        loop {
            match self.poll_item(env) {
                Poll::Ready(next) => return next,
                Poll::Pending => self.wait_for_entry(),
            }
        }
    }

    /// Waits for the next entry of the current input file.
    pub fn wait_for_entry(&mut self) {
        self.input_files[self.request].iter_mut().for_each(InputFiles::wait);
    }

    /// Returns whether the next entry comes from a pipe, which may stay open for long.
    pub fn reads_pipe(&self) -> bool {
        self.input_files.get(self.request).and_then(Option::as_ref).is_some_and(InputFiles::reads_pipe)
    }

    /// Returns the parser of entries, which a saved queue needs, too.
    pub fn entry_parser(&mut self) -> &mut EntryParser {
        &mut self.entries
    }

    /// Returns the next transfer; pending while an input file may bring one.
    pub fn poll_item(&mut self, env: &Env) -> Poll<Option<Result<Item, i32>>> {
        loop {
            let Some(request) = self.requests.get(self.request).cloned() else { return Poll::Ready(None) };
            if !request.names_urls() {
                env.messages.borrow_mut().usage("(2) no URL specified");
                return self.fail(NO_URL);
            }
            let Some(target) = request.targets.get(self.target) else {
                match self.next_listed(env) {
                    Poll::Ready(None) => {}
                    Poll::Ready(Some(Err(code))) => return self.fail(code),
                    other => return other,
                }
                self.request += 1;
                self.target = 0;
                self.first = true;
                continue;
            };
            match self.of_target(env, &request, target) {
                Ok(Some(item)) => return Poll::Ready(Some(Ok(item))),
                Ok(None) => {
                    self.target += 1;
                    self.place = None;
                }
                Err(code) => return self.fail(code),
            }
        }
    }

    fn fail(&mut self, code: i32) -> Poll<Option<Result<Item, i32>>> {
        self.request = self.requests.len();
        Poll::Ready(Some(Err(code)))
    }

    /// Returns the next entry of the input files of the current request.
    fn next_listed(&mut self, env: &Env) -> Poll<Option<Result<Item, i32>>> {
        let Some(files) = self.input_files.get_mut(self.request).and_then(Option::as_mut) else {
            return Poll::Ready(None);
        };
        let first = &mut self.first;
        let item = files.poll(env, &mut self.entries, &self.wake);
        item.map_ok(|item| Item { first: std::mem::take(first), ..item })
    }

    /// Checks all entries of those input files that can be read again. Nothing has been transferred yet when
    /// one of them is wrong.
    pub fn check_input_files(&mut self, env: &Env) -> Result<(), i32> {
        let mut all = self.input_files.iter().flatten();
        all.try_for_each(|files| files.check(env, &mut self.entries))
    }

    /// The next of one target, or none when it is exhausted.
    fn of_target(&mut self, env: &Env, request: &Rc<Request>, target: &Target) -> Result<Option<Item>, i32> {
        let Some(url) = &target.url else {
            if !request.input_files.is_empty() {
                return Ok(None);
            }
            // curl 8.22 starts nothing more after this, not even the groups after --next.
            env.warn("Got more output options than URLs");
            self.request = self.requests.len();
            return Ok(None);
        };
        let globs = !request.globoff && !target.no_glob;
        if self.place.is_none() {
            // A file of URLs does not name uploads for them.
            self.place = Some(GlobPositions::begin(env, target, !request.globoff)?);
        }
        let place = self.place.as_mut().expect("just set");
        let Some(text) = place.next_url(env, url, globs)? else { return Ok(None) };
        let output = match &target.output {
            None => None,
            Some(template) => Some(place.output_name(env, template)?),
        };
        let upload = place.upload_name.clone();
        let shared_options = request.own_options.len();
        // A URL that a document names gets nothing of the user's.
        let sections = if target.url_by_document { &[] } else { env.globals.sections.as_slice() };
        let (request, sectioned) = self.by_sections.find(sections, (self.request, request), &text);
        Ok(Some(Item {
            request,
            sectioned,
            target: target.clone(),
            url: text,
            upload,
            output,
            first: std::mem::take(&mut self.first),
            stands_alone: false,
            shared_options,
            saved: None,
        }))
    }
}

impl Source for Queue {
    fn next(&mut self, env: &Env) -> Next {
        match self.poll_item(env) {
            Poll::Pending => Next::Later(Some(LONGEST_WAIT)),
            Poll::Ready(None) => Next::Drained,
            Poll::Ready(Some(Ok(item))) => Next::Item(Box::new(item)),
            Poll::Ready(Some(Err(code))) => Next::Failed(code),
        }
    }

    fn count(&self) -> Option<usize> {
        self.total()
    }
}

impl GlobPositions {
    fn begin(env: &Env, target: &Target, globs: bool) -> Result<GlobPositions, i32> {
        let mut place = GlobPositions { upload: None, upload_name: None, url: None, plain_given: false };
        match &target.upload {
            Some(file) if globs => {
                let mut glob = parse(env, file)?;
                place.upload_name = glob.next_text();
                place.upload = Some(glob);
            }
            other => place.upload_name = other.clone(),
        }
        Ok(place)
    }

    /// Returns the next URL for this upload, then those for the next upload.
    fn next_url(&mut self, env: &Env, url: &[u8], globs: bool) -> Result<Option<Bytes>, i32> {
        loop {
            // Most URLs have none, and ten thousand need not be taken apart to see it.
            if globs && self.url.is_none() && glob::may_be_one(url) {
                self.url = Some(parse(env, url)?);
            }
            let found = match &mut self.url {
                Some(glob) => glob.next_text(),
                None if self.plain_given => None,
                None => Some(url.to_vec()),
            };
            self.plain_given = true;
            if found.is_some() {
                return Ok(found);
            }
            let next = self.upload.as_mut().and_then(Glob::next_text);
            if next.is_none() {
                return Ok(None);
            }
            self.upload_name = next;
            self.url = None;
            self.plain_given = false;
        }
    }

    fn output_name(&self, env: &Env, template: &[u8]) -> Result<Bytes, i32> {
        let name = glob::output_name(template, self.url.as_ref(), self.upload.as_ref());
        let mut name = name.map_err(|error| report(env, &error, template))?;
        // The user may name a device; a name made from parts of a URL must not be one.
        if name != template {
            name = names::made_safe(name, devices::path);
        }
        if name.is_empty() {
            env.warn("output glob produces empty string");
            return Err(23);
        }
        Ok(name)
    }
}

fn parse(env: &Env, text: &[u8]) -> Result<Glob, i32> {
    Glob::parse(text).map_err(|error| report(env, &error, text))
}

fn report(env: &Env, error: &GlobError, pattern: &[u8]) -> i32 {
    env.error_line(&format!("curl: ({}) {}", error.code, error.shown(pattern)));
    error.code
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Messages;
    use crate::request::Globals;
    use crate::variables::Variables;
    use crate::world::fake::Fake;

    fn target(url: &str, output: Option<&str>, upload: Option<&str>) -> Target {
        let bytes = |text: &str| text.as_bytes().to_vec();
        Target {
            url: Some(bytes(url)),
            output: output.map(bytes),
            upload: upload.map(bytes),
            ..Target::default()
        }
    }

    fn listed(targets: Vec<Target>) -> Result<Vec<String>, i32> {
        let env = Env::new(Globals::default(), Messages::new(Box::new(std::io::sink()), None));
        let world = Box::new(Fake::default());
        let entries = EntryParser::new(world, &env.globals, Variables::default(), Request::new());
        let mut queue = Queue::new(vec![Request { targets, ..Request::new() }], entries);
        let (count, mut found) = (queue.total(), Vec::new());
        while let Some(item) = queue.next_item(&env) {
            let item = item?;
            let text = |bytes: Option<Bytes>| bytes.map_or("-".into(), |b| String::from_utf8(b).unwrap());
            found.push(format!("{} {} {}", text(Some(item.url)), text(item.output), text(item.upload)));
        }
        assert_eq!(count, Some(found.len()));
        Ok(found)
    }

    #[test]
    fn globs_multiply() {
        let found = listed(vec![target("h/[1-2]", Some("#1"), Some("{a,b}")), target("x", None, None)]);
        assert_eq!(found.unwrap(), ["h/1 1 a", "h/2 2 a", "h/1 1 b", "h/2 2 b", "x - -"]);
    }

    #[test]
    fn without_a_glob_a_text_is_what_it_is() {
        let found =
            listed(vec![target("h/x", Some("#1"), Some("{a,b}")), target("h/\\[1\\]", Some("o"), None)]);
        assert_eq!(found.unwrap(), ["h/x #1 a", "h/x #1 b", "h/[1] o -"]);
    }

    /// URLs from a file are literal; `-T` for the first of them is still a glob, and applies only to that
    /// one.
    #[test]
    fn uploads_to_urls_from_a_file_glob() {
        let first = Target { no_glob: true, ..target("h/[1-2]", None, Some("{a,b}")) };
        let second = Target { no_glob: true, ..target("x/{y}", None, None) };
        let found = listed(vec![first, second]);
        assert_eq!(found.unwrap(), ["h/[1-2] - a", "h/[1-2] - b", "x/{y} - -"]);
    }

    #[test]
    fn mistakes_end_the_run() {
        assert_eq!(listed(vec![target("{a", None, None)]), Err(3));
        assert_eq!(listed(vec![target("a}", None, None)]), Err(3));
        assert_eq!(listed(vec![Target::default()]), Err(2));
        assert_eq!(listed(vec![target("x{a}", Some("#<n>"), None)]), Err(43));
    }
}
