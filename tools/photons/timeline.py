# SPDX-License-Identifier: GPL-3.0-or-later
"""Picture and numbers of a trace: busy and idle workers, and the stages that idle workers wait for.

usage: timeline.py FOLDER [PICTURE.png] [--steps A:B] [--width INCHES] [--title TEXT]

FOLDER holds paje.trace and tasks.rec as written by starpu_fxt_tool (tools/trace.sh runs it), or
only the tasks_RANK.csv written by the program itself. The latter contain tasks, but neither
StarPU's own work between tasks nor the dependences of tasks.
"""
import collections
import csv
import glob
import os
import re

from .drawing import plain
from .modules import fail, need, parser_of
from .reading import FAULTS, explain, names_file

# States of a worker that are StarPU's own work. A worker with neither a task nor one of these
# states is idle.
RUNTIME_STATES = {"B": "overhead", "Sc": "scheduling", "Fi": "waiting for data", "Po": "handing on", "C": "callback"}
RUNTIME_COLOUR, IDLE_COLOUR = "#444444", "#f4f4f4"

Task = collections.namedtuple("Task", "job name worker start end submit step after")
Interval = collections.namedtuple("Interval", "start end state")


def short(name):
    return name.removeprefix("photons_")


@names_file
def read_paje(path):
    """Names and intervals of the workers, colours of the codelets, and the number of ready tasks.
    Times in ms."""
    names, intervals, colours, ready, now = {}, collections.defaultdict(list), {}, [], {}
    end = 0.0
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line[:2] not in ("6\t", "7\t", "10", "13"):
                continue
            field = re.findall(r'"[^"]*"|\S+', line)
            field = [f.strip('"') for f in field]
            if field[0] == "6" and field[2] == "WS":
                colours[field[1]] = tuple(float(c) for c in field[4].split())
            elif field[0] == "7" and field[3] == "W":
                names[field[2]] = field[5]
            elif field[0] == "10" and field[3] == "WS":
                time, worker = float(field[1]), field[2]
                if worker in now:
                    start, state = now[worker]
                    intervals[worker].append(Interval(start, time, state))
                now[worker] = time, field[4]
                end = max(end, time)
            elif field[0] == "13" and field[3] == "nready":
                ready.append((float(field[1]), float(field[4])))
    for worker, (start, state) in now.items():
        intervals[worker].append(Interval(start, end, state))
    order = sorted(names, key=lambda w: (re.sub(r"\d+", "", names[w]), [int(d) for d in re.findall(r"\d+", names[w])]))
    return [(names[w], intervals[w]) for w in order], colours, ready


@names_file
def read_tasks(path):
    """Tasks by job, with the jobs that they depend on. Jobs without a worker (starts and ends of
    graphs) pass their dependences on."""
    tasks, links = {}, {}
    with open(path, encoding="utf-8", errors="replace") as file:
        for record in file.read().split("\n\n"):
            field = dict(line.split(": ", 1) for line in record.splitlines() if ": " in line)
            if "JobId" not in field:
                continue
            rank = field.get("MPIRank", "-1")
            job = rank, field["JobId"]
            after = [(rank, other) for other in field.get("DependsOn", "").split()]
            links[job] = after
            if "StartTime" in field and "EndTime" in field:
                start, end = float(field["StartTime"]), float(field["EndTime"])
                tasks[job] = Task(job, field.get("Name", "unknown"), field.get("WorkerId"), start, end,
                                  float(field.get("SubmitTime", start)), int(field.get("Iteration", -1)), after)
    return tasks, links


def read_colours(folder):
    """Colours of the stages, which the program writes beside its tables of tasks."""
    with open(os.path.join(folder, "stages.csv"), encoding="ascii") as file:
        return {row["stage"]: row["colour"] for row in csv.DictReader(file)}


