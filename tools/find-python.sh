#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: tools/find-python.sh [PYTHON...]
# Print the path of the first Python that has all modules of the tools and the tests. If none has
# all of them, print the first that has the modules of the tools; if none has these, the first
# Python 3.
needed=$(dirname "$0")/needed_modules.py
# A python3 of pyenv, conda or a virtual environment often precedes Debian's in PATH.
[ $# -gt 0 ] || set -- python3 /usr/bin/python3 \
  python3.14 python3.13 python3.12 python3.11 python3.10 python3.9

# can_import PYTHON [MODULE...]: succeeds if PYTHON runs and can import the modules.
can_import() {
  python=$1
  shift
  lacking=$("$python" "$needed" "$@" 2>/dev/null) && [ -z "$lacking" ]
}

for modules in '' 'h5py matplotlib numpy' sys; do
  for name; do
    path=$(command -v "$name") || continue
    can_import "$path" $modules || continue
    echo "$path"
    exit 0
  done
done
exit 1
