# SPDX-License-Identifier: GPL-3.0-or-later
"""Recorded task graphs: what the main threads of a run submitted, and how long the tasks took.

trace/graph_RANK.csv has the jobs in the order of their submission, with the data of each; trace/tasks_RANK.csv has the times
of tasks (docs/user/profiling.md)."""

import collections
import csv
import glob
import math
import os
import re
import statistics

from .gpu_seconds import Row, seconds_of_gpus
from .reading import names_file

# work: seconds of one core, or of a GPU that has no other task. parts: into how many parts other cores may divide it.
# before: Needs. data: Pieces. home: the part of all data that owns what the task writes, of how many, or None. lasting: whether
# other GPUs may take the task. gap, cost: of the main thread before the job and for it. late: how much longer than its tasks a
# wait took.
Job = collections.namedtuple("Job", "rank number kind stage group priority device work parts before writes data home lasting gap"
                                    " cost late")
# A job that another one waits for. reads: whether what it wrote there is read; else only the order matters.
Need = collections.namedtuple("Need", "number handle bytes reads")
# Data of a job. home: (part, parts, whether all GPUs need it), or None. writer: the job that wrote it before, or None.
Piece = collections.namedtuple("Piece", "handle mode bytes home writer")

RECORDED = "task", "loop", "send", "receive", "wait", "acquire"


@names_file
def read_table(path):
    with open(path, encoding="ascii") as file:
        return list(csv.DictReader(file))


def read_times(path, sizes, lasting):
    """Of each job: step, device, begin and end (s), work, and whether cores without a task took parts of it.
    sizes: bytes that jobs write. lasting: long jobs, by number."""
    table = read_table(path)
    rows = [(int(r["job"]), float(r["start_us"]) * 1e-6, float(r["end_us"]) * 1e-6, r["device"], r["stage"], int(r["group"]),
             int(r["step"])) for r in table]
    submitted = {int(r["job"]): float(r["submit_us"]) * 1e-6 for r in table}
    workers = {int(r["job"]): r["worker"] for r in table if int(r["job"]) and r["device"].startswith("CPU")}
    times, helped, on_gpu = {}, collections.Counter(), collections.defaultdict(list)
    for job, start, end, device, stage, group, step in rows:
        if device.startswith("GPU"):  # tasks without a group, of slabs or patches, work as long as their sizes are large
            on_gpu[device].append(Row(job, start, end, (stage, sizes.get(job)) if group < 0 else None, job in lasting))
    work = seconds_of_gpus(list(on_gpu.values()))
    for job, start, end, device, stage, group, step in rows:
        if job == 0:
            continue
        seen = times.get(job)  # a loop has several tasks
        spent = work.get(job, end - start)
        times[job] = ((step, device, start, end, spent) if not seen else
                      (step, device, min(seen[2], start), max(seen[3], end), seen[4] + spent))
    by_group = collections.defaultdict(list)
    for job, start, end, device, stage, group, step in rows:
        if job:
            by_group[stage, group].append((start, end, job))
    for job, start, end, device, stage, group, step in rows:
        if job == 0:  # a part of the task of the same stage and group that ran then
            whole = [j for s, e, j in by_group[stage, group] if s <= end and start <= e]
            if whole:
                helped[whole[0]] += end - start
    return {j: (*t[:4], t[4] + helped[j], submitted[j]) for j, t in times.items()}, set(helped), workers


def gaps(times, workers, before):
    """Between two tasks of a worker, of which the second was ready when the first ended (s): StarPU's own work."""
    found, of_worker = [], collections.defaultdict(list)
    for job, worker in workers.items():
        of_worker[worker].append((times[job][2], times[job][3], times[job][5], job))
    for rows in of_worker.values():
        rows.sort()
        for (_, end, _, _), (start, _, submitted, job) in zip(rows, rows[1:]):
            ready = max([submitted] + [times[n.number][3] for n in before.get(job, ()) if n.number in times])
            if ready < end <= start:
                found.append(start - end)
    return found


class Data:
    """The last job that wrote some data, and those that read it since."""

    def __init__(self):
        self.writer, self.readers = None, []


def dependences(entries):
    """Of each entry: what it needs of earlier ones, as StarPU keeps the order of submission for each piece of data; its
    pieces; and the bytes that it writes."""
    data, before, used, writes = collections.defaultdict(Data), [], [], []
    for kind, number, pieces in entries:
        needs, own, written = [], [], 0
        for handle, (mode, size, home) in merged(pieces).items():
            if kind == "free":
                data.pop(handle, None)
                continue
            d = data[handle]
            own.append(Piece(handle, mode, size, home, d.writer))
            if d.writer is not None:
                needs.append(Need(d.writer, handle, size, "r" in mode))
            if "w" in mode:
                needs += [Need(reader, handle, 0, False) for reader in d.readers]
                if kind != "acquire":
                    d.writer, d.readers = number, []
                written += size
            elif kind != "acquire":
                d.readers.append(number)
        before.append(needs)
        used.append(own)
        writes.append(written)
    return before, used, writes


def merged(pieces):
    """The mode, bytes and home by handle: a job may have a piece of data twice."""
    found = {}
    for handle, mode, size, home in pieces:
        both = found[handle][0] + mode if handle in found else mode
        found[handle] = "".join(m for m in "rw" if m in both), size, home
    return found