@names_file
def read_rows(folder):
    """The same as read_paje() and read_tasks(), from the program's own tables. Each rank counts time
    from its own start. Steps begin together, so their first tasks are taken as simultaneous."""
    tasks, intervals, names, origin = {}, collections.defaultdict(list), {}, None
    files = sorted(glob.glob(os.path.join(folder, "tasks_*.csv")))
    for path in files:
        rank = re.search(r"tasks_(\d+)\.csv$", path).group(1)
        with open(path, encoding="ascii") as file:
            rows = list(csv.DictReader(file))
            first = min((float(row["start_us"]) for row in rows), default=0.0)
            origin = first if origin is None else origin
            for number, row in enumerate(rows):
                worker = rank, int(row["worker"])
                submit, start, end = ((float(row[c]) - first + origin) / 1e3 for c in ("submit_us", "start_us", "end_us"))
                name = row["device"] + (f"_{row['worker']}" if row["device"].startswith("GPU") else "")
                names[worker] = name if len(files) == 1 else f"rank {rank} {name}"
                intervals[worker].append(Interval(start, end, row["stage"]))
                tasks[rank, number] = Task((rank, number), row["stage"], worker, start, end, submit, int(row["step"]), [])
    order = sorted(names, key=lambda w: (w[0], re.sub(r"\d+", "", names[w]), [int(d) for d in re.findall(r"\d+", names[w])]))
    for worker in order:  # what is between two tasks is a state of its own, as in a trace of StarPU
        busy = sorted(intervals[worker])
        gaps = [Interval(a.end, b.start, "I") for a, b in zip(busy, busy[1:]) if b.start > a.end]
        intervals[worker] = sorted(busy + gaps)
    return [(names[w], intervals[w]) for w in order], read_colours(folder), [], tasks


def gpu_of(worker):
    """The GPU to which a worker belongs, from the worker's name (CUDA0_1 in StarPU, GPU0_1 in the
    program); None for a core."""
    found = re.match(r"((?:rank \d+ )?)(?:CUDA|GPU)(?: ?)(\d+)", worker)
    return f"{found.group(1)}GPU {found.group(2)}" if found else None


def covered(intervals):
    """Length of the union of intervals."""
    total, until = 0.0, float("-inf")
    for i in sorted(intervals):
        total += max(i.end - max(i.start, until), 0.0)
        until = max(until, i.end)
    return total


def clipped(intervals, start, end):
    for i in intervals:
        if i.end > start and i.start < end:
            yield Interval(max(i.start, start), min(i.end, end), i.state)


def longest_chain(tasks, links):
    """The longest chain of dependent tasks: the duration of a step with any number of workers."""
    length, before = {}, {}
    done = set()
    for first in links:
        stack = [first]
        while stack:
            job = stack[-1]
            if job in done:
                stack.pop()
                continue
            waiting = [other for other in links.get(job, ()) if other in links and other not in done]
            if waiting:
                stack.extend(waiting)
                continue
            done.add(stack.pop())
            best = max((other for other in links.get(job, ()) if other in length), key=length.get, default=None)
            own = tasks[job].end - tasks[job].start if job in tasks else 0.0
            length[job], before[job] = own + (length[best] if best is not None else 0.0), best
    if not length:
        return 0.0, collections.Counter()
    job = max(length, key=length.get)
    total, shares = length[job], collections.Counter()
    while job is not None:
        if job in tasks:
            shares[tasks[job].name] += tasks[job].end - tasks[job].start
        job = before[job]
    return total, shares


def waited_for(workers, start, end, is_task):
    """For the idle time of workers in start .. end: the tasks that other workers ran meanwhile
    (None: none)."""
    events = []
    for _, intervals in workers:
        for i in clipped(intervals, start, end):
            kind = i.state if is_task(i.state) else None if i.state in RUNTIME_STATES else "idle"
            if kind is not None:
                events += [(i.start, 1, kind), (i.end, -1, kind)]
    events.sort(key=lambda e: (e[0], e[1]))
    running, blame, last = collections.Counter(), collections.Counter(), start
    for time, change, kind in events:
        span, idle = time - last, running["idle"]
        if span > 0.0 and idle > 0:
            busy = {k: n for k, n in running.items() if k != "idle" and n > 0}
            for k, n in busy.items():
                blame[k] += span * idle * n / sum(busy.values())
            if not busy:
                blame[None] += span * idle
        running[kind] += change
        last = time
    return blame


def shares_text(counter, total, most=5):
    parts = [f"{short(k) if k else 'nothing (host or submission)'} {100 * v / total:.0f} %" for k, v in counter.most_common(most)]
    return ", ".join(parts) if parts else "none"


