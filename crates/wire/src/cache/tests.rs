//! A row for each case that RFC 9111 or RFC 5861 decides.

use super::*;

/// Sun, 06 Nov 1994 08:49:37 GMT
const T: i64 = 784_111_777;

fn fields(lines: &str) -> Vec<Field> {
    let field = |line: &str| {
        let (name, value) = line.split_once(':').unwrap();
        (name.trim().as_bytes().to_vec(), value.trim().as_bytes().to_vec())
    };
    lines.split('|').filter(|line| !line.trim().is_empty()).map(field).collect()
}

fn kept(status: u16, fields: &[Field]) -> StoredResponse<'_> {
    StoredResponse { status, fields, asked: T, received: T }
}

#[test]
fn storable_replies() {
    for (status, request, reply, stored) in [
        (200, "", "Cache-Control: max-age=60", true),
        (200, "", "Cache-Control: private, max-age=60", true),
        (200, "Authorization: Basic x", "Cache-Control: max-age=60", true),
        (200, "", "ETag: \"a\"", true),
        (200, "", "Last-Modified: Sun, 06 Nov 1994 08:00:00 GMT", true),
        // Never reusable.
        (200, "", "", false),
        (200, "", "Cache-Control: max-age=0", false),
        (200, "", "Last-Modified: yesterday", false),
        (200, "", "Cache-Control: max-age=60, no-store", false),
        (200, "", "Cache-Control: NO-STORE|ETag: \"a\"", false),
        (200, "Cache-Control: no-store", "Cache-Control: max-age=60", false),
        (200, "", "Cache-Control: max-age=0|ETag: \"a\"", true),
        (200, "", "Cache-Control: no-cache|ETag: \"a\"", true),
        (200, "", "Cache-Control: max-age=60|Vary: Accept, *", false),
        (200, "", "Cache-Control: max-age=60|Vary: Accept", true),
        (302, "", "Location: /|ETag: \"a\"", false),
        (302, "", "Location: /|Cache-Control: max-age=60", true),
        (301, "", "Location: /|ETag: \"a\"", true),
        (404, "", "Cache-Control: max-age=60", true),
        (206, "", "Cache-Control: max-age=60", false),
        (206, "", "Cache-Control: max-age=60|Content-Range: bytes 0-1/9", false),
        (206, "Range: bytes=0-1", "Cache-Control: max-age=60|Content-Range: bytes 0-1/9", true),
        (206, "Range: bytes=0-1", "ETag: \"a\"|Content-Range: bytes 0-1/9", true),
        (206, "Range: bytes=0-1", "Cache-Control: max-age=60|Content-Range: bytes */9", false),
        (206, "Range: bytes=0-1", "Cache-Control: max-age=60|Content-Type: multipart/byteranges", false),
        (200, "Range: bytes=0-1", "Cache-Control: max-age=60", true),
        (404, "Range: bytes=0-1", "Cache-Control: max-age=60", false),
        (416, "Range: bytes=9-", "Cache-Control: max-age=60", false),
        (416, "", "Cache-Control: max-age=60", false),
        (304, "", "Cache-Control: max-age=60", false),
        (401, "", "Cache-Control: max-age=60", false),
        (429, "", "Cache-Control: max-age=60", false),
        (500, "", "Cache-Control: max-age=60", true),
        (503, "", "Expires: Sun, 06 Nov 1994 08:50:37 GMT", true),
        (503, "", "Cache-Control: max-age=0|ETag: \"a\"", false),
        (503, "", "Cache-Control: public|Last-Modified: Sun, 06 Nov 1994 08:00:00 GMT", false),
        (299, "", "Cache-Control: max-age=60", true),
        (299, "", "Cache-Control: max-age=60, must-understand", false),
        (200, "", "Cache-Control: max-age=60, must-understand", true),
        (299, "", "ETag: \"a\"", false),
        (103, "", "Cache-Control: max-age=60", false),
    ] {
        let (request, reply) = (fields(request), fields(reply));
        assert_eq!(is_storable(&request, kept(status, &reply)), stored, "{status} {request:?} {reply:?}");
    }
}

