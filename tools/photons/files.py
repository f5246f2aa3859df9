# SPDX-License-Identifier: GPL-3.0-or-later
"""Readers of the files of a run: snapshots, halo catalogues, spectra, mass functions, logs.

Tables are dictionaries of numpy arrays with the attribute `header`, a dictionary. With units=True
their columns are quantities of astropy."""

import configparser
import glob
import importlib
import os
import re
import uuid

from .modules import Deferred
from .reading import names_file, reading
from .units import dataset_quantity, text_unit

h5py, np = Deferred("h5py"), Deferred("numpy")

MYR_PER_TIME_UNIT = 977.792221  # kpc/(km/s), the unit of time of isolated systems
# What output.names chooses among: the default, then short names.
SNAPSHOT_STEMS = ("snapshot", "snap")
HALO_STEMS = ("fof_subhalo_tab", "fof_tab")
GALAXY_UNITS = {  # kpc, 1e10 Msun and km/s in cgs, by their names in headers of snapshots
    "UnitLength_in_cm": 3.085678e21,
    "UnitMass_in_g": 1.989e43,
    "UnitVelocity_in_cm_per_s": 1e5,
}


class Table(dict):
    """A dictionary of columns; its attribute `header` has the values of the file's header."""

    def __init__(self, columns=(), header=None):
        super().__init__(columns)
        self.header = header or {}

    def with_units(self):
        """The same table; columns that have a unit are quantities of astropy."""
        units = {name: text_unit(name) for name in self}
        return Table(
            {name: self[name] * unit if unit else self[name] for name, unit in units.items()},
            self.header,
        )


def _comments(path):
    with open(path) as file:
        return [line[1:].strip() for line in file if line.startswith("#")]


def _header_numbers(comments):
    """All `name = number` in the comment lines of a file, but for its provenance."""
    text = ",".join(line for line in comments if not line.startswith("provenance "))
    number = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
    found = re.findall(rf"([A-Za-z0-9_()/ ]+?) = ({number})", text)
    return {name.strip(" ,"): float(value) for name, value in found}


def _provenance_lines(comments):
    """The items of lines `provenance NAME: VALUE`, counts and seconds as numbers."""
    matches = (re.fullmatch(r"provenance (\S+): (.*)", line) for line in comments)
    found = {match[1]: match[2] for match in matches if match}
    return found


PROVENANCE_NUMBERS = ("seed", "ranks", "workers", "gpus", "wall_seconds")
PROVENANCE_TEXTS = ("program", "git_revision", "StarPU", "host", "date", "spectrum", "particles")


def _sound_provenance(found):
    """The items, numbers as float. What is not of the type that the program writes is left out, and the
    item "left out" names it: a page shows what there is."""
    known, wrong = {}, []
    for name, value in found.items():
        try:
            if name in PROVENANCE_NUMBERS:
                value = float(value)
            if name in PROVENANCE_NUMBERS and not np.isfinite(value):
                raise ValueError
            if name in PROVENANCE_TEXTS and not isinstance(value, str):
                raise TypeError
            known[name] = value
        except (TypeError, ValueError):
            wrong.append(name)
    return {**known, "left out": ", ".join(wrong)} if wrong else known


@names_file
def _read_text(path, names):
    with open(path) as file:
        lines = [line for line in file if line.strip() and not line.startswith("#")]
    try:
        rows = np.loadtxt(lines, ndmin=2) if lines else np.zeros((0, len(names)))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if rows.shape[1] != len(names):
        raise ValueError(
            f"{path}: {rows.shape[1]} columns, expected {len(names)}: {', '.join(names)}"
        )
    return Table(zip(names, rows.T), _header_numbers(_comments(path)))


def read_power(path):
    """Read powerspec_NNN.txt: k [h/Mpc]; P, P_shot, P_linear, P_halofit [(Mpc/h)^3]; modes. P is
    what was measured; spectra.matter_power() says where the shot noise P_shot is part of it."""
    return _read_text(path, ["k", "P", "modes", "P_shot", "P_linear", "P_halofit"])


MASS_FUNCTIONS = [
    "Press-Schechter",
    "Sheth-Tormen",
    "Reed 2007",
    "Tinker 2008 (200m)",
    "Tinker 2008 (200c)",
]


