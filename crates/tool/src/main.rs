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
mod names;
mod numbers;
mod parse;
mod progress;
mod request;
mod retry;
mod settings;
mod sink;
mod text;
mod trace;
mod variables;
mod world;
mod writeout;

fn main() {}
