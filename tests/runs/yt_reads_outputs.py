# SPDX-License-Identifier: GPL-3.0-or-later
"""Does yt understand a snapshot, and a catalogue of its halos, as they were meant?

usage: yt_reads_outputs.py SNAPSHOT BOX[Mpc/h] OMEGA_M H Z PARTICLES [CATALOGUE]
"""

import sys

import h5py
import numpy as np
import yt

path, box, omega_m, h, z, particles = sys.argv[1], *map(float, sys.argv[2:7])
yt.set_log_level("error")
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


ds = yt.load(path)
data = ds.all_data()
mass = data["PartType1", "particle_mass"].to("Msun/h").d

# 1e-12: the same double, perhaps converted; 1e-6 where yt's constants (cm per Mpc, g per Msun)
# come in
check("redshift", ds.current_redshift, z, 1e-12)
check("Omega_m", ds.omega_matter, omega_m, 1e-12)
check("h", ds.hubble_constant, h, 1e-12)
check("box in Mpc/h", ds.domain_width.to("Mpccm/h").d, np.full(3, box), 1e-6)
check("number of particles", float(mass.size), particles, 0.0)
# rho_crit = 2.7754e11 h^2 Msun/Mpc^3; 1e-3: Gadget's G and Newton's differ in the fourth digit
check("mean density", mass.sum(), omega_m * 2.7754e11 * box**3, 1e-3)
check("equal masses", mass, np.full(mass.size, mass[0]), 1e-6)

with h5py.File(path) as f:
    group = f["PartType1"]
    ids, found = group["ParticleIDs"][:], data["PartType1", "particle_index"].d
    order, ours = np.argsort(ids), np.argsort(found)
    x, u = group["Coordinates"][:][order], group["Velocities"][:].astype(float)[order]
    check("ids", found[ours], ids[order].astype(float), 0.0)
# Coordinates are in comoving kpc/h, velocities v_pec / sqrt(a) in km/s
check("positions", data["PartType1", "particle_position"].to("kpccm/h").d[ours], x, 1e-6)
velocity = data["PartType1", "particle_velocity"].to("km/s").d[ours]
check("velocities", velocity, u / np.sqrt(1.0 + z), 1e-6)

for catalogue in sys.argv[7:]:
    units = {"length": (1.0, "kpccm/h"), "mass": (1e10, "Msun/h"), "velocity": (1.0, "km/s")}
    halos = yt.load(catalogue, unit_base=units).all_data()
    with h5py.File(catalogue) as f:
        mass, place = f["Group/GroupMass"][:] * 1e10, f["Group/GroupPos"][:, 0]
    check("at least five halos", float(mass.size >= 5), 1.0, 0.0)
    # 1e-4: the catalogue's floats, and yt's constants
    check(
        "halo masses", np.sort(halos["Group", "particle_mass"].to("Msun/h").d), np.sort(mass), 1e-4
    )
    found = halos["Group", "particle_position"].to("kpccm/h").d[:, 0]
    check("halo positions", np.sort(found), np.sort(place), 1e-5)
sys.exit(failures > 0)
