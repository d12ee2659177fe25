"""report.py each|one ROUNDS URL...: polls URLs in rounds with pycurl, with a handle for each poll, which is the mistake,
or with one handle for all."""

import io
import sys
import time

import pycurl

way, rounds, urls = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
one = pycurl.Curl()
good = 0
start = time.monotonic()
for _ in range(rounds):
    for url in urls:
        easy = one if way == "one" else pycurl.Curl()
        body = io.BytesIO()
        easy.setopt(pycurl.URL, url)
        easy.setopt(pycurl.WRITEDATA, body)
        easy.perform()
        good += len(body.getvalue()) > 0
        if way != "one":
            easy.close()
micros = int((time.monotonic() - start) * 1e6)
one.close()
print(f"good={good} micros={micros}")
