# SPDX-License-Identifier: GPL-3.0-or-later
"""Particles for gas_particles.sh, gas_particles_orbit.sh and gas_particles_on_any_ranks.sh, and what
became of them.

usage: gas_particles.py make | wrapped FOLDER | swarm FILE SIDE SIDE SIDE | circles FOLDER FOLDER | same FOLDER FOLDER |
       masses FILE FILE | products FOLDER FOLDER"""

import csv
import glob
import sys

import h5py
import numpy as np


def write(path, **datasets):
    with h5py.File(path, "w") as file:
        for name, values in datasets.items():
            file[name] = values


def make():
    radius = 0.15
    position = np.array([[0.626, 0.624, 0.62], [0.626 + radius, 0.624, 0.62]])
    velocity = np.array([[0, 0, 0], [0, radius**-0.5, 0]])
    mass = np.array([1, 1e-6])
    write("circle.hdf5", position=position, velocity=velocity, mass=mass)
    write("short.hdf5", position=position, velocity=velocity)
    write("massless.hdf5", position=position, velocity=velocity, mass=0 * mass)
    write("untyped.hdf5", position=position, velocity=velocity, mass=mass, type=[1, 6])
    write("outside.hdf5", position=position + [[0, 0, 0], [0, 0.876, 0]], velocity=velocity, mass=mass)
    wrapped = [[1.0, 0.5, np.nextafter(np.float32(1), np.float32(2))], [-1e-9, 0.25, 0.5]]
    write("wrapped.hdf5", position=np.array(wrapped), velocity=0 * velocity, mass=mass)
    away = np.array([[0, 0, 0], [5.0, 0, 0]])
    write("edge.hdf5", position=position, velocity=away, mass=mass)
    generator = np.random.default_rng(7)
    fast = generator.choice([-5.0, 5.0], (400, 3))
    write("fast.hdf5", position=np.vstack([position[:1], generator.uniform(0.5, 0.75, (400, 3))]),
          velocity=np.vstack([velocity[:1], fast]), mass=np.append(mass[0], np.full(400, 1e-6)))
    generator = np.random.default_rng(3)
    position = generator.normal(0.5, 0.06, (300, 3))
    write("ball.hdf5", position=position, velocity=generator.normal(0, 0.05, (300, 3)),
          mass=np.full(300, 1e-4))  # fmt: skip


def wrapped(folder):
    """Positions on the far side of a periodic box, and outside by rounding, are inside."""
    position, _, _ = particles(f"{folder}/gas_000.hdf5")
    assert np.all((position >= 0) & (position < 1)), position
    away = np.abs(position - [[0, 0.5, 0], [0, 0.25, 0.5]])
    assert np.all(np.minimum(away, 1 - away) < 2e-7), position


def swarm(path, *sides):
    """Fast particles of different masses all over a box, half of them in its middle; stars and dark matter."""
    generator = np.random.default_rng(5)
    side = np.array([float(s) for s in sides])
    share = generator.uniform(0, 1, (600, 3))
    share[::2] = 0.5 + 0.3 * (share[::2] - 0.5)
    write(path, position=share * side, velocity=generator.normal(0, 1, (600, 3)),
          mass=generator.uniform(1, 2, 600) * 1e-8, type=np.where(np.arange(600) % 3, 1, 4))  # fmt: skip


def particles(path):
    """Positions and velocities in the order of numbers, and the level of the finest patch around
    each."""
    with h5py.File(path) as file:
        order = np.argsort(file["Particle/ParPUid"][()])
        position, velocity = (
            np.stack([file[f"Particle/Par{what}{axis}"][()] for axis in "XYZ"], axis=1)[order]
            for what in ("Pos", "Vel")
        )
        in_patch = file["Tree/NPar"][()]
        patches = file["Info/KeyInfo"][()]["NPatch"]
        level = np.repeat(np.repeat(np.arange(len(patches)), patches), in_patch)[order]
        assert np.all(in_patch[file["Tree/Son"][()] >= 0] == 0)
        assert file["Info/KeyInfo"][()]["Par_NPar"] == len(position)
    return position, velocity, level


