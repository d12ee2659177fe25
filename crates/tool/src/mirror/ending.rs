//! The end of a mirror: links are converted, files whose URL is gone are removed, and the state is completed.

use super::frontier::{Visit, server_of};
use super::reply::Failure;
use super::scope::Role;
use super::site::Mirror;
use super::state::{Kind, Record, StoredFile};
use super::visits::read_document;
use super::{address, convert, listing};
use crate::bytes::Bytes;
use crate::message::os_text;
use crate::replace::replace;
use crate::system::name_of;
use crate::url::parse_url;
use std::io;
use warmwire::watch::EventKind;

/// CURLE_WRITE_ERROR
const WRITE_ERROR: i32 = 23;

impl Mirror {
    /// Adds the files that nothing has led to in this run, for `--sync-delete`: only their server can say
    /// whether they are gone. Returns whether there are any.
    pub(super) fn ask_for_rest(&mut self) -> bool {
        if !self.env.globals.mirror.sync_delete
            || self.is_cut
            || std::mem::replace(&mut self.asked_for_rest, true)
        {
            return false;
        }
        let belongs = |url: &Bytes| {
            let parsed = parse_url(url).ok();
            parsed.is_some_and(|parsed| self.scope.check(&parsed, url, Role::Requisite, 0).is_ok())
        };
        let rest = self.unvisited().filter(|url| url.starts_with(b"http") && belongs(url));
        let rest: Vec<Bytes> = rest.collect();
        for url in &rest {
            self.frontier.add(Visit { role: Role::Mention, ..Visit::start(url.clone()) });
        }
        !rest.is_empty()
    }

    /// Returns the URLs whose files this run has neither fetched nor checked.
    fn unvisited(&self) -> impl Iterator<Item = Bytes> {
        let files = self.state.records.iter().filter(|(url, record)| match record {
            Record::File(file) => file.run != self.state.run && !self.frontier.has_seen(url),
            Record::Moved(_) => false,
        });
        files.map(|(url, _)| url.clone())
    }

    /// Ends the mirror. Returns the exit code, given that of the transfers.
    pub(super) fn finish(mut self, code: i32) -> i32 {
        if self.env.globals.mirror.sync_delete && !self.is_cut {
            let gone: Vec<Bytes> = self.unvisited().filter(|url| self.is_missing_in_listing(url)).collect();
            gone.iter().for_each(|url| self.remove(url));
        }
        let mut code = code;
        let files: Vec<(Bytes, StoredFile)> = self.documents();
        for (url, file) in files {
            if let Err(error) = self.finish_document(&url, &file) {
                let reason = format!("links are not converted: {}", os_text(&error));
                code = self.fail(&url, &Failure { reason, code: WRITE_ERROR });
            }
        }
        let is_complete = !self.is_cut && matches!(self.frontier.clear(), 0) && self.tasks.is_empty();
        if is_complete && let Err(error) = self.state.finish() {
            self.env.error(&format!("Failed to write the state of the mirror: {}", os_text(&error)));
            code = WRITE_ERROR;
        }
        if !self.env.globals.silent {
            self.env.messages.borrow_mut().lines(self.counts.text().as_bytes());
        }
        code
    }

    fn documents(&self) -> Vec<(Bytes, StoredFile)> {
        let files = self.state.records.iter().filter_map(|(url, record)| match record {
            Record::File(file) if file.kind != Kind::Other => Some((url.clone(), file.clone())),
            _ => None,
        });
        files.collect()
    }

    /// Writes a document with its links converted, or as it came if that is not wanted any more.
    fn finish_document(&mut self, url: &[u8], file: &StoredFile) -> io::Result<()> {
        let has_original = self.tree.has_original(&file.path);
        if !self.env.globals.mirror.convert_links {
            return if has_original { self.tree.restore_original(&file.path) } else { Ok(()) };
        }
        self.next_number += 1;
        if !has_original {
            self.tree.keep_original(&file.path, self.next_number)?;
        }
        let Some(source) = self.tree.source(&file.path) else { return Ok(()) };
        let Some((text, document)) = read_document(&source, file.kind) else {
            return self.tree.copy_original(&file.path, self.next_number);
        };
        let base = document.base_url(url);
        let link = |role: Role, text: &[u8]| self.new_link(url, file, &base, role, text);
        let converted = convert::converted(&text, &document, &link);
        self.tree.make_folders(&file.path)?;
        let target = self.tree.file(&file.path);
        if std::fs::read(&target).is_ok_and(|old| old == converted) {
            return Ok(());
        }
        replace(&name_of(target).unwrap_or_default(), &converted, file.modified)
    }

    /// Returns the new text of a link; `None` keeps it.
    fn new_link(&self, url: &[u8], file: &StoredFile, base: &[u8], role: Role, text: &[u8]) -> Option<Bytes> {
        if role == Role::Base {
            return Some(Bytes::new());
        }
        let found = address::resolve(base, text)?;
        if found.url == url && text.starts_with(b"#") {
            return None;
        }
        let fragment = found.fragment.as_deref();
        Some(match self.state.file_behind(&found.url) {
            Some(target) => convert::relative(&file.path, &target.path, fragment),
            None => convert::absolute(&found.url, fragment),
        })
    }

    /// Returns whether the listing of a folder above the URL was read and does not have it.
    fn is_missing_in_listing(&self, url: &[u8]) -> bool {
        if !listing::is_listed_scheme(url) {
            return false;
        }
        let least = server_of(url).len();
        let slashes = (least..url.len() - 1).rev().filter(|at| url[*at] == b'/');
        let mut folders = slashes.map(|at| &url[..=at]);
        let nearest = folders.find(|folder| self.listed.contains(*folder) || self.unlisted.contains(*folder));
        let Some(folder) = nearest.filter(|folder| self.listed.contains(*folder)) else { return false };
        // The entry of that folder on the way to the file: another folder, or the file itself. One that is
        // present and was not entered is beyond the limits of this run.
        let inside = &url[folder.len()..];
        let end = inside.iter().position(|octet| *octet == b'/').map_or(inside.len(), |at| at + 1);
        !self.present.contains(&url[..folder.len() + end])
    }

    /// Removes the file of a URL.
    pub(super) fn remove(&mut self, url: &[u8]) {
        let Some(file) = self.state.file(url).cloned() else { return };
        let removed = self.tree.remove(&file.path).and_then(|()| self.state.remove(url));
        match removed {
            Ok(()) => {
                self.announce(EventKind::Gone, url, &file);
                self.counts.removed += 1;
            }
            Err(error) => {
                let reason = format!("cannot remove its file: {}", os_text(&error));
                self.fail(url, &Failure { reason, code: WRITE_ERROR });
            }
        }
    }
}
