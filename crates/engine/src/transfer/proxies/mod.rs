//! Lists of proxies: which entry a transfer goes through, and what follows when its proxy cannot be reached.
//!
//! The list is that of an option or a variable, or a [`ProxySource`] names it for the URL. It replaces the
//! one proxy of CURLOPT_PROXY or of a variable; each entry is planned as that proxy would be.
//! CURLOPT_NOPROXY and no_proxy count before the list. `selection` decides, `dead` remembers, `pac` and
//! `desktop` are sources.

mod dead;
mod desktop;
pub mod pac;
pub(super) mod selection;

use std::time::Instant;

use runtime::offload;
use tables::EasyOption as O;
use wire::proxy_list::{self, ProxyEntry};
use wire::proxy_source::ProxySource;

use super::Connector;
use super::proxy::{self, Environment};
use super::route::{Route, host_of};
use crate::archive::redact::without_login;
use crate::error::{Error, Result, Retry};
use crate::settings::{Settings, proxy_of_process};
use crate::transfer::guard;
use crate::why::event::{Event, ProxyDropped};
use dead::with_dead;
use desktop::DesktopChoice;
use selection::{ProxySelection, ProxyStage, attempt_deadline, leads_nowhere};

impl Route {
    /// Returns the variables that count for the current URL.
    pub(super) fn environment(&self, settings: &Settings) -> Environment {
        proxy::environment(settings, &self.scheme(), || host_of(&self.url), self.easy.inner.get())
    }

    /// Returns the source that names the proxies of the current URL, if one is to be asked.
    #[inline]
    pub fn proxy_source(&self) -> Option<ProxySource> {
        let settings = self.easy.settings.borrow();
        if settings.is_set(O::Proxy) {
            return settings.text(O::Proxy).and_then(|text| ProxySource::of(&text));
        }
        match settings.choices().proxies {
            Some(_) => {
                let proxy = settings.choices().proxy_for(&self.scheme(), &host_of(&self.url));
                proxy.and_then(|text| ProxySource::of(text.as_bytes()))
            }
            None => proxy_of_process().and_then(|text| ProxySource::of(text.as_bytes())),
        }
    }

    /// Returns the variables with the entry that is used now, if the proxy is one of a list.
    pub(super) fn with_selected(&self, environment: Environment, settings: &Settings) -> Environment {
        let mut selection = self.proxies.borrow_mut();
        if selection.is_none() {
            let by_option = settings.text(O::Proxy);
            let text = by_option.as_deref().or(environment.text());
            let Some(entries) = text.and_then(proxy_list::parse) else { return environment };
            let by = proxy::source(settings, &self.scheme()).unwrap_or_default();
            *selection = Some(Box::new(ProxySelection::new(by, entries, self.now())));
        }
        let chosen = selection.as_ref().map(|selection| selection.current().text().into());
        environment.with_selected(chosen)
    }

    /// Records that a new connection was opened, by way of the current entry if there is a list.
    pub(super) fn note_proxy_reached(&self) {
        if let Some(selection) = &mut *self.proxies.borrow_mut() {
            selection.note_opened();
            with_dead(|dead| dead.note_success(&selection.current().name()));
        }
    }

    /// Goes on to the next entry of the list, if the failure of a request shows that its proxy is dead.
    /// Nothing was sent to the origin then. Returns whether the request is to be made again.
    pub fn leave_dead_proxy(&self, error: &Error) -> bool {
        let Some(selection) = &mut *self.proxies.borrow_mut() else { return false };
        if error.retry() != Retry::OtherProxy || selection.is_direct() && selection.left() == 1 {
            return false;
        }
        let name = selection.current().name();
        if !selection.is_direct() {
            with_dead(|dead| dead.note_failure(&name, self.now()));
        }
        let why = ProxyDropped::Failed(error.to_string());
        self.easy.explain(|| Event::ProxyDropped { proxy: name.clone(), why });
        if !selection.go_on() {
            return false;
        }
        self.easy.note(|| format!("Proxy {name} failed ({error}), trying {}", selection.current().name()));
        true
    }
}

impl Connector {
    /// Asks a source for the proxies of the current URL, unless it has been asked or the host is exempt.
    pub async fn find_proxies(&self, source: ProxySource) -> Result<()> {
        if self.proxies.borrow().is_some() || self.easy.inner.get() || !self.scheme().network() {
            return Ok(());
        }
        guard::check_url(self)?;
        let is_exempt = {
            let settings = self.easy.settings.borrow();
            proxy::is_bypassed(&settings, &host_of(&self.url), &self.environment(&settings))
        };
        if is_exempt {
            return Ok(());
        }
        let (by, entries) = match source {
            ProxySource::Pac(url) => self.named_by_pac(&url).await?,
            ProxySource::System => self.named_by_system().await?,
        };
        *self.proxies.borrow_mut() = Some(Box::new(ProxySelection::new(by, entries, self.now())));
        Ok(())
    }

    async fn named_by_pac(&self, url: &str) -> Result<(String, Vec<ProxyEntry>)> {
        let entries = self.proxies_by_pac(url).await?;
        Ok((format!("the PAC file {}", String::from_utf8_lossy(&without_login(url.as_bytes()))), entries))
    }

    /// Asks GNOME's settings, and then the environment.
    async fn named_by_system(&self) -> Result<(String, Vec<ProxyEntry>)> {
        let settings = match desktop::recent_settings() {
            Some(settings) => settings,
            None => {
                let read = offload(self.multi.runtime.reactor(), "gsettings", desktop::read_settings);
                read.await.unwrap_or_default()
            }
        };
        match settings.choose(&self.scheme(), &host_of(&self.url)) {
            DesktopChoice::Entry(entry) => Ok(("GNOME's settings".to_owned(), vec![entry])),
            DesktopChoice::Pac(url) => self.named_by_pac(&url).await,
            DesktopChoice::Nothing => Ok(match proxy::from_variables(&self.scheme()) {
                Some((text, name)) => {
                    (name, proxy_list::parse(&text).unwrap_or_else(|| vec![ProxyEntry::Proxy(text)]))
                }
                None => ("the system, which names no proxy".to_owned(), vec![ProxyEntry::Direct]),
            }),
        }
    }

    /// Returns when an attempt to open a connection ends: before the deadline if other proxies are left.
    pub(super) fn deadline_of_attempt(&self, deadline: Instant) -> Instant {
        let selection = self.proxies.borrow();
        let left = selection.as_ref().map_or(1, |selection| selection.left());
        attempt_deadline(self.now(), deadline, left)
    }

    /// Marks the error of a connection that could not be opened if its proxy is dead and is one of a list.
    pub(super) fn mark_dead_proxy(&self, stage: ProxyStage, error: Error) -> Error {
        let selection = self.proxies.borrow();
        match selection.as_ref().is_some_and(|list| leads_nowhere(list.current(), stage, &error)) {
            true => error.with_retry(Retry::OtherProxy),
            false => error,
        }
    }
}
