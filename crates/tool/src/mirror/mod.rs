//! `--mirror-site` and `--sync`: trees of files by links and listings, and files that have changed.
//!
//! The transfers are those of `--parallel`: `site` has the [`Mirror`], a source that says which one comes
//! next. `visits` requests each URL and handles the answer, `ending` converts links and removes files.
//!
//! Decisions are pure: `scope` (which links), `robots`, `frontier` (order and pace), `file_names`, `html`,
//! `css` and `listing` (references), `reply` (the meaning of an answer), `convert`. `tree` and `state` keep
//! the files and their validators.

mod address;
mod convert;
mod css;
mod ending;
mod file_names;
mod frontier;
mod html;
mod listing;
mod options;
mod reply;
mod requests;
mod robots;
mod scope;
mod site;
mod state;
mod summary;
mod tree;
mod visits;

pub use options::MirrorOptions;

use crate::bytes::Bytes;
use crate::message::shown;
use crate::parallel;
use crate::queue::{Item, Queue};
use crate::raw::Code;
use crate::run::Run;
use crate::url::parse_url;
use address::canonical;
use requests::conflict;
use site::Mirror;

/// Makes the mirror of the URLs of a queue; the exit code.
pub fn run(run: &Run, queue: &mut Queue) -> i32 {
    let mut mirror = match starts(run, queue).and_then(|starts| Mirror::open(run, starts)) {
        Ok(mirror) => mirror,
        Err(code) => return code,
    };
    let code = parallel::run(run, &mut mirror);
    if run.is_interrupted() { code } else { mirror.finish(code) }
}

/// Returns the start URLs in their canonical form, with their items.
fn starts(run: &Run, queue: &mut Queue) -> Result<Vec<(Bytes, Item)>, i32> {
    let refuse = |text: &str| {
        run.env.error(text);
        Err(Code::FailedInit.id())
    };
    let options = &run.env.globals.mirror;
    let flag = if options.is_on { "--mirror-site" } else { "--sync" };
    if run.env.globals.watch.is_some() {
        return refuse(&format!("{flag} can't be combined with --watch"));
    }
    let mut starts = Vec::new();
    while let Some(item) = queue.next_item(&run.env) {
        let item = item?;
        if let Some(what) = conflict(&item, options.is_on) {
            return refuse(&format!("{flag} can't be combined with {what}"));
        }
        let address = parse_url(&item.url).ok().and_then(canonical);
        match address.filter(|url| address::resolve(url, b"").is_some()) {
            Some(url) if !options.is_on && listing::is_folder(&url) => {
                return refuse(&format!("--sync needs --mirror-site for the folder {}", shown(&url)));
            }
            Some(url) => starts.push((url, item)),
            None => return refuse(&format!("{flag} can't fetch {}", shown(&item.url))),
        }
    }
    match starts.is_empty() {
        true => refuse(&format!("{flag} needs a URL")),
        false => Ok(starts),
    }
}
