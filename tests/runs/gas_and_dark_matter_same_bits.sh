#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A small universe of gas and dark matter, refined where there are many particles, has the same bits on
# any workers, in any batches and after a restart. Its gas is nowhere colder than the floor of the
# temperature.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
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
# run NAME [OPTION...]
run() {
  name=$1
  shift
  timeout 200 "$PHOTONS" --quiet --set output.dir="$name" "$@" universe.ini 2>err ||
    complain "$name: exit code $?"
}
STARPU_NCPU=1 STARPU_SCHED=eager
export STARPU_NCPU STARPU_SCHED
run reference
run unfused --set gas.fused=no
run cold --set gas.temperature_floor=0
STARPU_NCPU=2 STARPU_SCHED=lws
run batches --set gas.batch=3
run parts --steps 9 --set output.checkpoint_minutes=1e-6
run parts --restart --set output.checkpoint_minutes=1e-6
for name in unfused batches parts; do
  cmp reference/log/statistics.csv $name/log/statistics.csv || complain "$name: other statistics"
done
"$PYTHON" - <<'END' || complain "other gas or particles"
import h5py
from photons.gas import Mesh

with h5py.File("reference/gas_000.hdf5") as a:
    names = [f"{group}/{name}" for group in ("GridData", "Particle", "Tree") for name in a[group]]
    assert len(names) > 15
    for other in ("unfused", "batches", "parts"):
        with h5py.File(f"{other}/gas_000.hdf5") as b:
            for name in names:
                assert a[name][()].tobytes() == b[name][()].tobytes(), f"{other}: {name}"

mesh = Mesh("reference/gas_000.hdf5")
print("patches by level", mesh.patches, "at z =", mesh.redshift)
assert mesh.finest == 2
warm, cold = (Mesh(f"{name}/gas_000.hdf5").values("temperature").min()
              for name in ("reference", "cold"))  # fmt: skip
print(f"the coldest gas has {warm:.2f} K, without the floor {cold:.2f} K")
assert warm > 99.9 and cold < 50
END
finish
