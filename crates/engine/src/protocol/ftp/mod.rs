//! FTP (RFC 959, with RFC 2228, 2389, 2428, 3659 and 4217): one URL fetched or stored, told in the
//! order of its commands. `control` is the control connection with login and directory, `data` opens
//! data connections, `body` fetches files and listings, `upload` stores files, `wildcard` has the files that match a pattern.

mod ahead;
mod body;
mod control;
mod data;
mod pipeline;
mod port;
mod range;
mod source;
mod upload;
mod wildcard;

use tables::{Code, EasyOption as O};
use wire::escape::{self, Reject};
use wire::ftp::path::{self, Location, Method};

use crate::error::{Error, Result};
use crate::settings::Method as Request;
use crate::transfer::Transfer;
use crate::transfer::replay::with_retries;
use control::Control;

/// Where the URL leads, and what is to be done there.
pub struct Place {
    /// Folders and file name.
    location: Location,
    /// How folders are reached.
    method: Method,
    /// Where the file is, up to the last slash. None: the commands tell it, and no folder is changed into.
    folder: Option<Vec<u8>>,
    /// 'A' or 'I'.
    data_type: u8,
    /// A folder's content rather than a file.
    list: bool,
    /// Names only.
    names_only: bool,
    /// CURLOPT_WILDCARDMATCH: which files of the folder.
    pattern: Option<Vec<u8>>,
    /// From a listing.
    known_size: Option<u64>,
    /// One of the files that match a pattern.
    listed: bool,
}

/// Runs one request.
pub async fn run(t: &mut Transfer) -> Result<()> {
    // That commands which did not wait were to blame shows when waiting helps.
    let mut suspicion = None;
    with_retries(t, 1, async |t, fresh| {
        let mut control = Control::open(t, fresh).await?;
        let outcome = exchange(t, &mut control).await;
        match &outcome {
            // The server closed a kept connection while it was idle, or did not like what was sent.
            Err(e) if e.retry().is_allowed() && !fresh => {
                suspicion = (control.session.moved > 0).then_some(control.dialogue.lines > 0);
                return outcome;
            }
            Err(_) => {}
            Ok(()) => {
                control.judge(t, suspicion);
                control.ask_ahead(t).await;
            }
        }
        control.end(t, outcome.as_ref().err().map(Error::code));
        outcome
    })
    .await
}

/// A new control connection, logged in and left in the pool.
pub async fn log_in(t: &mut Transfer) -> Result<()> {
    let control = Control::open(t, true).await?;
    control.end(t, None);
    Ok(())
}

/// A control connection, logged in, for the application itself.
pub async fn connect_only(t: &mut Transfer) -> Result<net::Connection> {
    let mut control = Control::open(t, false).await?;
    control.dialogue.whole.connection().farewell.clear();
    Ok(control.dialogue.whole.into_connection())
}

async fn exchange(t: &mut Transfer, control: &mut Control) -> Result<()> {
    t.flow.writer.begin();
    let place = &Place::of(t)?;
    control.quote(t, O::Quote).await?;
    control.change_directory(t, place).await?;
    if let Some(pattern) = &place.pattern {
        return wildcard::fetch(t, control, place, pattern).await;
    }
    one(t, control, place).await
}

/// One file or folder, where the control connection stands already.
async fn one(t: &mut Transfer, control: &mut Control, place: &Place) -> Result<()> {
    if control.document_wanted(t, place).await? {
        if t.on(O::Nobody) {
            body::describe(t, control, place).await?;
        } else if uploads(t) {
            upload::store(t, control, place).await?;
        } else if place.list {
            body::list(t, control, place).await?;
        } else {
            retrieve(t, control, place).await?;
        }
    }
    control.quote(t, O::Postquote).await
}

fn uploads(t: &Transfer) -> bool {
    t.on(O::Upload) || t.method == Request::Put
}

async fn retrieve(t: &mut Transfer, control: &mut Control, place: &Place) -> Result<()> {
    match pipeline::suits(t, control, place) {
        true => pipeline::retrieve(t, control, place).await,
        false => body::retrieve(t, control, place).await,
    }
}

impl Place {
    fn of(t: &Transfer) -> Result<Place> {
        let method = match t.long(O::FtpFilemethod) {
            2 => Method::NoCwd,
            3 => Method::SingleCwd,
            _ => Method::MultiCwd,
        };
        let (raw, kind) = path::split_type(t.url.path());
        let decoded = escape::decode(raw, Reject::Control)
            .map_err(|_| Error::new(Code::UrlMalformat, "path contains control characters"))?;
        let decoded = decoded.strip_prefix(b"/").unwrap_or(&decoded);
        let (uploading, described) = (uploads(t), t.on(O::Nobody));
        let wild = t.on(O::Wildcardmatch) && !uploading && !described;
        // A file name that goes with its path can be no pattern: the folder is changed into all the same.
        let method = if wild && method == Method::NoCwd { Method::MultiCwd } else { method };
        let mut location = path::split(decoded, method)
            .map_err(|_| Error::new(Code::UrlMalformat, "too many path components"))?;
        if uploading && location.file.is_none() && !described {
            return Err(Error::new(Code::UrlMalformat, "Uploading to a URL without a filename"));
        }
        let folder = path::folder(decoded, method);
        let pattern = if wild { location.file.take() } else { None };
        let names_only = t.on(O::Dirlistonly) || kind == Some(b'D');
        let ascii = (t.on(O::Transfertext) || kind == Some(b'A')) && kind != Some(b'I');
        // With commands to be sent before it, a named file is fetched even where names are wanted, as in curl.
        let names = names_only && t.easy.settings.borrow().list(O::Prequote).is_empty();
        let list = !uploading && pattern.is_none() && (location.file.is_none() || names);
        let data_type = if ascii || (list && !described) { b'A' } else { b'I' };
        Ok(Place {
            location,
            method,
            folder,
            data_type,
            list,
            names_only,
            pattern,
            known_size: None,
            listed: false,
        })
    }

    fn file(&self) -> &[u8] {
        self.location.file.as_deref().unwrap_or_default()
    }
}
