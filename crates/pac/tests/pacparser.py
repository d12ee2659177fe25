"""Prints what pacparser, another implementation, returns for PAC files: a line for each question on standard input.

A question is a JSON array of script, URL and host. The answer is the result, or null after a failure."""

import ctypes
import json
import sys

library = ctypes.CDLL("libpacparser.so.1")
library.pacparser_find_proxy.restype = ctypes.c_char_p
# The library keeps the function.
quiet = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)(lambda *_: 0)
library.pacparser_set_error_printer(quiet)
for line in sys.stdin:
    script, url, host = (text.encode() for text in json.loads(line))
    library.pacparser_init()
    result = library.pacparser_find_proxy(url, host) if library.pacparser_parse_pac_string(script) else None
    print(json.dumps(result and result.decode()), flush=True)
    library.pacparser_cleanup()
