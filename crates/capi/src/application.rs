//! The application's side of a transfer: implements the engine's `Callbacks` with the pointers that C passed
//! and libcurl's defaults (fwrite, fread, stderr). Nothing is borrowed while the application is called: it
//! may call the API again, or jump over our frames.

use std::cell::Cell;
use std::ffi::{CString, c_char, c_int, c_long, c_void};
use std::ptr;
use std::rc::Rc;

use runtime::cell::RefCell;

use engine::callbacks::{
    Callbacks, ChunkAnswer, DebugKind, Endpoints, FileInfo, HostKey, HostKeyFunctions, HostMatch,
    HostVerdict, HstsAnswer, HstsEntry, MatchAnswer, ProgressCounts, ReadAnswer, SeekAnswer, WriteAnswer,
};
use engine::meter::{self, Meter};
use net::filter::open::SocketCallbacks;
use tables::EasyOption as O;
use tables::constant::*;
use wire::mime::Content;

use crate::form_body::{Callback, Source};
use crate::hsts;
use crate::pointers::{self, KhKey, Pointers};
use crate::{slist, sys};

/// One per easy handle, shared with the engine's handle.
pub struct Application {
    pub pointers: Pointers,
    /// The handle as C knows it.
    pub handle: Cell<*mut c_void>,
    /// Copies of settings that callbacks need without asking the engine, which may be in the middle of
    /// something.
    pub progress_wanted: Cell<bool>,
    pub verbose: Cell<bool>,
    /// CURLOPT_POSTFIELDSIZE: bytes at POSTFIELDS, or -1 for a C string.
    pub post_size: Cell<i64>,
    /// Whether quotes in a form's names are escaped by a backslash (CURLMIMEOPT_FORMESCAPE).
    pub backslash_escapes: Cell<bool>,
    /// The progress meter, shown if progress is wanted and no function is set.
    meter: RefCell<Option<Box<Meter>>>,
}

/// Longest piece passed to a write callback.
const MAX_WRITE: usize = CURL_MAX_WRITE_SIZE as usize;
/// Bytes of an error buffer, the terminating zero among them.
const ERROR_SIZE: usize = CURL_ERROR_SIZE as usize;

impl Application {
    pub fn new() -> Rc<Application> {
        Rc::new(Application {
            pointers: Pointers::default(),
            handle: Cell::new(ptr::null_mut()),
            progress_wanted: Cell::new(false),
            verbose: Cell::new(false),
            post_size: Cell::new(-1),
            backslash_escapes: Cell::new(false),
            meter: RefCell::default(),
        })
    }

    /// Returns the data pointer of the write function. Defaults are stdout and stdin (CURLOPT_WRITEDATA.md,
    /// CURLOPT_READDATA.md): programs set fwrite as the function, and no data. All other data pointers
    /// default to NULL, and so do these if an application sets NULL.
    fn write_data(&self) -> *mut c_void {
        self.pointers.get(O::WriteData).unwrap_or_else(|| sys::stdout().cast())
    }

    fn read_data(&self) -> *mut c_void {
        self.pointers.get(O::ReadData).unwrap_or_else(|| sys::stdin().cast())
    }

    /// Everything as after curl_easy_init.
    pub fn reset(&self) {
        self.pointers.clear();
        self.progress_wanted.set(false);
        self.verbose.set(false);
        self.post_size.set(-1);
        self.backslash_escapes.set(false);
        self.meter.take();
    }

    pub fn copy_from(&self, other: &Application) {
        self.pointers.copy_from(&other.pointers);
        self.progress_wanted.set(other.progress_wanted.get());
        self.verbose.set(other.verbose.get());
        self.post_size.set(other.post_size.get());
        self.backslash_escapes.set(other.backslash_escapes.get());
    }

    /// Starts a transfer: clears the error buffer, as the manual promises, and resets the meter.
    pub fn begin(&self) {
        self.meter.take();
        let buffer = self.pointers.error_buffer().cast::<u8>();
        if !buffer.is_null() {
            // SAFETY: the application's buffer of CURL_ERROR_SIZE bytes.
            unsafe { *buffer = 0 }
        }
    }

