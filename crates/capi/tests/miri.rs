//! The C API, called through its exported functions without any C, for Miri. Handles, lists, trees of parts,
//! strings and tables that cross the boundary, and callbacks that call back in the middle of a transfer.
//!
//! `make miri` runs it: each read of freed or uninitialized memory and each leak fails. Miri lacks the system
//! calls for sockets and TLS: the programs of tests/abi under the sanitizers cover those.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_long, c_void};
use std::ptr::{self, null, null_mut};

use tables::{Code, EasyOption as O, Info, MultiCode, ShareCode, ShareOption, UrlCode};
use warmwire_capi::easy::functions::*;
use warmwire_capi::memory::curl_free;
use warmwire_capi::mime::*;
use warmwire_capi::multi::functions::*;
use warmwire_capi::options::*;
use warmwire_capi::share::{curl_share_cleanup, curl_share_init};
use warmwire_capi::slist::*;
use warmwire_capi::strerror::curl_easy_strerror;
use warmwire_capi::text::*;
use warmwire_capi::url::*;
use warmwire_capi::version::{curl_version, curl_version_info};

// The Rust half of functions that are variadic in C.
unsafe extern "C-unwind" {
    fn warmwire_easy_setopt(handle: *mut c_void, option: c_int, number: i64, pointer: *mut c_void) -> c_int;
    fn warmwire_easy_getinfo(handle: *mut c_void, info: c_int, out: *mut c_void) -> c_int;
    fn warmwire_share_setopt(handle: *mut c_void, option: c_int, number: i64, pointer: *mut c_void) -> c_int;
}

const OK: c_int = 0;
const ZERO_TERMINATED: usize = usize::MAX;

/// A pointer option; functions are cast to one.
fn set(handle: *mut c_void, option: O, pointer: *const c_void) -> c_int {
    // SAFETY: handles are looked up, and the tests pass what the options require.
    unsafe { warmwire_easy_setopt(handle, option.id(), 0, pointer.cast_mut()) }
}

fn set_text(handle: *mut c_void, option: O, value: &CStr) -> c_int {
    set(handle, option, value.as_ptr().cast())
}

/// SAFETY: NULL or a text for C.
unsafe fn text<'a>(at: *const c_char) -> &'a str {
    assert!(!at.is_null());
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(at) }.to_str().unwrap()
}

#[test]
fn strings_and_lists_are_the_callers() {
    // SAFETY: C strings, and lists and strings of the library's that are freed once.
    unsafe {
        let mut list = null_mut();
        for line in [c"one", c"", c"three"] {
            let own = line.to_owned();
            list = curl_slist_append(list, own.as_ptr());
            drop(own); // it was copied
        }
        let lines: Vec<&CStr> = strings(list).collect();
        assert_eq!(lines, [c"one", c"", c"three"]);
        curl_slist_free_all(list);
        curl_slist_free_all(null_mut());

        let escaped = curl_easy_escape(null_mut(), c"a b/\xff".as_ptr(), 0);
        assert_eq!(text(escaped), "a%20b%2F%FF");
        let mut length = -1;
        let plain = curl_easy_unescape(null_mut(), c"a%00b%20".as_ptr(), 8, &mut length);
        assert_eq!(std::slice::from_raw_parts(plain.cast::<u8>(), length as usize + 1), b"a\0b \0");
        curl_free(escaped.cast());
        curl_free(plain.cast());
        curl_free(null_mut());
        // The length decides, not the zero.
        let part = curl_easy_escape(null_mut(), [b'x' as c_char, b'y' as c_char].as_ptr(), 1);
        assert_eq!(text(part), "x");
        curl_free(part.cast());

        assert_eq!(curl_strequal(c"AbC".as_ptr(), c"aBc".as_ptr()), 1);
        assert_eq!(curl_strnequal(c"AbCd".as_ptr(), c"aBcX".as_ptr(), 3), 1);
        assert_eq!(text(curl_easy_strerror(OK)), "No error");
        assert!(text(curl_version()).contains("libcurl/"));
        let info = curl_version_info(11);
        assert!(!info.is_null() && info == curl_version_info(0));
    }
}

#[test]
fn tables_are_walked() {
    // SAFETY: C strings and rows of the table.
    unsafe {
        let by_id = curl_easy_option_by_id(O::Url.id());
        assert!(!by_id.is_null() && by_id == curl_easy_option_by_name(c"url".as_ptr()));
        assert!(curl_easy_option_by_name(c"none".as_ptr()).is_null());
        let (mut row, mut rows) = (curl_easy_option_next(null()), 0);
        while !row.is_null() {
            rows += 1;
            row = curl_easy_option_next(row);
        }
        assert!(rows > 300, "{rows}");
    }
}

