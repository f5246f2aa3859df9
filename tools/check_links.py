#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check the links of a folder of HTML pages: each file and each heading that a page names exists.

usage: check_links.py FOLDER
Links to other servers are not followed. The exit code is 1 if a link is broken.
"""

import argparse
import pathlib
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urlsplit


class Page(HTMLParser):
    """The links of a page, and the names to which a link to this page may point."""

    def __init__(self, path):
        super().__init__()
        self.links, self.names = [], {"", "top"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for key, value in attributes:
            if key in ("href", "src"):
                self.links.append(value or "")
            elif key == "id" or (key == "name" and tag == "a"):
                self.names.add(value)


def broken(folder, pages):
    """Yield the path of the page and the link, for each broken link of {path: Page}."""
    for path, page in pages.items():
        for link in page.links:
            address, name = urldefrag(link)
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            base = folder if parts.path.startswith("/") else path.parent
            target = (base / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
            if not target.is_file() or (target in pages and name not in pages[target].names):
                yield path, link


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder.resolve()
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
    if not pages:
        sys.exit(f"check_links.py: error: no HTML page in {folder}")
    found = sorted(set(broken(folder, pages)))
    for path, link in found:
        print(f"{path.relative_to(folder)}: broken link: {link}", file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
