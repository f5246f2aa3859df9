#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Stages and whole steps of gas on emulated GPUs are those on cores.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
"$unit_tests/cuda_check_on_cores" gas
