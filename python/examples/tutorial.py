"""The options of curl by hand, one thing after the other. usage: tutorial.py URL"""

import sys

from warmwire.easy import Easy, options

root = sys.argv[1].rstrip("/")

# A file into memory.
easy = Easy(URL=f"{root}/bytes/1000")
easy.perform()
print("body", len(easy.body), "status", easy.getinfo("RESPONSE_CODE"))

# The same handle again: options stay until they are set anew, and the connection is warm.
easy.perform()
print("new connections", easy.getinfo("NUM_CONNECTS"))

# Piece by piece, as it comes.
sizes = []
easy.write = lambda piece: sizes.append(len(piece))
easy.setopt("URL", f"{root}/bytes/3000000")
easy.perform()
print("pieces make", sum(sizes))

# Sending what a function gives.
rest = [b"one ", b"two ", b"three"]
easy = Easy(URL=f"{root}/echo", UPLOAD=1, INFILESIZE_LARGE=13)
easy.read = lambda: rest.pop(0) if rest else b""
easy.perform()
print("sent", easy.getinfo("SIZE_UPLOAD"))

# A form, headers, a redirect.
easy = Easy(URL=f"{root}/bytes/5", POSTFIELDS="name=value", HTTPHEADER=["X-Name: value"], FOLLOWLOCATION=1)
easy.perform()
print("posted", easy.getinfo("RESPONSE_CODE"), "in", easy.getinfo("TOTAL_TIME") < 60)

# What can be set.
print("options", len(options()) > 300, options()["URL"])
