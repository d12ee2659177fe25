"""Prints what changes at the URLs of the command line, until there were as many changes as the first word says."""

import sys

import warmwire

with warmwire.watch(sys.argv[2:], every=0.2, contents=True) as changes:
    for _, change in zip(range(int(sys.argv[1])), changes):
        print(change.kind, change.url, change.error or change.content, flush=True)
