# SPDX-License-Identifier: GPL-3.0-or-later
"""A page that follows a run while it goes on, for browsers of the same machine."""

import collections
import http.server
import math
import os
import re
import threading
import time

from . import plots, report
from .files import Run
from .html_page import POLICY, element
from .modules import program

REFRESH_SECONDS = 5  # between two pages, at least
DRAWING_SHARE = 0.1  # of the time is spent on pages, at most, for the run needs the cores
RECENT = 10  # steps that tell the speed
LOG_BYTES = 1 << 17  # of log/run.log, from its end, that are read
MESSAGES = 4  # warnings and errors that are shown

# How the lines of log/run.log begin, after their date, that tell the state of the run.
STATES = {
    "the run begins": "",
    "the run goes on": "",
    "the run is stopped": "stopped",
    "the run ends": "ended",
    "error: ": "failed",
}
Log = collections.namedtuple("Log", "state eta messages")


def read_log(run):
    """What the end of log/run.log says: the state, one of STATES, None where there is no log; the
    time that is left, None where it is not known; the last warnings and errors."""
    path = os.path.join(run.folder, "log", "run.log")
    if not os.path.exists(path):
        return Log(None, None, [])
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - LOG_BYTES))
        lines = file.read().decode(errors="replace").splitlines()
    state, eta, messages = "", None, collections.deque(maxlen=MESSAGES)
    for line in lines:
        dated = re.match(r"\d\S*Z (.*)", line)
        step = re.match(r"step .* ETA (.+)", line)
        if step:
            eta = None if step[1] == "-" else step[1]
        elif dated:
            state = next((STATES[s] for s in STATES if dated[1].startswith(s)), state)
            if dated[1].startswith(("error: ", "warning: ")):
                messages.append(line)
    return Log(state, eta, list(messages))


def progress(run, timings):
    """Share of the run's way, from 0 to 1: in ln a or, of isolated systems and gas, in time. None
    where the end is not known."""
    section = run.config().get("time", {})
    if "a" in timings:
        if "z_end" not in section:
            return None
        way, end = [math.log(a) for a in timings["a"][[0, -1]]], -math.log1p(float(section["z_end"]))
    else:
        if "end" not in section:
            return None
        column = "time" if "time" in timings else "time_myr"
        way, end = timings[column][[0, -1]], float(section["end"])
    return min(max((way[1] - way[0]) / (end - way[0]), 0.0), 1.0) if end > way[0] else None


def state_parts(run, timings, log):
    """A bar and a line about the state of the run, and whether the run has ended."""
    share = progress(run, timings)
    age = time.time() - os.path.getmtime(os.path.join(run.folder, "log", "timings.csv"))
    words = [
        f"step {int(timings['step'][-1])}",
        report.reached_text(timings, ".3f"),
        f"{report.speed_text(timings, RECENT)} in the last steps",
    ]
    state = log.state
    if state is None and share is not None and share > 1 - 1e-9:
        state = "ended"
    if state:
        words.append(state)
    else:
        words.append(f"last step {report.duration(age)} ago")
        if log.eta:
            words.append(f"about {log.eta} to go")
    bar = [] if share is None else [element("progress", value=f"{share:.4f}")]
    return [*bar, element("p", ", ".join(words))], state == "ended"


def progress_parts(run):
    """The parts of the page that say how far the run has come and what went wrong."""
    timings, log = run.timings(), read_log(run)
    if timings is None or not len(timings.get("step", ())):
        parts, ended = [element("p", "No step has ended yet.")], False
    else:
        parts, ended = state_parts(run, timings, log)
    return parts + [element("p", line, class_="message") for line in log.messages], ended


class LivePage:
    """The page of a folder. It is made anew when a browser asks and the last one is old enough."""

    def __init__(self, folder):
        self.folder, self.lock = folder, threading.Lock()
        self.text, self.next_time = "", 0.0
        self.figures, self.drawn_tables = {}, None

    def _draw(self):
        """Figures of outputs change with new tables or snapshots only; those of logs with every
        step."""
        run = Run(self.folder)
        figures = plots.figures_of(run, plots.evolution_of(run))
        starts = ("gas_",) if run.gas else ("snap",)
        if not run.gas and not run.isolated:
            starts = ("powerspec_", "massfunc_", "multipoles_", "correlation_", "bispectrum_", "halopower_")
        tables = sorted(name for name in os.listdir(self.folder) if name.startswith(starts))
        logs = [name for name in ("energy", "conservation", "timings") if name in figures]
        wanted = logs if tables == self.drawn_tables else None
        self.figures.update(plots.make_figures(self.folder, wanted=wanted))
        self.drawn_tables = tables
        return {name: self.figures[name] for name in figures if name in self.figures}

    def _make(self):
        run = Run(self.folder)
        parts, ended = progress_parts(run)
        parts += report.body(run, self._draw(), run.numbers[-1:])
        head = [element("link", rel="icon", href="data:,")]  # or browsers ask for one
        if not ended:
            head.append(element("meta", http_equiv="refresh", content=REFRESH_SECONDS))
        return report.page_of(run, parts, head)

    def get(self):
        """The page, no older than the time that drawing it is worth."""
        with self.lock:
            begin = time.monotonic()
            if begin >= self.next_time:
                self.text = self._make()
                end = time.monotonic()
                self.next_time = end + max(REFRESH_SECONDS - 1, (end - begin) / DRAWING_SHARE)
            return self.text


def handler_of(page):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path != "/":
                return self.send_error(404)
            try:
                code, text = 200, page.get()
            # Whatever is wrong, such as a file that is being replaced, may be right the next time.
            except Exception as error:
                code, text = 503, element("pre", f"{program()}: {error!r}") + "\n"
            data = text.encode(errors="replace")
            self.send_response(code)
            if code != 200:
                self.send_header("Refresh", str(REFRESH_SECONDS))
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Content-Security-Policy", POLICY)
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    return Handler


def serve(folder, port):
    """Serve the page of a folder at http://127.0.0.1:PORT until Ctrl-C. port -- 0: any free one.
    Raises OSError if the port is taken or the folder does not exist."""
    Run(folder)
    handler = handler_of(LivePage(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", port), handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/  (Ctrl-C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass
