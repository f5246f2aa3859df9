# SPDX-License-Identifier: GPL-3.0-or-later
"""Third-party modules: imported when first used, and named in one line where one is missing."""

import argparse
import importlib
import os
import sys

NOT_IN_DEBIAN = {"classy": "pip install classy"}


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


def program():
    """The name by which this program was called: an installed command calls a file of tools/."""
    return os.environ.get("PHOTONS_COMMAND") or os.path.basename(sys.argv[0])


def fail(message):
    """End the program with one line."""
    sys.exit(f"{program()}: error: {message}")


def parser_of(text):
    """An ArgumentParser with the usage and description of a module's text. The paragraph that begins
    with "usage: " is the usage; the name of the program, its first word, becomes program()."""
    paragraphs = text.strip().split("\n\n")
    usage = next(part for part in paragraphs if part.startswith("usage: "))
    name = usage.split()[1]
    return argparse.ArgumentParser(
        prog=program(),
        usage=usage.removeprefix("usage: ").replace(name, "%(prog)s"),
        description="\n\n".join(part for part in paragraphs if part != usage),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def need(*names):
    """End the program with one line if a module is missing."""
    absent = missing(names)
    if absent:
        print(f"{program()}: error: {sys.executable} cannot import {absent}", file=sys.stderr)
        sys.exit(2)
