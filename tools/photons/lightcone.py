# SPDX-License-Identifier: GPL-3.0-or-later
"""Light cones: particles and maps of a run's folder lightcone/, and the convergence of its maps.

usage: photons.lightcone [--source Z] RUN

Draws the convergence of sources at redshift Z (default: where the light cone begins) in the Born
approximation, and its angular power spectrum beside Limber's integral over HALOFIT, to
RUN/lightcone/convergence.png. Needs healpy. The folder RUN must have maps (lightcone.nside), and
power spectra of outputs at the redshifts of the light cone for the comparison.

>>> from photons.lightcone import LightCone
>>> cone = LightCone("run")
>>> cone.particles()["Coordinates"]     # Mpc/h or kpc/h from the observer, as the run has them
>>> kappa = cone.convergence(1.0)       # a HEALPix map, in the ring order
>>> l, power, noise = cone.angular_power(1.0)
"""

import glob
import os

from .files import Run, Table, attributes, read_config
from .modules import Deferred, fail, missing, parser_of
from .reading import reading

h5py, healpy, np = Deferred("h5py"), Deferred("healpy"), Deferred("numpy")

C_OVER_H0 = 2997.92458  # Mpc/h
GRAVITY = 43.0071  # (km/s)^2 (Mpc/h)/(1e10 Msun/h), as the program has it
CM_PER_MPC = 3.085678e24
CURVATURE_MOST = 1e-4  # of which distances here know nothing


class DarkEnergy:
    """The density of dark energy of a run: w0 and wa, or the rows of cosmology.w_table, between which w is linear in a and beyond
    which it is constant."""

    def __init__(self, section):
        path = section.get("w_table")
        if path:
            self.a, self.w = self.rows(path)
        else:  # two rows are w0 and wa
            w0, wa, first = float(section["w0"]), float(section["wa"]), 1e-8
            self.a, self.w = np.array([first, 1.0]), np.array([w0 + wa * (1.0 - first), w0])

    @staticmethod
    def rows(path):
        try:
            with open(path) as file:
                lines = [line.split() for line in file]
        except OSError as error:
            raise ValueError(f"the run's table of w, {path}: {error.strerror}; go to where it is seen") from None
        column = next(words[1] for words in lines if words[:1] == ["#"] and words[2:] == ["w"])
        x, w = np.array([words for words in lines if words and words[0][0] != "#"], dtype=float).T
        a = 1.0 / (1.0 + x) if column == "z" else x
        order = np.argsort(a)
        return a[order], w[order]

    def density(self, z):
        """Over today's: exp(3 int_a^1 (1 + w) dln a)."""
        a = 1.0 / (1.0 + np.atleast_1d(z))
        nodes = np.unique(np.concatenate([a, self.a, [1.0]]))
        w = np.interp(nodes, self.a, self.w)
        slope, wide = np.diff(w) / np.diff(nodes), np.diff(nodes)
        parts = (1.0 + w[1:] - slope * nodes[1:]) * np.diff(np.log(nodes)) + slope * wide
        until_now = np.concatenate([np.cumsum(parts[::-1])[::-1], [0.0]])
        return np.exp(3.0 * until_now[np.searchsorted(nodes, a)]).reshape(np.shape(z))


