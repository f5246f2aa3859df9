# SPDX-License-Identifier: GPL-3.0-or-later
"""Predict a step on other numbers of cores, GPUs and ranks, by a replay of its recorded task graph.

usage: replay.py FOLDER [--step N] [--cores LIST] [--gpus N] [--streams N] [--ranks LIST] [--weak LIST] [OPTION...]

FOLDER is the trace folder of a run with runtime.trace_steps. The main thread of each rank submits the recorded jobs one after the
other, with the times that it took, and waits where it waited. Tasks run for the recorded times, those of the highest
priority first. A run of one rank is divided for --ranks: groups, and the tasks of a stage that belong to none, in equal
shares; data that a task on another rank reads are a message. --weak: of so many ranks that each have a box like the recorded
one, which has no messages, with those that formulas say."""

import collections
import heapq
import itertools

from .modules import fail, parser_of
from .reading import FAULTS, explain
from .task_graph import read_graph
from .weak_scaling import messages, with_messages


class Pool:
    """Cores, or the streams of a GPU. Tasks of a GPU divide its time; cores without a task help with those that have parts."""

    def __init__(self, size, gpu):
        self.size, self.gpu = size, gpu
        self.queue, self.left, self.parts = [], {}, {}
        self.rate, self.now, self.version, self.busy = {}, 0.0, 0, 0.0

    def advance(self, time):
        for job, rate in self.rate.items():
            self.left[job] -= rate * (time - self.now)
        self.busy += sum(self.rate.values()) * (time - self.now)
        self.now = time

    def set_rates(self):
        count, self.rate = len(self.left), {}
        helpers = self.size - count if not self.gpu else 0
        open_to = sorted((j for j in self.left if self.parts[j] > 1), key=self.parts.get)
        for k, job in enumerate(open_to):
            extra = min(helpers / (len(open_to) - k), self.parts[job] - 1)
            self.rate[job] = 1.0 + extra
            helpers -= extra
        for job in self.left:
            self.rate.setdefault(job, 1.0 / count if self.gpu else 1.0)
        self.version += 1

    def next_end(self):
        return min(((self.now + max(left, 0.0) / self.rate[job], job) for job, left in self.left.items()), default=None)


class Machine:
    """How long messages and tasks take besides their work."""

    def __init__(self, overhead=0.0, latency=2e-6, bandwidth=25e9, link=200e9, message=15e-6, submission=15e-6):
        self.overhead, self.latency, self.bandwidth, self.link = overhead, latency, bandwidth, link
        self.message, self.submission = message, submission  # of the thread that sends, and of the main thread


