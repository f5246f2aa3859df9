#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# make fuzz: run the fuzzing targets, FUZZ_SECONDS of a core in total, on all cores. Each begins
# with the files of the program corpus and with what earlier runs in this folder found. The exit
# code is 1 where an input made a reader crash, hang, take too much memory or end with another exit
# code than that of a bad file. Such inputs stay in findings/.
#   fuzz.sh FOLDER    where the programs are
set -eu
: "${FUZZ_SECONDS:=120}"
cd "${1:?the folder with the programs}"
# HDF5 1.10 itself crashes on damaged files of gas (in H5MM_xfree): FUZZ_ALL=yes fuzzes these two, too.
targets='gadget_binary gadget_hdf5 isolated config times_file power_table checkpoint'
[ -z "${FUZZ_ALL:-}" ] || targets="$targets gas_file gas_array"
each=$((FUZZ_SECONDS / 9))
[ "$each" -gt 0 ] || each=1
# A reader's leaks are what its fail() leaves, which the harness frees. The limits are far above
# what these small files need.
ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=16
UBSAN_OPTIONS=print_stacktrace=1
export ASAN_OPTIONS UBSAN_OPTIONS
options="-max_total_time=$each -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=128 -close_fd_mask=3"
options="$options -print_final_stats=1"

mkdir -p findings corpora
./corpus seeds
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
fuzz() {
  target=$1
  mkdir -p "corpora/$target"
  case $target in
    gadget_hdf5 | isolated | checkpoint | gas_array) more='-max_len=65536' ;;
    gas_file) more='-max_len=262144' ;;
    config) more="-max_len=8192 -dict=seeds/config.dict" ;;
    *) more='-max_len=8192' ;;
  esac
  code=0
  ./fuzz_$target $options $more -artifact_prefix="findings/$target-" \
    "corpora/$target" "seeds/$target" >/dev/null 2>"$target.log" || code=$?
  echo $code >"$target.code"
}
rm -f ./*.code
jobs=0
for target in $targets; do
  fuzz $target &
  jobs=$((jobs + 1))
  [ $((jobs % $(nproc))) -ne 0 ] || wait
done
wait
failed=0
printf '%-14s %12s %10s %8s %8s  %s\n' target executions 'per second' coverage corpus result
for target in $targets; do
  result=ok
  [ "$(cat "$target.code")" = 0 ] || {
    result="FAILED, see $target.log"
    failed=1
  }
  statistic() { sed -n "s/^stat::$1: *//p" "$target.log" | tail -n 1; }
  last=$(grep -E '^#[0-9]+.* cov: ' "$target.log" | tail -n 1)
  number() { printf '%s\n' "$last" | sed -n "s/.* $1: \([0-9]*\).*/\1/p"; }
  printf '%-14s %12s %10s %8s %8s  %s\n' "$target" "$(statistic number_of_executed_units)" \
    "$(statistic average_exec_per_sec)" "$(number cov)" "$(number corp)" "$result"
done
[ $failed -eq 0 ] || ls -l findings
exit $failed
