# SPDX-License-Identifier: GPL-3.0-or-later
"""Are the numbers in figures and page right? The files are made here from known numbers."""

import glob
import os
import re
import shutil
import urllib.parse
import warnings

import h5py
import matplotlib.pyplot as plt
import numpy as np
import photons
from photons import plots, power_plots, report, spectra, statistics_plots
from photons.drawing import tables_of

warnings.simplefilter("error", RuntimeWarning)
os.makedirs("run/log")
K = np.array([0.02, 0.03, 0.05, 0.1, 0.6, 2.0, 8.0])
LINEAR = 1e4 * K
SHOT = 10.0
NYQUIST = np.pi * 32 / 100  # of the particles
MODES = 400.0  # of a bin: standard errors of 5 %


def write_power(number, a, growth, factor, noise=SHOT, said=""):
    """Linear theory times a factor for each mode, and what is there of shot noise."""
    power = LINEAR * growth**2 * factor
    with open(f"run/powerspec_{number:03d}.txt", "w") as file:
        file.write("# provenance program: photons-starpu 9.9\n# provenance ranks: 3\n")
        file.write(f"# a = {a}, z = {1 / a - 1}, box = 100 Mpc/h, mesh = 64, N = 32768\n")
        file.write(f"# D1 = {growth}, dlnD1/dlna = 1, sigma8(z) = 0.8, k_nonlinear = 0.2 h/Mpc\n")
        file.write(said)
        linear = LINEAR * growth**2
        for row in zip(K, power + noise, K * 0 + MODES, K * 0 + SHOT, linear, linear):
            file.write(" ".join(f"{value:.7e}" for value in row) + "\n")


def growth_of(run):
    found = tables_of(run.power, run)
    ratio, modes, k = power_plots.measured_growth(found, spectra.noise_from(found))
    assert len(modes) == len(k) == ratio.shape[1]
    return ratio


# Growth of a random sample: bins below 0.2 times k_nonlinear, but no fewer than three. Of these one
# grows by 1 % less.
RANDOM = "# k_noise = 0 h/Mpc\n"
write_power(0, 0.25, 0.25, np.ones(7), said=RANDOM)
write_power(1, 1.0, 0.8, np.array([1, 0.99**2, 1, 9, 9, 9, 9]), said=RANDOM)
run = photons.Run("run")
ratio = growth_of(run)
assert np.allclose(ratio, [[1, 1, 1], [1, 0.99, 1]], rtol=1e-6), ratio

# One bin that is off may be chance. Three bins that lack 0.5 % are not, and 0.1 % are no alarm.
assert power_plots.growth_alarm(run) == ""
for lack, alarm in (0.005, True), (0.001, False):
    write_power(1, 1.0, 0.8, (1 - lack * np.array([1, 1.1, 0.9, 9, 9, 9, 9])) ** 2, said=RANDOM)
    run.refresh()
    plots.plot_growth(run).savefig("growth.png")
    (caption,) = report.figures_of(run, {"growth": "growth.png"})
    assert ("Wrong growth: at z = 0 " in caption) == alarm, (lack, caption[-300:])
write_power(1, 1.0, 0.8, np.array([1, 0.99**2, 1, 9, 9, 9, 9]), said=RANDOM)
run.refresh()

# The curve has a gap where the spectrum is below the shot noise, and such bins have no growth.
figure = plots.plot_power(run)
curve = figure.axes[0].get_lines()[0].get_ydata()
assert np.allclose(curve, LINEAR / 16, rtol=1e-6)  # 12.5 at least, above 10
write_power(2, 0.2, 0.2, np.array([1, 1e-6, 1, 1, 1, 1, 1]), said=RANDOM)
run.refresh()
curve = plots.plot_power(run).axes[0].get_lines()
curve = [line for line in curve if line.get_label() == "z = 4"][0].get_ydata()
assert np.isnan(curve[0]) and np.isnan(curve[1]) and curve[2] == LINEAR[2] * 0.04, curve
assert growth_of(run).shape == (3, 1)
os.remove("run/powerspec_002.txt")

