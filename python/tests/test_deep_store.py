"""The store beside obstore's, and in the hands of obspec's wrappers and VirtualiZarr."""

import pytest
from patterns import pattern
from sites import Site, folder
from warmwire.store import HTTPStore

pytestmark = pytest.mark.deep


def test_it_is_a_readable_store():
    protocols = pytest.importorskip("obspec_utils.protocols", reason="is missing: obspec-utils")
    wrappers = pytest.importorskip("obspec_utils.wrappers", reason="is missing: obspec-utils")
    from test_store import Objects

    whole = pattern(100_000)
    server = Objects({"/x": whole})
    store = HTTPStore(server.root)
    assert isinstance(store, protocols.ReadableStore)
    cached = wrappers.CachingReadableStore(store)
    assert [cached.get_range("x", start=10, length=5), cached.get_range("x", start=20, length=5)] == [whole[10:15], whole[20:25]]


def test_it_answers_as_obstore_does():
    obstore = pytest.importorskip("obstore", reason="is missing: obstore")
    from test_store import Objects

    whole = pattern(3_000_000)
    server = Objects({"/x": whole})
    ours, theirs = HTTPStore(server.root), obstore.store.HTTPStore.from_url(server.root, client_options={"allow_http": True})
    for ask in (
        lambda s: bytes(s.get("x").bytes()),
        lambda s: bytes(s.get_range("x", start=7, length=90)),
        lambda s: bytes(s.get_range("x", start=2_999_990, end=4_000_000)),
        lambda s: [bytes(each) for each in s.get_ranges("x", starts=[0, 2_500_000, 50], ends=[10, 2_500_100, 60])],
        lambda s: {name: s.head("x")[name] for name in ("path", "size", "e_tag", "last_modified")},
        lambda s: s.get("x", options={"range": (5, 50)}).range,
        lambda s: bytes(s.get("x", options={"range": {"suffix": 5}}).bytes()),
    ):
        assert ask(ours) == ask(theirs)
    for path in ("none",):
        for store in (ours, theirs):
            with pytest.raises(FileNotFoundError):
                store.head(path)


def test_virtualizarr(tmp_path):
    pytest.importorskip("h5py", reason="is missing: h5py")
    virtualizarr = pytest.importorskip("virtualizarr", reason="is missing: virtualizarr")
    import h5py
    import numpy
    from obspec_utils.registry import ObjectStoreRegistry
    from virtualizarr.parsers import HDFParser

    numbers = numpy.arange(10_000.0).reshape(100, 100)
    with h5py.File(tmp_path / "data.h5", "w") as file:
        file.create_dataset("numbers", data=numbers, chunks=(10, 100))
    site = Site(folder(tmp_path))
    registry = ObjectStoreRegistry({site.root: HTTPStore(site.root)})
    manifest = HDFParser()(url=f"{site.root}/data.h5", registry=registry)
    with manifest.to_virtual_dataset() as found:
        assert found["numbers"].shape == (100, 100)
    import xarray

    real = xarray.open_zarr(manifest, consolidated=False, zarr_format=3)
    assert numpy.array_equal(real["numbers"][5:25, 3], numbers[5:25, 3])
    assert virtualizarr.__version__
