#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# How fine the mesh of a run on cores may become follows from the memory of the machine: a small run may change to
# twice the cells a side, none plans with more than a quarter of the memory for that, and a run that needs
# more anyway keeps its mesh.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
cat >config.ini <<END
[box]
size = 12
[runtime]
gpu = no
END
# dry SIDE OPTION...: the finest mesh and the megabytes in all, or nothing
dry() {
  "$PHOTONS" --dry-run config.ini --set box.npart_side="$@" >out 2>err || return 1
  found=$(sed -n 's/^  mesh .*; later at most \([0-9]*\)^3, then \([0-9.]*\) MB .*/\1 \2/p' out)
  cells=${found% *} megabytes=${found#* }
}
quarter=$(awk '/^MemTotal/ {print $2 / 1024 * 1.048576 / 4}' /proc/meminfo)
dry 32 && [ "$cells" = 64 ] || complain "32^3 particles may have at most '$cells' cells a side, not 64"
dry 32 --set gravity.pm_grid=32 && [ -z "$cells" ] || complain "a given mesh may become $cells^3"
dry 32 --set gravity.pm_grid_most=40 && [ "$cells" = 40 ] || complain "a given finest mesh is '$cells'"
dry 32 --set gravity.pm_grid_most=8 && [ -z "$cells" ] || complain "the mesh that is to stay may become $cells^3"
side=32 before=
while dry $side; do
  [ -z "$cells" ] || awk -v m="$megabytes" -v q="$quarter" 'BEGIN {exit !(m <= q)}' ||
    complain "$side^3 particles plan with $megabytes MB for a mesh of $cells^3, of $quarter MB"
  before=$cells
  side=$((side * 5 / 4 / 2 * 2))
done
[ $side -gt 32 ] && [ -z "$before" ] || complain "the largest run that fits, below $side^3, may have a finer mesh"
finish
