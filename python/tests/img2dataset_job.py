"""Runs img2dataset in its own environment: img2dataset_job.py KIND ARGUMENTS, where ARGUMENTS are JSON. A program of
test_deep_img2dataset.py, which has no img2dataset.

KIND is ``own`` for img2dataset as it is, ``ours`` for ours, ``slow`` for ours before a resizer that pauses, ``images`` to make some,
``names`` for the order in which unknown hosts are tried.
"""

import json
import pathlib
import sys
import time


def images(folder, count):
    """Writes pictures of several kinds and sizes."""
    import cv2
    import numpy

    random = numpy.random.default_rng(1)
    for number in range(count):
        small = random.integers(0, 256, (8, 8, 3), dtype=numpy.uint8)
        picture = cv2.resize(small, (40 + 13 * number % 400, 30 + 7 * number % 300))
        assert cv2.imwrite(f"{folder}/{number}.{('jpg', 'png', 'webp')[number % 3]}", picture)


def slow(pause, **how):
    """Fetches a shard whose first sample takes ``pause`` seconds to resize, and prints how many were resized."""
    import pyarrow
    from img2dataset.writer import DummySampleWriter
    from warmwire.img2dataset import Bounds, Downloader

    class Resizer:
        """Pauses at the first picture."""

        count = 0

        def __call__(self, stream, boxes):
            self.count += 1
            time.sleep(pause if self.count == 1 else 0)
            return stream.read(), 1, 1, 1, 1, None

    folder, urls = pathlib.Path(how["output_folder"]), how["urls"]
    folder.mkdir()
    with pyarrow.ipc.new_file(f"{folder}/shard", pyarrow.schema([("url", pyarrow.string())])) as file:
        file.write_table(pyarrow.table({"url": urls}))
    resizer = Resizer()
    downloader = Downloader(
        DummySampleWriter, resizer, 8, False, False, str(folder), ["url"], how["timeout"], len(urls), 5, None, None, "jpg", 0, None,
        None, bounds=Bounds(deadline=how["deadline"]),
    )  # fmt: skip
    assert downloader((0, f"{folder}/shard")) == (True, (0, f"{folder}/shard"))
    print(resizer.count)


def names(hosts):
    """Prints how many of so many unknown hosts are tried at each turn while none has answered, and the longest wait then."""
    from types import SimpleNamespace

    from warmwire.img2dataset import Bounds, _DeadHosts, _ShardQueue

    of = SimpleNamespace(thread_count=8, bounds=Bounds(), retries=0)
    queue = _ShardQueue((f"http://host{n}.test/" for n in range(hosts)), of, _DeadHosts("out"))
    turns = []
    while not queue.is_empty():
        queue.allow_names()
        turns.append((sum(1 for _ in iter(lambda: queue.next(0.0), None)), queue.pause(0.0)))
    print(json.dumps(turns))


def main(kind, arguments):
    how = json.loads(arguments)
    if kind == "own":
        from img2dataset import download
    elif kind == "ours":
        from warmwire.img2dataset import download
    else:
        download = {"slow": slow, "images": images, "names": names}[kind]
    download(**how)


if __name__ == "__main__":
    main(*sys.argv[1:])