# Particles that began on a grid have no shot noise below their Nyquist wave number: nothing is
# subtracted there, also where P is far below V/N, and nothing is shown beyond. The file says it, or
# the spectra, which are less than a random sample can have.
for said in (f"# k_noise = {NYQUIST:.7g} h/Mpc\n", ""):
    write_power(0, 0.05, 0.05, np.ones(7), noise=0, said=said)
    write_power(1, 1.0, 0.8, np.array([1, 0.99**2, 1, 9, 9, 9, 9]), noise=0, said=said)
    run = photons.Run("run")
    found = tables_of(run.power, run)
    assert found[0]["P"][0] < SHOT and np.isclose(spectra.noise_from(found), NYQUIST, rtol=1e-6)
    ratio = growth_of(run)
    assert np.allclose(ratio, [[1, 1, 1], [1, 0.99, 1]], rtol=1e-6), ratio
    assert len(plots.plot_growth(run).axes) == 1
    curve = plots.plot_power(run).axes[0].get_lines()[0].get_ydata()
    assert np.allclose(curve[:5], LINEAR[:5] / 400, rtol=1e-6), curve
    assert np.isnan(curve[5:]).all(), curve
    over_halofit = plots.plot_power(run).axes[1].get_lines()[0].get_ydata()
    assert np.allclose(over_halofit[:5], 1, rtol=1e-6), over_halofit

# Spectra of unknown origin at V/N, within 5 standard errors, are those of a random sample.
write_power(0, 0.25, 0.02, np.ones(7))
write_power(1, 1.0, 0.8, np.ones(7))
run = photons.Run("run")
assert spectra.noise_from(tables_of(run.power, run)) == 0
write_power(0, 0.25, 0.2, np.ones(7))  # P is far above V/N: as of most simulations
assert np.isclose(spectra.noise_from(tables_of(run.power, run)), NYQUIST, rtol=1e-6)
write_power(0, 0.25, 0.02, np.ones(7), noise=SHOT * np.array([0.7, 1, 1, 1, 1, 1, 1]))
assert np.isclose(spectra.noise_from(tables_of(run.power, run)), NYQUIST, rtol=1e-6)

# Of many outputs a colour bar tells the redshifts. No legend covers a curve.
for number in range(20):
    write_power(number, 0.05 * (number + 1), 0.05 * (number + 1), np.ones(7), noise=0)
figure = plots.plot_power(photons.Run("run"))
figure.canvas.draw()
bar = [text.get_text() for text in figure.axes[-1].get_yticklabels()]
assert len(bar) == 20 and bar[0] == "19" and bar[-1] == "0", bar
legend, axis = figure.axes[0].get_legend(), figure.axes[0]
assert not any(text.get_text().startswith("z =") for text in legend.get_texts())
assert not legend.get_window_extent().overlaps(axis.get_window_extent())
for path in glob.glob("run/powerspec_*.txt"):
    os.remove(path)
write_power(0, 0.25, 0.25, np.ones(7))
write_power(1, 1.0, 0.8, np.ones(7))

# An output that there is not, and files that hold no numbers, are named.
def refused(call, *texts):
    try:
        call()
    except ValueError as error:
        assert all(text in str(error) for text in texts), error
    else:
        raise AssertionError(f"taken: {texts}")


# A single squeezed triangle is a sign. Halos have no bias below their shot noise, and few of them none at all.
triangles = "0.1 0.1 0.1 1 9 1 2 0.57\n0.2 0.2 0.2 1 9 1 2 0.57\n0.1 0.2 0.2 1 9 1 1.5 0.9\n"
with open("run/bispectrum_001.txt", "w") as file:
    file.write("# a = 1, z = 0\n" + triangles)
