#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A step on other machines, from its recorded task graph: the command of the module photons.replay, from a clone that is not
installed."""

from photons.replay import main

if __name__ == "__main__":
    main()
