#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The forces of the first step with a finer mesh meet trees that are sorted after the drift: they compute as
# many pairs as a run that has had this mesh from the start, and that sorts in each step, too.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
cat >config.ini <<END
[box]
size = 16
npart_side = 32
[cosmology]
sigma8 = 1.6
[ic]
z_init = 9
[time]
z_end = 0.6
step = fixed
steps = 12
[output]
snapshots = no
power_spectrum = no
images = no
[analysis]
fof = no
[runtime]
gpu = no
sort_interval = 1
rebuild_interval = 100
END
"$PHOTONS" --quiet config.ini --set output.dir=change --set gravity.pm_grid=40 --set gravity.pm_grid_most=48 >err 2>&1 || complain "a finer mesh"
"$PHOTONS" --quiet config.ini --set output.dir=always --set gravity.pm_grid=48 >err 2>&1 || complain "the mesh from the start"
# last NAME ROW FOLDER: a column of log/timings.csv in the last step (ROW 0) or the one before (1)
last() {
  awk -F, -v name="$1" -v row="$2" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == name) column = i}
    {before = now; now = $column} END {print row ? before : now}' "$3/log/timings.csv"
}
began=$(sed -n 's/.*the mesh has 48^3 cells from z = \([0-9.]*\) on.*/\1/p' change/log/run.log)
awk -v a="$began" -v b="$(last z 1 change)" 'BEGIN {exit !(a > 0.999 * b && a < 1.001 * b)}' ||
  complain "the last step is not the first one with the finer mesh, which is from z = $began on"
# Orbits of the two runs differ a little, and pairs with them by 0.6 %. Trees that are a step old make 16 % more.
awk -v a="$(last p2p_pairs 0 change)" -v b="$(last p2p_pairs 0 always)" \
  'BEGIN {printf "%d and %d pairs\n", a, b; exit !(a > 0.95 * b && a < 1.05 * b)}' ||
  complain "pairs with old trees"
finish
