#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Snapshots, checkpoints, spectra and pictures of several processes are those of one; when one of them fails nothing is left behind.
build=$(pwd)
: "${PHOTONS_SOURCE:?the source folder}"
for program in test_snapshot test_power test_image; do
  [ -x "$build/tests/unit/$program" ] || { echo "skipped: $build/tests/unit/$program is not built"; exit 77; }
done
command -v mpirun >/dev/null || { echo "skipped: there is no mpirun"; exit 77; }
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
failures=0
failed() { echo "FAILED: $*"; failures=$((failures + 1)); }
launch() { # launch PROCESSES COMMAND...
  processes=$1
  shift
  STARPU_NCPU=1 timeout 120 mpirun --oversubscribe --bind-to none -n "$processes" "$@"
}
mpirun --oversubscribe -n 2 true 2>/dev/null || { echo "skipped: mpirun starts no two processes here"; exit 77; }

# One process, then more: each number reads the checkpoint that the one before has written.
mkdir "$work/kept"
for ranks in 1 2 3 1; do
  for program in test_snapshot test_power test_image; do
    if [ $ranks = 1 ]; then
      PHOTONS_RANKS_OUTPUT="$work/kept" "$build/tests/unit/$program" >"$work/log" 2>&1
    else
      PHOTONS_RANKS_OUTPUT="$work/kept" launch $ranks "$build/tests/unit/$program" >"$work/log" 2>&1
    fi
    code=$?
    [ $code = 0 ] || { failed "$program on $ranks processes: exit code $code"; grep -v '   OK' "$work/log"; }
  done
  for product in powerspec.txt density.png; do
    [ -e "$work/$product" ] || cp "$work/kept/$product" "$work/$product"
    cmp "$work/$product" "$work/kept/$product" || failed "$product of $ranks processes differs from that of one"
  done
done

# tools/photons.py reads the set of three as the file of one.
if python3 -c 'import h5py, numpy' 2>/dev/null; then
  PYTHONPATH="$PHOTONS_SOURCE/tools" python3 - "$work/kept" <<'END' || failed "tools/photons.py"
import sys, numpy as np, photons
one, three = (photons.read_snapshot(f"{sys.argv[1]}/{name}") for name in ("set.hdf5", "set.0.hdf5"))
assert three.header.pop("NumFilesPerSnapshot") == 3 and three.header.pop("NumPart_ThisFile")[1] < 200001
assert three.header.pop("xxh3_attributes") != one.header["xxh3_attributes"]
assert all(np.array_equal(one.header[name], value) for name, value in three.header.items())
assert one.config() == three.config() != "" and len(three["ParticleIDs"]) == 200001
for name in one:
    for rows in slice(None), slice(70000, 140000, 7):
        assert one[name][rows].tobytes() == three[name][rows].tobytes(), name
END
fi

# The disk of the last of three is full: the others have written, yet nothing stays and one line says why.
mkdir "$work/full"
launch 3 "$build/tests/unit/test_snapshot" "$work/full" >"$work/log" 2>&1
code=$?
[ $code != 0 ] && [ $code != 124 ] || failed "a full disk: exit code $code"
[ -z "$(ls "$work/full")" ] || failed "a full disk: left $(ls "$work/full")"
[ "$(grep -c 'photons-starpu: error: .*snap.*cannot write .*: File too large (rank 2)' "$work/log")" = 1 ] ||
  { failed "a full disk: not said"; cat "$work/log"; }

[ $failures = 0 ]
