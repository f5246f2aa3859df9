#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What time steps do to P(k): runs of several boxes and seeds to z = 0 with each setting of steps,
several at once, and a table of P(k) over that of short adaptive steps, less 1.

usage: bench_step_accuracy.py PROGRAM [--out FOLDER] [--boxes 64-50:8,64-12.5:8,...] [--seeds N]
       [--setting 'NAME SECTION.KEY=VALUE ...'] [--over NAME] [--only NAME,...] [--gpus N] [--jobs N] [--workers N]
       [--minutes M]

A box is SIDE-SIZE[:SEEDS]: SIDE^3 particles in SIZE Mpc/h from z = 49 on, with the first SEEDS
seeds. Boxes run in their order. Bands are parts of the particles' Nyquist wave number k_N, and each
mode counts once. A cell has the mean over seeds and its standard error; pairs, time and drift are
means, too. All rows share the chance of the runs that P(k) is divided by: --over NAME divides by
those of another setting. --only NAME,... leaves out all others. With --gpus N each run has one
of the first N GPUs, in turn. Runs that are
in the folder already are not run again. After M minutes no run begins, and those at work are ended.
The time is wall-clock time beside other runs. The drift is that of the Layzer-Irvine integral from
a = 0.3 to 0.9. Needs Python 3.8 alone.
"""
import argparse
import concurrent.futures
import csv
import math
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import time

REFERENCE = ("short adaptive", ["time.step=adaptive", "time.eta=0.00625", "time.max_dlna=0.0125"])
# Where adaptive steps would take too long: steps of particles, four times shorter.
REFERENCE_OF_LARGE = ("high", ["time.accuracy=high"])
LARGE = 200  # particles a side
GPU_CORES = 6  # of a run with a GPU: its streams' threads, the main one and one for the rest
SETTINGS = [(name, [f"time.accuracy={name}"]) for name in ("fast", "default", "high")]
# The smallest boxes need the mean of many seeds; a run of others has more modes.
BOXES = "256-50:1,128-100:1,128-25:1,64-50"
FIRST_SEED = 4711  # others are 1, 2, ...
BANDS = ((0.03, 0.1), (0.1, 0.25), (0.25, 0.5), (0.5, 0.8), (0.8, 1.0))
OUTPUTS = (1, 0)
COSMOLOGY = [
    "cosmology.Omega_m=0.316", "cosmology.Omega_lambda=0.684", "cosmology.Omega_b=0.0494",
    "cosmology.h=0.6732", "cosmology.n_s=0.966", "cosmology.sigma8=0.812", "ic.z_init=49",
    "ic.fixed=yes",
]  # those of params/quickstart.ini


def softening(side, size):
    """kpc/h: a thirtieth of the spacing, as 25 kpc/h of 64^3 particles in 50 Mpc/h."""
    return 1000.0 * size / side / 31.25


def arguments(side, size, seed, changes, folder):
    sets = COSMOLOGY + [
        f"box.size={size}", f"box.npart_side={side}",
        f"gravity.softening={softening(side, size):g}", f"ic.seed={seed}", f"output.dir={folder}",
        "output.redshifts=" + ",".join(map(str, OUTPUTS)), "output.snapshots=no",
        "output.images=no", "analysis.fof=no", "output.energy_steps=8",
    ] + changes
    return ["--quiet", "--overwrite"] + [word for text in sets for word in ("--set", text)]


class Bench:
    def __init__(self, options):
        self.options = options
        self.end = time.time() + 60 * options.minutes
        self.empty = pathlib.Path(options.out) / "empty.ini"
        self.empty.parent.mkdir(parents=True, exist_ok=True)
        self.empty.write_text("")
        self.places = queue.Queue()
        for job in range(options.jobs):
            self.places.put(job)

    def folder(self, box, seed, name):
        parts = f"{box[0]}-{box[1]:g}", str(seed), name.replace(" ", "_")
        return pathlib.Path(self.options.out).joinpath(*parts)

    def run(self, *run):
        place = self.places.get()
        try:
            self.run_at(place, *run)
        finally:
            self.places.put(place)

    def environment(self, place):
        """Of the run at a place among those that run at once: its GPU, and cores where the system
        finds free ones. StarPU would bind all runs to the same first cores."""
        variables = dict(os.environ, STARPU_WORKERS_NOBIND="1", STARPU_MPI_NOBIND="1")
        if self.options.gpus:
            variables["CUDA_VISIBLE_DEVICES"] = str(place % self.options.gpus)
        return variables

    def run_at(self, place, box, seed, name, changes):
        folder = self.folder(box, seed, name)
        done = folder / "seconds"
        left = self.end - time.time()
        if done.exists() or left <= 0:
            return
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        sets = arguments(*box, seed, changes + [f"runtime.workers={self.options.workers}"], folder)
        begin = time.time()
        try:
            ended = subprocess.run([self.options.program, str(self.empty)] + sets, timeout=left,
                                   env=self.environment(place), stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, check=False)
        except subprocess.TimeoutExpired:
            print(f"{folder}: no time left", flush=True)
            return
        if ended.returncode:
            said = ended.stdout.strip()[-2000:]
            # one call for a line, since print() writes its end apart, and threads mix
            print(f"{folder}: exit code {ended.returncode}: {said}\n", end="", flush=True)
            return
        done.write_text(f"{time.time() - begin:.1f}\n")

    def runs(self):
        """In the order of boxes, each once."""
        for box in self.options.boxes:
            settings = self.settings(box)
            for seed in self.seeds(box):
                for name, changes in settings.items():
                    yield box, seed, name, changes

    def settings(self, box):
        """All that are run, by name."""
        all_of = dict([reference(box)] + self.options.settings)
        only = self.options.only
        return {name: changes for name, changes in all_of.items() if not only or name in only}

    def over(self, box):
        """The setting over which a table is."""
        return self.options.over or reference(box)[0]

    def seeds(self, box):
        """Those of a box."""
        return [seed or FIRST_SEED for seed in range(self.options.boxes[box])]

    def ratio(self, box, seed, name, output):
        """P(k) over the reference's, less 1, by band; None: one of the two has no such output."""
        folders = [self.folder(box, seed, who) for who in (name, self.over(box))]
        spectra = [read_spectrum(folder, output) for folder in folders]
        if not all(spectra):
            return None
        return [mean_difference(*spectra, band) for band in BANDS]

    def table(self, box):
        print(f"\n{box[0]}^3 in {box[1]:g} Mpc/h, over {self.over(box)}")
        bands = " | ".join(f"{a:g}-{b:g} k_N" for a, b in BANDS)
        print(f"| z | steps | seeds | {bands} | pairs | time | drift |")
        print("| --- " * (6 + len(BANDS)) + "|")
        for output, z in enumerate(OUTPUTS):
            for name in self.settings(box):
                if name != self.over(box):
                    self.row(box, output, z, name)
        cost = self.cost(box, self.over(box))
        print(f"{self.over(box)}: {cost[0]:.3g} pairs, {cost[1]:.1f} s, drift {cost[2]:+.1e}")

    def row(self, box, output, z, name):
        all_ratios = (self.ratio(box, seed, name, output) for seed in self.seeds(box))
        ratios = [ratio for ratio in all_ratios if ratio]
        if not ratios:
            return
        pairs, seconds, drift = self.cost(box, name)
        bands = " | ".join(mean_text(band) for band in zip(*ratios))
        print(f"| {z} | {name} | {len(ratios)} | {bands} | {pairs:.3g} | {seconds:.1f} s "
              f"| {drift:+.1e} |")

    def cost(self, box, name):
        """Pairs, seconds and drift: the means of the runs that ended."""
        folders = [self.folder(box, seed, name) for seed in self.seeds(box)]
        costs = [cost_of(folder) for folder in folders if (folder / "seconds").exists()]
        if not costs:
            return math.nan, math.nan, math.nan
        return [sum(values) / len(values) for values in zip(*costs)]


