"""tornado's curl_httpclient, which drives pycurl's CurlMulti by socket_action from asyncio's loop; prints facts.

argv[1]: the server's base URL."""
import asyncio
import os
import sys

import pycurl
from tornado.curl_httpclient import CurlAsyncHTTPClient, CurlError
from tornado.httpclient import HTTPError, HTTPRequest
from tornado.httputil import HTTPHeaders

base = sys.argv[1]
print(f"ours={int('warmwire' in pycurl.version.lower())}")


async def outcome(client, request, **options):
    """Body's length, or what was raised."""
    try:
        return len((await client.fetch(request, **options)).body)
    except CurlError as error:
        return f"curl{error.errno}"
    except HTTPError as error:
        return f"http{error.code}"


async def main():
    client = CurlAsyncHTTPClient(max_clients=10)
    print("easy=%s" % await outcome(client, base + "/bytes/5000"))
    print("secure=%s" % await outcome(client, os.environ["SECURE"], ca_certs=os.environ["CA"]))
    # Sixty at once, of which ten run and the rest wait in tornado's queue.
    bodies = await asyncio.gather(*(outcome(client, f"{base}/delay/20/bytes/{1000 + i}") for i in range(60)))
    print("many=%s" % sum(bodies))
    # Some fail while others go on.
    mixed = [base + "/bytes/100", "http://127.0.0.1:1/", base + "/status/404", "http://nonexistent.invalid/",
             base + "/cut/200/bytes/5000", base + "/chunked/300/7"]
    print("mixed=%s" % ",".join(map(str, await asyncio.gather(*(outcome(client, url) for url in mixed)))))
    print("timeout=%s" % await outcome(client, base + "/delay/5000/bytes/1", request_timeout=0.3))
    post = await client.fetch(base + "/body", method="POST", body="a=1&b=two")
    print("post=%s" % post.body.decode())
    put = await client.fetch(base + "/sum", method="PUT", body=b"p" * 100000)
    print("put=%s" % put.body.decode().split()[0])
    print("patched=%s" % (await client.fetch(base + "/echo", method="PATCH", body=b"x")).body.decode().split()[0])
    head = await client.fetch(base + "/bytes/321", method="HEAD")
    print("head=%s,%s" % (head.headers["Content-Length"], len(head.body)))
    redirected = await client.fetch(base + "/redirect/3")
    print("redirected=%s" % redirected.effective_url.removeprefix(base))
    print("auth=%s" % await outcome(client, base + "/basic/user/secret", auth_username="user", auth_password="secret"))
    print("gzip=%s" % await outcome(client, base + "/gzip/9000"))
    lines, pieces = [], []
    streamed = HTTPRequest(base + "/chunked/20000/1000", header_callback=lines.append, streaming_callback=pieces.append,
                           headers=HTTPHeaders({"X-Own": "1"}))
    await client.fetch(streamed)
    print("streamed=%s,%s" % (sum(map(len, pieces)), lines[0].split()[1]))
    # Closed with a request under way; the loop goes on.
    closing = CurlAsyncHTTPClient(force_instance=True)
    pending = asyncio.ensure_future(outcome(closing, base + "/delay/5000/bytes/1"))
    await asyncio.sleep(0.1)
    closing.close()
    pending.cancel()
    print("after=%s" % await outcome(client, base + "/bytes/77"))
    client.close()
    print("end=1")


asyncio.run(main())
