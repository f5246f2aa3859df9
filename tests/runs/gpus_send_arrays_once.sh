#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Each of two emulated GPUs sends the other one what it needs of a group once for each time that forces are found:
# positions, tree and multipoles, and no multipoles that are not finished.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
PHOTONS=$(dirname "$PHOTONS")/tests/support/photons_on_cores
export STARPU_NCPU=1 STARPU_NWORKER_PER_CUDA=2 CORES_GPUS=2 STARPU_NCUDA=2 STARPU_BUS_STATS=1 STARPU_BUS_STATS_FILE=bus.txt
cat >sphere.ini <<END
[box]
boundary = isolated
[ic]
source = galaxy
[galaxy]
model = plummer
particles = 512
[gravity]
softening = 0.1
[time]
end = 1
max_step = 1
[runtime]
group_size = 64
[output]
images = no
energy_steps = 0
END
run sphere sphere.ini
grep -q 'GPUs: 2 .* owner-computes' sphere/log/run.log || complain 'the run has no two GPUs that own data'
groups=8
forces=$(awk -F, '/^#/ {next} !place {for (i = 1; i <= NF; i++) if ($i == "sub_steps") place = i; next}
  {sum += $place + 1} END {print sum}' sphere/log/timings.csv) # and potential energies
sent=$(awk '/CUDA [01] -> CUDA [01]/ {sub(/.*transfers : /, ""); sum += $1} END {print sum + 0}' bus.txt)
[ "$sent" -gt 0 ] || complain 'nothing travels between the GPUs'
[ "$sent" -le $((3 * groups * forces)) ] || complain "$sent arrays for $groups groups, $forces times"
finish
