#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What figures and page show is what the files hold: growth, errors, shares, provenance.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py matplotlib numpy
helper || complain "figures"
finish
