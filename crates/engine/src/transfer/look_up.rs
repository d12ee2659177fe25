//! A transfer's name look-ups: which resolver is used, and what the application is notified of.

use std::hint::cold_path;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;

use net::ResolveCache;
use net::connection_key::{DohTerms, ResolverTerms};
use net::resolver::{
    Addresses, Candidates, LocalEnds, LookUpWrapper, Means, QuestionAnswer, ResolveOptions, Servers,
    Services, Source, is_for_dns, is_new, resolve,
};
use net::tls::Ech;
use tables::{Code, EasyOption as O, LockData};
use wire::resolv_conf::servers as servers_of;

use super::Connector;
use super::over_https::OverHttps;
use super::route::plan::Plan;
use super::tls_options::doh_tls;
use crate::easy::Published;
use crate::error::{Error, Result};
use crate::settings::{Settings, Text};
use crate::share::Share;

/// The lock functions of a share whose names are used.
struct Locked {
    share: Share,
    tag: usize,
}

impl LookUpWrapper for Locked {
    fn around(&self, work: &mut dyn FnMut()) {
        self.share.around(LockData::Dns, self.tag, work);
    }
}

/// The options that select name servers and the local address for them.
const OF_SERVERS: [O; 4] = [O::DnsServers, O::DnsInterface, O::DnsLocalIp4, O::DnsLocalIp6];

/// Returns the resolver as part of a connection key.
pub(super) fn terms(settings: &Settings) -> ResolverTerms {
    let text = |option| settings.text(option).filter(|text| !text.is_empty()).map(|text| text.to_vec());
    let [servers, interface, local_ip4, local_ip6] = OF_SERVERS.map(text);
    let over_https = text(O::DohUrl).map(|url| DohTerms { url, tls: doh_tls(settings).into() });
    ResolverTerms { servers, interface, local_ip4, local_ip6, over_https }
}

/// Returns a setting; `None` for an empty text.
fn given(settings: &Settings, option: O) -> Option<String> {
    settings.string(option).filter(|text| !text.is_empty())
}

impl Connector {
    /// Returns a host's addresses, for a caller that uses only one. The application is notified of a started
    /// look-up, but not of an answer from the cache.
    pub(super) async fn look_up(
        &self,
        host: &str,
        port: u16,
        options: &ResolveOptions,
    ) -> Result<Arc<Addresses>> {
        self.look_up_by(&self.means(), host, port, options).await
    }

    /// Returns the candidates of a plan's first host as they become known; HTTPS records are requested with
    /// the addresses.
    pub(super) fn candidates(
        &self,
        plan: &Plan,
        host: &str,
        port: u16,
        options: &ResolveOptions,
    ) -> Result<Candidates> {
        let mut means = self.means();
        if let Some(required) = self.asks_for_record(plan) {
            means.services = Some(self.services(&means, required));
            *self.easy.published.borrow_mut() = Some(Box::new(Published::of(host)));
        }
        let options = self.begin_look_up(&means, host, port, options)?;
        Ok(Candidates::look_up(&means, (host, port), &options)?)
    }

    fn services(&self, means: &Means, required: bool) -> Services {
        match &means.addresses {
            Source::Servers(servers) => Services { servers: servers.clone(), required, silence: None },
            Source::System(_) => {
                let (reactor, owner) = (self.multi.runtime.reactor(), self.easy.owner_number());
                let servers = Rc::new(Servers::configured(reactor, owner));
                Services { servers, required, silence: Some(net::process().silence.clone()) }
            }
        }
    }

    /// Stores the Encrypted Client Hello configurations of an answer for the handshake.
    pub(super) fn note_answer(&self, answered: &QuestionAnswer) {
        let mut published = self.easy.published.borrow_mut();
        let Some(published) = published.as_mut() else { return };
        for candidate in &answered.candidates {
            published.at.extend(candidate.ech.clone().map(|list| (candidate.address, list)));
        }
    }

    /// Returns whether HTTPS records of a plan's host are requested, and whether the connection requires
    /// them: for an origin with HTTP over TLS, or with Encrypted Client Hello, if its name is in DNS. There
    /// are none for a proxy, or for a host from the user or an alternative service.
    pub(super) fn asks_for_record(&self, plan: &Plan) -> Option<bool> {
        let tls = plan.tls.as_ref().filter(|_| plan.is_direct() && plan.key.connect_to.is_none())?;
        let published = match &tls.ech {
            Some(Ech::Published { required, .. }) => Some(*required),
            _ => None,
        };
        let asks = published.is_some() || self.scheme().family().asks_by_http();
        (asks && is_for_dns(&plan.host)).then_some(published == Some(true))
    }

