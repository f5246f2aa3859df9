#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: tools/check-rooms.sh [FOLDER]
# The rooms of the program, lowest first: a file may include files of its own room and of lower
# rooms. Prints every include that points up, every file outside a room, and every circle of
# headers; exits with 1 if there are any.
cd "${1:-$(dirname "$0")/..}" || exit 1
find src include codelets cuda -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort | xargs awk '
  function room(path,   part, n) { # of src/ROOM/..., include/photons/ROOM/..., codelets/ROOM/...
    sub(/^\.\//, "", path)
    sub(/^include\//, "", path)
    n = split(path, part, "/")
    return n > 2 && part[1] ~ /^(src|photons|codelets|cuda)$/ ? part[2] : ""
  }
  function name(path) { sub(/^include\//, "", path); return path }
  # Depth-first search: a header reached again while its own includes are followed closes a circle.
  function follow(header,   i, n, next_one) {
    state[header] = 1
    n = split(includes[header], next_one, " ")
    for (i = 1; i <= n; i++) {
      if (state[next_one[i]] == 1) { print header " and " next_one[i] " include each other"; bad = 1 }
      if (!state[next_one[i]]) follow(next_one[i])
    }
    state[header] = 2
  }
  BEGIN {
    count = split("base config cosmology runtime domain tree mesh step io ic analysis amr hydro potential pm gas app", list, " ")
    for (i = 1; i <= count; i++) rank[list[i]] = i
  }
  FNR == 1 {
    here = room(FILENAME)
    if (!(here in rank)) { print FILENAME ": in no room"; bad = 1 }
  }
  /^#include "/ {
    split($0, quoted, "\"")
    target = quoted[2]
    if (target ~ /^(build_config|fmm_generated)\.h$/) next
    there = target ~ /\// ? room(target) : here
    if (!(there in rank)) { print FILENAME ":" FNR ": " target ": in no room"; bad = 1 }
    else if (rank[there] > rank[here]) {
      print FILENAME ":" FNR ": " here " includes " target " of " there; bad = 1
    }
    if (target !~ /\//) { target = FILENAME; sub(/[^\/]*$/, quoted[2], target) }
    if (FILENAME ~ /\.(h|cuh)$/) includes[name(FILENAME)] = includes[name(FILENAME)] " " target
  }
  END {
    for (header in includes) if (!state[header]) follow(header)
    exit bad
  }' || exit 1
