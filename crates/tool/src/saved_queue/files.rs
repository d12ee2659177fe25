//! Files of the whole command line, whose names must not depend on the folder of an entry.

use crate::bytes::Bytes;
use crate::request::Globals;
use crate::system::{name_of, path};

/// Makes the names of files absolute that are opened or written while entries are transferred.
pub fn make_absolute(globals: &mut Globals) {
    let Ok(folder) = std::env::current_dir() else { return };
    for file in [
        &mut globals.cache,
        &mut globals.har,
        &mut globals.libcurl,
        &mut globals.record,
        &mut globals.replay,
        &mut globals.ssl_sessions,
        &mut globals.timeline,
        &mut globals.trace_file,
    ] {
        // These mean standard output and standard error.
        let is_stream = |name: &Bytes| matches!(name.as_slice(), b"-" | b"%");
        if let Some(name) = file.as_mut().filter(|name| !is_stream(name))
            && let Some(absolute) = name_of(folder.join(path(name)))
        {
            *name = absolute;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_become_absolute_and_streams_stay() {
        let mut globals = Globals {
            har: Some(b"har".to_vec()),
            trace_file: Some(b"%".to_vec()),
            libcurl: Some(b"-".to_vec()),
            ..Globals::default()
        };
        make_absolute(&mut globals);
        assert!(path(globals.har.as_ref().unwrap()).is_absolute());
        assert_eq!((globals.trace_file, globals.libcurl), (Some(b"%".to_vec()), Some(b"-".to_vec())));
    }
}