def read_mass_function(path):
    """Read massfunc_NNN.txt: edges low, high [Msun/h]; counts; measured dn/dlnM [(Mpc/h)^-3] with
    errors; theoretical dn/dlnM."""
    counted = ["low", "high", "N_FoF", "FoF", "FoF_error", "N_200c", "200c", "200c_error"]
    return _read_text(path, counted + MASS_FUNCTIONS)


def read_multipoles(path):
    """Read multipoles_NNN.txt: k [h/Mpc]; P0, P2, P4 in redshift space [(Mpc/h)^3]; modes; the same of
    linear theory."""
    kaiser = ["P0_kaiser", "P2_kaiser", "P4_kaiser"]
    return _read_text(path, ["k", "P0", "P2", "P4", "modes"] + kaiser)


def read_correlation(path):
    """Read correlation_NNN.txt: r [Mpc/h]; xi; cells; xi of linear theory."""
    return _read_text(path, ["r", "xi", "cells", "xi_linear"])


def read_bispectrum(path):
    """Read bispectrum_NNN.txt: sides k1, k2, k3 [h/Mpc]; B [(Mpc/h)^6]; triangles; B of second-order
    theory; Q of both. Rows with k1 = k3 are of equilateral triangles."""
    return _read_text(path, ["k1", "k2", "k3", "B", "triangles", "B_tree", "Q", "Q_tree"])


def read_halo_power(path):
    """Read halopower_NNN.txt: k [h/Mpc]; P_hh of halos, P_hm of halos with matter, P_mm of matter
    [(Mpc/h)^3]; modes; shot noise of the halos; their bias by P_hh and by P_hm, and by Tinker et al.
    (2010)."""
    powers = ["k", "P_hh", "P_hm", "P_mm", "modes", "P_shot"]
    return _read_text(path, powers + ["bias", "bias_cross", "bias_tinker"])


def _by_rung(texts):
    """Columns such as "12;34;5", as an array [step, rung] with zeros beyond the deepest rung; or by
    level of the mesh."""
    lists = [[float(number) for number in text.split(";")] for text in texts]
    array = np.zeros((len(lists), max(map(len, lists), default=0)))
    for row, numbers in zip(array, lists):
        row[: len(numbers)] = numbers
    return array


@names_file
def _read_log(path, keys=(0,)):
    """A table with one row for each step, or for each choice of numbers in columns `keys`. If a run was restarted, the last row counts. A
    last line that is still being written is left out. An empty field is NaN.

    Raises ValueError if a field is no number."""
    try:
        return _log_table(path, keys)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _log_table(path, keys):
    with open(path) as file:
        lines = [line[:-1].split(",") for line in file if line.endswith("\n")]
    names = lines[0] if lines else []
    whole = [line for line in lines[1:] if len(line) == len(names)]
    rows = {tuple(int(line[key]) for key in keys): line for line in whole}
    columns = [[rows[key][i] for key in sorted(rows)] for i in range(len(names))]

    def array(name, column):
        if name.startswith(("rung_", "level_")):
            return _by_rung(column)
        return np.array([text or "nan" for text in column], dtype=float)

    return Table((name, array(name, column)) for name, column in zip(names, columns))


def read_timings(path):
    """Read log/timings.csv, one row for each step: times in seconds. Columns by rung (rung_...)
    have the shape [step, rung], columns by level of a run of gas (level_...) [step, level]. If a run
    was restarted, the last row of a step counts. A last line that is still being written is left
    out."""
    return _read_log(path)


ENERGY_COLUMNS = ("time_myr", "kinetic", "potential", "total", "virial")
GALAXY_COLUMNS = ("step", "time_myr", "galaxy", "centre_x", "centre_y", "centre_z", "r10", "r50", "r90",
                  "bar_strength", "pattern_speed", "scale_length", "height")  # fmt: skip


def read_energy(path):
    """Read log/energy.csv of an isolated system, one row for each step that was measured: step,
    time_myr [Myr]; kinetic, potential, total [1e10 Msun (km/s)^2]; virial, -2 T/W; momentum,
    angular momentum and centre of mass by axis [1e10 Msun, kpc, km/s]; by the type N of particles
    kinetic_type_N, potential_type_N, angular_type_N_x and others; net_force and net_torque, what was
    removed from forces on all particles. Rows as in read_timings().

    Raises ValueError if the energies are not there."""
    table = _read_log(path)
    missing = [name for name in ("step", *ENERGY_COLUMNS) if name not in table]
    if missing:
        raise ValueError(f"{path}: no column {', '.join(missing)}")
    return table


