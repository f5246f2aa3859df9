#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# tools/check-rooms.sh finds no include and no call in the source tree that points to a higher room, no
# circle of headers, no kernel in a file of another name than its stage, and no circle of files that call
# each other but those that the page names. In copies of the tree that have one it names the files and
# fails.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"

rooms_are_right() { "$PHOTONS_SOURCE/tools/check-rooms.sh" "$@" >err 2>&1; }
copy() {
  rm -rf tree && mkdir tree || exit 99
  for folder in src include codelets cuda; do
    cp -R "$PHOTONS_SOURCE/$folder" tree/ || exit 99
  done
  mkdir -p tree/docs/dev && cp "$PHOTONS_SOURCE/docs/dev/architecture.md" tree/docs/dev/ || exit 99
  chmod -R u+w tree # make distcheck takes the right to write away
}
# first_line FILE LINE: put a line before the others.
first_line() { { printf '%s\n' "$2" && cat "tree/$1"; } >new && mv new "tree/$1"; }
# expect DESCRIPTION PATTERN: the copy fails, and a line says why.
expect() {
  rooms_are_right tree ${calls:+tree} && complain "$1: not found"
  grep -q -x -E -e "$2" err || complain "$1: no line that matches $2"
}

rooms_are_right "$PHOTONS_SOURCE" "$(dirname "$PHOTONS")" || complain "the source tree"
copy
rooms_are_right tree || complain "a copy of the source tree"

first_line src/tree/walk.c '#include "photons/step/step.h"'
expect "an include that points up" 'src/tree/walk\.c:1: tree includes photons/step/step\.h of step'

copy
first_line include/photons/base/clock.h '#include "photons/base/parts.h"'
first_line include/photons/base/parts.h '#include "photons/base/clock.h"'
header='photons/base/(clock|parts)\.h'
expect "a circle" "$header and $header include each other"

copy
mkdir tree/src/attic && echo 'int attic;' >tree/src/attic/attic.c
expect "a file outside the rooms" 'src/attic/attic\.c: in no room'

copy
mv tree/cuda/step/drift.cu tree/cuda/step/motion.cu
expect "a kernel in a file of another name" 'cuda/step/motion\.cu: gpu_drift is not called by codelets/step/motion\.c'

# Calls, in a tree of three files: the file in gas calls one in amr, which is right.
command -v "${CC:=cc}" >/dev/null || CC=gcc
calls=yes
tree_of_three() {
  rm -rf tree
  mkdir -p tree/src/amr tree/src/gas tree/include tree/codelets tree/cuda tree/docs/dev || exit 99
  echo 'int low(void); int low(void) { return 1; }' >tree/src/amr/low.c
  echo 'int high(void); int low(void); int high(void) { return low(); }' >tree/src/gas/high.c
  echo 'int beside(void); int beside(void) { return 2; }' >tree/src/gas/beside.c
}
compile() {
  for file in amr/low gas/high gas/beside; do
    "$CC" -c -o tree/src/$file.o tree/src/$file.c || exit 99
  done
}
tree_of_three
compile
rooms_are_right tree tree || complain "a call that points down"

echo 'int high(void); int low(void); int low(void) { return high(); }' >tree/src/amr/low.c
compile
expect "a call that points up" 'src/amr/low: amr calls high of src/gas/high'

tree_of_three
echo 'int beside(void); int high(void); int beside(void) { return high(); }' >tree/src/gas/beside.c
echo 'int beside(void); int high(void); int high(void) { return beside(); }' >tree/src/gas/high.c
compile
both='src/gas/(high|beside)'
expect "files that call each other" "files that call each other: $both $both"

page=tree/docs/dev/architecture.md
printf '## Circles\n\n| `src/gas/high.c` `src/gas/beside.c` | reason |\n' >$page
rooms_are_right tree tree || complain "a circle that the page names"
tree_of_three
compile
printf '## Circles\n\n| `src/gas/high.c` `src/gas/beside.c` | reason |\n' >$page
expect "a circle that is none" 'docs/dev/architecture\.md: no files call each other: .*'

finish
