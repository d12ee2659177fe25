//! The tool's output, compared with files under `snapshots`. `UPDATE_SNAPSHOTS=1` rewrites them; check the
//! difference before you commit it.

use super::{empty_folder, here, run, server, tool};

/// Compares a text with a snapshot.
fn compare(name: &str, text: &str) {
    let file = here().join("snapshots").join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&file, text).unwrap();
        return;
    }
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(known == text, "{name} differs; what is printed now:\n{text}");
}

/// Standard output, standard error and exit code of one command line.
fn shown(words: &[&str], port: u16) -> String {
    let out = run(tool(), words, &empty_folder());
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).replace('\r', "\\r");
        without_times(&text.replace(&format!(":{port}"), ":PORT"))
    };
    let line = words.join(" ").replace(&format!(":{port}"), ":PORT");
    let (code, stdout, stderr) = (out.status.code(), text(&out.stdout), text(&out.stderr));
    format!("$ curl {line}\n{stdout}{stderr}exit {}\n\n", code.unwrap_or(-1))
}

/// "after 12 ms" becomes "after N ms".
fn without_times(text: &str) -> String {
    let mut pieces = text.split("after ");
    let mut out = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        let rest = piece.trim_start_matches(|c: char| c.is_ascii_digit());
        let shown = if rest.len() < piece.len() && rest.starts_with(" ms") { "N" } else { "" };
        out.push_str(&format!("after {shown}{}", if shown.is_empty() { piece } else { rest }));
    }
    out
}

// covers: --help
#[test]
fn help() {
    compare("help.txt", &shown(&["--help"], 0));
    compare("help-all.txt", &shown(&["--help", "all"], 0));
    compare("help-tls.txt", &shown(&["--help", "tls"], 0));
    compare("help-one.txt", &(shown(&["--help", "--variable"], 0) + &shown(&["-h", "-N"], 0)));
    // A terminal gets one line more; script(1) gives the tool one.
    let line = format!("COLUMNS=79 {} --help", tool());
    let out = run("script", &["-qec", &line, "/dev/null"], &empty_folder());
    let text = String::from_utf8_lossy(&out.stdout).replace('\r', "");
    assert!(
        text.ends_with("given option\nUse \"--help extra\" to list the options that curl does not have\n"),
        "{text}"
    );
}

// covers: --variable, --metalink, --proto-default
#[test]
fn errors() {
    let port = server::start().port();
    let url = format!("http://127.0.0.1:{port}");
    let lines: &[&[&str]] = &[
        &[],
        &["--no-such"],
        &["-o"],
        &["-m", "abc"],
        &["--no-output", "x"],
        &["--retry", "-1"],
        &["-d", "@missing", "x"],
        &["-F", "nonsense", "x"],
        &["-C", "1", "-r", "2-3", "x"],
        &["-K", "missing"],
        &["--proto-default", "nope", "x"],
        &["nope://x"],
        &["-sS", "http://127.0.0.1:1/"],
        &["-s", "http://127.0.0.1:1/"],
        &["-g", "http://[::1"],
        &["x{a,b"],
        &["x[2-1]"],
        &["-sS", "--fail", &format!("{url}/status/404")],
        &["-sS", "--fail-with-body", &format!("{url}/status/500")],
        &["-sS", "--max-redirs", "1", "-L", &format!("{url}/to/to/to/text/x")],
        &["-T", "missing", &url],
        &["-I", "-d", "a", &url],
        &["--variable", "%WARMWIRE_UNSET", "x"],
        &["--expand-url", "{{a:nope}}"],
        &["--metalink", "--no-progress-meter", &format!("{url}/text/x")],
        &["-o", "a", "-o", "b", "--no-progress-meter", &format!("{url}/text/x")],
        &["--next", "x"],
    ];
    compare("errors.txt", &lines.iter().map(|words| shown(words, port)).collect::<String>());
}

// covers: --verbose, --trace-ascii, --write-out
#[test]
fn verbose_and_write_out() {
    let port = server::start().port();
    let url = format!("http://127.0.0.1:{port}");
    let verbose = shown(&["-sv", "-L", &format!("{url}/to/text/x")], port);
    // Remarks may change; sent and received lines may not.
    let wire: Vec<&str> = verbose.lines().filter(|line| line.starts_with(['<', '>', '$'])).collect();
    compare("verbose.txt", &(wire.join("\n") + "\n"));
    let format = "%{http_code} %{response_code} %{num_redirects} %{size_download} %{content_type} %{method} \
                  %{scheme} %{url.host} %{urlnum} %{exitcode} %{http_version} %header{content-length}\\n%%\\t.%{nope}";
    let written = shown(&["-s", "-o", "out", "-w", format, &format!("{url}/text/x")], port);
    compare("write-out.txt", &written);
    let trace = shown(&["-s", "--trace-ascii", "-", "-o", "out", &format!("{url}/text/x")], port);
    let trace: Vec<&str> = trace.lines().filter(|line| !line.starts_with("== Info")).collect();
    compare("trace.txt", &(trace.join("\n") + "\n"));
}

#[test]
fn escapes_do_not_reach_the_terminal() {
    let port = server::start().port();
    let url = format!("http://127.0.0.1:{port}/escape/x");
    let line = format!("{} -si {url}", tool());
    // script(1) provides a terminal for the tool's output.
    let out = run("script", &["-qec", &line, "/dev/null"], &empty_folder());
    let text = String::from_utf8_lossy(&out.stdout);
    assert!(text.contains("a?[31mb"), "{text}");
}

#[test]
fn the_manual_page_and_the_completions_are_sound() {
    let folder = empty_folder();
    for what in ["man", "bash", "zsh", "fish"] {
        let out = run(tool(), &["--generate", what], &folder);
        std::fs::write(folder.join(what), out.stdout).unwrap();
    }
    let page = folder.join("man").display().to_string();
    let out = run("groff", &["-man", "-ww", "-Tutf8", "-z", &page], &folder);
    assert!(out.status.success() && out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
    for shell in ["bash", "zsh", "fish"] {
        let out = run(shell, &["-n", shell], &folder);
        assert!(out.status.success(), "{shell}: {}", String::from_utf8_lossy(&out.stderr));
    }
    let page = ["--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", "./man"];
    let out = run("man", &page, &folder);
    assert!(out.status.success() && out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = |program: &str, words: &[&str]| {
        String::from_utf8_lossy(&run(program, words, &folder).stdout).trim().to_string()
    };
    let asked = text("fish", &["-N", "-c", "source fish; complete -C 'warmwire --no-b'"]);
    assert_eq!(asked, "--no-buffer\tDo not buffer the output");
    std::fs::rename(folder.join("zsh"), folder.join("_warmwire")).unwrap();
    let loaded = "fpath=($PWD $fpath); autoload -U compinit; compinit -u -D; print $_comps[curl]; autoload +X _warmwire && \
                  print loaded";
    assert_eq!(text("zsh", &["-fc", loaded]), "_warmwire\nloaded");
    let script = "source ./bash; COMP_WORDS=(curl --no-b); COMP_CWORD=1; _warmwire; echo ${COMPREPLY[*]}";
    let out = run("bash", &["-c", script], &folder);
    assert_eq!(String::from_utf8_lossy(&out.stdout).trim(), "--no-buffer");
}
