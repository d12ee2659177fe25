//! The parsed part of a command line: one [`Request`] for each group, and global options.

use crate::bytes::Bytes;
use crate::message::Messages;
use crate::request::{Globals, Request};
use crate::variables::Variables;
use crate::world::World;

/// The state of parsing one command line: flags modify it.
pub struct Parser<'w> {
    pub world: &'w mut dyn World,
    pub messages: Messages,
    pub globals: Globals,
    pub requests: Vec<Request>,
    pub variables: Variables,
    /// Targets made so far, over all groups.
    pub target_count: usize,
    /// How deep config files are nested now.
    pub depth: usize,
    /// Number of `-v` in the current bundle.
    pub verbose_in_bundle: u8,
    pub default_config: Option<Bytes>,
}

impl<'w> Parser<'w> {
    pub fn new(world: &'w mut dyn World, messages: Messages) -> Parser<'w> {
        Parser {
            world,
            messages,
            globals: Globals::default(),
            requests: vec![Request::new()],
            variables: Variables::default(),
            target_count: 0,
            depth: 0,
            verbose_in_bundle: 0,
            default_config: None,
        }
    }

    /// The group being described.
    pub fn request(&mut self) -> &mut Request {
        self.requests.last_mut().expect("there is always one group")
    }
}
