//! `--watch`: polls the URLs at a steady pace, and shows, stores and passes on what has changed.
//!
//! The polls are [`warmwire::watch`]'s. `table` shows the state of all
//! URLs on a terminal, `command` runs the command of `--exec`.

mod command;
mod table;

use crate::bytes::Bytes;
use crate::event_lines;
use crate::message::{os_text, shown};
use crate::options::ToolOption;
use crate::prepare::Stop;
use crate::queue::{Item, Queue};
use crate::raw::{Code, EasyOption as O};
use crate::replace::replace;
use crate::run::Run;
use crate::segments;
use crate::system::{self, Interrupt};
use crate::url::without_login;
use command::Commands;
use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};
use table::Table;
use warmwire::watch::{Event, EventKind, Watcher};

/// How often the table is renewed.
const TABLE_PAUSE: Duration = Duration::from_millis(500);
/// How often a command that runs is looked at.
const COMMAND_PAUSE: Duration = Duration::from_millis(20);
/// How often a watch without a table looks whether the reader of its lines is gone; also the longest wait.
const READER_PAUSE: Duration = Duration::from_secs(1);

/// A watched URL of the command line.
struct Place {
    /// Without user and password.
    url: String,
    output: Option<Bytes>,
    /// Whether the file gets the time of the remote one.
    keeps_time: bool,
}

/// The watch of a command line.
struct Watch<'r> {
    run: &'r Run,
    watcher: Watcher,
    places: Vec<Place>,
    commands: Commands,
    table: Option<Table>,
    /// When the watch ends by itself.
    until: Option<Instant>,
    /// The exit code of a failure to write.
    failed: Cell<Option<i32>>,
    /// Whether standard output takes no more lines.
    output_lost: Cell<bool>,
}

/// Watches the URLs of the queue until a signal or the deadline ends it. Returns the exit code.
pub fn run(run: &Run, queue: &mut Queue) -> i32 {
    let Some(interval) = run.env.globals.watch else { return 0 };
    let items = match all_items(run, queue) {
        Ok(items) => items,
        Err(code) => return code,
    };
    let mut watch = match Watch::prepare(run, items, interval) {
        Ok(watch) => watch,
        Err(code) => return code,
    };
    let interrupt = Interrupt::watch(watch.watcher.waker());
    let code = watch.run(&|| interrupt.as_ref().is_some_and(Interrupt::has_come));
    watch.finish();
    let code = if code == 0 { watch.failed.get().unwrap_or(0) } else { code };
    if interrupt.is_some_and(|interrupt| interrupt.has_come()) {
        let _ = system::stdout().flush();
        system::end_process();
    }
    code
}

/// Takes all items of the queue, and refuses those that are no download to be repeated.
fn all_items(run: &Run, queue: &mut Queue) -> Result<Vec<Item>, i32> {
    let mut items = Vec::new();
    while let Some(item) = queue.next_item(&run.env) {
        let item = item?;
        let refused = if item.upload.is_some() {
            "--upload-file"
        } else if segments::wanted(&item.request, &item.target).is_some() {
            "--segments and --mirror"
        } else if item.request.resume.is_some() {
            "--continue-at"
        } else if item.request.options.text(ToolOption::ProxyCommand).is_some() {
            "--proxy-command"
        } else if item.sectioned.is_some() {
            // Nobody would take its options back after a redirect.
            "a section of hosts in a config file"
        } else {
            items.push(item);
            continue;
        };
        run.env.error(&format!("--watch can't be combined with {refused}"));
        return Err(Code::FailedInit.id());
    }
    Ok(items)
}