#[test]
fn urls_are_set_asked_and_copied() {
    let part = |number: c_int, handle: *const c_void| {
        let mut out = null_mut();
        // SAFETY: handles are looked up, `out` is a place.
        let code = unsafe { curl_url_get(handle, number, &mut out, 0) };
        if code != OK {
            assert!(out.is_null());
            return Err(code);
        }
        // SAFETY: the library's, and freed once.
        unsafe {
            let shown = text(out).to_owned();
            curl_free(out.cast());
            Ok(shown)
        }
    };
    // SAFETY: handles are looked up, the texts are C's.
    unsafe {
        let url = curl_url();
        assert_eq!(curl_url_set(url, 0, c"https://u:p@host.example/a/../b?q#f".as_ptr(), 0), OK);
        assert_eq!(part(0, url).unwrap(), "https://u:p@host.example/b?q#f");
        assert_eq!(part(6, url), Err(UrlCode::NoPort.id()));
        let copy = curl_url_dup(url);
        assert_eq!(curl_url_set(url, 8, null(), 0), OK);
        assert_eq!(curl_url_set(url, 0, c"../c".as_ptr(), 0), OK);
        assert_eq!(part(0, url).unwrap(), "https://u:p@host.example/c");
        curl_url_cleanup(url);
        assert_eq!(part(5, copy).unwrap(), "host.example");
        assert_eq!(part(5, url), Err(UrlCode::BadHandle.id()), "stale");
        curl_url_cleanup(url);
        curl_url_cleanup(copy);
    }
}

thread_local! { static FREED: Cell<usize> = const { Cell::new(0) }; }

unsafe extern "C-unwind" fn gone(user: *mut c_void) {
    FREED.set(FREED.get() + 1);
    // SAFETY: created by `boxed`; each user has its own.
    drop(unsafe { Box::from_raw(user.cast::<Vec<u8>>()) });
}

unsafe extern "C-unwind" fn give(to: *mut c_char, size: usize, count: usize, user: *mut c_void) -> usize {
    // SAFETY: created by `boxed`, and there is room for size times count octets.
    unsafe {
        let left = &mut *user.cast::<Vec<u8>>();
        let length = left.len().min(size * count).min(2);
        ptr::copy_nonoverlapping(left.as_ptr().cast(), to, length);
        left.drain(..length);
        length
    }
}

#[test]
fn trees_of_parts_are_freed_once() {
    // SAFETY: handles are looked up; only the tree frees what was passed to it.
    unsafe {
        let easy = curl_easy_init();
        let (mime, inner) = (curl_mime_init(easy), curl_mime_init(easy));
        let part = curl_mime_addpart(mime);
        let data = CString::new("content").unwrap();
        assert_eq!(curl_mime_data(part, data.as_ptr(), ZERO_TERMINATED), OK);
        assert_eq!(curl_mime_data(part, data.as_ptr(), 3), OK);
        drop(data);
        assert_eq!(curl_mime_name(part, c"name".as_ptr()), OK);
        assert_eq!(curl_mime_name(part, null()), OK);
        assert_eq!(curl_mime_filename(part, c"f".as_ptr()), OK);
        assert_eq!(curl_mime_type(part, c"text/plain".as_ptr()), OK);
        assert_eq!(curl_mime_encoder(part, c"base64".as_ptr()), OK);
        // The first list belongs to the application; the second goes with the part, and replaces it.
        let kept = curl_slist_append(null_mut(), c"X-Kept: 1".as_ptr());
        assert_eq!(curl_mime_headers(part, kept, 0), OK);
        assert_eq!(curl_mime_headers(part, curl_slist_append(null_mut(), c"X-Given: 1".as_ptr()), 1), OK);
        curl_slist_free_all(kept);

        let deep = curl_mime_addpart(inner);
        let source = Box::into_raw(Box::new(b"from a callback".to_vec())).cast();
        assert_eq!(curl_mime_data_cb(deep, 15, Some(give), None, Some(gone), source), OK);
        let holder = curl_mime_addpart(mime);
        assert_eq!(curl_mime_subparts(holder, inner), OK);
        assert_eq!(curl_mime_subparts(deep, mime), Code::BadFunctionArgument.id(), "a circle");
        assert_eq!(set(easy, O::MimePost, mime), OK);
        let before = FREED.get();
        curl_mime_free(mime); // inner with it
        assert_eq!(FREED.get(), before + 1);
        assert_eq!(curl_mime_name(deep, c"x".as_ptr()), Code::BadFunctionArgument.id(), "stale");
        curl_mime_free(inner);
        curl_mime_free(null_mut());
        curl_easy_cleanup(easy);
    }
}

