import pandas
import warmwire.s3

warmwire.s3.register()  # s3:// and s3a:// of fsspec are Warmwire's from here on

where = {"endpoint_url": "https://storage.example.com"}  # leave it out for Amazon
pandas.DataFrame({"n": range(1000)}).to_parquet("s3://my-data/table.parquet", storage_options=where)
print(pandas.read_parquet("s3://my-data/table.parquet", storage_options=where)["n"].sum())

files = warmwire.s3.S3FileSystem(**where)
files.put("logs", "my-data/logs", recursive=True)
print(files.find("my-data"))
print(files.cat_ranges(["my-data/table.parquet"] * 2, [0, -4], [4, None]))
