# SPDX-License-Identifier: GPL-3.0-or-later
"""Are the measures of isolated systems right? Snapshots of a Plummer sphere with an exponential
disk are made here, tilted and away from the origin, and measured against theory."""

import csv
import os
import types

import astropy.units as u
import h5py
import numpy as np
import photons
from photons import (
    drawing, files, galaxy, galaxy_disk, galaxy_log, galaxy_maps, galaxy_pictures, galaxy_plots, plots,
    report,
)  # fmt: skip
from photons.serve import LivePage

HALO_MASS, HALO_SCALE, HALO_COUNT = 10.0, 4.0, 40000  # 1e10 Msun, kpc
DISK_MASS, DISK_SCALE, DISK_HEIGHT, DISK_COUNT = 2.0, 3.0, 0.3, 30000
CENTRE = np.array([50.0, -20.0, 7.0])
AXIS = np.array([0.6, 0.0, 0.8])  # of the disk
TILT = np.array([[0.8, 0, -0.6], [0, 1, 0], AXIS])  # rows: axes of the disk
random = np.random.default_rng(7)


def directions(count):
    vectors = random.normal(size=(count, 3))
    return vectors / np.linalg.norm(vectors, axis=1)[:, None]


def plummer(count, scale):
    """Positions. The mass within r is (r/sqrt(r^2 + a^2))^3 of the whole."""
    share = random.uniform(size=count)
    return directions(count) * (scale / np.sqrt(share ** (-2 / 3) - 1))[:, None]


def disk(count):
    """Positions and velocities: surface density exp(-R/R_d), density sech^2(z/z_0), circles."""
    radius = random.gamma(2, DISK_SCALE, count)
    angle = random.uniform(0, 2 * np.pi, count)
    z = DISK_HEIGHT * np.arctanh(random.uniform(-1, 1, count))
    position = np.array([radius * np.cos(angle), radius * np.sin(angle), z]).T
    velocity = 200 * np.array([-np.sin(angle), np.cos(angle), 0 * z]).T
    return position, velocity


def write_snapshot(path, parts, time=0.5, **header):
    """parts -- {type: (position, velocity, mass of each particle)}. Types of odd numbers have their
    masses in MassTable."""
    table = np.zeros(6)
    with h5py.File(path, "w") as file:
        for kind, (position, velocity, mass) in parts.items():
            group = file.create_group(f"PartType{kind}")
            group["Coordinates"], group["Velocities"] = position, velocity.astype("f4")
            group["Velocities"].attrs.update(
                {"a_scaling": 0.5, "h_scaling": 0.0, "length_scaling": 0.0, "mass_scaling": 0.0,
                 "velocity_scaling": 1.0, "to_cgs": 1e5}
            )  # fmt: skip
            if kind % 2:
                table[kind] = mass
            else:
                group["Masses"] = np.full(len(position), mass, "f4")
        known = {"BoxSize": 0.0, "Time": time, "Redshift": 0.0, "MassTable": table}
        file.create_group("Header").attrs.update({**known, **header})


halo_position = plummer(HALO_COUNT, HALO_SCALE)
disk_position, disk_velocity = disk(DISK_COUNT)
parts = {
    1: (halo_position + CENTRE, 100 * directions(HALO_COUNT), HALO_MASS / HALO_COUNT),
    2: (disk_position @ TILT + CENTRE, disk_velocity @ TILT + 30, DISK_MASS / DISK_COUNT),
}
os.makedirs("run/log")
write_snapshot("run/snapshot_000.hdf5", parts, time=0.0)
write_snapshot("run/snapshot_001.hdf5", parts)
system = galaxy.read_system("run/snapshot_001.hdf5")

# 0.5 kpc/(km/s); centre within 0.1 core radii; the disk lies in the plane again.
assert abs(system.time_myr - 488.896) < 0.001
assert np.linalg.norm(system.centre - CENTRE) < 0.1 * HALO_SCALE, system.centre
assert system.axes[2] @ AXIS > 0.9999 and np.allclose(system.axes @ system.axes.T, np.eye(3))

# Density: shells hold what theory says, with the scatter that the errors say. Profiles about the
# true centre, so that errors are those of counts alone.
shift = system.axes @ (CENTRE - system.centre)
for component in system.components.values():
    component.position = component.position - shift
profile = galaxy.density_profile(system)


