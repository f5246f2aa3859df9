#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Self-gravity of gas, and gas in an expanding universe, on emulated GPUs are those on cores. On two GPUs without levels, and
# on three ranks with a GPU each, which transform the root level in slabs, self-gravity and particles are those on one. A
# universe of gas and dark matter on levels that change has the bits of one GPU on two and four, of which one finds all
# potentials, by one task for each solution of all levels, and goes on from a checkpoint with these bits. GPUs solve the gas
# of a level while the host gives its particles new groups.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
. "$PHOTONS_SOURCE/tests/support/gas.sh"
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
CORES_GPUS=1 STARPU_NCUDA=1 run flat_one ball.ini --steps 1 --set gas.levels=0
CORES_GPUS=2 STARPU_NCUDA=2 run flat_two ball.ini --steps 1 --set gas.levels=0
CORES_GPUS=1 STARPU_NCUDA=1 run_on 3 three ball.ini --steps 1
# energies NAME: the last ones of gas, of the potential and of particles
energies() { tail -n 1 "$1/log/statistics.csv" | cut -d, -f7,8,12 | tr , ' '; }
# gpus_have NAME STAGE: the GPUs of a run have had tasks of a stage in the last step
gpus_have() {
  awk -F, -v name="gpu_$2_s" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
    END { exit !($column > 0) }' "$1/log/timings.csv"
}
# same_energies RUN OTHER
same_energies() {
  echo "$(energies "$1") $(energies "$2")" |
    awk 'function apart(x, y) { return (x - y)^2 > 1e-18 * x^2 }
      { exit apart($1, $4) || apart($2, $5) || apart($3, $6) || $2 >= 0 || $3 <= 0 }' ||
    complain "other energies in $2 than in $1: $(energies "$1"), $(energies "$2")"
}
same_energies one two
same_energies one three
same_energies flat_one flat_two
gpus_have two gas_gravity || complain "no GPU of two finds all potentials"
for run in three flat_two; do
  gpus_have $run gas_root_lines || complain "the GPUs of $run transform no slabs"
done

cat >universe.ini <<END
[run]
system = gas
[cosmology]
Omega_m = 0.3
Omega_lambda = 0.7
Omega_b = 0.045
h = 0.7
[box]
size = 12.5
npart_side = 32
[ic]
source = generate
z_init = 24
[gas]
comoving = yes
root = 32, 32, 32
levels = 2
flag_particles = 1.8, 0.4
buffer = 1
regrid = 1
batch = 2
gravity = self
[time]
z_end = 9
[output]
images = no
checkpoint_minutes = 1e-6
END
for gpus in 1 2 4; do
  CORES_GPUS=$gpus STARPU_NCUDA=$gpus run universe$gpus universe.ini --steps 2 --set runtime.trace_steps=2
done
# The lists of particles that leave are begun before a level's gas is solved, and waited for behind it. Only where groups
# have just changed is there nothing to solve. Lengths of steps wait for speeds, and not for all tasks. One task of a batch
# kicks its gas and its particles, and lists those that leave unless groups have changed.
for gpus in 1 2 4; do
  awk -F, '$2 == "task" { last = $3; tasks[$3]++ }
    $3 == "gas_regrid" { changed = 1 }
    $3 == "gas_advance" { changed = 0 }
    $2 == "acquire" && (last == "gas_push" || last == "gas_leave") && !changed { late++ }
    $2 == "wait" && last == "gas_cfl" { waits++ }
    $3 == "gas_flag" { flagged = 1 }
    $3 == "gas_advance" { flagged = 0 }
    $3 == "gas_leave" && !flagged { apart++ }
    END { apart += tasks["gas_kick"] + tasks["gas_work"]
      print late + 0, "waits for lists that have just begun,", waits + 0, "for all tasks to know speeds"
      print apart, "tasks of what gas_push does"
      exit !(tasks["gas_push"] > 2 && tasks["gas_cfl"] > 2 && late + waits + apart == 0) }' \
    universe$gpus/trace/graph_0.csv || complain "$gpus GPUs wait for the host in the course of a step"
done
# One task finds the potentials of all levels that have come to the same time, and the mean density, which the host does
# not wait for: it waits for all tasks at the end of the step, at its begin, and for flags. Other GPUs find densities.
for gpus in 1 2 4; do
  awk -F, -v gpus=$gpus '$2 == "wait" { waits += last == "gas_gravity"; waited = 1 }
    $2 == "task" { if ($3 == "gas_gravity") waits += waited
      waited = 0; tasks[$3]++; last = $3 }
    END { apart = tasks["gas_potential"] + tasks["gas_potentials"] + tasks["gas_share"] + tasks["gas_sheet"]
      for (stage in tasks) if (stage ~ /^gas_root/) apart += tasks[stage]
      print tasks["gas_gravity"] + 0, "and", apart, "tasks of potentials on", gpus, "GPUs,", waits + 0, "waits"
      exit !(tasks["gas_gravity"] > 2 && apart + waits == 0 && (gpus > 1) == (tasks["gas_density"] > 0)) }' \
    universe$gpus/trace/graph_0.csv || complain "other tasks of potentials on $gpus GPUs"
done
# One task measures a batch. On one GPU densities are found in the tasks of potentials, and particles of all levels arrive in
# one task.
for gpus in 1 2 4; do
  awk -F, -v gpus=$gpus '$2 == "task" { tasks[$3]++ }
    END { apart = tasks["gas_sum"] + tasks["gas_field"]
      if (gpus == 1)
        apart += tasks["gas_deposit"] + tasks["gas_collect"] + tasks["gas_ahead"] + tasks["gas_arrive"] + tasks["gas_restrict"]
      print tasks["gas_chain"] + 0, "chains and", apart + 0, "tasks of what they do on", gpus, "GPUs"
      exit !(tasks["gas_chain"] > 2 && apart == 0) }' \
    universe$gpus/trace/graph_0.csv || complain "tasks on $gpus GPUs are apart"
done
# From a checkpoint such a run goes on with the same bits.
CORES_GPUS=2 STARPU_NCUDA=2 run parts universe.ini --steps 1
CORES_GPUS=2 STARPU_NCUDA=2 run parts universe.ini --restart --steps 2
same checkpoint.hdf5 60 universe1 universe2 universe4 parts
finish
