//! With what a look-up is made: who is asked, and where answers are kept.

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
pub type Asked = Pin<Box<dyn Future<Output = Result<Answer, NoAnswer>>>>;

/// Name servers, which are asked by DNS messages, however these travel.
pub trait NameServers {
    /// Asks one question, of a name that is looked for in search domains, too, or stands for itself. Dropping
    /// the future gives it up.
    fn ask(&self, question: Question, searched: bool) -> Asked;
}

/// Who is asked for addresses.
#[derive(Clone)]
pub enum Source {
    /// The system's resolver, on threads.
    System(Arc<Resolver>),
    Servers(Rc<dyn NameServers>),
}

/// Who is asked for HTTPS records.
#[derive(Clone)]
pub struct Services {
    pub servers: Rc<dyn NameServers>,
    /// Their answer is waited for, however long it takes.
    pub required: bool,
    /// What is known of how these servers answer, if that is kept in mind.
    pub silence: Option<Arc<Silence>>,
}

impl Services {
    pub(super) fn is_worth_asking(&self, now: Instant) -> bool {
        self.required || self.silence.as_ref().is_none_or(|silence| silence.is_over(now))
    }
}

/// Whoever shares the cache wants to know when it is used.
pub trait Around {
    /// Calls `work` once, with what it must have around it.
    fn around(&self, work: &mut dyn FnMut());
}

/// With what a look-up is made.
#[derive(Clone)]
pub struct Means {
    pub addresses: Source,
    /// Who is asked for HTTPS records; nobody is where they are not wanted.
    pub services: Option<Services>,
    pub cache: Arc<ResolveCache>,
    pub around: Option<Rc<dyn Around>>,
    pub reactor: Arc<Reactor>,
}

impl Means {
    /// The system's resolver, and a cache that nobody else uses.
    pub fn system(resolver: &Arc<Resolver>, cache: &Arc<ResolveCache>, reactor: &Arc<Reactor>) -> Means {
        Means {
            addresses: Source::System(resolver.clone()),
            services: None,
            cache: cache.clone(),
            around: None,
            reactor: reactor.clone(),
        }
    }

    /// The same, asking these.
    pub fn with_servers(self, servers: Rc<dyn NameServers>) -> Means {
        Means { addresses: Source::Servers(servers), ..self }
    }

    /// Who was asked for HTTPS records has answered.
    pub(super) fn heard_of_services(&self) {
        if let Some(silence) = self.services.as_ref().and_then(|services| services.silence.as_ref()) {
            silence.answered();
        }
    }

    /// Who was asked for HTTPS records has not, for as long as anybody waited.
    pub(super) fn missed_services(&self, now: Instant) {
        if let Some(silence) = self.services.as_ref().and_then(|services| services.silence.as_ref()) {
            silence.unanswered(now);
        }
    }

    /// Uses the cache as whoever shares it demands.
    pub(super) fn cached<R>(&self, work: impl FnOnce(&ResolveCache) -> R) -> R {
        let Some(around) = &self.around else { return work(&self.cache) };
        let (mut work, mut result) = (Some(work), None);
        around.around(&mut || result = work.take().map(|work| work(&self.cache)));
        result.expect("Around calls its work once")
    }
}