def circles(light, pair):
    files = sorted(glob.glob(f"{light}/gas_*.hdf5"))
    radii, levels, angles = [], set(), []
    for path in files:
        position, _, level = particles(path)
        way = position[1] - position[0]
        radii.append(np.linalg.norm(way))
        angles.append(np.arctan2(way[1], way[0]))
        levels.add(int(level[1]))
    with h5py.File(files[-1]) as file:
        time = file["Info/KeyInfo"][()]["Time"][0]
    assert time > 0.09
    turned = np.unwrap(angles)[-1] / (time * 0.15**-1.5)
    print(f"light: {len(files)} files, radius {min(radii):.4f} to {max(radii):.4f}, "
          f"angle {turned:.4f} of the exact one, levels {levels}")  # fmt: skip
    assert levels == {0, 1}
    assert np.max(np.abs(np.array(radii) / 0.15 - 1)) < 0.02 and abs(turned - 1) < 0.02

    distances = []
    for path in sorted(glob.glob(f"{pair}/gas_*.hdf5")):
        position, velocity, level = particles(path)
        distances.append(np.linalg.norm(position[1] - position[0]))
        assert list(level) == [1, 1]
        assert np.all(np.abs(velocity[0] + velocity[1]) < 0.01)
        assert np.all(np.abs(position.mean(axis=0) - 0.5) < 1e-3)
    print(f"pair: distance {min(distances):.4f} to {max(distances):.4f}, "
          f"at the end {position[1] - position[0]}")  # fmt: skip
    assert np.max(np.abs(np.array(distances) / 0.25 - 1)) < 0.02
    assert np.linalg.norm(position[1] - position[0] - [0, 0.25, 0]) < 0.01


def same(one, other):
    with h5py.File(f"{one}/gas_000.hdf5") as a, h5py.File(f"{other}/gas_000.hdf5") as b:
        assert len(a["Tree/Corner"]) > 64, "nothing is refined"
        names = [f"{group}/{name}" for group in ("GridData", "Particle", "Tree") for name in a[group]]
        assert len(names) > 15
        for name in names:
            assert a[name][()].tobytes() == b[name][()].tobytes(), name
    with open(f"{one}/log/statistics.csv") as file:
        rows = [row for row in csv.DictReader(line for line in file if line[0] != "#")]
    assert len(rows) > 4, len(rows)
    momentum = [sum(float(rows[-1][f"{kind}momentum_{axis}"]) - float(rows[0][f"{kind}momentum_{axis}"])
                    for kind in ("", "particle_")) for axis in "xyz"]  # fmt: skip
    print("change of momentum", momentum, "particles' energy", rows[0]["particle_energy"],
          rows[-1]["particle_energy"])  # fmt: skip
    assert np.all(np.abs(momentum) < 1e-4)
    assert float(rows[-1]["particle_energy"]) > 3 * float(rows[0]["particle_energy"])


def masses(begin, end):
    """All particles of the initial conditions are in a file of a run, with their masses and types."""
    with h5py.File(begin) as a, h5py.File(end) as b:
        number, mass = b["Particle/ParPUid"][()], b["Particle/ParMass"][()]
        assert np.array_equal(np.sort(number), np.arange(len(a["mass"])))
        assert np.array_equal(mass, a["mass"][()][number])
        assert np.array_equal(b["Particle/ParType"][()], a["type"][()][number])


def products(one, other):
    """Spectra agree to rounding, and pictures but for colours that rounding decides."""
    from matplotlib.pyplot import imread

    for kind in ("gas", "particles"):
        a, b = (np.loadtxt(f"{folder}/powerspec_{kind}_000.txt") for folder in (one, other))
        assert len(a) > 5 and np.allclose(a, b, rtol=1e-6, atol=0), kind
    pictures = sorted(glob.glob(f"{one}/*.png"))
    assert f"{one}/projection_particles_000.png" in pictures
    for path in pictures:
        a, b = (imread(name) for name in (path, path.replace(one, other, 1)))
        assert np.ptp(a) > 0.1 and np.mean(np.abs(a - b) > 0.02) < 1e-3, path
    # The sheet of particles varies within cells: all rows of pixels differ, not only those of different cells.
    sheet = imread(f"{one}/projection_particles_000.png")
    assert np.mean(np.any(np.diff(sheet, axis=0), axis=(1, 2))) > 0.9


{"make": make, "swarm": swarm, "circles": circles, "same": same, "masses": masses,
 "products": products, "wrapped": wrapped}[sys.argv[1]](*sys.argv[2:])
