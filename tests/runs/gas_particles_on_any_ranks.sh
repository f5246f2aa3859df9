#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Particles on the adaptive mesh, with gas or alone, have the same bits on any number of processes,
# with shared memory or without, while they move from process to process and levels come and go;
# also from a checkpoint of another number of processes, and where some processes have no particles
# or no patches. Spectra and pictures are the same. Mass and momentum are conserved.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
. "$PHOTONS_SOURCE/tests/support/gas.sh"
need_python h5py numpy matplotlib
STARPU_NCPU=1 # of each process
export STARPU_NCPU
need_mpi
make_particles

# Gas with fast particles, periodic.
support gas_particles.py swarm swarm.hdf5 1 0.5 0.5 || complain "making a swarm"
blast_on_ranks 4 --set gas.gravity=self --set ic.particles=swarm.hdf5
awk -F, '!/^[#s]/ { rows++; if (rows == 1) split($0, start)
    for (i = 4; i <= 6; i++) change[i] = $i - start[i] + $(i + 5) - start[i + 5]
    change[3] = 100 * ($3 - start[3])
    # A particle that is lost would change the momentum by 1e-8.
    for (i in change) if (change[i] > 1e-10 || change[i] < -1e-10) { print i, change[i]; lost = 1 } }
  END { exit lost || rows < 5 }' three/log/statistics.csv ||
  complain "mass or momentum is not conserved"
support gas_particles.py masses swarm.hdf5 three/checkpoint.hdf5 || complain "other masses or types"

# The control: another potential moves particles otherwise.
run_on 1 other --steps 4 --set gas.gravity=self --set ic.particles=swarm.hdf5 \
  --set gas.sibling_relaxations=2 shell.ini
support same_gas.py checkpoint.hdf5 16 one other 2>&1 | grep -q 'other: another Particle/ParVelX' ||
  complain "other potentials move particles alike"

# A small universe, with its spectra and pictures.
cat >universe.ini <<END
[run]
system = gas
[cosmology]
Omega_m = 0.3
Omega_lambda = 0.7
Omega_b = 0.045
h = 0.7
[box]
size = 6
npart_side = 32
[ic]
source = generate
z_init = 29
[gas]
comoving = yes
root = 32, 32, 32
levels = 1
flag_density = 1.7
buffer = 1
regrid = 2
gravity = self
[time]
z_end = 26
max_dlna = 0.05
[output]
image_pixels = 128
END
run_on 1 universe-one universe.ini
run_on 2 universe-two --set gas.homes=2 --set gas.batch=1 universe.ini
run_on 4 universe-four universe.ini
same gas_000.hdf5 64 universe-one universe-two universe-four
support gas_particles.py products universe-one universe-four || complain "other products"

# Particles alone: a pair on a circle, whose refined regions move with it. The root level is one
# group, so that three processes have nothing of it.
run_pair() {
  ranks=$1 folder=$2
  shift 2
  run_on "$ranks" "$folder" --set ic.source=point_masses --set ic.particles= --set gas.levels=2 \
    --set gas.root=16,16,16 --set gas.flag_density=200,2000 --set time.end=0.1 \
    --set output.checkpoint_minutes=1e-6 "$@" empty.ini
}
run_pair 1 pair-one --steps 4
run_pair 4 pair-four --steps 2
run_pair 2 pair-four --steps 4 --restart
same checkpoint.hdf5 16 pair-one pair-four

# Light ones that leave the refined region of a heavy one by almost a cell a step: some are outside
# their level for a part of a step.
fast="--set ic.particles=fast.hdf5 --set gas.levels=2 --set gas.flag_density=1000,1000
  --set gas.buffer=4 --set time.end=1 --set output.checkpoint_minutes=1e-6 --steps 4"
run_on 1 fast-one $fast empty.ini
run_on 3 fast-three --set gas.batch=1 $fast empty.ini
same checkpoint.hdf5 64 fast-one fast-three

# A particle that leaves the box ends all processes, with one message.
mpirun --oversubscribe --bind-to none -n 2 "$PHOTONS" --quiet --set output.dir=edge \
  --set ic.particles=edge.hdf5 --set time.end=1 --set gas.batch=1 empty.ini 2>err
[ "$(grep -c 'error: at .* particle 1 leaves the box' err)" -eq 1 ] ||
  complain "a particle that leaves the box"
finish
