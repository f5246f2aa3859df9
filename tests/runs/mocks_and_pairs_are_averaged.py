# SPDX-License-Identifier: GPL-3.0-or-later
"""Means and covariances against those of the runs' own files.

usage: mocks_and_pairs_are_averaged.py PRINTED"""

import sys

import numpy as np
import photons
from photons import plots

power = np.array([np.loadtxt(f"mocks/mock_{seed}/powerspec_000.txt")[:, 1] for seed in (1, 2, 3, 4)])
assert (power.std(axis=0) > 0).all()  # four universes
table = np.loadtxt("mocks/mockpower_000.txt")
assert np.allclose(table[:, 1], power.mean(axis=0), rtol=1e-6)
assert np.allclose(table[:, 2], power.std(axis=0, ddof=1), rtol=1e-5)
covariance = np.loadtxt("mocks/mockcovariance_000.txt")
off = power - power.mean(axis=0)
assert np.allclose(covariance, off.T @ off / 3, rtol=1e-5, atol=1e-6 * covariance.max())
gauss = np.loadtxt("mocks/mockgauss_000.txt")
size = np.sqrt(np.diag(covariance))
assert np.allclose(gauss[:, 1], (table[:, 2] / table[:, 3]) ** 2, rtol=1e-4)
assert np.allclose(gauss[:, 2], gauss[:, 1] * np.sqrt(2 / 3), rtol=1e-4)  # four mocks
correlation = covariance / np.outer(size, size)
assert np.allclose(gauss[:, 3], (correlation.sum(axis=0) - 1) / (len(size) - 1), atol=1e-4)
halos = np.loadtxt("mocks/mockhalos_000.txt")
counts = [np.loadtxt(f"mocks/mock_{seed}/massfunc_000.txt")[:, 2].sum() for seed in (1, 2, 3, 4)]
assert np.isclose(halos[:, 2].sum(), np.mean(counts), rtol=1e-6)

plus, minus, mean = (photons.read_power(f"{folder}/powerspec_000.txt")
                     for folder in ("pair/plus", "pair/minus", "pair"))  # fmt: skip
assert np.allclose(mean["P"], (plus["P"] + minus["P"]) / 2, rtol=1e-6)
assert np.array_equal(mean["k"], plus["k"]) and np.abs(plus["P"] / minus["P"] - 1).max() > 1e-3
# Of the mean, the longest waves are nearer to linear theory than of either run.
linear = mean["P_linear"][0]
apart = [abs(table["P"][0] / linear - 1) for table in (mean, plus, minus)]
assert apart[0] < max(apart[1:]), apart
numbers = [len(photons.Run(f"pair/{name}").halos(0)["GroupMass"]) for name in ("plus", "minus")]
assert f"{numbers[0]} halos in plus/, {numbers[1]} in minus/" in sys.argv[1], sys.argv[1]
counted = photons.read_mass_function("pair/massfunc_000.txt")
assert counted["N_FoF"].sum() == sum(numbers) > 0
assert plots.plot_power(photons.Run("pair")) is not None
