#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Snapshots, checkpoints, spectra and pictures of several processes are those of one process. Where
# one of several processes fails, nothing is left behind.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
need_mpi
launch() { # launch PROCESSES COMMAND...
  processes=$1
  shift
  [ "$processes" = 1 ] || set -- mpirun --oversubscribe --bind-to none -n "$processes" "$@"
  STARPU_NCPU=1 timeout "$(seconds 120)" "$@"
}

# One process, then more: each number reads the checkpoint that the one before has written.
mkdir kept
passes() { # passes PROCESSES TEST
  PHOTONS_RANKS_OUTPUT="$work/kept" launch "$1" "$unit_tests/$2" >err 2>&1
  code=$?
  [ $code = 0 ] || complain "$2 on $1 processes: exit code $code"
}
for ranks in 1 2 3; do
  for program in io/test_snapshot analysis/test_power analysis/test_image; do passes $ranks $program; done
  for product in powerspec.txt density.png sheet.png sheet_slice.png; do
    [ -e "$product" ] || cp "kept/$product" "$product"
    cmp "$product" "kept/$product" ||
      complain "$product of $ranks processes differs from that of one"
  done
done
passes 1 io/test_snapshot

# The package photons reads the set of three as the file of one.
"$PYTHON" - <<'END' || complain "the package photons"
import numpy as np, photons
one, three = (photons.read_snapshot(f"kept/{name}") for name in ("set.hdf5", "set.0.hdf5"))
assert three.header.pop("NumFilesPerSnapshot") == 3
assert three.header.pop("NumPart_ThisFile")[1] < 200001
assert three.header.pop("xxh3_attributes") != one.header["xxh3_attributes"]
assert all(np.array_equal(one.header[name], value) for name, value in three.header.items())
assert one.config() == three.config() != "" and len(three["ParticleIDs"]) == 200001
for name in one:
    for rows in slice(None), slice(70000, 140000, 7):
        assert one[name][rows].tobytes() == three[name][rows].tobytes(), name
END

# The disk of the last of three is full: the others have written, yet nothing stays and one line
# says why.
mkdir full
launch 3 "$unit_tests/io/test_snapshot" full >err 2>&1
code=$?
[ $code != 0 ] && [ $code != 124 ] || complain "a full disk: exit code $code"
[ -z "$(ls full)" ] || complain "a full disk: left $(ls full)"
said='photons-starpu: error: .*snap.*cannot write .*: File too large (rank 2)'
[ "$(grep -c "$said" err)" = 1 ] ||
  complain "a full disk: not said"

finish