class Universe:
    """Distances in the flat universe of a run, by the parameters of its config.ini."""

    def __init__(self, config):
        section = config["cosmology"]
        known = ("Omega_m", "Omega_r", "Omega_lambda")
        values = {key: float(section[key]) for key in known if section.get(key)}
        self.omega_m, self.omega_r = values["Omega_m"], values["Omega_r"]
        self.omega_lambda = values.get("Omega_lambda", 1.0 - self.omega_m - self.omega_r)
        self.dark = DarkEnergy(section)
        if abs(1.0 - self.omega_m - self.omega_r - self.omega_lambda) > CURVATURE_MOST:
            raise ValueError("the universe of the run is not flat, as the convergence needs it")
        # Distances by Simpson's rule in ln(1 + z), to redshift 1100.
        x = np.linspace(0.0, np.log(1101.0), 16001)
        z, step = np.expm1(x[::2]), x[1] - x[0]
        y = np.exp(x) / self.expansion(np.expm1(x))
        chi = np.cumsum(y[:-2:2] + 4.0 * y[1::2] + y[2::2]) * step / 3.0
        self._z, self._chi = z, C_OVER_H0 * np.concatenate([[0.0], chi])

    def expansion(self, z):
        """H/H0."""
        dark = self.omega_lambda * self.dark.density(z)
        return np.sqrt(self.omega_m * (1.0 + z) ** 3 + self.omega_r * (1.0 + z) ** 4 + dark)

    def distance(self, z):
        """Comoving distance [Mpc/h]."""
        return np.interp(z, self._z, self._chi)

    def redshift(self, distance):
        return np.interp(distance, self._chi, self._z)

    def lensing_weight(self, distance, source):
        """W of the convergence = int W delta dchi of a source, both distances in Mpc/h: Bartelmann &
        Schneider 2001 (Phys. Rep. 340, 291), equation 6.18, in the Born approximation."""
        nearer = np.clip(1.0 - distance / source, 0.0, None)
        return 1.5 * self.omega_m / C_OVER_H0**2 * distance * nearer * (1.0 + self.redshift(distance))


class Shell:
    """A map. Attributes: header; inner, outer -- its borders [Mpc/h]; mean_mass -- the mass of a pixel at the mean
    density [1e10 Msun/h]; mean -- this over ParticleMass of the header: the number of particles of a pixel, or where their masses
    differ that of as many equal ones as have the same shot noise."""

    def __init__(self, path):
        self.path = path
        with reading(path), h5py.File(path, "r") as file:
            self.header = attributes(file, "Header")
        h = self.header
        unit = float(h["UnitLength_in_cm"]) / CM_PER_MPC
        self.inner, self.outer = h["DistanceInner"] * unit, h["DistanceOuter"] * unit
        self.nside = int(h["Nside"])
        critical = 3.0e4 / (8.0 * np.pi * GRAVITY)  # 1e10 Msun/h/(Mpc/h)^3
        self.density = h["Omega0"] * critical / h["ParticleMass"]  # particles in (Mpc/h)^3
        self.pixel = 4.0 * np.pi / (12 * self.nside**2)
        self.mean = self.density * self.pixel * (self.outer**3 - self.inner**3) / 3.0
        self.mean_mass = self.mean * h["ParticleMass"]

    def counts(self):
        """Particles in each pixel. ValueError where their masses differ: masses()."""
        with reading(self.path), h5py.File(self.path, "r") as file:
            if "Counts" not in file:
                raise ValueError(f"{self.path}: particles have different masses, and are not counted")
            return file["Counts"][:]

    def masses(self):
        """The mass in each pixel [1e10 Msun/h]."""
        with reading(self.path), h5py.File(self.path, "r") as file:
            if "Masses" in file:
                return file["Masses"][:]
            return file["Counts"][:] * self.header["ParticleMass"]

    def surface_density(self):
        """In units of the file, comoving."""
        with reading(self.path), h5py.File(self.path, "r") as file:
            return file["SurfaceDensity"][:]


