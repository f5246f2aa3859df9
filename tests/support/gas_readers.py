# SPDX-License-Identifier: GPL-3.0-or-later
"""Does yt find in files of gas what is there?

usage: gas_readers.py FILE...
The gas of the files is that of tests/unit/gas/test_gas_file.c: the density on level l is
1 + 100 l + x + 3y + 7z, and momentum and energy are shares of it. A file of comoving gas is a pancake
of 64 Mpc/h at z = 20 with 100 K, in an Einstein-de Sitter universe with h = 0.5, of which a quarter is
gas and the rest are particles."""

import sys

import h5py
import numpy as np
import yt

yt.set_log_level("error")
SHARES = {"Dens": 1.0, "MomX": 0.1, "MomY": -0.2, "MomZ": 0.3, "Engy": 2 / 3, "Dual": 0.4, "Pote": -0.4,
          "Passive_00": 0.25, "Passive_01": 0.75}


def density(x, y, z, level):
    return 1 + 100 * level + x + 3 * y + 7 * z


def is_close(found, expected, tolerance):
    return np.allclose(found, expected, rtol=tolerance, atol=0)


def check(path):
    with h5py.File(path) as file:
        tolerance = 1e-6 if file["GridData/Dens"].dtype == "f4" else 1e-14  # a few roundings
    ds = yt.load(path)
    ds._debug = True  # checks that fathers and sons know each other
    assert type(ds).__name__ == "GAMERDataset" and ds.index.max_level == 2
    assert ds.index.num_grids == 5 and list(ds.index.grid_levels.flat) == [0, 0, 1, 1, 2]
    assert ds.domain_width.d.tolist() == [2, 1, 1] and ds.gamma == 1.4
    assert ds.periodicity == (True, False, False) and float(ds.current_time) == 0.1 + 0.2
    assert sorted(name for kind, name in ds.field_list if kind == "gamer") == sorted(SHARES)

    # Each cell once, on the finest level that there is; its neighbours where they should be.
    data = ds.all_data()
    x, y, z = (data["index", axis].d for axis in "xyz")
    level = data["index", "grid_level"].d
    cells = [np.count_nonzero(level == number) for number in range(3)]
    assert cells == [(16 - 2) * 512, (16 - 1) * 512, 8 * 512], cells
    assert np.isclose(data["index", "cell_volume"].d.sum(), 2)
    for name, share in SHARES.items():
        expected = share * density(x, y, z, level)
        assert is_close(data["gamer", name].d, expected, tolerance), name
        assert not is_close(data["gamer", name].d, share * density(y, x, z, level), tolerance)
    rho = density(x, y, z, level)
    assert is_close(data["gas", "density"].d, rho, tolerance)
    assert is_close(data["gas", "velocity_x"].d, 0.1, tolerance)
    assert is_close(data["gas", "gravitational_potential"].d, -0.4 * rho, tolerance)
    kinetic = (0.01 + 0.04 + 0.09) / 2 * rho
    assert is_close(data["gas", "pressure"].d, 0.4 * (2 / 3 * rho - kinetic), 10 * tolerance)

    # Particles: half of them all over the box, half in the middle; each grid has its own.
    mass, place = data["all", "particle_mass"].d, data["all", "particle_position"].d
    assert len(mass) == 40 and np.isclose(mass.sum(), 40 + 40 * 39 / 6)
    expected = place * np.array([1, 2, 3])
    assert is_close(data["all", "particle_velocity"].d, expected, 1e-14)
    left = ds.box([0, 0, 0], [0.9, 1, 1])
    assert len(left["all", "particle_mass"]) == np.count_nonzero(place[:, 0] < 0.9) > 5
    held = [len(grid["all", "particle_mass"]) for grid in ds.index.grids]
    assert held == list(ds.index.grid_particle_count.flat) and max(held) > 9, held

    # The projection along z of the columns below and beside the finest group.
    projection = ds.proj(("gamer", "Dens"), "z")
    picture = projection.to_frb((2, "code_length"), (128, 64), height=(1, "code_length"))
    picture = picture["gamer", "Dens"].d
    for place in ((0.1, 0.1), (1.3, 0.9)):
        found = picture[int(place[1] * 64), int(place[0] * 64)]
        expected = column_of(rho, x, y, level, place)
        assert is_close(found, expected, 10 * tolerance), (place, found, expected)


def column_of(rho, x, y, level, place):
    """Sum of rho dz over the cells above a place."""
    side = 1 / 16 / 2**level
    inside = (np.abs(x - place[0]) < side / 2) & (np.abs(y - place[1]) < side / 2)
    return np.sum((rho * side)[inside])


def check_comoving(path):
    """Units are the physical ones."""
    ds = yt.load(path)
    data = ds.all_data()
    assert ds.cosmological_simulation and abs(ds.current_redshift - 20) < 1e-12
    assert ds.omega_matter == 1 and ds.hubble_constant == 0.5
    assert is_close(ds.domain_width.to("Mpccm/h").d, (64, 32, 32), 1e-6)
    mean = data["gas", "density"].to("g/cm**3").d.mean()
    critical = 1.8788e-29 * 0.25 * 21**3
    assert is_close(mean, 0.25 * critical, 1e-3), mean
    assert is_close(data["gas", "temperature"].to("K").d, 100, 1e-3)
    fastest = data["gas", "velocity_x"].to("km/s").d.max()
    flow = 100 * 21**-0.5 * 2 * 64 / (2 * np.pi)
    assert is_close(fastest, flow, 1e-2), fastest
    mass = data["all", "particle_mass"].to("g").d.sum()
    assert is_close(mass, 0.75 * critical * float(ds.domain_width.to("cm").prod()), 1e-3), mass
    fastest = data["all", "particle_velocity_x"].to("km/s").d.max()
    assert is_close(fastest, flow, 1e-2), fastest
    place = data["all", "particle_position_x"].to("Mpccm/h").d
    assert place.min() >= 0 and 60 < place.max() < 64


def is_comoving(path):
    with h5py.File(path) as file:
        return bool(file["Info/Makefile"]["Comoving"])


for name in sys.argv[1:]:
    (check_comoving if is_comoving(name) else check)(name)