    /// The read function, which CURLFORM_STREAM parts use too.
    pub fn stream_read(&self) -> crate::form_body::ReadFn {
        self.pointers.read_fn().unwrap_or(file_read)
    }

    fn deliver(&self, function: Option<pointers::WriteFn>, user: *mut c_void, data: &[u8]) -> WriteAnswer {
        let taken = match function {
            // SAFETY: the application's function; it reads `data.len()` bytes.
            Some(function) => unsafe { function(data.as_ptr().cast_mut().cast(), 1, data.len(), user) },
            None => to_file(user.cast(), data),
        };
        judge(taken, data.len())
    }

    /// CURLOPT_STDERR
    fn stderr(&self) -> *mut libc::FILE {
        let file = self.pointers.stderr().cast::<libc::FILE>();
        if file.is_null() { sys::stderr() } else { file }
    }

    fn show_meter(&self, counts: ProgressCounts) {
        let moved = meter::Counts {
            download_total: counts.download_total,
            download: counts.download_now,
            upload_total: counts.upload_total,
            upload: counts.upload_now,
        };
        let line = self.meter.borrow_mut().get_or_insert_default().line(moved, counts.spent, counts.finished);
        if let Some(line) = line {
            to_file(self.stderr(), line.as_bytes());
            // SAFETY: an open FILE.
            unsafe { libc::fflush(self.stderr()) };
        }
    }

    /// The bytes of CURLOPT_POSTFIELDS from there on, which the engine knows to be inside them; of a C string
    /// no more than `most` are looked at, or its length would be counted again for each piece of it.
    fn post_bytes(&self, offset: usize, most: usize) -> &[u8] {
        let start = self.pointers.post_fields().cast::<c_char>();
        if start.is_null() {
            return &[];
        }
        // SAFETY: CURLOPT_POSTFIELDS points to POSTFIELDSIZE bytes, or to a C string when that is -1.
        unsafe {
            let Ok(len) = usize::try_from(self.post_size.get()) else {
                let rest = start.add(offset);
                return std::slice::from_raw_parts(rest.cast(), libc::strnlen(rest, most));
            };
            std::slice::from_raw_parts(start.cast(), len).get(offset..).unwrap_or(&[])
        }
    }
}

/// Interprets the result of a write function.
fn judge(taken: usize, offered: usize) -> WriteAnswer {
    match taken {
        taken if taken == offered => WriteAnswer::All,
        taken if taken as u64 == CURL_WRITEFUNC_PAUSE => WriteAnswer::Pause,
        taken if taken as u64 == CURL_WRITEFUNC_ERROR => WriteAnswer::Failed(usize::MAX),
        taken => WriteAnswer::Failed(taken),
    }
}

/// Shows `line` with a NUL behind it. The manual promises none, but libcurl's lines have one, and programs
/// read them as C strings (TclCurl's header variables do).
fn terminated<T>(line: &[u8], show: impl FnOnce(*mut c_char) -> T) -> T {
    let mut short = [0_u8; 512];
    if line.len() < short.len() {
        short[..line.len()].copy_from_slice(line);
        return show(short.as_mut_ptr().cast());
    }
    let mut long = [line, &[0]].concat();
    show(long.as_mut_ptr().cast())
}

/// The default write function.
fn to_file(file: *mut libc::FILE, data: &[u8]) -> usize {
    // SAFETY: CURLOPT_WRITEDATA without a function is an open FILE; NULL stands for stdout.
    unsafe {
        let file = if file.is_null() { sys::stdout() } else { file };
        libc::fwrite(data.as_ptr().cast(), 1, data.len(), file)
    }
}

/// The default read function.
unsafe extern "C-unwind" fn file_read(
    to: *mut c_char,
    size: usize,
    count: usize,
    file: *mut c_void,
) -> usize {
    // SAFETY: CURLOPT_READDATA without a function is an open FILE; NULL stands for stdin.
    unsafe {
        let file = if file.is_null() { sys::stdin() } else { file.cast() };
        libc::fread(to.cast(), size, count, file)
    }
}

