//! State shared by all transfers of a run: messages, traces, totals.

use crate::cache::{Cache, USUAL_SIZE};
use crate::message::Messages;
use crate::real_world;
use crate::request::Globals;
use crate::system;
use crate::system::path;
use crate::text::harmless_lines;
use crate::trace::{Kind, TraceKind, Tracer};
use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, IsTerminal, Write};

/// Of a terminal that does not say.
const ROWS: usize = 24;

pub struct Env {
    pub globals: Globals,
    pub messages: RefCell<Messages>,
    tracer: RefCell<Tracer>,
    trace_out: RefCell<TraceOut>,
    pub stdout_is_terminal: bool,
    pub stderr_is_terminal: bool,
    /// The cache, if one was requested.
    pub cache: Option<Cache>,
    /// Why the requested cache cannot be used.
    pub cache_error: Option<String>,
    /// Whether the body of a transfer is written to the terminal.
    pub shows_body: Cell<bool>,
}

enum TraceOut {
    Unopened,
    Stdout,
    Messages,
    File(File),
    /// It could not be opened, and that was said.
    OpenFailed,
}

impl Env {
    pub fn new(globals: Globals, messages: Messages) -> Env {
        let folder = globals.cache.as_deref().filter(|_| !globals.dry_run);
        let limit = globals.cache_size.unwrap_or(USUAL_SIZE);
        let (cache, cache_error) = match folder.map(|folder| Cache::open(folder, limit)) {
            None => (None, None),
            Some(Ok(cache)) => (Some(cache), None),
            Some(Err(why)) => (None, Some(why)),
        };
        let tracer = Tracer::new(globals.trace, globals.trace_time, globals.trace_ids);
        Env {
            globals,
            stderr_is_terminal: messages.is_terminal(),
            messages: RefCell::new(messages),
            tracer: RefCell::new(tracer),
            trace_out: RefCell::new(TraceOut::Unopened),
            stdout_is_terminal: io::stdout().is_terminal(),
            cache,
            cache_error,
            shows_body: Cell::new(false),
        }
    }

    /// Columns and rows of the terminal that standard error is; it may change.
    pub fn screen(&self) -> (usize, usize) {
        let default_columns = self.messages.borrow().columns();
        real_world::screen().map_or((default_columns, ROWS), |(columns, rows)| {
            (real_world::chosen_columns().map_or(columns, |chosen| chosen.min(columns)), rows)
        })
    }

    /// Whether there is a terminal on which bars can move, and they are wanted.
    pub fn shows_bars(&self) -> bool {
        self.globals.progress_bars && self.stderr_is_terminal && !real_world::terminal_is_dumb()
    }

    pub fn traces(&self) -> bool {
        self.globals.trace != TraceKind::None
    }

    pub fn trace(&self, kind: Kind, data: &[u8], ids: (i64, i64)) {
        let shows_data = !self.shows_body.get();
        let text = self.tracer.borrow_mut().text(kind, data, ids, shows_data);
        if text.is_empty() {
            return;
        }
        let mut out = self.trace_out.borrow_mut();
        if matches!(*out, TraceOut::Unopened) {
            *out = self.open_trace();
        }
        match &mut *out {
            TraceOut::Stdout => {
                let text = if self.stdout_is_terminal { harmless_lines(&text) } else { text };
                let _ = system::stdout().write_all(&text);
            }
            TraceOut::Messages => self.messages.borrow_mut().lines(&text),
            TraceOut::File(file) => {
                let _ = file.write_all(&text);
            }
            TraceOut::Unopened | TraceOut::OpenFailed => {}
        }
    }

    fn open_trace(&self) -> TraceOut {
        match self.globals.trace_file.as_deref() {
            Some(b"-") => TraceOut::Stdout,
            None | Some(b"%") => TraceOut::Messages,
            Some(name) => match File::create(path(name)) {
                Ok(file) => TraceOut::File(file),
                Err(_) => {
                    self.messages.borrow_mut().warn("Failed to create/open output");
                    TraceOut::OpenFailed
                }
            },
        }
    }

    pub fn warn(&self, text: &str) {
        self.messages.borrow_mut().warn(text);
    }

    pub fn note(&self, text: &str) {
        self.messages.borrow_mut().note(text);
    }

    pub fn error(&self, text: &str) {
        self.messages.borrow_mut().error(text);
    }

    /// Writes a line to standard error, if errors are shown.
    pub fn error_line(&self, text: &str) {
        let mut messages = self.messages.borrow_mut();
        if messages.shows_errors() {
            messages.line(text);
        }
    }
}