class Replay:
    """All ranks' jobs in time. place(rank, job) is the pool of a job: (rank, None) cores, (rank, g) GPU g."""

    def __init__(self, programs, pools, place, machine):
        self.programs, self.pools, self.place, self.machine = programs, pools, place, machine
        self.time, self.events, self.count = 0.0, [], itertools.count()
        self.waiting, self.after, self.done = {}, collections.defaultdict(list), {}
        self.job, self.at = {}, {}
        self.next, self.blocked = [0] * len(programs), {}
        self.open = [0] * len(programs)  # submitted and not done
        self.wire, self.sent, self.messages, self.bytes = collections.defaultdict(float), {}, 0, 0
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
        return any((rank, n) in self.job and (rank, n) not in self.done for n, _, _ in job.before)

    def wake(self, rank):
        job = self.blocked.get(rank)
        if job and not self.must_wait(rank, job):
            del self.blocked[rank]
            self.later(self.time + job.late, self.step, rank)

    # Jobs.

    def submit(self, rank, job):
        key = rank, job.number
        self.job[key], self.at[key] = job, self.place(rank, job)
        self.open[rank] += 1
        self.waiting[key] = 1
        self.wait_for(key, job)
        self.released(key)
        if job.kind == "loop":
            self.blocked[rank] = job
        else:
            self.step(rank)

    def wait_for(self, key, job):
        for number, size, reads in job.before:
            other = self.owner(key, number)
            if other is None or other == key:
                continue
            if self.at[other] != self.at[key] and not reads:
                continue  # each place has a copy of its own
            self.waiting[key] += 1
            if other in self.done:
                self.arrive(other, key, size)
            else:
                self.after[other].append((key, size))

    def owner(self, key, number):
        """The job of that number: of the rank's own, or of another rank where one rank's graph is divided."""
        if (key[0], number) in self.job:
            return key[0], number
        return self.elsewhere(number) if self.elsewhere else None

    elsewhere = None

    def arrive(self, other, key, size):
        """The result of a job comes to the place of another one."""
        source, target = self.at[other], self.at[key]
        if source == target or size == 0:
            self.released(key)
            return
        end = self.sent.get((other, target, size))
        if end is None:
            m, between = self.machine, source[0] != target[0]
            spent = (m.message + size / m.bandwidth) if between else size / m.link
            out, into = (("out", at[0] if between else at) for at in (source, target))
            end = self.occupy(out, ("in", into[1]), spent) + m.latency
            self.sent[other, target, size] = end
            self.messages += between
            self.bytes += size if between else 0
        self.later(max(end, self.time), self.released, key)

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
        pool = self.pools[self.at[key]]
        heapq.heappush(pool.queue, (-job.priority, next(self.count), key))
        self.fill(pool)

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

    def fill(self, pool):
        pool.advance(self.time)
        while pool.queue and len(pool.left) < pool.size:
            key = heapq.heappop(pool.queue)[2]
            job = self.job[key]
            pool.left[key] = job.work + self.machine.overhead
            pool.parts[key] = job.parts
        pool.set_rates()
        following = pool.next_end()
        if following:
            self.later(following[0], self.ended, pool, pool.version, following[1])

    def ended(self, pool, version, key):
        if version != pool.version:
            return
        pool.advance(self.time)
        del pool.left[key], pool.rate[key]
        self.end(key)
        self.fill(pool)

    def end(self, key):
        self.done[key] = self.time
        self.finish = max(self.finish, self.time)
        self.open[key[0]] -= 1
        for other, size in self.after.pop(key, ()):
            self.arrive(key, other, size)
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
            owners = {rank_of[n] for n, _, _ in job.before if n in rank_of}
            for rank in owners or range(ranks):
                programs[rank].append(job)
        else:
            for rank in range(ranks):
                programs[rank].append(job._replace(work=job.work / ranks))
    return programs, rank_of


class Divided(Replay):
    """One rank's graph on several: a job may depend on one that is submitted later by another rank's main thread."""

    def __init__(self, programs, pools, place, machine, rank_of):
        super().__init__(programs, pools, place, machine)
        self.rank_of, self.early = rank_of, collections.defaultdict(list)

    def wait_for(self, key, job):
        here = []
        for number, size, reads in job.before:
            rank = self.rank_of.get(number, key[0])
            if rank == key[0] or (rank, number) in self.job:
                here.append((number, size, reads))
            elif reads:
                self.waiting[key] += 1
                self.early[rank, number].append((key, size))
        super().wait_for(key, job._replace(before=here))
        self.after[key] += self.early.pop(key, [])

    def elsewhere(self, number):
        rank = self.rank_of.get(number)
        return (rank, number) if (rank, number) in self.job else None