/// Reads what is available from a file's descriptor, bypassing what stdio has buffered.
fn descriptor_read(file: *mut libc::FILE, buf: &mut [u8]) -> usize {
    let file = if file.is_null() { sys::stdin() } else { file };
    // SAFETY: CURLOPT_READDATA without a function is an open FILE; NULL stands for stdin.
    unsafe { sys::descriptor_read(file, buf) }
}

/// The content of a file named "-" in the old form API (curl_formadd.md).
pub fn standard_input() -> Content<Source> {
    let file: *mut c_void = sys::stdin().cast();
    Source::callback(Rc::new(Callback::new(-1, file_read, None, None, file)))
}

impl Callbacks for Application {
    fn write(&self, data: &[u8]) -> WriteAnswer {
        debug_assert!(data.len() <= MAX_WRITE);
        self.deliver(self.pointers.write_fn(), self.write_data(), data)
    }

    fn interleaved(&self, packet: &[u8]) -> WriteAnswer {
        match self.pointers.interleave_fn() {
            None => self.deliver(self.pointers.write_fn(), self.write_data(), packet),
            function => self.deliver(function, self.pointers.interleave_data(), packet),
        }
    }

    fn header(&self, line: &[u8]) -> Option<WriteAnswer> {
        let user = self.pointers.header_data();
        // As in libcurl: if only header data is set, the write function receives the headers, too.
        let function = match self.pointers.header_fn() {
            None if user.is_null() => return None,
            None => self.pointers.write_fn(),
            function => function,
        };
        let Some(function) = function else { return Some(self.deliver(None, user, line)) };
        // SAFETY: the application's function; it reads `line.len()` bytes, or up to the NUL.
        let taken = terminated(line, |start| unsafe { function(start, 1, line.len(), user) });
        Some(judge(taken, line.len()))
    }

    fn read(&self, buf: &mut [u8]) -> ReadAnswer {
        let function = self.stream_read();
        // SAFETY: the application's function; it fills at most the given number of bytes.
        let got = unsafe { function(buf.as_mut_ptr().cast(), 1, buf.len(), self.read_data()) };
        match i64::try_from(got) {
            Ok(got) if got == i64::from(CURL_READFUNC_ABORT) => ReadAnswer::Abort,
            Ok(got) if got == i64::from(CURL_READFUNC_PAUSE) => ReadAnswer::Pause,
            _ if got > buf.len() => ReadAnswer::TooMany,
            _ => ReadAnswer::Bytes(got),
        }
    }

    /// Reads what is available from the file's descriptor if the application has no function, bypassing what
    /// stdio has buffered (as curl does in TELNET): fread would wait for the whole amount.
    fn read_now(&self, buf: &mut [u8]) -> ReadAnswer {
        match self.pointers.read_fn() {
            Some(_) => self.read(buf),
            None => ReadAnswer::Bytes(descriptor_read(self.read_data().cast(), buf)),
        }
    }

    fn seek(&self, offset: u64) -> SeekAnswer {
        let Ok(offset) = i64::try_from(offset) else { return SeekAnswer::Failed };
        let pointers = &self.pointers;
        if let Some(function) = pointers.seek_fn() {
            // SAFETY: the application's function.
            let answer = unsafe { function(pointers.seek_data(), offset, libc::SEEK_SET) };
            return match i64::from(answer) {
                answer if answer == i64::from(CURL_SEEKFUNC_OK) => SeekAnswer::Done,
                answer if answer == i64::from(CURL_SEEKFUNC_CANTSEEK) => SeekAnswer::Cannot,
                _ => SeekAnswer::Failed,
            };
        }
        if let (Some(function), 0) = (pointers.ioctl_fn(), offset) {
            // SAFETY: the application's function.
            let answer = unsafe { function(self.handle.get(), CURLIOCMD_RESTARTREAD, pointers.ioctl_data()) };
            return if answer == CURLIOE_OK { SeekAnswer::Done } else { SeekAnswer::Failed };
        }
        let file = self.read_data();
        let by_fread = match pointers.read_fn() {
            Some(function) => function as usize == libc::fread as *const () as usize,
            None => true,
        };
        if !by_fread || file.is_null() {
            return SeekAnswer::Cannot;
        }
        // SAFETY: with fread, which is the default, the data is an open FILE.
        if unsafe { sys::seek(file.cast(), offset) } { SeekAnswer::Done } else { SeekAnswer::Cannot }
    }