class LightCone:
    """The light cone of a run's folder. Attribute shells: its maps, the nearest first.

    nearest -- lenses nearer than this [Mpc/h] are left out of the convergence and of limber(): a
    shell's particles have one weight, which is not good where it is as thick as it is far"""

    def __init__(self, folder, nearest=0.0):
        self.folder, self.nearest = folder, nearest
        self._files = sorted(glob.glob(os.path.join(folder, "lightcone", "particles_*.hdf5")))
        maps = sorted(glob.glob(os.path.join(folder, "lightcone", "shell_*.hdf5")))
        if not self._files and not maps:
            raise FileNotFoundError(f"{folder}/lightcone: no light cone of a run is here")
        self.shells = [Shell(path) for path in maps]
        with reading(folder), h5py.File((maps or self._files)[0], "r") as file:
            self.header = attributes(file, "Header")
            text = attributes(file, "Parameters")["config.ini"]
        self.universe = Universe(read_config(text))

    def particles(self):
        """Coordinates from the observer, Velocities, ParticleIDs, Ascale, Masses and ParticleTypes of all particles, in
        the order of the steps in which they crossed, and in each step in that of types. Velocities times sqrt(Ascale)
        are peculiar, km/s."""
        parts = {}
        for path in self._files:
            with reading(path), h5py.File(path, "r") as file:
                table = file["Header"].attrs["MassTable"]
                for kind in range(len(table)):
                    rows = {name: dataset[:] for name, dataset in file.get(f"PartType{kind}", {}).items()}
                    count = len(rows.get("ParticleIDs", ()))
                    if count == 0:
                        continue
                    rows.setdefault("Masses", np.full(count, table[kind], dtype="f4"))
                    rows["ParticleTypes"] = np.full(count, kind, dtype="u1")
                    for name, values in rows.items():
                        parts.setdefault(name, []).append(values)
        return Table({name: np.concatenate(values) for name, values in parts.items()}, self.header)

    def _lenses(self, z_source):
        """The shells before a source, with int W dchi over each."""
        source = float(self.universe.distance(z_source))
        lenses = []
        for shell in self.shells:
            end = min(shell.outer, source)
            if shell.inner >= end or shell.inner < self.nearest:
                continue
            x, w = np.polynomial.legendre.leggauss(8)
            chi = 0.5 * (end + shell.inner) + 0.5 * (end - shell.inner) * x
            weight = self.universe.lensing_weight(chi, source)
            lenses.append((shell, 0.5 * (end - shell.inner) * np.sum(w * weight)))
        if not lenses:
            raise ValueError(f"{self.folder}/lightcone: no maps nearer than z = {z_source}")
        if max(shell.outer for shell, _ in lenses) < 0.999 * source:
            raise ValueError(
                f"{self.folder}/lightcone: the maps end nearer than sources at z = {z_source}"
            )
        return lenses

    def mask(self):
        """Of each pixel, whether its middle is in the light cone's part of the sky."""
        nside = self.shells[0].nside
        x = np.array(healpy.pix2vec(nside, np.arange(12 * nside**2)))
        geometry, direction = self.header["Geometry"], self.header["Direction"]
        if geometry == "octant":
            return np.all(x * direction[:, None] >= 0.0, axis=0)
        if geometry == "pencil":
            return direction @ x >= np.cos(np.radians(self.header["OpeningDegrees"]))
        return np.ones(12 * nside**2, dtype=bool)

    def convergence(self, z_source):
        """The convergence of sources at a redshift in the Born approximation, a HEALPix map: the sum
        over shells of int W dchi times the density contrast. Outside the light cone's part of the
        sky it has no meaning: mask()."""
        return sum(w * (s.masses() / s.mean_mass - 1.0) for s, w in self._lenses(z_source))

    def shot_noise(self, z_source):
        """The angular power of the convergence of the same particles at random places."""
        return sum(w**2 / s.mean * s.pixel for s, w in self._lenses(z_source))

    def angular_power(self, z_source, l_most=None):
        """Multipoles l, the angular power of the convergence less shot noise and freed of the pixels'
        window, and the shot noise. Where the light cone has a part of the sky, power of the masked
        map over that part: right for l much larger than pi over its side."""
        kappa, mask = self.convergence(z_source), self.mask()
        nside = self.shells[0].nside
        l_most = l_most or 2 * nside
        kappa = np.where(mask, kappa - kappa[mask].mean(), 0.0)
        power = healpy.anafast(kappa, lmax=l_most) / mask.mean()
        noise = self.shot_noise(z_source)
        return np.arange(l_most + 1), (power - noise) / healpy.pixwin(nside, lmax=l_most) ** 2, noise

    def limber(self, z_source, l, power):
        """Limber's integral for the angular power of the convergence, with k = (l + 1/2)/chi.

        power -- P(k, z) in (Mpc/h)^3 of arrays k [h/Mpc] and a number z, e.g. power_of_run()"""
        source = float(self.universe.distance(z_source))
        x, w = np.polynomial.legendre.leggauss(128)
        depth = source - self.nearest
        chi = self.nearest + 0.5 * depth * (1.0 + x)
        weight = self.universe.lensing_weight(chi, source) ** 2 / chi**2 * 0.5 * depth * w
        k = (np.asarray(l)[:, None] + 0.5) / chi
        z = self.universe.redshift(chi)
        return sum(weight[i] * power(k[:, i], z[i]) for i in range(len(chi)))


