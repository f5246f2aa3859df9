# SPDX-License-Identifier: GPL-3.0-or-later
"""Convergence of particles at random places: its angular power is that of Limber's integral over
the white spectrum 1/n within 1 % where l is from 20 to 250.

usage: light_cones_are_lensed.py RUN [NUMBER]

RUN has maps, whose counts are replaced, every other time by particles of two masses. NUMBER: mean particles in a pixel of
the farthest shell."""

import sys

import h5py
import numpy as np
from photons import lightcone

FIRST, LAST, MAPS = 20, 250, 4  # 62600 modes a map: the mean scatters by 0.3 %


def two_masses(random, mean, shape):
    """Mass in pixels, in that of a particle: light and heavy ones have half of it each. Their sum of m^2 over that of m is 1."""
    return sum(m * random.poisson(0.5 * mean / m, shape) for m in (0.4, 1.6))


def replace(cone, number, seed):
    random = np.random.default_rng(seed)
    density = number / (cone.shells[-1].mean / cone.shells[-1].density)
    for shell in cone.shells:
        with h5py.File(shell.path, "r+") as file:
            mean = shell.mean / shell.density * density
            header, pixels = file["Header"].attrs, 12 * shell.nside**2
            mass = header["ParticleMass"] * shell.density / density
            header["ParticleMass"] = mass
            for name in {"Counts", "Masses"} & set(file):
                del file[name]
            if seed % 2 == 0:
                file["Counts"] = random.poisson(mean, pixels)
            else:
                file["Masses"] = mass * two_masses(random, mean, pixels)
    return density


def near(value, expected, tolerance, what):
    assert abs(value / expected - 1) < tolerance, f"{what}: {value}, not {expected}"


def main(folder, number=10.0):
    cone = lightcone.LightCone(folder)
    z, two = np.array([0.0, 0.5, 3.0, 1000.0]), lightcone.DarkEnergy({"w0": "-0.9", "wa": "0.2"})
    cpl = (1 + z) ** (3 * (1 - 0.9 + 0.2)) * np.exp(-3 * 0.2 * z / (1 + z))
    assert np.allclose(two.density(z), cpl, rtol=1e-5), "dark energy of w0 and wa"
    near(cone.universe.distance(cone.universe.redshift(1000.0)), 1000.0, 1e-9, "distances")
    for shell in cone.shells:  # the program's own distances
        for z, r in (("RedshiftInner", shell.inner), ("RedshiftOuter", shell.outer)):
            assert abs(cone.universe.distance(shell.header[z]) - r) < 1e-3
    nearest = cone.shells[6].inner  # particles of nearer shells would differ much in their weights
    found = []
    for seed in range(MAPS):
        density = replace(cone, float(number), seed)
        cone = lightcone.LightCone(folder, nearest)
        near(cone.shells[0].density, density, 1e-9, "density")
        z = float(cone.universe.redshift(0.99 * cone.shells[-1].outer))
        l, power, noise = cone.angular_power(z, LAST)
        weight = (2 * l + 1) * (l >= FIRST)
        window = lightcone.healpy.pixwin(cone.shells[0].nside, lmax=LAST) ** 2
        found.append(np.average(power * window + noise, weights=weight))
        mean = cone.convergence(z).mean()
        assert abs(mean) < 5 * np.sqrt(noise / (4 * np.pi)), f"mean {mean}"
    near(np.mean(found[1::2]), noise, 0.01, "angular power of two masses beside their shot noise")
    found = np.mean(found)
    white = cone.limber(z, l[1:], lambda k, z: np.full(len(k), 1.0 / density))
    near(found, noise, 0.01, "angular power beside the shot noise of the maps")
    near(found, white[0], 0.01, "angular power beside Limber's integral")
    print(f"power over theory {found / white[0]:.4f}, over shot noise {found / noise:.4f}")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except AssertionError as error:
        sys.exit(f"FAILED: {error}")
