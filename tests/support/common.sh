# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by every script in tests/runs. It provides functions to state what a test needs, runs the
# test in a folder of its own, $work, which is removed at the end, and counts failures.
set -u
: "${PHOTONS:?the program}" "${PHOTONS_SOURCE:?the source folder}"
skip() {
  echo "skipped: $1"
  exit 77
}
[ -x "$PHOTONS" ] || { echo "error: $PHOTONS is not built"; exit 99; }
unit_tests=$(dirname "$PHOTONS")/tests/unit gpu_tests=$(dirname "$PHOTONS")/tests/gpu

# need_python MODULE...: skip the test unless $PYTHON can import the modules. Scripts may then
# import the modules of tools/.
need_python() {
  [ -n "${PYTHON:-}" ] || skip 'configure found no Python 3 (Debian package python3)'
  lacking=$("$PYTHON" "$PHOTONS_SOURCE/tools/needed_modules.py" "$@" 2>/dev/null) ||
    skip "$PYTHON does not run as Python 3"
  [ -z "$lacking" ] || skip "$PYTHON cannot import $lacking"
  PYTHONPATH=$PHOTONS_SOURCE/tools${PYTHONPATH:+:$PYTHONPATH}
  PYTHONDONTWRITEBYTECODE=1 # the source folder may be read-only
  export PYTHONPATH PYTHONDONTWRITEBYTECODE
}
# helper ARGUMENT...: run the Python script that has the test's name and stands beside it.
helper() { "$PYTHON" "$PHOTONS_SOURCE/tests/runs/$(basename "$0" .sh).py" "$@"; }
# support NAME ARGUMENT...: run a Python script of tests/support.
support() {
  script=$PHOTONS_SOURCE/tests/support/$1
  shift
  "$PYTHON" "$script" "$@"
}

# For several ranks; each test sets the number of workers itself.
need_mpi() {
  command -v mpirun >/dev/null || skip 'there is no mpirun'
  mpirun --oversubscribe -n 2 true 2>/dev/null || skip 'mpirun starts no two processes here'
}

# link_tools FOLDER TOOL...: make a folder that, as PATH, has only these tools.
link_tools() {
  folder=$1
  shift
  for tool; do ln -s "$(command -v "$tool")" "$folder/$tool"; done
}

# same_text FILE OTHER: succeeds if the texts are the same but for the lines with their provenance.
same_text() {
  grep -v '^# provenance ' "$2" >"$work/other_text"
  grep -v '^# provenance ' "$1" | cmp - "$work/other_text"
}

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

# complain TEXT: count a failure, and print TEXT and the last program's messages in $work/err.
failures=0
complain() {
  echo "FAILED: $1"
  [ ! -s "$work/err" ] || sed 's/^/    /' "$work/err"
  failures=$((failures + 1))
}

# seconds NUMBER: a limit of time. The number is that of a machine without other work. With other work a run gets a part of
# the cores, and the limit grows by the load of each core.
seconds() { awk -v idle="$1" -v cores="$(nproc)" '{ print int(idle * (1 + $1 / cores)) }' /proc/loadavg; }

# run_on RANKS FOLDER ARGUMENT...: the program on so many ranks, with the output folder FOLDER. The
# run must end well within two minutes, and print nothing.
run_on() {
  ranks_of_run=$1 folder_of_run=$2
  shift 2
  set -- "$PHOTONS" --quiet --set output.dir="$folder_of_run" "$@"
  [ "$ranks_of_run" -eq 1 ] ||
    set -- mpirun --oversubscribe --bind-to none -n "$ranks_of_run" "$@"
  timeout "$(seconds 120)" "$@" >"$work/err" 2>&1
  code_of_run=$?
  [ $code_of_run -eq 0 ] && [ ! -s "$work/err" ] ||
    complain "$folder_of_run on $ranks_of_run ranks: exit code $code_of_run"
}
# run FOLDER ARGUMENT...: the same on one rank.
run() { run_on 1 "$@"; }

# until_true COMMAND...: wait until the command succeeds, a minute at most without other work on the machine.
until_true() {
  waited=0 waits=$((20 * $(seconds 60)))
  until "$@" || [ $waited -ge $waits ]; do
    sleep 0.05
    waited=$((waited + 1))
  done
}
# has_lines NUMBER FILE: the file is there, and has so many lines or more.
has_lines() { [ -e "$2" ] && [ "$(wc -l <"$2")" -ge "$1" ]; }

# is_gone PROCESS: it has ended, although its parent may not have asked how.
is_gone() { ! ps -o stat= -p "$1" | grep -qv Z; }

# The last command of a test.
finish() {
  [ $failures -eq 0 ] || { echo "$failures failures"; exit 1; }
}
