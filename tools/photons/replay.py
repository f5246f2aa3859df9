# SPDX-License-Identifier: GPL-3.0-or-later
"""Predict a step on other numbers of cores, GPUs and ranks, by a replay of its recorded task graph.

usage: replay.py FOLDER [--step N] [--cores LIST] [--gpus LIST] [--streams N] [--ranks LIST] [--weak LIST] [OPTION...]

FOLDER is the trace folder of a run with runtime.trace_steps. The main thread of each rank submits the recorded jobs one after the
other, with the times that it took, and waits where it waited. Tasks run for the recorded times, those of the highest
priority first. A run of one rank is divided for --ranks: groups, and the tasks of a stage that belong to none, in equal
shares; data that a task on another rank reads are a message. --weak: of so many ranks that each have a box like the recorded
one, which has no messages, with those that formulas say."""

import collections
import heapq
import itertools

from .modules import fail, parser_of
from .places import Cores, Gpus, Machine
from .reading import FAULTS, explain
from .task_graph import read_graph
from .weak_scaling import messages, with_messages


class Replay:
    """All ranks' jobs in time. place(rank, job) is where a job is queued: (rank, None) cores, (rank, "gpus"), (rank, "wire")."""

    def __init__(self, programs, place, machine):
        self.programs, self.place, self.machine = programs, place, machine
        self.pools = {}
        self.time, self.events, self.count = 0.0, [], itertools.count()
        self.waiting, self.after, self.done = {}, collections.defaultdict(list), {}
        self.job, self.at = {}, {}
        self.next, self.blocked = [0] * len(programs), {}
        self.open = [0] * len(programs)  # submitted and not done
        self.wire, self.sent, self.messages, self.bytes = collections.defaultdict(float), {}, 0, 0
        self.there = {}  # when data of a job are at a place
        self.halves = {}
        self.finish = 0.0

    def later(self, time, what, *arguments):
        heapq.heappush(self.events, (time, next(self.count), what, arguments))

    def run(self):
        for rank in range(len(self.programs)):
            self.go_on(rank)
        while self.events:
            self.time, _, what, arguments = heapq.heappop(self.events)
            what(*arguments)
        stuck = sum(self.open) + sum(n < len(p) for n, p in zip(self.next, self.programs))
        if stuck:
            raise ValueError(f"the replay stops with {stuck} jobs left: the recorded graph is not complete")
        return self.finish

    # The main threads.

    def go_on(self, rank):
        """The next job of a rank's main thread, after what that does before."""
        if self.next[rank] == len(self.programs[rank]):
            self.finish = max(self.finish, self.time)
            return
        self.later(self.time + self.programs[rank][self.next[rank]].gap, self.begin, rank)

    def begin(self, rank):
        job = self.programs[rank][self.next[rank]]
        if job.kind not in ("wait", "acquire"):
            self.later(self.time + job.cost, self.submit, rank, job)
        elif self.must_wait(rank, job):
            self.blocked[rank] = job
        else:
            self.later(self.time + job.late, self.step, rank)

    def step(self, rank):
        self.next[rank] += 1
        self.go_on(rank)

    def must_wait(self, rank, job):
        if job.kind == "wait":
            return self.open[rank] > 0
        if job.kind == "loop":
            return (rank, job.number) not in self.done
        return any((rank, n.number) in self.job and (rank, n.number) not in self.done for n in job.before)

    def wake(self, rank):
        job = self.blocked.get(rank)
        if job and not self.must_wait(rank, job):
            del self.blocked[rank]
            self.later(self.time + job.late, self.step, rank)

    # Jobs.

    def submit(self, rank, job):
        key = rank, job.number
        self.job[key], self.at[key] = job, (rank, None)
        self.open[rank] += 1
        self.waiting[key] = 1
        self.wait_for(key, job)
        self.released(key)
        if job.kind == "loop":
            self.blocked[rank] = job
        else:
            self.step(rank)

    def wait_for(self, key, job):
        for need in job.before:
            other = self.owner(key, need.number)
            if other is None or other == key or (other[0] != key[0] and not need.reads):
                continue  # each rank has a copy of its own
            self.waiting[key] += 1
            if other in self.done:
                self.arrive(other, key, need)
            else:
                self.after[other].append((key, need))

    def owner(self, key, number):
        """The job of that number: of the rank's own, or of another rank where one rank's graph is divided."""
        if (key[0], number) in self.job:
            return key[0], number
        return self.elsewhere(number) if self.elsewhere else None

    elsewhere = None

    def arrive(self, other, key, need):
        """A job that another one waits for is done: on another rank, with a message."""
        if other[0] == key[0] or need.bytes == 0:
            self.released(key)
            return
        name = other, need.handle, key[0]
        if name not in self.sent:
            m = self.machine
            self.sent[name] = self.occupy(("out", other[0]), ("in", key[0]), m.message + need.bytes / m.bandwidth) + m.latency
            self.messages += 1
            self.bytes += need.bytes
        self.later(max(self.sent[name], self.time), self.released, key)

    # Data of a rank that are on its GPUs or its host.

    def copies(self, key, number, handle):
        """Where data of a job are, and since when; None: they come from another rank or from before the step."""
        other = self.owner(key, number)
        if other is None or other[0] != key[0]:
            return None
        return self.there.setdefault((other, handle), {self.at[other]: self.done.get(other, self.time)})

    def is_at(self, key, piece, place):
        return place in (self.copies(key, piece.writer, piece.handle) or {})

    def fetch(self, key, job, place):
        """Copy what a job reads to its place. Returns when it is there."""
        ready = self.time
        for need in job.before:
            if need.reads and need.bytes:
                ready = max(ready, self.copy(key, need.number, need.handle, need.bytes, place))
        return ready

    def copy(self, key, number, handle, size, place):
        where = self.copies(key, number, handle)
        if where is None:
            return self.time
        if place not in where:
            m, start = self.machine, max(self.time, self.wire[place])
            where[place] = self.wire[place] = start + m.copy + size / m.link
        return where[place]

    def share(self, key, job):
        """Send what all GPUs need, and this job has written."""
        for piece in job.data:
            if piece.home and piece.home[2] and "w" in piece.mode:
                for place in self.pools[key[0], "gpus"].places():
                    self.copy(key, key[1], piece.handle, piece.bytes, place)

    def occupy(self, out, into, spent):
        """Use the ways out of one place and into another one, as soon as both are free. Returns until when."""
        end = max(self.time, self.wire[out], self.wire[into]) + spent
        self.wire[out] = self.wire[into] = end
        return end

    def released(self, key):
        self.waiting[key] -= 1
        if self.waiting[key] > 0:
            return
        job = self.job[key]
        if job.kind in ("send", "receive"):
            self.half(key, job)
            return
        pool = self.place(key[0], job)
        if pool == (key[0], "gpus"):
            self.pools[pool].push(key, job)
        else:
            self.at[key] = pool
            self.later(self.fetch(key, job, pool), self.pools[pool].push, key, job)

    def half(self, key, job):
        """A send or a receive is ready: with the other half it is a message."""
        rank = key[0]
        name = (rank, job.group, job.priority) if job.kind == "send" else (job.group, rank, job.priority)
        other = self.halves.setdefault((name, job.kind == "receive"), collections.deque())
        if not other:
            self.halves.setdefault((name, job.kind == "send"), collections.deque()).append(key)
            return
        partner, m = other.popleft(), self.machine
        size = max(job.writes, self.job[partner].writes)
        end = self.occupy(("out", name[0]), ("in", name[1]), m.message + size / m.bandwidth)
        self.messages += 1
        self.bytes += size
        for half in (key, partner):
            self.later(end + m.latency, self.end, half)

    def end(self, key):
        self.done[key] = self.time
        self.finish = max(self.finish, self.time)
        self.open[key[0]] -= 1
        job = self.job[key]
        if self.at[key] not in self.pools and any(p.home and p.home[2] for p in job.data):
            self.share(key, job)
        for other, need in self.after.pop(key, ()):
            self.arrive(key, other, need)
        self.wake(key[0])


