#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Show a snapshot to swiftsimio and other readers of SWIFT's files.

usage: swift_view.py SNAPSHOT [VIEW]

SNAPSHOT is a file, or the first file NAME.0.hdf5 of several. VIEW, by default SNAPSHOT's name with
.swift.hdf5, holds SWIFT's metadata and no particles: its datasets are virtual and show those of
SNAPSHOT, which must stay where it is, as seen from VIEW. Snapshots themselves cannot hold these metadata: readers of Gadget's files take the group
Units for theirs, and expect one Redshift, not a list of one.
"""

import os
import re
import sys

from photons.modules import Deferred, fail, need, parser_of
from photons.reading import FAULTS, explain

h5py, np = Deferred("h5py"), Deferred("numpy")

KM_PER_MPC = 3.0856775814913673e19


def files_of_set(path):
    with h5py.File(path, "r") as file:
        count = int(file["Header"].attrs["NumFilesPerSnapshot"])
    match = re.fullmatch(r"(.*\.)0(\.hdf5)", path)
    return [f"{match[1]}{i}{match[2]}" for i in range(count)] if count > 1 and match else [path]


def numbers(group, **values):
    """Attributes as SWIFT has them: lists of one number."""
    for name, value in values.items():
        group.attrs[name] = np.atleast_1d(value)


def write_header(view, header, config, particles):
    group = view.create_group("Header")
    group.attrs["Code"] = np.bytes_("photons-starpu")
    group.attrs["OutputType"] = np.bytes_("FullVolume")
    group.attrs["BoxSize"] = np.full(3, header["BoxSize"])
    group.attrs["NumPart_ThisFile"] = np.array([0, particles, 0, 0, 0, 0, 0])
    group.attrs["NumPart_Total"] = group.attrs["NumPart_ThisFile"]
    group.attrs["NumPart_Total_HighWord"] = np.zeros(7, "u4")
    group.attrs["MassTable"] = np.append(header["MassTable"], 0.0)
    numbers(group, Dimension=3, NumFilesPerSnapshot=1, Redshift=float(header["Redshift"]))
    numbers(group, **{"Scale-factor": float(header["Time"])})
    view.create_group("Parameters").attrs["config.ini"] = np.bytes_(config)


def write_units(view, units, h):
    """SWIFT's units have no h: one unit of length is UnitLength_in_cm / h."""
    length, mass = units["UnitLength_in_cm"] / h, units["UnitMass_in_g"] / h
    cgs = {"length": ("L", length), "mass": ("M", mass), "current": ("I", 1.0)}
    cgs["time"] = "t", length / units["UnitVelocity_in_cm_per_s"]
    cgs["temperature"] = "T", 1.0
    group = view.create_group("Units")
    numbers(group, **{f"Unit {name} in cgs (U_{u})": value for name, (u, value) in cgs.items()})
    return {u: value for u, value in cgs.values()}


def write_cosmology(view, parameters, omega_r, a, time):
    """@param time: the unit of time in seconds"""
    group = view.create_group("Cosmology")
    h = parameters["HubbleParam"]
    omegas = {"Omega_m": "Omega0", "Omega_lambda": "OmegaLambda", "Omega_b": "OmegaBaryon"}
    numbers(group, **{name: parameters[ours] for name, ours in omegas.items()})
    omega_k = 1.0 - parameters["Omega0"] - parameters["OmegaLambda"] - omega_r
    numbers(group, Omega_r=omega_r, Omega_k=omega_k, h=h)
    if "w0" in parameters:  # not of a run with a table of w
        numbers(group, w_0=parameters["w0"], w_a=parameters["wa"])
    numbers(group, Redshift=1.0 / a - 1.0)
    numbers(group, **{"Scale-factor": a, "Cosmological run": 1})
    numbers(group, **{"H0 [internal units]": 100.0 * h / KM_PER_MPC * time})


def write_attributes(dataset, attrs, cgs, a):
    """From Gadget-4's attributes. Velocity is the unit of length over that of time."""
    length, mass, velocity = (attrs[f"{q}_scaling"] for q in ("length", "mass", "velocity"))
    exponents = {"L": length + velocity, "M": mass, "t": -velocity, "I": 0.0, "T": 0.0}
    if attrs["h_scaling"] != -length - mass:
        sys.exit(f"{dataset.name}: h_scaling is not that of its unit of length and mass")
    numbers(dataset, **{f"U_{u} exponent": exponent for u, exponent in exponents.items()})
    numbers(dataset, **{"a-scale exponent": attrs["a_scaling"], "h-scale exponent": 0.0})
    to_cgs = np.prod([cgs[u] ** exponent for u, exponent in exponents.items()])
    words = "Conversion factor to CGS (not including cosmological corrections)"
    numbers(dataset, **{words: to_cgs})
    words = "Conversion factor to physical CGS (including cosmological corrections)"
    numbers(dataset, **{words: to_cgs * a ** attrs["a_scaling"]})
    numbers(dataset, **{"Value stored as physical": 0, "Property can be converted to comoving": 1})


def write_particles(view, paths, folder, cgs, a):
    """@param folder: of the view; paths in it are relative to it."""
    files = [h5py.File(path, "r") for path in paths]
    parts = [file["PartType1"] for file in files if "PartType1" in file]
    for name in parts[0]:
        rows = [part[name].shape[0] for part in parts]
        layout = h5py.VirtualLayout((sum(rows), *parts[0][name].shape[1:]), parts[0][name].dtype)
        for part, count, first in zip(parts, rows, np.cumsum([0, *rows])):
            place = os.path.relpath(part.file.filename, folder)
            source = h5py.VirtualSource(place, part[name].name, part[name].shape)
            layout[first : first + count] = source
        dataset = view.create_virtual_dataset(f"PartType1/{name}", layout)
        write_attributes(dataset, parts[0][name].attrs, cgs, a)
    view["DMParticles"] = h5py.SoftLink("/PartType1")
    for file in files:
        file.close()


def write_view(snapshot, path):
    from photons import read_config

    paths = files_of_set(snapshot)
    with h5py.File(paths[0], "r") as file:
        header, parameters = dict(file["Header"].attrs), dict(file["Parameters"].attrs)
        config = file["Config"].attrs["config.ini"].decode()
    others = [kind for kind, count in enumerate(header["NumPart_Total"]) if count and kind != 1]
    if others:
        fail(f"{snapshot}: has particles of type {others[0]}; views have those of type 1 only")
    particles = int(header["NumPart_Total"][1])
    particles += int(header["NumPart_Total_HighWord"][1]) << 32
    a, omega_r = float(header["Time"]), float(read_config(config)["cosmology"]["Omega_r"])
    temporary = path + ".tmp"
    with h5py.File(temporary, "w") as view:
        write_header(view, header, config, particles)
        cgs = write_units(view, parameters, parameters["HubbleParam"])
        write_cosmology(view, parameters, omega_r, a, cgs["t"])
        write_particles(view, paths, os.path.dirname(os.path.abspath(path)), cgs, a)
    os.replace(temporary, path)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("snapshot")
    parser.add_argument("view", nargs="?")
    arguments = parser.parse_args()
    need("h5py", "numpy")
    view = arguments.view or re.sub(r"(\.0)?\.hdf5$", "", arguments.snapshot) + ".swift.hdf5"
    try:
        write_view(arguments.snapshot, view)
    except FAULTS as error:
        fail(f"{arguments.snapshot}: {explain(error)}")
    print(view)


if __name__ == "__main__":
    main()
