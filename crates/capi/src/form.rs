//! The old form API (curl_formadd.md, curl_formget.md, curl_formfree.md). Its list of `struct curl_httppost`
//! is public, so it is built as C knows it; a transfer lays it out like a MIME tree.

use std::cell::Cell;
use std::ffi::{c_char, c_int, c_long, c_void};
use std::ptr;
use std::rc::Rc;

use tables::Code;
use tables::constant::*;
use wire::mime::{self, Content, Escape, Part};

use crate::application;
use crate::form_body::{Callback, FormBody, Got, ReadFn, Source};
use crate::guard::entry;
use crate::memory;
use crate::printf::Arguments;
use crate::printf::format::Width;
use crate::slist::{self, Slist};
use crate::sys::{base_name, from_long, to_long};
use crate::text::bytes;

/// `struct curl_httppost`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct HttpPost {
    next: *mut HttpPost,
    name: *mut c_char,
    name_length: c_long,
    contents: *mut c_char,
    contents_length: c_long,
    buffer: *mut c_char,
    buffer_length: c_long,
    content_type: *mut c_char,
    content_header: *mut Slist,
    more: *mut HttpPost,
    flags: c_long,
    show_filename: *mut c_char,
    user: *mut c_void,
    content_len: i64,
}

impl HttpPost {
    fn empty() -> HttpPost {
        // SAFETY: null pointers and zeros are the initial state of a C caller.
        unsafe { std::mem::zeroed() }
    }

    fn has(&self, flag: c_long) -> bool {
        self.flags & flag != 0
    }

    /// Length of the contents, where 0 says that they end at a zero.
    fn contents_len(&self) -> i64 {
        if self.has(CURL_HTTPPOST_LARGE.into()) { self.content_len } else { from_long(self.contents_length) }
    }
}

/// `struct curl_forms`.
#[repr(C)]
struct Forms {
    option: c_int,
    value: *const c_char,
}

/// The options of one call, before they are known to be complete.
struct Section {
    /// The first file or field, and further files of the same name.
    items: Vec<Item>,
    name: Option<FieldName>,
}

struct FieldName {
    text: *const c_char,
    length: i64,
    borrowed: bool,
}

struct Item {
    post: HttpPost,
    value: *const c_char,
    type_given: bool,
}

type FormCode = c_int;
type Outcome<T = ()> = Result<T, FormCode>;

/// The source of options: the arguments, or an array among them.
struct Options {
    args: *mut Arguments,
    array: *const Forms,
}

impl Options {
    /// The next option number, going back to the arguments when an array has ended.
    unsafe fn next(&mut self) -> c_int {
        // SAFETY: the application vouches for arguments and array, each ended by CURLFORM_END.
        unsafe {
            if !self.array.is_null() {
                let option = (*self.array).option;
                if option != CURLFORM_END {
                    return option;
                }
                self.array = ptr::null();
            }
            Arguments::integer(self.args, Width::Int) as c_int
        }
    }

    unsafe fn pointer(&mut self) -> *const c_char {
        // SAFETY: as `next`.
        unsafe {
            if self.array.is_null() {
                return Arguments::pointer(self.args).cast_const().cast();
            }
            let value = (*self.array).value;
            self.array = self.array.add(1);
            value
        }
    }

    unsafe fn number(&mut self, width: Width) -> i64 {
        // SAFETY: as `next`.
        unsafe {
            if self.array.is_null() {
                return Arguments::integer(self.args, width);
            }
            self.pointer().addr() as i64
        }
    }
}

/// The shim's `curl_formadd`.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn warmwire_formadd(
    first: *mut *mut HttpPost,
    last: *mut *mut HttpPost,
    args: *mut Arguments,
) -> c_int {
    entry(CURL_FORMADD_MEMORY, || {
        if first.is_null() || last.is_null() {
            return CURL_FORMADD_NULL;
        }
        let mut options = Options { args, array: ptr::null() };
        // SAFETY: the application vouches for the arguments and for the two list pointers.
        let built = unsafe { read_section(&mut options) }.and_then(Section::build);
        match built {
            Err(code) => code,
            Ok(post) => {
                // SAFETY: as above: both are NULL or nodes of one list.
                unsafe {
                    if (*last).is_null() {
                        *first = post;
                    } else {
                        (**last).next = post;
                    }
                    *last = post;
                }
                CURL_FORMADD_OK
            }
        }
    })
}