def read_galaxies(path):
    """Read log/galaxy.csv of an isolated system, a row for each galaxy at each step that was measured:
    step, time_myr, galaxy and the measures that docs/user/isolated.md lists. What is not known is NaN.

    Raises ValueError if the file has no such columns."""
    table = _read_log(path, keys=(0, 2))
    missing = [name for name in GALAXY_COLUMNS if name not in table]
    if missing:
        raise ValueError(f"{path}: no column {', '.join(missing)}")
    return table


def _join(paths, group):
    """The files of a set as one file. A dataset of the group is read from all files when it is
    accessed."""
    whole = h5py.File(f"{paths[0]}.{uuid.uuid4()}", "w", driver="core", backing_store=False)
    files = [h5py.File(path, "r") for path in paths]
    for name in ("Header", "Parameters", "Config", "Provenance"):
        if name in files[0]:
            files[0].copy(name, whole)
    parts = [file for file in files if group in file]  # a file may hold no particles
    for name in parts[0][group] if parts else ():
        datasets = [file[group][name] for file in parts]
        layout = h5py.VirtualLayout(
            (sum(d.shape[0] for d in datasets),) + datasets[0].shape[1:], datasets[0].dtype
        )
        first = 0
        for file, dataset in zip(parts, datasets):
            source = h5py.VirtualSource(os.path.abspath(file.filename), dataset.name, dataset.shape)
            layout[first : first + dataset.shape[0]] = source
            first += dataset.shape[0]
        whole.create_virtual_dataset(f"{group}/{name}", layout).attrs.update(datasets[0].attrs)
    for file in files:
        file.close()
    return whole


def _first_file(path):
    """The path itself or, where there is no such file, that of NAME.0.hdf5 or NAME.hdf5."""
    names = (path, f"{path}.0.hdf5", f"{path}.hdf5")
    return next((name for name in names if os.path.exists(name)), path)


def _files_of_set(path):
    """All files of a set, from the path of its first file or the common part of the names (NAME of
    NAME.0.hdf5)."""
    path = _first_file(path)
    with h5py.File(path, "r") as file:
        count = int(file["Header"].attrs.get("NumFilesPerSnapshot", 1))
    match = re.fullmatch(r"(.*\.)0(\.hdf5|\.h5)", path)
    return [path] if count <= 1 or not match else [f"{match[1]}{i}{match[2]}" for i in range(count)]


def attributes(file, group):
    """Attributes of a group of an HDF5 file, as text and numbers; empty if there is no such
    group."""
    found = file[group].attrs if group in file else {}
    values = {}
    for name in found:
        try:
            value = found[name]
        except TypeError:  # a type that numpy does not have
            value = None
        values[name] = value.decode(errors="replace") if isinstance(value, bytes) else value
    return values


class _Hdf5(Table):
    """Datasets of one HDF5 group, and the attributes of Header. A dataset is read when accessed;
    with units it is then read as a whole."""

    def __init__(self, path, group, units=False):
        self.units = units
        with reading(path):
            paths = _files_of_set(path)
            self.file = h5py.File(paths[0], "r") if len(paths) == 1 else _join(paths, group)
            if group not in self.file:
                self.file.close()
                raise ValueError(f"{path}: no {group}")
            datasets = {name: self.file[group][name] for name in self.file[group]}
            super().__init__(datasets, dict(self.file["Header"].attrs))

    def __getitem__(self, name):
        dataset = super().__getitem__(name)
        if not self.units:
            return dataset
        a = None if is_isolated(self.header) else float(self.header["Time"])
        return dataset_quantity(dataset, a)

    def attributes(self, group):
        """Attributes of a group of the file, as text and numbers; empty if there is no such
        group."""
        with reading(self.file.filename):
            return attributes(self.file, group)

    def config(self):
        """The parameters of the run, as the text of a config.ini."""
        with reading(self.file.filename):
            for name in ("Config", "Parameters"):
                if name in self.file and "config.ini" in self.file[name].attrs:
                    text = self.file[name].attrs["config.ini"]
                    return text.decode() if isinstance(text, bytes) else str(text)
            return ""

    def close(self):
        self.file.close()


@names_file
def read_header(path):
    """The attributes of Header of a snapshot, of the first file of a set.

    Raises ValueError if the file is no snapshot, OSError if it cannot be read."""
    path = _first_file(path)
    if os.path.isfile(path) and not h5py.is_hdf5(path):
        raise ValueError(f"{path}: not an HDF5 file")
    with h5py.File(path, "r") as file:
        if "Header" not in file:
            raise ValueError(f"{path}: not a Gadget file: no Header")
        return dict(file["Header"].attrs)


