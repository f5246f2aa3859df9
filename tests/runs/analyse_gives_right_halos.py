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
expansion = omega_m * (1 + z) ** 3 + 1 - omega_m  # (H/H0)^2
critical = 2.77536627e-8 * expansion / (1 + z) ** 3  # 1e10 Msun/h/(kpc/h)^3, G = 43.0071 below
omega = omega_m * (1 + z) ** 3 / expansion - 1
definitions = {
    "Crit200": 200,
    "Mean200": 200 * (omega + 1),
    "Crit500": 500,
    "TopHat200": 18 * np.pi**2 + 82 * omega - 39 * omega**2,  # Bryan & Norman 1998
}
position = speed = linked = sphere = density = 0


def properties(i, member):
    """GroupVmax, GroupVelDisp, GroupCMOffset, GroupAxisRatios and GroupSpinParameter."""
    a = 1 / (1 + z)
    d, v = nearest(x[member] - halos["GroupPeakPos"][i]), u[member] * np.sqrt(a)  # peculiar
    offset = np.linalg.norm(d.mean(0))
    radius = float(halos["Group_R_Crit200"][i])
    inner = (d**2).sum(1) <= radius**2 if radius > 0 else np.ones(len(d), bool)
    d, v = d[inner], v[inner]
    r = np.sort(np.sqrt((d**2).sum(1)))
    circular = np.sqrt(43007.1 * mass * np.arange(1, len(r) + 1)[5:] / (a * r[5:]))
    e = np.sqrt(np.maximum(np.linalg.eigvalsh(d.T @ d), 0))
    d -= d.mean(0)
    v += 0.1 * np.sqrt(expansion) * a * d - v.mean(0)  # 0.1 km/s/(kpc/h)
    spin = 0
    if radius > 0:
        scale = np.sqrt(2 * 43007.1 * halos["Group_M_Crit200"][i] / (a * radius)) * a * radius
        spin = np.linalg.norm(np.cross(a * d, v).mean(0)) / scale
    e = e / max(e[2], 1e-30)
    return circular.max(initial=0), np.sqrt((v**2).sum(1).mean() / 3), offset, e[1], e[0], spin


off = np.zeros(6)
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
    r = np.sqrt((nearest(x - halos["GroupPeakPos"][i]) ** 2).sum(1))
    for name, overdensity in definitions.items():
        radius, inside = halos["Group_R_" + name][i], halos["Group_M_" + name][i] / mass
        # float radii may lose a particle that stands on the sphere
        sphere = max(
            sphere,
            (r < radius * (1 - 1e-6)).sum() - inside,
            inside - (r < radius * (1 + 1e-6)).sum(),
        )
        if inside > 0:
            volume = 4 / 3 * np.pi * float(radius) ** 3
            density = max(density, abs(inside * mass / volume / (overdensity * critical) - 1))
    found = [halos["Group" + name][i] for name in ("Vmax", "VelDisp", "CMOffset")]
    found += [*halos["GroupAxisRatios"][i], halos["GroupSpinParameter"][i]]
    # The scale of an offset is the halo's radius.
    scale = np.array([found[0] or 1, found[1] or 1, halos["Group_R_Mean200"][i] or reach, 1, 1, 0.1])
    off = np.maximum(off, np.abs(np.array(found) - properties(i, member)) / scale)