def print_step(step, start, end, workers, tasks, links, is_task):
    span = end - start
    mine = {j: t for j, t in tasks.items() if t.step == step}
    print(f"step {step}: {span:.3f} ms, {len(mine)} tasks")
    print("  worker                    tasks    busy  runtime    idle   most time in")
    kinds = collections.defaultdict(list)
    for name, intervals in workers:
        spent, runtime, count = collections.Counter(), 0.0, 0
        for i in clipped(intervals, start, end):
            if is_task(i.state):
                spent[i.state] += i.end - i.start
                count += 1
            elif i.state in RUNTIME_STATES:
                runtime += i.end - i.start
        busy = sum(spent.values())
        kinds[re.sub(r"[\d_]+.*", "", re.sub(r"^rank \d+ ", "", name))].append(1.0 - busy / span)
        print(f"  {name[:24]:24s} {count:6d} {100 * busy / span:6.1f} % {100 * runtime / span:6.1f} %"
              f" {100 * (span - busy - runtime) / span:5.1f} %   {shares_text(spent, max(busy, 1e-30), 3)}")
    for kind, idle in kinds.items():
        print(f"  idle share of {len(idle)} {kind} worker{'s' if len(idle) > 1 else ''}: {100 * sum(idle) / len(idle):.1f} %"
              " (runtime included)")
    gpus = collections.defaultdict(list)
    for name, intervals in workers:
        if gpu_of(name):
            gpus[gpu_of(name)].append([i for i in clipped(intervals, start, end) if is_task(i.state)])
    for gpu, streams in gpus.items():
        print(f"  {gpu} idle: {100 * (1.0 - covered(sum(streams, [])) / span):.1f} % (no task on any of its {len(streams)}"
              f" stream{'s' if len(streams) > 1 else ''})")
    total, chain = longest_chain(mine, {j: a for j, a in links.items() if j in mine or j not in tasks})
    if total:
        print(f"  longest chain of dependent tasks: {total:.3f} ms, {100 * total / span:.0f} % of the step:"
              f" {shares_text(chain, total)}")
    blame = waited_for(workers, start, end, is_task)
    if sum(blame.values()) > 0.0:
        print(f"  critical codelets (what ran while others idled): {shares_text(blame, sum(blame.values()))}")


def print_codelets(tasks, steps):
    per = collections.defaultdict(list)
    for t in tasks.values():
        if t.step in steps:
            per[t.name].append(t.end - t.start)
    busy = sum(sum(v) for v in per.values())
    print("  codelet              tasks   total ms   share    mean ms     max ms")
    for name, spent in sorted(per.items(), key=lambda item: -sum(item[1])):
        print(f"  {short(name)[:18]:18s} {len(spent):7d} {sum(spent):10.3f} {100 * sum(spent) / busy:5.1f} %"
              f" {sum(spent) / len(spent):10.4f} {max(spent):10.4f}")


