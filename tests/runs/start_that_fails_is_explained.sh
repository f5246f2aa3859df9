#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Where threads or memory do not suffice at the start, or the environment asks StarPU for what it
# does not have, the program says so in one line instead of StarPU's backtrace.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
cat >config.ini <<END
[box]
size = 50
npart_side = 8
[time]
z_end = 48
END

# start: a run; check CODE PATTERN WHAT: how it ended.
limit=$(seconds 60)
start() {
  rm -rf run
  timeout "$limit" "$PHOTONS" --quiet --set output.dir=run --steps 0 "$@" config.ini >out 2>err
}
check() {
  [ "$code" -eq "$1" ] || complain "$3: exit code $code, not $1"
  [ "$(wc -l <err)" -eq 1 ] && grep -qE "$2" err || complain "$3: not one line with: $2"
}

# A limit on address space: with any the run ends well or with one line. Sanitizers need terabytes.
if ! grep -q __asan_init "$PHOTONS"; then
  failed=0 loaded=0
  for megabytes in 40 45 50 55 60 65 70 75 80 85 90 100; do
    (ulimit -v $((1000 * megabytes)) && start)
    code=$?
    if [ $code -eq 127 ]; then continue; fi # the libraries do not fit
    loaded=$((loaded + 1))
    if [ $code -ne 0 ]; then
      failed=$((failed + 1))
      check 1 '^photons-starpu: error: ' "$megabytes MB"
    fi
  done
  # With CUDA the libraries alone take more than all of these limits.
  [ $loaded -eq 0 ] || [ $failed -gt 0 ] || complain 'no limit was too low'
fi

# expect CODE PATTERN NAME=VALUE
expect() {
  (export "$3" && start)
  code=$?
  check "$1" "$2" "$3"
}
expect 2 'STARPU_SCHED=nonsense: not a scheduler of this StarPU; allowed: .* lws' STARPU_SCHED=nonsense
expect 2 'STARPU_SCHED=graph_test: not a scheduler of this StarPU; allowed: ' STARPU_SCHED=graph_test
grep -q ' graph_test' err && complain 'graph_test is offered'
expect 1 'STARPU_NCPU=0: StarPU needs one processor core' STARPU_NCPU=0
expect 2 'STARPU_NCPU=two: not a number of processor cores' STARPU_NCPU=two
expect 2 'STARPU_NCPU = 1000000: this StarPU is built for [0-9]+ processor cores' STARPU_NCPU=1000000
more=$(($(getconf _NPROCESSORS_ONLN) + 1))
expect 0 "warning: STARPU_NCPU = $more: this machine has $((more - 1)) processor cores" \
  STARPU_NCPU=$more
unset STARPU_NCPU
start --set runtime.scheduler=graph_test
code=$?
grep -q 'scheduler = graph_test: not a scheduler of this StarPU; allowed: ' err && [ $code -eq 2 ] ||
  complain 'runtime.scheduler = graph_test'
finish
