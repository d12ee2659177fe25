"""SFTP by pycurl; prints facts. argv: the URL of a folder, a private key's file, a known_hosts file."""
import io
import os
import sys
import time

import pycurl

folder, key, known = sys.argv[1:]
version = pycurl.version_info()
print(f"ours={int('warmwire' in pycurl.version.lower())}")
print(f"speaks={int('sftp' in version[8] and 'scp' in version[8])}")
TEXT = os.urandom(300000)


def handle(path, **options):
    easy = pycurl.Curl()
    easy.setopt(pycurl.URL, folder + path)
    easy.setopt(pycurl.SSH_PRIVATE_KEYFILE, key)
    easy.setopt(pycurl.SSH_KNOWNHOSTS, known)
    for name, value in options.items():
        easy.setopt(getattr(pycurl, name), value)
    return easy


def perform(easy):
    try:
        easy.perform()
    except pycurl.error as error:
        return error.args[0]
    return 0


def body(easy):
    out = io.BytesIO()
    easy.setopt(pycurl.WRITEDATA, out)
    return perform(easy), out.getvalue()


put = handle("/of%20python/new", UPLOAD=1, READDATA=io.BytesIO(TEXT), FTP_CREATE_MISSING_DIRS=1)
print(f"put={perform(put)}")
get = handle("/of%20python/new", OPT_FILETIME=1)
print(f"same={int(body(get) == (0, TEXT))}")
print(f"time={int(abs(get.getinfo(pycurl.INFO_FILETIME) - time.time()) < 3600)}")
print(f"length={int(get.getinfo(pycurl.CONTENT_LENGTH_DOWNLOAD))}")
get.setopt(pycurl.RANGE, "-5")
print(f"end={int(body(get) == (0, TEXT[-5:]))}")
names = body(handle("/of%20python/", DIRLISTONLY=1))[1].decode().split()
print(f"names={','.join(sorted(names))}")
none = handle("/none")
code = body(none)[0]
print(f"none={int(code != 0)} none_code={code}")
print(f"unknown={body(handle('/none', SSH_KNOWNHOSTS='/dev/null'))[0]}")

asked = []


def judge(known, found, match):
    asked.append((known is None, match == pycurl.KHMATCH_MISSING, len(found.key) > 30))
    return pycurl.KHSTAT_FINE


fine = handle("/of%20python/new", SSH_KNOWNHOSTS="/dev/null")
fine.setopt(pycurl.SSH_KEYFUNCTION, judge)
print(f"judged={int(body(fine) == (0, TEXT) and asked == [(True, True, True)])}")
