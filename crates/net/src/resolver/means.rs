//! The sources and the cache of a look-up.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use runtime::Reactor;
use wire::dns::{Answer, Question};

use super::cache::ResolveCache;
use super::family::NoAnswer;
use super::lookup::Resolver;
use super::silence::Silence;

/// A question to name servers under way.
pub type PendingAnswer = Pin<Box<dyn Future<Output = Result<Answer, NoAnswer>>>>;

/// Name servers that are queried with DNS messages, over any transport.
pub trait NameServers {
    /// Sends one query. `searched`: the name is also tried in search domains. Dropping the future cancels it.
    fn ask(&self, question: Question, searched: bool) -> PendingAnswer;
}

/// The source of addresses.
#[derive(Clone)]
pub enum Source {
    /// The system's resolver, on threads.
    System(Arc<Resolver>),
    Servers(Rc<dyn NameServers>),
}

/// The source of HTTPS records.
#[derive(Clone)]
pub struct Services {
    pub servers: Rc<dyn NameServers>,
    /// Whether the look-up waits for their reply, however long it takes.
    pub required: bool,
    /// A record of whether these servers answer, if it is kept.
    pub silence: Option<Arc<Silence>>,
}

impl Services {
    pub(super) fn is_worth_asking(&self, now: Instant) -> bool {
        self.required || self.silence.as_ref().is_none_or(|silence| silence.is_over(now))
    }
}

/// Wraps uses of a shared cache.
pub trait LookUpWrapper {
    /// Calls `work` once, inside the wrapper.
    fn around(&self, work: &mut dyn FnMut());
}

/// The sources and the cache of a look-up.
#[derive(Clone)]
pub struct Means {
    pub addresses: Source,
    /// The source of HTTPS records; `None` if they are not wanted.
    pub services: Option<Services>,
    pub cache: Arc<ResolveCache>,
    pub around: Option<Rc<dyn LookUpWrapper>>,
    pub reactor: Arc<Reactor>,
}

impl Means {
    /// Uses the system's resolver, and a private cache.
    pub fn system(resolver: &Arc<Resolver>, cache: &Arc<ResolveCache>, reactor: &Arc<Reactor>) -> Means {
        Means {
            addresses: Source::System(resolver.clone()),
            services: None,
            cache: cache.clone(),
            around: None,
            reactor: reactor.clone(),
        }
    }

    /// Returns a copy that asks these servers for addresses.
    pub fn with_servers(self, servers: Rc<dyn NameServers>) -> Means {
        Means { addresses: Source::Servers(servers), ..self }
    }

    /// Records that the servers have replied to the query for HTTPS records.
    pub(super) fn heard_of_services(&self) {
        if let Some(silence) = self.services.as_ref().and_then(|services| services.silence.as_ref()) {
            silence.answered();
        }
    }

    /// Records that the servers have not replied to it in time.
    pub(super) fn missed_services(&self, now: Instant) {
        if let Some(silence) = self.services.as_ref().and_then(|services| services.silence.as_ref()) {
            silence.unanswered(now);
        }
    }

    /// Uses the cache inside the sharer's wrapper.
    pub(super) fn cached<R>(&self, work: impl FnOnce(&ResolveCache) -> R) -> R {
        let Some(around) = &self.around else { return work(&self.cache) };
        let (mut work, mut result) = (Some(work), None);
        around.around(&mut || result = work.take().map(|work| work(&self.cache)));
        result.expect("Around calls its work once")
    }
}
