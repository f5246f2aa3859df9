# SPDX-License-Identifier: GPL-3.0-or-later
"""Read the files of photons-starpu. Needs numpy; snapshots and halo catalogues also h5py.

>>> import photons
>>> run = photons.Run("output")
>>> run.redshifts
[1.0, 0.0]
>>> power = run.power(1)            # or photons.read_power("output/powerspec_001.txt")
>>> power["k"], power["P"], power["P_linear"]
>>> halos = run.halos(1)
>>> halos["GroupMass"], halos.header["Redshift"]
>>> snap = run.snapshot(1)
>>> snap["Coordinates"][:100], snap.header["BoxSize"]

Tables are dictionaries of numpy arrays with the attribute `header`, a dictionary.
"""

import glob
import os
import re
import uuid

from needed_modules import Deferred

h5py, np = Deferred("h5py"), Deferred("numpy")


class Table(dict):
    """A dictionary of columns; its attribute `header` has the values of the file's header."""

    def __init__(self, columns=(), header=None):
        super().__init__(columns)
        self.header = header or {}


def _comments(path):
    with open(path) as file:
        return [line[1:].strip() for line in file if line.startswith("#")]


def _header_numbers(comments):
    """All `name = number` in the comment lines of a file."""
    found = re.findall(r"([A-Za-z0-9_()/ ]+?) = ([-+0-9.eE]+)", ",".join(comments))
    return {name.strip(" ,"): float(value) for name, value in found}


def _read_text(path, names):
    rows = np.loadtxt(path, ndmin=2)
    if rows.size == 0:
        rows = rows.reshape(0, len(names))
    if rows.shape[1] != len(names):
        raise ValueError(
            f"{path}: {rows.shape[1]} columns, expected {len(names)}: {', '.join(names)}"
        )
    return Table(zip(names, rows.T), _header_numbers(_comments(path)))


def read_power(path):
    """Read powerspec_NNN.txt: k [h/Mpc]; P, P_shot, P_linear, P_halofit [(Mpc/h)^3] (shot noise is
    part of P); modes."""
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


def read_timings(path):
    """Read log/timings.csv, one row for each step. If a run was restarted, the last row of a step
    counts."""
    with open(path) as file:
        names = file.readline().strip().split(",")
    rows = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    last = {row[0]: i for i, row in enumerate(rows)}
    return Table(zip(names, rows[sorted(last.values())].T))


def _join(paths, group):
    """The files of a set as one file. A dataset of the group is read from all files when it is
    accessed."""
    whole = h5py.File(f"{paths[0]}.{uuid.uuid4()}", "w", driver="core", backing_store=False)
    files = [h5py.File(path, "r") for path in paths]
    for name in ("Header", "Parameters", "Config"):
        if name in files[0]:
            files[0].copy(name, whole)
    parts = [file for file in files if group in file]  # a file may hold no particles
    for name in parts[0][group]:
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


def _files_of_set(path):
    """All files of a set, from the path of its first file or the common part of the names (NAME of
    NAME.0.hdf5)."""
    if not os.path.exists(path):
        path = next((p for p in (f"{path}.0.hdf5", f"{path}.hdf5") if os.path.exists(p)), path)
    with h5py.File(path, "r") as file:
        count = int(file["Header"].attrs.get("NumFilesPerSnapshot", 1))
    match = re.fullmatch(r"(.*\.)0(\.hdf5|\.h5)", path)
    return [path] if count <= 1 or not match else [f"{match[1]}{i}{match[2]}" for i in range(count)]


class _Hdf5(Table):
    """Datasets of one HDF5 group, and the attributes of Header. A dataset is read when accessed."""

    def __init__(self, path, group):
        paths = _files_of_set(path)
        self.file = h5py.File(paths[0], "r") if len(paths) == 1 else _join(paths, group)
        super().__init__(self.file[group].items(), dict(self.file["Header"].attrs))

    def __getitem__(self, name):
        return super().__getitem__(name)

    def config(self):
        """The parameters of the run, as the text of a config.ini."""
        for name in ("Config", "Parameters"):
            if name in self.file and "config.ini" in self.file[name].attrs:
                text = self.file[name].attrs["config.ini"]
                return text.decode() if isinstance(text, bytes) else str(text)
        return ""

    def close(self):
        self.file.close()


def read_snapshot(path):
    """snap_NNN.hdf5 or snapshot_NNN.hdf5, datasets of PartType1: Coordinates (comoving; h5py
    datasets: index them), Velocities, ParticleIDs, Masses. Of several files name the first one,
    snap_NNN.0.hdf5, or snap_NNN: all of them are read as one."""
    return _Hdf5(path, "PartType1")


class Halos(_Hdf5):
    """Halos of fof_tab_NNN.hdf5 or fof_subhalo_tab_NNN.hdf5: datasets of the HDF5 group Group."""

    def __init__(self, path):
        super().__init__(path, "Group")

    def members(self, i):
        """Ids of the particles of halo i."""
        first = self["GroupOffsetType"][i, 1]
        return self.file["IDs/ID"][first : first + self["GroupLen"][i]]


def read_halos(path):
    return Halos(path)


def read_config(path_or_text):
    """Read a config.ini (path or text) as {section: {key: text}}."""
    import configparser

    parser = configparser.ConfigParser(
        inline_comment_prefixes=("#", ";"), interpolation=None, strict=False
    )
    parser.optionxform = str
    if "\n" in path_or_text:
        parser.read_string(path_or_text)
    else:
        with open(path_or_text) as file:
            parser.read_file(file)
    return {name: dict(parser[name]) for name in parser.sections()}


class Run:
    """The output folder of a run, or of --analyse. Outputs are identified by their numbers."""

    def __init__(self, folder):
        self.folder = folder
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"{folder}: no such folder")
        names = glob.glob(os.path.join(folder, "*_[0-9][0-9][0-9]*.*"))
        found = (re.search(r"_(\d{3,})(\.\d+)?\.[a-z0-9]+$", name) for name in names)
        self.numbers = sorted({int(match.group(1)) for match in found if match})

    def path(self, stem, number, ending):
        """Path of a product (of its first file); None if there is none."""
        names = (f"{stem}_{number:03d}.{ending}", f"{stem}_{number:03d}.0.{ending}")
        paths = (os.path.join(self.folder, name) for name in names)
        return next((path for path in paths if os.path.exists(path)), None)

    def _read(self, reader, stem, number, ending):
        path = self.path(stem, number, ending)
        return reader(path) if path else None

    def _read_first(self, reader, stems, number):
        """The first file that exists: output.names chooses among the stems."""
        found = (self._read(reader, stem, number, "hdf5") for stem in stems)
        return next((table for table in found if table is not None), None)

    def power(self, number):
        return self._read(read_power, "powerspec", number, "txt")

    def mass_function(self, number):
        return self._read(read_mass_function, "massfunc", number, "txt")

    def halos(self, number):
        return self._read_first(read_halos, ("fof_tab", "fof_subhalo_tab"), number)

    def snapshot(self, number):
        return self._read_first(read_snapshot, ("snap", "snapshot"), number)

    def redshift(self, number):
        """The redshift of an output, from the first of its products that exists; None if none does."""
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

    def timings(self):
        path = os.path.join(self.folder, "log", "timings.csv")
        return read_timings(path) if os.path.exists(path) else None

    def config(self):
        path = os.path.join(self.folder, "config-used.ini")
        return read_config(path) if os.path.exists(path) else {}