def galaxy_units(header):
    """The units of length, mass and velocity of a snapshot, in kpc, 1e10 Msun and km/s."""
    return [float(header.get(name, unit)) / unit for name, unit in GALAXY_UNITS.items()]


def snapshot_time_myr(header):
    """The time of a snapshot of an isolated system [Myr]."""
    length, _, velocity = galaxy_units(header)
    return float(header.get("Time", 0.0)) * length / velocity * MYR_PER_TIME_UNIT


def is_isolated(header):
    """Whether the header of a snapshot is that of a system without a box, and so without a and h:
    BoxSize = 0."""
    return "BoxSize" in header and float(header["BoxSize"]) == 0


@names_file
def particle_counts(path):
    """Numbers of particles in a snapshot: {Gadget's particle type: count}, types that have any."""
    counts = {}
    for name in _files_of_set(path):
        with h5py.File(name, "r") as file:
            for kind in range(6):
                datasets = list(file.get(f"PartType{kind}", {}).values())
                if datasets and len(datasets[0]):
                    counts[kind] = counts.get(kind, 0) + len(datasets[0])
    return dict(sorted(counts.items()))


def read_snapshot(path, units=False, particle_type=None):
    """snapshot_NNN.hdf5 or snap_NNN.hdf5, datasets of PartType1, or of another type: Coordinates
    (comoving; h5py datasets: index them), Velocities, ParticleIDs, Masses. Of several files name
    the first one, snapshot_NNN.0.hdf5, or snapshot_NNN: all of them are read as one.

    particle_type -- of Gadget, 0 to 5; None: 1, or the first that has particles if 1 has none.
    Snapshots of isolated systems have several types, and physical coordinates."""
    if particle_type is None:
        types = list(particle_counts(path))
        particle_type = types[0] if types and 1 not in types else 1
    return _Hdf5(path, f"PartType{particle_type}", units)


def _ids(file, first, count):
    """Ids of members of halos. ValueError without output.halo_ids."""
    if "IDs" not in file:
        raise ValueError(f"{file.filename}: a catalogue without ids of members (output.halo_ids = no)")
    return file["IDs/ID"][first : first + count]


class Halos(_Hdf5):
    """Halos of fof_subhalo_tab_NNN.hdf5 or fof_tab_NNN.hdf5: datasets of the HDF5 group Group."""

    def __init__(self, path, units=False):
        super().__init__(path, "Group", units)

    def members(self, i):
        """Ids of the particles of halo i."""
        group = self.file["Group"]
        first = group["GroupOffsetType"][i].sum()  # of all types: ids are not divided by type
        return _ids(self.file, first, group["GroupLen"][i])


def read_halos(path, units=False):
    return Halos(path, units)


class Subhalos(_Hdf5):
    """Subhalos of fof_subhalo_tab_NNN.hdf5 or fof_tab_NNN.hdf5: datasets of the HDF5 group Subhalo,
    none of a run without output.subhalos."""

    def __init__(self, path, units=False):
        super().__init__(path, "Subhalo", units)

    def members(self, i):
        """Ids of the particles of subhalo i, the most bound one first."""
        group = self.file["Subhalo"]
        first = group["SubhaloOffsetType"][i].sum()
        return _ids(self.file, first, group["SubhaloLen"][i])


def read_subhalos(path, units=False):
    return Subhalos(path, units)


def _gas():
    """The module that reads files of gas, and imports this one."""
    return importlib.import_module(".gas", __package__)


def _trees():
    """The module that reads merger trees, and imports this one."""
    return importlib.import_module(".trees", __package__)


