#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# usage: tools/python.sh SCRIPT [ARGUMENT...]
# Run a script under the Python that configure found. The environment variable PYTHON overrides
# it.
tools=$(cd "$(dirname "$0")" && pwd)
[ -n "${PYTHON:-}" ] || PYTHON=$(sed -n 's/^PYTHON = //p' "$tools/../Makefile" 2>/dev/null)
[ -n "$PYTHON" ] || PYTHON=$("$tools/find-python.sh") || {
  echo "python.sh: error: there is no Python 3 here (Debian package python3)" >&2
  exit 2
}
exec "$PYTHON" "$@"
