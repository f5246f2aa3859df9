#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs the problems of docs/results/gas.md, whose sizes are too large for `make check`:
#   tests/bench/gas_problems.sh FOLDER [NAME...]
# A run that FOLDER has is not repeated. tests/bench/gas_problems.py FOLDER then prints the tables
# and draws the figures. PHOTONS names another program than ./photons-starpu. Lengths are in cells
# of the finest level, as in Schive, Tsai & Chiueh (2010, ApJS 186, 457).
set -eu
[ $# -gt 0 ] || { sed -n '3,7s/^# \{0,1\}//p' "$0"; exit 2; }
folder=$1
shift
mkdir -p "$folder"
sources=$(cd "$(dirname "$0")/../.." && pwd)
PYTHONPATH=$sources/tools${PYTHONPATH:+:$PYTHONPATH}
export PYTHONPATH

# run NAME LINE...: a run whose configuration has these lines, section after section. $options has arguments.
options=
run() {
  name=$1
  shift
  [ -s "$folder/$name/gas_000.hdf5" ] && return
  printf '%s\n' "[run]" "system = gas" "[output]" "dir = $folder/$name" "images = no" "$@" \
    >"$folder/$name.ini"
  echo "== $name: $(date -u)"
  # shellcheck disable=SC2086
  "${PHOTONS:-./photons-starpu}" "$folder/$name.ini" $options >"$folder/$name.txt" || echo "== $name: failed"
}

# Standing waves that return to their first form.
# acoustic SOLVER SIDE
acoustic() {
  run "acoustic-$1-$2" "[ic]" "source = acoustic" "direction = diagonal" "amplitude = 1e-6" \
    "[gas]" "solver = $1" "precision = double" "root = $2, $2, $2" \
    "[time]" "end = 0.5773502691896258"
}

# The same along x: a column of SIDE cells.
# wave SOLVER SIDE
wave() {
  run "wave-$1-$2" "[ic]" "source = acoustic" "direction = x" "amplitude = 1e-6" \
    "[gas]" "solver = $1" "precision = double" "root = $2, 16, 16" "length = $2" "[time]" "end = $2"
}

# The tube along an axis: 64 root cells and LEVELS finer levels.
# sod SOLVER AXIS LEVELS END
sod() {
  case $2 in
  x) root="64, 16, 16" ;;
  y) root="16, 64, 16" ;;
  z) root="16, 16, 64" ;;
  esac
  length=$((64 << $3))
  [ "$2" = x ] || length=$((16 << $3))
  run "sod-$1-$2-$3" "[ic]" "source = sod" "direction = $2" \
    "[gas]" "solver = $1" "root = $root" "length = $length" "levels = $3" \
    "flag_gradient_density = 0.03" "buffer = 8" "$2_low = outflow" "$2_high = outflow" \
    "[time]" "end = $4"
}

# The tube along the diagonal of a cube. Its middle is disturbed from the sides later than at the
# end, and what they have reached is not compared: the shock is beside it up to t = 30 or so.
# sod_diagonal SOLVER LEVELS END
sod_diagonal() {
  run "sod-$1-diagonal-$2" "[ic]" "source = sod" "direction = diagonal" \
    "[gas]" "solver = $1" "root = 64, 64, 64" "length = $((64 << $2))" "levels = $2" \
    "flag_gradient_density = 0.03" "buffer = 8" "x_low = outflow" "x_high = outflow" \
    "y_low = outflow" "y_high = outflow" "z_low = outflow" "z_high = outflow" \
    "[time]" "end = $3"
}

# The explosion.
# sedov SOLVER LEVELS END
sedov() {
  run "sedov-$1-$2" "[ic]" "source = sedov" "energy = 8e5" \
    "[gas]" "solver = $1" "root = 64, 64, 64" "length = $((64 << $2))" "levels = $2" \
    "flag_gradient_pressure = 1" "buffer = 8" "[time]" "end = $3"
}

