# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles and gas for gas_levels_keep_momentum.sh, and what became of their momenta.

usage: gas_levels_keep_momentum.py make | rest FOLDER... | crossing FOLDER | plummer FOLDER | blobs FOLDER MOST
       | energy FOLDER"""

import csv
import sys

import h5py
import numpy as np

CELL = 1 / 128  # of the finest level
PLACES = [[0.505, 0.68, 0.36], [0.625, 0.43, 0.47], [0.502, 0.498, 0.5]]  # in a patch group, at its side, where eight meet


def write(path, **datasets):
    with h5py.File(path, "w") as file:
        for name, values in datasets.items():
            file[name] = values


def plummer(number, scale):
    """A sphere of mass 1 in equilibrium, cut off at 6 scale lengths, with its mean at rest."""
    generator = np.random.default_rng(5)

    def directions():
        way = generator.normal(size=(number, 3))
        return way / np.linalg.norm(way, axis=1)[:, None]

    def draw(values):
        return np.resize(values, number)[:, None]

    radius = 1 / np.sqrt(generator.uniform(0.004, 0.96, number) ** (-2 / 3) - 1)
    share, chance = generator.uniform(size=(2, 20 * number))
    share = share[0.1 * chance < share**2 * (1 - share**2) ** 3.5]
    position = draw(scale * radius) * directions()
    speed = draw(share) * draw(np.sqrt(2 / scale) * (1 + radius**2) ** -0.25)
    velocity = speed * directions()
    return position - position.mean(axis=0) + [0.503, 0.507, 0.511], velocity - velocity.mean(axis=0)


def two_blobs(side):
    z, y, x = np.meshgrid(*[(np.arange(side) + 0.5) / side] * 3, indexing="ij")

    def blob(x0, y0, z0, width):
        return np.exp(-((x - x0) ** 2 + (y - y0) ** 2 + (z - z0) ** 2) / (2 * width**2))

    density = 0.1 + 10 * blob(0.35, 0.45, 0.5, 0.05) + 5 * blob(0.66, 0.57, 0.53, 0.04)
    return dict(density=density, pressure=0.6 * density, velocity_x=0 * x, velocity_y=0 * x,
                velocity_z=0 * x)  # fmt: skip


def make():
    one = np.ones(1)
    for i, place in enumerate(PLACES):
        write(f"rest{i}.hdf5", position=[place], velocity=np.zeros((1, 3)), mass=one)
    speed = CELL**-0.5
    write("crossing.hdf5", position=[[0.31, 0.47, 0.52]], velocity=speed * np.array([[1, 0.3, 0.2]]), mass=one)
    position, velocity = plummer(4000, 0.05)
    write("plummer.hdf5", position=position, velocity=velocity, mass=np.full(4000, 1 / 4000))
    write("blobs.hdf5", **two_blobs(64))


def velocity(folder):
    with h5py.File(f"{folder}/gas_000.hdf5") as file:
        time = file["Info/KeyInfo"][()]["Time"][0]
        assert file["Info/KeyInfo"][()]["NPatch"][2] > 0, "no second level"
        return np.array([file[f"Particle/ParVel{c}"][0] for c in "XYZ"]), time


def rest(*folders):
    """Newton's force between two particles a cell apart is 1 in these units."""
    felt = [np.linalg.norm(v) / time * CELL**2 for v, time in map(velocity, folders)]
    print("particles at rest feel themselves by", *[f"{a:.2g}" for a in felt])
    assert max(felt) < 1e-6


def crossing(folder):
    change = (velocity(folder)[0] - np.array([1, 0.3, 0.2]) * CELL**-0.5) * CELL**0.5
    print(f"a particle that takes its levels along gains {np.linalg.norm(change):.2g}")
    assert np.linalg.norm(change) < 3e-5


def statistics(folder):
    with open(f"{folder}/log/statistics.csv") as file:
        return list(csv.DictReader(line for line in file if line[0] != "#"))


def gained(folder, kind):
    rows = statistics(folder)
    momenta = np.array([[float(row[f"{kind}momentum_{c}"]) for c in "xyz"] for row in rows])
    return np.linalg.norm(momenta - momenta[0], axis=1).max()


def sphere(folder):
    with h5py.File("plummer.hdf5") as file:
        sigma = np.sqrt((file["velocity"][()] ** 2).sum(axis=1).mean() / 3)
    print(f"a Plummer sphere gains {gained(folder, 'particle_') / sigma:.2g} of M sigma")
    assert gained(folder, "particle_") / sigma < 1e-4


def blobs(folder, most):
    with h5py.File("blobs.hdf5") as file:
        mass = file["density"][()].mean()
    print(f"two blobs gain {gained(folder, '') / mass:.2g} of M c_s")
    assert 0 < gained(folder, "") / mass < float(most)


def energy(folder):
    """Groups that stay where others go keep their cells: smoothed ones would be a thirtieth of the potential energy."""
    potential, own = np.array([[float(row[f"{kind}energy"]) for row in statistics(folder)] for kind in ("potential_", "")])
    with open(f"{folder}/log/timings.csv") as file:
        patches = [row["level_patches"] for row in csv.DictReader(line for line in file if line[0] != "#")]
    change = abs(potential + own - potential[0] - own[0]).max() / abs(potential).max()
    print(f"two blobs change their energy by {change:.2g} of the potential energy, with patches", patches)
    assert len(set(patches)) > 1, "no group went"
    assert change < 1e-3


if __name__ == "__main__":
    {"make": make, "rest": rest, "crossing": crossing, "plummer": sphere, "blobs": blobs,
     "energy": energy}[sys.argv[1]](*sys.argv[2:])
