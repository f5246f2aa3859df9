#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Make the validation runs of docs/results/validation.md and their figures. Start it at the top of
# the build tree, which has ./photons-starpu.
set -eu
usage() {
  cat <<END
usage: tools/validation.sh [-o FOLDER] [-n] RUN...
  paper default high fiducial   128^3 in 500 Mpc/h with these accuracies; fiducial: the highest
                                degree, every short-range pair directly, three times the steps
  planck                        256^3 in 50 Mpc/h: mass function and power spectrum against theory
  precision                     paper, default, high and fiducial
  figures                       of the runs that are there
  -o FOLDER                     where the runs go (output/validation)
  -n                            print the commands only
A run that is finished is not run again; one that was stopped goes on from its checkpoint.
END
}
folder=output/validation print=
while getopts o:nh option; do
  case $option in
    o) folder=$OPTARG ;;
    n) print=echo ;;
    h) usage && exit ;;
    *) usage >&2 && exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || { usage >&2 && exit 2; }

# run NAME CONFIG LAST_OUTPUT OPTION...
run() {
  name=$1 config=$2 last=$3
  shift 3
  out=$folder/$name
  [ ! -e "$out/powerspec_$last.txt" ] || { echo "$name: finished"; return; }
  if [ -e "$out/checkpoint.hdf5" ]; then set -- --restart "$@"; else set -- --overwrite "$@"; fi
  $print ./photons-starpu "$config" --set output.dir="$out" "$@"
}

precision() { # precision NAME OPTION...
  name=$1
  shift
  run "$name" params/validation_128.ini 001 --set output.checkpoint_minutes=30 "$@"
}

figures() {
  have=
  for name in paper default high; do
    [ ! -e "$folder/$name/powerspec_001.txt" ] || have="$have $name"
  done
  if [ -n "$have" ] && [ -e "$folder/fiducial/powerspec_001.txt" ]; then
    set --
    for name in $have; do set -- "$@" "$folder/$name"; done
    $print tools/python.sh tools/plot.py --reference "$folder/fiducial" --out "$folder" \
      --labels "$(echo $have | tr ' ' ,)" "$@"
  fi
  for name in paper default high fiducial planck; do
    [ ! -d "$folder/$name" ] || $print tools/python.sh tools/report.py "$folder/$name"
  done
}

for what in "$@"; do
  case $what in
    paper | default | high) precision "$what" --set gravity.accuracy="$what" ;;
    # Adaptive steps are proportional to the square root of eta. The polynomial of degree 12 is
    # exact to the last digits of floats. gravity.p2p_kernel=exact, in double precision, is for
    # GPUs.
    fiducial)
      precision fiducial --set gravity.accuracy=high --set gravity.p2p_degree=12 \
        --set gravity.mac=geometric --set gravity.theta=0.01 \
        --set time.eta=0.0027778 --set time.max_dlna=0.0166667
      ;;
    planck) run planck params/validation_256.ini 002 ;;
    precision) "$0" -o "$folder" ${print:+-n} paper default high fiducial ;;
    figures) figures ;;
    *) usage >&2 && exit 2 ;;
  esac
done
