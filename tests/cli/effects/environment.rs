//! Warmwire's own variables of the environment (`tables::environment`).

use super::{clean, empty_folder, tool};
use std::path::Path;
use std::process::Command;
use testkit::http::HttpServer;
use testkit::needs;
use warmwire::environment::{self, Values, Variable};

/// Returns values that the variable may not have.
fn bad_values(variable: &Variable) -> &'static [&'static str] {
    match variable.values {
        Values::Word(_) | Values::Words(_) => &["nonsense", "nonsense,wait", "Wait"],
        Values::Number { .. } => &["0", "many", "99999999", "1 "],
        Values::Prefixed(..) => &["nonsense", "nonsense:x", "Info:x"],
        Values::AbsolutePath(_) => &["relative/path"],
        Values::Any(_) => &[],
    }
}

/// Two transfers of a process report a bad value once, and work as without it.
#[test]
fn a_bad_value_is_reported_once_and_counts_as_unset() {
    let server = HttpServer::plain();
    let url = server.url("/bytes/10");
    for variable in environment::ALL {
        for value in bad_values(variable) {
            let mut command = Command::new(tool());
            command.args(["-sS", &url, &url]).env(variable.name, value);
            let output = needs::output(clean(&mut command));
            assert_eq!(output.stdout.len(), 20, "{}={value}", variable.name);
            let Variable { name, values, .. } = variable;
            let line = format!("warmwire: {name}={value} is ignored; {name} must be: {values}\n");
            assert_eq!(String::from_utf8_lossy(&output.stderr), line);
        }
    }
}

#[test]
fn the_manual_lists_each_variable_with_values_and_default() {
    let manual = needs::output(Command::new(tool()).arg("--manual"));
    let manual = String::from_utf8_lossy(&manual.stdout);
    let words = manual.split_whitespace().collect::<Vec<_>>().join(" ");
    for Variable { name, values, default, scope, about } in environment::ALL {
        let text = format!("{name} {about} Values: {values}. Default: {default}. It counts in {scope}.");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&text), "the manual lacks: {text}");
    }
}

/// A program with a capability of its file runs with AT_SECURE, although its user and groups are the
/// caller's.
#[test]
fn a_program_with_more_rights_than_its_user_ignores_all() {
    let folder = empty_folder();
    let program = folder.join("privileged");
    std::fs::copy(tool(), &program).unwrap();
    let Some(run) = with_capability(&program) else {
        testkit::left_out("no right to give a file a capability, or no setcap and setpriv");
    };
    let server = HttpServer::plain();
    let report = folder.join("report");
    let url = server.url("/bytes/10");
    let mut command = run(&[&url]);
    command.env("WARMWIRE_FTP", "nonsense").env("WARMWIRE_REPORT", &report);
    let output = needs::output(&mut command);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.stdout.len(), 10);
    assert!(!report.exists());
}

/// Gives the program a capability, and returns how another user runs it.
fn with_capability(program: &Path) -> Option<impl Fn(&[&str]) -> Command> {
    let set = Command::new("setcap").arg("cap_net_bind_service+ep").arg(program).output().ok()?;
    let user = ["--reuid=65534", "--regid=65534", "--clear-groups"];
    let can = Command::new("setpriv").args(user).arg("true").output().ok()?;
    for folder in program.ancestors().skip(1).take(2) {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o777)).ok()?;
    }
    let program = program.to_owned();
    (set.status.success() && can.status.success()).then_some(move |words: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(user).arg(&program).args(["-q", "-sS"]).args(words).current_dir("/");
        command
    })
}
