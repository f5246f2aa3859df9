# SPDX-License-Identifier: GPL-3.0-or-later
"""Do yt and pynbody find in the snapshot of an isolated system what h5py finds, and its time?

usage: isolated_readers.py SNAPSHOT TIME[Myr]"""

import os
import sys
import warnings

sys.path.insert(0, os.path.join(os.environ["PHOTONS_SOURCE"], "tools"))
import h5py
import numpy as np
import pynbody
import yt
from photons import galaxy

warnings.simplefilter("ignore")  # the readers' own
yt.set_log_level("error")
path, time_myr = sys.argv[1], float(sys.argv[2])
failures = 0


def check(what, found, expected, tolerance=2e-6):
    """Largest relative difference; 2e-6: constants of readers."""
    global failures
    error = np.max(np.abs(np.asarray(found) - expected)) / (np.max(np.abs(expected)) or 1.0)
    good = np.shape(found) == np.shape(expected) and error <= tolerance  # false for NaN
    failures += not good
    print(f"{'ok' if good else 'FAILED'}: {what}: relative difference {error:.2g}")


def columns(kind):
    """Positions [kpc], velocities [km/s] and masses [Msun] by id."""
    with h5py.File(path) as file:
        part = file[f"PartType{kind}"]
        order = np.argsort(part["ParticleIDs"][:])
        x, v, m = (part[name][:][order] for name in ("Coordinates", "Velocities", "Masses"))
    return x, v, 1e10 * m


def check_yt(ds, how):
    """Fields, and the particles in a sphere about the origin."""
    check(f"{how}: time", ds.current_time.to("Myr").d, time_myr)
    data, units = ds.all_data(), ("kpc", "km/s", "Msun")
    for kind in (1, 2):
        order = np.argsort(data[f"PartType{kind}", "particle_index"].d)
        for name, unit, ours in zip(("position", "velocity", "mass"), units, columns(kind)):
            found = data[f"PartType{kind}", f"particle_{name}"].to(unit).d[order]
            check(f"{how}: type {kind}: {name}", found, ours, 4e-4 if name == "mass" else 2e-6)
    ball = ds.sphere(ds.arr([0, 0, 0], "kpc"), (5, "kpc"))
    inside = np.count_nonzero(np.linalg.norm(columns(2)[0], axis=1) < 5)
    check(f"{how}: particles in a sphere", len(ball["PartType2", "particle_mass"]), inside, 0)


check_yt(yt.load(path), "yt.load")
ds = galaxy.load_yt(path)
check_yt(ds, "load_yt")
width = ds.quan(1, "unitary").to("kpc").d
check("load_yt: the cube is about the origin", ds.domain_center.to("kpc").d / width, np.zeros(3))
yt.ParticleProjectionPlot(ds, "z", ("PartType2", "particle_mass")).save("yt.png")

snapshot = pynbody.load(path)
check("pynbody: time", float(snapshot.properties["time"].in_units("Myr")), time_myr)
with h5py.File(path) as file:
    total = 1e10 * sum(file[f"PartType{kind}/Masses"][:].sum(dtype=float) for kind in (1, 2))
check("pynbody: mass", float(snapshot["mass"].sum().in_units("Msol")), total, 4e-4)
reach = max(np.abs(columns(kind)[0]).max() for kind in (1, 2))
context = snapshot.conversion_context()
check("pynbody: positions", np.abs(snapshot["pos"].in_units("kpc", **context)).max(), reach)
speed = max(np.abs(columns(kind)[1]).max() for kind in (1, 2))
check("pynbody: velocities", np.abs(snapshot["vel"].in_units("km s^-1", **context)).max(), speed)
sys.exit(failures > 0)
