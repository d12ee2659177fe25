//! The request of an entry: the options of the command line, and on top of them those of its own lines.

use super::entry::Entry;
use super::lines::InputError;
use super::options;
use crate::bytes::Bytes;
use crate::complete;
use crate::message::{Messages, shown};
use crate::parse::{Reader, Wrong};
use crate::proxy_command;
use crate::request::{Globals, Lacks, Request, Target};
use crate::url::parse_url;
use crate::variables::Variables;
use crate::world::World;
use std::io;
use std::mem;

/// Parses entries by the rules of the command line.
pub struct EntryParser {
    world: Box<dyn World>,
    globals: Globals,
    variables: Variables,
    /// The request of the default config file.
    defaults: Request,
}

/// The target of an entry, and its request if it has options of its own.
#[derive(Debug)]
pub struct Parsed {
    pub target: Target,
    pub request: Option<Request>,
}

/// Returns the request on which entries are based: that of the command line, without its URLs. An output flag
/// that no URL has taken there applies to all entries, which otherwise have the remote name.
pub fn base_of(request: &Request) -> Request {
    let spare = request.targets.iter().find(|target| target.url.is_none()).cloned();
    let target = spare.unwrap_or(Target { remote_name: true, ..Target::default() });
    Request {
        targets: vec![Target { no_glob: true, ..target }],
        matched: [0; 4],
        input_files: Vec::new(),
        ..request.clone()
    }
}

impl EntryParser {
    /// Creates a parser. The world should have no standard input, which a list may come from.
    pub fn new(
        world: Box<dyn World>,
        globals: &Globals,
        variables: Variables,
        defaults: Request,
    ) -> EntryParser {
        let globals = Globals { sections: Vec::new(), ..globals.clone() };
        EntryParser { world, globals, variables, defaults }
    }

    /// Returns the request of options that entries of a saved queue share, on top of the default config file.
    pub fn parse_shared(
        &mut self,
        options: &[Bytes],
        messages: &mut Messages,
    ) -> Result<Request, InputError> {
        let options = options.iter().cloned().enumerate().collect();
        let (line, urls) = (0, Vec::new());
        self.with_options(base_of(&self.defaults), &Entry { line, urls, options }, messages)
    }

    /// Parses an entry that is based on this request.
    pub fn parse(
        &mut self,
        base: &Request,
        entry: &Entry,
        messages: &mut Messages,
    ) -> Result<Parsed, InputError> {
        let (url, mirrors) = entry.urls.split_first().expect("an entry has a URL");
        if parse_url(url).is_err() {
            return Err(InputError::new(entry.line, format!("not a URL: {}", shown(url))));
        }
        let named = |target: Target| Target { url: Some(url.clone()), mirrors: mirrors.to_vec(), ..target };
        if entry.options.is_empty() {
            return Ok(Parsed { target: named(base.targets[0].clone()), request: None });
        }
        let mut request = base.clone();
        request.targets = vec![named(mem::take(&mut request.targets[0]))];
        let mut request = self.with_options(request, entry, messages)?;
        self.check(&request).map_err(|why| InputError::new(entry.line, why))?;
        complete::from_environment(&mut request);
        let target = request.targets.remove(0);
        Ok(Parsed { target, request: Some(request) })
    }

    /// Applies the options of an entry to its request.
    fn with_options(
        &mut self,
        request: Request,
        entry: &Entry,
        messages: &mut Messages,
    ) -> Result<Request, InputError> {
        let lent = mem::replace(messages, Messages::new(Box::new(io::sink()), None));
        let mut reader = Reader::new(&mut *self.world, lent);
        mem::swap(&mut reader.parser.globals, &mut self.globals);
        mem::swap(&mut reader.parser.variables, &mut self.variables);
        reader.parser.requests = vec![request];
        let applied = entry.options.iter().try_for_each(|(number, line)| {
            apply(&mut reader, line).map_err(|why| InputError::new(*number, why))
        });
        mem::swap(&mut reader.parser.globals, &mut self.globals);
        mem::swap(&mut reader.parser.variables, &mut self.variables);
        let request = reader.parser.requests.pop().expect("no option of an entry removes it");
        *messages = reader.parser.messages;
        applied.map(|()| request)
    }

