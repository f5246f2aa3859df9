#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: tools/check-rooms.sh [FOLDER [BUILD]]
# The rooms of the program, lowest first: a file may include files of its own room and of lower
# rooms. Prints every include that points up, every file outside a room, every circle of headers, and
# every kernel in a file of another name than its stage, but for files that the page
# docs/dev/architecture.md names; exits with 1 if there are any. With BUILD, a folder where FOLDER is built,
# the same of calls, from the symbols of the objects: every call that points up, and every circle of files
# that call each other, but for circles that the page names.
rooms="base config cosmology runtime fft domain tree mesh step io ic analysis amr hydro potential pm gas app"
folder=$(cd "${1:-$(dirname "$0")/..}" && pwd) || exit 1
build=${2:+$(cd "$2" && pwd)} || exit 1
cd "$folder" || exit 1
status=0

find src include codelets cuda -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' | sort |
  xargs awk -v rooms="$rooms" '
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
    count = split(rooms, list, " ")
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
  }' || status=1

# A stage's arithmetic on GPUs: a function of cuda/ROOM/NAME.cu that codelets/ calls is called by
# codelets/ROOM/NAME.c, unless the page has NAME.cu in its table of kernels of several stages.
find codelets cuda -name '*.c' -o -name '*.cu' | sort |
  xargs awk '
  BEGIN {
    while ((getline line <"docs/dev/architecture.md") > 0) {
      if (line ~ /^#/) inside = line ~ /^#+ Kernels of several stages/
      if (!inside || line !~ /^\| `cuda\//) continue
      split(line, word, "`")
      meant[word[2]] = 1
    }
  }
  FILENAME ~ /^codelets/ {
    for (line = $0; match(line, /gpu_[a-z0-9_]+\(/); line = substr(line, RSTART + RLENGTH)) {
      name = substr(line, RSTART, RLENGTH - 1)
      called[name] = 1
      by[name, FILENAME] = 1
    }
  }
  FILENAME ~ /^cuda/ && FILENAME !~ /^cuda\/runtime/ && match($0, /^void gpu_[a-z0-9_]+\(/) {
    place[substr($0, 6, RLENGTH - 6)] = FILENAME
  }
  END {
    for (name in place) {
      stage = place[name]
      sub(/^cuda/, "codelets", stage)
      sub(/u$/, "", stage)
      if (!(name in called) || (name, stage) in by) continue
      if (place[name] in meant) { needed[place[name]] = 1; continue }
      print place[name] ": " name " is not called by " stage; bad = 1
    }
    for (file in meant) if (!needed[file]) {
      print "docs/dev/architecture.md: stages of one name call all kernels of " file; bad = 1
    }
    exit bad
  }' || status=1

[ -n "$build" ] || exit $status

# The circles that the page names: a row of the table below its heading, whose first column has the
# files.
cd "$build" || exit 1
# nm -P: file, symbol, type. An object of the kernels is that of a file for one instruction set.
objects=$(find src codelets cuda -name '*.o' ! -path '*/.libs/*' 2>/dev/null | sort)
[ -n "$objects" ] || { echo "$build: nothing is built there"; exit 1; }
echo "$objects" | xargs nm -A -g -P |
  awk -v rooms="$rooms" -v folder="$folder" '
  function room(file,   part) { split(file, part, "/"); return part[2] }
  # Whether there still is the source of an object.
  function has_source(file,   path, k, found) {
    for (k = 1; k <= 2 && !found; k++) {
      path = folder "/" file (k == 1 ? ".c" : ".cu")
      found = (getline line <path) >= 0
      close(path)
    }
    return found
  }
  # Whether the build has all files of a row of the page: without CUDA it has not.
  function is_built(row,   i, n, file) {
    n = split(files[row], file, " ")
    for (i = 1; i <= n; i++) if (!all[file[i]]) return 0
    return 1
  }
  # Tarjan 1972, SIAM J. Comput. 1, 146: files that reach each other by calls.
  function visit(file,   i, n, next_one, other, members, size, row) {
    order[file] = low[file] = ++visited
    stack[++top] = file
    on[file] = 1
    n = split(calls[file], next_one, " ")
    for (i = 1; i <= n; i++) {
      other = next_one[i]
      if (!(other in order)) { visit(other); if (low[other] < low[file]) low[file] = low[other] }
      else if (on[other] && order[other] < low[file]) low[file] = order[other]
    }
    if (low[file] != order[file]) return
    do {
      other = stack[top--]
      on[other] = 0
      members = members " " other
      size++
    } while (other != file)
    if (size > 1) report(members)
  }
  # Print a circle unless a row of the page has its files.
  function report(members,   i, k, n, file, row) {
    n = split(members, file, " ")
    for (row = 1; row <= named; row++) {
      for (i = 1; i <= n; i++) if (!((row, file[i]) in circle)) break
      if (i > n) { found[row] = 1; return }
    }
    print "files that call each other:" members
    for (i = 1; i <= n; i++)
      for (k = 1; k <= n; k++)
        if ((file[i], file[k]) in symbols) print "  " file[i] " calls of " file[k] ":" symbols[file[i], file[k]]
    bad = 1
  }
  BEGIN {
    page = folder "/docs/dev/architecture.md"
    count = split(rooms, list, " ")
    for (i = 1; i <= count; i++) rank[list[i]] = i
    while ((getline line <page) > 0) {
      if (line ~ /^#/) inside = line ~ /^#+ Circles/
      if (!inside || line !~ /^\| `/) continue
      split(line, column, "|")
      named++
      text[named] = column[2]
      n = split(column[2], word, "`")
      for (i = 2; i <= n; i += 2) {
        sub(/\.[a-z]+$/, "", word[i])
        circle[named, word[i]] = 1
        files[named] = files[named] " " word[i]
      }
    }
  }
  {
    file = $1
    sub(/:$/, "", file)
    sub(/libkernels_[a-z0-9]+_la-/, "", file)
    sub(/\.o$/, "", file)
    if (!(file in all)) all[file] = has_source(file)
    if (!all[file]) next
    if ($3 == "U") needed[file] = needed[file] " " $2
    else place[$2] = file
  }
  END {
    for (file in all) {
      if (!all[file]) continue
      n = split(needed[file], symbol, " ")
      for (i = 1; i <= n; i++) {
        there = place[symbol[i]]
        if (there == "" || there == file) continue
        if (rank[room(there)] > rank[room(file)]) {
          print file ": " room(file) " calls " symbol[i] " of " there; bad = 1
        }
        if (!((file, there) in symbols)) calls[file] = calls[file] " " there
        symbols[file, there] = symbols[file, there] " " symbol[i]
      }
    }
    for (file in all) if (!(file in order)) visit(file)
    for (row = 1; row <= named; row++)
      if (!found[row] && is_built(row)) { print "docs/dev/architecture.md: no files call each other:" text[row]; bad = 1 }
    exit bad
  }' || status=1
exit $status
