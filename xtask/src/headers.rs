//! `cargo xtask headers`: writes include/curl from the tables and the templates in xtask/headers.
//!
//! A template is C text with directives on separate lines: `@macros`, `@enum`, `@tagged`, `@codes`,
//! `@easy_options`, ... All numbers come from the tables. Every constant of the tables is written exactly
//! once, every export is declared.

use crate::{Report, files};
use std::collections::BTreeMap;
use std::fmt::Write;
use tables::constant::{self, CType, Constant};
use tables::{Code, EasyOption, HeaderCode, Info, MultiCode, MultiOption, ProxyCode, ShareCode, UrlCode};
use tables::{code, easy_option, export, info, version};

const HEADERS: [&str; 12] = [
    "curl.h",
    "curlver.h",
    "easy.h",
    "header.h",
    "mprintf.h",
    "multi.h",
    "options.h",
    "stdcheaders.h",
    "system.h",
    "typecheck-gcc.h",
    "urlapi.h",
    "websockets.h",
];

/// Writes the headers, or with `check` fails when a checked-in one is stale.
pub fn run(check: bool) -> Report {
    let all = generate()?;
    for (name, content) in &all {
        files::generated(&format!("include/curl/{name}"), content, check)
            .map_err(|e| format!("{e}; run `cargo xtask headers`"))?;
    }
    declared_in_rust()?;
    Ok(format!("headers: {} files are fresh", all.len()))
}

/// Checks that the stand-in for the crate `curl-sys` declares each export but those of the printf family, and
/// that its version names the curl that it implements.
fn declared_in_rust() -> Result<(), String> {
    let text = files::text("crates/curl-sys/src/functions.rs");
    let name = |line: &str| {
        line.trim().strip_prefix("pub fn ").and_then(|rest| rest.split('(').next()).map(str::to_owned)
    };
    let mut declared: Vec<_> = text.lines().filter_map(name).collect();
    declared.sort_unstable();
    let exports: Vec<_> = export::EXPORTS.iter().filter(|name| !name.ends_with("printf")).collect();
    if exports != declared.iter().collect::<Vec<_>>() {
        let other = |from: &[String], in_other: &dyn Fn(&str) -> bool| {
            from.iter().filter(|name| !in_other(name)).cloned().collect::<Vec<_>>()
        };
        let wanted: Vec<String> = exports.iter().map(|name| (**name).to_owned()).collect();
        let missing = other(&wanted, &|name| declared.iter().any(|found| found == name));
        let unknown = other(&declared, &|name| wanted.iter().any(|found| found == name));
        return Err(format!("crates/curl-sys/src/functions.rs: missing {missing:?}, no exports {unknown:?}"));
    }
    let version = format!("+curl-{}\"", version::CURL);
    let manifest = files::text("crates/curl-sys/Cargo.toml");
    if manifest.lines().any(|line| line.starts_with("version = ") && line.ends_with(&version)) {
        return Ok(());
    }
    Err(format!("crates/curl-sys/Cargo.toml: the version does not end in {version}"))
}

fn generate() -> Result<BTreeMap<&'static str, String>, String> {
    let mut writer = Writer::default();
    let mut all = BTreeMap::new();
    for name in HEADERS {
        let template = files::text(&format!("xtask/headers/{name}.in"));
        if template.is_empty() {
            return Err(format!("xtask/headers/{name}.in is missing"));
        }
        all.insert(name, writer.expand(name, &template)?);
    }
    writer.complete()?;
    declares_every_export(&all)?;
    Ok(all)
}

fn declares_every_export(all: &BTreeMap<&str, String>) -> Result<(), String> {
    let text: String = all.values().map(String::as_str).collect();
    let missing: Vec<_> = export::EXPORTS
        .iter()
        .filter(|name| !text.contains(&format!("{name}(")) || !declared(&text, name))
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("exports without a declaration: {missing:?}")) }
}

fn declared(text: &str, name: &str) -> bool {
    text.lines().any(|line| {
        line.starts_with("CURL_EXTERN") && line.split(&[' ', '*', '('][..]).any(|word| word == name)
    })
}

