# SPDX-License-Identifier: GPL-3.0-or-later
"""A page that follows a run while it goes on, for browsers of the same machine."""

import http.server
import math
import os
import threading
import time

from . import plots, report
from .files import Run
from .modules import Deferred

np = Deferred("numpy")

REFRESH_SECONDS = 5  # between two pages, at least
DRAWING_SHARE = 0.1  # of the time is spent on pages, at most, for the run needs the cores
RECENT = 10  # steps that tell the speed


def scale_factors(run, timings):
    """The first and the last scale factor of the run; the last is None where it is not known."""
    z_end = run.config().get("time", {}).get("z_end")
    return timings["a"][0], 1 / (1 + float(z_end)) if z_end else None


def progress(run, timings):
    """Share of the run in ln a, from 0 to 1, and the seconds to its end at the recent speed; None
    where they are not known, as of isolated systems and gas."""
    if "a" not in timings:
        return None, None
    first, last = scale_factors(run, timings)
    now = timings["a"][-1]
    if last is None or last <= first:
        return None, None
    share = min(math.log(now / first) / math.log(last / first), 1.0)
    dlna, wall = timings["dlna"][-RECENT:].sum(), timings["wall_s"][-RECENT:].sum()
    rest = max(math.log(last / now), 0.0)
    return share, wall / dlna * rest if dlna > 0 else None


def progress_parts(run):
    """The part of the page that says how far the run has come."""
    timings = run.timings()
    if timings is None or not len(timings.get("step", ())):
        return ["<p>No step has ended yet.</p>"], False
    share, rest = progress(run, timings)
    age = time.time() - os.path.getmtime(os.path.join(run.folder, "log", "timings.csv"))
    words = [
        f"step {int(timings['step'][-1])}",
        report.reached_text(timings, ".3f"),
        f"{report.speed_text(timings, RECENT)} in the last steps",
    ]
    ended = share is not None and share > 1 - 1e-9
    if ended:
        words.append("ended")
    else:
        words.append(f"last step {report.duration(age)} ago")
        if rest is not None:
            words.append(f"about {report.duration(rest)} to go")
    bar = "" if share is None else f"<progress value={share:.4f}></progress>"
    return [f"{bar}<p>{', '.join(words)}</p>"], ended


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
            starts = ("powerspec_", "massfunc_")
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
        head = "" if ended else f"<meta http-equiv=refresh content={REFRESH_SECONDS}>"
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
            except (OSError, ValueError) as error:  # such as a file that is being replaced
                code, text = 503, f"report.py: {error}\n"
            data = text.encode()
            self.send_response(code)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
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