def cost_of(folder):
    """Pairs, seconds and drift of a run."""
    pairs = sum(float(row["p2p_pairs"]) for row in rows_of(folder / "log/timings.csv"))
    errors = [(float(row["a"]), float(row["layzer_irvine_error"]))
              for row in rows_of(folder / "log/statistics.csv") if row["layzer_irvine_error"]]
    seconds = float((folder / "seconds").read_text())
    return pairs, seconds, nearest(errors, 0.9) - nearest(errors, 0.3)


def reference(box):
    return REFERENCE_OF_LARGE if box[0] >= LARGE else REFERENCE


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def nearest(values, a):
    return min(values, key=lambda value: abs(value[0] - a))[1]


def read_spectrum(folder, output):
    """[(k/k_N, P, modes)]; None: the run did not end, or has no such output."""
    path = folder / f"powerspec_{output:03d}.txt"
    if not path.exists() or not (folder / "seconds").exists():
        return None
    lines = path.read_text(encoding="utf-8").splitlines()
    noise = next(line for line in lines if line.startswith("# k_noise ="))
    nyquist = float(noise.split("=")[1].split()[0])
    rows = [[float(word) for word in line.split()] for line in lines if line and line[0] != "#"]
    return [(row[0] / nyquist, row[1], row[2]) for row in rows]


