//! Flags about the pool of connections.

use crate::parse::{Done, Parser, Stop, Wrong};
use crate::pool;

pub fn pool(parser: &mut Parser, _: &str, text: &[u8]) -> Done {
    let kind = pool::named(text).ok_or(Wrong::Allowed("takes process, user or off"))?;
    parser.globals.pool = Some(kind);
    Ok(())
}

pub fn follow_names(parser: &mut Parser, _: &str, on: bool) -> Done {
    parser.globals.follow_names = Some(on);
    Ok(())
}

pub fn pool_status(_: &mut Parser) -> Done {
    Err(Stop::ShowPool)
}

pub fn pool_stop(_: &mut Parser) -> Done {
    Err(Stop::EndPool)
}