def enclosed(r, scale=HALO_SCALE):
    return HALO_MASS * (r / np.sqrt(r**2 + scale**2)) ** 3


def chi_square(scale):
    """Of the halo's density against a Plummer sphere, per bin; bins of 25 particles or more."""
    low, high = profile["r_low"], profile["r_high"]
    theory = (enclosed(high, scale) - enclosed(low, scale)) / (4 / 3 * np.pi * (high**3 - low**3))
    some = profile["N_halo"] >= 25
    assert np.count_nonzero(some) > 15
    return np.mean(((profile["rho_halo"] - theory) / profile["error_halo"])[some] ** 2)


assert 0.4 < chi_square(HALO_SCALE) < 2, chi_square(HALO_SCALE)  # 1 +- 0.3
assert chi_square(1.1 * HALO_SCALE) > 20, chi_square(1.1 * HALO_SCALE)  # another sphere is refused
total = profile["rho_halo"] + profile["rho_disk"]
assert np.allclose(profile["rho_total"], total, rtol=1e-12)
assert np.all(profile["N_total"] == profile["N_halo"] + profile["N_disk"])
assert np.sum(profile["N_total"]) >= len(halo_position) + len(disk_position) - 20

# Rotation curve at 2 to 20 kpc: M within 3 standard errors of N particles, at most 2 % of v. The
# disk of a thickness of 0.1 R_d is taken as flat.
radii = np.linspace(2, 20, 10)
curve = galaxy.rotation_curve(system, radii)
assert np.allclose(curve["v_halo"], np.sqrt(43007.1 * enclosed(radii) / radii), rtol=0.02)
x = radii / DISK_SCALE
flat = np.sqrt(43007.1 * DISK_MASS * (1 - (1 + x) * np.exp(-x)) / radii)
assert np.allclose(curve["v_disk"], flat, rtol=0.02), curve["v_disk"] / flat
assert np.allclose(curve["v_total"] ** 2, curve["v_halo"] ** 2 + curve["v_disk"] ** 2, rtol=1e-9)

# Lagrangian radii of a Plummer sphere: the errors of shares s, sqrt(s (1 - s)/N), are 0.25 % of the
# mass or less, which is 1 % of these radii.
found = galaxy.lagrangian_radii(system)
for share in (0.1, 0.5, 0.9):
    theory = HALO_SCALE / np.sqrt(share ** (-2 / 3) - 1)
    assert abs(found[f"r{100 * share:.0f}_halo"] / theory - 1) < 0.03, (share, found)
assert abs(found["r50_disk"] / (1.67835 * DISK_SCALE) - 1) < 0.02  # (1 + x) exp(-x) = 1/2

# Height: the root mean square of sech^2 is pi/sqrt(12) z_0. A disk that is not turned into the
# plane is far thicker.
rings = galaxy.disk_height(system)
height = np.pi / np.sqrt(12) * DISK_HEIGHT
pull = (rings["rms_z"] - height) / rings["error"]
assert np.all(rings["N"] > 100) and np.mean(pull**2) < 2.5 and rings["rms_z"].max() < 1.3 * height
still = galaxy.Component(disk_position @ TILT, 0 * disk_velocity, np.ones(DISK_COUNT))
tilted = galaxy.System({"disk": still})
assert galaxy.disk_height(tilted)["rms_z"].max() > 5 * height

# Rotation: all particles of the disk move at 200 km/s about its centre, relative to its mean motion.
rotation = galaxy.disk_rotation(system, np.linspace(3, 15, 7))
assert np.all(np.abs(rotation["v_phi"] - 200) < 4), rotation["v_phi"]
assert np.all(rotation["sigma_z"] < 1) and rotation["N"].sum() > 0.5 * DISK_COUNT
assert galaxy.curve_end(system) == 30 and galaxy.rotation_curve(system)["r"][-1] == 30