for number, count in enumerate((1, 50)):
    with open(f"run/halopower_{number:03d}.txt", "w") as file:
        file.write(f"# a = 1, z = 0\n# halos = {count}\n0.1 9 9 9 9 1 2 2 2\n0.2 9 9 9 9 1 -3 2 2\n")
run = photons.Run("run")
squeezed = statistics_plots.plot_bispectrum(run).axes[1].get_lines()
assert all(len(line.get_xdata()) == 1 and line.get_marker() in "._" for line in squeezed)
upper = statistics_plots.plot_halo_bias(run).axes[0].get_lines()
assert len(upper) == 3 and np.array_equal(upper[0].get_ydata(), [2, np.nan], equal_nan=True)  # and theory, twice
for path in ("bispectrum_001", "halopower_000", "halopower_001"):
    os.remove(f"run/{path}.txt")

run = photons.Run("run")
for read in (run.power, run.halos, run.snapshot, run.mass_function, run.redshift, run.time_myr):
    refused(lambda: read(7), "run has no output 7", "0, 1")
assert run.halos(1) is None
with open("run/powerspec_002.txt", "w") as file:
    file.write("# k_noise = e, a = 0.5e, b = -1.5e-3 Mpc\n1 2 x 4 5 6\n")
refused(lambda: run.power(2), "run/powerspec_002.txt: ", "'x'")
assert photons.files._header_numbers(["k_noise = e, a = 0.5e, b = -1.5e-3 Mpc"]) == {
    "a": 0.5,
    "b": -1.5e-3,
}
os.remove("run/powerspec_002.txt")
with open("run/log/energy.csv", "w") as file:
    file.write("step,time_myr,kinetic,potential,total,virial\n0,1,2,3,four,5\n")
refused(lambda: run.energy(), "run/log/energy.csv: ", "'four'")
os.remove("run/log/energy.csv")

# Poisson errors of 84 %: Gehrels 1986, tables 1 and 2, for 1, 10 and 100. The formulas are good to
# a few percent of the error.
errors = plots.poisson_errors(np.array([1.0, 10.0, 100.0]))
assert np.allclose(errors, [[0.827, 3.108, 9.983], [2.300, 4.267, 11.03]], rtol=0.03), errors
assert np.all(plots.poisson_errors(np.array([0.0])) == 0)

# Shares: parts add up to everything busy, and the log's columns by rung to the particles.
with open("run/log/timings.csv", "w") as file:
    file.write("step,a,z,dlna,wall_s,particles_per_s,peak_rss_bytes,rung_particles,p2p_s,fft_x_s,"
               "new_stage_s,gpu_p2p_s\n")  # fmt: skip
    file.write("0,0.25,3,0,1,10,1048576,0,3,2,1,0\n")
    file.write("1,0.5,1,0.7,2,20,2097152,30;2,6,4,2,0\n")
    file.write("1,0.5,1,0.7,4,20,2097152,30;2,6,4,2,0\n2,0.5,1,0.7,4")
timings = photons.Run("run").timings()
assert list(timings["step"]) == [0, 1] and list(timings["wall_s"]) == [1, 4]
assert timings["rung_particles"].tolist() == [[0, 0], [30, 2]]
shares = plots.device_shares(timings, "")
assert shares.sum(axis=0).tolist() == [6, 12] and shares[-1].tolist() == [1, 2]
assert plots.device_shares(timings, "gpu_") is None

# Folders and labels are no formulas, whatever they are called.
names = ["a$_b$", "$\\nothing{$"]
figure = plots.plot_comparison([photons.Run("run")] * 2, names, photons.Run("run"))
figure.savefig("named.png")
assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == [
    r"a\$_b\$", r"\$\nothing{\$"
]  # fmt: skip