    fn post_fields_len(&self) -> Option<u64> {
        (!self.pointers.post_fields().is_null()).then(|| self.post_bytes(0, usize::MAX).len() as u64)
    }

    fn post_fields(&self, offset: u64, buf: &mut [u8]) -> usize {
        let rest = usize::try_from(offset).map_or(&[][..], |offset| self.post_bytes(offset, buf.len()));
        let len = rest.len().min(buf.len());
        buf[..len].copy_from_slice(&rest[..len]);
        len
    }

    fn wants_progress(&self) -> bool {
        self.progress_wanted.get()
    }

    fn progress(&self, counts: ProgressCounts) -> bool {
        let ProgressCounts { download_total, download_now, upload_total, upload_now, .. } = counts;
        let user = self.pointers.xferinfo_data();
        // SAFETY: the application's functions.
        let answer = unsafe {
            if let Some(function) = self.pointers.xferinfo_fn() {
                function(user, download_total, download_now, upload_total, upload_now)
            } else if let Some(function) = self.pointers.progress_fn() {
                let reals =
                    [download_total, download_now, upload_total, upload_now].map(|count| count as f64);
                function(user, reals[0], reals[1], reals[2], reals[3])
            } else {
                self.show_meter(counts);
                0
            }
        };
        answer == 0 || i64::from(answer) == i64::from(CURL_PROGRESSFUNC_CONTINUE)
    }

    fn wants_debug(&self) -> bool {
        self.verbose.get()
    }

    fn debug(&self, kind: DebugKind, data: &[u8]) {
        if let Some(function) = self.pointers.debug_fn() {
            let (handle, user) = (self.handle.get(), self.pointers.debug_data());
            let pass = |start: *mut c_char| {
                // SAFETY: the application's function reads `data.len()` bytes; of text also up to the NUL.
                unsafe { function(handle, kind as c_int, start, data.len(), user) };
            };
            return match kind {
                DebugKind::Text | DebugKind::HeaderIn | DebugKind::HeaderOut => terminated(data, pass),
                _ => pass(data.as_ptr().cast_mut().cast()),
            };
        }
        let prefix = match kind {
            DebugKind::Text => "* ",
            DebugKind::HeaderIn => "< ",
            DebugKind::HeaderOut => "> ",
            _ => return,
        };
        // The lines of a request come as one piece, and get one prefix.
        let file = self.stderr();
        to_file(file, prefix.as_bytes());
        to_file(file, data);
    }

    fn fail(&self, message: &str) {
        let buffer = self.pointers.error_buffer().cast::<u8>();
        if buffer.is_null() {
            return;
        }
        let text = message.as_bytes();
        let len = text.len().min(ERROR_SIZE - 1);
        // SAFETY: the application's buffer of CURL_ERROR_SIZE bytes.
        unsafe {
            ptr::copy_nonoverlapping(text.as_ptr(), buffer, len);
            *buffer.add(len) = 0;
        }
    }

    fn sockets(&self) -> Option<&dyn SocketCallbacks> {
        let pointers = &self.pointers;
        let any =
            pointers.open_fn().is_some() || pointers.sockopt_fn().is_some() || pointers.close_fn().is_some();
        any.then_some(self)
    }

