import pathlib
import shutil

import dask.dataframe
import dask.distributed
import warmwire.dask

URLS, RESULTS = pathlib.Path("urls"), pathlib.Path("results")  # folders that all machines see
BOUNDS = {"timeout": warmwire.Timeout(10, total=60), "options": {"MAXFILESIZE_LARGE": 64 * 2**20}}
COLUMNS = ["url", "status", "body", "code", "error", "attempts"]

if __name__ == "__main__":
    with dask.distributed.Client():  # or the address of a scheduler
        for part in sorted(URLS.glob("*.parquet")):
            done, draft = RESULTS / part.stem, RESULTS / f"{part.stem}.draft"
            if done.exists():
                continue
            shutil.rmtree(draft, ignore_errors=True)
            frame = dask.dataframe.read_parquet(part).repartition(npartitions=8)
            rows = warmwire.dask.fetch(frame, per_host=8, limit=256, follow_redirects=True, **BOUNDS)
            rows[COLUMNS].to_parquet(draft)
            draft.rename(done)
            print(part.stem, dask.dataframe.read_parquet(done, columns=["code"])["code"].value_counts().compute().to_dict())
