#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Picture and numbers of a trace: the command of the module photons.timeline, from a clone that is
not installed."""

from photons.timeline import main

if __name__ == "__main__":
    main()
