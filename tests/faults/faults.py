# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs of the program with one fault each: what comes of them?

usage: faults.py PROGRAM INJECT [--trials N] [--first N] [--seconds S] [--seed K]
                 [--only KIND] [--system SYSTEM] [--show VERDICT]

INJECT is the library of tests/faults/inject.c. Each trial runs the program on one of some systems
(particles in a box with steps of one length or with block steps, an isolated system, gas) with one
fault, at a random place or moment. The verdict is `right` if the program ends well with files that have the same
bytes as those of an undisturbed run, or `ended` if it ends with one line of error (or of a signal), a
nonzero exit code, no half file under a final name and no unfinished file (unless it was killed); from
what is left a second run, without a fault, must make the same bytes. `taken` are
damaged initial conditions in a format without checksums with which a run ends well. Everything else
is a finding: it is printed with its seed, and its folder stays. Exit code 1 if there is a finding.
"""

import argparse
import collections
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import h5py
import numpy

LIMIT = 300  # seconds after which a run counts as hanging; another process may have the cores

BOX = """\
[box]
size = 30
npart_side = 16
[ic]
z_init = 24
[time]
z_end = 0
step = fixed
steps = 12
[output]
dir = run
redshifts = 4, 0
image_pixels = 64
checkpoint_minutes = 1e-6
[runtime]
group_size = 2100
timeout = 3
"""
BLOCK = BOX.replace('step = fixed\nsteps = 12', 'step = block').replace('z_end = 0', 'z_end = 1') \
    .replace('redshifts = 4, 0', 'redshifts = 4, 1')
ISOLATED = """\
[box]
boundary = isolated
[ic]
source = galaxy
[galaxy]
model = plummer
particles = 2048
[gravity]
softening = 0.1
[time]
step = fixed
steps = 12
end = 12
[output]
dir = run
interval = 6
checkpoint_minutes = 1e-6
[runtime]
group_size = 432
timeout = 3
"""
GAS = """\
[run]
system = gas
[ic]
source = collapse
[gas]
root = 16, 16, 16
x_low = outflow
x_high = outflow
y_low = outflow
y_high = outflow
z_low = outflow
z_high = outflow
levels = 1
flag_density = 0.5
batch = 8
gravity = self
[time]
end = 0.3
[output]
dir = run
times = 0.15, 0.3
image_pixels = 64
checkpoint_minutes = 1e-6
[runtime]
timeout = 3
"""
SYSTEMS = {'box': BOX, 'block': BLOCK, 'isolated': ISOLATED, 'gas': GAS}
READ_CONFIG = """\
[ic]
source = gadget
file = {}
[time]
z_end = 1
step = fixed
steps = 8
[output]
dir = run
image_pixels = 64
[runtime]
group_size = 2100
"""
RESULT = re.compile(r'((snapshot|gas|fof_subhalo_tab|powerspec|massfunc|density|slice)_\d{3}\.\w+|config-used\.ini)$')
# Signs of a library's own end. What else mpirun says of its processes is mpirun's.
LIBRARY = re.compile(r'\[starpu\]|libstarpu|HDF5-DIAG|[Aa]ssertion|backtrace|received signal|fftw:|malloc|'
                     r'terminate called|free\(\)|corrupted')


def contents(path):
    """The bytes of a file, of an HDF5 file all values in it; but not what says when the file was made."""
    if path.suffix != '.hdf5':
        return re.sub(rb'# provenance .*\n', b'', path.read_bytes())
    values = {}
    gas = path.name.startswith('gas')

    def take(name, thing):
        if name.startswith('Provenance'):
            return
        for key, value in thing.attrs.items():
            if gas and not name and key in ('wall_seconds', 'xxh3_attributes'):
                continue  # how long the run took so far, and what follows from that
            values[name, key] = numpy.asarray(value).tobytes()
        if isinstance(thing, h5py.Dataset):
            values[name] = str(thing.dtype), thing.shape, thing[...].tobytes()
    try:
        with h5py.File(path) as file:
            take('', file)
            file.visititems(take)
    except (OSError, RuntimeError) as error:
        return f'unreadable: {error}'
    return values


class Finding(Exception):
    """What no run may do."""


class Run:
    """One start of the program and what it said."""

    def __init__(self, trials, folder, *arguments, ranks=1, inject=None, faulty_rank=None,
                 limits=None, disturb=None, wrap=(), blocks=None):
        environment = dict(os.environ, STARPU_NCPU='1' if ranks > 1 else '2')
        command = [*wrap, str(trials.program), '-q', *arguments, 'config.ini']
        if ranks > 1:
            variables = ' '.join(f'{name}={shlex.quote(value)}' for name, value in inject.items()) \
                if inject else ''
            limit = f'ulimit -f {blocks}; ' if blocks is not None else ''
            script = (f'rank=$OMPI_COMM_WORLD_RANK; echo $$ >pid.$rank; [ $rank = {faulty_rank} ] && '
                      f'export {variables}; {limit}exec "$@"')
            command = ['mpirun', '--oversubscribe', '--bind-to', 'none', '-n', str(ranks),
                       'sh', '-c', script, 'sh', *command]
        else:
            environment.update(inject or {})
        for path in folder.glob('pid.*'):
            path.unlink()
        first = not (folder / 'err').exists()
        errors = folder / ('err' if first else 'err-after')
        with open(folder / 'out', 'wb') as out, open(errors, 'wb') as err:
            process = subprocess.Popen(command, cwd=folder, env=environment, stdout=out, stderr=err,
                                       stdin=subprocess.DEVNULL, preexec_fn=limits,
                                       start_new_session=True)
            self.hangs = True
            try:
                if disturb:
                    disturb(process)
                self.code = process.wait(LIMIT)
                self.hangs = False
            except subprocess.TimeoutExpired:
                self.code = None
            finally:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                process.wait()
                if self.hangs:  # mpirun that is killed leaves its ranks
                    for path in folder.glob('pid.*'):
                        subprocess.run(['kill', '-KILL', path.read_text().strip()], check=False,
                                       stderr=subprocess.DEVNULL)
        if ranks > 1:
            self.wait_for_ranks(folder)
        self.ranks = ranks
        self.said = errors.read_text(errors='replace').splitlines()
        self.ours = [line for line in self.said
                     if line.startswith('photons-starpu: ') and 'photons-starpu: warning: ' not in line]
        self.others = [line for line in self.said if not line.startswith('photons-starpu: ')
                       and (ranks == 1 or LIBRARY.search(line))]


    @staticmethod
    def wait_for_ranks(folder):
        """mpirun may end some moments before the ranks that it has killed."""
        pids = [path.read_text().strip() for path in folder.glob('pid.*')]
        for _ in range(500):
            if not any(pid and is_alive(pid) for pid in pids):
                return
            time.sleep(0.02)
        raise Finding('mpirun has ended, but a rank has not')


def is_alive(pid):
    try:
        return ') Z ' not in pathlib.Path(f'/proc/{pid}/stat').read_text()
    except OSError:
        return False


class Machine:
    """What all trials have in common: the program, a folder, and what can be done here."""

    def __init__(self, options):
        self.program = pathlib.Path(options.program).resolve()
        self.library = pathlib.Path(options.inject).resolve() if options.inject else None
        self.work = pathlib.Path(tempfile.mkdtemp(prefix='photons-faults-'))
        os.environ.update(STARPU_HOME=str(self.work), STARPU_SILENT='1', STARPU_CATCH_SIGNALS='0',
                          STARPU_WORKERS_NOBIND='1', STARPU_MPI_NOBIND='1',
                          OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1')
        self.mpi = shutil.which('mpirun') and subprocess.run(
            ['mpirun', '--oversubscribe', '-n', '2', 'true'], stderr=subprocess.DEVNULL,
            check=False).returncode == 0
        self.mounts = subprocess.run(['unshare', '-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt'],
                                     stderr=subprocess.DEVNULL, check=False).returncode == 0 \
            if shutil.which('unshare') else False


class Trials:
    """Trials of one system, beside an undisturbed run."""

    def __init__(self, machine, system):
        self.program, self.library, self.work = machine.program, machine.library, machine.work
        self.mpi, self.mounts = machine.mpi, machine.mounts
        self.config = SYSTEMS[system]
        self.clean = self.folder(f'clean-{system}')
        start = time.monotonic()
        if Run(self, self.clean).code != 0:
            sys.exit(f'the undisturbed run of {system} fails: ' + (self.clean / 'err').read_text())
        self.seconds = time.monotonic() - start
        self.reference = self.results(self.clean / 'run')
        self.largest = max(path.stat().st_size for path in (self.clean / 'run').iterdir())
        self.kilobytes = sum(path.stat().st_size for path in (self.clean / 'run').rglob('*')) // 1024
        self.counts = {}
        if self.library:
            start = time.monotonic()
            Run(self, self.clean, '--overwrite',
                inject={'LD_PRELOAD': str(self.library), 'INJECT_COUNT': str(self.work / 'counts')})
            self.seconds = time.monotonic() - start  # the first run measured the machine, too
            for line in (self.work / 'counts').read_text().splitlines():
                name, everywhere, program = line.split()
                self.counts[name] = {'any': int(everywhere), 'program': int(program)}
        self.halfway = self.folder(f'halfway-{system}') / 'run'
        Run(self, self.halfway.parent, '--steps', '4')
        if system == 'box':
            prepare(self)

    def folder(self, name):
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / 'config.ini').write_text(self.config)
        return folder

    @staticmethod
    def results(folder):
        return {path.name: contents(path) for path in folder.glob('*') if RESULT.match(path.name)}

    def compare(self, folder, complete):
        """All results there are those of the undisturbed run; if `complete`, none is missing."""
        found = self.results(folder / 'run')
        for name, data in found.items():
            if data != self.reference[name]:
                raise Finding(f'{name} differs from that of an undisturbed run')
        if complete and len(found) < len(self.reference):
            raise Finding(f'missing: {", ".join(sorted(set(self.reference) - set(found)))}')

    @staticmethod
    def rows(folder):
        """Each step once in the log."""
        try:
            lines = (folder / 'run/log/timings.csv').read_text().splitlines()[1:]
        except FileNotFoundError:
            return
        steps = [int(line.split(',')[0]) for line in lines]
        if steps != list(range(len(steps))):
            raise Finding(f'log/timings.csv has the steps {steps}')

    def judge(self, folder, run, killed=False, quiet_death=False):
        """The verdict of a run with a fault, and of the one after it."""
        if run.hangs:
            raise Finding('hangs')
        self.compare(folder, complete=run.code == 0)
        verdict = 'right'
        if run.code != 0:
            verdict = 'ended'
            if not killed and not quiet_death:
                self.judge_words(run)
            left = list((folder / 'run').rglob('*.tmp')) if (folder / 'run').exists() else []
            if left and not killed:
                raise Finding(f'unfinished: {", ".join(p.name for p in left)}')
        elif run.ours or run.others:
            raise Finding('exit code 0, but it says: ' + (run.ours + run.others)[0])
        self.recover(folder, run)
        return verdict

    @staticmethod
    def judge_words(run):
        if run.code < 0 or run.code in (134, 136, 139):
            raise Finding(f'dies by a signal: {run.code}')
        if len(run.ours) != 1:
            raise Finding(f'{len(run.ours)} lines of its own, not one, exit code {run.code}')
        if not re.match(r'photons-starpu: (error: |stopped by signal )', run.ours[0]):
            raise Finding(f'a strange line: {run.ours[0]}')
        if run.others:
            raise Finding(f'besides its own line: {run.others[0]}')

    def recover(self, folder, run):
        """Without a fault, go on from what is left."""
        checkpoint = any((folder / 'run' / name).exists()
                         for name in ('checkpoint.hdf5', 'checkpoint-previous.hdf5'))
        if run.code == 0 and not checkpoint:
            return
        again = Run(self, folder, '--restart' if checkpoint else '--overwrite', ranks=run.ranks)
        if again.hangs or again.code != 0:
            raise Finding(f'the run after it: exit code {again.code}, {again.said[-1:]}')
        self.compare(folder, complete=True)
        self.rows(folder)


KINDS = {}


def kind(weight, needs=lambda trials: True):
    def register(function):
        KINDS[function.__name__.replace('_', ' ')] = (function, weight, needs)
        return function
    return register


def at_random(choose, trials, factor=1.1):
    return choose.uniform(0.0, factor * trials.seconds)


@kind(3)
def signal_of_a_user(trials, folder, choose):
    number = choose.choice([signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGXCPU])
    moment = at_random(choose, trials)

    def disturb(process):
        time.sleep(moment)
        process.send_signal(number)
        if choose.random() < 0.3:
            process.send_signal(number)
    run = Run(trials, folder, disturb=disturb)
    # Before main() the kernel ends the process without a word.
    early = run.code == -number and not (folder / 'run').exists()
    return trials.judge(folder, run, quiet_death=early)


@kind(3)
def kill(trials, folder, choose):
    moment = at_random(choose, trials)

    def disturb(process):
        time.sleep(moment)
        process.kill()
    return trials.judge(folder, Run(trials, folder, disturb=disturb), killed=True)


@kind(2)
def limit_of_file_size(trials, folder, choose):
    most = choose.randrange(0, trials.largest)
    return trials.judge(folder, Run(trials, folder, limits=lambda: resource.setrlimit(
        resource.RLIMIT_FSIZE, (most, most))))


@kind(2, lambda trials: trials.mounts)
def full_disk(trials, folder, choose):
    kilobytes = choose.randrange(4, trials.kilobytes, 4)
    script = (f'mkdir run disk; mount -t tmpfs -o size={kilobytes}k none disk || exit 99; '
              'mount --bind disk run; "$@"; code=$?; umount run; cp -a disk/. run; exit $code')
    run = Run(trials, folder, wrap=['unshare', '-rm', 'sh', '-c', script, 'sh'])
    return trials.judge(folder, run)


def injected(function, source, always):
    def trial(trials, folder, choose):
        calls = max(1, trials.counts[function][source])
        number = choose.randint(1, calls)
        if always:  # the last calls, too, have a chance
            number = min(number, choose.randint(1, calls))
        value = f'{function}:{number}' + (':always' if always else '')
        folder.joinpath('inject').write_text(f'{value} from {source}\n')
        run = Run(trials, folder, inject={
            'LD_PRELOAD': str(trials.library), 'INJECT': value, 'INJECT_FROM': source})
        return trials.judge(folder, run)
    name = f'{function} fails' + (' from then on' if always else ' once') + \
        (', in the program' if source == 'program' else '')
    KINDS[name] = (trial, 1, lambda trials: trials.library and trials.counts[function][source] > 0)


for each in ('write', 'fsync', 'rename', 'open', 'malloc', 'pthread_create'):
    for forever in (False, True):
        injected(each, 'any', forever)
injected('link', 'any', False)
for forever in (False, True):
    injected('malloc', 'program', forever)


def damage(path, choose):
    """Change a file at random. @return whether any byte of it is different"""
    data = bytearray(path.read_bytes())
    before = bytes(data)
    how = choose.choice(['bit', 'bit', 'bits', 'zeros', 'cut', 'noise', 'swap'])
    place = choose.randrange(len(data))
    if how in ('bit', 'bits'):
        for _ in range(1 if how == 'bit' else choose.randint(2, 200)):
            data[choose.randrange(len(data))] ^= 1 << choose.randrange(8)
    elif how == 'zeros':
        end = min(len(data), place + choose.randint(1, 5000))
        data[place:end] = bytes(end - place)
    elif how == 'cut':
        del data[place:]
    elif how == 'noise':
        end = min(len(data), place + choose.randint(1, 5000))
        data[place:end] = choose.randbytes(end - place)
    else:
        other = choose.randrange(len(data))
        data[place:place + 8], data[other:other + 8] = data[other:other + 8], data[place:place + 8]
    path.write_bytes(data)
    return bytes(data) != before


@kind(2)
def newest_checkpoint_damaged(trials, folder, choose):
    shutil.copytree(trials.halfway, folder / 'run')
    damage(folder / 'run/checkpoint.hdf5', choose)
    run = Run(trials, folder, '--restart')
    if run.code != 0 or run.others:
        raise Finding(f'does not go on from the checkpoint before: exit code {run.code}')
    trials.compare(folder, complete=True)
    trials.rows(folder)
    return 'right'


@kind(2)
def both_checkpoints_damaged(trials, folder, choose):
    shutil.copytree(trials.halfway, folder / 'run')
    for name in ('checkpoint.hdf5', 'checkpoint-previous.hdf5'):
        damage(folder / 'run' / name, choose)
    run = Run(trials, folder, '--restart')
    if run.hangs:
        raise Finding('hangs')
    if run.code == 0 and not run.others:  # bytes that mean nothing
        trials.compare(folder, complete=True)
        return 'right'
    if run.code != 3 or len(run.ours) != 1 or run.others:
        raise Finding(f'exit code {run.code}, {len(run.ours)} lines of its own')
    trials.compare(folder, complete=False)
    return 'ended'


def initial_conditions(name):
    """A format that has checksums is never believed if it is damaged; others may be."""
    def trial(trials, folder, choose):
        shutil.copy(trials.initial[name], folder / name)
        damage(folder / name, choose)
        (folder / 'config.ini').write_text(READ_CONFIG.format(name))
        run = Run(trials, folder)
        if run.hangs:
            raise Finding('hangs')
        if run.code == 0 and not run.ours and not run.others:
            found = trials.results(folder / 'run')
            same = all(found.get(k) == v for k, v in trials.initial_results[name].items()
                       if k != 'config-used.ini')
            if name.endswith('hdf5') and not same:
                raise Finding('damaged, but taken, and the results are others')
            return 'right' if same else 'taken'
        if run.code not in (1, 3) or len(run.ours) != 1 or run.others:
            raise Finding(f'exit code {run.code}, {len(run.ours)} lines of its own')
        return 'ended'
    KINDS[f'initial conditions damaged, {name}'] = (trial, 1, lambda trials: True)


initial_conditions('ics.gadget2')
initial_conditions('ics.hdf5')


def wait_for(path):
    for _ in range(3000):
        if path.exists():
            return path
        time.sleep(0.01)
    raise Finding(f'{path.name} does not appear')


def wait_for_pids(folder, ranks):
    paths = [wait_for(folder / f'pid.{r}') for r in range(ranks)]
    while not all(path.read_text().endswith('\n') for path in paths):
        time.sleep(0.01)
    return [int(path.read_text()) for path in paths]


def on_a_rank(name, number, weight):
    def trial(trials, folder, choose):
        rank, moment = choose.randrange(2), at_random(choose, trials)

        def disturb(process):
            pids = wait_for_pids(folder, 2)
            if number != signal.SIGTERM:  # during MPI_Init() the launcher has the word
                wait_for(folder / 'run/.lock')
            time.sleep(moment)
            try:
                os.kill(pids[rank], number)
            except ProcessLookupError:
                pass
        run = Run(trials, folder, ranks=2, disturb=disturb)
        if number == signal.SIGSTOP:
            # The launcher wakes the stopped rank to end it. The rank may first find that its file is gone.
            run.ours = [line for line in run.ours if not line.endswith(f'(rank {rank})')]
        if number == signal.SIGSTOP and run.code != 0 and not any(
                re.search(f'(rank {rank} .*|a rank) has not answered', line) for line in run.ours):
            # After MPI_Finalize() no rank is left to name it. Then all results are there.
            try:
                trials.compare(folder, complete=True)
            except Finding as finding:
                raise Finding(f'the stopped rank is not named, and {finding}') from finding
            return 'right'
        return trials.judge(folder, run, killed=number == signal.SIGKILL or
                            (number == signal.SIGSTOP and len(run.ours) == 1),
                            quiet_death=number == signal.SIGTERM and not (folder / 'run').exists())
    KINDS[name] = (trial, weight, lambda trials: trials.mpi)


on_a_rank('a rank killed', signal.SIGKILL, 1)
on_a_rank('a rank stopped', signal.SIGSTOP, 1)
on_a_rank('a rank gets SIGTERM', signal.SIGTERM, 1)


@kind(2, lambda trials: trials.mpi)
def limit_of_file_size_on_two_ranks(trials, folder, choose):
    blocks = choose.randrange(0, trials.largest) // 512
    return trials.judge(folder, Run(trials, folder, ranks=2, blocks=blocks))


@kind(2, lambda trials: trials.mpi and trials.library)
def a_call_fails_on_a_rank(trials, folder, choose):
    function = choose.choice(['write', 'fsync', 'rename', 'open', 'malloc'])
    source = 'program' if function == 'malloc' else 'any'
    number = choose.randint(1, max(1, trials.counts[function][source]))
    value = f'{function}:{number}'
    rank = choose.randrange(2)
    folder.joinpath('inject').write_text(f'{value} from {source} on rank {rank}\n')
    run = Run(trials, folder, ranks=2, faulty_rank=rank, inject={
        'LD_PRELOAD': str(trials.library), 'INJECT': value, 'INJECT_FROM': source})
    return trials.judge(folder, run)


def prepare(trials):
    """Initial conditions in two formats."""
    hdf5 = trials.clean / 'run/snapshot_000.hdf5'
    trials.initial = {'ics.hdf5': hdf5, 'ics.gadget2': trials.work / 'ics.gadget2'}
    write_gadget2(hdf5, trials.initial['ics.gadget2'])
    trials.initial_results = {}
    for name, path in trials.initial.items():
        folder = trials.folder('initial')
        shutil.copy(path, folder / name)
        (folder / 'config.ini').write_text(READ_CONFIG.format(name))
        if Run(trials, folder).code != 0:
            sys.exit(f'{name}: ' + (folder / 'err').read_text())
        trials.initial_results[name] = trials.results(folder / 'run')


def write_gadget2(snapshot, path):
    """Our snapshot in Gadget's binary format 1."""
    with h5py.File(snapshot) as file:
        header, part = file['Header'].attrs, file['PartType1']
        n = int(header['NumPart_Total'][1])
        values = struct.pack('<6i6d2d2i6iii4d', 0, n, 0, 0, 0, 0, 0.0, float(header['MassTable'][1]),
                             0.0, 0.0, 0.0, 0.0, float(header['Time']), float(header['Redshift']),
                             0, 0, 0, n, 0, 0, 0, 0, 0, 1, float(header['BoxSize']),
                             float(header['Omega0']), float(header['OmegaLambda']),
                             float(header['HubbleParam'])).ljust(256, b'\0')
        blocks = [values, part['Coordinates'][...].astype('<f4').tobytes(),
                  part['Velocities'][...].astype('<f4').tobytes(),
                  part['ParticleIDs'][...].astype('<u4').tobytes()]
    with open(path, 'wb') as out:
        for block in blocks:
            size = struct.pack('<I', len(block))
            out.write(size + block + size)