#[test]
fn freshness_lifetimes() {
    for (status, reply, seconds) in [
        (200, "", 0),
        (200, "Cache-Control: max-age=60|Expires: Sun, 06 Nov 1994 10:49:37 GMT", 60),
        (200, "Expires: Sun, 06 Nov 1994 08:50:37 GMT", 60),
        (200, "Date: Sun, 06 Nov 1994 08:49:27 GMT|Expires: Sun, 06 Nov 1994 08:50:37 GMT", 70),
        (200, "Expires: Sun, 06 Nov 1994 08:50:37 GMT|Expires: Sun, 06 Nov 1994 08:50:07 GMT", 0),
        (200, "Expires: Sun, 06 Nov 1994 08:50:37 GMT|Expires: Sun, 06 Nov 1994 08:50:37 GMT", 60),
        (200, "Expires: Sunday, 06-Nov-94 08:50:37 GMT", 60),
        (200, "Expires: Sun Nov  6 08:50:37 1994", 60),
        (200, "Expires: Sun 06 Nov 1994 08:50:37 GMT", 0),
        (200, "Expires: Sun, 06 Nov 94 08:50:37 GMT", 0),
        (200, "Expires: Sun, 06 Nov 1994 08:50:37 UTC", 0),
        (200, "Expires: Sun, 06 Nov 1994 08:50:37 +0000", 0),
        (200, "Expires: Sun, 06-Nov-1994 08:50:37 GMT", 0),
        (200, "Expires: Sun, 06 Nov 1994 8:50:37 GMT", 0),
        (200, "Expires: Sun, 06  Nov 1994 08:50:37 GMT", 0),
        (200, "Expires: Sun, 6 Nov 1994 08:50:37 GMT", 0),
        (200, "Expires: Sun, 06 Nov 1994 08:50 GMT", 0),
        (200, "Expires: 06 Nov 1994 08:50:37 GMT", 0),
        (200, "Expires: Sun, 31 Nov 1994 08:50:37 GMT", 0),
        (200, "Expires: Sun, 06 Nov 1994 24:50:37 GMT", 0),
        (200, "Expires: Sun, 06 Nov 1994 08:50:37 GMT, 60", 0),
        (200, "Expires: Sunday, 06-Nov-1994 08:50:37 GMT", 0),
        (200, "Expires: Sun, 06 nov 1994 08:50:37 GMT", 60),
        (200, "Cache-Control: max-age=60|Expires: never", 60),
        (200, "Expires: 0", 0),
        (200, "Expires:|Last-Modified: Sun, 06 Nov 1994 08:32:57 GMT", 0),
        (200, "Expires: Sun, 06 Nov 1994 08:00:00 GMT", 0),
        (200, "Last-Modified: Sun, 06 Nov 1994 08:32:57 GMT", 100),
        (200, "Last-Modified: Sun, 06 Nov 1984 08:32:57 GMT", LONGEST_HEURISTIC_S),
        (200, "Last-Modified: Sun, 06 Nov 2094 08:32:57 GMT", 0),
        (302, "Last-Modified: Sun, 06 Nov 1994 08:32:57 GMT", 0),
        (302, "Cache-Control: public|Last-Modified: Sun, 06 Nov 1994 08:32:57 GMT", 100),
        (200, "Cache-Control: s-maxage=60", 0),
    ] {
        let reply = fields(reply);
        assert_eq!(lifetime(kept(status, &reply)), seconds, "{status} {reply:?}");
    }
}

#[test]
fn current_ages() {
    let of = |lines: &str, asked, received, now| {
        let fields = fields(lines);
        age(StoredResponse { status: 200, fields: &fields, asked, received }, now)
    };
    let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT";
    assert_eq!(of(date, T, T, T), Some(0));
    assert_eq!(of(date, T, T, T + 7), Some(7));
    assert_eq!(of(date, T, T + 5, T + 7), Some(7));
    assert_eq!(of("Age: 30", T, T + 5, T + 7), Some(37));
    assert_eq!(of("Age: 30, 99", T, T, T), Some(30));
    assert_eq!(of("Age: old", T, T, T + 1), Some(1));
    assert_eq!(of(&format!("{date}|Age: 3"), T + 10, T + 10, T + 12), Some(12));
    assert_eq!(of(date, T, T + 5, T + 4), None, "the clock went back");
    assert_eq!(of(date, T + 6, T + 5, T + 9), None);
}

