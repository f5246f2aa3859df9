#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Gas from arrays in a file, at the root level or a finer one: a problem written as arrays goes
# on bit by bit as the problem itself, coarser cells are means of the arrays' cells, finer ones are
# interpolated between them. Bad arrays, and such as the precision has no room for, are refused in one line.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy

helper make || exit 99
cat >config.ini <<END
[run]
system = gas
[ic]
source = array
[gas]
precision = double
scalars = 1
root = 32, 16, 16
levels = 1
flag_gradient_pressure = 0.5
buffer = 1
[time]
end = 0.01
[output]
images = no
END

# The refined cells of the problem are those of level 1.
run named config.ini --set ic.source=blast
run arrays config.ini --set ic.file=blast_1.hdf5
helper same named/gas_000.hdf5 arrays/gas_000.hdf5 2>err || complain "other gas than by name"
run other config.ini --set ic.file=blast_2.hdf5
helper same named/gas_000.hdf5 other/gas_000.hdf5 2>err &&
  complain "finer arrays make no difference"

for level in 0 1 2; do
  run waves_$level config.ini --steps 0 --set ic.file=waves_$level.hdf5 \
    --set output.times=0 --set gas.flag_density=1.8 --set gas.flag_gradient_pressure=
done
helper waves 2>err || complain "other cells than those of the arrays"

# refused MESSAGE FILE [OPTION...]
refused() {
  message=$1 file=$2
  shift 2
  for way in --steps=1 --dry-run; do
    timeout "$(seconds 60)" "$PHOTONS" --quiet $way --set output.dir=refused --set ic.file="$file" "$@" \
      config.ini >out 2>err
    found=$?
    [ $found -eq 3 ] || complain "$file $way: exit code $found, not 3"
    [ "$(wc -l <err)" -eq 1 ] && grep -qF -- "$file: $message" err ||
      complain "$file $way: not one line with: $message"
  done
}
refused 'density is -0.5 in cell (x, y, z) = (30, 2, 3) of 32 x 16 x 16; allowed: more than 0' \
  density_-0.5.hdf5
refused 'pressure is 0 in cell (x, y, z) = (31, 15, 15)' pressure_0.hdf5
refused 'velocity_y is inf in cell (x, y, z) = (0, 1, 0)' velocity_y_inf.hdf5
refused 'pressure is nan in cell (x, y, z) = (9, 0, 4)' pressure_nan.hdf5
refused 'density has 32 x 16 x 16 cells (z, y, x); needed: 16 x 16 x 32' transposed.hdf5
refused 'pressure has 32 x 32 x 64 cells (z, y, x); needed' mixed.hdf5
refused 'density has 2 dimensions' flat.hdf5
refused 'velocity_z does not consist of numbers' text.hdf5
refused 'there is no dataset velocity_y' missing.hdf5
refused 'there is no dataset scalar_1' waves_0.hdf5 --set gas.scalars=2
refused 'scalar_0 is 1.5 in cell (x, y, z) = (2, 1, 0) of 32 x 16 x 16; allowed: 0 to 1' scalar_0_1.5.hdf5

# What single precision cannot compute with, and the remedy. Double precision takes units of cgs.
single='--set gas.precision=single' double='in single precision; take gas.precision = double'
refused 'density 1, velocity (1, 0, 0) and pressure 1e-09 in cell (x, y, z) = (0, 0, 0) of 32 x 16 x 16:'\
" the pressure is lost beside the kinetic energy $double" lost.hdf5 $single
for file in light heavy denormal cgs; do refused 'density ' $file.hdf5 $single; done
grep -qF "$double" err || complain "no remedy: $(cat err)"
refused 'density 1e-160, velocity (0, 0, 0) and pressure 1 in cell' wide.hdf5
for file in lost light heavy cgs; do
  run $file config.ini --set ic.file=$file.hdf5 --set gas.length=3e24 --set time.end=1e17 --steps 1
done
finish
