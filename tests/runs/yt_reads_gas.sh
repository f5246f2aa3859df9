#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# yt opens files of gas as it opens GAMER's: levels, fields, particles and a projection are those of
# the mesh that was written, in both precisions. Files of several processes are those of one.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
. "$PHOTONS_SOURCE/tests/support/gas.sh"
need_python h5py numpy yt
need_mpi

for real in 4 8; do
  "$unit_tests/gas/test_gas_file" "gas_$real.hdf5" $real 2>err || complain "writing: exit code $?"
done
# Gas and particles in an expanding universe have physical units.
plane_wave wave.ini
run pancake wave.ini --steps 0 --set ic.z_init=20 --set ic.z_caustic=1 --set ic.temperature=100 \
  --set gas.precision=double --set box.npart_side=32 --set cosmology.Omega_b=0.25 \
  --set output.redshifts=20
support gas_readers.py gas_4.hdf5 gas_8.hdf5 pancake/gas_000.hdf5 >err 2>&1 || complain "what yt reads"

# A reader that takes the patches of a group in the order of memory does not find the gas.
"$PYTHON" - <<'END'
import h5py
order = [0, 1, 2, 4, 3, 6, 5, 7]
with h5py.File("gas_8.hdf5") as file, h5py.File("wrong.hdf5", "w") as wrong:
    for name in file:
        file.copy(name, wrong)
    for name in wrong["GridData"]:
        patches = file["GridData"][name][()]
        wrong["GridData"][name][()] = patches.reshape(-1, 8, 8, 8, 8)[:, order].reshape(-1, 8, 8, 8)
END
support gas_readers.py wrong.hdf5 >err 2>&1 && complain "yt finds the gas in a wrong order"

for ranks in 2 3; do
  mpirun --oversubscribe --bind-to none -n $ranks "$unit_tests/gas/test_gas_file" ranks.hdf5 8 \
    >err 2>&1 || complain "$ranks processes: exit code $?"
  "$PYTHON" - <<'END' || complain "$ranks processes write another file than one"
import h5py
names = []
with h5py.File("gas_8.hdf5") as one, h5py.File("ranks.hdf5") as several:
    one.visit(lambda name: names.append(name) if isinstance(one[name], h5py.Dataset) else None)
    assert len(names) == 28
    for name in names:
        assert one[name][()].tobytes() == several[name][()].tobytes(), name
        assert one[name].attrs["xxh3_rows"] == several[name].attrs["xxh3_rows"], name
END
done
finish
