import io, sys
import pycurl

# Fetches the URL of the command line twice, each time with a fresh handle.
for turn in range(2):
    curl, body = pycurl.Curl(), io.BytesIO()
    curl.setopt(pycurl.URL, sys.argv[1])
    curl.setopt(pycurl.WRITEDATA, body)
    curl.perform()
    # 0 new connections: the request used one from the pool.
    new = curl.getinfo(pycurl.NUM_CONNECTS)
    print(f"{len(body.getvalue())} bytes, new connections: {new}")
    curl.close()
