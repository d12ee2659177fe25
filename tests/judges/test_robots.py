"""robots.txt by Protego (Scrapy's parser): which pages of a site a mirror requests under many sets of rules."""

import http.server
import random
import threading

import protego
import pytest

import conftest

AGENT = "Mirror-Bot"
PATHS = [
    "/a",
    "/a/",
    "/a/b",
    "/a/b.html",
    "/a/b.php",
    "/a/b.php?x=1",
    "/ab",
    "/A/b",
    "/c/a/b",
    "/c/index.html",
    "/c/?a",
    "/%C3%A4/b",
    "/a%2Fb",
    "/*",
    "/d$",
]
# Protego counts a question mark as three octets, so that a rule with one may win over a longer rule.
PATTERNS = [
    "/",
    "/a",
    "/a/",
    "/a*",
    "/a/b",
    "/a/b$",
    "/*.php",
    "/*.php$",
    "/*b",
    "*/b",
    "/a*b*h",
    "/c/",
    "/c/*a",
    "/*x=1",
    "/$",
    "/ä/",
    "/%c3%a4/",
    "",
    "/*/*/",
    "/a/b.html$",
]
AGENTS = ["*", AGENT, AGENT.lower(), "Other", "Mirror-Bot-News", "Mirror"]


def rules(seed):
    """Returns a robots.txt of a few groups."""
    dice = random.Random(seed)
    lines = []
    for _ in range(dice.randint(1, 4)):
        lines += [f"User-agent: {dice.choice(AGENTS)}" for _ in range(dice.randint(1, 2))]
        for _ in range(dice.randint(1, 5)):
            key = dice.choice(["Allow", "Disallow", "disallow", "DISALLOW"])
            lines.append(f"{key}:{dice.choice(['', ' ', '  '])}{dice.choice(PATTERNS)}{dice.choice(['', ' # x'])}")
        lines += dice.choice([[], [""], ["Sitemap: http://x/s.xml"], ["# comment"]])
    return dice.choice(["\n", "\r\n"]).join(lines) + "\n"


class Site:
    """Serves a page with links to all paths, and notes what is requested."""

    def __init__(self):
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def do_GET(self):
                site.requested.add(self.path)
                links = "".join(f'<a href="{path}">x</a>' for path in PATHS)
                body = (site.rules if self.path == "/robots.txt" else links).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.rules, self.requested = "", set()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"


@pytest.fixture(scope="module")
def site():
    made = Site()
    yield made
    made.server.shutdown()


@pytest.mark.parametrize("group", range(20))
def test_the_same_pages_are_requested(site, group, tmp_path):
    for seed in range(group * 10, group * 10 + 10):
        site.rules, site.requested = rules(seed), set()
        # The start itself is allowed, so that its links are read.
        site.rules += f"User-agent: {AGENT}\nAllow: /start.html$\nUser-agent: *\nAllow: /start.html$\n"
        parser = protego.Protego.parse(site.rules)
        words = ["--mirror-site", "-A", f"{AGENT}/1.0", "--output-dir", tmp_path / str(seed)]
        done = conftest.run_tool(*words, f"{site.url}start.html")
        assert done.code == 0, f"{done} {site.rules}"
        expected = {path for path in PATHS if parser.can_fetch(site.url.rstrip("/") + path, AGENT)}
        assert site.requested - {"/start.html", "/robots.txt"} == expected, site.rules
