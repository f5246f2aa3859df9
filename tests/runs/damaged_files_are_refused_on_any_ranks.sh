#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What one process and what three have written has the same checksums, which Python finds, too. One
# process and three refuse a flipped bit and a block of zeros in any dataset that they read, and a
# flipped bit in the header. Where a checkpoint is damaged, they go on from the one before.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_mpi
STARPU_NCPU=1 # of each process
export STARPU_NCPU

cat >config.ini <<END
[box]
size = 12
npart_side = 16
[time]
z_end = 30
step = fixed
steps = 4
[output]
accelerations = yes
images = no
power_spectrum = no
checkpoint_minutes = 1e-6
[runtime]
group_size = 200
[analysis]
linking_length = 0.4
min_members = 2
END

launch() { # launch PROCESSES ARGUMENT...
  processes=$1
  shift
  if [ "$processes" = 1 ]; then
    timeout "$(seconds 60)" "$PHOTONS" --quiet "$@" >out 2>err
  else
    timeout "$(seconds 60)" mpirun --oversubscribe --bind-to none -n "$processes" "$PHOTONS" --quiet "$@" \
      >out 2>err </dev/null
  fi
}
launch 1 --set output.dir=one config.ini || complain 'the run of one process'
launch 3 --set output.dir=three config.ini || complain 'the run of three processes'
launch 3 --set output.dir=many --set output.files=0 config.ini || complain 'the run with three files'

# damage COMMAND FILE ARGUMENT...: the commands say what they do.
cat >damage.py <<'END'
import sys
import h5py
import numpy as np


def datasets(path):
    found = []

    def note(name, item):
        if isinstance(item, h5py.Dataset):
            found.append(name)

    with h5py.File(path) as file:
        file.visititems(note)
    return found


def flip(path, place, bit):
    with open(path, 'r+b') as file:
        file.seek(place)
        byte = file.read(1)[0]
        file.seek(place)
        file.write(bytes([byte ^ 1 << bit]))


command, path, *rest = sys.argv[1:]
if command == 'compare':  # FILE FILE: the same checksums, and those that Python finds
    sums = []
    for name in path, rest[0]:
        with h5py.File(name) as file:
            sums.append({d: int(file[d].attrs['xxh3_rows']) for d in datasets(name)})
    assert sums[0] == sums[1] and len(sums[0]) >= 4, sums
    try:
        from xxhash import xxh3_64_intdigest as xxh3
    except ImportError:
        sys.exit(0)
    with h5py.File(path) as file:
        for name, expected in sums[0].items():
            rows = file[name][:]
            found = sum(xxh3(row.tobytes(), seed=i) for i, row in enumerate(rows))
            assert found % 2**64 == expected, name
        for name in ['/'] + [n for n in file if isinstance(file[n], h5py.Group)]:
            values = {n: file[name].attrs.get_id(n) for n in file[name].attrs}
            if not values:
                continue
            expected = int(file[name].attrs['xxh3_attributes'])
            found = 0
            for n, value in values.items():
                if n != 'xxh3_attributes':
                    stored = np.empty(value.shape, value.dtype)
                    value.read(stored)
                    found += xxh3(stored.tobytes(), seed=xxh3(n))
            assert found % 2**64 == expected, name
elif command == 'flip':  # FILE DATASET PERCENT: the lowest bit of a number so far into the dataset
    with h5py.File(path) as file:
        data = file[rest[0]]
        size = data.dtype.itemsize
        number = data.size * int(rest[1]) // 100
        place = data.id.get_offset() + number * size
    flip(path, place, 0)
elif command == 'zero':  # FILE DATASET: what of it lies in its second quarter
    with h5py.File(path) as file:
        data = file[rest[0]]
        offset, size = data.id.get_offset(), data.id.get_storage_size() // 4
    with open(path, 'r+b') as file:
        file.seek(offset + size)
        file.write(bytes(size))
elif command == 'header':  # FILE NUMBER: the lowest bit of an attribute of the header
    with h5py.File(path) as file:
        value = np.float64(file['Header'].attrs[rest[0]]).tobytes()
    flip(path, open(path, 'rb').read().index(value), 0)
END
damage() { "$PYTHON" damage.py "$@" || complain "damage.py $*"; }

damage compare one/snapshot_000.hdf5 three/snapshot_000.hdf5
damage compare one/checkpoint.hdf5 three/checkpoint.hdf5
damage compare one/checkpoint.hdf5 many/checkpoint.hdf5 # of which the rows are in three files
damage compare one/fof_subhalo_tab_000.hdf5 three/fof_subhalo_tab_000.hdf5

