# SPDX-License-Identifier: GPL-3.0-or-later
"""Do other readers find in snapshots, and in catalogues of their halos, what h5py finds?

usage: other_readers.py <CASES, where each line of CASES is
    READER SNAPSHOT UNIT BOX[Mpc/h] OMEGA_M H Z [CATALOGUE]
READER is yt, pynbody or swiftsimio, UNIT kpc/h or Mpc/h. SNAPSHOT is the first file of a set.
The numbers of h5py are converted by hand: lengths to comoving Mpc/h, masses to Msun/h, velocities
to peculiar ones in km/s."""

import glob
import importlib
import os
import re
import sys
import warnings

import h5py
import numpy as np

warnings.simplefilter("ignore")  # the readers' own
failures = 0


def check(what, found, expected, tolerance):
    """Largest relative difference; tolerance has its reason where it is called."""
    global failures
    scale = np.max(np.abs(expected))
    error = np.max(np.abs(np.asarray(found) - np.asarray(expected))) / (scale if scale else 1.0)
    good = np.shape(found) == np.shape(expected) and error <= tolerance  # false for NaN
    failures += not good
    print(
        f"{'ok' if good else 'FAILED'}: {what}: relative difference {error:.2g},"
        f" allowed {tolerance:.2g}"
    )


def with_h5py(path, unit, z):
    """ids, and what the particles with these ids have: positions, velocities, masses."""
    columns = {"ParticleIDs": [], "Coordinates": [], "Velocities": [], "Masses": []}
    for name in sorted(glob.glob(re.sub(r"\.0\.hdf5$", ".[0-9]*.hdf5", path))):
        with h5py.File(name) as file:
            for column, parts in columns.items():
                parts.append(file["PartType1"][column][:])
    ids, x, u, mass = (np.concatenate(parts) for parts in columns.values())
    # Velocities are v_pec / sqrt(a)
    return ids, x / PER_MPC[unit], u.astype(float) / np.sqrt(1.0 + z), mass * 1e10


PER_MPC = {"kpc/h": 1000.0, "Mpc/h": 1.0}


class Yt:
    def __init__(self, path):
        self.yt = importlib.import_module("yt")
        self.yt.set_log_level("error")
        self.ds = self.yt.load(path)
        self.data = self.ds.all_data()

    def header(self):
        ds = self.ds
        box = ds.domain_width.to("Mpccm/h").d
        return ds.current_redshift, ds.omega_matter, ds.hubble_constant, box

    def particles(self):
        columns = (("index", ""), ("position", "Mpccm/h"), ("velocity", "km/s"), ("mass", "Msun/h"))
        return [self.data["PartType1", f"particle_{name}"].to(unit).d for name, unit in columns]

    def halos(self, path, unit):
        """Masses and first coordinates."""
        length = {"kpc/h": "kpccm/h", "Mpc/h": "Mpccm/h"}[unit]
        units = {"length": (1.0, length), "mass": (1e10, "Msun/h"), "velocity": (1.0, "km/s")}
        os.symlink(os.path.basename(path), path.replace(".hdf5", ".0.hdf5"))  # which yt looks for
        self.catalogue = data = self.yt.load(path, unit_base=units).all_data()
        order = np.argsort(-data["Group", "GroupLen"].d, kind="stable")
        columns = (("particle_mass", "Msun/h"), ("particle_position_x", "Mpccm/h"))
        return [data["Group", name].to(unit).d[order] for name, unit in columns]

    def subhalos(self):
        """Masses, first coordinates and first components of velocity, in the order of the file."""
        columns = (("mass", "Msun/h"), ("position_x", "Mpccm/h"), ("velocity_x", "km/s"))
        return [self.catalogue["Subhalo", f"particle_{name}"].to(unit).d for name, unit in columns]


class Pynbody:
    def __init__(self, path):
        self.snapshot = importlib.import_module("pynbody").load(re.sub(r"\.0\.hdf5$", "", path))
        self.context = self.snapshot.conversion_context()

    def to(self, array, unit):
        return array.in_units(unit, **self.context)

    def header(self):
        found = self.snapshot.properties
        box = np.full(3, float(self.to(found["boxsize"], "Mpc a h^-1")))
        return found["z"], found["omegaM0"], found["h"], box

    def particles(self):
        columns = (("pos", "Mpc a h^-1"), ("vel", "km s^-1"), ("mass", "Msol h^-1"))
        found = [np.asarray(self.to(self.snapshot.dm[name], unit)) for name, unit in columns]
        return [np.asarray(self.snapshot.dm["iord"])] + found

    def halos(self, path, unit):
        one = os.path.exists(self.snapshot.filename)  # not several: then pynbody finds it
        self.catalogue, self.named = path, {} if one else {"filename": path}
        halos = self.snapshot.halos(**self.named)
        with h5py.File(path) as file:
            ids, lengths = file["IDs/ID"][:], file["Group/GroupLen"][:]
        members = np.split(ids, np.cumsum(lengths))
        same = [set(np.asarray(h["iord"])) == set(ours) for h, ours in zip(halos, members)]
        check("members of each halo", float(all(same)), 1.0, 0.0)
        found = halos.get_properties_all_halos()
        mass = self.to(found["GroupMass"], "Msol h^-1")
        return np.asarray(mass), np.asarray(self.to(found["GroupPos"], "Mpc a h^-1"))[:, 0]

    def subhalos(self):
        """As Yt.subhalos(), and the particles of each."""
        subhalos = self.snapshot.halos(subhalos=True, **self.named)
        with h5py.File(self.catalogue) as file:
            first = file["Subhalo/SubhaloOffsetType"][:, 1]
            ids, lengths = file["IDs/ID"][:], file["Subhalo/SubhaloLen"][:]
        ours = [ids[begin : begin + count] for begin, count in zip(first, lengths)]
        same = [np.array_equal(h["iord"], members) for h, members in zip(subhalos, ours)]
        check("members of each subhalo, in order", float(all(same)), 1.0, 0.0)
        found = subhalos.get_properties_all_halos()
        columns = (("Mass", "Msol h^-1"), ("Pos", "Mpc a h^-1"), ("Vel", "km s^-1"))  # at a = 1
        mass, x, v = (self.to(found["Subhalo" + name], unit) for name, unit in columns)
        return np.asarray(mass), np.asarray(x)[:, 0], np.asarray(v)[:, 0]


