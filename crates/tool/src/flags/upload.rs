//! Flags for uploading.

use super::flag::{Arg, Declaration, FLAG, Multi, Set};
use crate::act;

pub const FLAGS: &[Declaration] = &[Declaration {
    name: "upload-file",
    short: 'T',
    arg: Arg::File("<file>"),
    multi: Multi::PerUrl,
    categories: &["important", "upload", "imap"],
    since: "4.0",
    help: "Transfer local FILE to destination",
    about: "To the URL; when that ends in a slash the file's name is added. HTTP uses PUT. A \
            dash is standard input, a dot the same without blocking. Globs work.",
    set: Set::Act(act::upload_file),
    ..FLAG
}];
