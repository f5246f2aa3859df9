#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Growth with linear species in a run, over what CLASS's species do to the same lattice of particles.

usage: species_on_a_lattice.py WITHOUT.txt WITH.txt OMEGA_R_WITHOUT OMEGA_R_WITH M_NU RUN_WITHOUT RUN_WITH [...]

WITHOUT.txt and WITH.txt are tables of tools/linear_theory.py --species without and with neutrinos of a mass of M_NU eV
each, three of them, RUN_WITHOUT and RUN_WITH folders of runs of the same seed, with snapshots 000 at the start and 001 at
z = 0. The growth of each wave in the run without neutrinos gives the attraction lambda of its lattice (Joyce & Marcos 2007,
PRD 76, 103505), that of a fluid being 1. Growth by lambda + response, integrated in the background of the
run with neutrinos, is what the other run is compared with: species attract by the mesh alone, whose force has no lattice."""

import sys

import h5py
import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline, RectBivariateSpline
from scipy.optimize import brentq

OMEGA_M, H = 0.3144, 0.6732
TEMPERATURE = 0.71611 * 2.7255 * 8.617333262e-5  # of neutrinos today, eV
BINS = [(1, 1), (2, 3), (4, 6), (8, 9), (10, 12), (14, 17), (20, 24)]  # squared waves a box


class Table:
    """Splines of a table of species."""

    def __init__(self, path):
        a, k, delta, rate, response = np.loadtxt(path, unpack=True)
        axes = np.log(np.unique(a)), np.log(np.unique(k))
        shape = tuple(map(len, axes))
        self.log_delta, self.rate, self.response = (
            RectBivariateSpline(*axes, values.reshape(shape)) for values in (np.log(delta), rate, response)
        )

    def growth(self, k, a):
        return float(np.exp(-self.log_delta(np.log(a), np.log(k))[0, 0]))


class Background:
    """Cold dark matter and baryons, three neutrinos of one mass or none, radiation, cosmological constant; flat."""

    def __init__(self, omega_r, mass):
        x, weight = np.polynomial.laguerre.laggauss(60)
        self.momentum, self.weight = x, weight * np.exp(x) * x**2 / (np.exp(x) + 1)
        self.mass, self.omega_r = mass, omega_r
        self.omega_nu = 3 * mass / 93.14 / H**2
        self.omega_cb = OMEGA_M - self.omega_nu

    def neutrinos(self, a):
        energy = np.sqrt(self.momentum**2 + (a * self.mass / TEMPERATURE) ** 2)
        return self.weight @ energy / a**4

    def expansion2(self, a):
        massive = self.omega_nu * self.neutrinos(a) / self.neutrinos(1.0) if self.mass > 0 else 0.0
        return self.omega_cb / a**3 + self.omega_r / a**4 + massive + 1 - OMEGA_M - self.omega_r

    def growth(self, table, k, a, attraction):
        """From a to 1, of matter that attracts itself so many times as a fluid does."""
        x = np.linspace(np.log(a), 0, 400)
        square = np.array([self.expansion2(at) for at in np.exp(x)])
        slope = CubicSpline(x, 0.5 * np.log(square)).derivative()
        response = CubicSpline(x, table.response(x, np.log(k))[:, 0])
        share = CubicSpline(x, self.omega_cb * np.exp(-3 * x) / square)

        def change(x, y):
            return [y[1], 1.5 * share(x) * (attraction + response(x)) * y[0] - (2 + slope(x)) * y[1]]

        rate = float(table.rate(np.log(a), np.log(k))[0, 0])
        return solve_ivp(change, (x[0], 0), [1, rate], rtol=1e-10, atol=1e-12).y[0, -1]


def waves(path):
    """Longitudinal waves of the displacements, times i, the numbers of waves a box, k in h/Mpc, and a."""
    with h5py.File(path) as file:
        box, a = file["Header"].attrs["BoxSize"] / 1000, file["Header"].attrs["Time"]
        order = np.argsort(file["PartType1/ParticleIDs"][...])
        position = file["PartType1/Coordinates"][...][order] / 1000
    side = round(len(order) ** (1 / 3))
    shift = position - np.indices((side,) * 3).reshape(3, -1).T * box / side
    shift -= box * np.round(shift / box)
    number = np.array(np.meshgrid(*[np.fft.fftfreq(side, 1 / side)] * 3, indexing="ij"))
    along = sum(number[c] * np.fft.fftn(shift[:, c].reshape((side,) * 3)) for c in range(3))
    return along, number.astype(int), 2 * np.pi / box * np.sqrt((number**2).sum(axis=0)), a


def growth_of(run):
    (first, number, k, a), last = waves(f"{run}/snapshot_000.hdf5"), waves(f"{run}/snapshot_001.hdf5")[0]
    first[0, 0, 0] = 1.0
    return (np.conj(first) * last).real / np.abs(first) ** 2, number, k, a


def compare(without, massive, grown, grown_with, k, a):
    """Of waves alike: growth of both runs over the tables, less 1, and that with neutrinos over what the lattice has."""
    (background, table), (background_with, table_with) = without, massive
    lattice = brentq(lambda x: background.growth(table, k, a, x) - grown, 0.9, 1.1, xtol=1e-9)
    expected = background_with.growth(table_with, k, a, lattice)
    return grown / table.growth(k, a) - 1, grown_with / table_with.growth(k, a) - 1, grown_with / expected - 1


def main():
    table, table_with = Table(sys.argv[1]), Table(sys.argv[2])
    omega_r, omega_r_with, mass = map(float, sys.argv[3:6])
    runs = [growth_of(run) for run in sys.argv[6:]]
    grown, grown_with = (np.mean([run[0] for run in runs[part::2]], axis=0) for part in (0, 1))
    _, number, k, a = runs[0]
    without = Background(omega_r, 0.0), table
    massive = Background(omega_r_with, mass), table_with
    print("k [h/Mpc]        without   with      with, over the lattice's")
    for low, high in BINS:
        inside = ((number**2).sum(axis=0) >= low) & ((number**2).sum(axis=0) <= high)
        kinds = np.sort(np.abs(number[:, inside]), axis=0)
        rows, counts = [], []
        for kind in np.unique(kinds, axis=1).T:
            alike = (kinds == kind[:, None]).all(axis=0)
            values = grown[inside][alike].mean(), grown_with[inside][alike].mean(), k[inside][alike][0]
            rows.append(compare(without, massive, *values, a))
            counts.append(alike.sum())
        mean = np.average(rows, axis=0, weights=counts)
        print(f"{k[inside].min():.4f} to {k[inside].max():.4f}  " + "  ".join(f"{x:8.1e}" for x in mean))


if __name__ == "__main__":
    main()
