//! Facts for `--write-out` about a transfer that has ended, and the streams it writes to.

use crate::bytes::Bytes;
use crate::env::Env;
use crate::raw::{Easy, Info, Origin, TransferInfo, UrlPart, url_flag, version_line};
use crate::system;
use crate::system::path;
use crate::text::harmless_lines;
use crate::transfer::Transfer;
use crate::url::parse_url;
use crate::writeout::{Outcome, Streams};
use std::fs::{File, OpenOptions};
use std::io::Write;

/// A transfer and how it ended.
pub struct Completion<'t> {
    pub transfer: &'t Transfer,
    pub easy: &'t Easy,
    pub code: i32,
}

impl Completion<'_> {
    fn info<R>(&self, read: impl FnOnce(&TransferInfo<'_>) -> R) -> R {
        self.easy.info(read)
    }

    /// The number of the connection that was used, closed since or not; -1 where there was none.
    pub fn connection(&self) -> i64 {
        self.info(|info| info.connection_id())
    }
}

impl Outcome for Completion<'_> {
    fn text(&self, info: Info) -> Option<Bytes> {
        let mut text = self.info(|facts| facts.get(info).text().map(<[u8]>::to_vec))?;
        if info == Info::Scheme {
            text.make_ascii_lowercase();
        }
        Some(text).filter(|text| !text.is_empty() || info != Info::EffectiveUrl)
    }

    fn number(&self, info: Info) -> Option<i64> {
        let number = self.info(|facts| facts.get(info).number());
        // -1 means no transfer.
        (info != Info::XferId || number >= 0).then_some(number)
    }

    fn url_part(&self, part: &str, effective: bool) -> Option<Bytes> {
        let text = if effective { self.text(Info::EffectiveUrl)? } else { self.transfer.url.clone() };
        let url = parse_url(&text).ok()?;
        let part = match part {
            "fragment" => UrlPart::Fragment,
            "host" => UrlPart::Host,
            "options" => UrlPart::Options,
            "password" => UrlPart::Password,
            "path" => UrlPart::Path,
            "port" => UrlPart::Port,
            "query" => UrlPart::Query,
            "scheme" => UrlPart::Scheme,
            "user" => UrlPart::User,
            _ => UrlPart::ZoneId,
        };
        url.get(part, url_flag::DEFAULT_PORT).ok()
    }

    fn headers(&self) -> Vec<(Bytes, Bytes, usize)> {
        self.easy.headers(|headers| {
            (0..)
                .map_while(|at| headers.at(at))
                .filter(|field| field.origin == Origin::Header)
                .map(|field| (field.name.to_vec(), field.value.to_vec(), field.request))
                .collect()
        })
    }

    fn certificates(&self) -> Vec<Bytes> {
        self.info(|info| {
            info.certificates()
                .iter()
                .map(|fields| {
                    let lines = fields.iter().map(|field| match field.strip_prefix(b"Cert:") {
                        Some(pem) => pem.to_vec(),
                        None => [field, b"\n".as_slice()].concat(),
                    });
                    let mut text = lines.collect::<Vec<_>>().concat();
                    if !text.ends_with(b"\n") {
                        text.push(b'\n');
                    }
                    text
                })
                .collect()
        })
    }

    fn exit_code(&self) -> i32 {
        self.code
    }

    fn error_text(&self) -> Option<Bytes> {
        if self.code == 0 {
            return None;
        }
        let own = self.transfer.own_error.borrow().clone();
        Some(own.unwrap_or_else(|| message(self.easy, self.code)).into_bytes())
    }

    fn file_name(&self) -> Option<Bytes> {
        self.transfer.out.borrow().name.clone()
    }

    fn given_url(&self) -> Option<Bytes> {
        Some(self.transfer.url.clone())
    }

    fn url_number(&self) -> usize {
        self.transfer.url_number
    }

    fn retries(&self) -> i64 {
        self.transfer.retries.get()
    }

    fn header_count(&self) -> i64 {
        self.transfer.header_count()
    }

    fn cache(&self) -> Option<Bytes> {
        let outcome = self.transfer.caching.borrow().as_ref()?.outcome()?;
        Some(outcome.name().into())
    }

    fn requests(&self) -> Option<Bytes> {
        self.easy.why().map(|why| why.requests_json().into_bytes())
    }

    fn why(&self) -> Option<Bytes> {
        self.easy.why().map(|why| why.to_string().into_bytes())
    }

    fn version(&self) -> Bytes {
        version_line().into_bytes()
    }
}

/// Returns the text of a failure: the engine's, or the default for the code.
pub fn message(easy: &Easy, code: i32) -> String {
    let text = easy.message();
    if text.is_empty() { crate::raw::Code::text_of(code).to_string() } else { text }
}

/// The streams of one `--write-out`.
pub struct Output<'e> {
    env: &'e Env,
    to: To,
}

enum To {
    Stdout,
    Messages,
    File(File),
}

impl Output<'_> {
    pub fn new(env: &Env) -> Output<'_> {
        Output { env, to: To::Stdout }
    }
}

impl Streams for Output<'_> {
    fn write(&mut self, bytes: &[u8]) {
        match &mut self.to {
            // Both are terminals, one and the same in all likelihood, and bars move there.
            To::Stdout if self.env.stdout_is_terminal && self.env.messages.borrow().holds() => {
                self.env.messages.borrow_mut().raw(bytes);
            }
            To::Stdout => {
                let _ = system::stdout().write_all(bytes);
            }
            To::Messages => self.env.messages.borrow_mut().raw(bytes),
            To::File(file) => {
                let _ = file.write_all(bytes);
            }
        }
    }

    fn show(&mut self, bytes: &[u8]) {
        let terminal = match self.to {
            To::Stdout => self.env.stdout_is_terminal,
            To::Messages => self.env.stderr_is_terminal,
            To::File(_) => false,
        };
        if terminal { self.write(&harmless_lines(bytes)) } else { self.write(bytes) }
    }

    fn to_stdout(&mut self) {
        self.to = To::Stdout;
    }

    fn to_stderr(&mut self) {
        self.to = To::Messages;
    }

    fn to_file(&mut self, name: &[u8], append: bool) {
        let mut options = OpenOptions::new();
        let opened = options.create(true).write(true).append(append).truncate(!append).open(path(name));
        // If the file cannot be opened, the output stays where it was.
        if let Ok(file) = opened {
            self.to = To::File(file);
        }
    }

    fn remark(&mut self, line: &str) {
        self.env.messages.borrow_mut().line(line);
    }
}
