#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# tools/report.py --serve: a page at 127.0.0.1 that shows how far a run has come, asks browsers to
# refresh it until the run has ended, and is not made anew for each request.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python h5py matplotlib numpy

cat >config.ini <<END
[box]
size = 60
npart_side = 16
[ic]
z_init = 9
[time]
z_end = 1
accuracy = fast
max_dlna = 0.1
[output]
dir = run
redshifts = 3, 1
END
"$PHOTONS" -q config.ini || exit 1
helper run || complain "the page"

# The command itself.
mkdir empty
"$PYTHON" "$PHOTONS_SOURCE/tools/report.py" --serve 0 empty >out 2>err &
server=$!
trap 'kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
tries=0
until [ -s out ] || [ $tries -eq 600 ]; do
  sleep 0.1
  tries=$((tries + 1))
done
address=$(sed -n 's|^\(http://127.0.0.1:[0-9]*/\) .*|\1|p' out)
"$PYTHON" -c "
import urllib.request
page = urllib.request.urlopen('$address', timeout=300).read().decode()
assert 'No step has ended yet' in page and 'http-equiv=\"refresh\"' in page" 2>err ||
  complain "no page of an empty folder at '$address'"
kill "$server"
"$PYTHON" "$PHOTONS_SOURCE/tools/report.py" --serve nowhere >out 2>err &&
  complain "nowhere is taken"
grep -q 'nowhere: no such folder' err || complain "does not say which folder"

finish
