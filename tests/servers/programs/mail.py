"""Mail by pycurl; prints facts. argv: an IMAP, a POP3 and an SMTP URL, and the CA's file."""
import io
import sys

import pycurl

imap, pop3, smtp, ca = sys.argv[1:]
MAIL = b"Subject: dots\r\n\r\n.one\r\n..two\r\n.\r\nend \xe4\r\n"
print(f"ours={int('warmwire' in pycurl.version.lower())}")


def handle(url):
    easy = pycurl.Curl()
    easy.setopt(pycurl.URL, url)
    easy.setopt(pycurl.USERPWD, "user:secret")
    easy.setopt(pycurl.USE_SSL, pycurl.USESSL_ALL)
    easy.setopt(pycurl.CAINFO, ca)
    return easy


def perform(name, easy):
    code = 0
    try:
        easy.perform()
    except pycurl.error as error:
        code = error.args[0]
    print(f"{name}={code}")


for name, url in (("imap", imap), ("pop3", pop3)):
    easy, body = handle(url), io.BytesIO()
    easy.setopt(pycurl.WRITEDATA, body)
    perform(name, easy)
    print(f"{name}_same={int(body.getvalue() == MAIL)}")

easy = handle(smtp)
easy.setopt(pycurl.MAIL_FROM, "me@example.com")
easy.setopt(pycurl.MAIL_RCPT, ["a@example.com", "<b@example.com>"])
easy.setopt(pycurl.UPLOAD, 1)
easy.setopt(pycurl.READDATA, io.BytesIO(MAIL))
perform("smtp", easy)

print("end=1")
