# SPDX-License-Identifier: GPL-3.0-or-later
"""Maps of surface density of isolated systems, smoothed as widely as particles are apart, and the
frame that all outputs of a run are shown in."""

from . import galaxy
from .modules import Deferred

np = Deferred("numpy")

WIDTH = 1.0  # standard deviation of the kernel over the distance of particles
DEVIATION = 0.5**0.5  # of a B-spline read with a B-spline, in pixels of its map
ENOUGH = 8  # particles in a pixel that tell their distance
WIDEST = 16  # pixels a side of the coarsest map
EMPTY = 2e-3  # of the densest place of a map: less is not compared with its surroundings
MARGIN = 8  # of a map: one part in so many on each side is cut off, with what lacks neighbours


class Frame:
    """Where pictures of a run look: the axes of the first output, and one half width for all.

    The z axis is that of the angular momentum of the disk about its centre of mass. For two galaxies
    that is the axis of their orbit. Each output is about the centre of mass of its disk (without a
    disk of what is pictured), which stands between two galaxies. In external potentials each is about
    their centre, along the axes of the file."""

    def __init__(self, first, names):
        self.name = "disk" if "disk" in first.components else None
        self.names = names
        self.fixed = first.in_potential
        self.axes = np.eye(3) if self.fixed else galaxy.axis_of_momentum(*_joined(self._parts(first)))

    def _parts(self, system):
        names = [self.name] if self.name in system.components else self.names
        return [_in_file(system, system.components[n]) for n in names if n in system.components]

    def positions(self, system):
        """Positions in the frame by component, {name: [N, 3]}."""
        position, _, mass = _joined(self._parts(system))
        centre = np.zeros(3) if self.fixed else np.average(position, axis=0, weights=mass)
        return {
            name: (_in_file(system, part)[0] - centre) @ self.axes.T
            for name, part in system.components.items()
            if name in self.names
        }

    def extent(self, system, share=0.98):
        """Half the side [kpc] of the square that holds a share of the mass, seen from above."""
        positions = self.positions(system)
        names = [self.name] if self.name in positions else list(positions)
        reach = np.concatenate([np.abs(positions[n][:, :2]).max(axis=1) for n in names])
        mass = np.concatenate([system.components[n].mass for n in names])
        order = np.argsort(reach)
        return galaxy.radii_of_mass(reach[order], np.cumsum(mass[order]), [share])[0]


def _in_file(system, part):
    """Position, velocity and mass of a component about the origin and along the axes of its file."""
    return part.position @ system.axes + system.centre, part.velocity @ system.axes, part.mass


def _joined(parts):
    return [np.concatenate(columns) for columns in zip(*parts)]


def _weights(u):
    """The pixel left of the one that holds u [pixels], and the weights of three pixels from there on:
    a quadratic B-spline."""
    d = u - np.floor(u) - 0.5
    weights = 0.5 * (0.5 - d) ** 2, 0.75 - d * d, 0.5 * (0.5 + d) ** 2
    return np.floor(u).astype(int) - 1, weights


def spacing_of(place, cells):
    """Distances of particles at each particle, over the side of a square or cube of so many cells a
    side. A cell with few particles takes that of the cell of twice the side about it.

    place -- [N, 2] or [N, 3], 0 <= place < 1"""
    axes, spacing = place.shape[1], np.full(len(place), np.nan)
    while cells >= 1:
        cell = np.floor(place * cells).astype(int) @ cells ** np.arange(axes)
        count = np.bincount(cell, minlength=cells**axes)[cell]
        found = np.isnan(spacing) & ((count >= ENOUGH) | (cells == 1))
        spacing[found] = 1 / (cells * count[found] ** (1 / axes))
        cells //= 2
    return spacing


def _deposit(place, mass, pixels):
    """Sums of masses, [pixels, pixels], with B-splines; what falls off the map is lost."""
    total = np.zeros((pixels + 2) ** 2)  # a rim takes what falls off
    (row, of_rows), (column, of_columns) = (_weights(place[:, c] * pixels) for c in (0, 1))
    for i in range(3):
        for j in range(3):
            cell = (row + i + 1) * (pixels + 2) + column + j + 1
            total += np.bincount(cell, mass * of_rows[i] * of_columns[j], len(total))
    return total.reshape(pixels + 2, -1)[1:-1, 1:-1]


def _read(total, pixels):
    """A map at finer pixels, by the B-splines that it was filled with."""
    coarse = len(total)
    first, weights = _weights((np.arange(pixels) + 0.5) * coarse / pixels)
    matrix = np.zeros((pixels, coarse + 2))
    for i, weight in enumerate(weights):
        matrix[np.arange(pixels), first + i + 1] += weight
    matrix = matrix[:, 1:-1]
    return matrix @ total @ matrix.T * (coarse / pixels) ** 2


def smoothed(place, mass, pixels, spacing=None):
    """Masses in the pixels of a map, [pixels, pixels]. Each particle goes to two maps, of a series
    with wider and wider pixels, whose kernels are nearest to the distance of particles about it.

    place -- [N, 2], first index upwards; the map is 0 <= place < 1; spacing -- that distance over the
    side of the map [N], None: that in the map"""
    inside = np.all((place >= 0) & (place < 1), axis=1)
    place, mass = place[inside], mass[inside]
    spacing = spacing_of(place, pixels) if spacing is None else spacing[inside]
    levels = int(np.log2(pixels / WIDEST)) + 1
    width = WIDTH * spacing * pixels / DEVIATION
    octave = np.clip(np.log2(np.maximum(width, 1)), 0, levels - 1)
    result = np.zeros((pixels, pixels))
    for level in range(levels):
        share = np.maximum(0, 1 - np.abs(octave - level))
        some = share > 0
        if np.any(some):
            total = _deposit(place[some], (mass * share)[some], pixels >> level)
            result += _read(total, pixels)
    return result


def map_of(position, mass, half_width, pixels, up):
    """Surface density [Msun/kpc^2] of the square from -half_width to half_width [kpc], x to the
    right and the axis `up` upwards, [pixels, pixels], first index upwards."""
    more = -(-pixels // MARGIN)
    whole = pixels + 2 * more
    side = 2 * half_width * whole / pixels
    place = position[:, [up, 0]] / side + 0.5
    area = (2 * half_width / pixels) ** 2
    return smoothed(place, mass, whole)[more:-more, more:-more] * (1e10 / area)


def views(positions, masses, half_width, pixels):
    """Maps face-on (x, y) and edge-on (x, z) of all particles of some components together.

    positions, masses -- {name: of the particles}"""
    position = np.concatenate(list(positions.values()))
    mass = np.concatenate([masses[name] for name in positions])
    return [map_of(position, mass, half_width, pixels, up) for up in (1, 2)]


def blurred(image, deviation):
    """A map smoothed by a Gaussian [pixels], over the Gaussian's part inside of the map."""
    i = np.arange(len(image))
    kernel = np.exp(-0.5 * ((i[:, None] - i) / deviation) ** 2)
    kernel /= kernel.sum(axis=1, keepdims=True)
    return kernel @ image @ kernel.T


def unsharp(image, deviation):
    """A map over the same smoothed by a Gaussian [pixels], less 1: what is denser than its
    surroundings, such as spiral arms and bars, is above 0. NaN where there is next to nothing."""
    smooth = blurred(image, deviation)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(smooth > EMPTY * smooth.max(), image / smooth - 1, np.nan)
