# SPDX-License-Identifier: GPL-3.0-or-later
# What every script in tests/runs begins with: it says what the test needs, takes the test to a
# folder of its own, $work, which is gone at the end, and counts failures.
set -u
: "${PHOTONS:?the program}" "${PHOTONS_SOURCE:?the source folder}"
skip() {
  echo "skipped: $1"
  exit 77
}
[ -x "$PHOTONS" ] || { echo "error: $PHOTONS is not built"; exit 99; }
unit_tests=$(dirname "$PHOTONS")/tests/unit

# need_python MODULE...: $PYTHON can import the modules; its scripts may import those of tools/.
need_python() {
  [ -n "${PYTHON:-}" ] || skip 'configure found no Python 3 (Debian package python3)'
  lacking=$("$PYTHON" "$PHOTONS_SOURCE/tools/needed_modules.py" "$@" 2>/dev/null) ||
    skip "$PYTHON does not run as Python 3"
  [ -z "$lacking" ] || skip "$PYTHON cannot import $lacking"
  PYTHONPATH=$PHOTONS_SOURCE/tools${PYTHONPATH:+:$PYTHONPATH}
  PYTHONDONTWRITEBYTECODE=1 # the source folder may be read-only
  export PYTHONPATH PYTHONDONTWRITEBYTECODE
}
# helper ARGUMENT...: the Python script beside the test, under the same stem.
helper() { "$PYTHON" "$PHOTONS_SOURCE/tests/runs/$(basename "$0" .sh).py" "$@"; }
# support NAME ARGUMENT...: a Python script of tests/support.
support() {
  script=$PHOTONS_SOURCE/tests/support/$1
  shift
  "$PYTHON" "$script" "$@"
}

# Several processes; each test says itself how many workers they have.
need_mpi() {
  command -v mpirun >/dev/null || skip 'there is no mpirun'
  mpirun --oversubscribe -n 2 true 2>/dev/null || skip 'mpirun starts no two processes here'
}

# link_tools FOLDER TOOL...: a folder for a PATH that has these tools only.
link_tools() {
  folder=$1
  shift
  for tool; do ln -s "$(command -v "$tool")" "$folder/$tool"; done
}

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

# complain TEXT: a failure, with what the last program said in $work/err.
failures=0
complain() {
  echo "FAILED: $1"
  [ ! -s "$work/err" ] || sed 's/^/    /' "$work/err"
  failures=$((failures + 1))
}
# At the end of a test.
finish() {
  [ $failures -eq 0 ] || { echo "$failures failures"; exit 1; }
}
