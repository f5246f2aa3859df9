# SPDX-License-Identifier: GPL-3.0-or-later
"""For how long a GPU worked on each of its recorded tasks, which run several at a time."""

import bisect
import collections

# A task of a GPU: its job, begin and end (s), and what tasks with as much work have in common; None: no other task is known to have
# as much. lasting: whether it may keep the GPU for long.
Row = collections.namedtuple("Row", "job start end like lasting")

BESIDE = 4  # tasks that run at a time, at most: their times are looked at together


def in_turn(rows):
    """Seconds by job. Kernels get their places on a GPU in the order in which they were started, so that a task that ends has had the
    GPU since the one before ended."""
    work, last = {}, 0.0
    for row in sorted(rows, key=lambda r: (r.end, r.start)):
        work[row.job] = row.end - min(max(row.start, last), row.end)
        last = max(last, row.end)
    return work


def usual(gpus, work):
    """The time of a task among its likes: the lower quartile of the means of BESIDE that ended one after the other."""
    means = collections.defaultdict(list)
    for rows in gpus:
        times = collections.defaultdict(list)
        for row in sorted(rows, key=lambda r: r.end):
            times[row.like].append(work[row.job])
        for like, t in times.items():
            means[like] += [sum(t[i:i + BESIDE]) / BESIDE for i in range(len(t) - BESIDE + 1)]
    return {like: sorted(m)[len(m) // 4] for like, m in means.items() if like is not None and m}


def seconds_of_gpus(gpus):
    """Seconds by job, of the rows of each GPU. What a task took longer than is usual among its likes it waited: for a long task that
    ran beside it, which had the GPU, or, on several GPUs, for copies from the others and for the threads that begin them."""
    work = {}
    for rows in gpus:
        work.update(in_turn(rows))
    times = usual(gpus, work)
    for rows in gpus:
        lasting = sorted((r for r in rows if r.lasting), key=lambda r: r.end)
        ends = [r.end for r in lasting]
        for row in rows:
            rest = work[row.job] - times.get(row.like, work[row.job])
            if row.lasting or rest <= 0.0:
                continue
            beside = next((r for r in lasting[bisect.bisect_left(ends, row.end):] if r.start < row.end), None)
            if beside:
                work[beside.job] += rest
            if beside or len(gpus) > 1:
                work[row.job] -= rest
    return work
