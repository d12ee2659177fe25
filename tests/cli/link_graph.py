"""Prints the links of all HTML and CSS files below a folder, resolved: FILE, a tab, and the target.

A target inside the folder is its path, any other one a URL. The parser is Python's own.
"""

import html.parser
import pathlib
import re
import sys
import urllib.parse

ROOT = pathlib.Path(sys.argv[1])
URLS = {"href", "src", "poster", "data", "background", "action"}
CSS = re.compile(r"""/\*.*?\*/|url\(\s*(["']?)(.*?)\1\s*\)|@import\s+(["'])(.*?)\3""", re.DOTALL)


def of_css(text):
    return [found[2] or found[4] for found in CSS.finditer(text) if found[2] or found[4]]


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.links, self.in_style, self.base = [], False, ""

    def handle_starttag(self, tag, attributes):
        self.in_style = tag == "style"
        values = dict(attributes)
        if tag == "base":
            self.base = self.base or values.get("href") or ""
            return
        for name, value in attributes:
            if value is None:
                continue
            if name in URLS:
                self.links.append(value.strip())
            elif name == "srcset":
                self.links += [part.split()[0] for part in value.split(",") if part.strip()]
            elif name == "style":
                self.links += of_css(value)
            elif name == "content" and (values.get("http-equiv") or "").lower() == "refresh":
                self.links += re.findall(r"url=(.*)", value, re.IGNORECASE)

    def handle_endtag(self, tag):
        self.in_style = False

    def handle_data(self, data):
        if self.in_style:
            self.links += of_css(data)


def links(file):
    text = file.read_text(encoding="utf-8", errors="surrogateescape")
    if file.name.split("?")[0].split("@")[0].endswith(".css"):
        return of_css(text), ""
    page = Page()
    page.feed(text)
    return page.links, page.base


def resolved(file, base, link):
    here = "file:///" + urllib.parse.quote(str(file.relative_to(ROOT)))
    url = urllib.parse.urljoin(urllib.parse.urljoin(here, base), link)
    if not url.startswith("file:"):
        return url
    parts = urllib.parse.urlsplit(url)
    name = urllib.parse.unquote(parts.path).lstrip("/")
    # wget does not encode the question mark of a name; a browser then opens the file without query.
    if parts.query and (ROOT / f"{name}?{parts.query}").is_file():
        name += "?" + parts.query
    return name + ("#" + parts.fragment if parts.fragment else "")


for file in sorted(path for path in ROOT.rglob("*") if path.is_file() and ".warmwire-mirror" not in path.parts):
    print(f"file\t{file.relative_to(ROOT)}")
    start = file.read_bytes()[:512].lower()
    if file.suffix == ".css" or b"<html" in start or b"<!doctype html" in start:
        found, base = links(file)
        for link in sorted(set(found)):
            print(f"{file.relative_to(ROOT)}\t{resolved(file, base, link)}")
