"""A plugin of pytest under which s3fs's own tests test Warmwire's file system (test_deep_s3fs.py)."""

import s3fs
import s3fs.core
import warmwire.s3

s3fs.S3FileSystem = s3fs.core.S3FileSystem = warmwire.s3.S3FileSystem
warmwire.s3.register()
