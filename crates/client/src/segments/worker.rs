//! One connection's share: its answer is looked at, and its bytes go where they belong.

use super::checksum::{Sum, field};
use super::journal::Journal;
use super::marks::{Answer, Marks};
use super::part::Part;
use super::plan::{PROBE, Plan, Span};
use super::sources;
use super::system::os_text;
use crate::{Code, Easy};
use engine::stores::headers::Origin;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Instant;

pub const HTTP_ERROR: i32 = Code::HttpReturnedError.id();
pub const WRITE_ERROR: i32 = Code::WriteError.id();
pub const RANGE_ERROR: i32 = Code::RangeError.id();

/// A place where the file is.
#[derive(Debug, Default)]
pub struct Source {
    pub url: Vec<u8>,
    /// Marks that its pieces have in common.
    pub marks: Option<Marks>,
    /// In a row, without a byte.
    pub failures: u32,
    pub not_before: Option<Instant>,
    /// Whether it is not used any more.
    pub dropped: bool,
    /// Since the last look.
    pub recent: u64,
}

/// The file that all workers assemble.
pub struct SharedDownload {
    pub url: Vec<u8>,
    pub part: Part,
    /// Whether the part of an earlier run has been discarded.
    pub begun: Cell<bool>,
    pub plan: RefCell<Option<Plan>>,
    /// Of the first source that answered.
    pub marks: RefCell<Option<Marks>>,
    pub sources: RefCell<Vec<Source>>,
    /// The expected sums, from the user, a Metalink or the server.
    pub sums: RefCell<Vec<Sum>>,
    /// Sources that an answer has named.
    pub named: RefCell<Vec<(u32, Vec<u8>)>>,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The source is no good.
    Source(i32, String),
    /// The whole download fails.
    Fatal(i32, String),
    /// The piece has been assigned to another worker meanwhile.
    Reassigned,
    /// The source cannot send parts of the file.
    InOnePiece,
}

/// Ends a transfer; its worker keeps the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abort;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchStage {
    /// A request for the file's properties, or for a piece.
    Asked {
        from: u64,
        probe: bool,
    },
    /// For all of it.
    AskedForAll,
    Pieces,
    /// All of it, of which this many bytes have arrived.
    All(u64),
}

pub struct Worker {
    pub number: usize,
    pub source: Cell<usize>,
    pub stage: Cell<FetchStage>,
    pub moved_at: Cell<Instant>,
    /// Whether the request only queries the file, in protocols other than HTTP.
    pub describes: Cell<bool>,
    pub fault: RefCell<Option<Failure>>,
    pub whole: Rc<SharedDownload>,
    /// The handle whose body arrives here, until it is closed.
    pub easy: RefCell<Option<Easy>>,
}

impl Worker {
    pub fn new(number: usize, whole: Rc<SharedDownload>) -> Worker {
        let stage = Cell::new(FetchStage::AskedForAll);
        let moved_at = Cell::new(Instant::now());
        Worker {
            number,
            source: Cell::new(0),
            stage,
            moved_at,
            describes: Cell::new(false),
            fault: RefCell::default(),
            whole,
            easy: RefCell::default(),
        }
    }

    /// Judges the reply; before its first byte, or at its end if there is none.
    pub fn judge(&self, easy: &Easy) -> Result<(), Failure> {
        let answer = Answer::of(easy);
        if let Some(status) = answer.status.filter(|status| !matches!(status, 200 | 206)) {
            let code = (HTTP_ERROR, format!("The requested URL returned error: {status}"));
            // A piece of an empty file was requested.
            if status == 416 && self.stage.get() == (FetchStage::Asked { from: 0, probe: true }) {
                return Err(Failure::InOnePiece);
            }
            return Err(Failure::Source(code.0, code.1));
        }
        match self.stage.get() {
            FetchStage::AskedForAll => {
                self.stage.set(FetchStage::All(0));
                self.whole.begin_in_one_piece()
            }
            FetchStage::Asked { from, probe } => self.judge_piece(easy, &answer, from, probe),
            FetchStage::Pieces | FetchStage::All(_) => Ok(()),
        }
    }

    fn judge_piece(&self, easy: &Easy, answer: &Answer, from: u64, probe: bool) -> Result<(), Failure> {
        let refuse = |why: &str| Err(Failure::Source(RANGE_ERROR, why.to_owned()));
        match answer.status {
            Some(200) if probe => {
                self.stage.set(FetchStage::All(0));
                return self.whole.begin_in_one_piece();
            }
            Some(200) => {
                let known = self.whole.sources.borrow()[self.source.get()].marks.clone();
                if known.is_some_and(|known| !known.agree(&answer.marks)) {
                    return Err(self.changed());
                }
                return refuse("The server sends the whole file instead of the requested part");
            }
            Some(_) if answer.begins != Some(from) => {
                return refuse("The server sends another part than requested");
            }
            _ => {}
        }
        if probe {
            self.learn(easy, answer)?;
        }
        self.compare(answer, probe)?;
        self.stage.set(FetchStage::Pieces);
        Ok(())
    }

