//! Reference pages of the guide, from the tables, the tool's manual, and files of the checkout.

use super::facts::Facts;
use crate::files;
use std::fmt::Write;
use tables::easy_option::{Bound, Support};
use tables::{ArgKind, Code, EasyOption, Info, InfoKind, MultiOption};

/// The chapters of the manual that are pages: heading, file, title.
const CHAPTERS: [(&str, &str, &str); 5] = [
    ("OPTIONS", "flags.md", "Flags of the tool"),
    ("WRITE-OUT VARIABLES", "write-out.md", "Write-out variables"),
    ("ENVIRONMENT", "environment.md", "Environment variables"),
    ("EXIT STATUS", "errors.md", "Error codes: cause and remedy"),
    ("EXAMPLES", "examples.md", "Examples of the tool"),
];

/// Files of the checkout that are pages: path, file, title.
const FILES: [(&str, &str, &str); 4] = [
    ("bench/RESULTS.md", "benchmarks.md", "Benchmark results"),
    ("COVERAGE.md", "coverage.md", "Coverage"),
    ("packaging/ARTEFACTS.md", "artefacts.md", "Files of a release"),
    ("python/README.md", "python.md", "The Python package"),
];

/// Returns the name and the text of each page.
pub fn pages(manual: &str) -> Result<Vec<(&'static str, String)>, String> {
    let mut pages = Vec::new();
    for (heading, name, title) in CHAPTERS {
        let chapter = chapter(manual, heading).ok_or(format!("the manual lacks the chapter {heading}"))?;
        let page = match name {
            "errors.md" => errors(chapter)?,
            "examples.md" => format!("# {title}\n\n{}", with_installed_name(chapter)),
            _ => format!("# {title}\n\n{chapter}"),
        };
        pages.push((name, page));
    }
    for (path, name, title) in FILES {
        let text = files::text(path);
        let (_, body) = text.split_once('\n').ok_or(format!("{path} is missing"))?;
        pages.push((name, format!("# {title}\n{body}")));
    }
    pages.extend([("options.md", options()?), ("identity.md", identity()?), ("infos.md", infos()?)]);
    pages.push(("functions.md", functions()?));
    Ok(pages)
}

/// Returns the examples with the name of the installed program; the tool calls itself curl.
fn with_installed_name(examples: &str) -> String {
    examples.replace("\ncurl ", "\nwarmwire ").replace("| curl ", "| warmwire ")
}

fn chapter<'m>(manual: &'m str, heading: &str) -> Option<&'m str> {
    let (_, rest) = manual.split_once(&format!("# {heading}\n\n"))?;
    Some(rest.split_once("\n# ").map_or(rest, |(chapter, _)| chapter))
}

fn options() -> Result<String, String> {
    let mut out = String::from(
        "# Options\n\nAll options of an easy handle, then those of a multi handle. *Scope* says what a \
         connection needs to be reused, see [Options that bind a connection](identity.md).\n\n",
    );
    let facts = Facts::read("options.txt", EasyOption::ALL.iter().map(|option| option.name()))?;
    for option in EasyOption::ALL {
        let (name, kind, since) = (option.name(), option.kind(), option.since());
        let (scope, support) = (scope(option.bound()), support(option.support()));
        let old =
            option.deprecated().map_or(String::new(), |version| format!(" · deprecated since {version}"));
        let _ = write!(out, "### `CURLOPT_{name}`\n\n{}\n\n", facts.of(name));
        let _ = write!(out, "*{} · since {since}{old} · scope: {scope} · {support}*\n\n", argument(kind));
    }
    out.push_str("## Options of a multi handle\n\n");
    let facts = Facts::read("multi-options.txt", MultiOption::ALL.iter().map(|option| option.name()))?;
    for option in MultiOption::ALL {
        let (name, kind, since) = (option.name(), option.kind(), option.since());
        let _ = write!(out, "### `CURLMOPT_{name}`\n\n{}\n\n", facts.of(name));
        let _ = write!(out, "*{} · since {since}*\n\n", argument(kind));
    }
    Ok(out)
}