#[derive(Default)]
struct Writer {
    emitted: BTreeMap<&'static str, usize>,
}

impl Writer {
    fn expand(&mut self, name: &str, template: &str) -> Result<String, String> {
        let mut out = format!(
            "/* {name}: made by `cargo xtask headers`; change crates/tables or xtask/headers instead. */\n"
        );
        for line in template.lines() {
            match line.strip_prefix('@') {
                Some(directive) => {
                    self.directive(directive, &mut out).map_err(|e| format!("{name}: @{directive}: {e}"))?
                }
                None => {
                    let number = version::version();
                    let line = line.replace("@version_hex@", &format!("0x{:06x}", number.curl_number));
                    out += &line.replace("@version@", number.curl);
                    out.push('\n');
                }
            }
        }
        Ok(out)
    }

    fn directive(&mut self, directive: &str, out: &mut String) -> Result<(), String> {
        let mut words = directive.split(' ');
        let verb = words.next().unwrap_or_default();
        let args: Vec<&str> = words.collect();
        match verb {
            "macros" => args.iter().try_for_each(|arg| self.macros(arg, out))?,
            "enum" => self.enumeration(args[0], true, out)?,
            "tagged" => self.enumeration(args[0], false, out)?,
            "codes" => self.codes(args[0], args.get(1).copied(), out)?,
            "code_aliases" => code_aliases(out),
            "easy_options" => {
                let rows = EasyOption::ALL.iter().map(|o| (o.name(), o.id().into())).collect();
                self.listed("CURLoption", "CURLOPT_", rows, Some("CURLOPT_LASTENTRY"), out)?;
            }
            "multi_options" => {
                let rows = MultiOption::ALL.iter().map(|o| (o.name(), o.id().into())).collect();
                self.listed("CURLMoption", "CURLMOPT_", rows, Some("CURLMOPT_LASTENTRY"), out)?;
            }
            "infos" => self.infos(out)?,
            "easy_aliases" => {
                for (old, option, ..) in easy_option::ALIASES {
                    writeln!(out, "#define CURLOPT_{old} CURLOPT_{}", option.name())
                        .expect("writes to a string");
                }
            }
            "info_aliases" => {
                for (old, info, ..) in info::ALIASES {
                    writeln!(out, "#define CURLINFO_{old} CURLINFO_{}", info.name())
                        .expect("writes to a string");
                }
            }
            _ => return Err("no such directive".to_owned()),
        }
        Ok(())
    }

    /// A family of macros, or one macro by its name.
    fn macros(&mut self, group_or_name: &str, out: &mut String) -> Result<(), String> {
        let mut rows: Vec<_> = constant::ALL.iter().filter(|c| c.group == group_or_name).collect();
        if rows.is_empty() {
            rows.extend(constant::ALL.iter().find(|c| c.name == group_or_name));
        }
        if rows.is_empty() {
            return Err(format!("no constant {group_or_name}"));
        }
        for row in rows {
            self.count(row);
            writeln!(out, "#define {} {}", row.name, literal(row)).expect("writes to a string");
        }
        Ok(())
    }

    fn enumeration(&mut self, name: &str, typedef: bool, out: &mut String) -> Result<(), String> {
        let group = format!("enum {name}");
        let rows: Vec<_> = constant::ALL.iter().filter(|c| c.group == group).collect();
        if rows.is_empty() {
            return Err("no such enumeration".to_owned());
        }
        for row in &rows {
            self.count(row);
        }
        let rows = rows.iter().map(|c| (c.name, c.value)).collect();
        enumerate(name, rows, typedef, out);
        Ok(())
    }

    fn codes(&mut self, c_type: &str, last: Option<&str>, out: &mut String) -> Result<(), String> {
        macro_rules! family {
            ($($type:ident)*) => {
                match c_type {
                    $($type::C_TYPE => {
                        let rows = $type::ALL.iter().map(|c| (c.name(), c.id().into())).collect();
                        self.listed(c_type, $type::PREFIX, rows, last, out)
                    })*
                    _ => Err("no such codes".to_owned()),
                }
            };
        }
        family!(Code MultiCode ShareCode UrlCode HeaderCode ProxyCode)
    }

