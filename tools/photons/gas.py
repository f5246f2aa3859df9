# SPDX-License-Identifier: GPL-3.0-or-later
"""Gas on an adaptive mesh: gas_NNN.hdf5 (in the layout of GAMER, whose files can be read, too) on
lines, slices and projections through all levels, as profiles, and beside exact solutions.

All numbers are in the units of the run. A cell is counted on the finest level that covers it."""

import functools

from .files import Table
from .modules import Deferred
from .reading import reading, require_parts

h5py, np = Deferred("h5py"), Deferred("numpy")

PATCH = 8  # cells a side
STORED = {  # names in files
    "density": "Dens",
    "momentum_x": "MomX",
    "momentum_y": "MomY",
    "momentum_z": "MomZ",
    "energy": "Engy",
    "entropy": "Dual",
    "potential": "Pote",
}
AXES = "xyz"
CODE_UNITS = " [code units]"  # for labels: the units that config.ini of gas at rest is in
BOLTZMANN = 0.00824999  # over the mass of a hydrogen atom, (km/s)^2/K


def _member(record, name, default):
    return record[name] if name in record.dtype.names else default


def _labels(grid_data):
    """Names in files by names of variables. Files say those that GAMER does not."""
    labels = {name: label for name, label in STORED.items() if label in grid_data}
    for label, dataset in grid_data.items():
        name = _text(dataset.attrs.get("name", ""))
        if name and label not in labels.values():
            labels[name] = label
    return labels