/// Returns the C type of an option's argument.
fn argument(kind: ArgKind) -> &'static str {
    match kind {
        ArgKind::Long | ArgKind::Values => "`long`",
        ArgKind::OffT => "`curl_off_t`",
        ArgKind::String => "`char *`",
        ArgKind::SList => "`struct curl_slist *`",
        ArgKind::Blob => "`struct curl_blob *`",
        ArgKind::Object | ArgKind::CbPtr => "`void *`",
        ArgKind::Function => "function",
    }
}

/// Returns the C type of an info.
fn result(kind: InfoKind) -> &'static str {
    match kind {
        InfoKind::String => "`char *`",
        InfoKind::Long => "`long`",
        InfoKind::Double => "`double`",
        InfoKind::SList => "`struct curl_slist *`",
        InfoKind::Ptr => "pointer",
        InfoKind::Socket => "`curl_socket_t`",
        InfoKind::OffT => "`curl_off_t`",
    }
}

fn scope(bound: Bound) -> &'static str {
    match bound {
        Bound::Transfer => "transfer",
        Bound::Route => "route",
        Bound::Connection => "connection",
        Bound::Login => "login",
    }
}

fn support(support: Support) -> &'static str {
    match support {
        Support::Built => "supported",
        Support::SystemTls => "supported with the system's TLS library",
        Support::UnixSockets => "supported on Unix",
        Support::NoEffect => "accepted without effect",
        Support::NotBuilt => "returns `CURLE_NOT_BUILT_IN`",
        Support::Removed => "returns `CURLE_UNKNOWN_OPTION`",
    }
}

fn identity() -> Result<String, String> {
    let mut out = String::from("# Options that bind a connection\n\n");
    let facts = Facts::read("options.txt", EasyOption::ALL.iter().map(|option| option.name()))?;
    for (bound, title, text) in [
        (
            Bound::Connection,
            "Bound to the connection",
            "A connection that was made with another value of one of these options is never used.",
        ),
        (
            Bound::Login,
            "Bound to the login",
            "The value counts where scheme or authentication method tie credentials to the connection: \
             FTP, mail, SSH, NTLM and Negotiate. Other HTTP requests carry their login themselves.",
        ),
        (
            Bound::Route,
            "Bound to the route",
            "The destination or the way to it is made from the value, and counts.",
        ),
    ] {
        let _ = write!(out, "## {title}\n\n{text}\n\n");
        for option in EasyOption::ALL.iter().filter(|option| option.bound() == bound) {
            let name = option.name();
            let _ = writeln!(out, "- `CURLOPT_{name}`: {}", facts.of(name));
        }
        out.push('\n');
    }
    out.push_str(
        "All other options concern one transfer; a connection serves handles with any values of them.\n",
    );
    Ok(out)
}

fn infos() -> Result<String, String> {
    let mut out = String::from("# Infos\n\nFacts about a transfer, for `curl_easy_getinfo`.\n\n");
    let facts = Facts::read("infos.txt", Info::ALL.iter().map(|info| info.name()))?;
    for info in Info::ALL {
        let (name, kind, since) = (info.name(), info.kind(), info.since());
        let old = match info.deprecated() {
            "" => String::new(),
            version => format!(" · deprecated since {version}"),
        };
        let _ = write!(out, "### `CURLINFO_{name}`\n\n{}\n\n", facts.of(name));
        let _ = write!(out, "*{} · since {since}{old}*\n\n", result(kind));
    }
    Ok(out)
}

/// Returns a section for each code: its constant and text from the table, cause and remedy from the
/// manual's chapter.
fn errors(chapter: &str) -> Result<String, String> {
    let mut out = String::from(
        "# Error codes: cause and remedy\n\n\
         The exit codes of the tool are the result codes of the library.\n\n",
    );
    for code in Code::ALL.iter().filter(|code| **code != Code::Ok && !code.since().is_empty()) {
        let (id, name) = (code.id(), code.name());
        let start = format!("- **`{id} ");
        let item = chapter.lines().find_map(|line| line.strip_prefix(&start)?.split_once("`** — "));
        let (title, advice) = item.ok_or(format!("the manual lacks the exit status {id}"))?;
        let _ = write!(out, "### {id} `CURLE_{name}`\n\n**{title}.** {advice}\n\n*{}*\n\n", code.text());
    }
    Ok(out)
}

