#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Zel'dovich's pancake: the solver follows the exact solution of a plane wave, and its steps are of
# second order.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy

cat >config.ini <<END
[ic]
source = gadget
[gravity]
softening = 300
[time]
z_end = 1
step = fixed
[output]
power_spectrum = no
images = no
[analysis]
fof = no
END

# bar FILE LARGEST: no error in the second column above it; and, by symmetry, no motion across the
# wave but rounding.
bar() {
  cat "$1"
  awk -v largest="$2" '!($2 <= largest && $3 <= 1e-5) {bad = 1} END {exit bad || NR == 0}' "$1" || {
    echo "FAILED: above $2"
    failures=$((failures + 1))
  }
}

# 64 particles a wave and a softening of 0.3 of their spacing, which rounds off planes that come
# close: 1e-3 of the displacement up to a = 0.9, where the densest planes are a tenth of their
# first distance apart and planes of particles no longer pull like sheets.
helper make wave.hdf5 64 0
timeout "$(seconds 300)" "$PHOTONS" --quiet --set ic.file=wave.hdf5 --set output.dir=fine \
  --set time.steps=64 --set time.z_end=0.1111111111 \
  --set 'output.redshifts=1, 0.6666666667, 0.4285714286, 0.25, 0.1111111111' config.ini || exit 1
helper error fine >fine.txt
bar fine.txt 1e-3

# The same along each axis. With half as many particles the grid's pull differs from a sheet's by
# 0.03 (k spacing)^2 = 1e-3 of the force, that is, by as much of the displacement after five-fold
# growth.
for axis in 0 1 2; do
  helper make wave$axis.hdf5 32 $axis
  timeout "$(seconds 300)" "$PHOTONS" --quiet --set ic.file=wave$axis.hdf5 --set output.dir=axis$axis \
    --set time.steps=32 config.ini || exit 1
  helper error axis$axis >axis$axis.txt
  bar axis$axis.txt 2e-3
done
[ "$(cut -d' ' -f1,2 axis?.txt | sort -u | wc -l)" -eq 1 ] || {
  echo "FAILED: the axes differ"
  failures=$((failures + 1))
}

# Half the step, a quarter of the error, within the next order's share (1/8 of it at eight steps,
# less afterwards). No tree, whose opening would differ from run to run.
for steps in 8 16 32 256; do
  timeout "$(seconds 300)" "$PHOTONS" --quiet --set ic.file=wave2.hdf5 --set output.dir=steps$steps \
    --set time.steps=$steps --set gravity.theta=0.01 config.ini || exit 1
done
ratios=$(helper order steps8/snapshot_000.hdf5 steps16/snapshot_000.hdf5 steps32/snapshot_000.hdf5 \
  steps256/snapshot_000.hdf5)
echo "errors fall by $ratios as steps are halved"
for ratio in $ratios; do
  awk -v ratio="$ratio" 'BEGIN {exit !(ratio >= 3.8 && ratio <= 4.2)}' || {
    echo 'FAILED: not of second order'
    failures=$((failures + 1))
  }
done

finish
