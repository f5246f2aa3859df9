# SPDX-License-Identifier: GPL-3.0-or-later
"""Does the page of photons.serve follow a run? The folder of a whole run is shown as it was in the
middle, and then as it is.

usage: page_follows_a_run.py FOLDER"""

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
from photons import Run

folder = sys.argv[1]
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
assert "http-equiv=refresh" in first and " to go</p>" in first and "class=message" not in first
assert step_of(first) == steps // 2 - 1
pictures = first.count("data:image/png")
assert pictures >= 3, pictures

# A run that failed has not ended: it may go on.
with open(messages, "a") as file:
    file.write("\n2026-01-01T00:00:00Z error: no room for <this>\n")
parts, ended = progress_parts(run)
assert not ended and parts[0].endswith(", failed</p>") and " to go" not in parts[0]
assert parts[1].endswith("Z error: no room for &lt;this&gt;</p>"), parts

# What is new shows when the last page is old enough, not before.
rewrite(steps)
os.rename("later.txt", later)
page.next_time = float("inf")
assert get() == first
page.next_time = 0.0
last = get()
assert "http-equiv=refresh" not in last and ", ended</p>" in last
assert step_of(last) == steps - 1
assert last.count("data:image/png") == pictures + 1  # growth, of two spectra
assert "class=message" not in last

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


# Isolated systems and gas have times.
class Timed:
    def config(self):
        return {"time": {"end": "20", "z_end": "0"}}


assert progress(Timed(), {"time_myr": np.array([0.0, 8.0])}) == 0.4
assert progress(Timed(), {"time": np.array([0.0, 15.0])}) == 0.75
