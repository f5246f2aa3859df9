# SPDX-License-Identifier: GPL-3.0-or-later
"""Growth of gas and particles against linear theory, and particles against the N-body solver.

usage: gas_with_dark_matter.py to_file GAS_FILE FILE | compare"""

import csv
import sys

import h5py
import numpy as np
import photons
from photons.gas import AXES, Mesh
from photons.gas_exact import growth

MEAN = 27.755  # critical density


def table(mesh, *names):
    return np.stack([mesh.particles[name] for name in names], axis=1)


def to_file(path, out):
    """The particles of a run as initial conditions."""
    mesh = Mesh(path)
    with h5py.File(out, "w") as file:
        file["position"] = table(mesh, *AXES)
        file["velocity"] = table(mesh, *(f"velocity_{axis}" for axis in AXES))
        file["mass"] = mesh.particles["mass"]


def displacements(mesh, shape):
    """From the grid of the initial conditions, [x, y, z, axis]."""
    side = mesh.box / shape
    grid = np.indices(shape).reshape(3, -1).T * side
    way = table(mesh, *AXES) - grid
    return (way - mesh.box * np.round(way / mesh.box)).reshape(*shape, 3)


def wave(name):
    """Size of the wave in gas and particles over that of the exact solution, 2 J1(a)/a."""
    mesh, k = Mesh(f"{name}/gas_000.hdf5"), 2 * np.pi / 64
    a, found = mesh.time, {}
    assert abs(a - 0.1) < 1e-12
    density, x = mesh.values("density"), mesh.positions()[0] - 32
    if density.max() > 0:
        q = (np.arange(1000) + 0.5) * 2 * np.pi / 1000
        exact = 2 * np.average(np.cos(q - a * np.sin(q)))
        found["gas"] = 2 * np.average(density * np.cos(k * x)) / density.mean() / exact
    way = displacements(mesh, (64, 16, 16))
    phase = k * (np.arange(64.0) - 32)[:, None, None]
    found["particles"] = -2 * k * np.mean(way[..., 0] * np.sin(phase)) / a
    # This wave has an exact solution as long as particles do not cross each other.
    error = np.abs(way[..., 0] + a * np.sin(phase) / k).max() * k / a
    mass = mesh.particles["mass"].sum() / (64 * 16 * 16 * MEAN), density.mean() / MEAN
    print(f"{name}: over the exact wave {found}, displacements off by at most {error:.4f}, "
          f"Omega {mass}")  # fmt: skip
    assert abs(sum(mass) - 1) < 1e-6 and error < 0.02
    return found


def modes(field):
    """The modes with |n|^2 = 1 to 3 of a field [x, y, z], and their wave vectors n."""
    side = len(field)
    n = np.stack(np.meshgrid(*3 * [np.fft.fftfreq(side, 1 / side)], indexing="ij"))
    n2 = (n**2).sum(axis=0)
    some = (n2 > 0) & (n2 <= 3)
    return np.fft.fftn(field)[some], n[:, some]


def contrasts(path):
    """Modes of the density contrast of gas and particles, the latter from their displacements."""
    mesh = Mesh(path)
    density = mesh.grid("density").transpose(2, 1, 0)
    gas, n = modes(density / density.mean() - 1)
    gas *= np.exp(-1j * np.pi / 32 * n.sum(axis=0))  # cells lie half a cell from the grid's points
    way = displacements(mesh, (32, 32, 32))
    particles = sum(
        -2j * np.pi / mesh.box[0] * n[c] * modes(way[..., c])[0] for c in range(3)
    )
    return {"gas": gas, "particles": particles}


def universe(name, first="universe", kinds=("gas", "particles")):
    """Growth of long waves over that of linear theory, in the cross-correlation with the first
    state."""
    begin, end = (contrasts(f"{folder}/gas_00{i}.hdf5") for i, folder in enumerate((first, name)))
    exact = growth(0.1, 0.3, 0.7)[0] / growth(0.02, 0.3, 0.7)[0]
    if name == "universe":
        same = np.abs(begin["gas"] - begin["particles"]).max() / np.abs(begin["gas"]).max()
        print(f"gas and particles begin with the same waves up to {same:.2g}")
        assert same < 0.01
    grown = {
        kind: np.sum(end[kind] * begin[kind].conj()).real / np.sum(np.abs(begin[kind]) ** 2) / exact
        for kind in kinds
    }
    print(f"{name}: growth over that of linear theory {grown}")
    return grown


def flows(path):
    """Modes of the divergence of velocity of gas and particles."""
    mesh = Mesh(path)
    found = {"gas": 0, "particles": 0}
    speed = table(mesh, *(f"velocity_{axis}" for axis in AXES)).reshape(32, 32, 32, 3)
    for c, axis in enumerate(AXES):
        gas, n = modes(mesh.grid(f"velocity_{axis}").transpose(2, 1, 0))
        found["gas"] += n[c] * gas * np.exp(-1j * np.pi / 32 * n.sum(axis=0))
        found["particles"] += n[c] * modes(speed[..., c])[0]
    return found, 2 * np.pi / mesh.box[0] * np.sqrt((n**2).sum(axis=0))


def between(table, column, k):
    """A column of a table of CLASS at k: cubics of ln k through the four nearest rows, which are a quarter in ln k apart."""
    x = np.log(table[0])

    def value(y):
        near = np.sort(np.argsort(np.abs(x - y))[:4])
        return np.polyval(np.polyfit(x[near] - y, table[column][near], 3), 0.0)

    return np.array([value(y) for y in np.log(k)])


