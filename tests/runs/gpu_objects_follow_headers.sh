#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# make compiles an object of a CUDA file anew after a change of any header that the file includes, and the
# object with all CUDA files for emulated GPUs, too.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
cd "$(dirname "$PHOTONS")" || exit 99
source=$(sed -n 's/^srcdir = //p' Makefile)
if [ "$source" = . ]; then source=; else source=$source/; fi

# follows OBJECT HEADER: the object is up to date, and would not be if the header were new.
follows() {
  make -q "$1" >"$work/err" 2>&1 || complain "$1 is not up to date"
  ! make -q -W "$2" "$1" >"$work/err" 2>&1 || complain "$1 stays as it is when $2 changes"
}
follows cuda/step/drift.lo "${source}cuda/step/gpu_step.h"
follows cuda/step/kick_rungs.lo "${source}include/photons/step/rungs.h"
follows cuda/tree/l2l.lo fmm_generated.h
for header in cuda/step/gpu_step.h include/photons/step/rungs.h; do
  follows on_cores/gpu.o "$(realpath --relative-to=. "$PHOTONS_SOURCE/$header")"
done

# The compiler's lists, by which the others follow, name all headers that the files name.
(cd "$PHOTONS_SOURCE" && find cuda -name '*.cu') | while read -r file; do
  list=$(dirname "$file")/.deps/$(basename "$file" .cu).Plo
  sed -n 's/^#include "\(.*\)"$/\1/p' "$PHOTONS_SOURCE/$file" | while read -r header; do
    grep -q -F -e "$header" "$list" || echo "$list lacks $header"
    grep -q -F -e "$header" on_cores/gpu.d || echo "on_cores/gpu.d lacks $header"
  done
done >"$work/err"
[ ! -s "$work/err" ] || complain "headers"

cd "$work" || exit 99
finish
