#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Chromium shows the page of tools/report.py --serve: of a run that goes on, stops and fails, and of
# whole runs of an isolated system and of gas. make check-browser runs this test. It fails, and is
# not skipped, where the browser is missing.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
lacking=$("$PYTHON" "$PHOTONS_SOURCE/tools/needed_modules.py" h5py matplotlib numpy selenium)
[ -z "$lacking" ] || complain "$PYTHON cannot import $lacking"
command -v chromium >/dev/null || complain 'there is no chromium (Debian package chromium)'
command -v chromedriver >/dev/null ||
  complain 'there is no chromedriver (Debian package chromium-driver)'
[ $failures -eq 0 ] || finish
need_python h5py matplotlib numpy selenium

cat >config.ini <<END
[box]
size = 30
npart_side = 16
[ic]
z_init = 49
[time]
z_end = 3
step = fixed
steps = 20000
[output]
dir = run
redshifts = 49, 3
END
cat >isolated.ini <<END
[box]
boundary = isolated
[ic]
source = galaxy
[galaxy]
model = plummer
particles = 2000
[gravity]
softening = 0.1
[time]
end = 20
max_step = 2
[output]
dir = isolated
times = 0, 20
energy_steps = 4
END
cat >gas.ini <<END
[run]
system = gas
[gas]
root = 32, 16, 16
[ic]
source = sod
[time]
end = 0.1
[output]
dir = gas
times = 0.1
END
for system in isolated gas; do
  "$PHOTONS" -q $system.ini 2>err || complain "the run of $system.ini: exit code $?"
done
HOME=$work # the browser writes its settings there
export HOME
"$PYTHON" "$PHOTONS_SOURCE/tests/browser/page_works_in_a_browser.py" "$PHOTONS" config.ini ||
  complain 'the page'

finish
