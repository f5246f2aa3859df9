#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Many particles at one place, as positions of few digits and rows of zeros in a file give: runs in a
# box and of an isolated system, and --analyse, end with right halos and energies. Masses whose
# forces vanish are refused, and no file has numbers that are not finite.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy

helper make || exit 99
cat >box.ini <<END
[ic]
source = gadget
file = box.hdf5
[time]
z_end = 8
accuracy = fast
step = block
[output]
redshifts = 9, 8
image_pixels = 64
END
run box --steps 1 box.ini
run analysis --analyse box.hdf5 --set output.image_pixels=64
helper halos box analysis || complain 'the halos'

cat >isolated.ini <<END
[box]
boundary = isolated
[ic]
source = gadget
file = isolated.hdf5
[gravity]
softening = 0.1
softening_kernel = plummer
[time]
end = 0.1
[output]
energy_steps = 1
END
run isolated isolated.ini
helper energies isolated || complain 'the energies'

timeout "$(seconds 60)" "$PHOTONS" -q --set output.dir=light --set ic.file=light.hdf5 isolated.ini >out 2>err
code=$?
[ $code -eq 3 ] && grep -q 'all accelerations vanish in single precision' err ||
  complain "masses of 1e-300: exit code $code"
# A particle that is left alone has no potential energy.
run alone isolated.ini --set ic.file=leaving.hdf5 --set box.escape_radius=3 --set time.end=50
[ "$(wc -l <alone/log/escapers.csv)" -eq 3 ] && tail -n 1 alone/log/energy.csv | grep -q '^5,50,.*,-0,.*,,' ||
  complain "alone: $(tail -n 1 alone/log/energy.csv)"
for file in box/log/*.csv box/*.txt isolated/log/*.csv light/log/*.csv alone/log/*.csv; do
  ! tr ' ,;' '\n\n\n' <"$file" | grep -qiE '^[-+]?(nan|inf)$' || complain "$file has: $(cat "$file")"
done

finish