def power_of_run(run, column="P_halofit"):
    """P(k, z) from a column of the power spectra of a run's outputs, for LightCone.limber(). Between
    outputs log P is linear in ln a; below the first k it goes on with the slope there, and beyond
    the last k it is 0.

    column -- P_halofit, P_linear, or P, what the run measured itself"""
    tables = [run.power(number) for number in range(len(run.redshifts))]
    tables = [(z, t["k"][t[column] > 0], t[column][t[column] > 0]) for z, t in zip(run.redshifts, tables)]
    tables.sort(key=lambda table: -table[0])
    ln_a = np.array([-np.log1p(z) for z, _, _ in tables])

    def at(table, k):
        _, known, values = table
        x, y = np.log(known), np.log(values)
        slope = (y[1] - y[0]) / (x[1] - x[0])
        inside = np.interp(np.log(k), x, y, right=-np.inf)
        return np.where(k < known[0], y[0] + slope * (np.log(k) - x[0]), inside)

    def power(k, z):
        here = np.clip(-np.log1p(z), ln_a[0], ln_a[-1])
        j = int(np.clip(np.searchsorted(ln_a, here), 1, max(len(ln_a) - 1, 1)))
        if len(ln_a) == 1:
            return np.exp(at(tables[0], k))
        part = (here - ln_a[j - 1]) / (ln_a[j] - ln_a[j - 1])
        low, high = np.exp(at(tables[j - 1], k)), np.exp(at(tables[j], k))
        return low ** (1.0 - part) * high**part

    return power


def draw(folder, z_source=None):
    """Draw the convergence and its angular power to FOLDER/lightcone/convergence.png.

    Returns the path."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    cone = LightCone(folder)
    if not cone.shells:
        raise ValueError(f"{folder}/lightcone: no maps: a run makes them with lightcone.nside")
    if z_source is None:
        z_source = float(cone.universe.redshift(cone.shells[-1].outer))
    kappa, (l, power, noise) = cone.convergence(z_source), cone.angular_power(z_source)
    figure = plt.figure(figsize=(7, 8))
    shown = np.where(cone.mask(), kappa, healpy.UNSEEN)
    healpy.mollview(
        shown, fig=figure.number, sub=(2, 1, 1), title=f"convergence of sources at z = {z_source:.3g}"
    )
    axes = figure.add_subplot(2, 1, 2)
    axes.loglog(l[2:], (l * (l + 1) * power / (2 * np.pi))[2:], label="run, less shot noise")
    axes.loglog(l[2:], (l * (l + 1) * noise / (2 * np.pi))[2:], ":", label="shot noise")
    run = Run(folder)
    if run.redshifts and os.path.exists(run.path("powerspec", 0, "txt") or ""):
        theory = cone.limber(z_source, l[2:], power_of_run(run))
        axes.loglog(l[2:], (l * (l + 1))[2:] * theory / (2 * np.pi), "--", label="Limber, HALOFIT")
    axes.set_xlabel("l")
    axes.set_ylabel("l (l + 1) C / 2 pi")
    axes.legend()
    path = os.path.join(folder, "lightcone", "convergence.png")
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return path


def main():
    parser = parser_of(__doc__)
    parser.add_argument("run", metavar="RUN")
    parser.add_argument("--source", type=float, metavar="Z", help="redshift of the sources")
    arguments = parser.parse_args()
    absent = missing(["h5py", "healpy", "matplotlib", "numpy"])
    if absent:
        fail(f"cannot import {absent}")
    try:
        print(draw(arguments.run, arguments.source))
    except (OSError, ValueError) as error:
        fail(error)


if __name__ == "__main__":
    main()