def pieces_of(text):
    for piece in text.split():
        handle, mode, size, *home = piece.split(":")
        yield handle, mode, int(size), home_of(home[0]) if home else None


def home_of(text):
    part, parts = text.rstrip("*").split("/")
    return int(part), int(parts), text.endswith("*")


def home_of_task(pieces):
    """The home of the first data that a task writes, or else reads, which have one: there the scheduler runs it."""
    written = [p.home for p in pieces if p.home and "w" in p.mode]
    homes = written + [p.home for p in pieces if p.home]
    return homes[0][:2] if homes else None


def read_rank(folder, rank, step, divisible):
    """The jobs of a step of one rank, in the order of submission, and how long the step took (s)."""
    path = os.path.join(folder, f"graph_{rank}.csv")
    rows = read_table(path)
    sizes = {int(r["job"]): sum(size for _, mode, size, _ in pieces_of(r["data"]) if "w" in mode) for r in rows}
    lasting = {int(r["job"]) for r in rows if r.get("lasts", "01"[r["stage"] == "p2p"]) == "1"}
    times, helped, workers = read_times(os.path.join(folder, f"tasks_{rank}.csv"), sizes, lasting)
    of_step = [j for j, t in times.items() if step is None or t[0] == step]
    if not of_step:
        raise ValueError(f"{path}: no task of step {step} was recorded")
    first, last = min(of_step), max(of_step)
    rows = [r for r in rows if first <= int(r["job"])]
    end = next((i for i, r in enumerate(rows) if int(r["job"]) > last and r["kind"] in ("task", "loop")), len(rows))
    rows = sorted(rows[:end], key=lambda r: float(r["begin_us"]))
    entries = [(r["kind"], int(r["job"]), list(pieces_of(r["data"]))) for r in rows]
    before, used, writes = dependences(entries)
    stages = {r["stage"] for r in rows if int(r["job"]) in helped} | set(divisible)
    jobs, ended, now = [], {}, None
    for r, waits, pieces, written in zip(rows, before, used, writes):
        kind, number = r["kind"], int(r["job"])
        begin, done = float(r["begin_us"]) * 1e-6, float(r["end_us"]) * 1e-6
        now = begin if now is None else now
        if kind not in RECORDED:
            continue
        t = times.get(number)
        ended[number] = t[3] if t else done
        awaited = list(ended.values()) if kind == "wait" else [ended[n.number] for n in waits if n.number in ended] + [begin]
        late = max(done - max(max(awaited, default=begin), begin), 0.0) if kind in ("wait", "acquire") else 0.0
        if kind == "loop":
            late = max(done - max(ended[number], begin), 0.0) if t else 0.0
        work = t[4] if t else done - begin if kind == "loop" else 0.0
        cost = done - begin if kind in ("task", "send", "receive") else 0.0
        parts = int(r["priority"]) if kind == "loop" else 1 << 20 if r["stage"] in stages else 1
        priority = -1000 if kind == "loop" else int(r["priority"])
        jobs.append(Job(rank, number, kind, r["stage"], int(r["group"]), priority, t[1] if t else "", work, parts, waits, written,
                        pieces, home_of_task(pieces), number in lasting, max(begin - now, 0.0), cost, late))
        now = max(done, now)
    finish = max([now] + [t[3] for j, t in times.items() if first <= j <= last])
    between = gaps(times, workers, dict(zip((number for _, number, _ in entries), before)))
    if "lasts" not in rows[0]:
        jobs = without_homes(jobs)
    return jobs, finish - float(rows[0]["begin_us"]) * 1e-6, between


def without_homes(jobs):
    """The jobs of a recording that has no homes of data and not which tasks last: those of a group have the group's place,
    and the others, slabs and columns of a mesh, have places in the order of their submission. With heteroprio 1 is the most
    urgent of the recorded priorities, and 4, that of kick, PRIORITY_LOW."""
    groups = 1 + max((j.group for j in jobs), default=0)
    alone = collections.Counter(j.stage for j in jobs if j.kind == "task" and j.group < 0 and j.device.startswith("GPU"))
    parts, seen, found = math.gcd(*alone.values()), collections.Counter(), []
    turned = any(j.stage == "kick" and j.priority == 4 for j in jobs)
    for j in jobs:
        if j.kind == "task" and j.device.startswith("GPU"):
            home = (j.group, groups) if j.group >= 0 else (seen[j.stage] % parts, parts)
            seen[j.stage] += j.group < 0
            j = j._replace(home=home, priority=5 - j.priority if turned else j.priority)
        found.append(j)
    return found


def read_graph(folder, step=None, divisible=()):
    """The jobs of all ranks of a run, how long the step took, and StarPU's own work between two tasks (s)."""
    ranks = sorted(int(re.search(r"graph_(\d+)\.csv$", p).group(1)) for p in glob.glob(os.path.join(folder, "graph_*.csv")))
    if not ranks:
        raise ValueError(f"no graph_*.csv in '{folder}': run with runtime.trace_steps first")
    read = [read_rank(folder, rank, step, divisible) for rank in ranks]
    between = sum((r[2] for r in read), [])
    return [r[0] for r in read], max(r[1] for r in read), statistics.median(between) if between else 0.0