fn functions() -> Result<String, String> {
    let header = files::text("include/curl/warmwire.h");
    let (_, body) = header.split_once("/* warmwire.h:").ok_or("warmwire.h begins with another comment")?;
    let mut out = String::from(
        "# Functions of warmwire.h\n\nEach function has a manual page, for example warmwire\\_pool(3).\n\n",
    );
    for (comment, prototype) in declared(body) {
        let name = prototype.split('(').next().and_then(|text| text.rsplit([' ', '*']).next());
        let name = name.ok_or(format!("no function: {prototype}"))?;
        let _ = write!(out, "### `{name}`\n\n{comment}\n\n```c\n{prototype}\n```\n\n");
    }
    let _ = write!(out, "## The header\n\n```c\n/* warmwire.h:{body}```\n");
    Ok(out)
}

/// Returns the functions of a header: the comment above as Markdown, and the prototype.
fn declared(header: &str) -> Vec<(String, &str)> {
    let functions = header.match_indices("\nCURL_EXTERN ").filter_map(|(at, start)| {
        let (prototype, _) = header[at + start.len()..].split_once(';')?;
        let (_, comment) = header[..at].strip_suffix("*/")?.rsplit_once("/*")?;
        let text = comment.lines().map(|line| line.trim_start_matches(" *").trim());
        Some((text.collect::<Vec<_>>().join("\n").replace('*', "\\*").trim().to_owned(), prototype))
    });
    functions.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_option_that_binds_a_connection_is_listed() {
        let page = identity().unwrap();
        let bound = EasyOption::ALL.iter().filter(|option| option.binds_connection());
        for option in bound {
            assert!(page.contains(&format!("`CURLOPT_{}`", option.name())), "{}", option.name());
        }
    }

    #[test]
    fn every_row_has_its_sentence() {
        for page in [options(), identity(), infos()] {
            page.unwrap_or_else(|faults| panic!("{faults}"));
        }
    }

    #[test]
    fn a_code_without_cause_is_a_fault() {
        let all = Code::ALL.iter().map(|code| format!("- **`{} Name`** — Cause. Remedy.\n", code.id()));
        let chapter: String = all.collect();
        assert!(
            errors(&chapter)
                .unwrap()
                .contains("### 28 `CURLE_OPERATION_TIMEDOUT`\n\n**Name.** Cause. Remedy.")
        );
        assert!(errors(&chapter.replace("`28 ", "`280 ")).is_err());
    }

    #[test]
    fn each_function_of_the_header_is_a_section() {
        let header = files::text("include/curl/warmwire.h");
        let page = functions().unwrap();
        assert_eq!(page.matches("### `warmwire_").count(), header.matches("\nCURL_EXTERN ").count());
        let header = "/* A. *x too.\n *\n * B. */\nCURL_EXTERN int *f(int a,\n  int b);\nint g(void);\n";
        assert_eq!(declared(header), [("A. \\*x too.\n\nB.".to_owned(), "int *f(int a,\n  int b)")]);
    }

    #[test]
    fn examples_name_the_installed_tool() {
        let text = "Show a page:\n\n```sh\ncurl https://example.com/ | curl -T - x\n```\n";
        let named = "Show a page:\n\n```sh\nwarmwire https://example.com/ | warmwire -T - x\n```\n";
        assert_eq!(with_installed_name(text), named);
    }

    #[test]
    fn a_chapter_ends_where_the_next_begins() {
        assert_eq!(chapter("# A\n\none\n# B\n\ntwo\n", "A"), Some("one"));
        assert_eq!(chapter("# A\n\none\n# B\n\ntwo\n", "B"), Some("two\n"));
        assert_eq!(chapter("# A\n\none\n", "C"), None);
    }
}