# refused DATASET WHAT: the damaged copy of the snapshot at hand is refused, with its name.
tried=0
refused() {
  for processes in 1 3; do
    tried=$((tried + 1))
    launch $processes --analyse "$snapshot" --set output.dir=analysis --set output.images=no
    found=$?
    [ $found -eq 3 ] || complain "$file: $2 of $1: $processes processes end with code $found, not 3"
    grep '^photons-starpu: error: ' err >line
    [ "$(wc -l <line)" -eq 1 ] && grep -F "$file" line | grep -q "$1" ||
      complain "$file: $2 of $1: $processes processes do not say it in one line"
  done
}
for file in one/snapshot_000.hdf5 many/snapshot_000.2.hdf5; do
  snapshot=$file
  [ $file = one/snapshot_000.hdf5 ] || snapshot=many/snapshot_000
  cp $file kept.hdf5
  for dataset in Coordinates Velocities ParticleIDs; do
    damage flip $file PartType1/$dataset 0
    refused $dataset 'the first bit'
    damage flip $file PartType1/$dataset 0
    damage flip $file PartType1/$dataset 73
    refused $dataset 'a bit'
    cp kept.hdf5 $file
    damage zero $file PartType1/$dataset
    refused $dataset 'a block of zeros'
    cp kept.hdf5 $file
  done
  damage header $file BoxSize
  refused . 'the box'
  cp kept.hdf5 $file
  launch 3 --analyse "$snapshot" --set output.dir=analysis --set output.images=no || complain "$file: the undamaged one"
done
echo "$tried damaged snapshots were given"

# The newer checkpoint is damaged: a warning, and the run goes on from the one before.
for processes in 1 3; do
  for dataset in momentum id; do
    rm -rf broken
    cp -r three broken
    damage flip broken/checkpoint.hdf5 $dataset 40
    launch $processes --restart --set output.dir=broken config.ini ||
      complain "a damaged checkpoint on $processes processes: exit code $?"
    grep "warning: broken/checkpoint.hdf5: dataset $dataset " err | grep broken/checkpoint-prev >line
    [ "$(wc -l <line)" -eq 1 ] ||
      complain "a damaged checkpoint on $processes processes: not said once"
  done
  damage flip broken/checkpoint-previous.hdf5 id 40
  damage flip broken/checkpoint.hdf5 id 70
  launch $processes --restart --set output.dir=broken config.ini
  found=$?
  [ $found -eq 3 ] &&
    grep 'error: .*broken/checkpoint.hdf5: ' err | grep -q '; broken/checkpoint-previous.hdf5: ' ||
    complain "two damaged checkpoints on $processes processes: exit code $found"
done

# The same of a checkpoint in three parts, of which one is damaged, missing, or that of the checkpoint before.
part=$("$PYTHON" -c 'import h5py; print(h5py.File("many/checkpoint.hdf5").attrs["parts"].decode())')
before=$("$PYTHON" -c 'import h5py; print(h5py.File("many/checkpoint-previous.hdf5").attrs["parts"].decode())')
[ "$(cd many && ls -d checkpoint* | tr '\n' ' ')" = "$({ printf '%s\n' checkpoint.hdf5 checkpoint-previous.hdf5
  for k in 0 1 2; do printf '%s\n' "$part.$k.hdf5" "$before.$k.hdf5"; done; } | LC_ALL=C sort | tr '\n' ' ')" ] ||
  complain "files of checkpoints: $(ls many)"
# broken_part PROCESSES TEXT COMMAND...: a command that breaks the newest checkpoint
broken_part() {
  processes=$1 text=$2
  shift 2
  rm -rf broken
  cp -r many broken
  "$@" || complain "$*"
  launch "$processes" --restart --set output.dir=broken config.ini ||
    complain "$*, $processes processes: exit code $?"
  grep "warning: broken/checkpoint.hdf5: .*$text" err | grep broken/checkpoint-prev >line
  [ "$(wc -l <line)" -eq 1 ] || complain "$*, $processes processes: not said once: $(cat err)"
}
broken_part 2 'dataset momentum ' damage flip "broken/$part.1.hdf5" momentum 40
broken_part 1 "not complete: $part.2.hdf5, .*No such file" rm "broken/$part.2.hdf5"
broken_part 5 "not complete: $part.2.hdf5, .*No such file" rm "broken/$part.2.hdf5"
# With as many rows the checksum tells.
other='\(dataset [a-z]* is not what was written\|[a-z]* is not complete: .*rows that it should have\)'
broken_part 2 "$other" cp "many/$before.0.hdf5" "broken/$part.0.hdf5"
broken_part 2 "$other" cp "many/$part.0.hdf5" "broken/$part.1.hdf5"
rm "broken/$before.0.hdf5"
cp -r many/checkpoint.hdf5 broken
launch 2 --restart --set output.dir=broken config.ini
found=$?
[ $found -eq 3 ] && grep 'error: .*broken/checkpoint.hdf5: ' err | grep -q "; broken/checkpoint-previous.hdf5: .*$before.0" ||
  complain "two incomplete checkpoints: exit code $found"

finish
