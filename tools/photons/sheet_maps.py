# SPDX-License-Identifier: GPL-3.0-or-later
"""Maps of particles that began on a lattice: the phase-space sheet between them (Abel, Hahn & Kaehler 2012,
MNRAS 427, 61), sampled at points inside of the lattice's cells. Unlike particles it is smooth where matter is
thin."""

from .modules import Deferred

np = Deferred("numpy")

SAMPLES = 256  # a side of the box, at least


def lattice_of(table, config_text):
    """Particles' numbers a side of the lattice that they began on; 0: they did not, or it is not known.

    table -- columns number and mass, in the order of numbers; config_text -- config.ini of the run"""
    count = len(table["number"])
    side = round(count ** (1 / 3))
    lines = (line.partition("=") for line in config_text.splitlines())
    given = {name.strip() for name, _, value in lines if value.strip()}
    whole = count > 0 and side**3 == count and np.array_equal(table["number"], np.arange(count))
    same = whole and np.ptp(table["mass"]) == 0
    return side if same and "npart_side" in given and not {"particles", "glass"} & given else 0


def _between(corner, axis, part):
    """Points a part of the way to the next corner along an axis of the lattice; the box has the side 1."""
    way = np.roll(corner, -1, axis) - corner
    return corner + part * (way - np.rint(way))


def _deposit(place, pixels):
    """Numbers of points in pixels, each in the four nearest ones; the map is periodic."""
    u = (place.reshape(-1, 2) % 1) * pixels - 0.5
    low = np.floor(u).astype(int)
    part = u - low
    total = np.zeros(pixels * pixels)
    for i in (0, 1):
        for j in (0, 1):
            cell = (low[:, 0] + i) % pixels * pixels + (low[:, 1] + j) % pixels
            weight = np.abs(1 - i - part[:, 0]) * np.abs(1 - j - part[:, 1])
            total += np.bincount(cell, weight, len(total))
    return total.reshape(pixels, pixels)


def sheet_map(place, side):
    """The column density over its mean, in a square of as many pixels a side as there are samples, first index
    upwards.

    place -- [side^3, 2] up and across, over the side of the box, in the order of the lattice"""
    lattice = np.asarray(place).reshape(side, side, side, 2)
    steps = -(-SAMPLES // side)
    parts = (np.arange(steps) + 0.5) / steps
    total, pixels = 0, side * steps
    for x in parts:
        plane = _between(lattice, 0, x)
        for y in parts:
            row = _between(plane, 1, y)
            for z in parts:
                total += _deposit(_between(row, 2, z), pixels)
    return total / total.mean()
