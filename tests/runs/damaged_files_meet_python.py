# SPDX-License-Identifier: GPL-3.0-or-later
"""Damage the files of runs at random, and read them: a reader accepts a file or raises OSError or
ValueError with one line that names it, and a tool ends with one line.

usage: damaged_files_meet_python.py FILES TOOLS FOLDER...    (FILES, TOOLS: numbers of trials)
"""

import contextlib
import glob
import io
import os
import random
import shutil
import sys
import warnings

import matplotlib

matplotlib.use("Agg")
import numpy as np
import photons
import photons.galaxy
import photons.gas
import photons.plots
import photons.report
import photons.serve
import photons.timeline

sys.path.insert(0, os.path.join(os.environ["PHOTONS_SOURCE"], "tools"))
import swift_view  # noqa: E402

ODD = [b"nan", b"-1", b"inf", b"1e999", b"0", b"", b"x", b",", b";", b"#", b"=", b"[", b"\xff\xfe", b"9" * 40]


def damage(data, chance):
    """The bytes with one to three random changes."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 3)):
        place, length = chance.randrange(len(data) + 1), chance.choice([1, 1, 8, 100])
        kind = chance.randrange(6)
        if kind == 0:
            del data[place:]
        elif kind == 1:
            del data[place : place + length]
        elif kind == 2:
            data[place : place + length] = chance.choice(ODD)
        elif kind == 3:
            data[place:place] = data[place : place + length]
        elif data:
            place = min(place, len(data) - 1)
            data[place] = chance.randrange(256) if kind == 4 else data[place] ^ 1 << chance.randrange(8)
    return bytes(data)


def read(path):
    """Read a file as users do, its values included."""
    name = os.path.basename(path)
    if name.startswith("tasks_") or name == "stages.csv":
        return photons.timeline.read_rows(os.path.dirname(path))
    if name == "run.log":
        return photons.serve.read_log(photons.Run(os.path.dirname(os.path.dirname(path))))
    table = photons.load(path)
    if name.startswith("gas_"):
        return [table.field(field) for field in ("density", "pressure", "level")]
    if not hasattr(table, "file"):
        return table
    with table.file:
        values = {column: table[column][()] for column in table}
        table.config()
        if photons.files.is_isolated(table.header):
            photons.galaxy.read_system(path)
    return values


def check_reader(path):
    try:
        read(path)
    except (OSError, ValueError) as error:
        if not str(error).strip() or "\n" in str(error).strip():
            return f"the message is {str(error)!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def check_tool(main, arguments):
    """A tool ends well or by sys.exit() with one line."""
    sys.argv = ["tool", *arguments]
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            main()
        except SystemExit as end:
            if end.code not in (0, None) and (not isinstance(end.code, str) or "\n" in end.code):
                return f"ends with {end.code!r}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return None


class Crash(Exception):
    """The HDF5 library ended the process."""


def apart(check, *arguments):
    """The result of a check in a process of its own: HDF5 itself crashes on some damaged files."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(writing, "w") as pipe:
            pipe.write(check(*arguments) or "")
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        finding = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        raise Crash
    return finding


def main():
    files, tools, folders = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    warnings.simplefilter("ignore")  # of numpy, over odd numbers
    np.seterr(all="ignore")
    paths = [
        path
        for folder in folders
        for pattern in ("*.hdf5", "*.txt", "log/*.csv", "log/run.log", "config-used.ini", "trace/*.csv")
        for path in sorted(glob.glob(os.path.join(folder, pattern)))
    ]
    assert len(paths) > 12, paths
    originals = {path: open(path, "rb").read() for path in paths}
    for path in paths:
        assert check_reader(path) is None, f"{path} itself: {check_reader(path)}"
    failures = crashes = 0
    for trial in range(files + tools):
        chance = random.Random(trial)
        path = chance.choice(paths)
        folder = next(folder for folder in folders if path.startswith(folder + "/"))
        with open(path, "wb") as file:
            file.write(damage(originals[path], chance))
        if trial < files:
            checks = check_reader, path
        else:
            main, *arguments = chance.choice(
                [(photons.plots.main, folder), (photons.report.main, folder), (swift_view.main, path, "view"),
                 (photons.timeline.main, os.path.join(folder, "trace"))]
            )
            checks = check_tool, main, arguments
        try:
            finding = apart(*checks)
        except Crash:
            finding = None
            crashes += 1
        if finding:
            failures += 1
            shutil.copy(path, f"finding_{trial}")
            print(f"FAILED: trial {trial}, {path}: {finding}")
        with open(path, "wb") as file:
            file.write(originals[path])
    print(f"{crashes} crashes of HDF5 in {files + tools} trials")
    sys.exit(1 if failures or crashes > 0.01 * (files + tools) else 0)


main()
