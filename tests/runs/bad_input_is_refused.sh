#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Bad initial conditions, folders, disks, memory and machines: one clear line, the right exit code,
# nothing half-written, no hang.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
disk=
trap '[ "$disk" ] && umount "$disk"; chmod -R u+w "$work"; rm -rf "$work"' EXIT

# expect CODE MESSAGE FOLDER ARGUMENT...: the program ends with CODE, says MESSAGE in the only line
# of stderr, and leaves no unfinished file. Exit code 124 of timeout is a hang.
expect() {
  code=$1 message=$2 folder=$3
  shift 3
  case " $*" in *' --restart'*) ;; *) rm -rf "$folder" 2>/dev/null ;; esac
  timeout -k 5 "$(seconds 60)" "$PHOTONS" --quiet --set output.dir="$folder" "$@" >out 2>err </dev/null
  check "$*"
}
check() {
  found=$?
  [ $found -eq "$code" ] || complain "$1: exit code $found, not $code"
  if [ "$code" -ne 0 ]; then
    [ "$(wc -l <err)" -eq 1 ] &&
      grep '^photons-starpu: error: ' err | grep -qF -- "$message" ||
      complain "$1: not one line with: $message"
  fi
  [ -s out ] && complain "$1: something on standard output"
  [ "$(find "$folder" -name '*.tmp' 2>/dev/null)" ] && complain "$1: left unfinished files"
}

# expect_refused MESSAGE ARGUMENT...: MESSAGE stands among the problems of the configuration.
expect_refused() {
  message=$1
  shift
  timeout -k 5 "$(seconds 60)" "$PHOTONS" --quiet --set output.dir=run "$@" >out 2>err </dev/null
  found=$?
  [ $found -eq 2 ] && grep -qF -- "$message" err ||
    complain "$*: exit code $found, or no line with: $message"
  [ -s out ] && complain "$*: something on standard output"
}

# Initial conditions.
cat >gadget.ini <<END
[ic]
source = gadget
[time]
z_end = 8
step = fixed
steps = 1
END
mkdir ics
support faulty_gadget_files.py ics || exit 99
for file in ics/*; do
  rm -rf run
  case $file in
  */good.*)
    expect 0 '' run --set ic.file="$file" gadget.ini
    [ -s run/snapshot_000.hdf5 ] || complain "$file: no snapshot"
    ;;
  *)
    expect 3 "$file" run --set ic.file="$file" gadget.ini
    wrote=$(find run -type f ! -name .lock)
    [ "$wrote" ] && complain "$file: wrote $wrote"
    ;;
  esac
done
# A snapshot to analyse is held to the same.
for file in ics/header_* ics/fast* ics/nan*; do expect 3 "$file" run --analyse "$file"; done
# What config.ini says otherwise than the file.
expect 3 'box.size' run --set ic.file=ics/good.hdf5 --set box.size=60 gadget.ini
expect 3 'Omega_m' run --set ic.file=ics/good.hdf5 --set cosmology.Omega_m=0.25 gadget.ini
expect 3 'z_init' run --set ic.file=ics/good.hdf5 --set ic.z_init=30 gadget.ini
# A table of the power spectrum.
printf '0.1 1000\n0.2 many\n' >spectrum.txt
expect 3 'spectrum.txt' run --set ic.file=ics/good.hdf5 --set ic.power_spectrum=file \
  --set ic.power_spectrum_file=spectrum.txt gadget.ini

cat >config.ini <<END
[box]
size = 50
npart_side = 32
[time]
z_end = 20
step = fixed
steps = 2
END

# Whatever is read is a regular file: nothing else is opened, so that nothing waits for a writer.
mkdir folder && mkfifo fifo stem.0 || exit 99
"$PYTHON" -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")' || exit 99
while read -r name kind; do
  expect 2 "$name: cannot open the configuration: it is $kind" run "$name"
  for key in ic.glass ic.power_spectrum_file; do
    expect_refused "cannot read it: it is $kind" --set ic.power_spectrum=file \
      --set $key="$name" config.ini
  done
  expect_refused "cannot read it: it is $kind" --set ic.file="$name" gadget.ini
  expect_refused "cannot read it: it is $kind" --analyse "$name"
