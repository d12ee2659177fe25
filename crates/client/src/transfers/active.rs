//! The handle of a transfer, and the options that it has from the one before.

use std::rc::Rc;

use engine::error::refused_option;
use engine::{Choices, Easy};
use tables::EasyOption;

use super::app::App;
use super::template::{Start, Template};
use crate::{Failure, Value, value};

/// A transfer that has not been released; it may have ended.
pub(super) struct Active {
    pub(super) easy: Easy,
    pub(super) app: Rc<App>,
    /// The options that were set. A spare handle keeps them.
    set: Vec<(EasyOption, Value)>,
    /// The template of those options, if they are those of one.
    template: Option<Rc<Template>>,
    /// Whether the last transfer of the template had a range of its own.
    has_range: bool,
}

impl Active {
    pub(super) fn new(easy: Easy, app: Rc<App>) -> Active {
        Active { easy, app, set: Vec::new(), template: None, has_range: false }
    }

    /// Sets the options of a template, if the handle does not have them, and those of one transfer.
    pub(super) fn adopt(&mut self, template: &Rc<Template>, start: &Start<'_>) -> Result<(), Failure> {
        // Without a range of its own a transfer has that of the template, which `set` restores.
        let has_range = start.range.is_some();
        let is_again = self.template.as_ref().is_some_and(|known| Rc::ptr_eq(known, template));
        if !is_again || self.has_range != has_range {
            self.set(template.options(start))?;
            self.template = (!template.has_commands).then(|| template.clone());
            self.has_range = has_range;
            return Ok(());
        }
        let range = start.range.map(|range| (EasyOption::Range, range.as_bytes()));
        for (option, text) in std::iter::once((EasyOption::Url, start.url)).chain(range) {
            self.easy.set_text(option, Some(text)).map_err(refused_option(option))?;
        }
        Ok(())
    }

    /// Sets the options of a request. If they differ from the previous ones only in URL and header fields,
    /// only those are set, so that the handle keeps what it has derived from the rest.
    pub(super) fn set(&mut self, options: Vec<(EasyOption, Value)>) -> Result<(), Failure> {
        let is_like = |((option, value), (before, known)): (&(EasyOption, Value), &(EasyOption, Value))| {
            option == before
                && match option {
                    EasyOption::Url | EasyOption::HttpHeader => true,
                    // The option is a command, not a state.
                    EasyOption::CookieList => false,
                    _ => value == known,
                }
        };
        let is_again = !self.set.is_empty()
            && self.set.len() == options.len()
            && options.iter().zip(&self.set).all(is_like);
        // A template has set another URL than the one noted.
        let is_again = is_again && self.template.is_none();
        if !is_again {
            self.reset();
        }
        for (place, (option, value)) in options.iter().enumerate() {
            if is_again && self.set[place].1 == *value {
                continue;
            }
            match option {
                EasyOption::FollowLocation => self.app.follows.set(true),
                EasyOption::UserPwd | EasyOption::Username | EasyOption::ProxyUsername => {
                    self.app.authenticates.set(true)
                }
                EasyOption::WsOptions => self.app.upgrades.set(true),
                _ => {}
            }
            value::apply(value.clone(), *option, &self.easy).map_err(refused_option(*option))?;
        }
        self.set = options;
        Ok(())
    }

    pub(super) fn choose(&self, choices: &Choices) {
        self.easy.state().settings.borrow_mut().set_choices(choices);
        if choices.proxies.iter().flat_map(|rules| rules.iter()).any(|rule| rule.url.contains('@')) {
            self.app.authenticates.set(true);
        }
    }

    pub(super) fn reset(&mut self) {
        self.set.clear();
        self.template = None;
        self.easy.reset();
        [&self.app.follows, &self.app.authenticates, &self.app.upgrades]
            .iter()
            .for_each(|flag| flag.set(false));
    }
}
