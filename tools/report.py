#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A page about a run: the command of the module photons.report, from a clone that is not
installed."""

from photons.report import main

if __name__ == "__main__":
    main()