#[test]
fn handles_end_once() {
    // SAFETY: handles are looked up; the targets of options outlive them.
    unsafe {
        let easy = curl_easy_init();
        let url = c"http://host.example/".to_owned();
        assert_eq!(set_text(easy, O::Url, &url), OK);
        drop(url); // it was copied
        let list = curl_slist_append(null_mut(), c"X-A: 1".as_ptr());
        assert_eq!(set(easy, O::HttpHeader, list.cast()), OK);
        assert_eq!(set_text(easy, O::CopyPostFields, c"posted"), OK);
        assert_eq!(set_text(easy, O::Private, c"mine"), OK);
        let copy = curl_easy_duphandle(easy);
        let mut shown: *const c_char = null();
        for handle in [easy, copy] {
            let out = (&raw mut shown).cast();
            assert_eq!(warmwire_easy_getinfo(handle, Info::EffectiveUrl.id(), out), OK);
            assert_eq!(text(shown), "http://host.example/");
            assert_eq!(warmwire_easy_getinfo(handle, Info::Private.id(), out), OK);
            assert_eq!(text(shown), "mine");
        }
        let mut code: c_long = -1;
        assert_eq!(warmwire_easy_getinfo(easy, Info::ResponseCode.id(), (&raw mut code).cast()), OK);
        assert_eq!(code, 0);
        curl_easy_reset(easy);
        curl_easy_cleanup(easy);
        curl_easy_cleanup(easy);
        assert_eq!(set_text(easy, O::Url, c"x"), Code::BadFunctionArgument.id());
        assert_eq!(curl_easy_perform(easy), Code::BadFunctionArgument.id());
        assert!(curl_easy_duphandle(easy).is_null());
        curl_easy_cleanup(copy);
        curl_slist_free_all(list);
        let local = 0_u64;
        curl_easy_cleanup((&raw const local).cast_mut().cast());
    }
}

thread_local! { static LOCKED: Cell<isize> = const { Cell::new(0) }; }

unsafe extern "C-unwind" fn lock(_: *mut c_void, _: c_int, _: c_int, user: *mut c_void) {
    LOCKED.set(LOCKED.get() + 1);
    // SAFETY: the test's own number.
    unsafe { *user.cast::<u32>() += 1 };
}

unsafe extern "C-unwind" fn unlock(_: *mut c_void, _: c_int, _: *mut c_void) {
    LOCKED.set(LOCKED.get() - 1);
}

#[test]
fn shares_outlive_their_handles() {
    const COOKIES: i64 = 2;
    let mut locks = 0_u32;
    // SAFETY: handles are looked up; functions are of the types that the options want.
    unsafe {
        let share = curl_share_init();
        let set_share = |option: ShareOption, number, pointer: *mut c_void| {
            warmwire_share_setopt(share, option.id(), number, pointer)
        };
        assert_eq!(set_share(ShareOption::LockFunction, 0, lock as *const c_void as *mut c_void), OK);
        assert_eq!(set_share(ShareOption::UnlockFunction, 0, unlock as *const c_void as *mut c_void), OK);
        assert_eq!(set_share(ShareOption::UserData, 0, (&raw mut locks).cast()), OK);
        assert_eq!(set_share(ShareOption::Share, COOKIES, null_mut()), OK);
        let easy = curl_easy_init();
        assert_eq!(set(easy, O::Share, share), OK);
        assert_eq!(curl_share_cleanup(share), ShareCode::InUse.id());
        assert_eq!(set_text(easy, O::CookieList, c"Set-Cookie: a=b; domain=host.example"), OK);
        let mut list: *mut Slist = null_mut();
        assert_eq!(warmwire_easy_getinfo(easy, Info::CookieList.id(), (&raw mut list).cast()), OK);
        assert!(strings(list).next().is_some_and(|line| line.to_bytes().ends_with(b"a\tb")));
        curl_slist_free_all(list);
        curl_easy_cleanup(easy);
        assert_eq!(curl_share_cleanup(share), OK);
        assert_eq!(curl_share_cleanup(share), ShareCode::Invalid.id());
    }
    assert!(locks > 0 && LOCKED.get() == 0);
}