check(f"centres of mass: {position:.1e} of the box", position < 1e-8)  # positions are kept to 2^-32
check(f"velocities: {speed:.1e}", speed < 1e-6)  # float
check(f"everyone within a linking length of another: {linked:.6f}", linked <= 1 + 1e-6)
check(f"particles inside spheres: off by {sphere:.2g}", sphere < 0.01)
check(f"density inside spheres: {density:.1e}", density < 2e-4)  # rho_critical with G = 43.0071, 5e-5
# A float radius may lose one inner member of a hundred or so; most are exact to 1e-5.
check(f"properties of members: {off}", off.max() < 1e-3)
ratio, c = (halos[name][:].astype(float) for name in ("GroupVmax", "GroupConcentration"))
m, radius = halos["Group_M_Crit200"][:].astype(float), halos["Group_R_Crit200"][:].astype(float)
good = c > 0
ratio = ratio[good] ** 2 / (43007.1 * m[good] * (1 + z) / radius[good])
nfw = lambda c: np.log(1 + c) - c / (1 + c)
wanted = c[good] / 2.1626 * nfw(2.1626) / nfw(c[good])
check(
    f"concentrations of {good.sum()} halos, median {np.median(c[good]):.1f}",
    good.sum() > 20 and np.allclose(wanted, ratio, rtol=1e-4) and c[good].min() > 2.16,
)


def check_subhalos(subhalos):
    """Of a snapshot in halo order, whose particles follow each other as in the catalogue."""
    group, first = subhalos["SubhaloGroupNr"][:], subhalos["SubhaloOffsetType"][:, 1]
    count, rank = subhalos["SubhaloLen"][:], subhalos["SubhaloRankInGr"][:]
    number = halos["GroupNsubs"][:]
    check("subhalos", len(count) == number.sum() == header["Nsubhalos_Total"] > 30)
    starts = np.where(number > 0, np.cumsum(number) - number, -1)
    check("first subhalos", np.array_equal(halos["GroupFirstSub"], starts))
    check("their halos", np.array_equal(group, np.repeat(np.arange(len(number)), number)))
    check("ranks", np.array_equal(rank, np.arange(len(rank)) - starts[group]))
    check("parents", np.all(subhalos["SubhaloParentRank"][:] <= number[group]))
    check("largest first", np.all((np.diff(count) <= 0) | (rank[1:] == 0)) and count.min() >= 20)
    ends = first + count
    offsets = np.where(rank == 0, halos["GroupOffsetType"][:, 1][group], np.roll(ends, 1))
    check("one after the other", np.array_equal(first, offsets))
    check("inside their halos", np.all(ends <= (halos["GroupOffsetType"][:, 1] + length)[group]))
    a, worst = 1 / (1 + z), np.zeros(6)
    for i, (begin, end) in enumerate(zip(first, ends)):
        part = slice(begin, end)
        check_id = ids[begin] == subhalos["SubhaloIDMostbound"][i] == subhalos.members(i)[0]
        centre = subhalos["SubhaloPos"][i]
        d, v = nearest(x[part] - x[begin]), u[part] * np.sqrt(a)
        r = np.sort(np.sqrt((d**2).sum(1)))
        circular = np.sqrt(43007.1 * mass * np.arange(1, len(r) + 1)[5:] / (a * r[5:]))
        mean = d.mean(0)
        shift = nearest(x[begin] + mean - subhalos["SubhaloCM"][i])
        d, dv = a * (d - mean), v - v.mean(0)
        dv += 0.1 * np.sqrt(expansion) * d
        sigma = np.sqrt((dv**2).sum(1).mean() / 3)
        spin = np.cross(d, dv).mean(0) - subhalos["SubhaloSpin"][i]
        worst = np.maximum(worst, [
            1 - check_id + np.abs(nearest(centre - x[begin])).max() / box,
            np.abs(shift).max() / box,
            np.abs(v.mean(0) - subhalos["SubhaloVel"][i]).max() / sigma,
            abs(subhalos["SubhaloVelDisp"][i] / sigma - 1),
            abs(subhalos["SubhaloVmax"][i] / circular.max() - 1),
            np.abs(spin).max() / (a * r[-1] * sigma),
        ])  # fmt: skip
    check(f"properties of subhalos: {worst}", worst.max() < 1e-5)


if ordered:
    check_subhalos(run.subhalos(0))
else:
    check("no subhalos", header["Nsubhalos_Total"] == 0 and len(run.subhalos(0)) == 0)

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
