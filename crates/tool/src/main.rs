//! The command line tool, a drop-in for curl.
#![allow(dead_code)] // until operate.rs uses it all
mod act;
mod config_file;
mod doc;
mod flags;
mod form;
mod glob;
mod libcurl;
mod message;
mod numbers;
mod parse;
mod request;
mod settings;
mod text;
mod variables;
mod world;
mod writeout;

fn main() {}