/// # Safety
/// The options are as curl_formadd's manual page has them.
unsafe fn read_section(options: &mut Options) -> Outcome<Section> {
    let mut section = Section { items: vec![Item::empty()], name: None };
    loop {
        // SAFETY: the caller's promise: the argument types follow from the options.
        unsafe {
            let option = options.next();
            match option {
                CURLFORM_END => return Ok(section),
                CURLFORM_ARRAY if !options.array.is_null() => return Err(CURL_FORMADD_ILLEGAL_ARRAY),
                CURLFORM_ARRAY => {
                    options.array = options.pointer().cast();
                    if options.array.is_null() {
                        return Err(CURL_FORMADD_NULL);
                    }
                }
                _ => section.take(option, options)?,
            }
        }
    }
}

impl Item {
    fn empty() -> Item {
        Item { post: HttpPost::empty(), value: ptr::null(), type_given: false }
    }
}

fn once<T>(place: &mut *mut T, value: *const T) -> Outcome {
    if !place.is_null() {
        return Err(CURL_FORMADD_OPTION_TWICE);
    }
    if value.is_null() {
        return Err(CURL_FORMADD_NULL);
    }
    *place = value.cast_mut();
    Ok(())
}

fn set_value(item: &mut Item, value: *const c_char) -> Outcome {
    let mut place = item.value.cast_mut();
    once(&mut place, value)?;
    item.value = place;
    Ok(())
}

impl Section {
    /// # Safety
    /// The option's argument comes next.
    unsafe fn take(&mut self, option: c_int, options: &mut Options) -> Outcome {
        let item = self.items.last_mut().expect("a section begins with an item");
        let flag = |item: &mut Item, flag: c_int| item.post.flags |= c_long::from(flag);
        // SAFETY: the caller's promise, in each arm.
        unsafe {
            match option {
                CURLFORM_COPYNAME | CURLFORM_PTRNAME => {
                    let text = options.pointer();
                    if self.name.as_ref().is_some_and(|name| !name.text.is_null()) {
                        return Err(CURL_FORMADD_OPTION_TWICE);
                    }
                    if text.is_null() {
                        return Err(CURL_FORMADD_NULL);
                    }
                    let length = self.name.as_ref().map_or(0, |name| name.length);
                    self.name = Some(FieldName { text, length, borrowed: option == CURLFORM_PTRNAME });
                }
                CURLFORM_NAMELENGTH => {
                    let length = options.number(Width::Long);
                    match &mut self.name {
                        Some(name) if name.length != 0 => return Err(CURL_FORMADD_OPTION_TWICE),
                        Some(name) => name.length = length,
                        None => self.name = Some(FieldName { text: ptr::null(), length, borrowed: false }),
                    }
                }
                CURLFORM_COPYCONTENTS | CURLFORM_PTRCONTENTS => {
                    set_value(item, options.pointer())?;
                    if option == CURLFORM_PTRCONTENTS {
                        flag(item, CURL_HTTPPOST_PTRCONTENTS);
                    }
                }
                CURLFORM_CONTENTSLENGTH => item.post.content_len = options.number(Width::Long),
                CURLFORM_CONTENTLEN => item.post.content_len = options.number(Width::LongLong),
                // It replaces the contents of any other option, except for a pointer.
                CURLFORM_FILECONTENT => {
                    let value = options.pointer();
                    if item.post.has(c_long::from(CURL_HTTPPOST_PTRCONTENTS | CURL_HTTPPOST_READFILE)) {
                        return Err(CURL_FORMADD_OPTION_TWICE);
                    }
                    if value.is_null() {
                        return Err(CURL_FORMADD_NULL);
                    }
                    item.value = value;
                    flag(item, CURL_HTTPPOST_READFILE);
                }
                CURLFORM_FILE => {
                    let value = options.pointer();
                    if value.is_null() {
                        return Err(CURL_FORMADD_NULL);
                    }
                    let mut target = item;
                    if !target.value.is_null() {
                        if !target.post.has(CURL_HTTPPOST_FILENAME.into()) {
                            return Err(CURL_FORMADD_OPTION_TWICE);
                        }
                        self.items.push(Item::empty());
                        target = self.items.last_mut().expect("just pushed");
                    }
                    target.value = value;
                    flag(target, CURL_HTTPPOST_FILENAME);
                }
                CURLFORM_BUFFERPTR => {
                    once(&mut item.post.buffer, options.pointer())?;
                    item.value = item.post.buffer;
                    flag(item, CURL_HTTPPOST_BUFFER | CURL_HTTPPOST_PTRBUFFER);
                }
                CURLFORM_BUFFERLENGTH => {
                    let length = to_long(options.number(Width::Long));
                    if item.post.buffer_length != 0 {
                        return Err(CURL_FORMADD_OPTION_TWICE);
                    }
                    item.post.buffer_length = length;
                }
                CURLFORM_STREAM => {
                    once(&mut item.post.user, options.pointer().cast::<c_void>())?;
                    item.value = item.post.user.cast();
                    flag(item, CURL_HTTPPOST_CALLBACK);
                }
                CURLFORM_CONTENTTYPE => {
                    let value = options.pointer();
                    if item.type_given {
                        return Err(CURL_FORMADD_OPTION_TWICE);
                    }
                    once(&mut item.post.content_type, value)?;
                    item.type_given = true;
                }
                CURLFORM_CONTENTHEADER => {
                    once(&mut item.post.content_header, options.pointer().cast())?;
                }
                CURLFORM_FILENAME | CURLFORM_BUFFER => once(&mut item.post.show_filename, options.pointer())?,
                _ => return Err(CURL_FORMADD_UNKNOWN_OPTION),
            }
        }
        Ok(())
    }