class Mesh:
    """One file. Its patches are numbered as in the file; arrays of cells have the shape
    [patch, z, y, x].

    time, of comoving gas the scale factor; comoving; redshift, NaN where there is none; gamma;
    molecular_weight;
    box [3]; root, cells of level 0 [3]; level [patch]; corner [patch, 3] in cells of the patch's
    level; leaf [patch], whether no finer patch covers it; side, of the cells [patch].
    Raises ValueError if the file is none of gas."""

    def __init__(self, path):
        self.path = path
        with reading(path), h5py.File(path, "r") as file:
            require_parts(file)
            if "Info/KeyInfo" not in file or "Tree/Corner" not in file:
                raise ValueError(f"{path}: not a file of gas: no Info/KeyInfo or no Tree")
            key = file["Info/KeyInfo"][()]
            self.time, self.box = float(key["Time"][0]), np.array(key["BoxSize"], dtype=float)
            self.root, self.step = np.array(key["NX0"], dtype=int), int(key["Step"])
            given = file["Info/InputPara"][()]
            self.gamma = float(given["Gamma"])
            self.molecular_weight = float(_member(given, "MolecularWeight", 0.6))
            self.comoving = "Makefile" in file["Info"] and bool(
                _member(file["Info/Makefile"][()], "Comoving", 0)
            )
            self.redshift = 1 / self.time - 1 if self.comoving else float("nan")
            self.patches = np.array(key["NPatch"], dtype=int)  # by level
            self.level = np.repeat(np.arange(len(self.patches)), self.patches)
            scale = np.array(key["CellScale"], dtype=int)[self.level]
            self.corner = file["Tree/Corner"][()] // scale[:, None]
            self.leaf = file["Tree/Son"][()] < 0
            self.labels = _labels(file["GridData"])
            self.stored = list(self.labels)
            self.carried = [name for name in self.stored if name not in STORED]
            self.config_text = _text(file.attrs.get("config.ini", ""))
            self.side = self.box[0] / self.root[0] / 2.0**self.level
            self.finest = int(self.level.max())

    @functools.lru_cache(maxsize=16)
    def _read(self, name):
        with reading(self.path), h5py.File(self.path, "r") as file:
            return file["GridData"][self.labels[name]][()].astype(float)

    @property
    def moment(self):
        """The time for titles: "t = 0.1", of comoving gas "z = 3"."""
        if self.comoving:
            return f"z = {self.redshift + 0.0:.4g}"
        return f"t = {self.time:.5g}"

    @property
    def has_gas(self):
        """Whether there is gas; with gas.solver = none its density is 0."""
        return bool(self._read("density").max() > 0)

    @property
    def cells(self):
        """How many cells there are, each counted once."""
        return int(np.count_nonzero(self.leaf)) * PATCH**3

    def field(self, name):
        """Values of all cells [patch, z, y, x]: a stored variable (density, momentum_x, ...,
        energy, entropy, potential), the fraction of a variable that the gas carries (scalar_0, ...), velocity_x, velocity_y, velocity_z, speed, pressure,
        sound_speed, temperature of comoving gas [K], or level.

        Raises ValueError if there is no such field."""
        if name in self.carried:
            return self._read(name) / self._read("density")
        if name in self.stored:
            return self._read(name)
        if name == "level":
            return np.broadcast_to(self.level[:, None, None, None], self._read("density").shape)
        if name in ("velocity_x", "velocity_y", "velocity_z"):
            return self._read(f"momentum_{name[-1]}") / self._read("density")
        if name == "speed":
            return np.sqrt(self._momentum_squared()) / self._read("density")
        if name == "pressure":
            return self._pressure()
        if name == "temperature":
            heat = self._pressure() / self._read("density") / self.time**2
            return heat * self.molecular_weight / BOLTZMANN
        if name == "sound_speed":
            return np.sqrt(self.gamma * self.field("pressure") / self._read("density"))
        raise ValueError(f"{self.path}: no field {name}")

    def _pressure(self):
        """In cold flows, whose thermal energy is lost in rounding, from the entropy."""
        energy, density = self._read("energy"), self._read("density")
        thermal = energy - self._momentum_squared() / (2 * density)
        pressure = (self.gamma - 1) * thermal
        if "entropy" not in self.stored:
            return pressure
        cold = self._read("entropy") * density ** (self.gamma - 1)
        return np.where(thermal < 0.01 * energy, cold, pressure)

    def _momentum_squared(self):
        return sum(self._read(f"momentum_{axis}") ** 2 for axis in AXES)

    def coordinate(self, axis):
        """Middles of all cells along an axis, "x", "y" or "z", to broadcast to [patch, z, y, x]."""
        index = AXES.index(axis)
        inside = np.arange(PATCH) + 0.5
        middles = (self.corner[:, index, None] + inside) * self.side[:, None]
        shape = [-1, 1, 1, 1]
        shape[3 - index] = PATCH
        return middles.reshape(shape)

    def positions(self):
        """Middles of the cells that are counted: x, y, z, each [cell]."""
        shape = (np.count_nonzero(self.leaf),) + (PATCH,) * 3
        return [np.broadcast_to(self.coordinate(axis)[self.leaf], shape).ravel() for axis in AXES]

    def volumes(self):
        """Of the cells that are counted [cell]."""
        return np.repeat(self.side[self.leaf] ** 3, PATCH**3)

    def values(self, name):
        """A field of the cells that are counted [cell]."""
        return self.field(name)[self.leaf].ravel()

    def integral(self, name):
        """The integral of a field over the box."""
        return float(np.sum(self.values(name) * self.volumes()))

    def grid(self, name, level=0):
        """A field on the cells of a level, [z, y, x]; finer cells are averaged, coarser ones
        repeated."""
        values, field = np.empty(self.root[::-1] * 2**level), self.field(name)
        for patch in np.flatnonzero(self.level <= level):
            wide = 2 ** (level - self.level[patch])
            low = self.corner[patch, ::-1] * wide
            place = tuple(slice(first, first + PATCH * wide) for first in low)
            values[place] = np.kron(field[patch], np.ones((wide,) * 3))
        return values

    def power(self, level=0):
        """The power spectrum of the density on the cells of a level, without the cells' own window:
        a Table of k, P and modes in bins as wide as the longest wave, below the Nyquist frequency
        of the cells. k and P have the units of the box."""
        density = self.grid("density", level)
        waves = np.fft.rfftn(density / density.mean() - 1) / density.size
        size, mode = np.array(density.shape), []
        for axis, n in enumerate(size):
            number = np.fft.rfftfreq(n, 1 / n) if axis == 2 else np.fft.fftfreq(n, 1 / n)
            mode.append(number.reshape([-1 if i == axis else 1 for i in range(3)]))
            waves /= np.sinc(mode[axis] / n)
        side = self.box[::-1]
        k = 2 * np.pi * np.sqrt(sum((m / length) ** 2 for m, length in zip(mode, side)))
        twice = (mode[2] > 0) & (2 * mode[2] < size[2])  # k stands for -k, too
        weight = np.broadcast_to(np.where(twice, 1.0, 0.5), k.shape)
        fundamental = 2 * np.pi / side.max()
        bins = np.rint(k / fundamental).astype(int).ravel()
        count = int(np.min(np.pi * size / side) / fundamental)

        def sums(values):
            return np.bincount(bins, (weight * values).ravel())[1:count]

        modes = sums(np.ones(k.shape))
        power = sums(np.abs(waves) ** 2) * np.prod(side)
        return Table({"k": sums(k) / modes, "P": power / modes, "modes": modes})

    @functools.cached_property
    def particles(self):
        """The particles in the order of their numbers: a Table of x, y, z, velocity_x, velocity_y,
        velocity_z, mass, number and type. It has no rows where a run has no particles."""
        table, stored = Table(), {"x": "ParPosX", "y": "ParPosY", "z": "ParPosZ"}
        stored.update({f"velocity_{axis}": f"ParVel{axis.upper()}" for axis in AXES})
        stored.update({"mass": "ParMass", "number": "ParPUid", "type": "ParType"})
        with h5py.File(self.path, "r") as file:
            there = "Particle" in file
            order = np.argsort(file["Particle/ParPUid"][()]) if there else None
            for name, column in stored.items():
                table[name] = file[f"Particle/{column}"][()][order] if there else np.zeros(0)
        return table

    def volume_share(self, level):
        """The share of the box that a level and finer ones cover."""
        share = np.sum(self.side[self.level == level] ** 3) * PATCH**3
        return float(share / np.prod(self.box))

    # Lines, slices, projections.

    def line(self, names, axis="x", through=None):
        """Fields along a line parallel to an axis, in the cells that it meets.

        through -- the other two coordinates, in the order x, y, z; the middle by default
        Returns a Table: the coordinate, named as the axis, rising; `side` of the cells; the
        fields."""
        along = AXES.index(axis)
        others = [i for i in range(3) if i != along]
        through = self.box[others] / 2 if through is None else through
        place = [self._index(i, coordinate) for i, coordinate in zip(others, through)]
        meets = self.leaf.copy()
        for cell in place:
            meets &= (cell >= 0) & (cell < PATCH)
        chosen = np.flatnonzero(meets)
        select = [chosen[:, None], None, None, None]
        for i, cell in zip(others, place):
            select[3 - i] = cell[chosen][:, None]
        select[3 - along] = np.arange(PATCH)[None, :]
        position = (self.corner[chosen, along, None] + np.arange(PATCH) + 0.5) * self.side[
            chosen, None
        ]
        order = np.argsort(position, axis=None)
        table = Table({axis: position.ravel()[order]})
        table["side"] = np.repeat(self.side[chosen], PATCH)[order]
        for name in names:
            table[name] = self.field(name)[tuple(select)].ravel()[order]
        return table

    def slice(self, name, axis="z", at=None, level=None):
        """A field in a plane, an array [second, first] of the other axes in the order x, y, z.

        axis -- the normal; at -- its coordinate, the middle by default; level -- whose cells are
        the pixels, the finest by default. Finer cells are averaged."""
        normal = AXES.index(axis)
        at = self.box[normal] / 2 if at is None else at
        cell = self._index(normal, at)
        chosen = np.flatnonzero(self.leaf & (cell >= 0) & (cell < PATCH))
        select = [chosen] + [slice(None)] * 3
        select[3 - normal] = cell[chosen]
        return self._picture(chosen, self.field(name)[tuple(select)], normal, level)

    def projection(self, name, axis="z", level=None):
        """The integral of a field along an axis, an array as of slice()."""
        normal = AXES.index(axis)
        chosen = np.flatnonzero(self.leaf)
        sums = self.field(name)[chosen].sum(axis=3 - normal) * self.side[chosen, None, None]
        return self._picture(chosen, sums, normal, level)

    def _index(self, i, coordinate):
        """Along axis i the cell of each patch that holds a coordinate; outside 0..7: not in it. A
        coordinate between two cells is in the upper one."""
        return np.floor(coordinate / self.side).astype(int) - self.corner[:, i]

    def _picture(self, chosen, values, normal, level):
        """Add up the patches of a picture. values -- [chosen, PATCH, PATCH]"""
        level = self.finest if level is None else level
        across, up = (i for i in range(3) if i != normal)
        picture = np.zeros((self.root[up] * 2**level, self.root[across] * 2**level))
        for own in np.unique(self.level[chosen]):
            some = self.level[chosen] == own
            patches, part = chosen[some], values[some]
            first = np.arange(PATCH)
            if own <= level:  # a cell is one or more pixels
                repeat = 2 ** (level - own)
                part = part.repeat(repeat, axis=1).repeat(repeat, axis=2)
                first = np.arange(PATCH * repeat)
                corner, divisor = self.corner[patches] * repeat, 1
            else:
                corner, divisor = self.corner[patches], 2 ** (own - level)
                part = part / divisor**2
            rows, columns = ((corner[:, i, None] + first) // divisor for i in (up, across))
            np.add.at(picture, (rows[:, :, None], columns[:, None, :]), part)
        return picture


def _text(value):
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def profile(position, volume, columns, width):
    """Means, weighted by volume, in bins of a coordinate.

    position, volume -- of cells; columns -- {name: [cell]}; width -- of a bin
    Returns a Table: position (mean of the cells), and of each column NAME, NAME_low and NAME_high,
    the smallest and the largest."""
    place = np.floor(position / width).astype(int)
    order = np.argsort(place, kind="stable")
    starts = np.flatnonzero(np.diff(place[order], prepend=place[order][0] - 1))

    def mean(values):
        return np.add.reduceat((values * volume)[order], starts) / np.add.reduceat(
            volume[order], starts
        )

    table = Table({"position": mean(position)})
    for name, values in columns.items():
        table[name] = mean(values)
        table[f"{name}_low"] = np.minimum.reduceat(values[order], starts)
        table[f"{name}_high"] = np.maximum.reduceat(values[order], starts)
    return table