done <<END
fifo a named pipe (FIFO)
folder a folder
/dev/zero a device
socket a socket
END
expect 3 'cannot read stem.0: it is a named pipe' run --set ic.file=stem gadget.ini
expect 3 'cannot read stem.0: it is a named pipe' run --set ic.glass=stem config.ini
expect 3 'cannot read stem.0: it is a named pipe' run --analyse stem
rm -rf run && mkdir run && mkfifo run/checkpoint.hdf5 || exit 99
expect 3 'run/checkpoint.hdf5: cannot open the HDF5 file: it is a named pipe' run --restart config.ini
rm -rf run

# Displacements beyond sense, and a table of more than numbers can hold.
printf '1e-4 1\n0.1 1e300\n0.11 1e-300\n0.12 1e300\n1 1\n100 1\n' >spectrum.txt
table='--set ic.power_spectrum=file --set ic.power_spectrum_file=spectrum.txt'
expect 3 'spectrum.txt' run $table config.ini
printf '1e-4 1e300\n0.1 1e300\n1 1e300\n100 1e300\n' >spectrum.txt
expect 3 'spectrum.txt' run $table --set ic.normalise=no config.ini
sed 's/^size.*/size = 1/; s/^z_end.*/z_end = 0/' config.ini >late.ini
expect 1 'no more than half the box' run --set cosmology.sigma8=10 --set ic.z_init=5 late.ini

# Folders that cannot be made or written.
expect 1 '/proc/none' /proc/none/run config.ini
if [ "$(id -u)" -ne 0 ]; then
  mkdir locked && chmod 555 locked
  timeout "$(seconds 60)" "$PHOTONS" --quiet --set output.dir=locked config.ini 2>err
  [ $? -eq 2 ] && grep -q 'cannot write into the folder locked' err ||
    complain 'a folder without write permission'
fi

# A full disk: the snapshot of 1.3 MB does not fit. What had been written before stays whole.
code=1 message=snapshot_000.hdf5 folder=small
(
  ulimit -f 1000 # blocks of 512 bytes
  timeout "$(seconds 60)" "$PHOTONS" --quiet --set output.dir=small --set ic.order=1 \
    --set output.images=no config.ini >out 2>err
)
check 'a limit on file sizes'
[ -e small/snapshot_000.hdf5 ] && complain 'a limit on file sizes: half a snapshot'
mkdir disk
if mount -t tmpfs -o size=600k none disk 2>/dev/null; then
  disk=disk
  expect 1 snapshot_000.hdf5 disk/run --set output.images=no config.ini
  [ -e disk/run/snapshot_000.hdf5 ] && complain 'a full disk: half a snapshot'
  grep -q 'No space left on device' err || complain 'a full disk: not said'
  rm -rf disk/run
  expect 1 '_000.png: No space left on device' disk/run config.ini
fi

# Memory: more than there is, and less than there is but more than a limit allows.
expect 1 'GB of memory' run --set box.npart_side=16384 config.ini
expect 1 'GB of memory' run --set gravity.pm_grid=16384 --set gravity.softening=1 config.ini
# The address sanitizer reserves terabytes of addresses.
if (ulimit -v 1500000) 2>/dev/null && ! ldd "$PHOTONS" | grep -q asan; then
  code=1 message='not enough memory for' folder=run
  (
    ulimit -v 1500000
    timeout "$(seconds 60)" "$PHOTONS" --quiet --set output.dir=run --set box.npart_side=400 \
      config.ini >out 2>err
  )
  check 'a limit on memory (particles)'
  rm -rf run
  (
    ulimit -v 1500000
    timeout "$(seconds 60)" "$PHOTONS" --quiet --set output.dir=run --set gravity.pm_grid=640 \
      config.ini >out 2>err
  )
  check 'a limit on memory (mesh)'
fi

# The machine: no GPU, no workers.
if "$PHOTONS" --version | grep -q 'CUDA *not built in'; then
  expect 2 'runtime.gpu = require' run --set runtime.gpu=require config.ini
fi
STARPU_NCPU=0 expect 1 'StarPU' run config.ini

finish
