# SPDX-License-Identifier: GPL-3.0-or-later
# What tests of whole runs begin with, sourced by them: it takes them to a folder of their own, which is gone at their end.
set -u
: "${PHOTONS:?the program}"
skip() {
  echo "skipped: $1"
  exit 77
}
[ -x "$PHOTONS" ] || skip "$PHOTONS is not built"
python3 -c 'import h5py' 2>/dev/null || skip 'python3 has no h5py'

# Several processes; each test says itself how many workers they have.
need_mpi() {
  command -v mpirun >/dev/null || skip 'there is no mpirun'
  mpirun --oversubscribe -n 2 true 2>/dev/null || skip 'mpirun starts no two processes here'
}

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99

# complain TEXT: a failure, with what the last program said in the file err.
failures=0
complain() {
  echo "FAILED: $1"
  [ ! -s err ] || sed 's/^/    /' err
  failures=$((failures + 1))
}
# At the end of a test.
finish() {
  [ $failures -eq 0 ] || { echo "$failures failures"; exit 1; }
}
