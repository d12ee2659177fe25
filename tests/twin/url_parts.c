/* The parts that URLs are parsed into, without a flag and with each: what 7.88 and 8.22 agree on since RFC 3986.
 * covers: curl_url, curl_url_set, curl_url_get, curl_url_cleanup */
#include "url_shown.h"

static const char *urls[] = {
  "http://example.com", "http://example.com/", "http://example.com?q", "http://example.com/#f", "HTTP://EXAMPLE.com/Path",
  "http://user@example.com/", "http://user:@example.com/", "http://:pass@example.com/", "http://u:p:q@example.com/",
  "http://us%20er:pa%3ass@example.com/", "http://u;o=1@example.com/", "ftp://user;AUTH=x:pw@example.com/a/b;type=i",
  "http://example.com:80/", "https://example.com:443/", "ftp://example.com:21/", "http://example.com:8080/x",
  "http://example.com:/", "http://example.com:0080/", "http://example.com:65535/", "http://example.com:65536/",
  "http://example.com:12a/", "http://example.com:-1/", "http://example.com:+1/",
  "http://example.com/a/./b/../c", "http://example.com/../../x", "http://example.com/a/..", "http://example.com/a/.",
  "http://example.com/.a/..b/...", "http://example.com/%2e/%2e%2e/a", "http://example.com/a/%2E%2e/b", "http://example.com//a//b/../c",
  "http://example.com/a%2fb", "http://example.com/a%zz", "http://example.com/a%", "http://example.com/a b",
  "http://example.com/?a=b&c=d", "http://example.com/?a?b", "http://example.com/?#x?y", "http://example.com/#a#b",
  "http://example.com/?a b", "http://example.com/?a%20b+c", "http://example.com/?[x]{y}|z", "http://example.com/<>\"`^",
  "http://example.com/\xc3\xa4", "http://example.com/?\xc3\xa4", "http://example.com/#\xc3\xa4",
  "http://[::1]/", "http://[::1]:8080/x", "http://[2001:DB8::0:1]/", "http://[fe80::1%25eth0]/", "http://[fe80::1%eth0]/",
  "http://[::1", "http://::1/", "http://[1:2:3]/", "http://[::ffff:1.2.3.4]/", "http://[]/", "http://[::1]x/",
  "http://127.0.0.1/", "http://127.1/", "http://0x7f.1/", "http://0177.0.0.1/", "http://2130706433/", "http://256.1.1.1/",
  "http://1.2.3.4.5/", "http://1.2.3./", "http://0x/", "http://4294967296/", "http://1.2.3.4./", "http://127.0.0.1.example/",
  "http://exa%6dple.com/", "http://ex%00ample.com/", "http://ex%41%2fa.com/", "http://a.b.c.d.example./", "http://.example/",
  "http://ex_ample.com/", "http://ex!ample.com/", "http://ex$ample.com/", "http://ex&ample.com/", "http://ex,ample.com/",
  "http://ex;ample.com/", "http://ex=ample.com/", "http://ex(ample).com/", "http://ex*ample.com/", "http://ex'ample.com/",
  "http://ex{ample.com/", "http://ex|ample.com/", "http://ex^ample.com/", "http://ex`ample.com/", "http://ex<ample.com/",
  "file:///a/b", "file:/a/b", "file://localhost/a", "file://127.0.0.1/a", "file://other/a", "FILE:///C:/x", "file:///a?b#c",
  "http:/example.com/", "http:example.com/", "http:///example.com/", "http:////example.com/", "https:/example.com",
  "example.com", "ftp.example.com", "www.example.com/x", "dict.example.com", "ldap.example.com", "smtp.example.com", "localhost:80/x",
  "example.com:8080/x?y#z", "user@example.com/x", "//example.com/x", "/x/y", "?x", "#x", "a:b", "a/b:c",
  "ws://example.com/x",
  "wss://example.com/", "unknown://example.com/x", "x-y+z.1://example.com/", "1x://example.com/", "mailto:a@b",
  "http://a@b@example.com/", "http://a:b@c:d@example.com/", "http://example.com/@x", "http://example.com\\@other/", "http://example.com/\\x",
  "http://user:pass@[::1]:99/p?q#f", "http://%75ser:%70ass@example.com/", "http://u%0ar@example.com/", "http://example.com/\x7f",
};

int main(void)
{
  for(size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
    show(urls[i], CURLU_NON_SUPPORT_SCHEME, 0);
    show(urls[i], 0, 0);
  }
  return 0;
}
