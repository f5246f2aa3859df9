#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What a run on cores may use of the memory of the machine: a small run is fast and may change to a mesh of twice the
# cells a side, none plans with more than a quarter of the memory for that, and a run that needs more anyway is
# one with small memory and keeps its mesh.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
cat >config.ini <<END
[box]
size = 12
[runtime]
gpu = no
END
# dry SIDE OPTION...: $memory, and the finest mesh and the megabytes in all, or nothing
dry() {
  "$PHOTONS" --dry-run config.ini --set box.npart_side="$@" >out 2>err || return 1
  memory=$(sed -n 's/^memory = //p' out)
  found=$(sed -n 's/^  mesh .*; later at most \([0-9]*\)^3, then \([0-9.]*\) MB .*/\1 \2/p' out)
  cells=${found% *} megabytes=${found#* }
}
# finest MEMORY CELLS OPTION...: of 32^3 particles
finest() {
  expected="$1 $2"
  shift 2
  dry 32 "$@" && [ "$memory ${cells:-0}" = "$expected" ] || complain "'$memory ${cells:-0}', not '$expected': $*"
}
quarter=$(awk '/^MemTotal/ {print 1024 * $2 / 1e6 / 4}' /proc/meminfo)
finest fast 64
finest fast 0 --set gravity.pm_grid=32
finest fast 40 --set gravity.pm_grid_most=40
finest fast 0 --set gravity.pm_grid_most=8
# Direct sums end at 3.45 of 56 cells, 739 kpc/h, 2.8 times 264 kpc/h; Plummer's law is Newton's from 20 times on.
finest fast 56 --set gravity.softening=263
finest fast 0 --set gravity.softening=380
finest fast 48 --set gravity.softening=42 --set gravity.softening_kernel=plummer
finest small 0 --set runtime.memory=small
finest small 48 --set runtime.memory=small --set gravity.pm_grid_most=48
side=32 before=
while dry $side; do
  [ -z "$cells" ] || awk -v m="$megabytes" -v q="$quarter" 'BEGIN {exit !(m <= q)}' ||
    complain "$side^3 particles plan with $megabytes MB for a mesh of $cells^3, of $quarter MB"
  before="$memory $cells"
  side=$((side * 5 / 4 / 2 * 2))
done
[ $side -gt 32 ] && [ "$before" = 'small ' ] || complain "the largest run that fits, below $side^3, is '$before'"
finish
