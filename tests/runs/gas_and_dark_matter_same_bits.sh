#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A small universe of gas and dark matter, refined where there are many particles, has the same bits
# on any workers, in any batches and after a restart. Its gas is not colder than the floor of the
# temperature.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
. "$PHOTONS_SOURCE/tests/support/gas.sh"
need_python h5py numpy

cat >universe.ini <<END
[run]
system = gas
[cosmology]
Omega_m = 0.3
Omega_lambda = 0.7
Omega_b = 0.045
h = 0.7
[box]
size = 6
npart_side = 16
[ic]
source = generate
z_init = 29
[gas]
comoving = yes
root = 16, 16, 16
levels = 2
flag_particles = 2, 4
buffer = 1
regrid = 2
gravity = self
temperature_floor = 100
[time]
z_end = 2
max_dlna = 0.05
[output]
images = no
END
STARPU_NCPU=1 STARPU_SCHED=eager
export STARPU_NCPU STARPU_SCHED
run reference universe.ini
run unfused universe.ini --set gas.fused=no
run cold universe.ini --set gas.temperature_floor=0
STARPU_NCPU=2 STARPU_SCHED=lws
run batches universe.ini --set gas.batch=3
run parts universe.ini --steps 9 --set output.checkpoint_minutes=1e-6
run parts universe.ini --restart --set output.checkpoint_minutes=1e-6
same gas_000.hdf5 64 reference unfused batches parts
"$PYTHON" - <<'END' || complain "other temperatures"
from photons.gas import Mesh

mesh = Mesh("reference/gas_000.hdf5")
print("patches by level", mesh.patches, "at z =", mesh.redshift)
assert mesh.finest == 2
warm, cold = ((Mesh(f"{name}/gas_000.hdf5").values("temperature") < 99.9).mean()
              for name in ("reference", "cold"))  # fmt: skip
print(f"cells colder than the floor: {warm:.5f} of all, without the floor {cold:.3f}")
# Cells that are interpolated at the end of the last step are not warmed before the next one.
assert warm < 1e-2 and cold > 0.5
END
finish