    /// Checks that everything required is set, and copies what must be copied.
    fn build(self) -> Outcome<*mut HttpPost> {
        let name = self.name.filter(|name| !name.text.is_null()).ok_or(CURL_FORMADD_INCOMPLETE)?;
        for item in &self.items {
            let is_file = item.post.has(CURL_HTTPPOST_FILENAME.into());
            if item.value.is_null() || item.post.content_len != 0 && is_file {
                return Err(CURL_FORMADD_INCOMPLETE);
            }
        }
        let mut previous_type: *const c_char = ptr::null();
        let mut head: *mut HttpPost = ptr::null_mut();
        let mut tail: *mut HttpPost = ptr::null_mut();
        for (index, mut item) in self.items.into_iter().enumerate() {
            let is_named = index > 0 || name.give_to(&mut item.post);
            let is_filled = item.fill(previous_type);
            previous_type = item.post.content_type;
            let node = if is_named && is_filled { memory::place(item.post) } else { ptr::null_mut() };
            if node.is_null() {
                // SAFETY: copies made above, and a list that is unknown to anybody else.
                unsafe {
                    item.post.release_copies();
                    curl_formfree(head);
                }
                return Err(CURL_FORMADD_MEMORY);
            }
            if tail.is_null() {
                head = node;
            } else {
                // SAFETY: the node made in the round before.
                unsafe { (*tail).more = node }
            }
            tail = node;
        }
        Ok(head)
    }
}

impl FieldName {
    /// Whether memory was enough for it.
    fn give_to(&self, post: &mut HttpPost) -> bool {
        // SAFETY: a C string, or as many bytes as the application said.
        let text = unsafe { with_length(self.text, self.length) };
        post.name_length = to_long(text.len() as i64);
        if self.borrowed {
            post.name = self.text.cast_mut();
            post.flags |= c_long::from(CURL_HTTPPOST_PTRNAME);
        } else {
            post.name = memory::copy_string(text);
        }
        !post.name.is_null()
    }
}

