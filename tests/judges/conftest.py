"""Runs the built tool for each judge, and counts what each judge says.

`results.tsv` holds one line for each judge: passed, failed, left out, and the first line of the
file's doc string. The run writes a line itself, and only when all tests of that judge ran. `cargo xtask coverage` copies the counts to COVERAGE.md.
"""

import collections
import os
import pathlib
import subprocess

import pytest

RESULTS = pathlib.Path(__file__).with_name("results.tsv")
# The files that run suites which count their own tests.
SUITES = ("bogo", "cache-tests", "curl-crate", "reqwest", "reqwest-examples", "websocket")
TOOL = os.environ.get("WARMWIRE_TOOL", "")


def target():
    """The folder of what is built and installed."""
    return pathlib.Path(os.environ["JUDGES_TARGET"])


class Ran:
    """The outcome of one run of the tool."""

    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout
        self.err = done.stderr.decode(errors="replace")

    def __repr__(self):
        return f"code {self.code}, {len(self.out)} bytes, stderr {self.err!r}"


def clean_environment():
    """Returns the environment without settings that change what the tool does."""
    kept = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    kept.pop("SSH_AUTH_SOCK", None)
    return kept


def run_tool(*arguments, seconds=60, stdin=b"", cwd=None):
    command = [TOOL, "-q", "-sS", "--max-time", str(seconds), *map(str, arguments)]
    done = subprocess.run(
        command, input=stdin, capture_output=True, env=clean_environment(), timeout=seconds + 30, cwd=cwd
    )
    return Ran(done)


@pytest.fixture
def tool(tmp_path):
    """A function that runs the tool in a folder of the test's own."""
    return lambda *arguments, **named: run_tool(*arguments, **{"cwd": tmp_path, **named})


def recorded(text):
    """Returns how many tests of each judge passed when the text of results.tsv was written."""
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return {row[0]: int(row[1]) for row in rows}


@pytest.fixture
def record(request):
    """A function for a suite that counts its own tests: passed, failed, left out. Fails if fewer pass than are recorded."""
    counter = request.config.pluginmanager.get_plugin("judges-counter")

    def write(judge, passed, failed, left, about):
        least = recorded(RESULTS.read_text() if RESULTS.exists() else "").get(judge, 0)
        assert passed >= least, f"{judge}: {passed} tests pass, results.tsv has {least}; a wanted change edits that line"
        counter.of_suites[judge] = [str(number) for number in (passed, failed, left)] + [about]

    return write


def pytest_sessionstart(session):
    if not os.access(TOOL, os.X_OK):
        pytest.exit("WARMWIRE_TOOL does not name the built tool: run tests/judges/run.sh", returncode=2)


class Counter:
    """Counts the outcomes by judge, which is the name of the file without `test_`."""

    def __init__(self, config):
        self.counts = collections.defaultdict(collections.Counter)
        self.about = {}
        # The rows of suites that count their own tests, by judge.
        self.of_suites = {}
        self.partial = bool(config.option.keyword or config.option.markexpr) or any(
            "::" in argument for argument in config.args
        )

    @staticmethod
    def judge(nodeid):
        return pathlib.PurePath(nodeid.split("::")[0]).stem.removeprefix("test_").replace("_", "-")

    def pytest_collection_modifyitems(self, items):
        for item in items:
            self.about[self.judge(item.nodeid)] = item.module.__doc__.splitlines()[0]

    def pytest_runtest_logreport(self, report):
        judge = self.judge(report.nodeid)
        if report.skipped:
            self.counts[judge]["left"] += 1
        elif report.failed:
            self.counts[judge]["failed"] += 1
        elif report.when == "call":
            self.counts[judge]["passed"] += 1

    def pytest_sessionfinish(self, session, exitstatus):
        if self.partial or exitstatus not in (0, 1):
            return
        rows = {}
        if RESULTS.exists():
            lines = [line for line in RESULTS.read_text().splitlines() if not line.startswith("#")]
            rows = {line.split("\t")[0]: line for line in lines}
        for judge, row in self.of_suites.items():
            rows[judge] = "\t".join([judge, *row])
        for judge, count in self.counts.items():
            if judge.startswith(SUITES):
                continue
            numbers = [str(count[word]) for word in ("passed", "failed", "left")]
            rows[judge] = "\t".join([judge, *numbers, self.about[judge]])
        head = "# judge, passed, failed, left out, subject. Written by tests/judges/run.sh.\n"
        RESULTS.write_text(head + "".join(f"{rows[judge]}\n" for judge in sorted(rows)))


def pytest_configure(config):
    config.pluginmanager.register(Counter(config), "judges-counter")
