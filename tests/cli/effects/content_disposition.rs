//! `--content-disposition`: files named by the server, compared with what aria2 makes of the same fields.

use super::{curl, curl_in, folder_with};
use crate::empty_folder;
use testkit::http::{HttpServer, Response};

/// A server whose answers have this field.
fn naming(value: &'static str) -> HttpServer {
    HttpServer::with(move |_| Some(Response::ok("body").with("Content-Disposition", value)))
}

/// The only file in a folder.
fn only_file(folder: &std::path::Path) -> String {
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].to_str().unwrap().to_owned()
}

#[test]
fn files_are_named_as_by_aria2() {
    for (value, name) in [
        ("attachment; filename=\"a b.txt\"", "a b.txt"),
        ("attachment; filename=foo.html", "foo.html"),
        ("attachment; FileName=\"foo.html\"", "foo.html"),
        ("attachment; filename=\"f\\oo.html\"", "foo.html"),
        ("attachment; foo=\"\\\"\\\\\";filename=\"foo.html\"", "foo.html"),
        ("attachment; filename*=UTF-8''foo-%c3%a4-%e2%82%ac.html", "foo-\u{e4}-\u{20ac}.html"),
        ("attachment; filename*=UTF-8''foo-a%cc%88.html", "foo-a\u{308}.html"),
        ("attachment; filename*=iso-8859-1''foo-%E4.html", "foo-\u{e4}.html"),
        ("attachment; filename*= UTF-8''foo-%c3%a4.html", "foo-\u{e4}.html"),
        ("attachment; filename*=UTF-8''A-%2541.html", "A-%41.html"),
        ("attachment; filename=\"foo-ae.html\"; filename*=UTF-8''foo-%c3%a4.html", "foo-\u{e4}.html"),
        ("attachment; filename*=UTF-8''foo-%c3%a4.html; filename=\"foo-ae.html\"", "foo-\u{e4}.html"),
        ("attachment; foobar=x; filename=\"foo.html\"", "foo.html"),
        // No name, or none that may be used: the URL names the file.
        ("attachment", "path"),
        ("attachment; xfilename=foo.html", "path"),
        ("attachment; filename*=''foo-%c3%a4.html", "path"),
        ("attachment; filename*=utf-8''foo-%E4.html", "path"),
        ("attachment; filename*=UTF-8''f%oo.html", "path"),
    ] {
        let server = naming(value);
        let url = server.url("/path");
        let ran = curl(&["-O", "--content-disposition", &url]);
        assert_eq!(ran.code, 0, "{value}: {}", ran.stderr);
        assert_eq!((only_file(&ran.folder).as_str(), ran.file(name).as_str()), (name, "body"), "{value}");
        let folder = empty_folder();
        let out = crate::run("aria2c", &["-q", "--no-conf", "--no-netrc", &url], &folder);
        assert!(out.status.success(), "{value}: {}", String::from_utf8_lossy(&out.stderr));
        assert_eq!(only_file(&folder), name, "aria2 on {value}");
    }
}

/// CVE-2020-8177, CVE-2010-3842; a name that decoding makes unsafe is not used.
#[test]
fn encoded_names_stay_in_the_folder_and_overwrite_nothing() {
    for (value, name) in [
        ("attachment; filename*=UTF-8''..%2F..%2Fout", "out"),
        ("attachment; filename*=UTF-8''..%5Cout", "out"),
        ("attachment; filename*=UTF-8''%2Fetc%2Fout", "out"),
        ("attachment; filename*=UTF-8''a%1b%5B2Jb", "a_[2Jb"),
        ("attachment; filename*=UTF-8''a%E2%80%AEgpj.exe", "a_gpj.exe"),
        ("attachment; filename*=UTF-8''.bashrc", "path"),
        ("attachment; filename*=UTF-8''..", "path"),
        ("attachment; filename*=UTF-8''%00", "path"),
    ] {
        let server = naming(value);
        let ran = curl(&["-O", "--content-disposition", &server.url("/path")]);
        assert_eq!(ran.code, 0, "{value}: {}", ran.stderr);
        assert_eq!(only_file(&ran.folder), name, "{value}");
    }
    let server = naming("attachment; filename*=UTF-8''f");
    let ran = curl_in(folder_with("f", "old"), &["-O", "--content-disposition", &server.url("/x")]);
    assert_eq!((ran.code, ran.file("f").as_str()), (23, "old"), "{}", ran.stderr);
}

/// A script written for curl finds its file under curl's name.
// covers: --remote-header-name
#[test]
fn the_flag_of_curl_ignores_encoded_names() {
    let server = naming("attachment; filename*=UTF-8''new; filename=old");
    let ran = curl(&["-OJ", &server.url("/path")]);
    assert_eq!((ran.code, only_file(&ran.folder).as_str()), (0, "old"));
    let ran = curl(&["-OJ", "--no-content-disposition", &server.url("/path")]);
    assert_eq!((ran.code, only_file(&ran.folder).as_str()), (0, "path"));
}
