//! Plans that a multi handle keeps for its next transfers, of whatever easy handle. A handle for each request
//! then parses and plans as little as one that is kept.
//!
//! Nothing in them is a secret, and nothing depends on the easy handle that a plan was made for: they outlive
//! it.

use std::sync::Arc;

use wire::url::Url;

use super::plan::Plan;
use crate::settings::{Settings, WayTerms};
use crate::transfer::proxy::Environment;

/// Most plans that are kept.
const KEPT: usize = 8;

/// The plans of one multi handle, the last used one at the end.
#[derive(Default)]
pub struct KnownPlans(Vec<Known>);

struct Known {
    /// A URL of the authority, without a login.
    site: Url,
    terms: WayTerms,
    environment: Environment,
    plan: Arc<Plan>,
}

impl KnownPlans {
    /// Returns the plan for a URL with these settings and variables, if there is one and nothing that it was
    /// made from has changed.
    pub fn find(&self, url: &Url, settings: &Settings, environment: &Environment) -> Option<Arc<Plan>> {
        self.0
            .iter()
            .rev()
            .find(|known| known.leads(url, settings, environment))
            .map(|known| known.plan.clone())
    }

    /// Keeps a plan that was just made, if it may outlive its handle.
    pub fn keep(&mut self, url: &Url, settings: &Settings, environment: &Environment, plan: &Arc<Plan>) {
        let Some(terms) = settings.way_terms().filter(|_| !environment.names_proxy()) else { return };
        let environment = environment.clone();
        self.0.retain(|known| !known.leads(url, settings, &environment) && known.plan.key.is_current());
        if self.0.len() == KEPT {
            self.0.remove(0);
        }
        self.0.push(Known { site: url.without_path(), terms, environment, plan: plan.clone() });
    }
}

impl Known {
    fn leads(&self, url: &Url, settings: &Settings, environment: &Environment) -> bool {
        self.site.same_authority(url)
            && self.environment == *environment
            && settings.agree_with(&self.terms)
            && self.plan.is_as_chosen(settings)
    }
}
