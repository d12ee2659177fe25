"""pycurl hands OpenSSL certificates to trust (set_ca_certs): argv names a URL, a good authority's file and another's; and an
HTTPS proxy, which is trusted by the same."""

import io
import sys

import pycurl

url, good, other, *proxy = sys.argv[1:]
good, other = (open(name).read() for name in (good, other))


def fetch(what, trust):
    curl = pycurl.Curl()
    body = io.BytesIO()
    curl.setopt(curl.URL, url)
    # The good one is trusted by what is handed over alone.
    curl.setopt(curl.CAINFO, sys.argv[3])
    if proxy:
        curl.setopt(curl.PROXY, proxy[0])
        curl.setopt(curl.PROXY_CAINFO, sys.argv[3])
    if trust:
        curl.set_ca_certs(trust)
    curl.setopt(curl.WRITEDATA, body)
    try:
        curl.perform()
        code = 0
    except pycurl.error as error:
        code = error.args[0]
    print(f"{what}={code} bytes={len(body.getvalue())}")
    curl.close()


fetch("text", good)
fetch("octets", good.encode())
fetch("two", other + good)
fetch("other", other)
fetch("none", "")
