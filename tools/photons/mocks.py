# SPDX-License-Identifier: GPL-3.0-or-later
"""Many runs of one config.ini that differ in ic.seed, and the mean and covariance of their power spectra and
of their numbers of halos. Fast mocks are runs with time.step = pm.

usage: mocks.py CONFIG COUNT [--first SEED] [--jobs N] [--gpus A,B,...] [--set SECTION.KEY=VALUE]...
                [--program PROGRAM] [--ranks N]

The runs have the seeds SEED (1), SEED + 1 ... and are in folders mock_SEED of output.dir. They write neither
snapshots, pictures nor ids of the members of halos unless --set says so. A run that has ended is not repeated when the command is given again, with
a larger COUNT for example; one that has not begins anew. As many run at the same time as there are GPUs, or, without
GPUs, cores, if the memory suffices; the cores are divided among them. Of all these mocks there are in output.dir, for each output,
mockpower_NNN.txt (mean and scatter of P(k)), mockcovariance_NNN.txt (the covariance matrix of its bins),
mockgauss_NNN.txt (variance and correlation of the bins beside those of Gaussian waves, with errors),
mockhalos_NNN.txt (mean and variance of the number of halos in bins of mass) and figures/mocks_NNN.png."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

from .ensemble import add_options, finish, settings_of, text_table, write_table
from .launch import RunFailed, has_gpus, memory, output_folder
from .modules import Deferred, fail, need, parser_of
from .reading import FAULTS, explain

np, plt = Deferred("numpy"), Deferred("matplotlib.pyplot")
os.environ["MPLBACKEND"] = "Agg"  # figures go to files, which takes no display

LEAN = {"output.snapshots": "no", "output.images": "no", "output.halo_ids": "no"}


MEMORY_PART = 0.8  # of the machine's memory, that mocks may take together


def gpus_of(options):
    """The GPUs that --gpus names, or those that the program could use."""
    named = options.gpus or os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is not None or not has_gpus(options.program):
        return [gpu for gpu in (named or "").split(",") if gpu]
    try:
        said = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout
    except FileNotFoundError:
        return []
    count = sum(line.startswith("GPU ") for line in said.splitlines())
    return [str(i) for i in range(count)]


def jobs_of(options, settings, gpus, cores):
    """How many mocks run at the same time: --jobs, or one on each GPU, or core, that the memory suffices for."""
    if options.jobs:
        return options.jobs
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    fit = int(MEMORY_PART * machine / max(memory(options.config, settings, options.program), 1.0))
    return max(1, min(len(gpus) or cores // options.ranks, fit, options.count))


def places_of(options, settings):
    """The environments of mocks that run at the same time: each has a GPU, if there are any, and its part of the
    cores."""
    gpus, cores = gpus_of(options), len(os.sched_getaffinity(0))
    jobs = jobs_of(options, settings, gpus, cores)
    place = {} if jobs == 1 else {"STARPU_NCPU": str(max(1, cores // (jobs * options.ranks)))}
    if "STARPU_NCPU" in os.environ:
        place = {}
    return [
        {**place, **({"CUDA_VISIBLE_DEVICES": gpus[i % len(gpus)]} if gpus else {})} for i in range(jobs)
    ]


def run_all(options, settings, folder):
    """Run all seeds, some at the same time. Returns the Runs by seed."""
    places = SimpleQueue()  # free places for mocks
    for place in places_of(options, settings):
        places.put(place)

    def one(seed):
        place = places.get()
        try:
            mock = {**settings, "ic.seed": str(seed)}
            return finish(options.config, mock, os.path.join(folder, f"mock_{seed}"), options, place)
        finally:
            places.put(place)

    with ThreadPoolExecutor(places.qsize()) as pool:
        return list(pool.map(one, range(options.first, options.first + options.count)))


def spectra_of(runs, number):
    """Comments, rows of the first run, and P of all runs [run, bin]; None without spectra."""
    tables = [text_table(run, "powerspec", number) for run in runs]
    if None in tables:
        return None
    return (*tables[0], np.array([rows[:, 1] for _, rows in tables]))


def write_power(folder, number, comments, rows, power):
    """Write mean and scatter of P(k), and the covariance of its bins."""
    said = [f"# {len(power)} mocks\n", *(line for line in comments if line.startswith("# a = "))]
    k, modes = rows[:, 0], rows[:, 2]
    mean, covariance = power.mean(axis=0), np.cov(power, rowvar=False, ddof=1)
    columns = "# k[h/Mpc] P[(Mpc/h)^3] scatter[(Mpc/h)^3] scatterGauss[(Mpc/h)^3] Nmodes\n"
    table = np.column_stack([k, mean, np.sqrt(np.diag(covariance)), mean / np.sqrt(modes), modes])
    write_table(os.path.join(folder, f"mockpower_{number:03d}.txt"), [*said, columns], table)
    columns = "# covariance [(Mpc/h)^6] of the bins of mockpower, one row and one column each\n"
    write_table(os.path.join(folder, f"mockcovariance_{number:03d}.txt"), [*said, columns], covariance)
    return table, covariance


def gauss_table(rows, power, covariance):
    """By bin: k, the variance of P(k) over that of Gaussian waves, P^2/modes, and its error;
    the mean correlation with the other bins, which Gaussian waves have not, and its error.

    A variance of M mocks has the relative error (2/(M - 1))^(1/2), a correlation of none the error (M - 1)^(-1/2)."""
    mocks, bins = power.shape
    variance = np.diag(covariance)
    gauss = power.mean(axis=0) ** 2 / rows[:, 2]
    size = np.sqrt(np.where(variance > 0, variance, np.inf))
    others = (covariance / np.outer(size, size)).sum(axis=0) - (variance > 0)
    ratio, several = variance / gauss, max(bins - 1, 1)
    return np.column_stack([
        rows[:, 0], ratio, ratio * np.sqrt(2 / (mocks - 1)), others / several,
        np.full(bins, 1 / np.sqrt((mocks - 1) * several)),
    ])  # fmt: skip


def write_gauss(folder, number, rows, power, covariance):
    columns = "# k[h/Mpc] variance/Gaussian error correlation error\n"
    path = os.path.join(folder, f"mockgauss_{number:03d}.txt")
    write_table(path, [f"# {len(power)} mocks\n", columns], gauss_table(rows, power, covariance))


def write_halos(runs, folder, number):
    """Write mean and variance of the number of halos by friends-of-friends mass. A mock without halos of a
    bin has none there."""
    tables = [text_table(run, "massfunc", number) for run in runs]
    if None in tables:
        return
    longest = max((rows for _, rows in tables), key=len)
    if not len(longest):
        return
    counts = np.zeros((len(runs), len(longest)))
    for row, (_, rows) in zip(counts, tables):
        if len(rows):
            row[: len(rows)] = rows[:, 2]
    said = f"# {len(runs)} mocks\n# M_low[Msun/h] M_high[Msun/h] N variance\n"
    table = np.column_stack([longest[:, :2], counts.mean(axis=0), counts.var(axis=0, ddof=1)])
    write_table(os.path.join(folder, f"mockhalos_{number:03d}.txt"), [said], table)


def plot(table, covariance, mocks):
    """The scatter of P(k) over that of Gaussian modes, and the correlation of the bins."""
    k, scatter, gauss = table[:, 0], table[:, 2], table[:, 3]
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    left.semilogx(k, scatter / gauss, "k.-")
    left.axhline(1, color="grey", lw=0.7)
    left.set(xlabel="k [h/Mpc]", ylabel="scatter / that of Gaussian modes", title=f"{mocks} mocks")
    size = np.sqrt(np.diag(covariance))
    shown = np.divide(covariance, np.outer(size, size), where=np.outer(size, size) > 0,
                      out=np.zeros_like(covariance))  # fmt: skip
    mesh = right.pcolormesh(k, k, shown, vmin=-1, vmax=1, cmap="RdBu_r", shading="nearest")
    right.set(xscale="log", yscale="log", xlabel="k [h/Mpc]", ylabel="k [h/Mpc]")
    figure.colorbar(mesh, ax=right, label="correlation of P(k)")
    return figure


def make(options):
    """Run the mocks, and write all of them; returns the lines to print."""
    if options.count < 2 or options.first < 0 or options.jobs < 0:
        raise ValueError("expected a COUNT of 2 or more, and a SEED and a number of jobs of 0 or more")
    settings = {**LEAN, **settings_of(options.set)}
    folder = output_folder(options.config, settings, options.program)
    runs = run_all(options, settings, folder)
    os.makedirs(os.path.join(folder, "figures"), exist_ok=True)
    for number in runs[0].numbers:
        write_halos(runs, folder, number)
        found = spectra_of(runs, number)
        if found:
            table, covariance = write_power(folder, number, *found)
            write_gauss(folder, number, *found[1:], covariance)
            figure = plot(table, covariance, len(runs))
            figure.savefig(os.path.join(folder, "figures", f"mocks_{number:03d}.png"), dpi=150)
            plt.close(figure)
    return [f"{len(runs)} mocks are in {folder}"]


def main():
    parser = parser_of(__doc__)
    add_options(parser)
    parser.add_argument("count", metavar="COUNT", type=int, help="number of mocks")
    parser.add_argument("--first", type=int, default=1, metavar="SEED", help="ic.seed of the first")
    parser.add_argument(
        "--jobs", type=int, default=0, metavar="N",
        help="mocks that run at the same time (default: as many as there are GPUs, or without GPUs cores)",
    )  # fmt: skip
    parser.add_argument(
        "--gpus", metavar="A,B,...", help="numbers of the GPUs, of which each mock uses one (default: all)"
    )
    options = parser.parse_args()
    need("h5py", "matplotlib", "numpy")
    try:
        print("\n".join(make(options)))
    except RunFailed as error:
        fail(error)
    except FAULTS as error:
        fail(explain(error))
