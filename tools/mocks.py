#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many mocks and their covariance: the command of the module photons.mocks, from a clone that is not installed."""

from photons.mocks import main

if __name__ == "__main__":
    main()
