#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# time.step = pm: in five steps of the mesh alone the longest waves grow as linear theory says, P(k) is near that
# of a run with pairs, and a restart, ranks and workers change no bit.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py matplotlib numpy

cat >config.ini <<'END'
[box]
size = 500
npart_side = 32
[ic]
z_init = 19
fixed = yes
[time]
step = pm
steps = 5
z_end = 0
[output]
redshifts = 19, 0
images = no
[analysis]
fof = no
END
run() { # run FOLDER OPTION...
  dir=$1
  shift
  timeout "$(seconds 300)" "$PHOTONS" --quiet config.ini --set output.dir="$dir" "$@" || complain "$dir: $*"
}
run plus
run minus --set ic.paired=yes
run pairs --set time.step=block
run fine --set time.steps=60
run lattice --set gravity.pm_cut=0.7 --set gravity.gradient=spectral
statistics='--set output.multipoles=yes --set output.correlation=yes --set output.bispectrum=yes
  --set output.halo_power=yes --set analysis.fof=yes --set analysis.linking_length=0.4 --set analysis.min_members=2'
# shellcheck disable=SC2086
run again --steps 2 $statistics
# shellcheck disable=SC2086
run again --restart $statistics
# shellcheck disable=SC2086
STARPU_NCPU=1 mpirun --oversubscribe --bind-to none -n 2 "$PHOTONS" --quiet config.ini \
  --set output.dir=ranks $statistics || complain 'two ranks'
for stem in multipoles correlation bispectrum halopower; do
  same_text "again/${stem}_001.txt" "ranks/${stem}_001.txt" || complain "$stem of two ranks"
done
helper plus minus pairs fine lattice again ranks || complain 'the results'

# refused TEXT OPTION...
refused() {
  text=$1
  shift
  "$PHOTONS" --dry-run config.ini "$@" >out 2>err && complain "$* is taken"
  grep -qF -- "$text" err || complain "$*: does not say '$text': $(cat err)"
}
refused 'needs analysis.fof = yes' --set output.halo_power=yes
refused 'time.step = pm' --set time.steps=0
refused 'has no mesh' --set box.boundary=isolated --set ic.source=galaxy --set time.end=1
finish
