# SPDX-License-Identifier: GPL-3.0-or-later
"""Start the program, follow its steps, and get its results."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from .files import Run

POLL_SECONDS = 0.2


def _message(errors):
    """The last error line; all lines where they are problems of the parameters."""
    lines = errors.splitlines()
    if lines and lines[-1].endswith("nothing was run"):
        return "; ".join(lines)
    ours = [line for line in lines if line.startswith("photons-starpu: ")]
    wanted = [line for line in ours if "error: " in line] or ours or lines
    return wanted[-1] if wanted else ""


class RunFailed(RuntimeError):
    """The program ended with an error. Attributes: returncode, and errors, all that it wrote to
    standard error."""

    def __init__(self, returncode, errors):
        super().__init__(_message(errors) or f"photons-starpu ended with code {returncode}")
        self.returncode, self.errors = returncode, errors


def _text(value):
    """A value of a parameter as a config.ini has it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_text, value))
    return str(value)


def _find(program):
    """The path of the program: as named, or in the clone that holds this package, or in PATH."""
    clone = os.path.join(os.path.dirname(__file__), "..", "..", "photons-starpu")
    candidates = [program] if program else [os.path.normpath(clone), "photons-starpu"]
    for candidate in candidates:
        path = shutil.which(candidate)
        if path:
            return path
    raise FileNotFoundError(f"no program {' or '.join(candidates)}: build it, or name it: program=")


def _dry_run(command):
    """What the program would do, as it says. Raises RunFailed if the parameters are wrong."""
    dry = subprocess.run(
        [*command, "--dry-run"], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    if dry.returncode:
        raise RunFailed(dry.returncode, dry.stderr)
    return dry.stdout


def _output_folder(command):
    """The output.dir of a run. Raises RunFailed if the parameters are wrong."""
    told = _dry_run(command)
    section = re.search(r"^\[output\]\n(.*?)(?=^\[|\Z)", told, re.MULTILINE | re.DOTALL)
    return re.search(r"^dir = (.*?)(?:\s+[;#].*)?$", section[1], re.MULTILINE)[1]


class RunningRun(Run):
    """A run whose program was started. As Run, its outputs are those that are there by now."""

    def __init__(self, folder, command, environment=None):
        super().__init__(folder)
        self._log, self._errors = self._log_state(), tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            env={**os.environ, **(environment or {})},
        )

    def _log_state(self):
        try:
            state = os.stat(os.path.join(self.folder, "log", "timings.csv"))
        except FileNotFoundError:
            return None
        return state.st_ino, state.st_size, state.st_mtime_ns

    def _rows(self):
        """The steps in log/timings.csv as dictionaries; none while an older run's log stands."""
        if self._log_state() in (None, self._log):
            return []
        table = self.timings()
        return [dict(zip(table, row)) for row in zip(*table.values())]

    def steps(self):
        """Yield each step, a dictionary of the columns of log/timings.csv, as it ends. Raises
        RunFailed if the program does. After a restart, earlier steps come first."""
        last = -1
        while True:
            ended = self.process.poll() is not None
            for row in self._rows():
                if row["step"] > last:
                    last = row["step"]
                    yield row
            if ended:
                break
            time.sleep(POLL_SECONDS)
        self.wait()

    def wait(self):
        """Wait for the program's end, and return this run. Raises RunFailed if it failed."""
        code = self.process.wait()
        self._errors.seek(0)
        errors = self._errors.read()
        self.refresh()
        if code:
            raise RunFailed(code, errors)
        return self

    def stop(self):
        """Ask the program for a checkpoint and its end, as Ctrl-C does, and wait for it."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.process.wait()


def _command(config, set, program, options=()):
    settings = [f"--set={name}={_text(value)}" for name, value in (set or {}).items()]
    return [_find(program), *options, *settings, os.fspath(config)]


def output_folder(config, set=None, program=None):
    """The output.dir of a run with the arguments of start(), which is not started."""
    return _output_folder(_command(config, set, program))


def memory(config, set=None, program=None):
    """Bytes that a run with the arguments of start() takes of the host's memory, as its dry run foretells; 0: it does
    not say."""
    said = re.search(r"^  memory  *about ([0-9.]+) MB", _dry_run(_command(config, set, program)), re.MULTILINE)
    return float(said[1]) * 1e6 if said else 0.0


def has_gpus(program=None):
    """Whether the program was built for GPUs."""
    said = subprocess.run([_find(program), "--version"], capture_output=True, text=True).stdout
    return "CUDA" in said and not re.search(r"^CUDA +not built in", said, re.MULTILINE)


def start(config, set=None, program=None, ranks=1, options=(), environment=None, folder=None):
    """Start a run, and return it as a RunningRun at once.

    config  -- path of a config.ini
    set     -- parameters over those of config: {"section.key": value}; yes and no may be bool,
               lists may be lists
    program -- path of photons-starpu; None: that of the clone, or of PATH
    ranks   -- number of MPI ranks; more than one start mpirun
    options -- further options of the program, such as ("--overwrite",) or ("--restart",)
    environment -- variables of the environment over those of this process
    folder  -- output.dir of set, with which the parameters are not looked at before the program runs
    Raises FileNotFoundError without program, RunFailed for parameters that the program refuses."""
    command = _command(config, set, program, options)
    folder = folder or _output_folder(command)
    os.makedirs(folder, exist_ok=True)
    if ranks > 1:
        command = ["mpirun", "-n", str(ranks), *command]
    return RunningRun(folder, command, environment)


def run(config, set=None, program=None, ranks=1, options=(), on_step=None):
    """Start a run, follow it to its end, and return it as a Run with all its outputs.

    on_step -- called with each step as it ends, a dictionary of the columns of log/timings.csv
    Other arguments are those of start(). Raises RunFailed with the program's last error line. An
    exception here, such as Ctrl-C, stops the program, which leaves a checkpoint."""
    running = start(config, set, program, ranks, options)
    try:
        for step in running.steps():
            if on_step:
                on_step(step)
    except BaseException:
        running.stop()
        raise
    return Run(running.folder)
