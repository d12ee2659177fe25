"""Many transfers in a loop of one's own, which watches other things, too. usage: multi_socket.py URL...

curl tells such a loop of every socket that it opens and closes. Here one descriptor stands for all of them.
"""

import selectors
import sys

from warmwire.easy import Easy, Multi

multi = Multi(max_host=8)
for url in sys.argv[1:]:
    multi.add(Easy(URL=url))

loop = selectors.DefaultSelector()
loop.register(multi.fileno(), selectors.EVENT_READ)
while multi.perform():
    loop.select(multi.timeout())

for easy, error in sorted(multi.info_read(), key=lambda entry: sys.argv.index(entry[0].getinfo("EFFECTIVE_URL"))):
    print(easy.getinfo("EFFECTIVE_URL"), error or f"{easy.getinfo('RESPONSE_CODE')} {len(easy.body)}")
