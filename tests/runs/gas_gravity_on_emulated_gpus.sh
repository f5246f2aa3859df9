#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Self-gravity of gas, and gas in an expanding universe, on emulated GPUs are those on cores.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
"$gpu_tests/cuda_check_on_cores" gas-gravity || complain "gas-gravity"
"$gpu_tests/cuda_check_on_cores" gas-cosmology || complain "gas-cosmology"
finish