    fn prereq(&self, ends: &Endpoints) -> bool {
        let Some(function) = self.pointers.prereq_fn() else { return true };
        let text = |ip: &str| CString::new(ip).unwrap_or_default();
        let (primary, local) = (text(&ends.primary_ip()), text(&ends.local_ip()));
        // SAFETY: the application's function; the texts outlive the call.
        let answer = unsafe {
            function(
                self.pointers.prereq_data(),
                primary.as_ptr().cast_mut(),
                local.as_ptr().cast_mut(),
                c_int::from(ends.primary_port()),
                c_int::from(ends.local_port()),
            )
        };
        i64::from(answer) == i64::from(CURL_PREREQFUNC_OK)
    }

    fn resolver_start(&self) -> bool {
        let Some(function) = self.pointers.resolver_start_fn() else { return true };
        let user = self.pointers.resolver_start_data();
        // SAFETY: the application's function; this resolver has no state to show.
        unsafe { function(ptr::null_mut(), ptr::null_mut(), user) == 0 }
    }

    fn trailers(&self) -> Option<Vec<Rc<[u8]>>> {
        let Some(function) = self.pointers.trailer_fn() else { return Some(Vec::new()) };
        let mut list = ptr::null_mut();
        // SAFETY: the application's function sets the list, which is ours to free afterwards.
        unsafe {
            let answer = function(&raw mut list, self.pointers.trailer_data());
            let lines = slist::strings(list).map(|line| Rc::from(line.to_bytes())).collect();
            slist::free_all(list);
            (i64::from(answer) == i64::from(CURL_TRAILERFUNC_OK)).then_some(lines)
        }
    }

    fn hsts_read(&self) -> HstsAnswer {
        let Some(function) = self.pointers.hsts_read_fn() else { return HstsAnswer::Done };
        // SAFETY: the application's function for this handle.
        unsafe { hsts::read_entry(function, self.handle.get(), self.pointers.hsts_read_data()) }
    }

    fn hsts_write(&self, entry: &HstsEntry, index: usize, total: usize) -> bool {
        let Some(function) = self.pointers.hsts_write_fn() else { return false };
        let user = self.pointers.hsts_write_data();
        // SAFETY: the application's function for this handle.
        unsafe { hsts::write_entry(function, self.handle.get(), user, entry, hsts::Index { index, total }) }
    }

    fn chunk_begin(&self, entry: &FileInfo, remaining: usize) -> ChunkAnswer {
        let Some(function) = self.pointers.chunk_begin_fn() else { return ChunkAnswer::Ok };
        let texts = file_texts(entry);
        let info = file_info(entry, &texts);
        let remaining = c_int::try_from(remaining).unwrap_or(c_int::MAX);
        // SAFETY: the application's function; what `info` points to outlives the call.
        let answer = unsafe { function((&raw const info).cast(), self.pointers.chunk_data(), remaining) };
        match answer {
            answer if answer == c_long::from(CURL_CHUNK_BGN_FUNC_FAIL) => ChunkAnswer::Failed,
            answer if answer == c_long::from(CURL_CHUNK_BGN_FUNC_SKIP) => ChunkAnswer::Skip,
            _ => ChunkAnswer::Ok,
        }
    }

    fn chunk_end(&self) -> bool {
        let Some(function) = self.pointers.chunk_end_fn() else { return true };
        // SAFETY: the application's function.
        unsafe { function(self.pointers.chunk_data()) != c_long::from(CURL_CHUNK_END_FUNC_FAIL) }
    }

    fn ssh_host_key(&self, found: &HostKey) -> Option<bool> {
        let function = self.pointers.ssh_host_key_fn()?;
        let data = self.pointers.ssh_host_key_data();
        // SAFETY: the application's function; it reads the given number of bytes.
        let answer =
            unsafe { function(data, found.kind as c_int, found.bytes.as_ptr().cast(), found.bytes.len()) };
        Some(i64::from(answer) == i64::from(CURLKHMATCH_OK))
    }

    fn host_key_judge(&self) -> Option<HostKeyFunctions> {
        let (key, host_key) = (self.pointers.ssh_key_fn(), self.pointers.ssh_host_key_fn());
        if key.is_none() && host_key.is_none() {
            return None;
        }
        let functions = [key.map_or(0, |f| f as usize), host_key.map_or(0, |f| f as usize)];
        let data =
            [self.pointers.ssh_key_data(), self.pointers.ssh_host_key_data()].map(|data| data as usize);
        Some(HostKeyFunctions::At([functions[0], data[0], functions[1], data[1]]))
    }

