# SPDX-License-Identifier: GPL-3.0-or-later
"""Does the installed package start, follow, read, draw and report runs?

usage: python_package_installs.py PROGRAM CONFIG"""

import importlib.metadata
import os
import subprocess
import sys

import h5py
import numpy as np
import photons
import photons.plots
import photons.power_plots
import photons.report

program, config = sys.argv[1:]
assert photons.__file__.startswith(sys.prefix), photons.__file__
said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
assert said.startswith(f"photons-starpu {importlib.metadata.version('photons')}"), said

# Runs.
steps = []
settings = {"output.dir": "small run", "output.images": False, "output.redshifts": [3, 2, 1]}
run = photons.run(config, set=settings, program=program, on_step=steps.append)
timings = run.timings()
assert [step["step"] for step in steps] == list(timings["step"]) and len(steps) > 5
assert all(np.diff([step["a"] for step in steps[1:]]) > 0)
assert np.allclose(run.redshifts, [3, 2, 1], atol=1e-6) and len(run.snapshots) == 3
assert not os.path.exists("small run/density_000.png")
assert timings["rung_particles"].shape[0] == len(steps)
assert np.all(timings["rung_particles"][1:].sum(axis=1) == 16**3)
statistics = photons.load("small run/log/statistics.csv")
assert np.all(statistics["kinetic_energy"] > 0)
measured = np.isfinite(statistics["potential_energy"])  # at some of the steps
assert np.any(measured) and np.all(statistics["potential_energy"][measured] < 0)


def refused(text, code, **arguments):
    try:
        photons.run(config, **{"program": program, **arguments})
    except photons.RunFailed as error:
        assert text in str(error) and "\n" not in str(error), error
        assert error.returncode == code, error.returncode
    else:
        raise AssertionError(f"{arguments} is taken")


refused("ic.seed", 2, set={"ic.seed": 0})
refused("--overwrite", 2, set={"output.dir": "small run"})  # an earlier run stands
# A run that fails after its dry run ended well: a stand-in for the program.
with open("failing", "w") as script:
    script.write('''#!/bin/sh
case "$*" in *--dry-run*) printf '[output]\\ndir = failed   ; comment\\n[time]\\n'; exit 0 ;; esac
echo "photons-starpu: warning: this is near" >&2
echo "photons-starpu: error: the disk is full" >&2
echo "a last word of mpirun" >&2
exit 1
''')
os.chmod("failing", 0o755)
refused("photons-starpu: error: the disk is full", 1, program="./failing")
assert os.listdir("failed") == []
try:
    photons.run(config, program="./no-such-program")
except FileNotFoundError as error:
    assert "no-such-program" in str(error)
else:
    raise AssertionError("a program that does not exist is taken")

# An older run's log in the folder is not taken for this run's; two ranks have the same steps.
again = []
settings = {**settings, "time.max_dlna": 0.2}
run = photons.run(
    config,
    set=settings,
    program=program,
    ranks=2,
    options=["--overwrite"],
    on_step=again.append,
)
assert [step["step"] for step in again] == list(range(len(again))), again
assert 5 < len(again) < len(steps)

# An exception here ends the program, and leaves a checkpoint.
try:
    photons.run(
        config, set={"output.dir": "stopped"}, program=program, on_step=lambda step: 1 / 0
    )
except ZeroDivisionError:
    assert os.path.exists("stopped/checkpoint.hdf5") or photons.Run("stopped").numbers == [0, 1]
else:
    raise AssertionError("the exception of on_step is lost")

# Units. Numbers are those of the files; velocities are divided by sqrt(a) = 1/sqrt(1 + z).
import astropy.units as u
from astropy.cosmology.units import littleh

path = run.snapshots[-1]
snapshot = photons.load(path, units=True)
with h5py.File(path) as file:
    part = file["PartType1"]
    position, velocity, mass = (part[name][:] for name in ("Coordinates", "Velocities", "Masses"))
close = lambda quantity, unit, values: np.allclose(quantity.to_value(unit), values, rtol=1e-6)
assert close(snapshot["Coordinates"], u.kpc / littleh, position)
assert close(snapshot["Masses"], 1e10 * u.Msun / littleh, mass)
assert close(snapshot["Velocities"], u.km / u.s, velocity * np.sqrt(0.5))
assert np.array_equal(snapshot["ParticleIDs"], photons.load(path)["ParticleIDs"])
snapshot.close()
power = photons.load("small run/powerspec_002.txt", units=True)
assert close(power["P"], (u.Mpc / littleh) ** 3, run.power(2)["P"])
assert close(power["k"], littleh / u.Mpc, run.power(2)["k"])
timings = photons.load("small run/log/timings.csv", units=True)
assert timings["wall_s"].unit == u.s and not hasattr(timings["z"], "unit")
counts = photons.load("small run/massfunc_002.txt", units=True)
assert counts["FoF"].unit == (littleh / u.Mpc) ** 3

# Figures and a page, which names the run and what the run was.
figures = photons.plots.make_figures("small run")
assert {"power", "growth", "timings"} <= figures.keys()
# 16^3 particles of a grid in 60 Mpc/h: their Nyquist wave number, and growth of the longest waves.
spectra = [run.power(number) for number in run.numbers]
k_noise = photons.spectra.noise_from(spectra)
assert np.isclose(k_noise, np.pi * 16 / 60, rtol=1e-6), k_noise
ratio, _, _ = photons.power_plots.measured_growth(spectra, k_noise)
assert np.all(np.abs(ratio - 1) < 0.1), ratio  # of waves of 60 Mpc/h and less
for path in figures.values():
    assert open(path, "rb").read(4) == b"\x89PNG"
    assert open(path.replace(".png", ".pdf"), "rb").read(4) == b"%PDF"
photons.report.make_report("small run", "page.html")
page = open("page.html").read()
for text in (
    "<title>small run</title>",
    "seed 12345, fixed amplitudes",
    "Eisenstein &amp; Hu (1998)",
    "w_0 = -1, w_a = 0",
    "photons-starpu 0.1.0",
    "s in steps",
    "A box of 60 Mpc/h holds few long modes",
):
    assert text in page, text