#[test]
fn multi_handles_end_in_any_order() {
    // SAFETY: handles are looked up; arrays are the library's until they are freed.
    unsafe {
        let (multi, easy, other) = (curl_multi_init(), curl_easy_init(), curl_easy_init());
        assert_eq!(curl_multi_add_handle(multi, easy), OK);
        assert_eq!(curl_multi_add_handle(multi, easy), MultiCode::AddedAlready.id());
        assert_eq!(curl_multi_add_handle(multi, other), OK);
        let handles = curl_multi_get_handles(multi);
        assert_eq!(std::slice::from_raw_parts(handles, 3), [easy, other, null_mut()]);
        curl_free(handles.cast());
        curl_easy_cleanup(easy); // takes itself out
        assert_eq!(curl_multi_remove_handle(multi, easy), MultiCode::BadEasyHandle.id());
        let mut left = -1;
        assert!(curl_multi_info_read(multi, &mut left).is_null() && left == 0);
        assert_eq!(curl_multi_cleanup(multi), OK);
        assert_eq!(curl_multi_cleanup(multi), MultiCode::BadHandle.id());
        curl_easy_cleanup(other);
    }
}

/// The observations of a transfer's callbacks.
#[derive(Default)]
struct Observations {
    easy: Cell<*mut c_void>,
    body: std::cell::RefCell<Vec<u8>>,
    headers: Cell<usize>,
}

unsafe extern "C-unwind" fn write(from: *mut c_char, size: usize, count: usize, user: *mut c_void) -> usize {
    // SAFETY: the test's value, and so many octets.
    unsafe {
        let seen = &*user.cast::<Observations>();
        seen.body.borrow_mut().extend_from_slice(std::slice::from_raw_parts(from.cast(), size * count));
        let (easy, mut shown) = (seen.easy.get(), null::<c_char>());
        // The table of re-entry allows the first call and refuses the second.
        let out = (&raw mut shown).cast();
        assert_eq!(warmwire_easy_getinfo(easy, Info::EffectiveUrl.id(), out), OK);
        assert!(text(shown).starts_with("file:///"));
        assert_eq!(curl_easy_perform(easy), Code::RecursiveApiCall.id());
        curl_easy_cleanup(easy);
    }
    size * count
}

unsafe extern "C-unwind" fn header(_: *mut c_char, size: usize, count: usize, user: *mut c_void) -> usize {
    // SAFETY: the test's value.
    let seen = unsafe { &*user.cast::<Observations>() };
    seen.headers.set(seen.headers.get() + 1);
    size * count
}

#[test]
fn callbacks_call_back_in_the_middle_of_a_transfer() {
    let path = std::env::temp_dir().join(format!("miri-{}", std::process::id()));
    std::fs::write(&path, b"what stands there").unwrap();
    let url = CString::new(format!("file://{}", path.display())).unwrap();
    let seen = Observations::default();
    let user = (&raw const seen).cast::<c_void>();
    // SAFETY: handles are looked up; the functions have the options' types, and their data outlives them.
    unsafe {
        let easy = curl_easy_init();
        seen.easy.set(easy);
        let mut error = [0 as c_char; 256];
        for (option, pointer) in [
            (O::Url, url.as_ptr().cast()),
            (O::WriteFunction, write as *const c_void),
            (O::WriteData, user),
            (O::HeaderFunction, header as *const c_void),
            (O::HeaderData, user),
            (O::ErrorBuffer, (&raw mut error).cast_const().cast()),
        ] {
            assert_eq!(set(easy, option, pointer), OK);
        }
        assert_eq!(curl_easy_perform(easy), OK);
        assert_eq!(*seen.body.borrow(), b"what stands there");
        assert!(seen.headers.get() > 0);

        // Again with a multi handle, whose message is examined.
        let multi = curl_multi_init();
        assert_eq!(curl_multi_add_handle(multi, easy), OK);
        let mut running = 1;
        while running > 0 {
            assert_eq!(curl_multi_perform(multi, &mut running), OK);
        }
        let mut left = -1;
        let message = curl_multi_info_read(multi, &mut left);
        assert!(!message.is_null() && left == 0);
        assert_eq!(curl_multi_remove_handle(multi, easy), OK);
        assert_eq!(curl_multi_cleanup(multi), OK);
        assert_eq!(seen.body.borrow().len(), 2 * 17);

        assert_eq!(set_text(easy, O::Url, c"file:///no/such/file"), OK);
        assert_eq!(curl_easy_perform(easy), Code::FileCouldntReadFile.id());
        assert!(!text(error.as_ptr()).is_empty());
        curl_easy_cleanup(easy);
    }
    std::fs::remove_file(path).unwrap();
}
