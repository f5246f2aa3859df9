# SPDX-License-Identifier: GPL-3.0-or-later
"""Is a halo catalogue right for the snapshot it was made from? Read by h5py and the package photons.

usage: analyse_gives_right_halos.py [--ordered] SNAPSHOT FOLDER      (lengths in kpc/h)"""

import sys

import h5py
import numpy as np
import photons

ordered = sys.argv[1] == "--ordered"
snapshot_path, folder = sys.argv[-2:]
failures = 0


def check(what, good):
    global failures
    failures += not good
    print(f"{'ok' if good else 'FAILED'}: {what}")


with h5py.File(snapshot_path) as f:
    kind = next(name for name in f if name.startswith("PartType"))
    box, z, omega_m, mass = (
        f["Header"].attrs[n] for n in ("BoxSize", "Redshift", "Omega0", "MassTable")
    )
    mass = mass[int(kind[-1])]
    # Floats become doubles here: numpy 1 would go on in single precision, numpy 2 would not.
    x = f[kind]["Coordinates"][:].astype(float) % box
    u = f[kind]["Velocities"][:].astype(float)
    ids = f[kind]["ParticleIDs"][:].astype(int)
place = np.zeros(ids.max() + 1, int)
place[ids] = np.arange(len(ids))

run = photons.Run(folder)
halos = run.halos(0)
header, length = halos.header, halos["GroupLen"][:]
check(
    "header",
    header["Ngroups_Total"] == len(length) > 30
    and header["BoxSize"] == box
    and abs(header["Redshift"] - z) < 1e-9,
)
check("largest first", np.all(np.diff(length) <= 0) and length[-1] >= 20)
check("offsets", np.array_equal(halos["GroupOffsetType"][:, 1], np.cumsum(length) - length))
check("members once", len(np.unique(halos.file["IDs/ID"])) == header["Nids_Total"] == length.sum())
check(
    "lengths and masses by type",
    np.array_equal(halos["GroupLenType"][:, 1], length)
    and np.allclose(halos["GroupMass"], length * mass, rtol=1e-6)
    and np.allclose(halos["GroupMassType"][:, 1], length * mass, rtol=1e-6),
)
if ordered:
    check("particles in halo order", np.array_equal(ids[: length.sum()], halos.file["IDs/ID"]))

nearest = lambda d: d - box * np.rint(d / box)
reach = header["LinkingLength"]
threshold = (
    200 * 2.77536627e-8 * (omega_m * (1 + z) ** 3 + 1 - omega_m) / (1 + z) ** 3
)  # 1e10 Msun/h/(kpc/h)^3, G = 43.0071 below
position = speed = linked = sphere = density = 0
for i in range(len(length)):
    member = place[halos.members(i)]
    d = nearest(x[member] - x[member[0]])
    position = max(
        position, np.abs(nearest(d.mean(0) + x[member[0]] - halos["GroupPos"][i])).max() / box
    )
    speed = max(
        speed,
        np.abs(u[member].mean(0) / (1 + z) ** 1.5 - halos["GroupVel"][i]).max() / np.abs(u).max(),
    )
    if i < 20:  # everyone has a friend
        pairs = (
            np.sqrt((nearest(x[member][:, None] - x[member][None]) ** 2).sum(2))
            + np.eye(len(member)) * box
        )
        linked = max(linked, pairs.min(0).max() / reach)
    radius, m200 = halos["Group_R_Crit200"][i], halos["Group_M_Crit200"][i]
    r = np.sqrt((nearest(x - halos["GroupPeakPos"][i]) ** 2).sum(1))
    # float radii may lose a particle that stands on the sphere
    sphere = max(
        sphere,
        max(
            0,
            (r < radius * (1 - 1e-6)).sum() - m200 / mass,
            m200 / mass - (r < radius * (1 + 1e-6)).sum(),
        ),
    )
    if m200 > 0:
        density = max(density, abs(m200 / (4 / 3 * np.pi * float(radius) ** 3) / threshold - 1))
check(f"centres of mass: {position:.1e} of the box", position < 1e-8)  # positions are kept to 2^-32
check(f"velocities: {speed:.1e}", speed < 1e-6)  # float
check(f"everyone within a linking length of another: {linked:.6f}", linked <= 1 + 1e-6)
check(f"particles inside R200: off by {sphere:.2g}", sphere < 0.01)
check(f"density inside R200: {density:.1e}", density < 2e-4)  # rho_critical with G = 43.0071, 5e-5

power, counts = run.power(0), run.mass_function(0)
check(
    "power spectrum read",
    np.all(np.diff(power["k"]) > 0)
    and power.header["N"] == len(x)
    and abs(power.header["z"] - z) < 1e-6,
)
check(
    "mass function read", counts["N_FoF"].sum() == len(length) and np.all(counts["Reed 2007"] > 0)
)
halos.close()
sys.exit(failures > 0)
