#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# .ci/run counts over automake's results, and lint and the site of the documentation as one test each. It fails
# where a test failed, where none passed, and where any test but that of the GPU was skipped. A
# stand-in for bootstrap leaves the results.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
mkdir -p tree/.ci tree/tests/unit/step tree/tests/gpu tree/tests/runs bin || exit 99
cp "$PHOTONS_SOURCE/.ci/run" tree/.ci/ || exit 99
link_tools bin sh cat chmod dirname grep rm tail

# leave TEST RESULT [REASON]: what automake leaves of a test.
cat >tree/leave <<'END'
#!/bin/sh
echo ":test-result: $2" >"tests/$1.trs"
printf '%s\n' 'something else' "${3:-}" "$2 tests/$1 (exit status: 77)" >"tests/$1.log"
END
chmod +x tree/leave
# What .ci/run makes beside bootstrap leaves nothing, and succeeds unless a test says otherwise.
printf '#!/bin/sh\n[ "$1" != "${FAILS:-}" ]\n' >bin/make
chmod +x bin/make

cat >stand_in <<'END'
case $1 in
  build | check-browser) exit 0 ;;
  lint) [ "${FAILS:-}" != lint ]; exit ;;
esac
END
# ci: run with the stand-in for bootstrap that stands on standard input.
ci() {
  { echo '#!/bin/sh'; cat stand_in; cat; } >tree/bootstrap
  chmod +x tree/bootstrap
  PATH=$work/bin tree/.ci/run >err 2>&1
  status=$?
}
# expect DESCRIPTION CONDITION...
expect() {
  what=$1
  shift
  "$@" || complain "$what"
}
says() { grep -q -x -F -e "$1" err; }
ends_with() { [ "$(tail -n 1 err)" = "$1" ]; }

ci <<'END'
./leave unit/test_a PASS
./leave unit/step/test_b PASS
END
expect "all passed" test $status -eq 0
expect "CUDA is skipped for want of nvcc" ends_with '4 passed, 0 failed, 1 skipped'

ci <<'END'
./leave unit/test_a PASS
./leave gpu/cuda_check SKIP 'no GPU'
END
expect "no GPU" test $status -eq 0
expect "no GPU: says so" says 'tests/gpu/cuda_check was skipped: no GPU'
expect "no GPU: counts the test" ends_with '3 passed, 0 failed, 2 skipped'

ci <<'END'
./leave unit/test_a PASS
./leave runs/test_b SKIP 'skipped: python3 cannot import h5py'
END
expect "a skipped test is a failure" test $status -ne 0
expect "a skipped test is named with its reason" says \
  'tests/runs/test_b FAILED, for it was skipped: python3 cannot import h5py'
expect "a skipped test counts as failed" ends_with '3 passed, 1 failed, 1 skipped'

ci <<'END'
./leave unit/test_a PASS
./leave unit/test_b ERROR
exit 2
END
expect "a failure" test $status -ne 0
expect "a failure counts, results of earlier runs do not" ends_with '3 passed, 1 failed, 1 skipped'

ci <<'END'
exit 2
END
expect "a build that breaks" test $status -ne 0
expect "a build that breaks counts as a failure" ends_with '2 passed, 1 failed, 1 skipped'

FAILS=site
export FAILS
ci <<'END'
./leave unit/test_a PASS
END
unset FAILS
expect "a site that breaks" test $status -ne 0
expect "a site that breaks counts as a failure" ends_with '2 passed, 1 failed, 1 skipped'

FAILS=lint
export FAILS
ci <<'END'
./leave unit/test_a PASS
END
unset FAILS
expect "a finding of lint" test $status -ne 0
expect "a finding of lint counts as a failure" ends_with '2 passed, 1 failed, 1 skipped'

# Other programs' readers cannot be installed.
printf '#!/bin/sh\n[ "$1" != check-readers ]\n' >bin/make
ci <<'END'
./leave unit/test_a PASS
END
expect "no other readers" test $status -ne 0
expect "a check that cannot be made counts as a failure" ends_with '3 passed, 1 failed, 1 skipped'
printf '#!/bin/sh\n' >bin/make

# Where there is nvcc, all tests run once more, and nothing is skipped.
printf '#!/bin/sh\n' >bin/nvcc
chmod +x bin/nvcc
ci <<'END'
./leave unit/test_a PASS
END
expect "both builds" test $status -eq 0
expect "both builds count, and nothing was skipped" ends_with '4 passed, 0 failed'

finish
