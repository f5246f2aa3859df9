#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# yt, pynbody and swiftsimio, of the versions that tools/readers-env.sh installs, find in the
# outputs of small runs what h5py finds: both units of length, both kinds of names, one file and
# several; ytree in merger trees, and yt in files of gas. make check-readers runs this test. READERS_PYTHON is the Python
# of that environment.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
PYTHON=${READERS_PYTHON:?the Python that has the readers: make check-readers}
PYTHONDONTWRITEBYTECODE=1 # the source folder may be read-only
PYTHONPATH=$PHOTONS_SOURCE/tools
export PYTHON PYTHONDONTWRITEBYTECODE PYTHONPATH
. "$PHOTONS_SOURCE/tests/support/readers_run.sh"
export HOME="$work" # the readers write their settings there

for unit in kpc/h Mpc/h; do
  for names in short gadget4; do
    folder=${unit%/h}-$names
    small_run "$folder" $unit $names
    case $names in
      short) stem=$folder/snap halos=$folder/fof_tab_001.hdf5 ;;
      gadget4) stem=$folder/snapshot halos=$folder/fof_subhalo_tab_001.hdf5 ;;
    esac
    "$PYTHON" "$PHOTONS_SOURCE/tools/swift_view.py" "${stem}_000.hdf5" >out ||
      complain "no view of ${stem}_000.hdf5"
    for reader in yt pynbody swiftsimio; do reads $reader $unit 19 "${stem}_000.hdf5"; done
    reads yt $unit 0 "${stem}_001.hdf5" "$halos"
    [ $names = short ] || reads pynbody $unit 0 "${stem}_001.hdf5" "$halos"
  done
done

timeout "$(seconds 120)" "$PHOTONS" --quiet --set output.dir=trees --set output.trees=yes \
  --set analysis.min_members=8 \
  --set output.redshifts=3,2.5,2,1.5,1,0.5,0 config.ini 2>err ||
  complain "a run with trees: exit code $?"
support tree_readers.py trees/trees.hdf5 >err 2>&1 || complain 'what ytree reads'

need_mpi
STARPU_NCPU=1 timeout "$(seconds 120)" mpirun --oversubscribe --bind-to none -n 3 "$PHOTONS" --quiet \
  --set output.dir=set --set output.files=3 --set output.names=gadget4 config.ini 2>err ||
  complain "a run on three ranks: exit code $?"
"$PYTHON" "$PHOTONS_SOURCE/tools/swift_view.py" set/snapshot_001.0.hdf5 >out ||
  complain "no view of a set of files"
reads swiftsimio kpc/h 0 set/snapshot_001.0.hdf5
for reader in yt pynbody; do
  reads $reader kpc/h 0 set/snapshot_001.0.hdf5 set/fof_subhalo_tab_001.hdf5
done

cat >isolated.ini <<END_OF_CONFIG
[box]
boundary = isolated
[ic]
source = galaxy
[galaxy]
particles = 3000
component_1 = nfw 8e11 8 250 25
component_2 = exponential 4e10 5 0.5 50 5 particles=1000
[gravity]
softening = 0.3
[time]
end = 8
max_step = 4
[output]
dir = isolated
END_OF_CONFIG
"$PHOTONS" --quiet isolated.ini 2>err || complain "an isolated system: exit code $?"
support isolated_readers.py isolated/snapshot_000.hdf5 8 >err 2>&1 || complain "an isolated system: $(cat err)"

try_readers
for real in 4 8; do
  "$unit_tests/gas/test_gas_file" "gas_$real.hdf5" $real 2>err || complain "gas: exit code $?"
done
support gas_readers.py gas_4.hdf5 gas_8.hdf5 >err 2>&1 || complain "gas: what yt reads"
finish
