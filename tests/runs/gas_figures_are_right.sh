#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What figures and page of a run of gas show agrees with exact solutions; tools/plot.py draws a
# file, and bad input ends it with one line.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py matplotlib numpy

helper || complain "figures of gas"

plot() { "$PYTHON" "$PHOTONS_SOURCE/tools/plot.py" "$@" >out 2>err; }
plot --csv --out single gas_007.hdf5 || complain "a file: exit code $?"
for name in profile slices; do
  for ending in png pdf; do
    [ "$(wc -c <"single/gas_007_$name.$ending")" -gt 5000 ] || complain "no figure $name.$ending"
  done
done
[ "$(head -c 39 single/gas_007_errors.csv)" = time,L1_density,L1_velocity,L1_pressure ] ||
  complain "columns of errors.csv"

refused() {
  text=$1
  shift
  plot "$@"
  found=$?
  [ $found -eq 1 ] || complain "$*: exit code $found, not 1"
  [ "$(wc -l <err)" -eq 1 ] && grep -qF -- "$text" err || complain "$*: not one line with: $text"
}
"$PYTHON" -c 'import h5py; h5py.File("gas_008.hdf5", "w").close()'
refused 'gas_008.hdf5: not a file of gas' gas_008.hdf5
mkdir none
printf '[run]\nsystem = gas\n' >none/config-used.ini
refused 'no gas_*.hdf5, log/statistics.csv or log/timings.csv' none

finish
