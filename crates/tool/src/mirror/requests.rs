//! The requests of a mirror: all options of the user for the servers of his URLs, and only impersonal ones
//! for all others.

use super::frontier::server_of;
use super::robots::product_token;
use crate::bytes::Bytes;
use crate::options::ToolOption;
use crate::queue::{Item, Sectioned};
use crate::raw::escape::Reject;
use crate::raw::{EasyOption as O, Url, url_flag};
use crate::request::{Clobber, Fail, Method, Request};
use crate::segments;
use std::rc::Rc;

/// The product token in robots.txt of a command without `--user-agent`.
const AGENT: &[u8] = b"curl";

/// The requests of a mirror.
pub struct Requests {
    /// Those of the servers that the command line names.
    own: Vec<(Bytes, Rc<Request>)>,
    /// Without everything that is the user's.
    foreign: Rc<Request>,
    /// The product token for robots.txt.
    pub agent: Bytes,
}

impl Requests {
    /// Creates the requests for the start URLs, which are in their canonical form.
    pub fn new(roots: &[(Bytes, Item)]) -> Requests {
        let first = &roots[0].1;
        let plain = first.sectioned.as_ref().map_or(&first.request, |Sectioned { without, .. }| without);
        let foreign = Rc::new(for_pages(&segments::stripped(plain)));
        let own = roots.iter().map(|(url, item)| {
            let mut request = for_pages(&item.request);
            add_login(&mut request, &item.url);
            (server_of(url).to_vec(), Rc::new(request))
        });
        let agent = first.request.options.text(O::UserAgent).map_or(AGENT, product_token);
        let agent = if agent.is_empty() { AGENT } else { agent };
        Requests { own: own.collect(), foreign, agent: agent.to_vec() }
    }

    /// Returns the request for a URL.
    pub fn of(&self, url: &[u8]) -> &Rc<Request> {
        let own = self.own.iter().find(|(server, _)| server == server_of(url));
        own.map_or(&self.foreign, |(_, request)| request)
    }

    /// Returns the request for a server's robots.txt, which follows redirects (RFC 9309, section 2.3.1.2).
    pub fn of_rules(&self) -> Request {
        let mut request = Request { follow: 1, ..Request::clone(&self.foreign) };
        request.options.set_long(O::MaxRedirs, 5);
        request
    }
}

/// Returns a request whose failures, names and redirects are the mirror's business.
fn for_pages(request: &Request) -> Request {
    let mut request = Request {
        clobber: Clobber::Always,
        create_dirs: false,
        fail: Fail::Never,
        fail_on: None,
        follow: 0,
        remote_time: true,
        ..request.clone()
    };
    request.options.clear(ToolOption::OutputDir);
    request
}

/// Moves user and password of a URL to the options: the URLs that follow from it have none.
fn add_login(request: &mut Request, url: &[u8]) {
    let Ok(url) = Url::parse(url, url_flag::GUESS_SCHEME) else { return };
    let reject = Reject::Control;
    if let (Ok(Some(user)), Ok(password)) = (url.user_decoded(reject), url.password_decoded(reject)) {
        request.options.set_text(O::UserPwd, &[&user[..], b":", &password.unwrap_or_default()].concat());
    }
}

/// Returns an option of a start URL that a mirror cannot have.
pub fn conflict(item: &Item, is_tree: bool) -> Option<&'static str> {
    let (request, target) = (&item.request, &item.target);
    let text = |option: ToolOption| request.options.text(option).is_some();
    let gets = matches!(request.method, Method::Unspecified | Method::Get);
    let conflicts = [
        (!gets || request.post.is_some() || request.head, "a method other than GET"),
        (request.options.text(O::CustomRequest).is_some(), "--request"),
        (request.options.text(O::Range).is_some(), "--range"),
        (request.options.get(O::TimeCondition).is_some(), "--time-cond: see --sync"),
        (request.query.is_some(), "--url-query"),
        (request.resume.is_some(), "--continue-at: it continues by itself"),
        (request.show_headers, "--show-headers"),
        (request.skip_existing, "--skip-existing: see --sync"),
        (request.clobber == Clobber::Never, "--no-clobber"),
        (item.upload.is_some(), "--upload-file"),
        (is_tree && item.output.is_some() || target.out_null, "--output: see --output-dir"),
        (is_tree && target.remote_name, "--remote-name: see --output-dir"),
        (request.remote_header_name, "--remote-header-name"),
        (!target.sums.is_empty() || !request.checksum_files.is_empty(), "--checksum"),
        (segments::wanted(request, target).is_some(), "--segments and --mirror"),
        (
            text(ToolOption::EtagSave) || text(ToolOption::EtagCompare),
            "--etag-save and --etag-compare: see --sync",
        ),
    ];
    conflicts.iter().find(|(is, _)| *is).map(|(_, what)| *what)
}
