# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of gas for tests of what reads them: meshes refined where a function says, with cells that
a function fills."""

import h5py
import numpy as np

ORDER = np.array(  # of the patches of a group, as GAMER has it
    [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]]
)
PATCH = 8


def _levels(root, length, finest, refined):
    """By level: places of patches [N, 3] in units of their side; and for each whether a group is in
    its place, whose number counts from 0."""
    groups = np.argwhere(np.ones([n // 16 for n in root]))
    levels = []
    for level in range(finest + 1):
        place = (2 * groups[:, None] + ORDER).reshape(-1, 3)
        side = length / root[0] * PATCH / 2**level
        inside = level < finest and len(place) > 0
        fine = refined(level, (place + 0.5) * side) if inside else np.full(len(place), False)
        levels.append((place, fine))
        groups = place[fine]
    return levels


def write_gas(path, root, fill, refined=lambda level, middle: np.full(len(middle), False),
              finest=2, length=1.0, time=0.0, gamma=5 / 3, config=""):  # fmt: skip
    """Write gas_NNN.hdf5.

    root -- cells of level 0; fill(x, y, z) -- density, three velocities, pressure, of arrays
    refined(level, middle) -- which patches, by their middles [N, 3], have a finer group; length --
    of the box along x"""
    levels = _levels(root, length, finest, refined)
    counts = np.array([len(place) for place, _ in levels])
    first = np.append(0, np.cumsum(counts))
    corner, son, fields = [], [], []
    for level, (place, fine) in enumerate(levels):
        scale = 2 ** (finest - level)
        corner.append(place * PATCH * scale)
        sons = np.full(len(place), -1)
        sons[fine] = first[level + 1] + 8 * np.arange(np.count_nonzero(fine))
        son.append(sons)
        middle = (place[:, :, None] * PATCH + np.arange(PATCH) + 0.5) * length / root[0] / 2**level
        x, y, z = (middle[:, i].reshape([-1] + [PATCH if 3 - i == k else 1 for k in (1, 2, 3)])
                   for i in range(3))  # fmt: skip
        fields.append([np.broadcast_to(values, (len(place),) + (PATCH,) * 3)
                       for values in fill(x, y, z)])  # fmt: skip
    rho, *velocity, pressure = (np.concatenate(values) for values in zip(*fields))
    stored = {"Dens": rho, "Engy": pressure / (gamma - 1) + rho * sum(v**2 for v in velocity) / 2}
    stored.update({f"Mom{axis}": rho * v for axis, v in zip("XYZ", velocity)})
    levels = (finest + 1,)
    numbers = [("NX0", "i4", (3,)), ("BoxSize", "f8", (3,)), ("NPatch", "i4", levels),
               ("CellScale", "i4", levels), ("Time", "f8", levels), ("Step", "i8")]  # fmt: skip
    box = np.array(root) * length / root[0]
    scales, times = 2 ** np.arange(finest, -1, -1), np.full(finest + 1, time)
    key = (*map(tuple, (root, box, counts, scales, times)), 7)
    with h5py.File(path, "w") as file:
        file["Info/KeyInfo"] = np.array(key, dtype=numbers)
        file["Info/InputPara"] = np.array((gamma,), dtype=[("Gamma", "f8")])
        file["Tree/Corner"], file["Tree/Son"] = np.concatenate(corner), np.concatenate(son)
        for name, values in stored.items():
            file[f"GridData/{name}"] = values
        file.attrs["config.ini"] = np.bytes_(config)
        file.create_group("Provenance").attrs["program"] = "a test"