def fluids(data):
    """Gas and dark matter begin with the waves of CLASS's table, beside those of a run in which both have
    the same. At z = 9 both are as far from each other as CLASS has it."""
    begin, later = (np.loadtxt(f"{data}/two_fluids_z{z}.txt").T for z in (99, 9))
    found, same = contrasts("fluids/gas_000.hdf5"), contrasts("same/gas_000.hdf5")
    (flow, k), (same_flow, _) = flows("fluids/gas_000.hdf5"), flows("same/gas_000.hdf5")
    for kind, column in (("gas", 1), ("particles", 2)):
        density, velocity = (between(begin, i, k) for i in (column, column + 2))
        off = np.abs(found[kind] / same[kind] / density - 1).max()
        off_flow = np.abs(flow[kind] / same_flow[kind] / velocity - 1).max()
        print(f"{kind}: {density.min():.3f} to {density.max():.3f} of all matter's waves, {velocity.min():.3f} "
              f"to {velocity.max():.3f} of their flow; off by at most {off:.2g} and {off_flow:.2g}")  # fmt: skip
        assert off < 1e-3 and off_flow < 1e-3
    end = contrasts("fluids/gas_001.hdf5")
    ratio = np.sum(end["gas"] * end["particles"].conj()).real / np.sum(np.abs(end["particles"]) ** 2)
    weight = np.abs(end["particles"]) ** 2
    gas, cold = (np.average(between(later, i, k), weights=weight) for i in (1, 2))
    print(f"z = 9: gas over particles {ratio:.4f}, CLASS {gas / cold:.4f}")
    assert abs(ratio / (gas / cold) - 1) < 0.01  # waves of 18 to 32 cells grow by half a percent more in gas


def conserved(name):
    with open(f"{name}/log/statistics.csv") as file:
        rows = list(csv.DictReader(file))
    change = [
        sum(float(rows[-1][f"{kind}momentum_{axis}"]) - float(rows[0][f"{kind}momentum_{axis}"])
            for kind in ("", "particle_"))
        for axis in AXES
    ]  # fmt: skip
    mesh = Mesh(f"{name}/gas_001.hdf5")
    speed = np.abs(table(mesh, "velocity_x")).sum() * mesh.particles["mass"][0]
    mass = float(rows[-1]["mass"]) / float(rows[0]["mass"]) - 1
    print(f"{name}: momentum changes by {np.abs(change).max() / speed:.2g} of the sum of |p|, "
          f"mass of the gas by {mass:.2g}")  # fmt: skip
    # On one level forces are opposite; gas is in single precision.
    assert np.abs(change).max() < 1e-6 * speed and abs(mass) < 1e-6
    total = float(rows[-1]["mass"]) + mesh.particles["mass"].sum()
    assert abs(total / (0.3 * MEAN * np.prod(mesh.box)) - 1) < 1e-5


def spectra():
    """The program's power spectra: that of the gas is that of its cells. That of the particles, with
    their shot noise, begins like it where waves have many cells."""
    found = photons.load("universe/powerspec_gas_001.txt")
    again = Mesh("universe/gas_001.hdf5").power()
    for name in ("k", "P", "modes"):
        assert np.allclose(found[name], again[name], rtol=1e-6), name
    kinds = ("gas", "particles")
    gas, particles = (photons.load(f"universe/powerspec_{kind}_000.txt") for kind in kinds)
    assert np.allclose(particles["P_shot"], (400 / 32) ** 3) and not gas["P_shot"].any()
    some = gas["k"] < np.pi / 400 * 32 / 4
    ratio = particles["P"][: len(gas["k"])] / gas["P"]
    print("P(k) of particles over that of gas", np.round(ratio[some], 3))
    assert np.abs(ratio[some] - 1).max() < 0.06
    # Amplitudes are fixed, so that linear theory is met in each bin, but for its width.
    assert np.abs(particles["P"] / particles["P_linear"] - 1)[: some.sum()].max() < 0.06


def solvers():
    """Displacements by the two solvers."""
    mesh = Mesh("alone/gas_000.hdf5")
    with h5py.File("nbody/snapshot_000.hdf5") as file:
        order = np.argsort(file["PartType1/ParticleIDs"][()])
        other = file["PartType1/Coordinates"][()][order] / 1000
    assert mesh.finest == 1 and abs(mesh.redshift - 4) < 1e-9
    off = table(mesh, *AXES) - other
    off -= mesh.box * np.round(off / mesh.box)
    way = displacements(mesh, (16, 16, 16))
    ratio = off.std() / way.std()
    print(f"displacements differ by {ratio:.4f} (rms) from those of the N-body solver")
    assert way.std() > 0.5 and 1e-4 < ratio < 0.05


def compare():
    # A cloud has the shape of a cell when it gives mass, and when it feels forces. Where a wave has
    # 64 cells this makes its attraction 0.2 % less, and 1 % where it has 32.
    both, alone = wave("wave"), wave("wave_of_particles")
    assert all(abs(size - 1) < 0.005 for size in (*both.values(), *alone.values()))
    assert list(alone) == ["particles"]
    assert all(abs(size - 1) < 0.03 for size in universe("universe").values())
    # Particles of other phases are most of the matter: the gas does not grow as it began.
    assert abs(universe("mixed", kinds=["gas"])["gas"] - 1) > 0.2
    conserved("universe")
    spectra()
    solvers()


{"to_file": to_file, "fluids": fluids, "compare": compare}[sys.argv[1]](*sys.argv[2:])
