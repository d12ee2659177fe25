//! curl_easy_setopt: the option's row determines the argument's kind. Numbers, texts and lists go to the
//! engine's settings (which check ranges and refuse what is not built in), pointers to the application's.

use std::ffi::{c_char, c_int, c_void};
use std::rc::Rc;

use engine::mime::{MimeReader, MimeSource};
use engine::settings::{MAX_INPUT_LENGTH, Settings, answer};
use engine::{Error, callbacks::ReadAnswer};
use tables::constant::CURLMIMEOPT_FORMESCAPE;
use tables::easy_option::{PointerRule, Rule};
use tables::{ArgKind, Code, EasyOption as O, Entry, Support};
use wire::mime::{Escape, Part};

use crate::application::Application;
use crate::easy::objects::{Form, Objects};
use crate::easy::{self, EasyHandle};
use crate::form;
use crate::form_body::{FormBody, Got, Source};
use crate::slist::{self, Slist};
use crate::text::bytes;
use crate::{mime, share, url};

/// `struct curl_blob`.
#[repr(C)]
struct Blob {
    data: *const u8,
    len: usize,
    flags: u32,
}

/// The shim's `curl_easy_setopt`: the option's type decides whether `number` or `pointer` is valid.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn warmwire_easy_setopt(
    handle: *mut c_void,
    option: c_int,
    number: i64,
    pointer: *mut c_void,
) -> c_int {
    easy::run(handle, Entry::EasySetopt, |easy, _| {
        let option = O::from_id(option).ok_or(Code::UnknownOption)?;
        set(easy, option, number, pointer)?;
        if matches!(option.kind(), ArgKind::Long | ArgKind::Values | ArgKind::OffT) {
            easy.refresh(); // what it copies are numbers
        }
        Ok(())
    })
}

fn set(easy: &EasyHandle, option: O, number: i64, pointer: *mut c_void) -> Result<(), Code> {
    let state = easy.easy.state();
    let settings =
        |change: &dyn Fn(&mut Settings) -> Result<(), Code>| change(&mut state.settings.borrow_mut());
    match option.kind() {
        ArgKind::Long | ArgKind::Values | ArgKind::OffT => {
            settings(&|s| s.set_long(option, number))?;
            if matches!(option, O::PostFieldSize | O::PostFieldSizeLarge) && number > easy.app.post_size.get()
            {
                // A copy of the size before has too few bytes now: it is void, as in curl.
                state.settings.borrow_mut().forget_copied_post_fields();
            }
            if matches!(option, O::MaxRecvSpeedLarge | O::MaxSendSpeedLarge) {
                easy.easy.pace_changed();
            }
            Ok(())
        }
        ArgKind::String => {
            // SAFETY: a C string or NULL, as the manual demands.
            let text = unsafe { bytes(pointer.cast::<c_char>()) };
            easy.easy.set_text(option, text)
        }
        ArgKind::SList => {
            // SAFETY: a list or NULL, as the manual demands.
            let lines = unsafe { slist::strings(pointer.cast::<Slist>()) };
            let lines: Vec<Rc<[u8]>> = lines.map(|line| Rc::from(line.to_bytes())).collect();
            let lines = (!pointer.is_null()).then_some(lines);
            settings(&|s| s.set_list(option, lines.clone()))?;
            easy.lists.keep(option, pointer.cast());
            Ok(())
        }
        ArgKind::Blob => {
            // SAFETY: a blob or NULL, as the manual demands.
            let blob = unsafe { pointer.cast::<Blob>().as_ref() };
            if blob.is_some_and(|blob| blob.data.is_null() || blob.len == 0) {
                answer(option, false)?;
                return Err(Code::BadFunctionArgument);
            }
            // SAFETY: as above; its bytes are copied whatever its flags are.
            let blob = blob.map(|blob| unsafe { std::slice::from_raw_parts(blob.data, blob.len) });
            settings(&|s| s.set_text(option, blob))
        }
        ArgKind::Object | ArgKind::CbPtr | ArgKind::Function => set_pointer(easy, option, pointer),
    }
}

