//! Runs a PAC file in QuickJS-NG. A file that takes too much time, heap or stack fails.
//!
//! QuickJS asks whether time is left at each call and each turn of a loop of the file, and in regular
//! expressions. Some functions of its own do not: `Array.prototype.reverse.call({length: 1e15})` takes its
//! time. A caller that must not wait evaluates on a thread, and gives up on it some time after [`MAX_TIME`].

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rquickjs::context::EvalOptions;
use rquickjs::function::{Func, Rest};
use rquickjs::{CatchResultExt, CaughtError, Coerced, Context, Ctx, Exception, IntoJs, Runtime, Value};

use crate::calendar::{Moment, Now};
use crate::functions::{Answer, FUNCTIONS, Function, LookUp, World};

/// Longest time of an evaluation, without that of look-ups.
pub const MAX_TIME: Duration = Duration::from_millis(500);
/// Most memory of the engine.
const MAX_HEAP: usize = 16 << 20;
const MAX_STACK: usize = 256 << 10;
/// Most characters of an error that are shown.
const MAX_SHOWN: usize = 200;

/// The present in both time zones. It is read before the file can replace `Date`.
const NOW: &str = "(d => [d.getFullYear(), d.getMonth(), d.getDate(), d.getDay(), d.getHours(), \
    d.getMinutes(), d.getSeconds(), d.getUTCFullYear(), d.getUTCMonth(), d.getUTCDate(), d.getUTCDay(), \
    d.getUTCHours(), d.getUTCMinutes(), d.getUTCSeconds()])(new Date())";

/// The function of the file: Netscape's, or that of Microsoft's files that know IPv6.
const ENTRY: &str = "typeof FindProxyForURL === 'function' ? FindProxyForURL : \
    typeof FindProxyForURLEx === 'function' ? FindProxyForURLEx : null";

/// Returns the result of a PAC file for a URL and its host: `PROXY a:1; DIRECT`. A file that returns nothing
/// means `DIRECT`, as in browsers.
pub fn find_proxies(script: &str, url: &str, host: &str, look_up: LookUp) -> Result<String, String> {
    let end = Rc::new(Cell::new(Instant::now() + MAX_TIME));
    let unavailable = |error: rquickjs::Error| format!("the JavaScript engine does not start: {error}");
    let runtime = Runtime::new().map_err(unavailable)?;
    runtime.set_memory_limit(MAX_HEAP);
    runtime.set_max_stack_size(MAX_STACK);
    let limit = end.clone();
    runtime.set_interrupt_handler(Some(Box::new(move || Instant::now() >= limit.get())));
    let context = Context::full(&runtime).map_err(unavailable)?;
    let extended = end.clone();
    // The wait for an answer is no time of the file.
    let timed = move |name: &str| {
        let from = Instant::now();
        let found = look_up(name);
        extended.set(extended.get() + from.elapsed());
        found
    };
    context.with(|ctx| {
        let result = evaluate(&ctx, script, (url, host), Box::new(timed));
        result.catch(&ctx).map_err(|error| explained(&error, Instant::now() >= end.get()))
    })
}

fn evaluate<'js>(
    ctx: &Ctx<'js>,
    script: &str,
    (url, host): (&str, &str),
    look_up: LookUp,
) -> rquickjs::Result<String> {
    let parts: Vec<u32> = ctx.eval(NOW)?;
    let now = Now { local: moment(&parts[..7]), universal: moment(&parts[7..]) };
    let world = Rc::new(World { now, look_up, names: RefCell::default() });
    for (name, function) in FUNCTIONS {
        define(ctx, name, function, world.clone())?;
    }
    // As in browsers: a variable need not be declared.
    let sloppy = || {
        let mut options = EvalOptions::default();
        options.strict = false;
        options
    };
    let script = script.strip_prefix('\u{feff}').unwrap_or(script);
    ctx.eval_with_options::<(), _>(script, sloppy())?;
    let entry: Value<'js> = ctx.eval_with_options(ENTRY, sloppy())?;
    let Some(entry) = entry.into_function() else {
        return Err(Exception::throw_message(ctx, "it defines no function FindProxyForURL"));
    };
    let result: Value<'js> = entry.call((url, host))?;
    if result.is_null() || result.is_undefined() {
        return Ok(String::new());
    }
    match result.as_string() {
        Some(text) => text.to_string(),
        None => {
            let kind = result.type_name();
            Err(Exception::throw_message(ctx, &format!("FindProxyForURL returns no text, but: {kind}")))
        }
    }
}

