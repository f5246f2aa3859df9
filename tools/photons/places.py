# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the tasks of a replay run: cores, and GPUs under the scheduler owner_computes (src/runtime/owner_computes.c)."""

import collections
import heapq


class Machine:
    """How long messages and tasks take besides their work (s, bytes/s)."""

    # A copy between GPUs takes `copy` of the threads that begin it, and its bytes. A task of a GPU begins `start` after it can.
    def __init__(self, overhead=0.0, latency=2e-6, bandwidth=25e9, link=300e9, message=15e-6, submission=15e-6, copy=4e-5,
                 start=1e-5):
        self.overhead, self.latency, self.bandwidth, self.link = overhead, latency, bandwidth, link
        self.message, self.submission = message, submission  # of the thread that sends, and of the main thread
        self.copy, self.start = copy, start


class Cores:
    """Cores. Those without a task help with tasks that have parts."""

    def __init__(self, replay, size):
        self.replay, self.size = replay, size
        self.queue, self.left, self.parts = [], {}, {}
        self.rate, self.now, self.version, self.busy = {}, 0.0, 0, 0.0

    def advance(self, time):
        for job, rate in self.rate.items():
            self.left[job] -= rate * (time - self.now)
        self.busy += sum(self.rate.values()) * (time - self.now)
        self.now = time

    def set_rates(self):
        self.rate = dict.fromkeys(self.left, 1.0)
        helpers = self.size - len(self.left)
        open_to = sorted((j for j in self.left if self.parts[j] > 1), key=self.parts.get)
        for k, job in enumerate(open_to):
            extra = min(helpers / (len(open_to) - k), self.parts[job] - 1)
            self.rate[job] = 1.0 + extra
            helpers -= extra
        self.version += 1

    def push(self, key, job):
        heapq.heappush(self.queue, (-job.priority, next(self.replay.count), key))
        self.fill()

    def fill(self):
        self.advance(self.replay.time)
        while self.queue and len(self.left) < self.size:
            key = heapq.heappop(self.queue)[2]
            job = self.replay.job[key]
            self.left[key] = job.work + self.replay.machine.overhead
            self.parts[key] = job.parts
        self.set_rates()
        if self.left:
            end, key = min((self.now + max(left, 0.0) / self.rate[job], job) for job, left in self.left.items())
            self.replay.later(end, self.ended, self.version, key)

    def ended(self, version, key):
        if version != self.version:
            return
        self.advance(self.replay.time)
        del self.left[key], self.rate[key]
        self.replay.end(key)
        self.fill()


HELD = 2  # tasks that a stream has: one that runs, and one that is fetched (STARPU_CUDA_PIPELINE)
WRITTEN = 16  # bytes that a task writes count as so many that it reads: see nearest()
STREAMS_LEAST = 3  # of which one is left to other tasks while long tasks run


class Gpu:
    """One GPU: tasks that wait for it, by their kind, the streams with the tasks that they hold, and those that were started, of
    which the first has the GPU."""

    def __init__(self, at, streams):
        self.at = at
        self.queue = {"owned": [], "free": [], "lasting": []}
        self.streams = [collections.deque() for _ in range(streams)]
        self.started, self.running, self.busy = collections.deque(), 0, 0.0

    def may_last(self, alone):
        return alone or len(self.streams) < STREAMS_LEAST or self.running + 1 < len(self.streams)

    def waiting(self):
        return sum(map(len, self.queue.values()))


class Gpus:
    """The GPUs of a rank. A task runs where its home is; one without a home where its data are. GPUs with nothing to do take
    tasks without a home, and long ones, from the others."""

    def __init__(self, replay, rank, count, streams):
        self.replay, self.rank = replay, rank
        self.gpu = [Gpu((rank, g), streams) for g in range(count)]
        self.kind, self.here = {}, set()  # of a task; tasks whose data are there and that were not started

    def places(self):
        return [g.at for g in self.gpu]

    def push(self, key, job):
        count = len(self.gpu)
        g = self.gpu[job.home[0] * count // job.home[1]] if job.home else self.nearest(key, job)
        if job.home:
            self.replay.fetch(key, job, g.at)
        self.kind[key] = "free" if not job.home else "lasting" if job.lasting and count > 1 else "owned"
        order = {"owned": 0, "free": 1, "lasting": 2}[self.kind[key]]
        heapq.heappush(g.queue[self.kind[key]], (-job.priority, order, next(self.replay.count), key))
        self.serve()

    def nearest(self, key, job):
        def bytes_at(g):
            return sum(p.bytes * (WRITTEN if "w" in p.mode else 1) for p in job.data if self.replay.is_at(key, p, g.at))
        return max(self.gpu, key=lambda g: (bytes_at(g), -g.waiting()))

    def serve(self):
        """Give tasks to streams that have room, those that hold fewest first."""
        for held in range(HELD):
            for g in self.gpu:
                for stream in g.streams:
                    if len(stream) == held:
                        self.give(g, stream)

    def give(self, g, stream):
        key = self.take(g, g)
        if key is None and g.waiting() == 0:
            other = self.victim(g)
            key = self.take(other, g) if other else None
        if key is None:
            return
        self.replay.at[key] = g.at
        job = self.replay.job[key]
        g.running += self.kind[key] == "lasting"
        stream.append(key)
        there = self.replay.fetch(key, job, g.at)
        self.replay.later(max(there, self.replay.time) + self.replay.machine.start, self.fetched, g, stream, key)

    def take(self, g, own):
        kinds = ["free"] + (["owned"] if g is own else []) + (["lasting"] if own.may_last(len(self.gpu) == 1) else [])
        heads = [g.queue[k][0] + (k,) for k in kinds if g.queue[k]]
        return heapq.heappop(g.queue[min(heads)[4]])[3] if heads else None

    def victim(self, own):
        """The GPU with most tasks that another one may take: a long one where it would be the second one to wait."""
        def open_tasks(g):
            lasting = len(g.queue["lasting"])
            return len(g.queue["free"]) + (lasting if lasting > 1 and own.may_last(False) else 0)
        most = max((g for g in self.gpu if g is not own), key=open_tasks, default=None)
        return most if most and open_tasks(most) else None

    def fetched(self, g, stream, key):
        self.here.add(key)
        self.start(g, stream)

    def start(self, g, stream):
        """Start the first task of a stream if its data are there."""
        if not stream or stream[0] not in self.here:
            return
        self.here.remove(stream[0])
        g.started.append((stream[0], stream))
        if len(g.started) == 1:
            self.work(g)

    def work(self, g):
        work = self.replay.job[g.started[0][0]].work
        g.busy += work
        self.replay.later(self.replay.time + work, self.ended, g)

    def ended(self, g):
        key, stream = g.started.popleft()
        stream.popleft()
        g.running -= self.kind.pop(key) == "lasting"
        if g.started:
            self.work(g)
        self.start(g, stream)
        self.replay.end(key)
        self.serve()
