#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Print, in one line, the third-party modules that this Python cannot import, with their packages.

usage: needed_modules.py [MODULE...]    (default: all that the tools and the tests need)
"""

import argparse
import importlib
import os
import sys

ALL = ["h5py", "matplotlib", "numpy", "xxhash", "yt"]
NOT_IN_DEBIAN = {"camb": "pip install camb"}
OLDEST_PYTHON = (3, 9)


class Deferred:
    """A module that is imported when it is first used, so that --help works without the module."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        return getattr(importlib.import_module(self._name), attribute)


def can_import(name):
    try:
        importlib.import_module(name)
    except Exception:  # a module of another Python's or another numpy's build raises what it likes
        return False
    return True


def missing(names):
    """The modules that cannot be imported, with their packages; empty where there are none."""
    return ", ".join(
        f"{name} ({NOT_IN_DEBIAN.get(name, f'Debian package python3-{name}')})"
        for name in names
        if not can_import(name)
    )


def need(*names):
    """End the program with one line if a module is missing."""
    absent = missing(names)
    if absent:
        program = os.path.basename(sys.argv[0])
        print(f"{program}: error: {sys.executable} cannot import {absent}", file=sys.stderr)
        sys.exit(2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE")
    absent = missing(parser.parse_args().modules or ALL)
    if sys.version_info < OLDEST_PYTHON:
        sys.exit(f"{sys.executable}: older than Python {'.'.join(map(str, OLDEST_PYTHON))}")
    if absent:
        print(absent)


if __name__ == "__main__":
    main()