impl<'r> Watch<'r> {
    fn prepare(run: &'r Run, items: Vec<Item>, interval: Duration) -> Result<Watch<'r>, i32> {
        let requests = items.iter().map(|item| item.request.clone());
        let deadline = requests.clone().filter_map(|request| request.options.long(O::TimeoutMs)).max();
        let until = requests.map(|request| request.deadline_ms).filter(|ms| *ms > 0).min();
        let mut prepared = Vec::new();
        for item in items {
            match run.prepare(item) {
                Ok(one) => prepared.push(one),
                Err(Stop::LeftOut) => {}
                Err(Stop::Failed(code)) => return Err(code),
            }
        }
        let named: Vec<Option<Bytes>> =
            prepared.iter().map(|one| one.transfer.out.borrow().name.clone()).collect();
        let mut builder = Watcher::builder(interval)
            .keep_contents(named.iter().any(Option::is_some))
            .share(run.share.clone());
        if let Some(ms) = deadline.and_then(|ms| u64::try_from(ms).ok()).filter(|ms| *ms > 0) {
            builder = builder.deadline(Duration::from_millis(ms));
        }
        if run.env.globals.parallel_max_host > 0 {
            builder = builder.polls_per_server(run.env.globals.parallel_max_host);
        }
        let mut watcher = builder.build();
        let mut places = Vec::new();
        for (one, output) in prepared.iter().zip(named) {
            let url = shown(&one.transfer.url);
            if let Err(failure) = watcher.add_like(&url, &one.easy) {
                run.env.error_line(&format!("curl: ({}) {}", failure.code.id(), failure.message));
                return Err(failure.code.id());
            }
            let url = shown(&without_login(&one.transfer.url));
            places.push(Place { url, output, keeps_time: one.transfer.request.remote_time });
            one.easy.close();
            one.transfer.easy.borrow_mut().take();
        }
        let shows_table = io::stdout().is_terminal() && !run.env.globals.watch_json;
        Ok(Watch {
            run,
            watcher,
            places,
            commands: Commands::new(run.env.globals.exec.clone()),
            table: shows_table.then(Table::default),
            until: until.map(|ms| Instant::now() + Duration::from_millis(ms.unsigned_abs())),
            failed: Cell::new(None),
            output_lost: Cell::new(false),
        })
    }

    fn run(&mut self, is_interrupted: &dyn Fn() -> bool) -> i32 {
        let (mut drawn, mut looked) = (None::<Instant>, None::<Instant>);
        loop {
            self.watcher.perform();
            while let Some(event) = self.watcher.take_event() {
                self.handle(&event);
            }
            let ended = self.commands.take_ended();
            ended.into_iter().for_each(|text| self.run.env.warn(&text));
            if let Some(code) = self.failed.get() {
                return code;
            }
            let now = Instant::now();
            if is_interrupted() || self.until.is_some_and(|until| until <= now) {
                return 0;
            }
            if self.table.is_some() && drawn.is_none_or(|at| now - at >= TABLE_PAUSE) {
                drawn = Some(now);
                self.draw();
            }
            if self.table.is_none() && looked.is_none_or(|at| now - at >= READER_PAUSE) {
                looked = Some(now);
                if system::stdout_lacks_reader() {
                    self.lose_output(&io::ErrorKind::BrokenPipe.into());
                    continue;
                }
            }
            let mut pause = if self.table.is_some() { TABLE_PAUSE } else { READER_PAUSE };
            if self.commands.are_running() {
                pause = pause.min(COMMAND_PAUSE);
            }
            if let Some(until) = self.until {
                pause = pause.min(until - now);
            }
            match self.watcher.wait(pause) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                    self.run.env.error(&format!("cannot wait for the network: {}", os_text(&error)));
                    return Code::UnrecoverablePoll.id();
                }
                _ => {}
            }
        }
    }

    fn handle(&mut self, event: &Event) {
        let place = &self.places[event.index];
        let mut saved = None;
        if let (Some(name), Some(body)) = (&place.output, &event.body) {
            let time = event.stamp.modified.filter(|_| place.keeps_time);
            match replace(name, body, time) {
                Ok(()) => saved = Some(name),
                Err(error) => {
                    self.run.env.error(&format!("Failed to write {}: {}", shown(name), os_text(&error)));
                    self.failed.set(Some(Code::WriteError.id()));
                    return;
                }
            }
        }
        let saved = saved.map(|name| shown(name));
        if self.table.is_none() {
            let line = event_lines::of_event(event, &place.url, saved.as_deref());
            self.print(&line);
        } else if let Some(failure) = &event.failure {
            let text = format!("curl: ({}) {}: {}", failure.code.id(), place.url, failure.message);
            self.run.env.error_line(&text);
        }
        let is_change = !matches!(event.kind, EventKind::First | EventKind::Failed | EventKind::Recovered);
        if is_change && let Err(error) = self.commands.run(event, &place.url, saved.as_deref()) {
            self.run.env.warn(&format!("--exec failed: {}", os_text(&error)));
        }
    }

    fn draw(&mut self) {
        let Some(table) = &mut self.table else { return };
        let (columns, rows) = self.run.env.screen();
        let states: Vec<table::State<'_>> = (0..self.places.len())
            .filter_map(|at| {
                Some(table::State { url: &self.places[at].url, status: self.watcher.status(at)? })
            })
            .collect();
        let mut messages = self.run.env.messages.borrow_mut();
        if self.run.env.stderr_is_terminal {
            messages.hold();
        }
        let out = table.draw(&messages.take_held(), &states, columns, rows);
        drop(messages);
        self.print(&out);
    }

    /// Shows the final state.
    fn finish(&mut self) {
        if self.table.is_some() {
            self.draw();
            self.run.env.messages.borrow_mut().let_go();
            return;
        }
        for at in 0..self.places.len() {
            if let Some(status) = self.watcher.status(at) {
                let line = event_lines::of_end(&self.places[at].url, &status);
                self.print(&line);
            }
        }
    }

    /// Writes a line at once: a program may wait for it. If that fails, the watch ends, because nobody needs
    /// it any more.
    fn print(&self, line: &[u8]) {
        if self.output_lost.get() {
            return;
        }
        let mut out = system::stdout();
        if let Err(error) = out.write_all(line).and_then(|()| out.flush()) {
            self.lose_output(&error);
        }
    }

    fn lose_output(&self, error: &io::Error) {
        let reason = match error.kind() {
            io::ErrorKind::BrokenPipe => "its reader is gone".to_owned(),
            _ => os_text(error),
        };
        self.run.env.error(&format!("Failed to write to standard output: {reason}"));
        self.failed.set(Some(Code::WriteError.id()));
        self.output_lost.set(true);
    }
}
