"""The types of the package's own files."""

import pathlib

import pytest

PACKAGE = pathlib.Path(__file__).resolve().parent.parent


def test_mypy_finds_nothing_in_the_package(mypy):
    pytest.importorskip("zarr", reason="is missing: zarr")  # a package with types, whose class warmwire.zarr extends
    code, said = mypy(PACKAGE, "warmwire")
    assert code == 0, said
