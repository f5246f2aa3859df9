#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Gas in an expanding box: a plane wave grows as linear theory says, and not without gravity. Before
# it crosses itself it is Zel'dovich's exact solution, on refined levels, too. A run that was
# stopped goes on with the same bits, which are those of several ranks. Files and logs have
# redshifts.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
. "$PHOTONS_SOURCE/tests/support/gas.sh"
need_python h5py numpy
need_mpi
export STARPU_NCPU=1

plane_wave wave.ini
run linear wave.ini --set time.max_dlna=0.05
run no_gravity wave.ini --set time.max_dlna=0.05 --set gas.gravity=none
run pancake wave.ini --set gas.levels=1 --set gas.flag_density=1.5 --set gas.buffer=2 \
  --set time.max_dlna=0.05 --set ic.z_caustic=1 --set ic.z_init=20 \
  --set ic.temperature=100 --set time.z_end=1.6 --set output.redshifts=20,4,1.6

"$PYTHON" - <<'END' || complain "another growth"
import csv
import numpy as np
from photons.gas import Mesh
from photons.gas_problems import problem_of

K, H0, MEAN = 2 * np.pi / 64, 100.0, 27.755

def growth(name):
    """Amplitude of the wave over that of the exact solution, 2 J1(a)."""
    mesh = Mesh(f"{name}/gas_000.hdf5")
    a = mesh.time
    assert abs(a - 0.1) < 1e-12
    x = mesh.positions()[0] - 32
    found = 2 * np.average(mesh.values("density") * np.cos(K * x)) / MEAN
    q = (np.arange(1000) + 0.5) * 2 * np.pi / 1000
    return found / (2 * np.average(np.cos(q - a * np.sin(q))))

linear, free = growth("linear"), growth("no_gravity")
print(f"after a decade in a the wave is {linear:.4f} of the exact one, without gravity {free:.3f}")
assert abs(linear - 1) < 0.01 and free < 0.5

for number, z in enumerate((20, 4, 1.6)):
    mesh = Mesh(f"pancake/gas_{number:03}.hdf5")
    a, size = 1 / (1 + z), 2 / (1 + z)
    x = mesh.positions()[0] - 32
    q = np.linspace(-np.pi, np.pi, 20001)
    q = np.interp(x, (q - size * np.sin(q)) / K, q)
    density = MEAN / (1 - size * np.cos(q))
    velocity = -2 * H0 * a**0.5 * np.sin(q) / K
    first = 1 / (1 - 2 / 21 * np.cos(q))
    temperature = 100 * ((1 + z) / 21) ** 2 * (density / MEAN / first) ** (2 / 3)
    assert abs(mesh.redshift - z) < 1e-9 and mesh.finest == (z < 5)
    off = {
        "density": np.abs(mesh.values("density") / density - 1),
        "velocity": np.abs(mesh.values("velocity_x") / a - velocity) / np.abs(velocity).max(),
        "temperature": np.abs(mesh.values("temperature") / temperature - 1),
    }
    for name, error in off.items():
        print(f"z = {z}: {name} off by {error.mean():.4f}, at most {error.max():.4f}")
    assert all(error.mean() < 0.01 and error.max() < 0.03 for error in off.values())
    assert abs(problem_of(mesh).errors()["L1_temperature"] / temperature.mean()) < 0.01

# The equation of Layzer and Irvine: energy changes by the integral of the potential energy over ln
# a.
with open("pancake/log/statistics.csv") as file:
    rows = list(csv.DictReader(file))
a, energy, potential = (
    np.array([float(row[name]) for row in rows]) for name in ("a", "energy", "potential_energy")
)
work = np.sum(0.5 * (potential[1:] + potential[:-1]) * np.diff(np.log(a)))
change = (energy + potential)[-1] - (energy + potential)[0]
print(f"energy is off by {(change - work) / potential[-1]:.4f} of the potential energy")
assert abs((change - work) / potential[-1]) < 0.01

with open("pancake/log/timings.csv") as file:
    rows = list(csv.DictReader(file))
assert abs(float(rows[-1]["z"]) - 1.6) < 1e-8
assert max(float(row["dlna"]) for row in rows) < 0.05 * (1 + 1e-9)
END

# The same bits after a restart and on two ranks, with steps by level.
short="--set gas.levels=1 --set gas.flag_density=1 --set gas.buffer=0 --set gas.regrid=1
  --set time.z_end=92 --set output.redshifts=95,92 --set output.checkpoint_minutes=1e-6"
run whole wave.ini $short
run parts wave.ini $short --steps 2
run parts wave.ini $short --restart
run_on 2 ranks wave.ini $short --set gas.batch=1
same gas_001.hdf5 16 whole parts ranks

# What has no meaning.
# refused PATTERN OPTION...
refused() {
  pattern=$1
  shift
  "$PHOTONS" --quiet --dry-run "$@" wave.ini >/dev/null 2>err
  [ $? -eq 2 ] || complain "$*: exit code $?"
  grep -q "$pattern" err || complain "$*: another message"
}
refused 'gamma.*not 5/3' --set gas.gamma=1.4
refused 'x_low\|all periodic' --set gas.x_low=outflow --set gas.x_high=outflow
refused 'time.*end.*has no meaning with gas.comoving = yes' --set time.end=1
refused 'needs gas.comoving = yes' --set gas.comoving=no
refused 'temperature_floor.*has no meaning with gas.comoving = no: it is of comoving gas' \
  --set gas.comoving=no --set gas.temperature_floor=10
refused 'z_caustic.*not after' --set ic.z_caustic=99
"$PHOTONS" --dry-run wave.ini >out 2>err || complain "dry run"
grep -q '^  comoving    64 Mpc/h' out || complain "the dry run says nothing of the box"
finish
