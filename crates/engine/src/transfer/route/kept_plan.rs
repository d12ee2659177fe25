//! The plan of a target, which is kept from one transfer to the next until something that it was made from
//! has changed.

use std::sync::Arc;

use tables::EasyOption as O;
use tables::constant::CURLAUTH_NEGOTIATE;
use tables::scheme::Family;

use super::Route;
use super::known_plans::KnownPlans;
use super::plan::Plan;
use super::target::KnownPlan;
use crate::error::Result;
use crate::settings::Settings;
use crate::stores::altsvc;
use crate::transfer::proxy::own_lines;

impl Route {
    /// Returns how to reach the current URL: the plan of the last transfer if it holds, or a new one.
    pub fn plan(&self) -> Result<Arc<Plan>> {
        let settings = self.easy.settings.borrow();
        let lasting = self.may_last(&settings);
        if let Some(plan) = self.compared_plan(settings.way()).filter(|_| lasting) {
            return Ok(plan);
        }
        let environment = self.with_selected(self.environment(&settings), &settings);
        // The lines for a server change more often than the way to it; without CURLHEADER_SEPARATE a proxy
        // gets them, too.
        let lasting = lasting
            && (own_lines(&settings) == O::ProxyHeader
                || !environment.names_proxy() && !settings.is_set(O::Proxy));
        if let Some(known) = &*self.url.plan.borrow()
            && lasting
            && known.way == settings.way()
            && known.environment == environment
            && known.plan.is_as_chosen(&settings)
        {
            self.compared.set(true);
            return Ok(known.plan.clone());
        }
        let public = lasting && self.scheme().family() == Family::Http && !self.url.has_login();
        let known_plans = public.then(|| self.multi.public.of::<KnownPlans>());
        let known = known_plans.as_ref().map(|known| known.borrow());
        if let Some(plan) = known.and_then(|known| known.find(&self.url, &settings, &environment)) {
            let way = settings.way();
            self.keep_plan(KnownPlan { way, environment, plan: plan.clone() });
            return Ok(plan);
        }
        let (mut plan, way) = match lasting {
            true => {
                let plan = settings.for_way(|| Plan::of(self, &environment))?;
                let way = settings.way();
                drop(settings);
                (plan, Some(way))
            }
            false => {
                // A note about a .netrc file calls the application, which may change the settings.
                drop(settings);
                (Plan::of(self, &environment)?, None)
            }
        };
        plan.share(&self.multi.pool);
        let plan = Arc::new(plan);
        if let Some(known) = known_plans {
            known.borrow_mut().keep(&self.url, &self.easy.settings.borrow(), &environment, &plan);
        }
        if let Some(way) = way {
            self.keep_plan(KnownPlan { way, environment, plan: plan.clone() });
        }
        if let Some(to) = &plan.alternative {
            self.tell_alternative(to);
        }
        Ok(plan)
    }

    /// Returns the target's plan if it was compared during this request, and the settings lead the same way.
    fn compared_plan(&self, way: u64) -> Option<Arc<Plan>> {
        let known = self.url.plan.borrow();
        let compared = known.as_ref().filter(|known| self.compared.get() && known.way == way);
        compared.map(|known| known.plan.clone())
    }

    /// Keeps a plan that was made or compared now.
    fn keep_plan(&self, known: KnownPlan) {
        *self.url.plan.borrow_mut() = Some(known);
        self.compared.set(true);
    }

    /// Returns whether a plan holds until the settings change, as far as these say so.
    fn may_last(&self, settings: &Settings) -> bool {
        // A .netrc file may change, and so may the application's functions.
        let functions = self.easy.callbacks.sockets().is_some()
            || self.scheme().family() == Family::Ssh && self.easy.host_key_judge().is_some();
        let lasting = settings.long(O::Netrc) == 0 && !functions;
        // Alternatives come with replies, and tickets from a place that the environment names.
        let by_ticket = settings.long(O::ProxyAuth) as u64 & CURLAUTH_NEGOTIATE != 0;
        lasting && !by_ticket && !altsvc::is_on(self.easy.keeper())
    }
}
