#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# pip installs the Python package without the network. Installed, it starts runs, follows their
# steps, reads their files, with units, too, and makes figures and a page.
. "${PHOTONS_SOURCE:?the source folder}/tests/support/common.sh"
need_python setuptools astropy h5py matplotlib numpy pip wheel

# What pip needs, in a folder that may be written to.
mkdir -p source/tools
for path in pyproject.toml README.md COPYING tools/photons; do
  cp -r "$PHOTONS_SOURCE/$path" "source/$path" || exit 1
done
chmod -R u+w source # copies of a read-only tree
# This Python's packages serve both pip and the package.
"$PYTHON" -m venv --without-pip --system-site-packages environment >out 2>err || complain "venv"
(cd source &&
  ../environment/bin/python -m pip install --no-index --no-build-isolation --no-deps .) \
  >out 2>err || complain "pip: $(tail -3 out)"

cat >config.ini <<END
[box]
size = 60
npart_side = 16
[ic]
z_init = 9
fixed = yes
[time]
z_end = 1
accuracy = fast
max_dlna = 0.1
[output]
redshifts = 3, 1
[analysis]
min_members = 8
END
unset PYTHONPATH
PYTHON=environment/bin/python
helper "$PHOTONS" config.ini ||
  complain "the installed package"

finish
