//! Texts that C reads and never frees: the tables' strings with a terminating zero.

use std::collections::BTreeMap;
use std::ffi::{CString, c_char};
use std::sync::{LazyLock, Mutex, PoisonError};

/// Every text handed out so far, by its place in the binary: there are as many as the tables have rows.
// A tree: leak checkers take the inside pointer of a hash table for a lost block.
static TEXTS: LazyLock<Mutex<BTreeMap<(usize, usize), CString>>> = LazyLock::new(Mutex::default);

/// `text` as a C string that lives for ever.
pub fn c_text(text: &'static str) -> *const c_char {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    let zero_free = || CString::new(text.replace('\0', "")).unwrap_or_default();
    // A short text may begin where a longer one does (the linker merges them), so the length counts too.
    texts.entry((text.as_ptr().addr(), text.len())).or_insert_with(zero_free).as_ptr()
}