def draw(picture, title, workers, colours, ready, spans, tasks, is_task, width):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import patches, pyplot
    begin, end = min(s for s, _ in spans.values()), max(e for _, e in spans.values())
    height = 2.2 + max(0.32 * len(workers), 1.2)
    figure, (rows, below) = pyplot.subplots(2, 1, figsize=(width, height), sharex=True, constrained_layout=True,
                                            gridspec_kw={"height_ratios": [height - 1.7, 0.8]})
    used = collections.Counter()
    inside = sum(e - s for s, e in spans.values())
    for row, (name, intervals) in enumerate(workers):
        rows.broken_barh([(0.0, end - begin)], (row - 0.42, 0.84), facecolors=IDLE_COLOUR)
        bars = collections.defaultdict(list)
        for i in clipped(intervals, begin, end):
            if is_task(i.state) or i.state in RUNTIME_STATES:
                bars[i.state if is_task(i.state) else None].append((i.start - begin, i.end - i.start))
        for state, bar in sorted(bars.items(), key=lambda item: item[0] or ""):
            colour = colours.get(state, "#000000") if state else RUNTIME_COLOUR
            rows.broken_barh(bar, (row - 0.42, 0.84), facecolors=[colour], linewidth=0)
            used[state] += sum(d for _, d in bar)
        busy = sum(i.end - i.start for s, e in spans.values() for i in clipped(intervals, s, e) if is_task(i.state))
        rows.text(1.005, row, f"idle {100 * (1.0 - busy / inside):.0f} %", transform=rows.get_yaxis_transform(), va="center",
                  fontsize=8)
    for step, (s, e) in spans.items():
        rows.axvline(s - begin, color="black", linewidth=0.6)
        rows.axvline(e - begin, color="black", linewidth=0.6, linestyle=":")
        rows.text(s - begin, -0.55, f" step {step}", fontsize=8, va="bottom")
    rows.set_yticks(range(len(workers)), [name[:24] for name, _ in workers], fontsize=8)
    rows.set_ylim(len(workers) - 0.5, -0.5)
    rows.set_title(plain(title), fontsize=10, loc="left", pad=16)
    order = [s for s, _ in used.most_common() if s] + [None]
    rows.legend(handles=[patches.Patch(color=colours.get(s, "#000000") if s else RUNTIME_COLOUR, label=short(s) if s else "runtime")
                         for s in order if s in used] + [patches.Patch(color=IDLE_COLOUR, label="idle")],
                loc="upper left", bbox_to_anchor=(1.06, 1.0), fontsize=7, frameon=False, ncols=1 + len(used) // 14)
    points = [(t - begin, n) for t, n in ready if begin <= t <= end]
    if points:
        below.step(*zip(*points), where="post", color="#333333", linewidth=0.7)
        below.set_ylabel("ready tasks", fontsize=8)
    else:
        waiting = sorted([(t.submit - begin, 1) for t in tasks.values()] + [(t.start - begin, -1) for t in tasks.values()])
        numbers, count = [], 0
        for time, change in waiting:
            count += change
            numbers.append((time, count))
        below.step(*zip(*numbers), where="post", color="#333333", linewidth=0.7)
        below.set_ylabel("submitted,\nnot begun", fontsize=8)
    below.set_xlabel("ms since the first recorded step began", fontsize=8)
    below.set_xlim(0.0, end - begin)
    figure.savefig(picture, dpi=130)


def main():
    parser = parser_of(__doc__)
    parser.add_argument("folder")
    parser.add_argument("picture", nargs="?")
    parser.add_argument("--steps", metavar="A:B", help="only these of the recorded steps")
    parser.add_argument("--width", type=float, default=13.0, metavar="INCHES", help="width of the picture (default 13)")
    parser.add_argument("--title", metavar="TEXT", help="what stands above the picture (default: the folder)")
    arguments = parser.parse_args()
    if arguments.picture:
        need("matplotlib")
    try:
        show(arguments)
    except FAULTS as error:
        fail(f"'{arguments.folder}': {explain(error)}")


def show(arguments):
    """Print the numbers of a trace, and draw it."""
    files = [os.path.join(arguments.folder, name) for name in ("paje.trace", "tasks.rec")]
    if all(map(os.path.isfile, files)):
        workers, colours, ready = read_paje(files[0])
        tasks, links = read_tasks(files[1])
    elif glob.glob(os.path.join(arguments.folder, "tasks_*.csv")):
        workers, colours, ready, tasks = read_rows(arguments.folder)
        links = {}
    else:
        fail(f"neither paje.trace and tasks.rec (tools/trace.sh makes them) nor tasks_*.csv in '{arguments.folder}'")
    names = {t.name for t in tasks.values()}
    steps = sorted({t.step for t in tasks.values() if t.step >= 0})
    if arguments.steps:
        first, _, last = arguments.steps.partition(":")
        steps = [s for s in steps if int(first) <= s <= int(last or first)]
    if not steps:
        fail(f"no tasks of any step in '{arguments.folder}': was one of runtime.trace_steps run?")
    spans = {s: (min(t.submit for t in tasks.values() if t.step == s), max(t.end for t in tasks.values() if t.step == s))
             for s in steps}
    # Colours are in 0 .. 1, from some versions of StarPU in 0 .. 255.
    colours = {k: v if isinstance(v, str) else tuple(c / (255.0 if max(v) > 1.0 else 1.0) for c in v)
               for k, v in colours.items() if k in names}
    for step, (start, end) in spans.items():
        print_step(step, start, end, workers, tasks, links, names.__contains__)
    print_codelets(tasks, set(steps))
    if arguments.picture:
        draw(arguments.picture, arguments.title or arguments.folder, workers, colours, ready, spans, tasks,
             names.__contains__, arguments.width)
        print(f"picture in {arguments.picture}")


if __name__ == "__main__":
    main()
