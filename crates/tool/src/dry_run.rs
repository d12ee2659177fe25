//! `--dry-run`: prints the requests, in a line for each transfer and, below it, the details of the request.
//! Nothing is opened, resolved or connected; passwords are not shown.

use crate::env::Env;
use crate::message::shown;
use crate::options::ToolOption;
use crate::queue::{Item, Queue};
use crate::raw::{EasyOption as O, UrlPart, url_flag};
use crate::request::Method;
use crate::text::harmless;
use crate::url::parse_url;
use std::rc::Rc;

/// Shows all transfers; the exit code.
pub fn run(env: &Rc<Env>, mut queue: Queue) -> i32 {
    while let Some(item) = queue.next_item(env) {
        match item {
            Ok(item) => print!("{}", described(&item)),
            Err(code) => return code,
        }
    }
    0
}

fn described(item: &Item) -> String {
    let request = &item.request;
    let line = format!("{} {} -> {}", method(item), url(item), output(item));
    let mut lines = vec![harmless(&line)];
    let headers = request.options.list(O::HttpHeader).iter().map(|header| hidden(&shown(header)));
    lines.extend(headers.map(|header| format!("  header {}", harmless(&header))));
    if let Some(login) = request.options.text(O::UserPwd) {
        let user = login.split(|byte| *byte == b':').next().unwrap_or_default();
        lines.push(format!("  login as {}", harmless(&shown(user))));
    }
    if let Some(proxy) = request.options.text(O::Proxy).filter(|proxy| !proxy.is_empty()) {
        let proxies = proxy.split(u8::is_ascii_whitespace).map(|proxy| harmless(&without_login(proxy)));
        lines.push(format!("  by way of {}", proxies.collect::<Vec<_>>().join(" ")));
    }
    if let Some(command) = request.options.text(ToolOption::ProxyCommand) {
        lines.push(format!("  by way of the command {}", harmless(&shown(command))));
    }
    lines.extend(body(item).map(|body| format!("  body {}", harmless(&body))));
    lines.join("\n") + "\n"
}

fn method(item: &Item) -> String {
    let request = &item.request;
    match request.options.text(O::CustomRequest) {
        Some(custom) => shown(custom),
        None if request.head => "HEAD".to_string(),
        None if item.upload.is_some() => "PUT".to_string(),
        None if request.post.is_some() && !request.get => "POST".to_string(),
        None => request.method.verb().to_string(),
    }
}

/// Returns the URL with the parts that `--get` and `--url-query` append.
fn url(item: &Item) -> String {
    let request = &item.request;
    let query = if request.get { request.post.as_ref() } else { request.query.as_ref() };
    let Some((query, mut url)) = query.or(request.query.as_ref()).zip(parse_url(&item.url).ok()) else {
        return without_login(&item.url);
    };
    let appended = url.set(UrlPart::Query, Some(query), url_flag::APPENDQUERY);
    let text = appended.and_then(|()| url.get(UrlPart::Url, url_flag::NO_GUESS_SCHEME));
    without_login(&text.unwrap_or_else(|_| item.url.clone()))
}

/// Returns a URL without its password.
fn without_login(text: &[u8]) -> String {
    let text = shown(text);
    let start = text.find("://").map_or(0, |at| at + 3);
    let end = text[start..].find('/').map_or(text.len(), |at| start + at);
    match text[start..end].rsplit_once('@') {
        Some((login, _)) if login.contains(':') => {
            let user = login.split(':').next().unwrap_or_default();
            format!("{}{user}:…{}", &text[..start], &text[start + login.len()..])
        }
        _ => text,
    }
}

/// Returns a header line without secrets.
fn hidden(header: &str) -> String {
    match header.split_once(':') {
        Some((name, _))
            if ["authorization", "proxy-authorization", "cookie"]
                .contains(&name.to_ascii_lowercase().as_str()) =>
        {
            format!("{name}: …")
        }
        _ => header.to_string(),
    }
}

fn output(item: &Item) -> String {
    match (&item.output, item.target.remote_name) {
        _ if item.target.out_null => "nowhere".to_string(),
        (Some(name), _) if name != b"-" => shown(name),
        (None, true) => "the remote name".to_string(),
        _ => "standard output".to_string(),
    }
}

fn body(item: &Item) -> Option<String> {
    let request = &item.request;
    match &item.upload {
        Some(name) if matches!(name.as_slice(), b"-" | b".") => {
            return Some("from standard input".to_string());
        }
        Some(name) => return Some(format!("from {}", shown(name))),
        None => {}
    }
    if request.method == Method::Form {
        return Some(format!("a form of {} parts", request.form.len()));
    }
    let post = request.post.as_ref().filter(|_| !request.get)?;
    Some(format!("of {} bytes", post.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        assert_eq!(without_login(b"http://me:secret@host/a:b@c"), "http://me:…@host/a:b@c");
        assert_eq!(without_login(b"host/a"), "host/a");
        assert_eq!(hidden("authorization: Bearer x"), "authorization: …");
        assert_eq!(hidden("X: y"), "X: y");
    }
}
