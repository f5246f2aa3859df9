#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Generated initial conditions of gas have the random phases, density and velocities of particles
# with the same seed, as means over cells, on any number of ranks. Their power spectrum is the linear
# one. The gas of a small universe collapses and is heated.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
need_mpi
export STARPU_NCPU=1

cat >gas.ini <<END
[run]
system = gas
[cosmology]
Omega_m = 0.3
Omega_lambda = 0.7
h = 0.7
[box]
size = 50
[ic]
source = generate
z_init = 49
[gas]
comoving = yes
root = 32, 32, 32
[output]
images = no
END
grep -v 'root\|comoving\|^\[gas\]\|system\|^\[run\]' gas.ini >particles.ini
start="--steps 0 --set output.redshifts=49"
run gas gas.ini $start
run particles particles.ini $start --set box.npart_side=32 --set ic.order=1 --set analysis.fof=no
run_on 3 ranks gas.ini $start
run fixed gas.ini $start --set ic.fixed=yes
run universe gas.ini --set gas.gravity=self --set gas.levels=1 --set gas.flag_density=8 \
  --set gas.buffer=2 --set gas.root=16,16,16

for folder in gas ranks; do
  grep -v '^# provenance' $folder/powerspec_gas_000.txt >$folder.txt
done
cmp gas.txt ranks.txt || complain "three ranks: another power spectrum"

"$PYTHON" - <<'END' || complain "other gas than particles"
import h5py
import numpy as np
from photons.gas import Mesh

SIDE, BOX, A, MEAN = 32, 50.0, 0.02, 0.3 * 27.755

def on_grid(mesh, name):
    """Values of the root level [x, y, z]."""
    cells, grid = mesh.values(name), np.zeros((SIDE,) * 3)
    place = tuple((np.array(mesh.positions()) * SIDE / BOX).astype(int))
    grid[place] = cells
    return grid

mesh = Mesh("gas/gas_000.hdf5")
assert abs(mesh.redshift - 49) < 1e-9
assert (mesh.values("density") == Mesh("ranks/gas_000.hdf5").values("density")).all()
with h5py.File("particles/snapshot_000.hdf5") as file:
    order = np.argsort(file["PartType1/ParticleIDs"][()])
    x = file["PartType1/Coordinates"][()][order] / 1000
    v = file["PartType1/Velocities"][()][order] * A**0.5
q = np.indices((SIDE,) * 3).reshape(3, -1).T * BOX / SIDE
psi = ((x - q + BOX / 2) % BOX - BOX / 2).reshape(SIDE, SIDE, SIDE, 3)
k = 2 * np.pi / BOX * np.stack(np.meshgrid(*3 * [np.fft.fftfreq(SIDE, 1 / SIDE)], indexing="ij"))
half = BOX / SIDE / 2
# From the corners of the cells to means over them.
shift = np.exp(1j * k.sum(0) * half) * np.prod(np.sinc(k * half / np.pi), 0)

def moved(values):
    return np.fft.ifftn(np.fft.fftn(values) * shift).real

contrast = np.fft.ifftn(
    -1j * sum(k[c] * np.fft.fftn(psi[..., c]) for c in range(3)) * shift
).real
found = on_grid(mesh, "density") / MEAN - 1
print(f"rms contrast {contrast.std():.4f}, difference {np.abs(found - contrast).max():.2g}")
assert contrast.std() > 0.01 and np.abs(found - contrast).max() < 1e-3 * contrast.std()
for c, axis in enumerate("xyz"):
    wanted = moved(v[:, c].reshape((SIDE,) * 3))
    found = on_grid(mesh, f"velocity_{axis}") / A
    assert np.abs(found - wanted).max() < 1e-3 * wanted.std(), axis
assert np.allclose(mesh.values("temperature"), 2.7255 * 50**2 / 138, rtol=1e-3)

gas = mesh.power()
particles = np.loadtxt("particles/powerspec_000.txt")
some = gas["k"] < np.pi / BOX * SIDE / 4  # with smaller waves displacements show in the particles
ratio = gas["P"][some] / np.interp(gas["k"][some], particles[:, 0], particles[:, 1])
print("P(k) of gas over that of particles:", np.round(ratio, 3))
assert np.abs(ratio - 1).max() < 0.06

# Modes of fixed size have the linear spectrum; within a bin it falls by some per cent. With values of
# the middles of cells the spectrum would be 9 % above it at a third of the Nyquist frequency.
table = np.loadtxt("fixed/powerspec_gas_000.txt")
some = (table[:, 0] > np.pi / BOX * SIDE / 4) & (table[:, 0] < np.pi / BOX * SIDE * 3 / 4)
ratio = table[some, 1] / table[some, 4]
print("P(k) of fixed modes over the linear one:", np.round(ratio, 4))
assert some.sum() >= 6 and np.abs(ratio - 1).max() < 0.02

mesh = Mesh("universe/gas_000.hdf5")
density, temperature = mesh.values("density") / MEAN, mesh.values("temperature")
mean = np.average(density, weights=mesh.volumes())
print(f"z = 0: density up to {density.max():.0f}, temperature {temperature.min():.2g} to "
      f"{temperature.max():.2g} K, mean density {mean:.6f}")
assert abs(mean - 1) < 1e-5 and mesh.finest == 1
assert density.max() > 30 and temperature.max() > 1e6 and temperature.min() < 100
END

# Six fields of 32 x 32 x 34 numbers.
"$PHOTONS" --dry-run gas.ini >out 2>err || complain "dry run: exit code $?"
grep -q '^ *1\.7 MB more at times' out || complain "dry run: another memory of waves: $(cat out)"
"$PHOTONS" --quiet --dry-run --set gas.root=32,16,16 gas.ini >/dev/null 2>err
grep -q 'needs to be a cube' err || complain "not a cube: $(cat err)"
"$PHOTONS" --quiet --set ic.z_init=1 --set output.dir=late gas.ini 2>err
[ $? -eq 2 ] || complain "too late: exit code $?"
grep -q 'take an earlier ic.z_init' err || complain "too late: $(cat err)"
finish
