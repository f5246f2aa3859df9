#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Print, in one line, the third-party modules that this Python cannot import, with their packages.

usage: needed_modules.py [MODULE...]    (default: all that the tools and the tests need)
"""

import argparse
import sys

from photons.modules import missing

# setuptools comes first: it does not load after a module that has loaded distutils, as pip does.
ALL = ["setuptools", "astropy", "h5py", "healpy", "matplotlib", "numpy", "pip", "scipy", "wheel",
       "xxhash", "yt"]  # fmt: skip
OLDEST_PYTHON = (3, 9)


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