    /// Learns the file's properties from the first reply.
    fn learn(&self, easy: &Easy, answer: &Answer) -> Result<(), Failure> {
        easy.headers(|headers| {
            for (_, line) in headers.of(Origin::Header as u32, None) {
                if line.name.eq_ignore_ascii_case(b"Link") {
                    self.whole.named.borrow_mut().extend(sources::duplicates(line.value));
                } else if line.name.eq_ignore_ascii_case(b"Repr-Digest") {
                    let sums = field::sums(line.value).into_iter().map(|(_, sum)| sum);
                    self.whole.sums.borrow_mut().extend(sums);
                }
            }
        });
        let binds = answer.marks.bind() || !self.whole.sums.borrow().is_empty();
        let Some(size) = answer.marks.size.filter(|_| binds) else { return Err(Failure::InOnePiece) };
        self.whole.begin(size, answer.marks.clone())?;
        let mut plan = Plan::new(size, Default::default());
        if !self.describes.get() {
            plan.claim(self.number, Span { start: 0, end: size.min(PROBE) });
        }
        self.whole.plan.replace(Some(plan));
        self.whole.marks.replace(Some(answer.marks.clone()));
        Ok(())
    }

    /// Checks that the reply belongs to the file. A source's pieces must have the same marks; those of
    /// another source belong to the same file if a sum will prove that, or if their ETags are equal.
    fn compare(&self, answer: &Answer, is_first: bool) -> Result<(), Failure> {
        let mut sources = self.whole.sources.borrow_mut();
        let source = &mut sources[self.source.get()];
        let size = self.whole.plan.borrow().as_ref().map(|plan| plan.size());
        if answer.marks.size.is_some() && answer.marks.size != size {
            return match source.marks {
                Some(_) => Err(self.changed()),
                None => Err(Failure::Source(RANGE_ERROR, "Its file has another size".into())),
            };
        }
        match &source.marks {
            Some(known) if !known.agree(&answer.marks) => return Err(self.changed()),
            Some(_) => {}
            None => {
                let whole = self.whole.marks.borrow();
                let first = whole.as_ref().expect("somebody has answered");
                let equal = first.validator.is_some() && first.validator == answer.marks.validator;
                if !equal && !is_first && self.whole.sums.borrow().is_empty() {
                    let why = "Cannot verify that its file is the same: no equal ETag, no checksum";
                    return Err(Failure::Source(RANGE_ERROR, why.into()));
                }
                source.marks = Some(answer.marks.clone());
            }
        }
        Ok(())
    }

    fn changed(&self) -> Failure {
        let part = self.whole.part.name();
        Failure::Fatal(
            RANGE_ERROR,
            format!("The file has changed since {part} was started; remove {part} to start over"),
        )
    }

    /// Takes a piece of the body. After an error, the transfer is to be ended; the worker keeps the reason.
    pub fn take(&self, data: &[u8]) -> Result<(), Abort> {
        self.place(data).map_err(|fault| {
            self.fault.replace(Some(fault));
            Abort
        })
    }

    /// Writes a piece of the body to its place in the file.
    fn place(&self, data: &[u8]) -> Result<(), Failure> {
        if self.describes.get() {
            return Ok(()); // lines of a simulated head
        }
        if matches!(self.stage.get(), FetchStage::Asked { .. } | FetchStage::AskedForAll) {
            let easy = self.easy.borrow().clone().expect("a handle that receives is open");
            self.judge(&easy)?;
        }
        self.moved_at.set(Instant::now());
        let count = match self.stage.get() {
            FetchStage::All(before) => {
                self.whole.part.write_at(data, before).map_err(|error| disk(&error))?;
                self.stage.set(FetchStage::All(before + data.len() as u64));
                data.len()
            }
            _ => {
                let mut plan = self.whole.plan.borrow_mut();
                let plan = plan.as_mut().expect("pieces are of a plan");
                let room = plan.room(self.number);
                let count = data.len().min(usize::try_from(room.len()).unwrap_or(usize::MAX));
                self.whole.part.write_at(&data[..count], room.start).map_err(|error| disk(&error))?;
                plan.record(self.number, count as u64);
                count
            }
        };
        let mut sources = self.whole.sources.borrow_mut();
        let source = &mut sources[self.source.get()];
        source.recent += count as u64;
        source.failures = 0;
        if count < data.len() { Err(Failure::Reassigned) } else { Ok(()) }
    }
}

impl SharedDownload {
    /// Starts again: first the journal identifies the part file, then that is created.
    fn begin(&self, size: u64, marks: Marks) -> Result<(), Failure> {
        self.begun.set(true);
        let journal = Journal::new(&self.url, size, marks, Default::default());
        self.part.write_journal(&journal).map_err(|why| Failure::Fatal(WRITE_ERROR, why))?;
        self.part.begin(size).map_err(|error| disk(&error))
    }

    /// Starts a download in one piece, which cannot be resumed.
    pub fn begin_in_one_piece(&self) -> Result<(), Failure> {
        self.begin(0, Marks::default())
    }
}

pub fn disk(error: &std::io::Error) -> Failure {
    Failure::Fatal(WRITE_ERROR, format!("Failed writing the part file: {}", os_text(error)))
}
