//! socket_action driven by other people's event loops: libevent and libuv.

use testkit::http::HttpServer;

use super::{case, sum};
use crate::runner::{Case, Context};

pub fn cases() -> Vec<Case> {
    vec![
        case("78-transfers-over-libevent", |run| scenario(run, "loop_libevent")),
        case("78-transfers-over-libuv", |run| scenario(run, "loop_libuv")),
    ]
}

/// The expectations of `scenario.h`: number of each kind, code, and bytes if they are certain.
fn expected() -> Vec<(&'static str, Option<usize>)> {
    let quick = (0..30).map(|index| ("0", Some(1000 + index)));
    let late = [("0", Some(2000)); 10];
    let failing = [[("7", Some(0)); 5], [("28", Some(0)); 5]].concat();
    let slow = [[("0", Some(5000)); 5], [("0", Some(777)); 5], [("0", Some(3000)); 5]].concat();
    let rest = [("18", None), ("18", None), ("0", Some(200_000))];
    let followers = (68..78).map(|index| ("0", Some(1000 + index)));
    quick.chain(late).chain(failing).chain(slow).chain(rest).chain(followers).collect()
}

// covers: curl_multi_socket_action, curl_multi_assign, CURLMOPT_SOCKETFUNCTION, CURLMOPT_TIMERFUNCTION,
// curl_multi_remove_handle, curl_easy_pause
fn scenario(run: &Context, program: &str) {
    let server = HttpServer::plain();
    let base = server.url("");
    let named = format!("http://localhost:{}", server.port());
    let output = run.program(program, &[base.trim_end_matches('/'), &named]);
    let (codes, bytes, sums) = (output.facts("code"), output.facts("bytes"), output.facts("sum"));
    let expected = expected();
    assert_eq!(codes.len(), expected.len(), "{output:?}");
    for (index, (code, length)) in expected.into_iter().enumerate() {
        assert_eq!(codes[index], code, "transfer {index}: {output:?}");
        let Some(length) = length else { continue };
        assert_eq!(bytes[index], length.to_string(), "transfer {index}: {output:?}");
        assert!(length == 0 || sums[index] == sum(length), "transfer {index}: {output:?}");
    }
    assert_eq!((output.fact("running"), output.fact("watched")), ("0", "0"), "{output:?}");
    let odd: Vec<_> = output.stdout.lines().filter(|line| !line.contains('=')).collect();
    assert!(odd.is_empty(), "{odd:?}");
    assert!(output.elapsed.as_secs() < 10, "{output:?}");
}
