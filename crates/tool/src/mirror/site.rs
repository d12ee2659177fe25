//! A mirror that is being made: its parts, its transfers, and the rules of its servers.

use super::file_names::{FileNames, is_safe};
use super::frontier::{Frontier, Pace, Step, Visit};
use super::reply::{Failure, Reply};
use super::requests::Requests;
use super::robots::{self, Robots};
use super::scope::Scope;
use super::state::{Record, State};
use super::summary::Counts;
use super::tree::Tree;
use crate::bytes::Bytes;
use crate::env::Env;
use crate::message::{os_text, shown};
use crate::names;
use crate::options::ToolOption;
use crate::queue::{Item, Next, Source};
use crate::raw::{Code, Easy};
use crate::request::{Request, Target};
use crate::run::Run;
use crate::system::path;
use crate::transfer::Transfer;
use crate::url::parse_url;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::Read;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Transfers of one server at a time, unless `--parallel-max-host` says otherwise.
const PER_SERVER: usize = 6;

/// The purpose of a transfer.
#[derive(Debug)]
pub enum Task {
    /// The rules of a server, at this URL.
    Rules(Bytes),
    Visit(Visit),
    /// The listing of a folder; whether MLSD is used.
    Listing(Visit, bool),
    /// Size and time of a file.
    Stat(Visit),
}

/// A mirror that is being made.
pub struct Mirror {
    pub(super) env: Rc<Env>,
    pub(super) tree: Tree,
    pub(super) state: State,
    pub(super) scope: Scope,
    pub(super) frontier: Frontier,
    pub(super) names: FileNames,
    pub(super) requests: Requests,
    pub(super) tasks: HashMap<usize, Task>,
    /// The number of the next transfer.
    pub(super) next_number: usize,
    /// Names that the user has given to URLs, for `--sync` without `--mirror-site`.
    pub(super) given_names: HashMap<Bytes, Bytes>,
    /// Servers that do not know MLSD.
    pub(super) without_mlsd: HashSet<Bytes>,
    /// Folders whose listing was read, and those whose listing failed.
    pub(super) listed: HashSet<Bytes>,
    pub(super) unlisted: HashSet<Bytes>,
    /// The identities of folders, as their servers name them.
    pub(super) identities: HashMap<Bytes, Bytes>,
    /// The entries of all listings, for `--sync-delete`.
    pub(super) present: HashSet<Bytes>,
    pub(super) counts: Counts,
    /// Whether `--max-total` or a failure to write has ended it early.
    pub(super) is_cut: bool,
    /// Whether the files that nothing has led to were asked for.
    pub(super) asked_for_rest: bool,
}

impl Mirror {
    /// Opens the mirror in the folder of `--output-dir`.
    pub fn open(run: &Run, starts: Vec<(Bytes, Item)>) -> Result<Mirror, i32> {
        let globals = &run.env.globals;
        let options = &globals.mirror;
        let folder = starts[0].1.request.options.text(ToolOption::OutputDir).unwrap_or(b".").to_vec();
        let opened = Tree::open(path(&folder)).and_then(|tree| {
            let state = State::open(&tree.state_folder())?;
            tree.remove_drafts().map(|()| (tree, state))
        });
        let (tree, state) = opened.map_err(|error| {
            run.env.error(&format!("Failed to open the mirror in {}: {}", shown(&folder), os_text(&error)));
            Code::WriteError.id()
        })?;
        let at_a_time = if globals.parallel_max_host > 0 { globals.parallel_max_host } else { PER_SERVER };
        let pace = Pace {
            at_a_time,
            interval: Duration::from_millis(globals.rate_ms),
            uses_robots: options.is_on && options.obeys_robots,
        };
        let mut mirror = Mirror {
            env: run.env.clone(),
            tree,
            state,
            scope: options.scope(),
            frontier: Frontier::new(pace),
            names: FileNames::default(),
            requests: Requests::new(&starts),
            tasks: HashMap::new(),
            next_number: 0,
            given_names: HashMap::new(),
            without_mlsd: HashSet::new(),
            listed: HashSet::new(),
            unlisted: HashSet::new(),
            identities: HashMap::new(),
            present: HashSet::new(),
            counts: Counts::default(),
            is_cut: false,
            asked_for_rest: false,
        };
        mirror.occupy_names();
        for (url, item) in starts {
            mirror.add_start(url, &item)?;
        }
        Ok(mirror)
    }

    /// Keeps the names of earlier runs.
    fn occupy_names(&mut self) {
        let names = &mut self.names;
        self.state.records.retain(|_, record| match record {
            Record::File(file) => names.occupy(&file.path),
            Record::Moved(_) => true,
        });
    }

