#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures of a run: the command of the module photons.plots, from a clone that is not installed."""

from photons.plots import main

if __name__ == "__main__":
    main()
