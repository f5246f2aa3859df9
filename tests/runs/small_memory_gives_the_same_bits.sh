#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# runtime.memory = small takes less memory a particle than fast, below a bound that fast misses, and
# gives the same bits: with rebuilds, potential energies and an output, and with block time steps.
# (Runs on several ranks are compared with runs on one by same_bits_on_any_ranks.sh.)
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy

cat >config.ini <<END
[box]
size = 50
npart_side = 8
[ic]
z_init = 24
[time]
z_end = 22
step = fixed
steps = 2
[output]
names = short # the order of halos takes memory beside that of the run
accelerations = yes
energy_steps = 1
images = no
[runtime]
rebuild_interval = 1
END

# snapshot NAME OPTION...: the final snapshot as NAME.hdf5
snapshot() {
  run "$@" config.ini
  mv "$1/snap_000.hdf5" "$1.hdf5"
}
# same NAME OPTION...: both choices of memory
same() {
  kind=$1
  shift
  snapshot "$kind-fast" --set runtime.memory=fast --set gravity.pm_grid_most=8 "$@"
  snapshot "$kind-small" --set runtime.memory=small "$@"
  support same_snapshots.py "$kind-fast.hdf5" "$kind-small.hdf5" || failures=$((failures + 1))
  same_text "$kind-fast/powerspec_000.txt" "$kind-small/powerspec_000.txt" ||
    complain "power spectra of $kind"
  cmp "$kind-fast/log/statistics.csv" "$kind-small/log/statistics.csv" || complain "energies of $kind"
}
same fixed --set box.npart_side=64
same block --set box.npart_side=16 --set runtime.group_size=432 --set time.step=block \
  --set time.accuracy=fast --set time.max_dlna=0.1 --set time.eta=0.02
run few config.ini

# The peak over that of so few particles, which is the program's, in bytes a particle.
peak() { sed -n 's/^peak memory *\([0-9.]*\) MB.*/\1/p' "$1/log/run.log"; }
for memory in small fast; do
  awk -v memory=$memory -v few="$(peak few)" -v many="$(peak fixed-$memory)" 'BEGIN {
    bytes = 1e6 * (many - few) / 64 ^ 3
    printf "runtime.memory = %s: %.1f bytes a particle\n", memory, bytes
    exit !(memory == "small" ? bytes > 40 && bytes < 110 : bytes > 110)
  }' || complain "memory with runtime.memory = $memory"
done
finish