    fn add_start(&mut self, url: Bytes, item: &Item) -> Result<(), i32> {
        if self.env.globals.mirror.is_on {
            if let Ok(parsed) = parse_url(&url) {
                self.scope.add_root(&parsed);
            }
        } else {
            let name = self.given_name(item)?;
            let is_taken = self.given_names.values().any(|other| *other == name);
            if is_taken || self.given_names.insert(url.clone(), name).is_some() {
                self.env.error("--sync needs a name of its own for each URL, and each URL once");
                return Err(Code::FailedInit.id());
            }
        }
        self.frontier.add(Visit::start(url));
        Ok(())
    }

    /// Returns the name of a file for `--sync` alone, in the folder of `--output-dir`.
    fn given_name(&self, item: &Item) -> Result<Bytes, i32> {
        let remote = || {
            let url = parse_url(&item.url).ok()?;
            let (name, is_found) = names::from_url(url.path());
            is_found.then_some(name)
        };
        let name = item.output.clone().or_else(|| remote().filter(|_| item.target.remote_name));
        name.filter(|name| is_safe(name)).ok_or_else(|| {
            self.env.error("--sync needs --output or --remote-name, with a name below --output-dir");
            Code::FailedInit.id()
        })
    }

    /// Returns the transfer of a task, and notes it.
    pub(super) fn item(&mut self, url: &[u8], task: Task, request: Rc<Request>) -> Item {
        let number = self.next_number;
        self.next_number += 1;
        self.tasks.insert(number, task);
        let draft = Some(self.tree.draft(number));
        let target = Target {
            url: Some(url.to_vec()),
            output: draft.clone(),
            no_glob: true,
            number,
            ..Target::default()
        };
        Item {
            request,
            sectioned: None,
            target,
            url: url.to_vec(),
            upload: None,
            output: draft,
            first: false,
            stands_alone: true,
            shared_options: 0,
            saved: None,
        }
    }

    fn finish_rules(&mut self, url: &[u8], number: usize, reply: &Reply) -> i32 {
        let robots = match (reply.code, reply.status) {
            (0, 200) => self.read_rules(number),
            (0, status) => Robots::without_file(status),
            _ => Robots::without_file(0),
        };
        let code = match robots.forbids_all() {
            true => {
                let reason = "nothing is fetched there, because robots.txt could not be read".to_owned();
                let code = if reply.code == 0 { Code::HttpReturnedError.id() } else { reply.code };
                self.fail(url, &Failure { reason, code })
            }
            false => 0,
        };
        self.frontier.set_rules(url, robots);
        code
    }

    fn read_rules(&self, number: usize) -> Robots {
        let name = self.tree.draft(number);
        let mut text = Vec::new();
        let limit = robots::SIZE_LIMIT as u64;
        // A file that is empty may not have been made.
        let _ = fs::File::open(path(&name)).and_then(|file| file.take(limit).read_to_end(&mut text));
        Robots::parse(&text, &self.requests.agent)
    }
}

impl Source for Mirror {
    fn next(&mut self, _: &Env) -> Next {
        loop {
            if self.env.globals.mirror.max_total.is_some_and(|most| self.counts.bytes >= most) {
                let dropped = self.frontier.clear();
                self.counts.beyond_limit += dropped;
                self.is_cut |= dropped > 0;
            }
            match self.frontier.next(Instant::now()) {
                Step::Done if self.ask_for_rest() => {}
                Step::Done => return Next::Drained,
                Step::Wait(at) => {
                    return Next::Later(at.map(|at| at.saturating_duration_since(Instant::now())));
                }
                Step::Refused(visit) => {
                    self.counts.refused_by_robots += 1;
                    self.env.note(&format!("{} is refused by robots.txt", shown(&visit.url)));
                }
                Step::Rules(url) => {
                    let request = Rc::new(self.requests.of_rules());
                    return Next::Item(Box::new(self.item(&url, Task::Rules(url.clone()), request)));
                }
                Step::Visit(visit) => {
                    let url = visit.url.clone();
                    match self.start(visit) {
                        Some(item) => return Next::Item(Box::new(item)),
                        None => self.frontier.ended(&url),
                    }
                }
            }
        }
    }

    fn begins(&mut self, transfer: &Transfer) {
        // The mirror reports failures with their URL, and once.
        transfer.error_reported.set(true);
    }

    fn ended(&mut self, transfer: &Transfer, easy: &Easy, code: i32) -> i32 {
        let number = transfer.url_number;
        let reply = Reply::of(transfer, easy, code);
        let Some(task) = self.tasks.remove(&number) else { return code };
        self.frontier.ended(&transfer.url);
        let code = match task {
            Task::Rules(url) => self.finish_rules(&url, number, &reply),
            Task::Visit(visit) => self.finish_visit(visit, number, &reply),
            Task::Listing(visit, is_mlsd) => self.finish_listing(visit, number, reply, is_mlsd),
            Task::Stat(visit) => self.finish_stat(visit, &reply),
        };
        let _ = fs::remove_file(path(&self.tree.draft(number)));
        code
    }

    fn may_be_empty(&self) -> bool {
        true
    }
}
