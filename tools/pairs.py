#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pair of runs with opposite phases: the command of the module photons.pairs, from a clone that is not installed."""

from photons.pairs import main

if __name__ == "__main__":
    main()
