#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Self-gravity of gas, and gas in an expanding universe, on emulated GPUs are those on cores. On two GPUs, and on three
# ranks with a GPU each, which transform the root level in slabs, self-gravity and particles are those on one.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py numpy
"$gpu_tests/cuda_check_on_cores" gas-gravity || complain "gas-gravity"
"$gpu_tests/cuda_check_on_cores" gas-cosmology || complain "gas-cosmology"

PHOTONS=$(dirname "$PHOTONS")/tests/support/photons_on_cores
export STARPU_NCPU=1 STARPU_NWORKER_PER_CUDA=1
support gas_particles.py swarm swarm.hdf5 1 1 1 || complain "making a swarm"
cat >ball.ini <<END
[run]
system = gas
[ic]
source = collapse
particles = swarm.hdf5
[gas]
root = 32, 32, 32
levels = 1
flag_density = 0.5
buffer = 1
batch = 2
gravity = self
[time]
end = 1
[output]
images = no
END
CORES_GPUS=1 STARPU_NCUDA=1 run one ball.ini --steps 1
CORES_GPUS=2 STARPU_NCUDA=2 run two ball.ini --steps 1
CORES_GPUS=1 STARPU_NCUDA=1 run_on 3 three ball.ini --steps 1
# energies NAME: the last ones of gas, of the potential and of particles
energies() { tail -n 1 "$1/log/statistics.csv" | cut -d, -f7,8,12 | tr , ' '; }
for run in two three; do
  echo "$(energies one) $(energies $run)" |
    awk 'function apart(x, y) { return (x - y)^2 > 1e-18 * x^2 }
      { exit apart($1, $4) || apart($2, $5) || apart($3, $6) || $2 >= 0 || $3 <= 0 }' ||
    complain "other energies on $run GPUs: $(energies one), $(energies $run)"
  awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "gpu_gas_root_lines_s") column = i }
    END { exit !($column > 0) }' $run/log/timings.csv || complain "$run GPUs transform no slabs"
done
finish
