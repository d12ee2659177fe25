"""Uploads a file to S3 in parts; after a cut or a kill, the next run sends the parts that are missing."""

from warmwire.s3 import S3FileSystem

files = S3FileSystem()
files.put_file("image.iso", "my-data/image.iso", resume=True)
