//! Flags about agents. The agent options of a command line have been read before it is parsed
//! (`crate::agent::AgentOptions`).

use crate::agent::BUILT;
use crate::flags::Flag;
use crate::numbers;
use crate::parse::{Done, Parser, Stop, Wrong};

/// Fails on systems without agents; flags that disable them are allowed.
fn built() -> Done {
    if BUILT { Ok(()) } else { Err(Wrong::NotSupported.into()) }
}

pub fn agent(parser: &mut Parser, _: &Flag, on: bool) -> Done {
    if on {
        built()?;
    }
    if parser.depth > 0 {
        parser.messages.warn("--agent has no effect in a config file");
    }
    Ok(())
}

pub fn agent_idle(_: &mut Parser, _: &Flag, text: &[u8]) -> Done {
    numbers::unsigned(text)?;
    built()
}

pub fn agent_status(_: &mut Parser) -> Done {
    built()?;
    Err(Stop::TellAgents)
}

pub fn agent_stop(_: &mut Parser) -> Done {
    built()?;
    Err(Stop::EndAgents)
}
