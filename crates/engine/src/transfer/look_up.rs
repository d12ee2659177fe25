//! How a transfer looks names up: who is asked, and what the application hears of it.

use std::rc::Rc;
use std::sync::Arc;

use net::resolver::{
    Addresses, Around, Candidates, LocalEnds, Means, NameServers, ResolveOptions, Servers, Source,
    is_for_dns, is_new, resolve,
};
use tables::{Code, EasyOption as O, LockData};
use wire::resolv_conf::servers as servers_of;

use super::Transfer;
use super::over_https::OverHttps;
use crate::error::{Error, Result};
use crate::settings::Settings;
use crate::settings::ech::{EchWish, Mode};
use crate::share::Share;

/// The lock functions of a share whose names are used.
struct Locked {
    share: Share,
    tag: usize,
}

impl Around for Locked {
    fn around(&self, work: &mut dyn FnMut()) {
        self.share.around(LockData::Dns, self.tag, work);
    }
}

/// What says which name servers are asked, and whence.
const OF_SERVERS: [O; 4] = [O::DnsServers, O::DnsInterface, O::DnsLocalIp4, O::DnsLocalIp6];

/// Who is asked, as far as that tells one connection from another; nothing for the system alone.
pub(super) fn asked(settings: &Settings) -> String {
    let mut texts: Vec<String> = OF_SERVERS.iter().filter_map(|option| given(settings, *option)).collect();
    if let Some(url) = settings.string(O::DohUrl).filter(|url| !url.is_empty()) {
        let flags = [O::DohSslVerifypeer, O::DohSslVerifyhost, O::DohSslVerifystatus];
        texts.push(url);
        texts.extend(flags.map(|option| settings.long(option).to_string()));
    }
    texts.join("\n")
}

/// An empty text says nothing.
fn given(settings: &Settings, option: O) -> Option<String> {
    settings.string(option).filter(|text| !text.is_empty())
}

impl Transfer {
    /// A host's addresses. The application hears of a look-up that begins, not of an answer that the cache has.
    pub(super) async fn look_up(
        &self,
        host: &str,
        port: u16,
        options: &ResolveOptions,
    ) -> Result<Arc<Addresses>> {
        let means = self.means();
        match self.wants_published(host) {
            None => self.look_up_by(&means, host, port, options).await,
            Some(required) => Box::pin(self.look_up_published(means, host, port, options, required)).await,
        }
    }

    /// The same, and what the name server has published for Encrypted Client Hello, which is kept for the handshake.
    async fn look_up_published(
        &self,
        means: Means,
        host: &str,
        port: u16,
        options: &ResolveOptions,
        required: bool,
    ) -> Result<Arc<Addresses>> {
        let servers: Rc<dyn NameServers> = match &means.addresses {
            Source::Servers(servers) => servers.clone(),
            Source::System(_) => {
                Rc::new(Servers::configured(self.multi.runtime.reactor(), self.easy.owner_number()))
            }
        };
        let means = Means { services: Some(servers), ..means };
        let options = &self.begin_look_up(&means, host, port, options)?;
        let stream = Candidates::look_up(&means, (host, port), options)?;
        let (addresses, services) = stream.settled_with_services(required).await?;
        let own = services.iter().find(|service| service.target.is_none() && service.ech.is_some());
        let list = own.and_then(|service| service.ech.as_deref()).map(Arc::from);
        *self.easy.published.borrow_mut() = list.map(|list| (host.to_ascii_lowercase(), list));
        Ok(addresses)
    }

    /// Whether what a name server publishes of this host counts for Encrypted Client Hello, and whether nothing goes without.
    fn wants_published(&self, host: &str) -> Option<bool> {
        let text = self.text(O::Ech)?;
        let wish = EchWish::of(&text);
        let required = match wish.mode {
            _ if wish.list.is_some() => return None,
            Mode::Off | Mode::Grease => return None,
            Mode::Try => false,
            Mode::Hard => true,
        };
        let own = self.url.host_ascii().is_ok_and(|own| own.eq_ignore_ascii_case(host.as_bytes()));
        (own && self.scheme().tls() && is_for_dns(host)).then_some(required)
    }

    /// The configurations published for a host.
    pub(super) fn published(&self, host: &str) -> Option<Arc<[u8]>> {
        let published = self.easy.published.borrow();
        published.as_ref().filter(|(of, _)| of.eq_ignore_ascii_case(host)).map(|(_, list)| list.clone())
    }

    /// The same for a name of this machine: no name server elsewhere knows it better than the system (CURLOPT_DOH_URL.md).
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

    /// Tells the application of a look-up that goes beyond the cache.
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

    /// Who is asked for the names of servers and proxies.
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

    /// Name servers of the application's own, or the system's where only it says whence they are asked.
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
        Means { around: share.map(|share| Rc::new(Locked { share, tag }) as Rc<dyn Around>), ..means }
    }
}
