"""Fetches a URL six times, with a handle for each request, and prints the address that each one reached, and how many connections it
opened. After two requests the hosts file gets another address for the host; after four the look-ups are stale."""

import sys
import time

import pycurl


def fetch():
    handle = pycurl.Curl()
    handle.setopt(pycurl.URL, sys.argv[1])
    handle.setopt(pycurl.TIMEOUT, 20)
    handle.setopt(pycurl.DNS_CACHE_TIMEOUT, 1)
    handle.setopt(pycurl.WRITEFUNCTION, lambda data: len(data))
    handle.perform()
    print(handle.getinfo(pycurl.PRIMARY_IP), handle.getinfo(pycurl.NUM_CONNECTS))
    handle.close()


fetch()
fetch()
with open("/etc/hosts", "w") as hosts:
    hosts.write(sys.argv[2])
fetch()
fetch()
time.sleep(1.1)
fetch()
fetch()