# The disk: length, height and spin of theory; no bar. Particles stretched along an axis have one; its
# pattern speed is that of the rotation, 30 km/s/kpc, though angles are known up to half a turn.
row = galaxy_disk.measures(system)
assert abs(row["scale_length"] / DISK_SCALE - 1) < 0.02 and abs(row["height"] / height - 1) < 0.02
assert row["bar_strength"] < 0.03 and row["sigma_phi"] < 5
spin = np.array([row[f"spin_{axis}"] for axis in "xyz"])
assert np.allclose(spin, 2 * DISK_SCALE * 200 * AXIS, rtol=0.02, atol=15), spin
assert np.allclose([row[f"centre_{axis}"] for axis in "xyz"], system.centre)
angles, times = [], np.arange(6) * 40.0
x, y = np.meshgrid(*[np.linspace(-6, 6, 801)] * 2)
mass = np.exp(-np.hypot(x / 2, y) / DISK_SCALE) * (np.hypot(x, y) < 6)
stretched = abs(np.sum(mass * np.exp(2j * np.arctan2(y, x)))) / np.sum(mass)
for time in times:
    angle = 30 / 977.792 * time + 0.3
    turn = np.array([[np.cos(angle), np.sin(angle), 0], [-np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    long = galaxy.Component((disk_position * [2, 1, 1]) @ turn, disk_velocity, np.ones(DISK_COUNT))
    strength, found_angle = galaxy_disk.bar(long, 6.0)
    angles.append(found_angle)
    assert abs(strength - stretched) < 0.02, (strength, stretched)
assert np.allclose(galaxy_disk.pattern_speed(times, np.array(angles)), 30, rtol=1e-6)
radial = galaxy.Component(halo_position, halo_position * 20.0, np.ones(HALO_COUNT))
round_one = galaxy.Component(halo_position, 100 * directions(HALO_COUNT), np.ones(HALO_COUNT))
for part, beta in ((radial, 1), (round_one, 0)):
    shells = galaxy_disk.anisotropy(galaxy.System({"halo": part}), np.array([2.0, 4, 8]))
    assert np.allclose(shells["beta_halo"], beta, atol=0.05), shells["beta_halo"]
assert np.allclose(shells["sigma_halo"], 100 / 3**0.5, rtol=0.01)
# rotation is no dispersion
turning = np.cross([0, 0, 1], halo_position)
turning *= 220 / np.linalg.norm(turning, axis=1)[:, None]
both = galaxy.Component(halo_position, turning + 100 * directions(HALO_COUNT), np.ones(HALO_COUNT))
shells = galaxy_disk.anisotropy(galaxy.System({"halo": both}), np.array([2.0, 4, 8]))
assert np.allclose(shells["sigma_halo"], 100 / 3**0.5, rtol=0.03), shells["sigma_halo"]
assert np.allclose(shells["beta_halo"], 0, atol=0.1), shells["beta_halo"]
# Labels at the ends of curves are apart, in their order; those that are so already stay.
moved = drawing.spread([1.0, 1.01, 1.02, 3.0], 0.1)
assert np.all(np.diff(moved) > 0.099) and moved[3] == 3 and abs(moved[:3].mean() - 1.01) < 1e-9, moved

# Pictures hold the mass of what they show. The surface density of the disk is that of theory in
# rings, and pixels about them scatter by less than a third, though one pixel has 0.4 to 5 particles.
views = galaxy_pictures.Views(system, system, ["disk"])
assert galaxy.pictured(system) == ["disk"] and views.half_width > galaxy.extent(system)
half_width = 15.0
frame = galaxy_maps.Frame(system, ["disk"])
position = frame.positions(system)["disk"]
face, edge = (galaxy_maps.map_of(position, system.components["disk"].mass, half_width, 256, up)
              for up in (1, 2))  # fmt: skip
area = (half_width / 128) ** 2
within = np.all(np.abs(position[:, :2]) < half_width, axis=1).mean()
assert abs(face.sum() * area / (DISK_MASS * 1e10 * within) - 1) < 0.01
middles = (np.arange(256) - 127.5) * half_width / 128
R = np.hypot(middles[:, None], middles)
for low in (2, 4, 6, 8, 10):
    ring = (R >= low) & (R < low + 1)
    theory = DISK_MASS * 1e10 / (2 * np.pi * DISK_SCALE**2) * np.exp(-R[ring] / DISK_SCALE)
    assert abs(face[ring].sum() / theory.sum() - 1) < 0.1, (low, face[ring].sum() / theory.sum())
    assert np.std(face[ring] / theory) < 0.4, (low, np.std(face[ring] / theory))
assert edge[115:141].sum() > 0.95 * edge.sum() and face[115:141].sum() < 0.6 * face.sum()

# An unsharp mask shows a ring, 20 % denser than its surroundings, and not the gradient.
ring = np.exp(-R / 5) * (1 + 0.2 * np.exp(-0.5 * (R - 8) ** 2))
mask = galaxy_maps.unsharp(ring, 16)
assert 0.05 < mask[128, 128 + 68] < 0.2 and abs(mask[128, 128 + 34]) < 0.05, mask[128, ::8]

# Of two galaxies the frame holds still: each output is about the middle between both, and what is
# seen from above is their orbit.
def pair(place, velocity):
    both = {c: np.concatenate([s * np.array(v) + w for s in (1, -1)])
            for c, v, w in (("x", place, plummer(5000, 1)), ("v", velocity, np.zeros((5000, 3))))}
    part = galaxy.Component(both["x"] + 7, both["v"], np.ones(10000))
    return galaxy.System({"disk": part})


orbit = galaxy_maps.Frame(first := pair([0, 0, 20.0], [0, 50.0, 0]), ["disk"])
assert abs(orbit.axes[2] @ [1, 0, 0]) > 0.99
for time, place in enumerate(([0, 0, 20.0], [0, 15.0, 15.0], [0, 30.0, 0])):
    seen = orbit.positions(first if time == 0 else pair(place, [0, 50.0, 0]))["disk"]
    for sign in (1, -1):
        assert np.linalg.norm(np.median(seen[::sign][:5000], axis=0) @ orbit.axes
                              - sign * np.array(place)) < 0.5  # fmt: skip
# In external potentials the frame is about the centre of these, and what moves in them moves in it.
satellite = galaxy.System({"stars": galaxy.Component(one := plummer(5000, 1) + [9.0, 5, 2], 0 * one, np.ones(5000))}, 0, True)
still = galaxy_maps.Frame(satellite, ["stars"])
assert np.allclose(np.median(still.positions(satellite)["stars"], axis=0), [9, 5, 2], atol=0.1)
assert galaxy_pictures.shown_numbers(3) == [0, 1, 2]
assert galaxy_pictures.shown_numbers(41)[::11] == [0, 40]

# A galaxy and its mirror image: the densest point is in one of them. Spheres that shrink from the
# centre of mass end between them.
place = np.array([30.0, 0, 0])
one = plummer(5000, 1)
both = np.concatenate([one - place, place - one])
centre = galaxy.densest_point(both, np.ones(len(both)))
assert min(np.linalg.norm(centre - place), np.linalg.norm(centre + place)) < 0.15, centre
assert np.all(galaxy.densest_point(np.ones((1, 3)), np.ones(1)) == 1)

# Types, files and units: a bulge alone; a halo in Mpc in two files, of which one has no halo.
write_snapshot("bulge.hdf5", {3: (halo_position, halo_position, 1.0)})
assert list(galaxy.read_system("bulge.hdf5").components) == ["bulge"]
part = {1: (halo_position / 1000, halo_position, 1e-3)}
mpc = {"UnitLength_in_cm": 3.085678e24, "NumFilesPerSnapshot": 2}
write_snapshot("set.0.hdf5", {2: (disk_position / 1000, disk_velocity, 1e-3)}, **mpc)
write_snapshot("set.1.hdf5", part, **mpc)
with h5py.File("set.0.hdf5", "r+") as file:
    file["Header"].attrs["MassTable"] = [0, 1e-3, 0, 0, 0, 0]
whole = galaxy.read_system("set")
assert list(whole.components) == ["halo", "disk"] and abs(whole.time_myr / 488896 - 1) < 1e-5
assert abs(galaxy.lagrangian_radii(whole)["r50_halo"] / found["r50_halo"] - 1) < 0.02
assert files.particle_counts("set.0.hdf5") == {1: HALO_COUNT, 2: DISK_COUNT}

# With units: no powers of a = Time and h, other than in a cosmological snapshot.
read = photons.load("run/snapshot_001.hdf5", units=True)
assert np.allclose(read["Velocities"].to_value(u.km / u.s), parts[1][1], atol=1e-4)
read.close()
write_snapshot("snap_periodic.hdf5", parts, BoxSize=100.0)
read = photons.load("snap_periodic.hdf5", units=True)
assert np.allclose(read["Velocities"].to_value(u.km / u.s), parts[1][1] * 0.5**0.5, atol=1e-4)
read.close()

# Energy: the last row of a step counts, an unfinished line does not.
HEAD = "step,time_myr,kinetic,potential,total,virial,momentum_x"
VECTORS = ",angular_x,angular_y,angular_z,centre_x,centre_y,centre_z"
VECTORS += ",angular_type_2_x,angular_type_2_y,angular_type_2_z\n"
with open("run/log/energy.csv", "w") as file:
    file.write(HEAD + VECTORS + "0,0,1,-2,-1,1,0,0,0,2,1,0,0,0,0,1\n")
    file.write("4,10,1,-2,-9,1,0,0,0,0,0,0,0,0,0,0\n")
    file.write("4,10,1.1,-2.2,-1.1,1,0,0.2,0,2,1,0,0.5,0,0,1.5\n8,2")
energy = photons.load("run/log/energy.csv", units=True)
assert energy["time_myr"].unit == u.Myr and list(energy["step"]) == [0, 4]
for name in "angular_z", "angular_type_2_z":
    assert energy[name].unit == u.Unit("1e10 Msun kpc km / s")
energy = photons.Run("run").energy()
assert np.allclose(galaxy_plots.energy_error(energy), [0, 0.1])
assert np.allclose(galaxy_plots.angular_momentum_error(energy), [0, 0.1])
assert np.allclose(galaxy_plots.angular_momentum_error(energy, "angular_type_2"), [0, 0.5])
assert np.allclose(galaxy_plots.vectors(energy, "centre"), [[1, 0, 0], [1, 0, 0.5]])
energy.pop("angular_x")
assert galaxy_plots.angular_momentum_error(energy) is None

# A run: by its configuration, or by its snapshots; the numbers in the CSV files are the measures.
run = photons.Run("run")
assert run.isolated and [run.time_myr(n) for n in run.numbers][0] == 0
with open("run/config-used.ini", "w") as file:
    file.write("[box]\nboundary = periodic\n")
assert not run.isolated
with open("run/config-used.ini", "w") as file:
    file.write("[box]\nboundary = isolated\n[units]\nsystem = galaxy\n")
assert run.isolated
with open("run/log/timings.csv", "w") as file:
    file.write("step,time_myr,wall_s,particles_per_s,peak_rss_bytes,p2p_s\n")
    file.write("0,0,1,10,1048576,1\n1,488.9,1,10,1048576,1\n")
with open("run/log/galaxy.csv", "w") as file:  # two galaxies that approach; only the first has a disk
    file.write("step,time_myr,galaxy,centre_x,centre_y,centre_z,r10,r50,r90,bar_strength,pattern_speed,scale_length,height\n")
    file.write("0,0,1,0,0,0,1,2,4,0.1,,3,0.3\n0,0,2,3,4,0,1,2,3,,,,\n")
    file.write("1,9,1,0,1,0,1,2,5,0.2,40,3,0.3\n1,9,2,0,4,0,1,2,3,,,,\n")
evolution = plots.evolution_of(run)
assert len(evolution.shown) == 2 and len(evolution.radii()["time_myr"]) == 2
os.mkdir("tables")
galaxy_plots.write_tables(evolution, "tables")
with open("tables/lagrangian_radii.csv") as file:
    rows = list(csv.DictReader(file))
assert [float(row["time_myr"]) for row in rows] == [0, 488.896111]
again = galaxy.lagrangian_radii(galaxy.read_system("run/snapshot_001.hdf5"))
assert all(np.isclose(float(rows[1][name]), value) for name, value in again.items())
assert set(os.listdir("tables")) == {
    "density_profile.csv", "rotation_curve.csv", "disk_height.csv", "disk_rotation.csv",
    "lagrangian_radii.csv", "anisotropy.csv", "galaxy.csv",
}  # fmt: skip

# The figures show these numbers.
lines = galaxy_plots.plot_conserved(evolution).axes[0].get_lines()
assert [line.get_label() for line in lines] == ["total", "disk"]
assert np.isclose(lines[1].get_ydata()[1], 0.5)
lines = galaxy_plots.plot_rotation_curve(evolution).axes[0].get_lines()
shown = [line for line in lines if line.get_label() == "total"][0]
assert np.array_equal(shown.get_ydata(), evolution.measured("rotation_curve")[1]["v_total"])
points = [line for line in lines if np.array_equal(
    line.get_ydata(), evolution.measured("disk_rotation")[1]["v_phi"])]  # fmt: skip
assert len(points) == 2  # both outputs have the same particles

radii, apart = galaxy_log.plot_galaxies(evolution).axes
assert np.array_equal(apart.get_lines()[0].get_ydata(), [5, 3])
assert np.array_equal(radii.get_lines()[2].get_ydata(), [4, 5]) and len(radii.get_lines()) == 6
strength, speed = galaxy_log.plot_bar(evolution).axes[:2]
assert np.array_equal(strength.get_lines()[0].get_ydata(), [0.1, 0.2])
assert speed.get_lines()[0].get_ydata()[1] == 40 and speed.get_lines()[0].get_marker() == "."  # a single one is seen
few_rows = [{**row, "A2_max": np.nan} for row in evolution.measures()]  # rings of few particles
few = types.SimpleNamespace(paths=evolution.paths, measures=lambda: few_rows)
named = galaxy_plots.plot_disk(few).axes[0].get_legend().get_texts()
assert [text.get_text() for text in named] == ["within 2 scale lengths"]
figure = galaxy_plots.plot_disk_height(evolution)
figure.canvas.draw()
(axis,) = figure.axes
assert not axis.get_legend().get_window_extent().overlaps(axis.get_window_extent())

# All outputs are pictured with the same place and colours, and one colour bar tells these.
axes = galaxy_pictures.plot_picture(evolution).axes
images = [image for axis in axes for image in axis.images]
assert len(images) == 4 and len(axes) == 5
assert len({image.get_clim() for image in images}) == 1
assert len({tuple(image.get_extent()) for image in images}) == 2  # face-on, and edge-on
radii_lines = galaxy_plots.plot_lagrangian_radii(evolution).axes[0].get_lines()
assert len(radii_lines) == 9  # three shares of halo, disk and both

# The page: figures of galaxies, no cosmology.
with open("run/log/run.log", "w") as file:
    file.write("2026 begins\nphotons-starpu\n  particles   70000\n  galaxy      2 components\n    halo  1  40000\n"
               "  potential   point mass=1\n  softening   0.1 kpc\n  groups      8\n    halo of a restart\n")
report.make_report("run", "page.html")
with open("page.html") as file:
    page = file.read()
listed = "<h2>Components</h2>\n<pre>  galaxy      2 components\n    halo  1  40000\n  potential   point mass=1\n  softening   0.1 kpc\n</pre>"
assert listed in page
assert page.count('<a href="run/figures/') == len(galaxy_plots.FIGURES) + 1  # figures open
for text in (
    "face-on and edge-on",
    "10, 50 and 90 %",
    "virial ratio",
    "40,000 halo, 30,000 disk",
    "steps</td><td>1, to t = 488.9 Myr",
):
    assert text in page, text
for text in ("HALOFIT", "Mass functions", "Mpc/h", "z ="):
    assert text not in page.replace("base64", ""), text
assert page.count("data:image/") == len(galaxy_plots.FIGURES) + 1  # and timings

# The page that follows a run: with the next step, figures of the logs alone are drawn anew.
live = LivePage("run")
assert "<p>step 1, t = 488.9 Myr, 10 particles a second" in live.get()
os.remove("run/figures/picture.pdf")
os.remove("run/figures/energy.pdf")
live.next_time = 0.0
assert live.get().count("data:image/png") == len(galaxy_plots.FIGURES) + 1
assert os.path.exists("run/figures/energy.pdf") and not os.path.exists("run/figures/picture.pdf")

# A few particles: nothing fails, and figures without data are left out.
for count in (1, 2, 30):
    few = (disk_position[:count], disk_velocity[:count], 1.0)
    write_snapshot("few.hdf5", {2: few})
    drawn = galaxy_plots.figures_of(galaxy_plots.Evolution(["few.hdf5"]))
    drawn = {name for name, draw in drawn.items() if draw() is not None}
    assert ("density_profile" in drawn) == (count == 30) and "picture" in drawn, drawn
    # the labels of a panel that stands alone are within the figure
    figure = galaxy_pictures.plot_picture(galaxy_plots.Evolution(["few.hdf5"]))
    figure.canvas.draw()
    assert min(axis.get_tightbbox().x0 for axis in figure.axes) > 0
assert np.all(galaxy.densest_point(np.ones((200, 3)), np.ones(200)) == 1)