    /// Returns the configurations published for a host: those for this address, otherwise the first ones.
    pub(super) fn published(&self, host: &str, at: Option<SocketAddr>) -> Option<Arc<[u8]>> {
        let published = self.easy.published.borrow();
        let published = published.as_ref().filter(|published| published.host.eq_ignore_ascii_case(host))?;
        let here = published.at.iter().find(|(address, _)| at == Some(*address));
        here.or(published.at.first()).map(|(_, list)| list.clone())
    }

    /// Returns whether CURLOPT_RESOLVE has given the addresses of the route's first host.
    pub(super) fn is_pinned(&self, plan: &Plan) -> bool {
        let (host, port) = plan.first_hop();
        self.resolve_cache().is_pinned(host, port, self.easy.wildcard_pins.get())
    }

    /// Puts CURLOPT_RESOLVE entries into the cache before it is queried.
    pub fn pin_names(&self) -> Result<()> {
        if !self.easy.settings.borrow().is_set(O::Resolve) {
            return Ok(());
        }
        cold_path();
        let entries = self.easy.settings.borrow().list(O::Resolve);
        let cache = self.resolve_cache();
        let for_all = |entry: &Text| entry.starts_with(b"*:") || entry.starts_with(b"+*:");
        self.easy.wildcard_pins.set(entries.iter().any(for_all));
        let now = self.now();
        let pin = |entry: &Text| cache.pin(&String::from_utf8_lossy(entry), now);
        let pinned = self.locked(LockData::Dns, || entries.iter().try_for_each(pin));
        pinned.map_err(|e| Error::new(Code::SetoptOptionSyntax, e.message))
    }

    pub(super) fn resolve_cache(&self) -> Arc<ResolveCache> {
        let share = self.easy.share.borrow();
        share.as_ref().and_then(|s| s.resolved()).unwrap_or(&self.multi.resolved).clone()
    }

    /// Looks up a name of this machine with the system's resolver, which knows it best (CURLOPT_DOH_URL.md).
    pub(super) async fn look_up_here(
        &self,
        host: &str,
        port: u16,
        options: &ResolveOptions,
    ) -> Result<Arc<Addresses>> {
        self.look_up_by(&self.system(), host, port, options).await
    }

    async fn look_up_by(
        &self,
        means: &Means,
        host: &str,
        port: u16,
        options: &ResolveOptions,
    ) -> Result<Arc<Addresses>> {
        let options = &self.begin_look_up(means, host, port, options)?;
        Ok(resolve(means, host, port, options).await?)
    }

    /// Notifies the application of a look-up that is not answered by the cache.
    fn begin_look_up(
        &self,
        means: &Means,
        host: &str,
        port: u16,
        options: &ResolveOptions,
    ) -> Result<ResolveOptions> {
        let options = ResolveOptions { wildcards: self.easy.wildcard_pins.get(), ..options.clone() };
        let now = self.now();
        let begins = self.locked(LockData::Dns, || is_new(&means.cache, host, port, &options, now));
        if begins && !self.easy.callbacks.resolver_start() {
            return Err(Error::new(Code::AbortedByCallback, ""));
        }
        Ok(options)
    }

    /// Returns the resolver for the names of servers and proxies.
    fn means(&self) -> Means {
        let means = self.system();
        if let Some(url) = self.text(O::DohUrl).filter(|url| !url.is_empty()) {
            return means.with_servers(Rc::new(OverHttps::new(self, &url)));
        }
        match self.servers() {
            Some(servers) => means.with_servers(Rc::new(servers)),
            None => means,
        }
    }

    /// Returns the application's name servers, or the system's if only the local address is set.
    fn servers(&self) -> Option<Servers> {
        let settings = self.easy.settings.borrow();
        let [servers, interface, v4, v6] = OF_SERVERS.map(|option| given(&settings, option));
        if [&servers, &interface, &v4, &v6].iter().all(|text| text.is_none()) {
            return None;
        }
        let configured = Servers::configured(self.multi.runtime.reactor(), self.easy.owner_number());
        let local = LocalEnds {
            interface,
            v4: v4.and_then(|text| text.parse().ok()),
            v6: v6.and_then(|text| text.parse().ok()),
        };
        Some(configured.instead(servers.as_deref().and_then(servers_of).unwrap_or_default()).from(local))
    }

    fn system(&self) -> Means {
        let cache = self.resolve_cache();
        let means = Means::system(&net::process().resolver, &cache, self.multi.runtime.reactor());
        let share = self.easy.share.borrow().clone().filter(|share| share.shares(LockData::Dns));
        let tag = self.easy.tag.get();
        Means { around: share.map(|share| Rc::new(Locked { share, tag }) as Rc<dyn LookUpWrapper>), ..means }
    }
}
