# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of one config.ini that differ in a few parameters, of which those that have ended are not repeated."""

import hashlib
import json
import os

from .files import Run
from .launch import RunFailed, start
from .modules import Deferred

np = Deferred("numpy")

FINISHED = "finished.json"  # in the folder of a run that has ended: what it was made of


def settings_of(texts):
    """{"section.key": value} of SECTION.KEY=VALUE. Raises ValueError."""
    for text in texts:
        if "=" not in text or "." not in text.split("=")[0]:
            raise ValueError(f"--set {text}: expected SECTION.KEY=VALUE")
    return dict(text.split("=", 1) for text in texts)


def add_options(parser):
    """The options that commands for several runs have in common."""
    parser.add_argument("config", metavar="CONFIG", help="config.ini of the runs")
    parser.add_argument(
        "--set", action="append", default=[], metavar="SECTION.KEY=VALUE",
        help="a parameter over that of CONFIG; may be given again",
    )  # fmt: skip
    parser.add_argument("--program", help="path of photons-starpu")
    parser.add_argument("--ranks", type=int, default=1, metavar="N", help="MPI ranks of a run")


def recipe(config, settings):
    """What tells apart runs that must not be mixed: the text of config.ini and the settings."""
    with open(config, "rb") as file:
        text = hashlib.sha256(file.read()).hexdigest()
    return {"config_sha256": text, "settings": settings}


def is_finished(folder, made_of):
    """Whether the run in the folder has ended. Raises ValueError if it was another run."""
    path = os.path.join(folder, FINISHED)
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as file:
        if json.load(file) != made_of:
            raise ValueError(
                f"{folder} has a run with another config.ini or other settings: name another output.dir,"
                " or remove the folder"
            )
    return True


def _run(config, settings, options, environment):
    """Run the program from the beginning to its end. Raises RunFailed."""
    running = start(
        config, settings, options.program, options.ranks, ("--overwrite",), environment,
        folder=settings["output.dir"],
    )  # fmt: skip
    try:
        running.wait()
    except RunFailed:
        raise
    except BaseException:
        running.stop()
        raise


def finish(config, settings, folder, options, environment=None):
    """Run the program in this folder, unless that run has ended before; returns the Run. A run that was broken
    off begins anew.

    options -- with the attributes of add_options()"""
    made_of = recipe(config, settings)
    if not is_finished(folder, made_of):
        _run(config, {**settings, "output.dir": folder}, options, environment)
        path = os.path.join(folder, FINISHED)
        with open(path + ".tmp", "w", encoding="utf-8") as file:
            json.dump(made_of, file, indent=1)
        os.replace(path + ".tmp", path)
    return Run(folder)


# Tables of text.


def text_table(run, stem, number):
    """The comments of a text file but those of its provenance, and its rows; None where there is no such
    file."""
    path = run.path(stem, number, "txt")
    if path is None:
        return None
    with open(path, encoding="utf-8") as file:
        lines = file.readlines()
    comments = [line for line in lines if line[0] == "#" and not line.startswith("# provenance")]
    rows = [line.split() for line in lines if line[0] != "#"]
    return comments, np.array(rows, dtype=float).reshape(len(rows), len(rows[0]) if rows else 0)


def write_table(path, comments, rows):
    """Write lines of comments and rows of numbers; the file appears whole."""
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        file.writelines(comments)
        for row in rows:
            file.write(" ".join(f"{value:.7e}" for value in row) + "\n")
    os.replace(path + ".tmp", path)
