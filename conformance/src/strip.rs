//! `<strip>`, `<strippart>` and `<stripfile>`: regular expressions and operations written in Perl, so Perl
//! runs them.

use std::io::Write;
use std::process::{Command, Stdio};

/// The content of the lines of such a part.
#[derive(Clone, Copy)]
pub enum Kind {
    /// Each is a pattern; the lines it matches go.
    Pattern,
    /// Each is an operation on `$_`, run on every line.
    Operation,
    /// As `Operation`, and lines that come out empty go.
    Filter,
}

const PROGRAM: &str = r#"
binmode STDIN; binmode STDOUT;
my ($kind, @ops) = @ARGV;
my @lines = <STDIN>;
for my $op (@ops) {
    if($kind eq "pattern") { @lines = grep { $_ !~ /$op/ } @lines; next; }
    for (@lines) { eval $op; if($@) { print STDERR $@; exit 9; } }
    @lines = grep { $_ } @lines if($kind eq "filter");
}
print @lines;
"#;

/// Returns the text after the operations; `Err` is Perl's error.
pub fn apply(kind: Kind, operations: &[String], text: Vec<u8>) -> Result<Vec<u8>, String> {
    if operations.is_empty() || text.is_empty() {
        return Ok(text);
    }
    let kind = match kind {
        Kind::Pattern => "pattern",
        Kind::Operation => "operation",
        Kind::Filter => "filter",
    };
    let describe = |e: std::io::Error| format!("cannot run perl: {e}");
    let mut perl = Command::new("perl")
        .args(["-e", PROGRAM, kind])
        .args(operations)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(describe)?;
    let mut input = perl.stdin.take().expect("asked for just above");
    let feeder = std::thread::spawn(move || input.write_all(&text));
    let output = perl.wait_with_output().map_err(describe)?;
    let _ = feeder.join();
    if !output.status.success() {
        return Err(format!("perl: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(kind: Kind, operation: &str) -> Result<String, String> {
        let text = b"one 1\r\ntwo 2\r\n".to_vec();
        apply(kind, &[operation.to_owned()], text).map(|t| String::from_utf8(t).unwrap())
    }

    #[test]
    fn patterns_operations_and_filters_change_lines() {
        assert_eq!(run(Kind::Pattern, r"^one \d").unwrap(), "two 2\r\n");
        assert_eq!(run(Kind::Operation, r"s/(\d)/<$1>/").unwrap(), "one <1>\r\ntwo <2>\r\n");
        assert_eq!(run(Kind::Filter, "$_ = '' if /two/").unwrap(), "one 1\r\n");
        assert!(run(Kind::Operation, "s/(/").is_err());
    }
}