    /// Refuses combinations that have no meaning.
    fn check(&self, request: &Request) -> Result<(), String> {
        if let Some(flag) = proxy_command::conflict(request) {
            return Err(format!("--proxy-command can't be combined with {flag}"));
        }
        if request.resumes_unnamed() {
            return Err(Wrong::NameAndResume.text().to_owned());
        }
        let upload = request.targets[0].upload.as_deref();
        if upload.is_some_and(|file| matches!(file, b"-" | b".")) {
            return Err("standard input can't be uploaded by an entry".to_owned());
        }
        Ok(())
    }
}

/// Applies the line of an option. If one is repeated that a URL has only once, the last one counts.
fn apply(reader: &mut Reader, line: &[u8]) -> Result<(), String> {
    let why = |name: &[u8], wrong: Wrong| format!("option '{}' {}", shown(name), wrong.text());
    let option = match options::parse(line) {
        Ok(Some(option)) => option,
        Ok(None) => return Ok(()),
        Err((name, wrong)) => return Err(why(&name, wrong)),
    };
    let request = reader.parser.request();
    request.matched = [0; 4];
    request.matched[Lacks::Url as usize] = 1;
    if option.makes_folders {
        reader.entry_option(b"create-dirs", None).map_err(|wrong| why(b"create-dirs", wrong))?;
    }
    let applied = reader.entry_option(&option.name, option.argument.as_deref());
    applied.map_err(|wrong| why(&option.name, wrong))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flags::{self, Arg};
    use crate::options::ToolOption;
    use crate::raw::EasyOption as O;
    use crate::world::fake::Fake;

    fn parser() -> EntryParser {
        let world = Fake::with(&[("file", "x")]);
        EntryParser::new(Box::new(world), &Globals::default(), Variables::default(), Request::new())
    }

    fn entry(options: &[&str]) -> Entry {
        let options = options.iter().enumerate().map(|(at, line)| (at + 2, format!(" {line}").into_bytes()));
        Entry { line: 1, urls: vec![b"http://a/b".to_vec()], options: options.collect() }
    }

    fn parse(parser: &mut EntryParser, base: &Request, options: &[&str]) -> Result<Parsed, InputError> {
        parser.parse(base, &entry(options), &mut Messages::new(Box::new(io::sink()), None))
    }

    #[test]
    fn options_of_an_entry_are_for_it_alone() {
        let mut command_line = Request::new();
        command_line.options.push(O::HttpHeader, b"X-All: 1");
        let (base, mut parser) = (base_of(&command_line), parser());
        let own =
            parse(&mut parser, &base, &["header = X-Own: 2", "out = x", "out=y", "fail", "dir=d"]).unwrap();
        let request = own.request.unwrap();
        assert_eq!(request.options.list(O::HttpHeader), [b"X-All: 1".to_vec(), b"X-Own: 2".to_vec()]);
        assert_eq!(request.options.text(ToolOption::OutputDir), Some(b"d".as_slice()));
        assert!(request.create_dirs && own.target.output == Some(b"y".into()) && !own.target.remote_name);
        let next = parse(&mut parser, &base, &[]).unwrap();
        assert!(next.request.is_none() && next.target.remote_name && next.target.output.is_none());
        let other = parse(&mut parser, &base, &["max-time = 5"]).unwrap();
        assert_eq!(other.request.unwrap().options.list(O::HttpHeader), [b"X-All: 1".to_vec()]);
        assert!(other.target.remote_name && other.target.no_glob);
    }

    #[test]
    fn a_spare_output_of_the_command_line_is_for_all_entries() {
        let null = Target { out_null: true, ..Target::default() };
        let base = base_of(&Request { targets: vec![null], ..Request::new() });
        let parsed = |options: &[&str]| parse(&mut parser(), &base, options).unwrap().target;
        assert!(parsed(&[]).out_null && parsed(&["fail"]).out_null);
        assert!(!parsed(&["output = x"]).out_null);
    }

    #[test]
    fn a_wrong_option_is_reported_with_its_line() {
        for (options, line, why) in [
            (&["out=x", "nonsense = 1"][..], 3, "option 'nonsense' is unknown"),
            (&["silent"], 2, "option 'silent' is for the whole command line, not for one URL"),
            (&["max-time = x"], 2, "option 'max-time' expected a proper numerical parameter"),
            (&["output ="], 2, "option 'output' requires parameter"),
            (&["split = 99"], 2, "option 'segments' takes auto or a number up to 64"),
            (&["data = @absent"], 2, "option 'data' error encountered when reading a file"),
            (&["upload-file = -"], 1, "standard input can't be uploaded by an entry"),
            (
                &["continue-at = -", "remote-header-name"],
                1,
                "--continue-at and --remote-header-name cannot be combined",
            ),
        ] {
            let error = parse(&mut parser(), &base_of(&Request::new()), options).unwrap_err();
            assert_eq!((error.line, error.why.as_str()), (line, why), "{options:?}");
        }
        let mut no_url = entry(&[]);
        no_url.urls[0] = b"http://[x".to_vec();
        let parsed = parser().parse(
            &base_of(&Request::new()),
            &no_url,
            &mut Messages::new(Box::new(io::sink()), None),
        );
        assert_eq!(parsed.unwrap_err().why, "not a URL: http://[x");
    }

    /// A saved queue keeps the options of a command line as lines.
    #[test]
    fn kept_options_of_a_command_line_come_to_the_same_request() {
        let mut accepted = 0;
        for flag in flags::all().filter(|flag| flags::is_per_transfer(flag)) {
            let words: &[&[&str]] = match flag.arg {
                Arg::Bool | Arg::None => &[&["--NAME"], &["--no-NAME"]],
                _ => &[
                    &["--NAME", "1"],
                    &["--NAME", "file"],
                    &["--NAME", " a=\"b\"\\ \t;c "],
                    &["--NAME", "auto"],
                ],
            };
            for words in words {
                let words = words.iter().map(|word| word.replace("NAME", flag.key()).into_bytes());
                let words: Vec<Bytes> = words.chain([b"http://h/".to_vec()]).collect();
                let mut world = Fake::with(&[("file", "x"), ("1", "y")]);
                let mut reader = Reader::new(&mut world, Messages::new(Box::new(io::sink()), None));
                if reader.words(&words).is_err() {
                    continue;
                }
                let given = base_of(&reader.parser.requests.remove(0));
                let kept = Fake::with(&[("file", "x"), ("1", "y")]);
                let mut parser = EntryParser::new(
                    Box::new(kept),
                    &Globals::default(),
                    Variables::default(),
                    Request::new(),
                );
                let mut messages = Messages::new(Box::new(io::sink()), None);
                let again = parser.parse_shared(&given.own_options, &mut messages).unwrap();
                let text = |request: Request| {
                    // Mirrors are kept with the URL.
                    let (targets, mirrors) = (Vec::new(), Vec::new());
                    let neutral = Request { matched: [0; 4], targets, mirrors, ..request };
                    format!("{neutral:?}")
                };
                assert_eq!(text(again), text(given), "{words:?}");
                accepted += 1;
            }
        }
        assert!(accepted > 300, "{accepted}");
    }

    /// A flag that changed something else than the request would change the next entry, too.
    #[test]
    fn options_that_may_stand_leave_the_command_line_alone() {
        let mut parser = parser();
        let before = format!("{:?}", parser.globals);
        let mut accepted = 0;
        for flag in flags::all().filter(|flag| flags::is_per_transfer(flag)) {
            let values: &[&str] = match flag.arg {
                Arg::Bool | Arg::None => &["", "=false"],
                _ => &["=1", "=file", "=a=b", "=sha256=00", "=list", "=auto", "=-"],
            };
            for value in values {
                let line = format!("{}{value}", flag.key());
                accepted += usize::from(parse(&mut parser, &base_of(&Request::new()), &[&line]).is_ok());
                assert_eq!(format!("{:?}", parser.globals), before, "{line}");
            }
        }
        assert!(accepted > 200, "{accepted}");
    }
}
