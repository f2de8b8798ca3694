# SPDX-License-Identifier: MIT
# Checks the page of `codebox audit report`: no script, no external resource, a strict policy, and
# no element or attribute that a text of the log creates.
import html.parser
import sys

ALLOWED = {
    "html": {"lang"}, "head": set(), "meta": {"charset", "http-equiv", "content"}, "title": set(), "style": set(), "body": set(), "h1": set(),
    "h2": set(), "p": set(), "table": set(), "tr": set(), "th": set(), "td": set(), "span": {"class"}, "svg": {"role", "width", "height"},
    "rect": {"x", "y", "width", "height", "class"}, "text": {"x", "y", "text-anchor"},
}


class Page(html.parser.HTMLParser):
    policy = ""
    words = ""

    def handle_starttag(self, tag, attributes):
        names = dict(attributes)
        if tag not in ALLOWED or not set(names) <= ALLOWED[tag]:
            sys.exit("the page has %s with %s" % (tag, names))
        if names.get("http-equiv") == "Content-Security-Policy":
            self.policy = names["content"]

    def handle_data(self, data):
        self.words += data


page = Page()
page.feed(open(sys.argv[1], encoding="utf-8").read())
if not page.policy.startswith("default-src 'none'") or "script-src" in page.policy:
    sys.exit("policy: " + page.policy)
for word in sys.argv[2:]:
    if word not in page.words:
        sys.exit("the page does not have " + word)
