"""Fetches a URL, and prints the code, the size and the message."""

import io
import sys

import pycurl

body = io.BytesIO()
handle = pycurl.Curl()
handle.setopt(pycurl.URL, sys.argv[1])
handle.setopt(pycurl.FOLLOWLOCATION, True)
handle.setopt(pycurl.TIMEOUT, 20)
handle.setopt(pycurl.WRITEDATA, body)
try:
    handle.perform()
    code, message = 0, ""
except pycurl.error as error:
    code, message = error.args
print(code, len(body.getvalue()), message)