fn define<'js>(ctx: &Ctx<'js>, name: &str, function: Function, world: Rc<World>) -> rquickjs::Result<()> {
    let call = move |ctx: Ctx<'js>, arguments: Rest<Option<Coerced<String>>>| -> rquickjs::Result<Answer> {
        let text = |argument: Option<Coerced<String>>| argument.map(|text| text.0).unwrap_or_default();
        let arguments: Vec<String> = arguments.0.into_iter().map(text).collect();
        function(&world, &arguments).map_err(|reason| Exception::throw_message(&ctx, &reason))
    };
    ctx.globals().set(name, Func::from(call))
}

fn moment(parts: &[u32]) -> Moment {
    Moment {
        year: parts[0],
        month: parts[1],
        day: parts[2],
        weekday: parts[3],
        hour: parts[4],
        minute: parts[5],
        second: parts[6],
    }
}

impl<'js> IntoJs<'js> for Answer {
    fn into_js(self, ctx: &Ctx<'js>) -> rquickjs::Result<Value<'js>> {
        match self {
            Answer::Null => Ok(Value::new_null(ctx.clone())),
            Answer::Bool(yes) => yes.into_js(ctx),
            Answer::Number(number) => (number as f64).into_js(ctx),
            Answer::Text(text) => text.into_js(ctx),
        }
    }
}

/// Returns the reason of a failure in one line.
fn explained(error: &CaughtError<'_>, late: bool) -> String {
    if late {
        return format!("it takes longer than {} ms", MAX_TIME.as_millis());
    }
    let text = match error {
        CaughtError::Exception(exception) => {
            let message = exception.message().unwrap_or_default();
            let line = exception.stack().and_then(|stack| line_of(&stack));
            line.map_or(message.clone(), |line| format!("line {line}: {message}"))
        }
        CaughtError::Value(value) => match value.as_string().and_then(|text| text.to_string().ok()) {
            Some(text) => format!("it throws: {text}"),
            None if value.is_null() => format!("it needs more than {} MiB of memory", MAX_HEAP >> 20),
            None => format!("it throws: {}", value.type_name()),
        },
        CaughtError::Error(error) => error.to_string(),
    };
    let shown = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    shown.take(MAX_SHOWN).collect()
}

/// Returns the first line number of a stack: `at f (eval_script:12:3)`.
fn line_of(stack: &str) -> Option<u32> {
    let first = stack.lines().find_map(|line| line.split_once("eval_script:"))?;
    first.1.split([':', ')']).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str) -> Result<String, String> {
        let look_up = |name: &str| match name {
            "a.test" => vec!["10.1.2.3".parse().unwrap()],
            _ => Vec::new(),
        };
        find_proxies(script, "http://a.test/x", "a.test", Box::new(look_up))
    }

    fn body(statements: &str) -> Result<String, String> {
        run(&format!("function FindProxyForURL(url, host) {{ {statements} }}"))
    }

