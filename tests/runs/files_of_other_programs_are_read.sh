#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# HDF5 files as other programs write them: values that were never written, virtual datasets and
# links to files beside, negative ids, headers with gaps, snapshots of SWIFT. Each is read right,
# with a warning where something may be amiss, and no file elsewhere is opened.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
mkdir ics && helper make ics || exit 99
cat >gadget.ini <<END
[ic]
source = gadget
[time]
z_end = 8.99
step = fixed
steps = 1
[analysis]
fof = no
[output]
redshifts = 9
images = no
power_spectrum = no
END
STARPU_NCPU=1
export STARPU_NCPU

# reads FILE WHAT [WARNING]: a run begins with the file, which has what the helper expects, and says
# nothing but the warning.
reads() {
  rm -rf run
  timeout -k 5 "$(seconds 60)" "$PHOTONS" --quiet --set output.dir=run --set ic.file="ics/$1" gadget.ini >err 2>&1
  found=$?
  [ $found -eq 0 ] || { complain "$1: exit code $found"; return; }
  if [ $# -eq 3 ]; then
    grep -qF -- "$3" err || complain "$1: does not warn: $3"
  else
    [ ! -s err ] || complain "$1: says something"
  fi
  helper check run "$2" >err 2>&1 || complain "$1: not what is in it"
}
# refuses FILE MESSAGE
refuses() {
  rm -rf run
  timeout -k 5 "$(seconds 60)" "$PHOTONS" --quiet --set output.dir=run --set ic.file="ics/$1" gadget.ini >err 2>&1
  found=$?
  [ $found -eq 3 ] && grep -qF -- "$2" err || complain "$1: exit code $found, or not: $2"
}

# Values that were never written.
reads unwritten.hdf5 still '100 % of the values of Velocities were never written: they are taken as its fill value, 0'
reads one_chunk.hdf5 one_chunk '87.5 % of the values of Velocities were never written: they are taken as its fill value, 2'
refuses huge.hdf5 'more than the memory'
refuses still.hdf5 'there is no block Velocities'

# Negative ids keep their bits.
reads ids_i4.hdf5 ids32
reads ids_i8.hdf5 ids64
reads ids_i2.hdf5 ids16
refuses twice.hdf5 'id 4294967295 stands for more than one particle'

# Virtual datasets and external links: files beside only.
reads virtual.hdf5 still 'is virtual: its values are read from files beside it (good.hdf5)'
reads link.hdf5 still
reads link_below.hdf5 still
for file in absolute above link_away link_above virtual_link; do
  refuses $file.hdf5 'only files beside the one that names them are opened'
done
refuses circle.hdf5 'too many external links lead to links'
refuses gone.hdf5 'the file missing.hdf5: No such file'
refuses of_working_folder.hdf5 'the file elsewhere.hdf5: No such file'
refuses nested.hdf5 'has its values in other files'
refuses raw.hdf5 'has its values in other files'
refuses lzf.hdf5 'is stored through lzf (filter 32000)'

# Headers.
reads no_total.hdf5 still
reads no_total.gadget2 still
reads three_sides.hdf5 still
refuses other_sides.hdf5 'must be a cube'
reads set.0.hdf5 still

# SWIFT: one file, the files of two ranks, and the file that shows them.
reads swift.hdf5 swift
refuses for_swift.hdf5 'need cosmology.h and cosmology.Omega_m in config.ini'
sed -i '1i [cosmology]\nOmega_m = 0.3\nh = 0.7' gadget.ini
reads for_swift.hdf5 swift
sed -i 1,3d gadget.ini
reads ranks.0.hdf5 swift
reads ranks.hdf5 swift 'is virtual'
reads music_swift.hdf5 swift
refuses swift_sides.hdf5 'must be a cube'
refuses swift_gas.hdf5 'gas particles'

# analyses FILE FOLDER WARNING
analyses() {
  timeout -k 5 "$(seconds 60)" "$PHOTONS" --quiet --analyse "ics/$1" --set output.dir="$2" --set output.images=no \
    >err 2>&1 || complain "--analyse $1"
  [ -z "$3" ] && [ ! -s err ] || grep -qF -- "$3" err || complain "--analyse $1: not: $3"
}
rows() { grep -v '^#' "$1/powerspec_000.txt"; }
analyses good.hdf5 good ''
analyses still.hdf5 still 'has no velocities of particles of type 1: they are 0'
analyses swift.hdf5 swift ''
analyses swift_gas.hdf5 gas 'each particle of dark matter has 1.19 times its mass'
for folder in still swift gas; do
  rows $folder >rows
  # Units of SWIFT are those of Gadget to float's rounding; noise of the lattice is left out.
  rows good | paste -d ' ' - rows |
    awk '$2 > 1e-2 && ($1 - $7)^2 > 1e-10 * $1^2 || $2 > 1e-2 && ($2 - $8)^2 > 1e-6 * $2^2 { bad = 1 }
         END { exit bad || NR < 5 }' ||
    complain "$folder: another power spectrum"
done
grep -q '^# a = 0.1, z = 9, box = 50 Mpc/h' swift/powerspec_000.txt || complain 'swift: the box'

finish