# 1000 steps in a periodic box: a dense cloud, which refinement follows, crosses the box, and so do
# the waves of its first pressure. conservation SOLVER PRECISION FIXUP
conservation() {
  [ -s "$folder/cloud.hdf5" ] || "${PYTHON:-python3}" - "$folder/cloud.hdf5" <<'END'
import sys, h5py, numpy as np
z, y, x = np.meshgrid(*[np.arange(n) + 0.5 - n / 2 for n in (16, 16, 32)], indexing="ij")
cloud = np.exp(-(x**2 + y**2 + z**2) / 4)
with h5py.File(sys.argv[1], "w") as file:
    file["density"], file["pressure"] = 1 + 2 * cloud, 1 + cloud
    for axis, v in zip("xyz", (1, 0.7, 0.4)):
        file[f"velocity_{axis}"] = np.full_like(x, v)
END
  run "conservation-$1-$2-$3" "[ic]" "source = array" "file = $folder/cloud.hdf5" \
    "[gas]" "solver = $1" "precision = $2" "flux_fixup = $3" "root = 32, 16, 16" "levels = 1" \
    "flag_density = 1.15" "buffer = 1" "regrid = 2" "[time]" "end = 6.8"
}

# GAMER's own run.
gamer() {
  run "gamer-$1" "[ic]" "source = sod" "direction = x" \
    "[gas]" "solver = $1" "root = 64, 16, 16" "length = 1" "levels = 2" "flag_loehner = 0.5" \
    "x_low = outflow" "x_high = outflow" "[time]" "end = 0.1"
}

# helper TEST ARGUMENT...: the Python script of a test in tests/runs, in the folder
helper() {
  script=$sources/tests/runs/$1.py
  shift
  (cd "$folder" && "${PYTHON:-python3}" "$script" "$@")
}

# Problems with known solutions. exact PROBLEM LEVELS
exact() {
  [ -s "$folder/$1-$2.hdf5" ] || helper gas_beside_exact_solutions make "$1-$2"
  options=$(helper gas_beside_exact_solutions settings "$1" "$2")
  for solver in muscl ppm rtvd; do
    run "$1-$solver-$2" "[ic]" "source = array" "file = $folder/$1-$2.hdf5" \
      "[gas]" "solver = $solver" "levels = $2" "gamma = 1.4" "flag_gradient_density = 0.05" \
      "flag_gradient_pressure = 0.05" "[time]" "end = 1"
  done
  options=
}

# A wave of density at Mach 1000, and a cold ball that falls, which need the entropy. cold LEVELS DENSITIES,
# where the wave is refined
cold() {
  [ -s "$folder/ball.hdf5" ] || helper gas_cold_flows make
  for solver in muscl ppm; do
    run "mach-$solver-$1" "[ic]" "source = array" "file = $folder/wave_1000.hdf5" \
      "[gas]" "solver = $solver" "root = 64, 16, 16" "levels = $1" "flag_density = $2" \
      "[time]" "end = 0.001"
    run "fall-$solver-$1" "[ic]" "source = array" "file = $folder/ball.hdf5" \
      "[gas]" "solver = $solver" "root = 32, 32, 32" "levels = $1" "flag_density = 2" "gravity = self" \
      "x_low = outflow" "x_high = outflow" "y_low = outflow" "y_high = outflow" \
      "z_low = outflow" "z_high = outflow" "[time]" "end = 0.4"
  done
}

all="exact gamer acoustic sod axes sedov diagonal conservation" # paper must be asked for
for problem in ${*:-$all}; do
  case $problem in
  exact)
    for known in toro1 toro2 toro3 toro4 toro5 noh noh3 waves blasts plane explosion; do
      exact "$known" 0
      exact "$known" 2
    done
    for known in vortex0 vortex1 vortex3; do exact "$known" 0; done # their flags would refine nothing
    cold 0 1.15
    cold 2 "1.15, 1.27"
    ;;
  gamer) gamer rtvd ;;
  conservation)
    for solver in rtvd muscl; do
      conservation $solver double yes
      conservation $solver single yes
    done
    conservation muscl double no
    ;;
  acoustic)
    for side in 32 64 128; do acoustic rtvd $side; acoustic muscl $side; done
    for side in 32 64 128 256 512; do wave rtvd $side; wave muscl $side; done
    ;;
  sod) sod rtvd x 3 110; sod muscl x 3 110 ;;
  axes) for axis in x y z; do sod rtvd $axis 2 50; sod muscl $axis 2 50; done ;;
  diagonal) sod_diagonal rtvd 2 30; sod_diagonal muscl 2 30 ;;
  sedov) sedov rtvd 2 5; sedov muscl 2 5 ;;
  paper) # as large as in the paper: hours on cores
    sod rtvd x 5 110
    sod muscl x 5 110
    sedov rtvd 5 2000
    sedov muscl 5 2000
    ;;
  *) echo "no such problem: $problem" >&2; exit 2 ;;
  esac
done
