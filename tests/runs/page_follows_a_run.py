# SPDX-License-Identifier: GPL-3.0-or-later
"""Does the page of photons.serve follow a run? The folder of a whole run is shown as it was in the
middle, and then as it is.

usage: page_follows_a_run.py FOLDER"""

import html.parser
import http.server
import math
import os
import re
import sys
import threading
import urllib.error
import urllib.request

import numpy as np
from photons.serve import LivePage, handler_of, progress, progress_parts
from photons import Run, report

sys.path.append(os.environ["PHOTONS_SOURCE"] + "/tests/support")
import hostile_run

folder = sys.argv[1]
REFRESH, MESSAGE = 'http-equiv="refresh"', 'class="message"'
log = os.path.join(folder, "log", "timings.csv")
messages = os.path.join(folder, "log", "run.log")
with open(log) as file:
    lines = file.readlines()
with open(messages) as file:
    said = file.read()
steps = len(lines) - 1  # with step 0


def rewrite(kept):
    """The logs after some steps, and the half of a line that is being written."""
    with open(log, "w") as file:
        file.writelines(lines[: kept + 1] + ([lines[kept + 1][:20]] if kept < steps else []))
    with open(messages, "w") as file:
        file.write(said if kept == steps else said[: said.index(f"\nstep {kept} ")])


later = os.path.join(folder, "powerspec_001.txt")
os.rename(later, "later.txt")
rewrite(steps // 2)
run = Run(folder)
a = run.timings()["a"][-1]
# From z = 9 to z = 1 ln a grows by ln 5.
assert abs(progress(run, run.timings()) - math.log(a / 0.1) / math.log(5)) < 1e-6

page = LivePage(folder)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler_of(page))
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}"


def get(path="/"):
    with urllib.request.urlopen(address + path, timeout=300) as answer:
        return answer.read().decode()


def step_of(text):
    return int(re.search(r"<p>step (\d+),", text)[1])


first = get()
assert REFRESH in first and " to go</p>" in first and MESSAGE not in first
assert step_of(first) == steps // 2 - 1
pictures = first.count("data:image/")
assert pictures >= 3, pictures

# A run that failed has not ended: it may go on.
with open(messages, "a") as file:
    file.write("\n2026-01-01T00:00:00Z error: no room for <this>\n")
parts, ended = progress_parts(run)
assert not ended and parts[1].endswith(", failed</p>") and " to go" not in parts[1]
assert parts[2].endswith("Z error: no room for &lt;this&gt;</p>"), parts

# What is new shows when the last page is old enough, not before.
rewrite(steps)
os.rename("later.txt", later)
page.next_time = float("inf")
assert get() == first
page.next_time = 0.0
last = get()
assert REFRESH not in last and ", ended</p>" in last
assert step_of(last) == steps - 1
assert last.count("data:image/") == pictures + 1  # growth, of two spectra
assert MESSAGE not in last

# Nothing else is served.
try:
    get("/log/timings.csv")
except urllib.error.HTTPError as error:
    assert error.code == 404
else:
    raise AssertionError("files of the folder are served")

# A page that cannot be made now is asked for again.
page._make = lambda: 1 / 0
page.next_time = 0.0
try:
    get()
except urllib.error.HTTPError as error:
    assert error.code == 503 and int(error.headers["Refresh"]) > 0
    assert b"division by zero" in error.read()
else:
    raise AssertionError("a page that cannot be made is served")
server.shutdown()


# Whatever the files of a run say is text of the page: elements and attributes are the program's.
class Parts(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.sources, self.links = set(), set(), set(), set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}
        places = {value for name, value in attributes if name in ("src", "href")}
        if tag == "a":
            self.links |= places
        else:
            self.sources |= {place[:15] for place in places}

    def handle_data(self, data):
        self.text += data


TAGS = set(
    "html head meta link title style body h1 h2 p progress pre table tr td th div figure img "
    "figcaption details summary a".split()
)
ATTRIBUTES = set("lang charset http-equiv content name rel href class value alt src".split())
hostile_run.make(folder, hostile_run.NAME)
report.make_report(hostile_run.NAME, "hostile.html")
for text in (LivePage(hostile_run.NAME).get(), open("hostile.html").read()):
    found = Parts(text)
    assert found.tags <= TAGS, found.tags - TAGS
    assert found.attributes <= ATTRIBUTES, found.attributes - ATTRIBUTES
    assert found.sources <= {"data:,", "data:image/png;", "data:image/jpeg"}, found.sources
    # Files of the run: no scheme, and no character that ends an attribute.
    assert all(re.fullmatch(r"[\w%./-]+", link) for link in found.links), found.links
    assert hostile_run.NAME in found.text and ".png is no PNG" in found.text
    for place in hostile_run.PLACES:
        live = place in ("eta", "message")
        assert (hostile_run.attack(place) in found.text) == (not live or "<progress" in text), place
assert " to go" in LivePage(hostile_run.NAME).get()

# A page that cannot be made says so, and that is text, too.
with open(os.path.join(hostile_run.NAME, "log", "timings.csv"), "a") as file:
    file.write(",".join([str(steps), *["<script>"] * lines[0].count(",")]) + "\n")
page.folder, page.next_time = hostile_run.NAME, 0.0
del page._make
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler_of(page))
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}"
try:
    get()
except urllib.error.HTTPError as error:
    text = error.read().decode()
    assert error.code == 503 and "<script" not in text and "&lt;script" in text, text
else:
    raise AssertionError("a log that holds no numbers is taken")
server.shutdown()


# Isolated systems and gas have times.
class Timed:
    def config(self):
        return {"time": {"end": "20", "z_end": "0"}}


assert progress(Timed(), {"time_myr": np.array([0.0, 8.0])}) == 0.4
assert progress(Timed(), {"time": np.array([0.0, 15.0])}) == 0.75