    /// An enumeration whose rows have a separate table, ended by a constant.
    fn listed(
        &mut self,
        name: &str,
        prefix: &str,
        rows: Vec<(&'static str, i64)>,
        last: Option<&str>,
        out: &mut String,
    ) -> Result<(), String> {
        let mut rows: Vec<_> =
            rows.into_iter().map(|(name, value)| (format!("{prefix}{name}"), value)).collect();
        if let Some(last) = last {
            let end = constant::ALL.iter().find(|c| c.name == last).ok_or(format!("no constant {last}"))?;
            self.count(end);
            rows.push((end.name.to_owned(), end.value));
        }
        enumerate(name, rows.iter().map(|(name, value)| (name.as_str(), *value)).collect(), true, out);
        Ok(())
    }

    fn infos(&mut self, out: &mut String) -> Result<(), String> {
        let mut rows = vec![("NONE", 0)];
        rows.extend(Info::ALL.iter().map(|i| (i.name(), i64::from(i.id()))));
        self.count(constant::ALL.iter().find(|c| c.name == "CURLINFO_NONE").ok_or("no CURLINFO_NONE")?);
        self.listed("CURLINFO", "CURLINFO_", rows, Some("CURLINFO_LASTONE"), out)
    }

    fn count(&mut self, row: &Constant) {
        *self.emitted.entry(row.name).or_default() += 1;
    }

    fn complete(&self) -> Result<(), String> {
        // Written by hand in the templates, as expressions.
        let by_hand = ["CURL_ZERO_TERMINATED", "LIBCURL_VERSION_NUM"];
        for row in constant::ALL.iter().filter(|c| !by_hand.contains(&c.name)) {
            match self.emitted.get(row.name) {
                Some(1) => {}
                count => {
                    return Err(format!("{} stands {} times in the headers", row.name, count.unwrap_or(&0)));
                }
            }
        }
        Ok(())
    }
}

fn enumerate(name: &str, rows: Vec<(&str, i64)>, typedef: bool, out: &mut String) {
    let open = if typedef { "typedef enum {".to_owned() } else { format!("enum {name} {{") };
    out.push_str(&open);
    for (at, (row, value)) in rows.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        write!(out, "{comma}\n  {row} = {value}").expect("writes to a string");
    }
    out.push_str(&if typedef { format!("\n}} {name};\n") } else { "\n};\n".to_owned() });
}

fn code_aliases(out: &mut String) {
    out.push_str("#ifndef CURL_NO_OLDIES\n");
    for &(old, id, _) in code::ALIASES {
        let value = Code::from_id(id).map_or(id.to_string(), |code| format!("CURLE_{}", code.name()));
        writeln!(out, "#define {old} {value}").expect("writes to a string");
    }
    out.push_str("#endif\n");
}

/// A macro's value: the member of an enumeration where C++ needs its type, otherwise a literal of the C type.
fn literal(row: &Constant) -> String {
    let member = |group: &str| {
        constant::ALL.iter().find(|c| c.group == group && c.value == row.value).map(|c| c.name.to_owned())
    };
    let named = match row.name {
        "CURLVERSION_NOW" => member("enum CURLversion"),
        "CURLM_CALL_MULTI_SOCKET" => Some("CURLM_CALL_MULTI_PERFORM".to_owned()),
        name if name.starts_with("CURLSSLBACKEND_") => member("enum curl_sslbackend"),
        _ => None,
    };
    named.unwrap_or_else(|| match row.c_type {
        CType::Enum | CType::Int if row.value < 0 => format!("({})", row.value),
        CType::Enum | CType::Int => row.value.to_string(),
        CType::Long => format!("{}L", row.value),
        CType::Ulong => format!("{}UL", row.value),
    })
}