    fn ssh_known_host(
        &self,
        known: Option<&HostKey>,
        found: &HostKey,
        matches: HostMatch,
    ) -> Option<HostVerdict> {
        let function = self.pointers.ssh_key_fn()?;
        let text = known.map(|key| CString::new(key.bytes.clone()).unwrap_or_default());
        let standing = KhKey {
            key: text.as_ref().map_or(ptr::null(), |text| text.as_ptr()),
            len: 0,
            keytype: known.map_or(0, |key| key.kind as c_int),
        };
        let shown =
            KhKey { key: found.bytes.as_ptr().cast(), len: found.bytes.len(), keytype: found.kind as c_int };
        let standing = if known.is_some() { &raw const standing } else { ptr::null() };
        let (handle, data) = (self.handle.get(), self.pointers.ssh_key_data());
        // SAFETY: the application's function; both keys and what they point to outlive the call.
        let answer = unsafe { function(handle, standing, &shown, matches as c_int, data) };
        Some(match answer {
            CURLKHSTAT_FINE_ADD_TO_FILE => HostVerdict::Add,
            CURLKHSTAT_FINE => HostVerdict::Fine,
            CURLKHSTAT_FINE_REPLACE => HostVerdict::Replace,
            CURLKHSTAT_DEFER => HostVerdict::Defer,
            _ => HostVerdict::Reject,
        })
    }

    fn tls_context(&self, address: usize) -> Result<(), i32> {
        let Some(function) = self.pointers.ssl_ctx_fn() else { return Ok(()) };
        let (handle, data) = (self.handle.get(), self.pointers.ssl_ctx_data());
        // SAFETY: the application's function; the context lives until the connection is created from it.
        match unsafe { function(handle, address as *mut c_void, data) } {
            0 => Ok(()),
            code => Err(code),
        }
    }

    fn fnmatch(&self, pattern: &[u8], name: &[u8]) -> Option<MatchAnswer> {
        let function = self.pointers.fnmatch_fn()?;
        let (Ok(pattern), Ok(name)) = (CString::new(pattern), CString::new(name)) else {
            return Some(MatchAnswer::Failed);
        };
        // SAFETY: the application's function; the texts outlive the call.
        let answer = unsafe { function(self.pointers.fnmatch_data(), pattern.as_ptr(), name.as_ptr()) };
        Some(match i64::from(answer) {
            answer if answer == i64::from(CURL_FNMATCHFUNC_MATCH) => MatchAnswer::Match,
            answer if answer == i64::from(CURL_FNMATCHFUNC_NOMATCH) => MatchAnswer::NoMatch,
            _ => MatchAnswer::Failed,
        })
    }
}

/// Name and listed texts of a directory entry as C strings.
fn file_texts(entry: &FileInfo) -> [CString; 6] {
    let text = |bytes: &[u8]| CString::new(bytes.to_vec()).unwrap_or_default();
    let [time, perm, user, group, target] = &entry.strings;
    [text(&entry.name), text(time), text(perm), text(user), text(group), text(target)]
}

fn file_info(entry: &FileInfo, texts: &[CString; 6]) -> pointers::FileInfo {
    let pointer = |index: usize| match texts[index].is_empty() {
        true => ptr::null_mut(),
        false => texts[index].as_ptr().cast_mut(),
    };
    pointers::FileInfo {
        filename: texts[0].as_ptr().cast_mut(),
        file_type: entry.file_type,
        time: entry.time,
        perm: entry.perm,
        uid: entry.uid,
        gid: entry.gid,
        size: entry.size,
        hardlinks: sys::to_long(entry.hardlinks),
        strings: [pointer(1), pointer(2), pointer(3), pointer(4), pointer(5)],
        flags: entry.flags,
        private_data: ptr::null_mut(),
        private_size: 0,
        private_used: 0,
    }
}