/// Stores a pointer by the rule of the option's row.
// exhaustive: options
fn set_pointer(easy: &EasyHandle, option: O, pointer: *mut c_void) -> Result<(), Code> {
    answer(option, pointer.is_null())?;
    if !matches!(option.support(), Support::Built | Support::SystemTls) {
        return Ok(());
    }
    let Rule::Pointer(rule) = option.rule() else { return Err(Code::UnknownOption) };
    let state = easy.easy.state();
    let app = &easy.app;
    match rule {
        PointerRule::Plain => app.pointers.set(option, pointer),
        PointerRule::PostFields => {
            app.pointers.set(option, pointer);
            state.settings.borrow_mut().post_fields_given();
        }
        PointerRule::CopiedPostFields => return copy_post_fields(easy, pointer.cast()),
        PointerRule::Form => set_form(easy, (!pointer.is_null()).then_some(Form::Mime(pointer))),
        PointerRule::OldForm => set_form(easy, (!pointer.is_null()).then_some(Form::Posts(pointer.cast()))),
        PointerRule::UrlHandle => {
            let url = (!pointer.is_null()).then_some(pointer.cast_const());
            easy.objects.set(Objects { url, ..easy.objects.get() });
            state.settings.borrow_mut().uncommon.url_handle = url.map(url_source);
        }
        PointerRule::Share => {
            let share = match pointer.is_null() {
                true => None,
                false => Some(share::find(pointer).ok_or(Code::BadFunctionArgument)?),
            };
            easy.easy.set_share(share);
        }
        PointerRule::TlsContext => {
            app.pointers.set(option, pointer);
            let [function, data] =
                [app.pointers.ssl_ctx(), app.pointers.ssl_ctx_data()].map(|pointer| pointer as usize);
            state.settings.borrow_mut().set_tls_hook((function != 0).then_some([function, data]));
        }
        PointerRule::Ignored => {}
    }
    Ok(())
}

/// CURLOPT_MIMEPOST and CURLOPT_HTTPPOST.
fn set_form(easy: &EasyHandle, form: Option<Form>) {
    easy.objects.set(Objects { form, ..easy.objects.get() });
    let source = form.map(|form| form_source(&easy.app, form));
    let old = easy.easy.state().settings.borrow_mut().set_mime(source);
    drop(old);
}

/// CURLOPT_COPYPOSTFIELDS: as many bytes as POSTFIELDSIZE says now, or up to the zero.
fn copy_post_fields(easy: &EasyHandle, text: *const c_char) -> Result<(), Code> {
    easy.app.pointers.set(O::PostFields, std::ptr::null_mut());
    let size = usize::try_from(easy.app.post_size.get());
    let given = match (text.is_null(), size) {
        (true, _) => None,
        // SAFETY: the application said how many bytes there are.
        (_, Ok(size)) => Some(unsafe { std::slice::from_raw_parts(text.cast::<u8>(), size) }),
        // SAFETY: without a size it is a C string.
        _ => unsafe { bytes(text) },
    };
    if size.is_err() && given.is_some_and(|text| text.len() > MAX_INPUT_LENGTH) {
        return Err(Code::BadFunctionArgument);
    }
    easy.easy.state().settings.borrow_mut().set_text(O::CopyPostFields, given)
}

impl EasyHandle {
    /// Use the same form of old and URL handle as `other`, through values of this handle's own, and a copy of
    /// its MIME tree.
    pub fn share_objects(&self, other: &EasyHandle) {
        let mut objects = other.objects.get();
        let mut own = None;
        if let Some(Form::Mime(tree)) = &mut objects.form {
            own = mime::Copied::of(*tree);
            *tree = own.as_ref().map_or(*tree, mime::Copied::handle);
        }
        self.objects.set(objects);
        let mut settings = self.easy.state().settings.borrow_mut();
        let source =
            |form| Rc::new(FormSource { form, _own: own, app: self.app.clone() }) as Rc<dyn MimeSource>;
        settings.set_objects(objects.form.map(source), objects.url.map(url_source));
    }

