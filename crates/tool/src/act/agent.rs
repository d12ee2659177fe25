//! Flags about agents. What a command line says of them has been read before it is parsed (`crate::agent::Wish`).

use crate::flags::Flag;
use crate::numbers;
use crate::parse::{Done, Parser, Stop};

pub fn agent(parser: &mut Parser, _: &Flag, _: bool) -> Done {
    if parser.depth > 0 {
        parser.messages.warn("--agent has no effect in a config file");
    }
    Ok(())
}

pub fn agent_idle(_: &mut Parser, _: &Flag, text: &[u8]) -> Done {
    numbers::unsigned(text)?;
    Ok(())
}

pub fn agent_status(_: &mut Parser) -> Done {
    Err(Stop::TellAgents)
}

pub fn agent_stop(_: &mut Parser) -> Done {
    Err(Stop::EndAgents)
}
