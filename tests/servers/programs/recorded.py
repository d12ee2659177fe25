"""Prints all that it gets: the test compares the output of a recorded run with that of a replayed one.

Arguments: URLs. CA is the file with the certificate authority.
"""

import hashlib
import io
import os
import sys

import pycurl


def show(name, easy):
    body, lines = io.BytesIO(), []
    easy.setopt(pycurl.CAINFO, os.environ["CA"])
    easy.setopt(pycurl.COOKIEFILE, "")
    easy.setopt(pycurl.FOLLOWLOCATION, True)
    easy.setopt(pycurl.HEADERFUNCTION, lines.append)
    easy.setopt(pycurl.WRITEFUNCTION, body.write)
    code = 0
    try:
        easy.perform()
    except pycurl.error as error:
        code = error.args
    print(name, code, b"".join(lines))
    infos = [pycurl.RESPONSE_CODE, pycurl.CONTENT_LENGTH_DOWNLOAD_T, pycurl.SIZE_DOWNLOAD_T, pycurl.CONTENT_TYPE,
             pycurl.EFFECTIVE_URL, pycurl.NUM_CONNECTS, pycurl.HEADER_SIZE, pycurl.PRIMARY_IP]
    print(*(easy.getinfo(info) for info in infos))
    print(len(body.getvalue()), hashlib.md5(body.getvalue()).hexdigest())


def handle(url):
    easy = pycurl.Curl()
    easy.setopt(pycurl.URL, url)
    return easy


kept = pycurl.Curl()
for url in sys.argv[1:]:
    show("get", handle(url))
    kept.setopt(pycurl.URL, url)
    show("kept", kept)
    kept.setopt(pycurl.NOBODY, True)
    show("head", kept)
    kept.setopt(pycurl.NOBODY, False)
    kept.setopt(pycurl.HTTPGET, True)
    ranged = handle(url)
    ranged.setopt(pycurl.RANGE, "10-99")
    show("range", ranged)
