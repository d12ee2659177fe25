//! Variables of the environment that the code reads: the manual describes each.

use super::commands::Commands;
use crate::files;

/// Literals that are no variables for users: `OUT_DIR` is cargo's, a package sets `WARMWIRE_BROKER_PROGRAM`
/// when it builds, `WARMWIRE_SHARED` is for tests, and `PROV` is a type of key.
const NOT_FOR_USERS: [&str; 5] = ["OUT_DIR", "PATH", "PROV", "WARMWIRE_BROKER_PROGRAM", "WARMWIRE_SHARED"];

/// Returns the variables that sources of a crate or of the package read and the manual lacks.
pub fn faults(commands: &Commands) -> Vec<String> {
    let is_source = |path: &String| path.contains("/src/") && path.ends_with(".rs");
    let sources = files::below("crates").into_iter().chain(files::below("python")).filter(is_source);
    let mut found = Vec::new();
    for path in sources {
        let text = files::text(&path);
        let missing = read_by(&text).into_iter().filter(|name| !commands.has_variable(name));
        found.extend(missing.map(|name| format!("{path}: the manual lacks the variable {name}")));
    }
    found
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
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let literals = lines.flat_map(|line| line.split('"').skip(1).step_by(2));
    literals.filter(is_name).map(str::to_owned).collect()
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
}