def mean_difference(spectrum, expected, band):
    rows = [(p / q - 1, modes) for (k, p, modes), (_, q, _) in zip(spectrum, expected)
            if band[0] <= k < band[1]]
    modes = sum(weight for _, weight in rows)
    return sum(value * weight for value, weight in rows) / modes if modes else math.nan


def mean_text(values):
    mean = sum(values) / len(values)
    if math.isnan(mean):  # the box has no modes there
        return ""
    if len(values) < 2:
        return f"{mean:+.1e}"
    error = math.sqrt(sum((value - mean)**2 for value in values) / (len(values) - 1) / len(values))
    return f"{mean:+.1e} ± {error:.0e}"


def box_of(text, seeds):
    """(side, size), seeds."""
    box, _, number = text.partition(":")
    side, size = box.split("-")
    return (int(side), float(size)), int(number or seeds)


def parse(words):
    parser = argparse.ArgumentParser(description="What time steps do to P(k).")
    parser.add_argument("program")
    parser.add_argument("--out", default="step-accuracy", help="folder of the runs")
    parser.add_argument("--boxes", default=BOXES,
                        help="SIDE-SIZE[:SEEDS],...: particles a side, Mpc/h, seeds")
    parser.add_argument("--seeds", type=int, default=8, help="seeds of boxes that name no number")
    parser.add_argument("--setting", action="append", default=[], metavar="'NAME KEY=VALUE ...'",
                        help="one more setting of steps")
    parser.add_argument("--over", metavar="NAME", help="the setting over which the table is")
    parser.add_argument("--only", metavar="NAME,...", type=lambda text: text.split(","),
                        help="the settings that are run, of all")
    parser.add_argument("--gpus", type=int, default=0,
                        help="GPUs, of which each run has one; 0: runs see all GPUs")
    parser.add_argument("--jobs", type=int, help="runs at once: 4, or one on each of --gpus")
    parser.add_argument("--workers", type=int, help="cores of a run")
    parser.add_argument("--minutes", type=float, default=7.5)
    options = parser.parse_args(words)
    options.boxes = dict(box_of(text, options.seeds) for text in options.boxes.split(","))
    options.jobs = options.jobs or options.gpus or 4
    if not options.workers:
        share = (os.cpu_count() or 1) // options.jobs
        options.workers = max(1, share - (GPU_CORES if options.gpus else 0))
    more = [text.split() for text in options.setting]
    options.settings = SETTINGS + [(words[0], words[1:]) for words in more]
    if options.over and options.over not in [name for name, _ in options.settings]:
        parser.error(f"{options.over} is no setting")
    names = [REFERENCE[0]] + [name for name, _ in options.settings]
    for name in options.only or []:
        if name not in names:
            parser.error(f"--only {name}: no setting")
    if options.only and (options.over or REFERENCE[0]) not in options.only:
        parser.error("--only leaves out the setting that P(k) is divided by")
    program = shutil.which(options.program)
    if not program:
        parser.error(f"{options.program} is no program")
    options.program = os.path.abspath(program)
    options.out = os.path.abspath(options.out)
    return options


def main():
    bench = Bench(parse(sys.argv[1:]))
    with concurrent.futures.ThreadPoolExecutor(bench.options.jobs) as pool:
        for future in [pool.submit(bench.run, *run) for run in bench.runs()]:
            future.result()
    for box in bench.options.boxes:
        bench.table(box)


if __name__ == "__main__":
    main()