impl Item {
    /// Copies texts, and guesses the type of a file as curl does: from its name, else the type of the
    /// previous file, else bytes. Returns whether memory sufficed.
    fn fill(&mut self, previous_type: *const c_char) -> bool {
        let post = &mut self.post;
        post.flags |= c_long::from(CURL_HTTPPOST_LARGE); // lengths are in `content_len`, as in curl
        let is_short = Cell::new(false);
        let owned = |text: &[u8]| {
            let copy = memory::copy_string(text);
            is_short.set(is_short.get() || copy.is_null());
            copy
        };
        let copy = |text: *const c_char| {
            // SAFETY: NULL or a C string of the application's.
            unsafe { bytes(text) }.map_or(ptr::null_mut(), owned)
        };
        let is_file = post.has(c_long::from(CURL_HTTPPOST_FILENAME | CURL_HTTPPOST_BUFFER));
        let path =
            if post.has(CURL_HTTPPOST_BUFFER.into()) { post.show_filename } else { self.value.cast_mut() };
        if !post.content_type.is_null() {
            post.content_type = copy(post.content_type);
        } else if is_file {
            // SAFETY: a file's name and a type made before are C strings.
            let (path, previous) = unsafe { (bytes(path).unwrap_or_default(), bytes(previous_type)) };
            let guess = mime::guess_type(path).map(str::as_bytes);
            post.content_type = owned(guess.or(previous).unwrap_or(mime::FILE_TYPE.as_bytes()));
        }
        post.show_filename = copy(post.show_filename);
        let as_is = CURL_HTTPPOST_PTRCONTENTS | CURL_HTTPPOST_PTRBUFFER | CURL_HTTPPOST_CALLBACK;
        post.contents = if post.has(as_is.into()) {
            self.value.cast_mut()
        } else if post.has(c_long::from(CURL_HTTPPOST_FILENAME | CURL_HTTPPOST_READFILE)) {
            copy(self.value)
        } else {
            // SAFETY: the application's contents of the length it said.
            owned(unsafe { with_length(self.value, post.contents_len()) })
        };
        !is_short.get()
    }
}

/// The bytes of `text`: `length` of them, or up to its zero when that is 0 or negative.
///
/// # Safety
/// `text` is readable that far.
unsafe fn with_length<'a>(text: *const c_char, length: i64) -> &'a [u8] {
    match usize::try_from(length) {
        // SAFETY: the caller's promise.
        Ok(length) if length > 0 => unsafe { std::slice::from_raw_parts(text.cast(), length) },
        // SAFETY: the caller's promise.
        _ => unsafe { bytes(text) }.unwrap_or_default(),
    }
}

/// `form` as parts; `read` is the easy handle's read callback, which CURLFORM_STREAM uses. Without one such a
/// part is empty.
///
/// # Safety
/// `form` is NULL or a list made by curl_formadd.
pub unsafe fn lay_out(form: *const HttpPost, read: Option<ReadFn>) -> Result<Vec<Part<Source>>, Code> {
    let mut parts = Vec::new();
    // SAFETY: the caller's promise.
    let mut at = unsafe { form.as_ref() };
    while let Some(post) = at {
        // SAFETY: nodes link to nodes or NULL; names are C strings or counted.
        unsafe {
            let name =
                (!post.name.is_null()).then(|| with_length(post.name, from_long(post.name_length)).to_vec());
            let mut part = if post.more.is_null() { post.part(read)? } else { post.several(read)? };
            part.name = name;
            part.headers = slist::strings(post.content_header).map(|line| line.to_bytes().to_vec()).collect();
            parts.push(part);
            at = post.next.as_ref();
        }
    }
    Ok(parts)
}

impl HttpPost {
    unsafe fn several(&self, read: Option<ReadFn>) -> Result<Part<Source>, Code> {
        let mut files = Vec::new();
        let mut at = Some(self);
        while let Some(post) = at {
            // SAFETY: further files link to each other or NULL.
            unsafe {
                files.push(post.part(read)?);
                at = post.more.as_ref();
            }
        }
        Ok(Part { content: Content::Parts(files), ..Part::default() })
    }