def show(name, number, folder):
    """What a trial did, and what the last run in it said."""
    print(f'{name}, trial {number}:')
    for file in ('inject', 'err', 'err-after'):
        if (folder / file).exists():
            lines = (folder / file).read_text(errors='replace').splitlines()
            print('\n'.join('    ' + line[:300] for line in lines[:12]))
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('inject', nargs='?', default='')
    parser.add_argument('--trials', type=int, default=100)
    parser.add_argument('--first', type=int, default=0, help='number of the first trial')
    parser.add_argument('--seconds', type=float, default=1e9)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--only', default='', help='kinds of faults whose names contain this text')
    parser.add_argument('--system', default='', choices=['', *SYSTEMS], help='one system only')
    parser.add_argument('--show', default='', help='a verdict whose trials are shown')
    options = parser.parse_args()
    start = time.monotonic()
    machine = Machine(options)
    systems = {'box': Trials(machine, 'box')}
    trials = systems['box']
    kinds = [k for k, (_, _, needs) in KINDS.items() if needs(trials) and options.only in k]
    absent = [k for k, (_, _, needs) in KINDS.items() if not needs(trials) and options.only in k]
    weights = [KINDS[k][1] for k in kinds]
    counts = collections.defaultdict(collections.Counter)
    of_systems = collections.defaultdict(collections.Counter)
    findings = 0
    signal.signal(signal.SIGTERM, lambda *_: setattr(options, 'seconds', 0))  # after this trial
    for number in range(options.first, options.first + options.trials):
        if time.monotonic() - start > options.seconds:
            break
        choose = random.Random(f'{options.seed}-{number}')
        # First each kind once, in an order of chance.
        order = random.Random(options.seed).sample(kinds, len(kinds))
        name = order[number] if number < len(order) else choose.choices(kinds, weights)[0]
        # Each system in its turn; those of damaged initial conditions are those of a box.
        system = options.system or list(SYSTEMS)[number % len(SYSTEMS)]
        if name.startswith('initial conditions'):
            system = 'box'
        if system not in systems:
            systems[system] = Trials(machine, system)
        trials = systems[system]
        folder = trials.folder(f'trial-{options.seed}-{number}')
        try:
            verdict = KINDS[name][0](trials, folder, choose)
            if verdict == options.show:
                show(f'{name}, {system}', number, folder)
            shutil.rmtree(folder)
        except Finding as finding:
            verdict = 'finding'
            findings += 1
            print(f'FAILED, seed {options.seed}: {finding}; the files are in {folder}')
            show(f'{name}, {system}', number, folder)
        counts[name][verdict] += 1
        of_systems[system][verdict] += 1
    verdicts = ['right', 'ended', 'taken', 'finding']
    print('| fault | trials | ' + ' | '.join(verdicts) + ' |')
    print('| --- |' + ' ---: |' * (len(verdicts) + 1))
    for name, c in [*sorted(counts.items()), *sorted(of_systems.items())]:
        print(f'| {name} | {sum(c.values())} | ' + ' | '.join(str(c[v]) for v in verdicts) + ' |')
    total = collections.Counter()
    for c in counts.values():
        total.update(c)
    print(f'| all | {sum(total.values())} | ' + ' | '.join(str(total[v]) for v in verdicts) + ' |')
    seconds = ', '.join(f'{t.seconds:.2f} s' for t in systems.values())
    print(f'{time.monotonic() - start:.0f} s, seed {options.seed}; a run of {", ".join(systems)}: {seconds}')
    if absent:
        print('not tried here: ' + '; '.join(absent))
    if not findings:
        shutil.rmtree(machine.work)
    sys.exit(1 if findings else 0)


if __name__ == '__main__':
    main()
