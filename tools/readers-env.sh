#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Make a virtual environment with the readers of snapshots that make check-readers runs. These are
# newer than Debian's, or not in Debian. An environment that is complete already is left as it is.
# usage: tools/readers-env.sh DIR    (PYTHON: the Python that makes it, default python3)
set -eu
dir=${1:?the folder of the environment}
readers='yt==4.4.0 pynbody==2.8.0 swiftsimio==12.4.0 h5py==3.16.0 numpy==2.4.6 ytree==3.3.1'

[ "$(cat "$dir/readers" 2>/dev/null)" != "$readers" ] || exit 0
rm -rf "$dir"
"${PYTHON:-python3}" -m venv "$dir" || {
  echo "readers-env.sh: error: no virtual environment in $dir (Debian package python3-venv)" >&2
  exit 1
}
# Wheels alone: compilers and headers may be missing, and building takes long.
"$dir/bin/pip" install --quiet --no-compile --disable-pip-version-check --only-binary :all: $readers
printf '%s\n' "$readers" >"$dir/readers"