def divide(jobs, ranks):
    """The programs of several ranks, from that of one, and the rank of each job. All ranks wait and loop; of a loop each does
    its share."""
    groups = 1 + max((j.group for j in jobs), default=0)
    stages, seen = collections.Counter(j.stage for j in jobs if j.kind == "task" and j.group < 0), collections.Counter()
    programs, rank_of, here = [[] for _ in range(ranks)], {}, set()
    for job in jobs:
        if job.kind == "task":
            share = (job.group, groups) if job.group >= 0 else (seen[job.stage], stages[job.stage])
            seen[job.stage] += job.group < 0
            rank = share[0] * ranks // max(share[1], 1)
            rank_of[job.number] = rank
            programs[rank].append(job)
        elif job.kind == "acquire":  # of data that another rank has: nothing
            owners = {rank_of[n.number] for n in job.before if n.number in rank_of}
            for rank in owners or range(ranks):
                programs[rank].append(job)
        else:
            for rank in range(ranks):
                programs[rank].append(job._replace(work=job.work / ranks))
    return programs, rank_of


class Divided(Replay):
    """One rank's graph on several: a job may depend on one that is submitted later by another rank's main thread."""

    def __init__(self, programs, place, machine, rank_of):
        super().__init__(programs, place, machine)
        self.rank_of, self.early = rank_of, collections.defaultdict(list)

    def wait_for(self, key, job):
        here = []
        for need in job.before:
            rank = self.rank_of.get(need.number, key[0])
            if rank == key[0] or (rank, need.number) in self.job:
                here.append(need)
            elif need.reads:
                self.waiting[key] += 1
                self.early[rank, need.number].append((key, need))
        super().wait_for(key, job._replace(before=here))
        self.after[key] += self.early.pop(key, [])

    def elsewhere(self, number):
        rank = self.rank_of.get(number)
        return (rank, number) if (rank, number) in self.job else None


