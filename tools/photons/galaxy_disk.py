# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures of a disk and its galaxy over time: bar, scale length, height, dispersions, spin, centre,
by the definitions of src/analysis/disk_measures.c, which measures while a run goes on; and profiles of the anisotropy of velocities. Units are those of photons.galaxy."""

from . import galaxy
from .files import Table
from .modules import Deferred

np = Deferred("numpy")

RING_PARTICLES = 100  # least number in a ring whose shape is measured
RINGS = 24  # to the extent of the disk


def fourier(disk, edges):
    """Shape of the disk in rings: Table of R_low, R_high, N, A2 = |sum m exp(2i phi)|/sum m, and the
    angle [rad] of its maximum, between -pi/2 and pi/2. Rings with few particles are left out."""
    x, y = disk.position[:, 0], disk.position[:, 1]
    ring, phase = np.digitize(np.hypot(x, y), edges) - 1, np.exp(2j * np.arctan2(y, x))
    rows = []
    for i in range(len(edges) - 1):
        some = ring == i
        if np.count_nonzero(some) >= RING_PARTICLES:
            mean = np.average(phase[some], weights=disk.mass[some])
            rows.append((edges[i], edges[i + 1], np.count_nonzero(some), abs(mean),
                         np.angle(mean) / 2))  # fmt: skip
    names = ("R_low", "R_high", "N", "A2", "angle")
    return Table(zip(names, np.array(rows).reshape(-1, 5).T))


def scale_length(disk):
    """R_d [kpc] of an exponential disk with the same median radius, 1.67835 R_d."""
    R = np.sort(np.hypot(disk.position[:, 0], disk.position[:, 1]))
    return float(np.median(R) / 1.67834699)


def bar(disk, reach):
    """Strength and angle [rad] of the bar: A2 of the particles within `reach` [kpc], in which all
    have the same weight by mass, and the angle of its maximum. NaN with too few particles."""
    shape = fourier(disk, np.array([0.0, reach]))
    return (shape["A2"][0], shape["angle"][0]) if len(shape["A2"]) else (np.nan, np.nan)


def measures(system):
    """A row of what is measured of one output: {name: number}.

    centre_x, centre_y, centre_z -- of the file [kpc]; and of a disk: bar_strength, bar_angle [rad] in
    the plane of the disk, within two scale lengths; A2_max, the largest A2 of a ring; scale_length;
    height, the root mean square of z; sigma_R, sigma_phi, sigma_z [km/s] about the mean motion at two
    scale lengths; spin_x, spin_y, spin_z: its angular momentum by mass [kpc km/s] along the axes of
    the file"""
    row = {f"centre_{axis}": value for axis, value in zip("xyz", system.centre)}
    disk = system.components.get("disk")
    if disk is None:
        return row
    length = scale_length(disk) or 1.0
    strength, angle = bar(disk, 2 * length)
    rings = fourier(disk, np.linspace(0, galaxy.extent(system) or 1.0, RINGS + 1))
    moving = galaxy.disk_rotation(system, np.array([1.5, 2.5]) * length)
    height, _ = galaxy.root_mean_square(disk.position[:, 2], disk.mass)
    row.update(bar_strength=strength, bar_angle=angle, scale_length=length, height=height,
               A2_max=rings["A2"].max() if len(rings["A2"]) else np.nan)  # fmt: skip
    for axis in ("R", "phi", "z"):
        row[f"sigma_{axis}"] = moving[f"sigma_{axis}"][0] if moving else np.nan
    velocity = disk.velocity - np.average(disk.velocity, axis=0, weights=disk.mass)
    spin = np.average(np.cross(disk.position, velocity), axis=0, weights=disk.mass) @ system.axes
    return {**row, **{f"spin_{axis}": value for axis, value in zip("xyz", spin)}}


def pattern_speed(time_myr, angle):
    """Speed of a bar [km/s/kpc] between outputs, from angles that are known up to half a turn; the
    turn between two outputs is the shortest one. One number less than angles."""
    turn = (np.diff(angle) + np.pi / 2) % np.pi - np.pi / 2
    return turn / np.diff(time_myr) * 977.792


def anisotropy(system, edges=None):
    """beta = 1 - (sigma_theta^2 + sigma_phi^2)/(2 sigma_r^2) in shells between the edges [kpc], by
    component: a Table of r_low, r_high, N_NAME, sigma_NAME (in one dimension, km/s), beta_NAME; NaN in
    shells of less than LEAST_PARTICLES. Velocities are relative to the mean of those within the
    inner half of each component, and to the mean rotation of the shell about the z axis. None without
    edges."""
    edges = galaxy.radial_edges(system, 5) if edges is None else edges
    if edges is None:
        return None
    table = Table({"r_low": edges[:-1], "r_high": edges[1:]})
    for name, part in system.components.items():
        for key, values in zip(("N", "sigma", "beta"), _shells(part, edges)):
            table[f"{key}_{name}"] = values
    return table


def _shells(part, edges):
    """Number, dispersion and beta in shells, three arrays."""
    radius = part.radius
    inner = radius <= np.median(radius)
    velocity = part.velocity - np.average(part.velocity[inner], axis=0, weights=part.mass[inner])
    outwards = np.einsum("ij,ij->i", velocity, part.position) / np.maximum(radius, 1e-300)
    x, y = part.position[:, 0], part.position[:, 1]
    around = (x * velocity[:, 1] - y * velocity[:, 0]) / np.maximum(np.hypot(x, y), 1e-300)
    whole = np.einsum("ij,ij->i", velocity, velocity)
    shell, rows = np.digitize(radius, edges) - 1, []
    for i in range(len(edges) - 1):
        some = shell == i
        count = np.count_nonzero(some)
        if count < galaxy.LEAST_PARTICLES:
            rows.append((count, np.nan, np.nan))
            continue
        mass = part.mass[some]
        radial = np.average(outwards[some] ** 2, weights=mass)
        rotation = np.average(around[some], weights=mass)
        total = np.average(whole[some], weights=mass) - rotation**2
        rows.append((count, np.sqrt(total / 3), 1 - (total - radial) / (2 * radial)))
    return np.array(rows).T
