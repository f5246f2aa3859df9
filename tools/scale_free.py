#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scale-free universes and how self-similar they are: the command of the module photons.scale_free, from a clone that is not installed."""

from photons.scale_free import main

if __name__ == "__main__":
    main()