    #[test]
    fn files_name_proxies() {
        for (statements, wanted) in [
            ("return 'PROXY p:1; DIRECT'", "PROXY p:1; DIRECT"),
            ("return url + ' ' + host", "http://a.test/x a.test"),
            ("undeclared = 'DIRECT'; return undeclared", "DIRECT"),
            ("return isInNet(host, '10.0.0.0', '255.0.0.0') ? 'PROXY in:1' : 'DIRECT'", "PROXY in:1"),
            (
                "return isInNet(dnsResolve('b.test'), '10.0.0.0', '255.0.0.0') ? 'PROXY in:1' : 'DIRECT'",
                "DIRECT",
            ),
            ("return String(dnsResolve('b.test'))", "null"),
            ("return dnsDomainLevels('a.b') + 1 + ''", "2"),
            ("alert('x'); return weekdayRange('SUN', 'SAT') ? 'A' : 'B'", "A"),
            ("return dateRange(1, 31) && timeRange(0, 24) ? 'A' : 'B'", "A"),
            ("return /^a\\.(test|example)$/.test(host) ? 'A' : 'B'", "A"),
            ("return typeof isPlainHostName + myIpAddress().split('.').length", "function4"),
            ("", ""),
            ("return null", ""),
        ] {
            assert_eq!(body(statements).as_deref(), Ok(wanted), "{statements}");
        }
        for (script, wanted) in [
            ("\u{feff}FindProxyForURL = function () { return 'A' }", "A"),
            ("const FindProxyForURL = () => 'A'", "A"),
            ("function FindProxyForURLEx() { return 'A' }", "A"),
            ("function FindProxyForURL() { return 'A' }\nfunction FindProxyForURLEx() { return 'B' }", "A"),
            ("Date = null; function FindProxyForURL() { return timeRange(0, 24) ? 'A' : 'B' }", "A"),
        ] {
            assert_eq!(run(script).as_deref(), Ok(wanted), "{script}");
        }
    }

    #[test]
    fn faults_are_named() {
        for (script, wanted) in [
            ("", "it defines no function FindProxyForURL"),
            ("function FindProxyForURL( {", "line 1: "),
            ("\n\nthrow new Error('no idea')", "line 3: no idea"),
            ("throw 'no idea'", "it throws: no idea"),
            ("function FindProxyForURL() {\n return missing() }", "line 2: "),
            ("function FindProxyForURL() { return 1 }", "FindProxyForURL returns no text, but: int"),
            ("function FindProxyForURL() { throw {} }", "it throws: "),
            (
                "function FindProxyForURL() { for (var i = 0; i < 30; i++) dnsResolve(i + '.test') }",
                "more than 20 names",
            ),
            ("throw new Error('a\\nb' + '\\x1b'.repeat(500))", "line 1: a b "),
        ] {
            let found = run(script).unwrap_err();
            assert!(found.contains(wanted) && found.len() <= 300, "{script}: {found}");
            assert!(!found.contains(['\n', '\u{1b}']), "{found:?}");
        }
    }

    /// Files that would take all time, memory or stack.
    #[test]
    fn limits_stop_what_never_ends() {
        let time = "it takes longer than 500 ms";
        for (statements, wanted) in [
            ("for (;;);", time),
            ("while (true) { try { for (;;); } catch (e) {} }", time),
            ("var s = 'x'; for (;;) s += s", ""),
            ("var a = []; for (;;) a.push(a.slice())", ""),
            ("return 'x'.repeat(1e9)", ""),
            ("return new Array(1e9).fill(1).join()", ""),
            ("function f() { return f() + 1 } return f()", ""),
            ("return String(/^(a+)+$/.test('a'.repeat(40) + 'b'))", time),
            ("return String(/(x+x+)+y/.test('x'.repeat(100)))", time),
            ("var n = 2n ** 100000n; for (;;) n = n * n % (n - 1n)", ""),
            ("return JSON.stringify(Array(1e7).fill([[[[]]]]))", ""),
            ("eval('('.repeat(1e6))", ""),
            ("return [1, 2, 3].sort(function () { for (;;); })", time),
        ] {
            let start = Instant::now();
            let found = body(statements).unwrap_err();
            assert!(found.contains(wanted), "{statements}: {found}");
            assert!(start.elapsed() < Duration::from_secs(5), "{statements}: {:?}", start.elapsed());
        }
    }
}