def predict(programs, cores, machine, gpus=0, streams=1, ranks=0):
    """Seconds of the step, the replay, and its pools."""
    recorded = {int(j.device[3:]) for p in programs for j in p if j.device.startswith("GPU")}
    groups = 1 + max((j.group for p in programs for j in p), default=0)

    def place(rank, job):
        if job.device == "WIRE":
            return rank, "wire"
        if not job.device.startswith("GPU"):
            return rank, None
        if len(recorded) == gpus:
            return rank, int(job.device[3:])
        return rank, (job.group * gpus // groups if job.group >= 0 else job.number % gpus)

    rank_of = None
    if ranks > 1 and len(programs) == 1:
        programs, rank_of = divide(programs[0], ranks)
    pools = {(r, None): Pool(cores, False) for r in range(len(programs))}
    pools.update({(r, "wire"): Pool(1, False) for r in range(len(programs))})
    devices = sorted(recorded) if len(recorded) == gpus else range(gpus)
    pools.update({(r, g): Pool(streams, True) for r in range(len(programs)) for g in devices})
    replay = Divided(programs, pools, place, machine, rank_of) if rank_of else Replay(programs, pools, place, machine)
    return replay.run(), replay, pools


def numbers(text):
    return [int(part) for part in text.split(",")]


def main():
    parser = parser_of(__doc__)
    parser.add_argument("folder")
    parser.add_argument("--step", type=int, metavar="N", help="of the recorded steps (default: all)")
    parser.add_argument("--cores", type=numbers, default=[1], metavar="LIST", help="workers of a rank, e.g. 1,2,4 (default 1)")
    parser.add_argument("--gpus", type=int, default=0, metavar="N", help="GPUs of a rank, where GPUs were recorded")
    parser.add_argument("--streams", type=int, default=2, metavar="N", help="workers of a GPU (default 2)")
    parser.add_argument("--ranks", type=numbers, default=[1], metavar="LIST", help="divide a recorded rank so")
    parser.add_argument("--weak", type=numbers, metavar="LIST", help="so many ranks with such a box each")
    parser.add_argument("--particles", type=int, metavar="N", help="of the recorded box, for --weak")
    parser.add_argument("--pencils", action="store_true", help="for --weak: gravity.mesh_layout = pencils")
    parser.add_argument("--parts", default="", metavar="STAGES", help="stages whose tasks idle cores divide")
    parser.add_argument("--overhead", type=float, metavar="US", help="of StarPU, for each task (default: as recorded)")
    parser.add_argument("--bandwidth", type=float, default=25.0, metavar="GB/S", help="between ranks (default 25)")
    parser.add_argument("--link", type=float, default=200.0, metavar="GB/S", help="between GPUs of a rank (default 200)")
    parser.add_argument("--message", type=float, default=15.0, metavar="US", help="of the sending thread, each (default 15)")
    arguments = parser.parse_args()
    if arguments.weak and not arguments.particles:
        parser.error("--weak needs --particles")
    try:
        show(arguments)
    except FAULTS as error:
        fail(f"'{arguments.folder}': {explain(error)}")


def show_weak(a, programs, machine):
    """Print the efficiency of many ranks that each have the recorded box."""
    groups = 1 + max(j.group for j in programs[0])
    for cores in a.cores:
        alone = predict(programs, cores, machine, a.gpus, a.streams)[0]
        for ranks in a.weak:
            kinds = messages(a.particles, a.particles / groups, ranks, a.pencils)
            program = with_messages(programs[0], kinds, machine, ranks, groups * ranks)
            time, _, pools = predict([program], cores, machine, a.gpus, a.streams)
            print(f"{ranks} ranks of {cores} cores" + (f" and {a.gpus} GPUs" if a.gpus else "") + f": {1e3 * time:.3f} ms, "
                  f"efficiency {100 * alone / time:.1f} %, {sum(k.messages for k in kinds.values()):.0f} messages, "
                  f"{1e-6 * sum(k.bytes for k in kinds.values()):.1f} MB, sending {100 * pools[0, 'wire'].busy / time:.0f} %")


def show(a):
    """Print what was recorded, and a line for each prediction."""
    programs, seconds, overhead = read_graph(a.folder, a.step, [s for s in a.parts.split(",") if s])
    work = sum(j.work for p in programs for j in p if j.kind in ("task", "loop"))
    tasks = sum(j.kind == "task" for p in programs for j in p)
    print(f"recorded: {1e3 * seconds:.3f} ms, {len(programs)} rank{'s' if len(programs) > 1 else ''}, {tasks} tasks,"
          f" {1e3 * work:.3f} ms of work, {1e6 * overhead:.1f} us between two tasks")
    machine = Machine(overhead if a.overhead is None else 1e-6 * a.overhead, bandwidth=1e9 * a.bandwidth, link=1e9 * a.link,
                      message=1e-6 * a.message)
    if a.weak:
        show_weak(a, programs, machine)
        return
    for ranks in a.ranks:
        for cores in a.cores:
            time, replay, pools = predict(programs, cores, machine, a.gpus, a.streams, ranks)
            width = sum(p.size for at, p in pools.items() if at[1] is None) + sum(isinstance(at[1], int) for at in pools)
            print(f"{max(ranks, len(programs))} ranks of {cores} cores" + (f" and {a.gpus} GPUs" if a.gpus else "") +
                  f": {1e3 * time:.3f} ms, {100 * work / time / max(width, 1):.1f} % busy, {replay.messages} messages,"
                  f" {replay.bytes} bytes")


if __name__ == "__main__":
    main()
