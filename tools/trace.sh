#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Make from the trace of a run (runtime.trace_steps) paje.trace, the task graph, pictures and
# numbers.
set -eu
tools=$(cd "$(dirname "$0")" && pwd)

usage() {
  cat <<END
usage: tools/trace.sh RUN_FOLDER [TIMELINE OPTION...]
Reads RUN_FOLDER/trace/fxt_*, the files that runtime.trace_steps left, and makes beside them (from
tasks_*.csv alone where StarPU recorded nothing, or its tool fails: then only the first of these)
  timeline.png   workers as rows, coloured by codelet; what it shows is printed in numbers too
  paje.trace     for ViTE; vite.svg is its picture where vite is installed
  dag.dot        the task graph for Graphviz; dag.svg where dot is installed and the graph has at
                 most 2000 tasks
  tasks.rec, trace.rec, data.rec, activity.data, trace.html ...   tables of StarPU
TIMELINE OPTIONS: --steps A:B (of the recorded ones), --width INCHES, --title TEXT.
STARPU_FXT_TOOL names another starpu_fxt_tool.
END
}
die() {
  printf '%s\n' "trace.sh: error: $*" >&2
  exit 1
}

case ${1:-} in
  '' | -*) usage; [ $# -gt 0 ] && exit 0; exit 2 ;;
esac
folder=${1%/}/trace
shift
[ -d "$folder" ] || die "there is no folder '$folder': run with [runtime] trace_steps = A:B first"
set -- "$folder" "$folder/timeline.png" "$@"

draw() { "$tools/python.sh" "$tools/timeline.py" "$@"; }
# If StarPU recorded no trace, use the program's own tables of tasks.
own_tables() {
  why=$1
  shift
  rm -f "$folder/paje.trace" "$folder/tasks.rec"
  ls "$folder"/tasks_*.csv >/dev/null 2>&1 ||
    die "$why, and no tasks_*.csv in '$folder': was one of runtime.trace_steps run?"
  echo "trace.sh: $why: from the program's own tables" >&2
  draw "$@"
  exit 0
}

inputs=
for file in "$folder"/fxt_*; do
  [ ! -f "$file" ] || inputs="$inputs -i $(basename "$file")"
done
[ -n "$inputs" ] || own_tables "StarPU recorded no fxt_*" "$@"

# The tool must belong to the StarPU that recorded: the one configured here, else the one in PATH.
fxt_tool=${STARPU_FXT_TOOL:-}
configured=$(sed -n 's/^STARPU_PREFIX = //p' "$tools/../Makefile" 2>/dev/null)
for prefix in "$configured" "$HOME/.local/starpu-1.4-cuda" "$HOME/.local/starpu-1.4"; do
  [ -n "$fxt_tool" ] || [ ! -x "$prefix/bin/starpu_fxt_tool" ] ||
    fxt_tool=$prefix/bin/starpu_fxt_tool
done
[ -n "$fxt_tool" ] || fxt_tool=$(command -v starpu_fxt_tool) ||
  own_tables "no starpu_fxt_tool in PATH (name PREFIX/bin/starpu_fxt_tool of your StarPU in \
STARPU_FXT_TOOL)" "$@"

work=$(mktemp -d "${TMPDIR:-/tmp}/trace.XXXXXX")
trap 'rm -rf "$work"' EXIT
(cd "$folder" && "$fxt_tool" -c -use-task-color $inputs -d "$work") >"$work/log" 2>&1 || {
  tail -n 5 "$work/log" >&2
  own_tables "$fxt_tool failed" "$@"
}
rm -f "$work/log"
# Some versions write the codelets' colours as 0 .. 255 where Paje wants 0 .. 1.
awk -F'"' -v OFS='"' '/^6\t/ && split($2, c, " ") == 3 && (c[1] > 1 || c[2] > 1 || c[3] > 1) {
    $2 = c[1] / 255 " " c[2] / 255 " " c[3] / 255 } { print }' "$work/paje.trace" >"$work/scaled"
mv "$work/scaled" "$work/paje.trace"
mv "$work"/* "$folder/"

if command -v vite >/dev/null; then
  # from the first to the last recorded task; the trace also contains the start of StarPU
  range=$(awk '/^StartTime: / && (!n++ || $2 < a) { a = $2 }
    /^EndTime: / && $2 > b { b = $2 }
    END { print a ":" b }' "$folder/tasks.rec")
  QT_QPA_PLATFORM=offscreen XDG_RUNTIME_DIR=$work vite -f "$folder/paje.trace" -t "$range" \
    -e "$folder/vite.svg" >"$work/log" 2>&1 && [ -s "$folder/vite.svg" ] ||
    { echo "trace.sh: warning: vite made no picture:" >&2; tail -n 5 "$work/log" >&2; }
else
  echo "trace.sh: no vite here (Debian package vite): no vite.svg"
fi
if command -v dot >/dev/null; then
  if [ "$(grep -c '^JobId:' "$folder/tasks.rec")" -le 2000 ]; then
    dot -Tsvg "$folder/dag.dot" -o "$folder/dag.svg"
  fi
fi
draw "$@"
echo "traces, tables and pictures in $folder"
