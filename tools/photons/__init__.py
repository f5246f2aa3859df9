# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of photons-starpu from Python: start them, read their files, draw and report them.

>>> import photons
>>> run = photons.run("params/quickstart.ini", set={"output.dir": "small", "box.npart_side": 32})
>>> run = photons.Run("small")      # the folder of a run that was made before
>>> run.redshifts
[3.0, 1.0, 0.5, 0.0]
>>> power = run.power(3)            # or photons.load("small/powerspec_003.txt")
>>> power["k"], power["P"], power["P_linear"]
>>> halos = run.halos(3)
>>> halos["GroupMass"], halos.header["Redshift"]
>>> snap = run.snapshot(3)
>>> snap["Coordinates"][:100], snap.header["BoxSize"]
>>> run.trees().main_branch(3, 0)["SubhaloMass"]   # of the largest halo: output.trees = yes
>>> photons.load("small/powerspec_003.txt", units=True)["P"].unit      # needs astropy
Unit("Mpc3 / littleh3")

The modules photons.plots and photons.report make figures and an HTML page of a folder;
photons.spectra says where shot noise is part of a power spectrum;
photons.galaxy measures snapshots of isolated systems; photons.gas reads files of gas, and
photons.gas_problems compares them with exact solutions. numpy, h5py and matplotlib are imported
when they are first needed."""

from . import spectra
from .files import (
    Halos,
    Run,
    Subhalos,
    Table,
    load,
    read_config,
    read_energy,
    read_halos,
    read_mass_function,
    read_power,
    read_snapshot,
    read_subhalos,
    read_timings,
)
from .launch import RunFailed, RunningRun, run, start
from .trees import Trees, read_trees

__all__ = [
    "Halos",
    "Run",
    "RunFailed",
    "RunningRun",
    "Subhalos",
    "Table",
    "Trees",
    "load",
    "read_config",
    "read_energy",
    "read_halos",
    "read_mass_function",
    "read_power",
    "read_snapshot",
    "read_subhalos",
    "read_timings",
    "read_trees",
    "run",
    "spectra",
    "start",
]