# The head of the page: from the comments of text files, and from HDF5 files where there are some.
with open("run/config-used.ini", "w") as file:
    file.write("[cosmology]\nw0 = -0.9\nwa = 0.2\n[ic]\nseed = 7\npower_spectrum = eh98\n")
rows = dict(report.head_rows(photons.Run("run")))
assert rows["program"] == "photons-starpu 9.9" and rows["machine"] == "3 ranks", rows
assert rows["dark energy"] == "w_0 = -0.9, w_a = 0.2"
assert rows["initial conditions"] == "generated, seed 7"
assert rows["linear spectrum"] == "Eisenstein & Hu (1998)"
with h5py.File("run/snapshot_001.hdf5", "w") as file:
    file.create_group("Header").attrs.update({"Redshift": 0.0, "Time": 1.0})
    file.create_group("PartType1")
    known = {"program": b"photons-starpu 8.8", "host": b"ant", "ranks": 2.0, "workers": 8.0,
             "gpus": 1.0, "wall_seconds": 3725.0, "spectrum": b"table <x>", "date": b"2026",
             "particles": b"generated by 2LPT", "seed": 8.0, "StarPU": b"1.4"}  # fmt: skip
    file.create_group("Provenance").attrs.update(known)
run = photons.Run("run")
rows = dict(report.head_rows(run))
assert rows["machine"] == "ant, 2 ranks, 8 workers, 1 GPU", rows
assert rows["program"] == "photons-starpu 8.8 with StarPU 1.4"
assert rows["time"].startswith("1 h 2 min to the last output, 5 s in steps")
assert rows["initial conditions"] == "generated by 2LPT, seed 8"
# What has another type than the program writes is left out, and the page says so.
with h5py.File("run/snapshot_001.hdf5", "a") as file:
    wrong = {"ranks": [1.0, 2.0], "gpus": "many", "wall_seconds": np.nan, "date": 2026.0,
             "host": h5py.Empty("f8"), "seed": np.array([8.0])}  # fmt: skip
    file["Provenance"].attrs.update(wrong)
rows = dict(report.head_rows(photons.Run("run")))
assert rows["machine"] == "8 workers" and "written" not in rows, rows
assert rows["left out"].startswith("date, gpus, host, ranks, wall_seconds of the provenance"), rows
assert rows["initial conditions"] == "generated by 2LPT, seed 8", rows
assert rows["time"].startswith("5 s in steps"), rows
os.remove("run/snapshot_001.hdf5")
report.make_report("run", "page.html")
assert "<h1>run</h1>" in open("page.html").read()

# The page of twenty outputs is below 3 MB however large their pictures are. It begins with figures; each
# picture opens the file, which the page finds beside itself.
os.makedirs("many outputs")
noise = np.random.default_rng(1).uniform(size=(1024, 1024))
plt.imsave("noise.png", noise, cmap="magma")
for number in range(20):
    shutil.copy("run/powerspec_000.txt", f"many outputs/powerspec_{number:03d}.txt")
    for stem in ("density", "slice"):
        shutil.copy("noise.png", f"many outputs/{stem}_{number:03d}.png")
report.make_report("many outputs", "many outputs/report.html")
page = open("many outputs/report.html").read()
assert os.path.getsize("noise.png") > 1e6 and len(page) < 3e6, len(page)
links = re.findall(r'<a href="([^"]+)">', page)
pictures = [link for link in links if re.match(r"(density|slice)_\d+\.png$", link)]
assert len(pictures) == 40, links
for link in links:
    assert os.path.exists(os.path.join("many outputs", urllib.parse.unquote(link))), link
order = [page.index(f"<h2>{title}") for title in ("Figures", "Pictures", "Outputs")]
assert order == sorted(order)
with open("many outputs/density_003.png", "wb") as file:  # damaged: the others are shown
    file.write(b"\x89PNG\r\n\x1a\n")
report.make_report("many outputs", "page.html")
assert open("page.html").read().count("<figure") == page.count("<figure") - 1
