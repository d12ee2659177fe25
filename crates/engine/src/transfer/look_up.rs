//! How a transfer looks names up: who is asked, and what the application hears of it.

use std::rc::Rc;
use std::sync::Arc;

use net::resolver::{Addresses, Around, Means, ResolveOptions, is_new, resolve};
use tables::{Code, EasyOption as O, LockData};

use super::Transfer;
use super::over_https::OverHttps;
use crate::error::{Error, Result};
use crate::settings::Settings;
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

/// Who is asked, as far as that tells one connection from another; nothing for the system alone.
pub(super) fn asked(settings: &Settings) -> String {
    let Some(url) = settings.text(O::DohUrl).filter(|url| !url.is_empty()) else { return String::new() };
    let flags = [O::DohSslVerifypeer, O::DohSslVerifyhost, O::DohSslVerifystatus];
    let flags = flags.map(|option| settings.long(option).to_string()).join(" ");
    format!("{}\n{flags}", String::from_utf8_lossy(&url))
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
        self.look_up_by(&means, host, port, options).await
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
        let options = &ResolveOptions { wildcards: self.easy.wildcard_pins.get(), ..options.clone() };
        let now = self.now();
        let begins = self.locked(LockData::Dns, || is_new(&means.cache, host, port, options, now));
        if begins && !self.easy.callbacks.resolver_start() {
            return Err(Error::new(Code::AbortedByCallback, ""));
        }
        Ok(resolve(means, host, port, options).await?)
    }

    /// Who is asked for the names of servers and proxies.
    fn means(&self) -> Means {
        let means = self.system();
        match self.text(O::DohUrl) {
            Some(url) if !url.is_empty() => means.with_servers(Rc::new(OverHttps::new(self, &url))),
            _ => means,
        }
    }

    fn system(&self) -> Means {
        let cache = self.resolve_cache();
        let means = Means::system(&net::process().resolver, &cache, self.multi.runtime.reactor());
        let share = self.easy.share.borrow().clone().filter(|share| share.shares(LockData::Dns));
        let tag = self.easy.tag.get();
        Means { around: share.map(|share| Rc::new(Locked { share, tag }) as Rc<dyn Around>), ..means }
    }
}
