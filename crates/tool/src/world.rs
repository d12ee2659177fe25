//! The interface from the command-line parser to its environment: files, variables, clock, built-in features.
//!
//! The parser uses only this trait, so tests can parse any command line without touching a file.

use std::io;

pub trait World {
    /// The whole content of a file; `-` is standard input. `limit` bounds it.
    fn read(&mut self, name: &[u8], limit: usize) -> io::Result<Vec<u8>>;

    fn env(&self, name: &str) -> Option<Vec<u8>>;

    /// Returns the time of the last change of a file, in seconds since 1970.
    fn modified(&self, name: &[u8]) -> io::Result<i64>;

    /// A date in any of the forms of `curl_getdate`.
    fn date(&self, text: &[u8]) -> Option<i64>;

    /// A feature of the library, named as in `curl -V`.
    fn has(&self, feature: &str) -> bool;

    /// Whether the system has a TLS library that can be loaded.
    fn has_system_tls(&self) -> bool;

    /// The schemes of the library, in lower case.
    fn schemes(&self) -> &[&'static str];

    /// Overwrites the last bytes of a word of the command line, against listings of processes.
    fn hide(&mut self, word: usize, bytes: usize);

    /// Opens the file that is to get the messages.
    fn message_file(&mut self, name: &[u8]) -> io::Result<Box<dyn io::Write>>;
}

#[cfg(test)]
pub mod fake {
    //! A world without files, in which nothing can block.

    use super::*;
    use std::collections::HashMap;

    #[derive(Default)]
    pub struct Fake {
        pub files: HashMap<Vec<u8>, Vec<u8>>,
        pub vars: HashMap<String, Vec<u8>>,
        pub hidden: Vec<(usize, usize)>,
    }

    impl Fake {
        pub fn with(files: &[(&str, &str)]) -> Fake {
            let files = files.iter().map(|(name, text)| (name.as_bytes().to_vec(), text.as_bytes().to_vec()));
            Fake { files: files.collect(), ..Fake::default() }
        }
    }

    impl World for Fake {
        fn read(&mut self, name: &[u8], limit: usize) -> io::Result<Vec<u8>> {
            let mut content = self.files.get(name).cloned().ok_or(io::ErrorKind::NotFound)?;
            content.truncate(limit);
            Ok(content)
        }

        fn env(&self, name: &str) -> Option<Vec<u8>> {
            self.vars.get(name).cloned()
        }

        fn modified(&self, name: &[u8]) -> io::Result<i64> {
            if self.files.contains_key(name) { Ok(1_000_000) } else { Err(io::ErrorKind::NotFound.into()) }
        }

        fn date(&self, text: &[u8]) -> Option<i64> {
            (text == b"2020-01-01").then_some(1_577_836_800)
        }

        fn has(&self, feature: &str) -> bool {
            !matches!(feature, "HTTP3" | "ECH" | "GSS-API" | "SPNEGO" | "SSLS-EXPORT")
        }

        fn has_system_tls(&self) -> bool {
            false
        }

        fn schemes(&self) -> &[&'static str] {
            &["file", "ftp", "ftps", "http", "https"]
        }

        fn hide(&mut self, word: usize, bytes: usize) {
            self.hidden.push((word, bytes));
        }

        fn message_file(&mut self, _name: &[u8]) -> io::Result<Box<dyn io::Write>> {
            Ok(Box::new(io::sink()))
        }
    }
}
