//! A download in pieces for the command line: prepares its handles, shows it, and reports how it ended.

use super::foreign::stripped;
use super::{conflict, wanted};
use crate::prepare::{Stop, prepare};
use crate::queue::Item;
use crate::raw::checksum::Sum;
use crate::raw::segments::{Fetch, Host, Part, Prepared, Wanted, Worker};
use crate::raw::{Easy, EasyOption as O, LockData, Multi, Share};
use crate::request::{Clobber, Request, Segments};
use crate::retry::deadline;
use crate::run::Run;
use crate::sink::set_time;
use crate::system::path;
use crate::transfer::Transfer;
use crate::url::parse_url;
use std::io;
use std::rc::Rc;
use std::time::Duration;

/// CURLE numbers.
const FAILED_INIT: i32 = 2;
const WRITE_ERROR: i32 = 23;

/// Owner of a download: one item of the command line.
struct Command<'r> {
    run: &'r Run,
    item: Item,
    /// The transfer with the display and the name of the output; it sends no request itself.
    main: Rc<Transfer>,
    /// For places that the user has not chosen: without his cookies.
    share_without_cookies: Share,
}

/// Fetches one file; the exit code.
pub fn run(run: &Run, item: Item) -> Result<i32, Stop> {
    let saved = item.saved.clone();
    let refuse = |why: String| {
        run.env.error(&why);
        saved.iter().for_each(|saved| saved.handle.end(FAILED_INIT));
        Err(Stop::Failed(FAILED_INIT))
    };
    let first = prepare(&run.env, &run.share, item.clone(), false, &mut None)?;
    if first.skip {
        run.count_skipped();
        return Ok(run.end(&first.transfer, &first.easy, 0, true));
    }
    let flag = if item.request.segments.is_none() { "--mirror" } else { "--segments" };
    let scheme = parse_url(&item.url).ok().and_then(|url| url.scheme()).unwrap_or_else(|| "http".into());
    if let Some(what) = conflict(&item.request, &item.target, &scheme) {
        return refuse(format!("{flag} can't be combined with {what}"));
    }
    let Some(name) = first.transfer.out.borrow().name.clone() else {
        return refuse(format!("{flag} needs a file to write to, see --output"));
    };
    let keeps = {
        let out = first.transfer.out.borrow();
        let keeps = out.named_by_server && out.clobber != Clobber::Always;
        keeps.then_some("a Metalink overwrites no file; see --output and --clobber")
    };
    let (part, journal) = match Part::open(path(&name), keeps) {
        Ok(opened) => opened,
        Err(why) => {
            run.env.error_line(&format!("curl: ({WRITE_ERROR}) {why}"));
            run.count_ended(&first.transfer, &first.easy, WRITE_ERROR, None);
            return Ok(run.end(&first.transfer, &first.easy, WRITE_ERROR, true));
        }
    };
    let command = Command::new(run, item, first.transfer);
    let mut fetch = Fetch::new(&command, command.wanted(first.sums), part);
    let end = fetch.run(journal);
    let code = end.as_ref().map_or_else(|(code, _)| *code, |()| 0);
    command.main.finish_progress(code);
    if let Err((_, why)) = end {
        run.env.error_line(&format!("curl: ({code}) {why}"));
        fetch.leave(code);
        command.main.own_error.replace(Some(why));
    } else if let Some(time) = fetch.file_time().filter(|_| command.item.request.remote_time) {
        set_time(&name, time, &mut run.env.messages.borrow_mut());
    }
    // The first connection represents all for --write-out.
    let easy = fetch.first().unwrap_or(&first.easy);
    run.count_ended(&command.main, easy, code, fetch.received().map(|bytes| bytes as i64));
    let code = run.end(&command.main, easy, code, true);
    fetch.close();
    first.easy.close();
    Ok(code)
}

impl<'r> Command<'r> {
    fn new(run: &'r Run, item: Item, main: Rc<Transfer>) -> Command<'r> {
        let share_without_cookies = Share::default();
        share_without_cookies.set_kind(LockData::Hsts, item.request.options.text(O::Hsts).is_some());
        Command { run, item, main, share_without_cookies }
    }

    fn wanted(&self, sums: Vec<Sum>) -> Wanted {
        let Item { request, target, .. } = &self.item;
        let most = request.options.long(O::TimeoutMs).filter(|millis| *millis > 0);
        let most = most.map(|millis| Duration::from_millis(millis as u64));
        Wanted {
            url: self.item.url.clone(),
            mirrors: target.mirrors.iter().chain(&request.mirrors).cloned().collect(),
            url_is_foreign: target.url_by_document,
            connections: match wanted(request, target) {
                Some(Segments::Count(count)) => Some(count),
                Some(Segments::Auto) | None => None,
            },
            has_version: request.options.long(O::HttpVersion).is_some(),
            rate: request.options.long(O::MaxRecvSpeedLarge).unwrap_or(0),
            deadline: most.into_iter().chain(deadline(request)).min(),
            sums,
            has_own_sum: !target.sums.is_empty() || !request.checksum_files.is_empty(),
        }
    }

    /// Returns the request for a source. Nothing that identifies the user is sent to a foreign one.
    fn item_of(&self, url: &[u8], foreign: bool) -> Item {
        let mut item = Item { first: false, saved: None, ..self.item.clone() };
        item.target.sums.clear();
        item.url = url.to_vec();
        item.sectioned = item.sectioned.filter(|_| !foreign);
        item.request = Rc::new(match foreign {
            true => stripped(self.item.sectioned.as_ref().map_or(&self.item.request, |one| &one.without)),
            false => Request { checksum_files: Vec::new(), ..(*self.item.request).clone() },
        });
        item
    }
}

impl Host for Command<'_> {
    type Handle = Rc<Transfer>;

    fn prepare(
        &self,
        url: &[u8],
        foreign: bool,
        worker: &Rc<Worker>,
    ) -> Result<Prepared<Rc<Transfer>>, String> {
        let share = if foreign { &self.share_without_cookies } else { &self.run.share };
        let prepared = prepare(&self.run.env, share, self.item_of(url, foreign), true, &mut None)
            .map_err(|_| "a source can't be prepared".to_owned())?;
        prepared.transfer.divert.replace(Some(worker.clone()));
        Ok(Prepared { handle: prepared.transfer, easy: prepared.easy, headers: prepared.headers })
    }

    fn multi(&self) -> &Multi {
        &self.run.multi
    }

    fn wait(&self, pause: Duration) -> io::Result<()> {
        self.run.wait(&[], pause)
    }

    fn begin_piece(&self, transfer: &Rc<Transfer>) {
        transfer.before_piece();
    }

    fn ended(&self, transfer: &Rc<Transfer>, easy: &Easy, code: i32) {
        self.run.report(transfer, easy, code);
    }

    fn released(&self, transfer: Rc<Transfer>) {
        transfer.easy.borrow_mut().take();
        transfer.divert.take();
    }

    fn note(&self, text: &str) {
        let mut messages = self.run.env.messages.borrow_mut();
        if !messages.silent {
            messages.line(&format!("curl: {text}"));
        }
    }

    fn warn(&self, text: &str) {
        self.run.env.warn(text);
    }

    fn show(&self, received: u64, size: u64) {
        self.main.show_whole(received as i64, size as i64);
    }
}