    unsafe fn part(&self, read: Option<ReadFn>) -> Result<Part<Source>, Code> {
        // SAFETY: the flags describe the pointers.
        unsafe {
            let contents = || bytes(self.contents).unwrap_or_default().to_vec();
            // Plain contents and those of CURLFORM_FILECONTENT are not files to the server, whatever
            // CURLFORM_FILENAME says.
            let is_file = self
                .has(c_long::from(CURL_HTTPPOST_FILENAME | CURL_HTTPPOST_BUFFER | CURL_HTTPPOST_CALLBACK));
            let mut filename = bytes(self.show_filename).filter(|_| is_file).map(<[u8]>::to_vec);
            let content = if self.has(c_long::from(CURL_HTTPPOST_FILENAME | CURL_HTTPPOST_READFILE)) {
                let path = contents();
                if path == b"-" {
                    let content_type = bytes(self.content_type).map(<[u8]>::to_vec);
                    return Ok(Part {
                        filename,
                        content_type,
                        content: application::standard_input(),
                        ..Part::default()
                    });
                }
                let shows_path = is_file && !self.has(CURL_HTTPPOST_READFILE.into());
                if shows_path && filename.is_none() {
                    filename = Some(base_name(&path).to_vec());
                }
                Source::file(path)?
            } else if self.has(CURL_HTTPPOST_BUFFER.into()) {
                Content::Memory(with_length(self.buffer, from_long(self.buffer_length)).into())
            } else if self.has(CURL_HTTPPOST_CALLBACK.into()) {
                let size = if self.contents_len() > 0 { self.contents_len() } else { -1 };
                match read {
                    Some(read) => Source::callback(Rc::new(Callback::new(size, read, None, None, self.user))),
                    None => Content::Memory([].into()),
                }
            } else {
                Content::Memory(with_length(self.contents, self.contents_len()).into())
            };
            let content_type = bytes(self.content_type).map(<[u8]>::to_vec);
            Ok(Part { filename, content_type, content, ..Part::default() })
        }
    }
}

impl HttpPost {
    /// # Safety
    /// Pointers whose flags mark them as copies were allocated here, and are not used again.
    unsafe fn release_copies(&self) {
        // SAFETY: the caller's promise.
        unsafe {
            if !self.has(CURL_HTTPPOST_PTRNAME.into()) {
                memory::release(self.name.cast());
            }
            let as_is = CURL_HTTPPOST_PTRCONTENTS | CURL_HTTPPOST_PTRBUFFER | CURL_HTTPPOST_CALLBACK;
            if !self.has(as_is.into()) {
                memory::release(self.contents.cast());
            }
            memory::release(self.content_type.cast());
            memory::release(self.show_filename.cast());
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_formfree(form: *mut HttpPost) {
    entry((), || {
        let mut at = form;
        while !at.is_null() {
            // SAFETY: a list made by curl_formadd; each node is read before it is released.
            unsafe {
                let next = (*at).next;
                curl_formfree((*at).more);
                (*at).release_copies();
                memory::release(at.cast());
                at = next;
            }
        }
    });
}

type AppendFn = unsafe extern "C-unwind" fn(*mut c_void, *const c_char, usize) -> usize;

/// Returns 0 or a CURLcode. A CURLFORM_STREAM part is written without contents: there is no handle whose read
/// function could interpret its pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn curl_formget(
    form: *mut HttpPost,
    arg: *mut c_void,
    append: Option<AppendFn>,
) -> c_int {
    entry(Code::OutOfMemory.id(), || {
        let Some(append) = append else {
            return Code::BadFunctionArgument.id();
        };
        let put = |text: &[u8]| {
            // SAFETY: the application's function takes that many bytes.
            let taken = unsafe { append(arg, text.as_ptr().cast(), text.len()) };
            if taken == text.len() { Ok(()) } else { Err(Code::ReadError) }
        };
        // SAFETY: a list made by curl_formadd, by the caller's promise.
        let parts = unsafe { lay_out(form, None) };
        let result =
            parts.and_then(|parts| FormBody::open(parts, None, Escape::Percent)).and_then(|mut body| {
                let mut buffer = [0; 8192];
                put(&[b"Content-Type: ", body.content_type(), b"\r\n\r\n"].concat())?;
                loop {
                    match body.read(&mut buffer)? {
                        Got::Bytes(0) => return Ok(()),
                        Got::Bytes(len) => put(&buffer[..len])?,
                        _ => return Err(Code::ReadError),
                    }
                }
            });
        result.map_or_else(Code::id, |()| 0)
    })
}
