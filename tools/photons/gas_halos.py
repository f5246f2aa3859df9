# SPDX-License-Identifier: GPL-3.0-or-later
"""Gas in halos of a universe on the adaptive mesh: the sphere of 200 times the critical density
about the densest places, its baryon fraction, and profiles about its centre.

Lengths are comoving, Mpc/h; masses 1e10 Msun/h; temperatures K."""

import functools

from .files import Table, read_config
from .modules import Deferred

np = Deferred("numpy")

CRITICAL = 27.755  # density today, 1e10 Msun/h/(Mpc/h)^3
NEWTON = 43.0071  # (km/s)^2 Mpc/h / (1e10 Msun/h)
BOLTZMANN = 0.00824999  # over the mass of a hydrogen atom, (km/s)^2/K
CANDIDATES = 6  # densest places that are looked at
FEWEST = 20  # points that make a halo
PARTS = 4  # along a side, into which cells of a halo are cut
PROFILE = 3.0  # radii that a profile reaches


class Matter:
    """All gas cells and particles of a file, as points.

    mesh -- gas.Mesh of a comoving run; position [point, 3]; mass [point]; side [point], of cells, 0
    of particles; gas [point], whether a point is a cell; temperature [point], 0 of particles;
    critical -- the comoving critical density; baryons -- the mean part of gas in all matter"""

    def __init__(self, mesh):
        if not mesh.comoving:
            raise ValueError(f"{mesh.path}: halos are looked for in an expanding universe alone")
        self.mesh = mesh
        particles = mesh.particles
        density = mesh.values("density")
        cells = np.stack(mesh.positions(), axis=1)
        some = density > 0
        temperature = np.zeros(density.shape)
        if some.any():
            temperature = mesh.values("temperature")
        points = np.stack([particles[axis] for axis in "xyz"], axis=1)
        count = len(points)
        self.position = np.concatenate([cells[some], points])
        self.mass = np.concatenate([(density * mesh.volumes())[some], particles["mass"]])
        self.gas = np.arange(len(self.mass)) < np.count_nonzero(some)
        self.temperature = np.concatenate([temperature[some], np.zeros(count)])
        self.side = np.concatenate([np.cbrt(mesh.volumes())[some], np.zeros(count)])
        self.weight = mesh.molecular_weight
        given = read_config(mesh.config_text)["cosmology"]
        omega, dark = float(given["Omega_m"]), float(given["Omega_lambda"])
        a = mesh.time
        self.critical = CRITICAL * (omega + (1 - omega - dark) * a + dark * a**3)
        self.baryons = self.mass[self.gas].sum() / self.mass.sum()

    def places(self):
        """The densest cells of the root level among their neighbours, the densest first
        [place, 3]."""
        mesh = self.mesh
        cell = (self.position / mesh.box * mesh.root).astype(int) % mesh.root
        number = np.ravel_multi_index(tuple(cell.T), mesh.root)
        grid = np.bincount(number, self.mass, np.prod(mesh.root)).reshape(mesh.root)
        smooth = grid
        for axis in range(3):
            smooth = smooth + np.roll(smooth, 1, axis) + np.roll(smooth, -1, axis)
        shifts = [shift for shift in np.ndindex(3, 3, 3) if shift != (1, 1, 1)]
        peak = np.all(
            [smooth >= np.roll(smooth, np.array(shift) - 1, (0, 1, 2)) for shift in shifts], axis=0
        )
        found = np.argwhere(peak)
        order = np.argsort(-smooth[peak], kind="stable")[:CANDIDATES]
        return (found[order] + 0.5) * mesh.box / mesh.root

    def offsets(self, place):
        way = self.position - place
        return way - self.mesh.box * np.round(way / self.mesh.box)

    def centre(self, place):
        """The densest point near a place: centre of mass of a sphere that shrinks (Power et al.
        2003, MNRAS 338, 14)."""
        radius, finest = 2 * self.mesh.box[0] / self.mesh.root[0], self.mesh.side.min()
        way = self.offsets(place)
        near = np.sum(way**2, axis=1) < (2 * radius) ** 2
        way, mass, moved = way[near], self.mass[near], np.zeros(3)
        while True:
            inside = np.sum((way - moved) ** 2, axis=1) < radius**2
            if np.count_nonzero(inside) < FEWEST or radius < finest:
                return (place + moved) % self.mesh.box
            moved = np.average(way[inside], axis=0, weights=mass[inside])
            radius *= 0.9


