//! The command line tool, a drop-in for curl.
#![allow(dead_code)] // until operate.rs uses it all
mod act;
mod config_file;
mod flags;
mod form;
mod message;
mod numbers;
mod parse;
mod request;
mod text;
mod variables;
mod world;

fn main() {}
