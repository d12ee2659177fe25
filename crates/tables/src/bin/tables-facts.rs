//! Prints facts of the tables for `link.sh`: `exports` (the default, one name per line), `own-exports`,
//! `version`, `number`, `protocols`, `features`.

use warmwire_tables::{Scheme, export, feature, version};

fn main() {
    match std::env::args().nth(1).as_deref() {
        None | Some("exports") => println!("{}", export::EXPORTS.join("\n")),
        Some("own-exports") => println!("{}", export::OWN_EXPORTS.join("\n")),
        Some("version") => println!("{}", version().curl),
        Some("number") => println!("{:06x}", version().curl_number),
        Some("protocols") => println!("{}", Scheme::listed_names().join(" ")),
        Some("features") => println!("{}", feature::built_names().collect::<Vec<_>>().join(" ")),
        Some(other) => panic!("no such fact: {other}"),
    }
}