    /// Copies the settings that callbacks need without asking the engine.
    pub fn refresh(&self) {
        let settings = self.easy.state().settings.borrow();
        self.app.progress_wanted.set(!settings.on(O::NoProgress));
        self.app.verbose.set(settings.on(O::Verbose));
        self.app.post_size.set(settings.long(O::PostFieldSizeLarge));
        let escapes = settings.long(O::MimeOptions) & CURLMIMEOPT_FORMESCAPE != 0;
        self.app.backslash_escapes.set(escapes);
    }
}

fn form_source(app: &Rc<Application>, form: Form) -> Rc<dyn MimeSource> {
    Rc::new(FormSource { form, _own: None, app: app.clone() })
}

fn url_source(handle: *const c_void) -> Rc<dyn Fn() -> wire::url::Url> {
    Rc::new(move || url::find(handle).unwrap_or_default())
}

/// A form that is laid out anew for each pass.
struct FormSource {
    form: Form,
    /// The tree itself, when it was copied with its handle.
    _own: Option<mime::Copied>,
    app: Rc<Application>,
}

impl MimeSource for FormSource {
    fn open(&self, kind: Option<&[u8]>) -> engine::Result<Box<dyn MimeReader>> {
        let Some(parts) = self.lay_out()? else { return Ok(Box::new(NoForm)) };
        let body = FormBody::open(parts, kind, self.escape()).map_err(Error::from)?;
        Ok(Box::new(FormReader(body)))
    }

    fn open_mail(&self, headers: &[Vec<u8>]) -> engine::Result<Box<dyn MimeReader>> {
        let Some(parts) = self.lay_out()? else { return Ok(Box::new(NoForm)) };
        let body = FormBody::open_mail(parts, headers).map_err(Error::from)?;
        Ok(Box::new(FormReader(body)))
    }
}

impl FormSource {
    /// Its parts; none of a form that was freed while it was set, which is an empty body.
    fn lay_out(&self) -> engine::Result<Option<Vec<Part<Source>>>> {
        let parts = match self.form {
            Form::Mime(handle) if !mime::is_alive(handle) => return Ok(None),
            Form::Mime(handle) => mime::lay_out(handle),
            // SAFETY: the manual requires the application to keep the form until the transfer is done.
            Form::Posts(form) => unsafe { form::lay_out(form, Some(self.app.stream_read())) },
        };
        parts.map(Some).map_err(Error::from)
    }

    fn escape(&self) -> Escape {
        if self.app.backslash_escapes.get() { Escape::Backslash } else { Escape::Percent }
    }
}

/// The replacement for a form that has been freed.
struct NoForm;

impl MimeReader for NoForm {
    fn content_type(&self) -> Option<Vec<u8>> {
        None
    }

    fn size(&self) -> Option<u64> {
        Some(0)
    }

    fn read(&mut self, _buf: &mut [u8]) -> engine::Result<ReadAnswer> {
        Ok(ReadAnswer::Bytes(0))
    }
}

struct FormReader(FormBody);

impl MimeReader for FormReader {
    fn content_type(&self) -> Option<Vec<u8>> {
        Some(self.0.content_type().to_vec())
    }

    fn size(&self) -> Option<u64> {
        self.0.size()
    }

    fn read(&mut self, buf: &mut [u8]) -> engine::Result<ReadAnswer> {
        Ok(match self.0.read(buf)? {
            Got::Bytes(len) => ReadAnswer::Bytes(len),
            Got::Pause => ReadAnswer::Pause,
            Got::Abort => ReadAnswer::Abort,
            Got::TooMany => ReadAnswer::TooMany,
        })
    }
}