#[test]
fn whether_it_serves() {
    let serve = |age, stale| Verdict::Serve { age, stale };
    let reply = "Cache-Control: max-age=60";
    for (request, reply, age, expected) in [
        ("", reply, 0, serve(0, false)),
        ("", reply, 59, serve(59, false)),
        ("", reply, 60, Verdict::Validate),
        ("Cache-Control: no-cache", reply, 0, Verdict::Validate),
        ("Pragma: no-cache", reply, 0, Verdict::Validate),
        ("Cache-Control: max-age=10", reply, 10, serve(10, false)),
        ("Cache-Control: max-age=10", reply, 11, Verdict::Validate),
        ("Cache-Control: max-age=0", reply, 0, serve(0, false)),
        ("Cache-Control: max-age=0", reply, 1, Verdict::Validate),
        ("Cache-Control: max-age=0", "Cache-Control: max-age=60, immutable", 59, serve(59, false)),
        ("Cache-Control: max-age=0", "Cache-Control: max-age=60, immutable", 60, Verdict::Validate),
        ("Cache-Control: max-age=1", "Cache-Control: max-age=60, immutable", 2, Verdict::Validate),
        ("Cache-Control: no-cache", "Cache-Control: max-age=60, immutable", 1, Verdict::Validate),
        ("Cache-Control: min-fresh=10", reply, 50, serve(50, false)),
        ("Cache-Control: min-fresh=10", reply, 51, Verdict::Validate),
        ("Cache-Control: max-stale", reply, 5000, serve(5000, true)),
        ("Cache-Control: max-stale=5", reply, 65, serve(65, true)),
        ("Cache-Control: max-stale=5", reply, 66, Verdict::Validate),
        ("Cache-Control: max-stale", "Cache-Control: max-age=60, must-revalidate", 61, Verdict::Validate),
        ("Cache-Control: max-stale", "Cache-Control: no-cache, max-age=60", 1, Verdict::Validate),
        ("", "Cache-Control: max-age=60, stale-while-revalidate=600", 61, Verdict::Validate),
        ("", "Cache-Control: max-age=60, no-cache=\"Set-Cookie\"", 1, Verdict::Validate),
    ] {
        let (asked, fields) = (fields(request), fields(reply));
        assert_eq!(verdict(&asked, kept(200, &fields), T + age), expected, "{request} {reply} {age}");
    }
}

#[test]
fn stale_if_error_allows_a_stale_reply() {
    for (request, reply, age, expected) in [
        ("", "Cache-Control: max-age=60", 61, false),
        ("", "Cache-Control: max-age=60, stale-if-error=10", 70, true),
        ("", "Cache-Control: max-age=60, stale-if-error=10", 71, false),
        ("", "Cache-Control: max-age=60, stale-if-error=10, must-revalidate", 61, false),
        ("", "Cache-Control: max-age=60, stale-if-error=10, no-cache", 61, false),
        ("Cache-Control: no-cache", "Cache-Control: max-age=60, stale-if-error=10", 61, false),
        ("Cache-Control: stale-if-error=100", "Cache-Control: max-age=60", 160, true),
        ("Cache-Control: stale-if-error=1", "Cache-Control: max-age=60, stale-if-error=10", 65, false),
    ] {
        let (asked, fields) = (fields(request), fields(reply));
        let found = stands_in(&asked, kept(200, &fields), T + age).is_some();
        assert_eq!(found, expected, "{request} {reply} {age}");
    }
    assert!(is_error(503) && !is_error(501) && !is_error(404));
}

#[test]
fn conditional_requests_repeat_the_validators() {
    for (reply, asked) in [
        ("ETag: W/\"a\"", "If-None-Match: W/\"a\""),
        (
            "ETag: \"a\"|Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT",
            "If-None-Match: \"a\"|If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT",
        ),
        ("Last-Modified: never", ""),
        ("ETag:", ""),
    ] {
        assert_eq!(conditions(&fields(reply)), fields(asked), "{reply}");
    }
    for (request, own) in [
        ("if-none-match: x", true),
        ("If-Range: \"a\"|Range: bytes=1-", true),
        ("range: bytes=1-2,4-5", true),
        ("range: lines=1-2", true),
        ("range: bytes=1-|Range: bytes=2-", true),
        ("range: bytes=1-", false),
        ("Accept: x", false),
    ] {
        assert_eq!(is_conditional(&fields(request)), own, "{request}");
    }
}

#[test]
fn what_asks_whether_a_part_holds() {
    for (status, request, reply, asked) in [
        (200, "Range: bytes=1-", "ETag: \"a\"", "If-None-Match: \"a\""),
        (206, "Range: bytes=1-", "ETag: \"a\"", "If-None-Match: \"a\""),
        (200, "Range: bytes=1-", "ETag: W/\"a\"", ""),
        (200, "", "ETag: W/\"a\"", "If-None-Match: W/\"a\""),
        (503, "", "ETag: \"a\"", ""),
    ] {
        let (request, reply) = (fields(request), fields(reply));
        assert_eq!(
            revalidation(&request, kept(status, &reply)),
            fields(asked),
            "{status} {request:?} {reply:?}"
        );
    }
}

