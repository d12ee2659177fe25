"""Uploads a file by FTP; after a cut or a kill, the next run sends the rest."""

import warmwire

client = warmwire.Client(auth=("me", "secret"))
done = warmwire.upload("ftp://server.example/incoming/image.iso", "image.iso", attempts=20, client=client)
print(done.size, "bytes in", done.attempts, "attempts")
