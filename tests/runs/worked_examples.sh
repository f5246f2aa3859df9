#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The columns, the stage and the variable of gas that docs/dev/add-a-column.md, add-a-stage.md and
# add-a-variable.md add as examples. What the pages say is done in a copy of the source tree. The program that
# is built there has tasks of the stage in each step, and the column's values stay with their particles in
# rebuilds, sorts and checkpoints, on any number of ranks, with block steps and with adaptive steps. The variable comes
# from arrays, moves with the gas, is conserved, and stays the same in a restart. Files of particles on the
# mesh have the column of these.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
need_mpi
for tool in autoreconf make; do
  command -v $tool >/dev/null || skip "there is no $tool"
done

mkdir tree && cd tree || exit 99
(cd "$PHOTONS_SOURCE" && tar -cf - --exclude='*.o' --exclude='*.lo' --exclude='*.la' --exclude=.libs \
  --exclude=.deps configure.ac Makefile.am m4 src include codelets cuda tools) | tar -xf - || exit 99
chmod -R u+w . # make distcheck takes the right to write away
helper follow "$PWD" "$PHOTONS_SOURCE/docs/dev/add-a-column.md" "$PHOTONS_SOURCE/docs/dev/add-a-stage.md" \
  "$PHOTONS_SOURCE/docs/dev/add-a-variable.md" ||
  { complain "the pages cannot be followed"; finish; }

# The program for cores, with the libraries of this build, as fast as it compiles. Without optimisation
# the linker, not the compiler, leaves out what only GPUs would use.
photons_cv_x86_kernels=no
export photons_cv_x86_kernels
eval "set -- $("$(dirname "$PHOTONS")/config.status" --config)"
{
  autoreconf --install &&
    ./configure --quiet "$@" --without-cuda --disable-fuzzing --disable-sanitizers --disable-debug-checks &&
    make -j2 OPTIMISATION= CFLAGS='-O0 -ffunction-sections' LDFLAGS=-Wl,--gc-sections photons-starpu
} >"$work/build" 2>&1 || { tail -n 20 "$work/build" >"$work/err"; complain "the build"; finish; }
cd "$work" || exit 99
PHOTONS=$work/tree/photons-starpu

cat >config.ini <<END
[box]
size = 4
npart_side = 16
[ic]
z_init = 9
[time]
z_end = 0
accuracy = fast
max_dlna = 0.08
[output]
redshifts = 0
images = no
checkpoint_minutes = 0.00001
[runtime]
group_size = 512
sort_interval = 2
rebuild_interval = 3
END

run whole --steps 10 config.ini
"$PHOTONS" --quiet --steps 3 --set output.dir=traced --set runtime.trace_steps=2:2 config.ini >err 2>&1 ||
  complain "a run with a trace" # which may warn that StarPU has no FxT
tasks=$(grep -c ',note_peak,' traced/trace/tasks_0.csv)
[ "$tasks" -eq 8 ] || complain "$tasks tasks of 8 groups"
helper peaks whole/checkpoint.hdf5 2>err || complain "block steps"

run_on 2 parts --steps 5 config.ini
run_on 3 parts --restart --steps 10 config.ini
helper same whole/checkpoint.hdf5 parts/checkpoint.hdf5 2>err || complain "a restart on another number of ranks"

helper arrays arrays.hdf5
cat >gas.ini <<END
[run]
system = gas
[ic]
source = array
file = arrays.hdf5
[gas]
precision = double
root = 16, 16, 16
levels = 1
flag_gradient_density = 0.2
[time]
end = 0.1
[output]
images = no
checkpoint_minutes = 0.00001
END
run gas --steps 4 gas.ini
helper metals gas 2>err || complain "the variable of gas"
run gas_parts --steps 2 gas.ini
run gas_parts --restart --steps 4 gas.ini
cmp gas/log/statistics.csv gas_parts/log/statistics.csv || complain "a restart changes the variable of gas"

run stars --steps 2 --set gas.root=16,16,16 --set gas.levels=1 --set gas.flag_density=1000 \
  "$PHOTONS_SOURCE/params/gas/point_masses.ini"
helper born stars 2>err || complain "the column of particles on the mesh"

run adaptive --steps 10 --set time.step=adaptive config.ini
helper peaks adaptive/checkpoint.hdf5 2>err || complain "adaptive steps"
if command -v nvcc >/dev/null; then
  (cd tree && nvcc -std=c++17 -I. -Iinclude -c -o note_peak.o cuda/step/note_peak.cu) >err 2>&1 ||
    complain "the CUDA kernel"
fi

finish
