#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Under a Python without third-party modules every tool prints its help, and a tool that needs a
# module ends with one line that names the module and its package.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python sys

# bare TOOL ARGUMENT...: the tool under a Python that has nothing but its standard library.
bare() {
  tool=$1
  shift
  "$PYTHON" -S -E -B "$PHOTONS_SOURCE/tools/$tool" "$@" >out 2>err
}

for path in "$PHOTONS_SOURCE"/tools/*.py; do
  tool=$(basename "$path")
  bare "$tool" --help || complain "$tool --help: exit code $?"
  [ "$(grep -c '^usage: ' out)" -eq 1 ] && grep -q "^usage: $tool" out ||
    complain "$tool --help: no usage, or several"
  [ ! -s err ] || complain "$tool --help: something on standard error"
done

# names TEXT... in the only line of standard error, and the exit code of bad usage.
names() {
  found=$?
  [ $found -eq 2 ] || complain "$tool: exit code $found, not 2"
  [ "$(wc -l <err)" -eq 1 ] || complain "$tool: not one line"
  for text; do
    grep -qF -- "$text" err || complain "$tool: does not say '$text'"
  done
}
mkdir run run/trace
bare plot.py run
names 'plot.py: error: ' 'matplotlib (Debian package python3-matplotlib)' \
  'numpy (Debian package python3-numpy)'
bare report.py run
names 'report.py: error: ' 'h5py (Debian package python3-h5py)'
bare timeline.py run/trace run/timeline.png
names 'timeline.py: error: ' 'matplotlib (Debian package python3-matplotlib)'
printf '[cosmology]\nOmega_r = 9.2e-5\n' >linear.ini
bare linear_theory.py linear.ini --power pk.txt
names 'linear_theory.py: error: ' 'classy (pip install classy)'
[ "$(find run | sort | tr '\n' ' ')" = 'run run/trace ' ] || complain "left $(find run)"

finish