def load(path, units=False):
    """Read any file of a run, by its name: snapshot_*, fof_subhalo_tab_*, powerspec_*, massfunc_*,
    multipoles_*, correlation_*, bispectrum_*, halopower_*, gas_*, trees.hdf5, timings.csv, outputs.csv,
    energy.csv, statistics.csv, or *.ini; a folder is a Run. gas_*.hdf5 is a gas.Mesh.

    units -- columns are quantities of astropy. Lengths are comoving. Velocities are peculiar. Of
    isolated systems both are physical. statistics.csv has numbers in any case.
    Raises ValueError if the name is none of these, OSError if the file cannot be read."""
    if os.path.isdir(path):
        return Run(path)
    name = os.path.basename(path)
    if name.startswith("snap"):
        return read_snapshot(path, units)
    if name.startswith(HALO_STEMS):
        return read_halos(path, units)
    if name.startswith("gas_"):
        return _gas().Mesh(path)
    if name == "trees.hdf5":
        return _trees().read_trees(path)
    if name.endswith(".ini"):
        return read_config(path)
    if name == "statistics.csv":  # columns of one name have other units in other systems
        return _read_log(path)
    readers = {
        "powerspec": read_power,
        "massfunc": read_mass_function,
        "multipoles": read_multipoles,
        "correlation": read_correlation,
        "bispectrum": read_bispectrum,
        "halopower": read_halo_power,
        "timings": read_timings,
        "outputs": read_timings,
        "energy": read_energy,
    }
    for start, reader in readers.items():
        if name.startswith(start):
            table = reader(path)
            return table.with_units() if units else table
    raise ValueError(f"{path}: not the name of a file of a run")


def read_config(path_or_text):
    """Read a config.ini (path or text) as {section: {key: text}}."""
    parser = configparser.ConfigParser(
        inline_comment_prefixes=("#", ";"), interpolation=None, strict=False
    )
    parser.optionxform = str
    if "\n" in path_or_text:
        with reading("the text"):
            parser.read_string(path_or_text)
    else:
        with reading(path_or_text), open(path_or_text) as file:
            parser.read_file(file)
    return {name: dict(parser[name]) for name in parser.sections()}


