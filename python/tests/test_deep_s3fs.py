"""s3fs's own tests with our file system in the place of theirs. Those named in s3fs_required.txt must pass.

Most of the others look into s3fs itself: its boto client, its cache of listings. One differs on purpose: a file that an exception
leaves is not stored here.
"""

import os
import pathlib
import re
import subprocess
import sys

import pytest
import warmwire

pytestmark = pytest.mark.deep
HERE = pathlib.Path(__file__).parent
SUITE = pathlib.Path(sys.prefix).parent / "s3fs"


def test_s3fs_own_tests():
    if not (SUITE / "tests" / "test_s3fs.py").exists():
        pytest.skip("is missing: s3fs's own tests (tests/install.sh s3fs_suite)")
    required = (HERE / "s3fs_required.txt").read_text().split()
    package = os.path.dirname(os.path.dirname(warmwire.__file__))
    environment = {**os.environ, "PYTHONPATH": f"{package}:{HERE}"}
    words = ["-m", "pytest", "-p", "s3fs_swap", "-p", "no:cacheprovider", "-q", "-rA", "--tb=no", "--show-capture=no", "-W", "ignore", "--timeout", "90"]
    chosen = [f"tests/test_s3fs.py::{name}" for name in required]
    done = subprocess.run(
        [SUITE / "bin" / "python", *words, *chosen], capture_output=True, text=True, check=False, cwd=SUITE, env=environment, timeout=1500
    )
    passed = set(re.findall(r"^PASSED tests/test_s3fs\.py::(\S+)", done.stdout, re.MULTILINE))
    assert len(required) > 100
    assert not set(required) - passed, f"{done.stdout[-3000:]}{done.stderr[-2000:]}"