def predict(programs, cores, machine, gpus=0, streams=1, ranks=0):
    """Seconds of the step, and the replay."""
    def place(rank, job):
        return rank, "wire" if job.device == "WIRE" else "gpus" if job.device.startswith("GPU") else None

    if ranks > 1 and len(programs) == 1:
        programs, rank_of = divide(programs[0], ranks)
        replay = Divided(programs, place, machine, rank_of)
    else:
        replay = Replay(programs, place, machine)
    for r in range(len(programs)):
        replay.pools.update({(r, None): Cores(replay, cores), (r, "wire"): Cores(replay, 1),
                             (r, "gpus"): Gpus(replay, r, gpus, streams)})
    return replay.run(), replay


def numbers(text):
    return [int(part) for part in text.split(",")]


def main():
    parser = parser_of(__doc__)
    parser.add_argument("folder")
    parser.add_argument("--step", type=int, metavar="N", help="of the recorded steps (default: all)")
    parser.add_argument("--cores", type=numbers, default=[1], metavar="LIST", help="workers of a rank, e.g. 1,2,4 (default 1)")
    parser.add_argument("--gpus", type=numbers, metavar="LIST", help="GPUs of a rank (default: as recorded)")
    parser.add_argument("--streams", type=int, default=2, metavar="N", help="workers of a GPU (default 2)")
    parser.add_argument("--ranks", type=numbers, default=[1], metavar="LIST", help="divide a recorded rank so")
    parser.add_argument("--weak", type=numbers, metavar="LIST", help="so many ranks with such a box each")
    parser.add_argument("--particles", type=int, metavar="N", help="of the recorded box, for --weak")
    parser.add_argument("--layout", default="auto", choices=("auto", "slabs", "pencils"), help="for --weak: gravity.mesh_layout")
    parser.add_argument("--parts", default="", metavar="STAGES", help="stages whose tasks idle cores divide")
    parser.add_argument("--overhead", type=float, metavar="US", help="of StarPU, for each task (default: as recorded)")
    parser.add_argument("--bandwidth", type=float, default=25.0, metavar="GB/S", help="between ranks (default 25)")
    parser.add_argument("--link", type=float, default=300.0, metavar="GB/S", help="between GPUs of a rank (default 300)")
    parser.add_argument("--copy", type=float, default=40.0, metavar="US", help="a copy between GPUs, and its bytes (default 40)")
    parser.add_argument("--start", type=float, default=10.0, metavar="US", help="from when a GPU's task can begin (default 10)")
    parser.add_argument("--message", type=float, default=15.0, metavar="US", help="of the sending thread, each (default 15)")
    arguments = parser.parse_args()
    if arguments.weak and not arguments.particles:
        parser.error("--weak needs --particles")
    try:
        show(arguments)
    except FAULTS as error:
        fail(f"'{arguments.folder}': {explain(error)}")


