#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# tools/check-rooms.sh finds no include in the source tree that points to a higher room, and no
# circle of headers. In copies of the tree that have one it names the files and fails.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"

rooms_are_right() { "$PHOTONS_SOURCE/tools/check-rooms.sh" "$1" >err 2>&1; }
copy() {
  rm -rf tree && mkdir tree || exit 99
  for folder in src include codelets cuda; do
    cp -R "$PHOTONS_SOURCE/$folder" tree/ || exit 99
  done
  chmod -R u+w tree # make distcheck takes the right to write away
}
# first_line FILE LINE: put a line before the others.
first_line() { { printf '%s\n' "$2" && cat "tree/$1"; } >new && mv new "tree/$1"; }
# expect DESCRIPTION PATTERN: the copy fails, and a line says why.
expect() {
  rooms_are_right tree && complain "$1: not found"
  grep -q -x -E -e "$2" err || complain "$1: no line that matches $2"
}

rooms_are_right "$PHOTONS_SOURCE" || complain "the source tree"
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

finish
