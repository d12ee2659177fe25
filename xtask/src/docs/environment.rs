//! Variables of the environment that the code reads: the manual describes each, and `runtime::environment`
//! alone reads those of Warmwire.

use super::commands::Commands;
use crate::files;
use tables::environment::ALL;

/// Literals that are no variables for users: `OUT_DIR` is cargo's, `WARMWIRE_SHARED` is for tests, and `PROV`
/// is a type of key.
const NOT_FOR_USERS: [&str; 4] = ["OUT_DIR", "PATH", "PROV", "WARMWIRE_SHARED"];

/// Returns the variables that sources of a crate or of the package read and the manual lacks.
pub fn faults(commands: &Commands) -> Vec<String> {
    let is_source = |path: &String| path.contains("/src/") && path.ends_with(".rs");
    let sources = files::below("crates").into_iter().chain(files::below("python")).filter(is_source);
    let mut found = Vec::new();
    for path in sources {
        let text = files::text(&path);
        let missing = read_by(&text).into_iter().filter(|name| !commands.has_variable(name));
        found.extend(missing.map(|name| format!("{path}: the manual lacks the variable {name}")));
        let past = own_in(&text).into_iter();
        found.extend(past.map(|name| format!("{path}: {name} is read by runtime::environment alone")));
    }
    found
}

/// Returns the variables of Warmwire that a source names in literals, past their rows.
fn own_in(source: &str) -> Vec<String> {
    let is_own = |text: &&str| ALL.iter().any(|variable| variable.name == *text);
    literals(source).filter(is_own).map(str::to_owned).collect()
}

/// Returns the literals of a source, without its tests and comments.
fn literals(source: &str) -> impl Iterator<Item = &str> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| line.split('"').skip(1).step_by(2))
}

/// Returns the names of variables in a source that reads the environment: literals in capitals.
fn read_by(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    if !["env::var", "getenv(", "system::variable"].iter().any(|call| code.contains(call)) {
        return Vec::new();
    }
    let is_name = |text: &&str| {
        text.len() > 3
            && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
            && !NOT_FOR_USERS.contains(text)
            && !text.starts_with("CARGO_")
            && !text.ends_with("_PROXY") // the manual has them as [scheme]_PROXY
    };
    literals(source).filter(is_name).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_found_where_the_environment_is_read() {
        let source = "const NAME: &str = \"A_NAME\";\nlet x = std::env::var_os(NAME);\n// \"NOT_THIS\"\n";
        assert_eq!(read_by(source), ["A_NAME"]);
        assert_eq!(read_by("const NAME: &str = \"A_NAME\";"), [""; 0]);
        assert_eq!(read_by(&format!("#[cfg(test)]{source}")), [""; 0]);
    }

    #[test]
    fn own_variables_are_found_outside_their_table() {
        assert_eq!(own_in("std::env::var(\"WARMWIRE_FTP\")"), ["WARMWIRE_FTP"]);
        assert_eq!(own_in("// \"WARMWIRE_FTP\"\nx(\"WARMWIRE_OTHER\")"), [""; 0]);
    }
}
