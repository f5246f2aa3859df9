# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures of isolated systems, such as galaxies: centre, density profile, rotation curve,
Lagrangian radii, height and rotation of the disk.

Lengths are in kpc, velocities in km/s, masses in 1e10 Msun, times in Myr. There is no expansion:
positions and velocities are physical, without powers of a and h."""

from .files import (
    Table,
    galaxy_units,
    is_isolated,
    particle_counts,
    read_config,
    read_header,
    read_snapshot,
    snapshot_time_myr,
)
from .modules import Deferred
from .reading import names_file

np = Deferred("numpy")

GRAVITY = 43007.1  # G in kpc (km/s)^2 / (1e10 Msun), as in the program
COMPONENTS = ("gas", "halo", "disk", "bulge", "stars", "boundary")  # names of Gadget's types 0 to 5
SHARES = (0.1, 0.5, 0.9)  # of the mass, for Lagrangian radii
LEAST_PARTICLES = 20  # within the smallest radius of profiles and rotation curves


class Component:
    """Particles of one type: position [N, 3], velocity [N, 3], mass [N]."""

    def __init__(self, position, velocity, mass):
        self.position, self.velocity, self.mass = position, velocity, mass

    @property
    def radius(self):
        """Distances from the origin, [N]."""
        return np.sqrt(np.einsum("ij,ij->i", self.position, self.position))


class System:
    """A snapshot: `components`, a dictionary of Component by name, at the time `time_myr`.

    Positions are relative to `centre`, the densest point. The z axis is that of the disk's angular
    momentum; without a disk the axes are those of the file. `in_potential`: there are external
    potentials, about the origin of the file."""

    def __init__(self, components, time_myr=0.0, in_potential=False):
        self.components, self.time_myr, self.in_potential = components, time_myr, in_potential
        self.centre = densest_point(*self._joined())
        for component in components.values():
            component.position = component.position - self.centre
        self.axes = disk_axes(components["disk"]) if "disk" in components else np.eye(3)
        for component in components.values():
            component.position = component.position @ self.axes.T
            component.velocity = component.velocity @ self.axes.T

    def _joined(self):
        parts = self.components.values()
        return [np.concatenate([getattr(part, name) for part in parts])
                for name in ("position", "mass")]  # fmt: skip

    def radii(self):
        """Rising distances of all particles from the centre, and the mass up to each of them:
        {component: (radius [N], mass [N])}, with all particles together as "total"."""
        pairs = {name: (part.radius, part.mass) for name, part in self.components.items()}
        pairs["total"] = [np.concatenate(columns) for columns in zip(*pairs.values())]
        orders = {name: np.argsort(radius) for name, (radius, _) in pairs.items()}
        return {
            name: (radius[orders[name]], np.cumsum(mass[orders[name]]))
            for name, (radius, mass) in pairs.items()
        }


# Snapshots.


def _check(name, component):
    """Raise ValueError if the numbers are not those of particles. name -- of file and type"""
    count = len(component.mass)
    columns = (component.position, component.velocity, component.mass)
    if [column.shape for column in columns] != [(count, 3), (count, 3), (count,)]:
        raise ValueError(f"{name}: Coordinates, Velocities, Masses have different numbers of rows")
    if not all(np.all(np.isfinite(column)) for column in columns):
        raise ValueError(f"{name} has numbers that are not finite")
    if not np.all(component.mass > 0):
        raise ValueError(f"{name} has masses that are not above 0")


@names_file
def _read_component(path, particle_type, scale):
    """The particles of one type. scale -- from galaxy_units()"""
    name, table = f"{path}: PartType{particle_type}", read_snapshot(path, False, particle_type)
    with table.file:
        same = np.resize(table.header.get("MassTable", 0.0), 6)[particle_type]
        needed = ["Coordinates", "Velocities"] + ([] if same > 0 else ["Masses"])
        missing = [column for column in needed if column not in table]
        if missing:
            raise ValueError(f"{name} has no {', '.join(missing)}")
        position, velocity = table["Coordinates"][()], table["Velocities"][()]
        mass = table["Masses"][()] if "Masses" in table else np.full(len(position), same)
    columns = zip((position, velocity, mass), (scale[0], scale[2], scale[1]))
    component = Component(*(column.astype(float) * unit for column, unit in columns))
    _check(name, component)
    return component


@names_file
def read_system(path):
    """A snapshot of an isolated system, as a System. Of several files name the first.

    Raises ValueError if it is none or has no particles, OSError if it cannot be read."""
    header = read_header(path)
    if not is_isolated(header):
        size = header.get("BoxSize", "not there")
        raise ValueError(f"{path}: not of an isolated system: BoxSize is {size}, not 0")
    types = list(particle_counts(path))
    if not types:
        raise ValueError(f"{path} holds no particles")
    scale = galaxy_units(header)
    components = {COMPONENTS[kind]: _read_component(path, kind, scale) for kind in types}
    return System(components, snapshot_time_myr(header), has_potentials(path, types[0]))


def has_potentials(path, kind):
    """Whether the run of a snapshot had external potentials. kind -- a type of its particles"""
    table = read_snapshot(path, False, kind)
    with table.file:
        text = table.config()
    external = read_config(text).get("external", {}) if "\n" in text else {}
    return any(value for key, value in external.items() if key.startswith("potential_"))


def load_yt(path):
    """The snapshot as a dataset of yt, in a cube about the origin that holds all particles.

    Files of isolated systems name no box, and yt takes no other than one from 0 on from a file: without
    bounding_box it has no unit `unitary`, and no plots. Of several files name the first."""
    import yt

    largest = 0.0
    for kind in particle_counts(path):
        table = read_snapshot(path, False, kind)
        with table.file:
            largest = max(largest, float(np.abs(table["Coordinates"][()]).max()))
    half = 1.05 * largest or 1.0
    return yt.load(path, bounding_box=[[-half, half]] * 3)


# Centre and axes.


def _dense_start(position, mass):
    """Where the shrinking of spheres begins: of 200 particles the one about which the sphere that
    holds 2 % of the mass is smallest, and the radius that holds 20 %. It is within one galaxy where
    the centre of mass is between two. Measured on 20 000 particles at most."""
    random = np.random.default_rng(1)
    chosen = random.permutation(len(mass))[:20000]
    sample, weight = position[chosen], mass[chosen]
    best, start, radius = np.inf, sample[0], 0.0
    share = min(1.0, max(0.2, 200 / len(mass)))  # of few particles more, or no sphere would follow
    for seed in sample[:200]:
        distance = np.linalg.norm(sample - seed, axis=1)
        order = np.argsort(distance)
        inside = np.cumsum(weight[order]) / weight.sum()
        dense, wide = distance[order][np.minimum(np.searchsorted(inside, (0.02, share)), len(order) - 1)]
        if dense < best:
            best, start, radius = dense, seed, wide
    return start, radius


def densest_point(position, mass):
    """The densest point [3] by shrinking spheres (Power et al. 2003, MNRAS 338, 14): the centre of
    mass of the particles within a sphere is the centre of the next sphere, of 0.9 times the radius,
    until the next one would hold less than 0.5 % of the particles, or 100. The first sphere is in
    the densest part, so that of two galaxies one is found.

    position -- [N, 3]; mass -- [N], N > 0"""
    centre, radius = _dense_start(position, mass)
    least = max(100, 0.005 * len(mass))
    for _ in range(200):  # a sphere of 1e-9 of the first radius ends it: particles at one place
        distance = np.linalg.norm(position - centre, axis=1)
        near = distance <= 2 * radius  # all later spheres are within
        position, mass, inside = position[near], mass[near], distance[near] <= radius
        if np.count_nonzero(inside) < least:
            break
        centre = np.average(position[inside], axis=0, weights=mass[inside])
        radius *= 0.9
    return centre


def disk_axes(disk):
    """Unit vectors x, y, z, as rows [3, 3]: z along the angular momentum of the inner half of the
    particles of the disk, about the mean of this half; x as near as can be to the old x axis. The
    old axes where there is no angular momentum."""
    radius = disk.radius
    inner = radius <= np.median(radius)
    return axis_of_momentum(disk.position[inner], disk.velocity[inner], disk.mass[inner])


def axis_of_momentum(position, velocity, mass):
    """Axes as those of disk_axes() from all of these particles."""
    position = position - np.average(position, axis=0, weights=mass)
    velocity = velocity - np.average(velocity, axis=0, weights=mass)
    momentum = np.sum(mass[:, None] * np.cross(position, velocity), axis=0)
    size = np.linalg.norm(momentum)
    if not size > 0:
        return np.eye(3)
    z = momentum / size
    old = np.eye(3)[0 if abs(z[0]) < 0.9 else 1]
    x = old - (old @ z) * z
    x /= np.linalg.norm(x)
    return np.array([x, np.cross(z, x), z])


# Measures.


def radial_edges(system, per_decade=10):
    """Radii at equal steps of log r, from the one that holds LEAST_PARTICLES particles to the last
    particle; None if there are fewer."""
    radius = system.radii()["total"][0]
    radius = radius[radius > 0]
    if len(radius) <= LEAST_PARTICLES:
        return None
    low, high = radius[LEAST_PARTICLES - 1], radius[-1] * (1 + 1e-9)
    return np.geomspace(low, high, 2 + int(per_decade * np.log10(high / low)))


def density_profile(system, edges=None):
    """Mean density in shells between the edges [kpc] about the centre, by component and in total.

    Returns a Table: r_low, r_high; N_NAME; rho_NAME [1e10 Msun/kpc^3] with the shot noise
    error_NAME, the root of the sum of squared masses over the volume. None without edges."""
    edges = radial_edges(system) if edges is None else edges
    if edges is None:
        return None
    volume = 4 / 3 * np.pi * np.diff(edges**3)
    table = Table({"r_low": edges[:-1], "r_high": edges[1:]})
    sums = {}
    for name, part in system.components.items():
        radius = part.radius
        weights = (None, part.mass, part.mass**2)
        sums[name] = [np.histogram(radius, edges, weights=weight)[0] for weight in weights]
    sums["total"] = [sum(columns) for columns in zip(*sums.values())]
    for name, (count, mass, square) in sums.items():
        table[f"N_{name}"] = count
        table[f"rho_{name}"], table[f"error_{name}"] = mass / volume, np.sqrt(square) / volume
    return table


def rotation_curve(system, radii=None):
    """Circular velocities sqrt(G M(<r)/r) of the mass within each radius [kpc], as if its shape was
    a sphere: a Table of r and v_NAME [km/s] by component and in total. By default radii are at equal
    steps to curve_end(), from the one that holds LEAST_PARTICLES particles on. None without radii."""
    if radii is None:
        edges, end = radial_edges(system), curve_end(system)
        if edges is None:
            return None
        radii = np.linspace(end / 120, end, 120)
        radii = radii[radii >= edges[0]]
    table = Table({"r": radii})
    for name, (radius, mass) in system.radii().items():
        inside = np.append(0.0, mass)[np.searchsorted(radius, radii, side="right")]
        table[f"v_{name}"] = np.sqrt(GRAVITY * inside / radii)
    return table


def radii_of_mass(radius, mass, shares):
    """The radii that hold shares of the mass. radius, mass -- rising, as from System.radii()"""
    places = np.searchsorted(mass, np.array(shares) * mass[-1])
    return radius[np.minimum(places, len(radius) - 1)]


def lagrangian_radii(system):
    """Radii about the centre that hold 10, 50 and 90 % of the mass: {"r10_NAME": kpc, ...}, by
    component and in total."""
    return {
        f"r{100 * share:.0f}_{name}": value
        for name, (radius, mass) in system.radii().items()
        for share, value in zip(SHARES, radii_of_mass(radius, mass, SHARES))
    }


def disk_height(system, edges=None):
    """Root mean square of z about the mean z of the disk in rings between the edges [kpc], out to
    98 % of the mass by default: a Table of R_low, R_high, N, rms_z and its standard error [kpc].
    None without a disk, or if no ring has two particles."""
    disk = system.components.get("disk")
    if disk is None:
        return None
    edges = np.linspace(0, extent(system), 16) if edges is None else edges
    ring = np.digitize(np.hypot(disk.position[:, 0], disk.position[:, 1]), edges) - 1
    rows = []
    for i in range(len(edges) - 1):
        z, mass = disk.position[ring == i, 2], disk.mass[ring == i]
        if len(z) > 1:
            rows.append((edges[i], edges[i + 1], len(z), *root_mean_square(z, mass)))
    names = ("R_low", "R_high", "N", "rms_z", "error")
    return Table(zip(names, np.array(rows).T)) if rows else None


def root_mean_square(z, mass):
    """The root mean square of z about its mean, weighted by mass, and its standard error."""
    square = (z - np.average(z, weights=mass)) ** 2
    mean = np.average(square, weights=mass)
    scatter = np.sqrt(np.average((square - mean) ** 2, weights=mass) / len(z))
    return np.sqrt(mean), scatter / (2 * np.sqrt(mean)) if mean > 0 else 0.0


def disk_rotation(system, edges=None):
    """Motion of the disk's particles in rings between the edges [kpc], at every 1/30 of curve_end()
    by default: a Table of R_low, R_high, N, the mean velocity of rotation v_phi with its standard
    error, and the dispersions sigma_R, sigma_phi, sigma_z [km/s]. Velocities are relative to the
    mean of the inner quarter of the disk. None without a disk, or if no ring has two particles."""
    disk = system.components.get("disk")
    if disk is None:
        return None
    edges = np.linspace(0, curve_end(system), 31) if edges is None else edges
    inner = disk.radius <= np.quantile(disk.radius, 0.25)
    velocity = disk.velocity - np.average(disk.velocity[inner], axis=0, weights=disk.mass[inner])
    x, y = disk.position[:, 0], disk.position[:, 1]
    R = np.maximum(np.hypot(x, y), 1e-300)
    out = (x * velocity[:, 0] + y * velocity[:, 1]) / R
    around = (x * velocity[:, 1] - y * velocity[:, 0]) / R
    ring, rows = np.digitize(R, edges) - 1, []
    for i in range(len(edges) - 1):
        some = ring == i
        count = np.count_nonzero(some)
        if count < 2:
            continue
        parts = [part[some] for part in (out, around, velocity[:, 2])]
        means = [np.average(part, weights=disk.mass[some]) for part in parts]
        squares = [np.average(part**2, weights=disk.mass[some]) for part in parts]
        sigma = np.sqrt(np.maximum(np.array(squares) - np.square(means), 0))
        rows.append((edges[i], edges[i + 1], count, means[1], sigma[1] / np.sqrt(count), *sigma))
    names = ("R_low", "R_high", "N", "v_phi", "error", "sigma_R", "sigma_phi", "sigma_z")
    return Table(zip(names, np.array(rows).T)) if rows else None


def curve_end(system):
    """The radius [kpc] to which rotation curves are shown: 30, or four times the extent of a small
    system."""
    return min(30.0, 4 * (extent(system) or 1.0))


def extent(system):
    """The radius [kpc] that holds 98 % of the mass of the disk, of all where there is no disk."""
    name = "disk" if "disk" in system.components else "total"
    return radii_of_mass(*system.radii()[name], [0.98])[0]


def pictured(system):
    """Names of the components that pictures show unless told: all but the halo, if there are
    others."""
    return [name for name in system.components if name != "halo"] or list(system.components)