class Run:
    """The output folder of a run, or of --analyse. Outputs are identified by their numbers."""

    def __init__(self, folder):
        self.folder = folder
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"{folder}: no such folder")
        self.refresh()

    def refresh(self):
        """Look for outputs anew, while a run goes on."""
        names = glob.glob(os.path.join(self.folder, "*_[0-9][0-9][0-9]*.*"))
        found = (re.search(r"_(\d{3,})(\.\d+)?\.[a-z0-9]+$", name) for name in names)
        self.numbers = sorted({int(match.group(1)) for match in found if match})

    def path(self, stem, number, ending):
        """Path of a product (of its first file); None if there is none."""
        names = (f"{stem}_{number:03d}.{ending}", f"{stem}_{number:03d}.0.{ending}")
        paths = (os.path.join(self.folder, name) for name in names)
        return next((path for path in paths if os.path.exists(path)), None)

    def _check(self, number):
        """Raise ValueError if there is no output of this number."""
        if number not in self.numbers:
            self.refresh()
        if number not in self.numbers:
            there = ", ".join(map(str, self.numbers)) or "none"
            raise ValueError(f"{self.folder} has no output {number!r}; its outputs: {there}")

    def _read(self, reader, stems, number, ending):
        """The first file that exists: output.names chooses among the stems of HDF5 files."""
        self._check(number)
        paths = (self.path(stem, number, ending) for stem in stems)
        path = next((path for path in paths if path), None)
        return reader(path) if path else None

    @property
    def snapshots(self):
        """Paths of the snapshots (of their first files), in the order of their numbers."""
        paths = (self._snapshot_path(number) for number in self.numbers)
        return [path for path in paths if path]

    def _snapshot_path(self, number):
        paths = (self.path(stem, number, "hdf5") for stem in SNAPSHOT_STEMS)
        return next((path for path in paths if path), None)

    # Products of an output. None where the output has no such product; ValueError where the folder
    # has no output of this number.

    def power(self, number):
        """read_power() of an output; None without output.power_spectrum."""
        return self._read(read_power, ("powerspec",), number, "txt")

    def mass_function(self, number):
        """read_mass_function() of an output; None without halos."""
        return self._read(read_mass_function, ("massfunc",), number, "txt")

    def multipoles(self, number):
        """read_multipoles() of an output; None without output.multipoles."""
        return self._read(read_multipoles, ("multipoles",), number, "txt")

    def correlation(self, number):
        """read_correlation() of an output; None without output.correlation."""
        return self._read(read_correlation, ("correlation",), number, "txt")

    def bispectrum(self, number):
        """read_bispectrum() of an output; None without output.bispectrum."""
        return self._read(read_bispectrum, ("bispectrum",), number, "txt")

    def halo_power(self, number):
        """read_halo_power() of an output; None without output.halo_power."""
        return self._read(read_halo_power, ("halopower",), number, "txt")

    def halos(self, number):
        """read_halos() of an output; None without analysis.fof."""
        return self._read(read_halos, HALO_STEMS, number, "hdf5")

    def subhalos(self, number):
        """read_subhalos() of an output; None without analysis.fof."""
        return self._read(read_subhalos, HALO_STEMS, number, "hdf5")

    def snapshot(self, number, particle_type=None):
        """read_snapshot() of an output; None without output.snapshots."""

        def read(path):
            return read_snapshot(path, particle_type=particle_type)

        return self._read(read, SNAPSHOT_STEMS, number, "hdf5")

    def redshift(self, number):
        """The redshift of an output, from the first of its products that exists, or None."""
        for product in (self.power(number), self.mass_function(number)):
            if product is not None:
                return max(product.header["z"], 0.0)
        for product in (self.halos(number), self.snapshot(number)):
            if product is not None:
                with product.file:
                    return max(float(product.header["Redshift"]), 0.0)
        return None

    @property
    def redshifts(self):
        return [self.redshift(number) for number in self.numbers]

    def provenance(self):
        """What the files say of the program, machine and date that made them: the attributes of the
        HDF5 group Provenance, or the lines `# provenance NAME: VALUE`, of the last output; empty
        where there are none. The item "left out" names those whose type is wrong."""
        return _sound_provenance(self._stored_provenance())

    def _stored_provenance(self):
        for path in self.gas_files[-1:]:
            with h5py.File(path, "r") as file:
                found = attributes(file, "Provenance")
            found.pop("config.ini", None)
            return found
        for number in reversed(self.numbers):
            for file in (self.halos(number), self.snapshot(number)):
                if file is not None:
                    with file.file:
                        found = file.attributes("Provenance")
                        found = found or file.attributes("Parameters")
                    found.pop("config.ini", None)
                    if "program" in found:
                        return found
            path = self.path("powerspec", number, "txt")
            found = _provenance_lines(_comments(path)) if path else {}
            if found:
                return found
        return {}

    def trees(self):
        """The merger trees of trees.hdf5, as photons.trees.Trees, or None."""
        path = os.path.join(self.folder, "trees.hdf5")
        return _trees().read_trees(path) if os.path.exists(path) else None

    def timings(self):
        path = os.path.join(self.folder, "log", "timings.csv")
        return read_timings(path) if os.path.exists(path) else None

    def outputs(self):
        """log/outputs.csv, one row for each output: seconds of its parts; or None."""
        path = os.path.join(self.folder, "log", "outputs.csv")
        return _read_log(path) if os.path.exists(path) else None

    def statistics(self):
        """log/statistics.csv, read like timings, or None."""
        path = os.path.join(self.folder, "log", "statistics.csv")
        return _read_log(path) if os.path.exists(path) else None

    @property
    def gas_files(self):
        """Paths of gas_NNN.hdf5, in the order of their numbers."""
        paths = (self.path("gas", number, "hdf5") for number in self.numbers)
        return [path for path in paths if path]

    @property
    def gas(self):
        """Whether the run is one of gas on an adaptive mesh: run.system of config-used.ini or,
        where that says nothing, its files."""
        system = self.config().get("run", {}).get("system")
        return system == "gas" if system else bool(self.gas_files)

    def energy(self):
        """log/energy.csv of an isolated system, or None."""
        path = os.path.join(self.folder, "log", "energy.csv")
        return read_energy(path) if os.path.exists(path) else None

    def galaxies(self):
        """log/galaxy.csv of an isolated system, or None."""
        path = os.path.join(self.folder, "log", "galaxy.csv")
        return read_galaxies(path) if os.path.exists(path) else None

    @property
    def isolated(self):
        """Whether the run has no periodic box: box.boundary of config-used.ini or, where that says
        nothing, BoxSize of the first snapshot."""
        boundary = self.config().get("box", {}).get("boundary")
        if self.gas or boundary:
            return boundary == "isolated" and not self.gas
        return any(is_isolated(read_header(path)) for path in self.snapshots[:1])

    def time_myr(self, number):
        """The time of an output of an isolated system [Myr], from its snapshot, or None."""
        self._check(number)
        path = self._snapshot_path(number)
        return snapshot_time_myr(read_header(path)) if path else None

    def config(self):
        path = os.path.join(self.folder, "config-used.ini")
        return read_config(path) if os.path.exists(path) else {}