#[test]
fn what_a_post_leaves_for_a_get() {
    for (status, reply, own_place, stored) in [
        (200, "Cache-Control: max-age=60", true, true),
        (200, "Expires: Sun, 06 Nov 1994 08:50:37 GMT", true, true),
        (200, "Cache-Control: max-age=60", false, false),
        (201, "Cache-Control: max-age=60", true, false),
        (200, "ETag: \"a\"", true, false),
        (200, "Cache-Control: max-age=0|ETag: \"a\"", true, false),
        (200, "Last-Modified: Sun, 06 Nov 1994 08:00:00 GMT", true, false),
        (200, "Cache-Control: max-age=60, no-store", true, false),
    ] {
        let reply = fields(reply);
        assert_eq!(is_storable_post(&[], kept(status, &reply), own_place), stored, "{status} {reply:?}");
    }
}

#[test]
fn a_304_selects_a_reply_by_its_validators() {
    for (reply, answer, expected) in [
        ("ETag: \"a\"", "ETag: \"a\"", true),
        ("ETag: \"a\"", "ETag: W/\"a\"", true),
        ("ETag: \"a\"", "ETag: \"b\"", false),
        ("ETag: \"a\"", "", true),
        ("Last-Modified: x", "ETag: \"a\"", false),
        ("Last-Modified: x", "Last-Modified: x", true),
        ("Last-Modified: x", "Last-Modified: y", false),
    ] {
        assert_eq!(confirms(&fields(reply), &fields(answer)), expected, "{reply} {answer}");
    }
}

#[test]
fn a_304_updates_stored_fields() {
    let reply = "A: 1|A: 2|Date: old|Content-Length: 5|Content-Type: text/plain|Age: 9|ETag: \"a\"";
    let answer =
        "a: 3|Date: new|Content-Length: 0|Content-Type: x|Content-Encoding: gzip|New: n|Connection: X|X: y";
    let expected = "Content-Length: 5|ETag: \"a\"|a: 3|Date: new|Content-Type: x|New: n";
    assert_eq!(merged(&fields(reply), &fields(answer)), fields(expected));
}

#[test]
fn connection_fields_are_not_stored() {
    let reply =
        "Server: s|Connection: close, x-hop|X-Hop: 1|keep-alive: 5|Transfer-Encoding: chunked|Set-Cookie: a";
    assert_eq!(lasting(&fields(reply)), fields("Server: s|Set-Cookie: a"));
}

#[test]
fn vary_nominates_request_fields() {
    assert_eq!(nominated(&fields("A: b")), Some(Vec::new()));
    let names = nominated(&fields("Vary: Accept ,x|vary: ACCEPT,,")).unwrap();
    assert_eq!(names, [b"accept".to_vec(), b"x".to_vec()]);
    assert_eq!(nominated(&fields("Vary: a|Vary: *")), None);
    let request = fields("ACCEPT: a|accept:  b |Other: c");
    let expected = [(b"accept".to_vec(), Some(b"a,b".to_vec())), (b"x".to_vec(), None)];
    assert_eq!(selected(&names, &request), expected);
    for (value, normal) in [
        ("1, 2", "1,2"),
        (" 1 \t,\t2 ", "1,2"),
        ("a b, c  d", "a b,c  d"),
        ("\"a , b\" , c", "\"a , b\",c"),
        ("\"a\\\" , b\" , c", "\"a\\\" , b\",c"),
        (", ,", ",,"),
        ("", ""),
    ] {
        assert_eq!(normalized(value.as_bytes()), normal.as_bytes(), "{value}");
    }
    let languages = |text: &str| selected(&[b"accept-language".to_vec()], &fields(text));
    let one = languages("Accept-Language: en, de;q=0.5");
    for other in ["Accept-Language: DE;q=0.5 ,  eN", "Accept-Language: de; q=0.5|accept-language: en"] {
        assert_eq!(languages(other), one, "{other}");
    }
    assert_ne!(languages("Accept-Language: en;q=0.5, de"), one);
}

#[test]
fn unsafe_methods_invalidate_after_success() {
    for (method, status, expected) in [
        ("POST", 200, true),
        ("PUT", 204, true),
        ("DELETE", 303, true),
        ("UNHEARD-OF", 200, true),
        ("POST", 404, false),
        ("POST", 500, false),
        ("GET", 200, false),
        ("HEAD", 200, false),
        ("OPTIONS", 200, false),
    ] {
        assert_eq!(invalidates(method.as_bytes(), status), expected, "{method} {status}");
    }
}