def name_of(ranks, cores, gpus):
    return f"{ranks} ranks of {cores} cores" + (f" and {gpus} GPUs" if gpus else "")


def show_weak(a, programs, machine):
    """Print the efficiency of many ranks that each have the recorded box."""
    groups = 1 + max(j.group for j in programs[0])
    for cores, gpus in itertools.product(a.cores, a.gpus):
        alone = predict(programs, cores, machine, gpus, a.streams)[0]
        for ranks in a.weak:
            kinds = messages(a.particles, a.particles / groups, ranks, a.layout)
            program = with_messages(programs[0], kinds, machine, ranks, groups * ranks)
            time, replay = predict([program], cores, machine, gpus, a.streams)
            print(f"{name_of(ranks, cores, gpus)}: {1e3 * time:.3f} ms, "
                  f"efficiency {100 * alone / time:.1f} %, {sum(k.messages for k in kinds.values()):.0f} messages, "
                  f"{1e-6 * sum(k.bytes for k in kinds.values()):.1f} MB, "
                  f"sending {100 * replay.pools[0, 'wire'].busy / time:.0f} %")


def show(a):
    """Print what was recorded, and a line for each prediction."""
    programs, seconds, overhead = read_graph(a.folder, a.step, [s for s in a.parts.split(",") if s])
    work = sum(j.work for p in programs for j in p if j.kind in ("task", "loop"))
    tasks = sum(j.kind == "task" for p in programs for j in p)
    recorded = max(len({j.device for j in p if j.device.startswith("GPU")}) for p in programs)
    if not a.gpus:
        a.gpus = [recorded]
    if recorded and 0 in a.gpus:
        raise ValueError("its tasks ran on GPUs: --gpus 0 cannot run them")
    print(f"recorded: {1e3 * seconds:.3f} ms, {len(programs)} rank{'s' if len(programs) > 1 else ''}, {tasks} tasks,"
          f" {1e3 * work:.3f} ms of work, {1e6 * overhead:.1f} us between two tasks")
    machine = Machine(overhead if a.overhead is None else 1e-6 * a.overhead, bandwidth=1e9 * a.bandwidth, link=1e9 * a.link,
                      message=1e-6 * a.message, copy=1e-6 * a.copy, start=1e-6 * a.start)
    if a.weak:
        show_weak(a, programs, machine)
        return
    for ranks, cores, gpus in itertools.product(a.ranks, a.cores, a.gpus):
        time, replay = predict(programs, cores, machine, gpus, a.streams, ranks)
        count = max(ranks, len(programs))
        busy = work / time / max(count * (cores + gpus), 1)
        print(f"{name_of(count, cores, gpus)}: {1e3 * time:.3f} ms, {100 * busy:.1f} % busy,"
              f" {replay.messages} messages, {replay.bytes} bytes")


if __name__ == "__main__":
    main()