class Swiftsimio:
    """Of a view that tools/swift_view.py has made."""

    def __init__(self, path):
        view = re.sub(r"(\.0)?\.hdf5$", ".swift.hdf5", path)
        self.data = importlib.import_module("swiftsimio").load(view)
        self.h = self.data.metadata.cosmology.h

    def header(self):
        found = self.data.metadata
        box = found.boxsize.to("Mpc").value * self.h
        return found.redshift, found.cosmology.Om0, self.h, box

    def particles(self):
        dm = self.data.dark_matter
        x = dm.coordinates.to_comoving().to("Mpc").value * self.h
        v = dm.velocities.to_physical().to("km/s").value
        return [dm.particle_ids.value, x, v, dm.masses.to("Msun").value * self.h]


def try_reader(reader, path, unit, box, omega_m, h, z, catalogue=None):
    box, omega_m, h, z = map(float, (box, omega_m, h, z))
    print(f"== {reader}: {path}, {unit}")
    other = {"yt": Yt, "pynbody": Pynbody, "swiftsimio": Swiftsimio}[reader](path)
    # 1e-6: constants (cm per Mpc, km/s per kpc/Gyr); swiftsimio rounds its units to five digits
    close = 1e-4 if reader == "swiftsimio" else 1e-6
    found = other.header()
    check("redshift", found[0], z, 1e-12)
    check("Omega_m", found[1], omega_m, 1e-12)
    check("h", found[2], h, close)
    check("box", found[3], np.full(3, box), close)

    ids, x, v, mass = with_h5py(path, unit, z)
    their_ids, their_x, their_v, their_mass = other.particles()
    ours, theirs = np.argsort(ids), np.argsort(their_ids)
    check("number of particles", float(len(theirs)), float(len(ours)), 0.0)
    check("ids", their_ids[theirs].astype(float), ids[ours].astype(float), 0.0)
    check("positions", their_x[theirs], x[ours], close)
    check("range of positions", np.ptp(their_x, axis=0), np.ptp(x, axis=0), close)
    check("velocities", their_v[theirs], v[ours], close)
    # 4e-4: 1.989e43 g, Gadget's unit, are not quite 1e10 Msun
    check("masses", their_mass[theirs], mass[ours], 4e-4)
    # rho_crit = 2.7754e11 h^2 Msun/Mpc^3; 2e-3: Gadget's G and Newton's differ as well
    check("mean density", their_mass.sum(), omega_m * 2.7754e11 * box**3, 2e-3)

    if catalogue:
        with h5py.File(catalogue) as f:
            mass, place = f["Group/GroupMass"][:] * 1e10, f["Group/GroupPos"][:, 0]
            subhalos = [f["Subhalo/Subhalo" + name][:] for name in ("Mass", "Pos", "Vel")]
        their_mass, their_place = other.halos(catalogue, unit)
        check("at least five halos", float(mass.size >= 5), 1.0, 0.0)
        check("number of halos", float(len(their_mass)), float(len(mass)), 0.0)
        check("mass of the first halo", their_mass[0], mass[0], 4e-4)
        # as sets: halos of equal size have no order there
        check("halo masses", np.sort(their_mass), np.sort(mass), 4e-4)
        check("halo positions", np.sort(their_place), np.sort(place) / PER_MPC[unit], 1e-5)
        theirs = other.subhalos()
        check("subhalo masses", theirs[0], subhalos[0] * 1e10, 4e-4)
        check("subhalo positions", theirs[1], subhalos[1][:, 0] / PER_MPC[unit], 1e-5)
        check("subhalo velocities", theirs[2], subhalos[2][:, 0], 1e-5)


def main():
    global failures
    for case in sys.stdin:
        try:
            try_reader(*case.split())
        except Exception as error:  # readers raise what they like
            print(f"FAILED: {case.strip()}: {type(error).__name__}: {error}")
            failures += 1
    sys.exit(failures > 0)


main()
