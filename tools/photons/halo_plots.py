# SPDX-License-Identifier: GPL-3.0-or-later
"""Figure of the density profiles of the largest halos beside those of Navarro, Frenk & White."""

from .drawing import label_of, style_of
from .modules import Deferred

np, plt = Deferred("numpy"), Deferred("matplotlib.pyplot")

HALOS_MOST = 3  # that are drawn
PARTICLES_LEAST = 200  # within R200c of a halo that is drawn
SHELL_LEAST = 8  # particles of a shell that is drawn
ROWS = 1 << 22  # of a snapshot that are in memory at a time
EDGES = (0.02, 2.0, 21)  # of shells over R200c: first, last, number


def distances(snapshot, centre, most):
    """Distances up to `most` of the particles of a snapshot from a point, in its units."""
    box, coordinates, found = snapshot.header["BoxSize"], snapshot["Coordinates"], []
    for first in range(0, len(coordinates), ROWS):
        away = coordinates[first : first + ROWS] - centre
        away -= box * np.rint(away / box)
        r = np.sqrt(np.sum(away.astype(float) ** 2, axis=1))
        found.append(r[r <= most])
    return np.concatenate(found)


def nfw(x, concentration):
    """Density at x = r/R200c over the mean density within R200c (Navarro, Frenk & White 1997, ApJ 490, 493)."""
    c = concentration
    return c**3 / (3 * (np.log1p(c) - c / (1 + c)) * c * x * (1 + c * x) ** 2)


def chosen_halos(halos):
    """The numbers of the halos that are drawn: large ones without heavy particles, which profiles would lack."""
    mass, radius = halos["Group_M_Crit200"][:], halos["Group_R_Crit200"][:]
    if "GroupHeavyLen" in halos:
        mass = np.where(halos["GroupHeavyLen"][:] > 0, 0, mass)
    particle = halos["GroupMass"][0] / halos["GroupLen"][0] if len(mass) else 1.0
    return np.flatnonzero((mass >= PARTICLES_LEAST * particle) & (radius > 0))[:HALOS_MOST]


def draw_profile(axis, snapshots, halos, i, style):
    """The density in shells over the mean within R200c, and the profile with the halo's concentration."""
    colour, _, marker = style
    radius, concentration = halos["Group_R_Crit200"][i], halos["GroupConcentration"][i]
    edges = np.geomspace(*EDGES)
    centre, most = halos["GroupPeakPos"][i], edges[-1] * radius
    r = np.concatenate([distances(snapshot, centre, most) for snapshot in snapshots]) / radius
    counts, inside = np.histogram(r, edges)[0], np.count_nonzero(r <= 1)
    density = counts / np.diff(edges**3) / inside
    shown = counts >= SHELL_LEAST
    middle = np.sqrt(edges[1:] * edges[:-1])
    name = f"{1e10 * halos['Group_M_Crit200'][i]:.3g} Msun/h, c = {concentration:.1f}"
    axis.errorbar(middle[shown], density[shown], density[shown] / np.sqrt(counts[shown]), color=colour,
                  marker=marker, ms=4, lw=1, label=name)  # fmt: skip
    if concentration > 0:
        axis.plot(middle, nfw(middle, concentration), color=colour, lw=0.9, ls="--")


def snapshots_of_members(run, number, halos):
    """The particles of an output of the types that halos have; none if these have not all one mass."""
    types = np.flatnonzero(halos["GroupLenType"][:].sum(0))
    snapshots = [run.snapshot(number, int(particle_type)) for particle_type in types]
    masses = {snapshots[0].header["MassTable"][particle_type] for particle_type in types} if snapshots else {0.0}
    return snapshots if len(masses) == 1 and min(masses) > 0 else []


def plot_halo_profile(run):
    """Densities about the density peaks of the largest halos of the last output that has a snapshot and halos."""
    for number in reversed(run.numbers):
        halos, snapshot = run.halos(number), run.snapshot(number)
        if halos is not None and snapshot is not None:
            break
    else:
        return None
    chosen, snapshots = chosen_halos(halos), snapshots_of_members(run, number, halos)
    if not len(chosen) or not snapshots:
        return None
    figure, axis = plt.subplots(figsize=(7, 5), layout="constrained")
    for place, i in enumerate(chosen):
        draw_profile(axis, snapshots, halos, i, style_of(place, len(chosen)))
    axis.plot([], [], "k--", lw=0.9, label="NFW with the c of $V_{max}$")
    axis.axvline(1, color="grey", lw=0.8, ls=":")
    axis.set(xscale="log", yscale="log", xlabel="r / R$_{200c}$", ylabel="density over the mean within R$_{200c}$")
    axis.set_title(label_of(run.redshift(number)), fontsize="medium")
    axis.legend(frameon=False, fontsize="small")
    return figure
