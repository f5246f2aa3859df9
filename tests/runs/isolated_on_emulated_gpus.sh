#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Two spheres 40 radii apart on emulated GPUs: on one GPU, on two in a process, and on two and three ranks with one each they
# have the same bits. A rank keeps a node of the far sphere, and not its groups. Masses differ, and few particles are active in sub-steps.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_mpi
PHOTONS=$(dirname "$PHOTONS")/tests/support/photons_on_cores
export STARPU_NCPU=1 STARPU_NWORKER_PER_CUDA=1
awk 'function next_one() { seed = (16807 * seed) % 2147483647; return 2 * seed / 2147483647 - 1 }
  BEGIN {
    seed = 1
    for (side = -20; side <= 20; side += 40)
      for (n = 0; n < 128;) {
        x = next_one(); y = next_one(); z = next_one()
        if (x * x + y * y + z * z > 1) continue
        n++
        print x + side, y, z, 0, 0, 0, 1e-3 * (1 + n % 7)
      }
  }' >spheres.text
cat >spheres.ini <<END
[box]
boundary = isolated
[ic]
source = gadget
file = spheres.text
[gravity]
softening = 0.1
[time]
end = 1
max_step = 1
[output]
images = no
[runtime]
group_size = 64
leaf_size = 8
END
# spheres RANKS GPUS FOLDER OPTION...: the program on so many ranks with so many GPUs each
spheres() {
  ranks=$1 gpus=$2 folder=$3
  shift 3
  CORES_GPUS=$gpus STARPU_NCUDA=$gpus run_on "$ranks" "$folder" "$@" spheres.ini
}
# same FOLDER FOLDER
same() { cmp "$1/log/statistics.csv" "$2/log/statistics.csv" || complain "$2 has other bits than $1"; }
spheres 1 1 one
spheres 1 2 two-gpus
spheres 2 1 two-ranks
spheres 3 1 three-ranks
same one two-gpus
same one two-ranks
same one three-ranks
# column NAME: of all steps of the first run
column() { awk -F, -v name="$1" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == name) c = i} NR > 1 {print $c}' one/log/timings.csv; }
column gpu_m2m_upper_s | awk '!($1 > 0) {exit 1}' || complain 'no GPU makes multipoles of nodes above groups'
column sub_steps | awk '{n += $1} END {exit !(n > 0)}' || complain 'there are no sub-steps'
# kept NAME BYTES: what a rank keeps of the other one: two own groups, and a node of which it has the root and the multipole
kept() {
  awk -F, -v name="$1" -v most="$2" '$1 == "kept" && $2 == name {same = $6 == most; if (!same) print} END {exit !same}' \
    two-ranks/log/ranks.csv || complain "a rank keeps other bytes of the far sphere ($1) than $2"
}
kept groups $((2 * 8 + 192 * (2 + 1)))
kept sources 512
# Energies are those of runs on cores.
run cores --set runtime.gpu=no spheres.ini
energies() { tail -1 "$1/log/statistics.csv" | cut -d, -f7,9,10; }
echo "$(energies cores),$(energies one)" | awk -F, '{for (i = 1; i <= 3; i++) if (($i - $(i + 3))^2 > (1e-5 * $i)^2) {print; exit 1}}' ||
  complain 'GPUs and cores have other energies'
# GOTHIC's criterion
spheres 1 1 gothic --set gravity.mac=gothic --set time.max_step=0.5
spheres 2 1 gothic-ranks --set gravity.mac=gothic --set time.max_step=0.5
same gothic gothic-ranks
finish
