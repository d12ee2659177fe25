//! With what a look-up is made: who is asked, and where answers are kept.

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use runtime::Reactor;
use wire::dns::{Answer, Question};

use super::ResolveCache;
use super::lookup::{Resolver, Unanswered};

/// A question to name servers under way.
pub type Asked = Pin<Box<dyn Future<Output = Result<Answer, Unanswered>>>>;

/// Name servers, which are asked by DNS messages, however these travel.
pub trait NameServers {
    /// Asks one question, of a name that is looked for in search domains, too, or stands for itself. Dropping the future
    /// gives it up.
    fn ask(&self, question: Question, searched: bool) -> Asked;
}

/// Who is asked for addresses.
#[derive(Clone)]
pub enum Source {
    /// The system's resolver, on threads.
    System(Arc<Resolver>),
    Servers(Rc<dyn NameServers>),
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
    pub services: Option<Rc<dyn NameServers>>,
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

    /// Uses the cache as whoever shares it demands.
    pub(super) fn cached<R>(&self, work: impl FnOnce(&ResolveCache) -> R) -> R {
        let Some(around) = &self.around else { return work(&self.cache) };
        let (mut work, mut result) = (Some(work), None);
        around.around(&mut || result = work.take().map(|work| work(&self.cache)));
        result.expect("Around calls its work once")
    }
}
