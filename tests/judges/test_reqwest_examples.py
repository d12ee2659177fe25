"""The programs and the documentation's examples of reqwest's crate, compiled with the Rust crate under that name.

They are read from the crate that cargo fetches, and kept nowhere: programs of the version that last
packed them, and the examples of the documentation. Not a word of them is changed; `Cargo.toml` says
`reqwest = { package = "warmwire" }`. Those that need a change are in KNOWN with the reason.
test_reqwest.py runs programs of these kinds, on both crates.
"""

import json
import os
import pathlib
import re
import subprocess

import conftest

MANIFEST = pathlib.Path(__file__).with_name("reqwest") / "Cargo.toml"
CLIENT = pathlib.Path(__file__).parents[2] / "crates/client"
ABOUT = "reqwest's programs and the examples of its documentation, compiled unchanged; {known} need a change."
# Where an example begins, and what it needs that the Rust crate does not have.
KNOWN = {
    "src/async_impl/body.rs:129": "Body::wrap: a body of the crate http-body; `wrap_stream` takes streams",
    "src/async_impl/multipart.rs:99": "Form::file is no future here",
    "src/blocking/client.rs:1157": "connector_layer: layers of tower below the client",
    "src/cookie.rs:146": "cookie::Jar: cookies are in the client's store",
    "src/proxy.rs:238": "Proxy::custom: a proxy chosen by a function",
    "src/proxy.rs:307": "Proxy::custom_http_auth",
    "src/proxy.rs:326": "Proxy::headers",
    "src/redirect.rs:80": "redirect::Policy::custom",
    "src/redirect.rs:120": "redirect::Policy::custom",
    "src/retry.rs:167": "retry: a policy of its own",
    "src/tls.rs:181": "Certificate::from_pem_bundle: `from_pem` reads all certificates",
    "src/tls.rs:257": "Identity::from_pkcs12_der: PKCS #12",
    "src/tls.rs:427": "CertificateRevocationList: the option CrlFile",
    "src/tls.rs:456": "CertificateRevocationList: the option CrlFile",
}


def packages():
    """The crates of reqwest: the one that the Rust crate is compared with, and the one that has programs."""
    # Features say which crates are compiled. All are fetched.
    ran = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--locked", "--manifest-path", MANIFEST],
        capture_output=True,
        text=True,
        timeout=600,
        env=conftest.clean_environment(),
    )
    assert ran.returncode == 0, ran.stderr
    all_of_them = [one for one in json.loads(ran.stdout)["packages"] if one["name"] == "reqwest"]
    return sorted(all_of_them, key=lambda one: [int(part) for part in one["version"].split(".")])


def examples_of(text):
    """Yields the line and the code of each example in doc comments, as rustdoc compiles it."""
    fence, code, began = None, [], 0
    for number, line in enumerate(text.splitlines(), 1):
        comment = re.match(r"\s*//[!/] ?(.*)$", line)
        if not comment:
            fence = None
        elif comment[1].startswith("```"):
            if fence is None:
                fence, code, began = comment[1][3:], [], number
            else:
                if not re.search("bash|notrust|text|ignore|compile_fail", fence):
                    yield began, program("\n".join(re.sub(r"^\s*#(?: |$)", "", one) for one in code))
                fence = None
        elif fence is not None:
            code.append(comment[1])


def program(code):
    """Wraps an example without `main`, as rustdoc does."""
    if re.search(r"\bfn main\(", code):
        return code
    if code.rstrip().endswith("(())"):
        return "fn main() { fn inner() -> Result<(), impl std::fmt::Debug> {\n" + code + "\n} inner().unwrap() }"
    return "fn main() {\n" + code + "\n}"


def write_crate(folder, packed, documented):
    """Writes a crate with all examples, and returns where each begins, by its name in the crate."""
    places = {}
    examples = folder / "examples"
    examples.mkdir(parents=True, exist_ok=True)
    for old in examples.iterdir():
        old.unlink()
    source = pathlib.Path(packed["manifest_path"]).parent / "examples"
    for file in sorted(source.glob("*.rs")):
        (examples / file.name).write_text(file.read_text())
        places[file.stem] = f"examples/{file.name}"
    source = pathlib.Path(documented["manifest_path"]).parent
    for file in sorted((source / "src").rglob("*.rs")):
        path = file.relative_to(source)
        if "wasm" in str(path):
            continue
        for line, code in examples_of(file.read_text()):
            name = re.sub(r"\W", "_", str(path.with_suffix(""))) + f"_{line}"
            (examples / f"{name}.rs").write_text(code)
            places[name] = f"{path}:{line}"
    # Examples choose parts of themselves by these names.
    features = sorted({name for one in (packed, documented) for name in one["features"]} - {"default"})
    declared = "".join(f"{json.dumps(name)} = []\n" for name in features)
    ours = f'package = "warmwire", path = {json.dumps(os.fspath(CLIENT))}'
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src/lib.rs").write_text("")
    (folder / "Cargo.toml").write_text(f"""[workspace]
[package]
name = "examples-of-reqwest"
version = "0.0.0"
edition = "2021"
[features]
default = {json.dumps(features)}
{declared}
[dev-dependencies]
env_logger = "0.10"
futures-util = "0.3"
http = "1"
reqwest = {{ {ours}, features = ["charset", "json", "tokio", "tower", "url"] }}
serde = {{ version = "1", features = ["derive"] }}
serde_json = "1"
tokio = {{ version = "1", features = ["full"] }}
""")
    return places


def cargo(folder, *arguments):
    return subprocess.run(
        ["cargo", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=1800,
        env={**conftest.clean_environment(), "CARGO_TARGET_DIR": os.fspath(conftest.target() / "judges/reqwest")},
    )


def compile_all(folder):
    """Returns the errors of each example that does not compile."""
    ran = cargo(folder, "check", "--quiet", "--examples", "--keep-going", "--message-format=json")
    errors = {}
    for line in filter(lambda line: line.startswith("{"), ran.stdout.splitlines()):
        found = json.loads(line)
        if found["reason"] == "compiler-message" and found["message"]["level"] == "error":
            errors.setdefault(found["target"]["name"], []).append(found["message"]["message"])
    assert ran.returncode == 0 or errors, ran.stderr
    return errors


def test_reqwest_examples(record):
    packed, documented = packages()
    folder = conftest.target() / "judges/reqwest-examples"
    places = write_crate(folder, packed, documented)
    assert len(places) > 90, places
    errors = {places[name]: messages for name, messages in compile_all(folder).items()}
    unexpected = {place: messages for place, messages in errors.items() if place not in KNOWN}
    assert not unexpected, json.dumps(unexpected, indent=1)
    assert set(KNOWN) <= set(errors), f"compile by now: {set(KNOWN) - set(errors)}"
    record("reqwest-examples", len(places) - len(KNOWN), 0, 0, ABOUT.format(known=len(KNOWN)))