class Halo:
    """The matter about a centre.

    centre [3]; radius, that of 200 times the critical density; mass, within it; baryon_fraction
    within it, over the mean; temperature, mean of the gas within it, weighted by mass. They are 0
    where the centre is not that dense. A halo ends within a quarter of the box."""

    def __init__(self, matter, centre):
        self.matter, self.centre = matter, centre
        way = matter.offsets(centre)
        near = np.sum(way**2, axis=1) < (matter.mesh.box.min() / 4) ** 2
        self._take(way[near], matter.mass[near], matter.gas[near], matter.temperature[near])
        if self.mass > 0:
            self._take(*self._split(way))
        inside = self.distance < self.radius
        gas = inside & self.gas
        of_gas = self.shares[gas].sum()
        self.temperature, self.baryon_fraction = 0.0, 0.0
        if of_gas > 0:
            self.temperature = float(np.average(self.heat[gas], weights=self.shares[gas]))
            self.baryon_fraction = float(of_gas / self.shares[inside].sum() / matter.baryons)

    def _take(self, way, mass, gas, temperature):
        """Points by their distance, and the radius and the mass that follow."""
        critical = self.matter.critical
        distance = np.sqrt(np.sum(way**2, axis=1))
        order = np.argsort(distance, kind="stable")
        self.distance, self.shares = distance[order], mass[order]
        self.gas, self.heat = gas[order], temperature[order]
        enclosed = np.cumsum(self.shares)
        thin = enclosed < 800 / 3 * np.pi * critical * self.distance**3
        thin[:FEWEST] = False
        last = np.flatnonzero(thin)[:1]
        self.mass = float(enclosed[last[0] - 1]) if len(last) and last[0] > FEWEST else 0.0
        self.radius = (self.mass / (800 / 3 * np.pi * critical)) ** (1 / 3)

    def _split(self, way):
        """The matter within some radii, with cells cut into parts: points would all be in one
        shell. Each cell has the same temperature everywhere."""
        matter = self.matter
        distance = np.sqrt(np.sum(way**2, axis=1))
        near = distance < PROFILE * self.radius + matter.side
        cells, points = near & matter.gas, near & ~matter.gas
        inside = (np.indices((PARTS,) * 3).reshape(3, -1).T + 0.5) / PARTS - 0.5
        parts = way[cells][:, None, :] + matter.side[cells][:, None, None] * inside
        pieces = PARTS**3
        gas = np.arange(parts.shape[0] * pieces + np.count_nonzero(points))
        return (
            np.concatenate([parts.reshape(-1, 3), way[points]]),
            np.concatenate([np.repeat(matter.mass[cells] / pieces, pieces), matter.mass[points]]),
            gas < parts.shape[0] * pieces,
            np.concatenate(
                [np.repeat(matter.temperature[cells], pieces), matter.temperature[points]]
            ),
        )

    @functools.cached_property
    def virial_temperature(self):
        """Of gas in the potential of the halo's mass: mu m_H G M / (2 k radius)."""
        a = self.matter.mesh.time
        return self.matter.weight * NEWTON * self.mass / (2 * BOLTZMANN * a * self.radius)

    def profile(self, bins=12):
        """In shells from the side of the finest cells to three radii: a Table of radius; gas and
        particles, their densities over their means; temperature; baryon_fraction within the outer
        radius of the shell, over the mean."""
        matter, mesh = self.matter, self.matter.mesh
        edges = np.geomspace(mesh.side.min(), PROFILE * self.radius, bins + 1)
        shell = np.searchsorted(edges, self.distance) - 1
        mass, gas = self.shares, self.gas
        volume, box = 4 / 3 * np.pi * np.diff(edges**3), np.prod(mesh.box)
        table = Table({"radius": np.sqrt(edges[1:] * edges[:-1])})

        def sums(values, some):
            some = some & (shell >= 0) & (shell < bins)
            return np.bincount(shell[some], values[some], bins)

        for name, some in (("gas", gas), ("particles", ~gas)):
            of_all = matter.mass[matter.gas == (name == "gas")].sum()
            table[name] = sums(mass, some) / volume / max(of_all / box, 1e-300)
        with np.errstate(invalid="ignore"):
            table["temperature"] = sums(mass * self.heat, gas) / sums(mass, gas)
            within = [np.searchsorted(self.distance, edge) for edge in edges[1:]]
            all_gas = np.append(0, np.cumsum(mass * gas))[within]
            table["baryon_fraction"] = all_gas / np.append(0, np.cumsum(mass))[within]
            table["baryon_fraction"] /= matter.baryons
        return table


def largest(mesh):
    """The Halo of the largest mass in a file, or None where nothing is dense enough."""
    matter = Matter(mesh)
    halos = [Halo(matter, matter.centre(place)) for place in matter.places()]
    best = max(halos, key=lambda halo: halo.mass)
    return best if best.mass > 0 else None
