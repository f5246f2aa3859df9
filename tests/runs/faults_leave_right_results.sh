#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Whatever goes wrong, a run makes the right bits, or ends with one line and leaves what a second
# run needs for the right bits. A few faults of each kind; `make faults` tries more.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy

# Under a sanitizer, memory belongs to the sanitizer.
inject=$(dirname "$PHOTONS")/tests/faults/inject.so
if grep -q __asan_init "$PHOTONS"; then inject=; fi
TMPDIR=$work "$PYTHON" "$PHOTONS_SOURCE/tests/faults/faults.py" "$PHOTONS" $inject \
  --trials 40 --seconds 30 2>err || complain 'there are findings'
finish
